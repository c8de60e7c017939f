/* The patterns one by one. */
#include "patterns.h"

#include <stdlib.h>

enum { WORDS = 1 << 10, UPDATES = 400, CELLS = 64, TASKS = 24, TASK_UNITS = 2000 };

/* A number drawn from three. */
static uint64_t draw(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t x = a * 0x9e3779b97f4a7c15ull ^ b * 0xbf58476d1ce4e5b9ull ^ c * 0x94d049bb133111ebull;

    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9ull;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

/* ---- updates ---- */

static size_t updates_bytes(const patterns_t *run)
{
    (void)run;
    return WORDS * sizeof(uint64_t);
}

static keel_status_t updates_step(patterns_t *run)
{
    for (uint64_t i = 0; i < UPDATES; i++) {
        const uint64_t drawn = draw(run->step, run->rank, i);

        KERNEL_TRY(keel_atomic_nbx(run->win, KEEL_ATOMIC_XOR, (uint32_t)(drawn % run->ranks),
                                   (drawn >> 32) % WORDS * sizeof(drawn), sizeof(drawn), drawn, 0, NULL, NULL, NULL));
    }
    return KEEL_OK;
}

static uint64_t updates_flaws(const patterns_t *run)
{
    const uint64_t *own = keel_win_base(run->win);
    uint64_t *should = calloc(WORDS, sizeof(*should)), flaws = 0;

    for (uint64_t step = 0; should != NULL && step < run->steps; step++) {
        for (uint64_t i = 0; i < (uint64_t)UPDATES * run->ranks; i++) {
            const uint64_t drawn = draw(step, i / UPDATES, i % UPDATES);

            should[(drawn >> 32) % WORDS] ^= (drawn % run->ranks == run->rank) ? drawn : 0;
        }
    }
    for (uint64_t word = 0; word < WORDS; word++) {
        flaws += should == NULL || own[word] != should[word];
    }
    free(should);
    return flaws;
}

/* ---- halo ---- */

typedef struct {
    uint64_t line[2][CELLS + 2]; /* lines of even and odd steps, with the neighbours' borders */
    uint64_t come[2];            /* 1 + the step of the left and right borders */
} halo_t;

static size_t halo_bytes(const patterns_t *run)
{
    (void)run;
    return sizeof(halo_t);
}

static uint64_t halo_start(uint32_t rank, unsigned cell)
{
    return draw(rank, cell, 1);
}

static keel_status_t halo_send(const patterns_t *run, uint32_t to, size_t cell, uint64_t value, unsigned side)
{
    const keel_signal_t signal = {
        .offset = offsetof(halo_t, come) + side * sizeof(uint64_t), .op = KEEL_SIGNAL_SET, .value = run->step + 1};

    return keel_put_signal(run->win, to, offsetof(halo_t, line[run->step % 2]) + cell * sizeof(value), &value,
                           sizeof(value), &signal);
}

static keel_status_t halo_step(patterns_t *run)
{
    const uint32_t left = (run->rank + run->ranks - 1) % run->ranks, right = (run->rank + 1) % run->ranks;
    halo_t *own = keel_win_base(run->win);
    uint64_t *now = own->line[run->step % 2], *next = own->line[(run->step + 1) % 2];

    for (unsigned cell = 1; run->step == 0 && cell <= CELLS; cell++) {
        now[cell] = halo_start(run->rank, cell);
    }
    KERNEL_TRY(halo_send(run, left, CELLS + 1, now[1], 1));
    KERNEL_TRY(halo_send(run, right, 0, now[CELLS], 0));
    for (unsigned side = 0; side < 2; side++) {
        KERNEL_TRY(keel_wait_until(run->win, offsetof(halo_t, come) + side * sizeof(uint64_t), sizeof(uint64_t),
                                   KEEL_COMPARE_GE, run->step + 1));
    }
    for (unsigned cell = 1; cell <= CELLS; cell++) {
        next[cell] = now[cell - 1] * 3 + now[cell] + now[cell + 1] * 5;
    }
    return KEEL_OK;
}

/* Computes the whole line in this rank alone and compares. */
static uint64_t halo_flaws(const patterns_t *run)
{
    const halo_t *own = keel_win_base(run->win);
    const unsigned all = CELLS * run->ranks;
    uint64_t *now = calloc(all, sizeof(*now)), *next = calloc(all, sizeof(*next)), flaws = 0, *other;

    for (unsigned i = 0; now != NULL && i < all; i++) {
        now[i] = halo_start(i / CELLS, i % CELLS + 1);
    }
    for (uint64_t step = 0; now != NULL && next != NULL && step < run->steps; step++) {
        for (unsigned i = 0; i < all; i++) {
            next[i] = now[(i + all - 1) % all] * 3 + now[i] + now[(i + 1) % all] * 5;
        }
        other = now;
        now = next;
        next = other;
    }
    for (unsigned cell = 1; cell <= CELLS; cell++) {
        flaws += now == NULL || own->line[run->steps % 2][cell] != now[run->rank * CELLS + cell - 1];
    }
    free(now);
    free(next);
    return flaws;
}

/* ---- stealing ---- */

typedef struct {
    uint64_t next;          /* number of the next task to draw, over all steps */
    uint64_t result[TASKS]; /* of this rank's tasks: sums of results; a repeated task shows */
} stealing_t;

static size_t stealing_bytes(const patterns_t *run)
{
    (void)run;
    return sizeof(stealing_t);
}

static uint64_t task_result(uint32_t owner, uint64_t task)
{
    uint64_t result = owner;

    for (unsigned i = 0; i < TASK_UNITS * (1 + task % 4); i++) {
        result = draw(result, task, i);
    }
    return result;
}

/* Draws from @a owner until no task is left. Results are added, so a repeated task shows. */
static keel_status_t draw_all(patterns_t *run, uint32_t owner)
{
    const uint64_t first = run->step * TASKS;
    uint64_t task = 0;

    for (;;) {
        KERNEL_TRY(
            keel_atomic(run->win, KEEL_ATOMIC_ADD, owner, offsetof(stealing_t, next), sizeof(task), 1, 0, &task));
        if (task >= first + TASKS) {
            return KEEL_OK;
        }
        KERNEL_TRY(keel_atomic(run->win, KEEL_ATOMIC_ADD, owner,
                               offsetof(stealing_t, result) + (task - first) * sizeof(task), sizeof(task),
                               task_result(owner, task), 0, NULL));
        run->done++;
    }
}

static keel_status_t stealing_step(patterns_t *run)
{
    stealing_t *own = keel_win_base(run->win);

    own->next = run->step * TASKS; /* undoes the draws that found no task */
    KERNEL_TRY(keel_gsync(run->ctx, 0));
    for (uint32_t i = 0; i < run->ranks; i++) {
        KERNEL_TRY(draw_all(run, (run->rank + i) % run->ranks));
    }
    return KEEL_OK;
}

static uint64_t stealing_flaws(const patterns_t *run)
{
    const stealing_t *own = keel_win_base(run->win);
    uint64_t flaws = 0;

    for (uint64_t i = 0; i < TASKS; i++) {
        uint64_t should = 0;

        for (uint64_t step = 0; step < run->steps; step++) {
            should += task_result(run->rank, step * TASKS + i);
        }
        flaws += own->result[i] != should;
    }
    return flaws;
}

const pattern_t patterns[] = {{"updates", 0, updates_bytes, updates_step, updates_flaws},
                              {"halo", KEEL_PARAM_FLAG_WAITS, halo_bytes, halo_step, halo_flaws},
                              {"stealing", KEEL_PARAM_FLAG_WAITS, stealing_bytes, stealing_step, stealing_flaws},
                              {NULL, 0, NULL, NULL, NULL}};
