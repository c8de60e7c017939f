/*
 * The program attaches its own memory to windows. One page is attached from the start, and detached
 * later in some jobs. Another page is attached during some steps, with its present content. Two
 * images are taken, at drawn steps. Rank 1 dies at a drawn moment. Rank 1 comes back alone, or the
 * job rolls back to the start or to an image from before or after an attach or detach. The
 * replacement has other memory and attaches it. On every rank attached memory must be the window,
 * and detached memory must be private.
 */
#include "few_ranks.h"
#include "sim_given.h"

#include "window/win_attached.h"
#include "sim/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS     400
#define PAGE      4096u
#define WORDS     (PAGE / 8)
#define STEPS     14u
#define ATTACH_AT 2u
#define DETACH_AT 5u
#define DROP_AT   1u
#define MOVING    (2 * PAGE)
#define PRIVATE   99u

enum { UNTOUCHED, PUT };

typedef struct mine {
    struct {
        uint64_t step, is_attached, is_dropped;
    } state; /* protected region */
    keel_win_h win;
    uint64_t *fixed, *moving;
} mine_t;

typedef struct job {
    few_t few;
    mine_t of[3];
    /* steps of the program, and steps of the simulator after the last one */
    unsigned image[2], death, delay;
    int is_dying, drops;
} job_t;

static void fill(uint64_t *words, uint64_t with)
{
    for (unsigned i = 0; i < WORDS; i++) {
        words[i] = with;
    }
}

static void begin(few_t *few, uint32_t rank)
{
    const keel_win_params_t params = {.field_mask = KEEL_WIN_PARAM_FIELD_ATTACH, .attach = 1};
    mine_t *my = &((job_t *)few)->of[rank];
    keel_status_t status;

    *my = (mine_t){.fixed = sim_given(PAGE), .moving = sim_given(PAGE)};
    fill(my->fixed, 1000 + rank);
    fill(my->moving, 77);
    status = keel_win_alloc(few->ctx[rank], 4 * (size_t)PAGE, &params, &my->win);
    status = (status == KEEL_OK) ? keel_win_attach(my->win, 0, my->fixed, PAGE) : status;
    status = (status == KEEL_OK) ? keel_protect(few->ctx[rank], 1, &my->state, sizeof(my->state)) : status;
    if (status != KEEL_OK) {
        keel_sim_flaw(few->sim, "rank %u: a window: %s", rank, keel_status_string(status));
    }
}

static keel_status_t change(const job_t *job, mine_t *my, uint32_t rank)
{
    keel_status_t status = KEEL_OK;

    if (my->state.step == ATTACH_AT) {
        fill(my->moving, 2000 + rank);
        status = keel_win_attach(my->win, MOVING, my->moving, PAGE);
        my->state.is_attached = 1;
    } else if (my->state.step == DETACH_AT) {
        status = keel_win_detach(my->win, my->moving);
        my->state.is_attached = 0;
    } else if (my->state.step == DROP_AT && job->drops) {
        status = keel_win_detach(my->win, my->fixed);
        my->state.is_dropped = 1;
    }
    return status;
}

static int is_right(const mine_t *my, uint32_t rank)
{
    const uint64_t put = my->state.step * 10 + (rank + 2) % 3;
    const uint64_t *base = keel_win_base(my->win), *moved = base + MOVING / 8;

    return base[PUT] == put && moved[PUT] == put &&
           (my->state.is_dropped ||
            (my->fixed[PUT] == put && my->fixed[UNTOUCHED] == 1000 + rank && my->fixed[WORDS - 1] == 1000 + rank)) &&
           (my->state.is_attached
                ? my->moving[PUT] == put && my->moving[UNTOUCHED] == 2000 + rank && moved[WORDS - 1] == 2000 + rank
                : my->moving[PUT] == PRIVATE && my->moving[WORDS - 1] == PRIVATE);
}

static keel_status_t step(job_t *job, uint32_t rank)
{
    mine_t *my = &job->of[rank];
    const keel_context_h ctx = job->few.ctx[rank];
    const uint64_t put = my->state.step * 10 + rank;
    keel_status_t status = change(job, my, rank);

    if (status == KEEL_OK && !my->state.is_attached) {
        fill(my->moving, PRIVATE);
    }
    if (status == KEEL_OK && my->state.is_dropped) {
        fill(my->fixed, PRIVATE);
    }
    status = (status == KEEL_OK) ? keel_gsync(ctx, 0) : status;
    status = (status == KEEL_OK) ? keel_put(my->win, (rank + 1) % 3, 8 * PUT, &put, 8) : status;
    status = (status == KEEL_OK) ? keel_put(my->win, (rank + 1) % 3, MOVING + 8 * PUT, &put, 8) : status;
    status = (status == KEEL_OK) ? keel_gsync(ctx, 0) : status;
    if (status == KEEL_OK && !is_right(my, rank)) {
        keel_sim_flaw(job->few.sim, "rank %u, step %lu: %lu at the page, %lu and %lu at the other one", rank,
                      (unsigned long)my->state.step, (unsigned long)my->fixed[UNTOUCHED],
                      (unsigned long)my->moving[UNTOUCHED], (unsigned long)my->moving[PUT]);
        return KEEL_ERR_CORRUPT;
    }
    my->state.step++;
    if (status == KEEL_OK && (my->state.step == job->image[0] || my->state.step == job->image[1])) {
        status = keel_checkpoint(ctx);
    }
    return status;
}

/* The first life has already attached the page, and still has it attached. */
static keel_status_t attach_fixed(const mine_t *my)
{
    const keel_attached_t *piece = keel_attached_find(&my->win->attach->now, 0, PAGE);

    return (my->state.is_dropped || (piece != NULL && !piece->is_again)) ? KEEL_OK
                                                                         : keel_win_attach(my->win, 0, my->fixed, PAGE);
}

/* Attaches the pages of the image again; rank 2 uses other memory. */
static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    job_t *job = (job_t *)few;
    mine_t *my = &job->of[rank];
    keel_status_t status = attach_fixed(my);

    if (status == KEEL_OK && my->state.is_attached) {
        if (rank == 2) {
            my->moving = sim_given(PAGE);
            fill(my->moving, 88);
        }
        status = keel_win_attach(my->win, MOVING, my->moving, PAGE);
    }
    while (status == KEEL_OK && my->state.step < STEPS) {
        status = step(job, rank);
    }
    return status;
}

static void strike(few_t *few)
{
    job_t *job = (job_t *)few;

    job->is_dying |= few->ctx[1] != NULL && job->of[1].state.step == job->death;
    if (few->deaths == 0 && job->is_dying && few->ctx[1] != NULL && job->delay-- == 0) {
        few_kill(few, 1);
    }
}

int main(void)
{
    static const char *const lanes[] = {"KEEL_LANES=direct", "KEEL_LANES=served"};
    static job_t job;
    int is_right_all = 1;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        const uint64_t drawn = keel_random_mix(seed);
        const few_play_t play = {.ranks = 3,
                                 .deaths = 1,
                                 .lanes = lanes[drawn % 2],
                                 .flags = (drawn / 2 % 2 == 0) ? 0 : KEEL_PARAM_FLAG_NONDETERMINISTIC,
                                 .begin = begin,
                                 .phases = phases,
                                 .strike = strike};

        job = (job_t){.image = {1 + (unsigned)(drawn / 8 % 7), 4 + (unsigned)(drawn / 64 % 5)},
                      .death = (unsigned)(drawn / 512 % 8),
                      .delay = (unsigned)(drawn / 8192 % 40),
                      .drops = (int)(drawn / 524288 % 2)};
        is_right_all &= few_run(&job.few, &play, seed);
        sim_given_release();
    }
    return is_right_all ? EXIT_SUCCESS : EXIT_FAILURE;
}
