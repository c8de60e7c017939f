/*
 * Critical sections in real processes. Every rank's window holds a counter, a balance, a sum
 * changed by atomics, and a list. Each step of a rank, drawn from the rank and the step, changes
 * some rank's window under its lock, moves an amount between the balances of two ranks under both
 * locks, or reads all windows in a reading epoch, in which the balances must add up to zero. At the
 * end rank 0 finds every entry of every list exactly once, with the entries of each source in
 * order. The order of entries of different sources follows the locks and differs between runs; all
 * other values are hashed and must not differ.
 */
#include "kernel_options.h"
#include "kernel_outcome.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM "sections"

typedef struct {
    uint64_t counter, length, added;
    int64_t balance;
} head_t;

/* The accesses of a step; see draw(). */
typedef struct {
    enum { WRITE_ONE, WRITE_TWO, READ_ALL } kind;
    uint32_t first, second; /* targets, first < second if two */
    uint64_t amount;
    int is_split; /* with a flush inside */
} draw_t;

typedef struct {
    unsigned long steps, unit;
    kernel_common_t common;
    keel_context_h ctx;
    keel_win_h win;
    uint64_t step;      /* protected */
    double started;     /* protected */
    uint64_t is_broken; /* protected: a reading epoch saw an impossible state */
    uint64_t *seen;     /* protected: the length of each rank's list at the last read */
    size_t capacity;    /* entries of a list */
} job_t;

static const char help[] =
    "usage: sections [options]   under a launcher\n"
    "  -n, --steps N             of each rank (400)\n"
    "      --ckpt-every K        explicit checkpoint every K units of steps\n"
    "      --unit N              steps of a unit (1)\n"
    "      --json, --csv         the last line for scripts\n"
    "      --die RANK@STEP.PHASE in a section: before (0), after (1) its accesses, after it (2)\n"
    "  -h, --help                this text\n";

static draw_t draw(const job_t *job, uint32_t rank, uint64_t step)
{
    const uint32_t size = keel_size(job->ctx);
    const uint64_t place[2] = {rank, step};
    const uint64_t random = kernel_hash(KERNEL_HASH_START, place, sizeof place) >> 3;
    const uint32_t a = (uint32_t)(random % size), b = (uint32_t)((random >> 16) % size);
    draw_t drawn = {.first = a, .second = a, .amount = 1 + (random >> 36) % 1000, .is_split = (random >> 50) % 2};

    if ((random >> 52) % 8 == 0) {
        drawn.kind = READ_ALL;
    } else if (((random >> 52) % 8 < 3) && (a != b)) {
        drawn.kind = WRITE_TWO;
        drawn.first = (a < b) ? a : b;
        drawn.second = (a < b) ? b : a;
    }
    return drawn;
}

static uint64_t entry_of(uint32_t rank, uint64_t step)
{
    return ((uint64_t)rank << 32) | step;
}

/* The caller reads and writes its own memory directly while it holds its own lock. */
static keel_status_t write_own(job_t *job, const draw_t *drawn, int64_t delta)
{
    head_t *head = keel_win_base(job->win);
    uint64_t *list = (uint64_t *)(head + 1);

    list[head->length++] = entry_of(keel_rank(job->ctx), job->step);
    head->counter++;
    head->balance += delta;
    head->added += drawn->amount;
    return KEEL_OK;
}

/* The changes of a step at a locked rank. */
static keel_status_t write_one(job_t *job, const draw_t *drawn, uint32_t target, int64_t delta)
{
    const uint64_t entry = entry_of(keel_rank(job->ctx), job->step);
    keel_status_t status;
    head_t head;

    if (target == keel_rank(job->ctx)) {
        return write_own(job, drawn, delta);
    }
    KERNEL_TRY(keel_get(job->win, target, 0, &head, sizeof head));
    if (head.length >= job->capacity) {
        job->is_broken = 1;
        return KEEL_OK;
    }
    KERNEL_TRY(keel_put(job->win, target, sizeof head + head.length * sizeof entry, &entry, sizeof entry));
    if (drawn->is_split) {
        KERNEL_TRY(keel_flush(job->ctx, target));
    }
    head.counter++;
    head.length++;
    KERNEL_TRY(keel_put(job->win, target, 0, &head, offsetof(head_t, added)));
    head.balance += delta;
    KERNEL_TRY(keel_put(job->win, target, offsetof(head_t, balance), &head.balance, sizeof head.balance));
    status = keel_atomic_nbx(job->win, KEEL_ATOMIC_ADD, target, offsetof(head_t, added), sizeof head.added,
                             drawn->amount, 0, NULL, NULL, NULL);
    return (status == KEEL_INPROGRESS) ? KEEL_OK : status; /* the unlock completes the access */
}

static keel_status_t write_locked(job_t *job, const draw_t *drawn)
{
    const int is_two = (drawn->kind == WRITE_TWO);

    KERNEL_TRY(keel_lock(job->ctx, drawn->first));
    if (is_two) {
        KERNEL_TRY(keel_lock(job->ctx, drawn->second));
    }
    kernel_die_here(&job->common.death, job->ctx, job->step, 0);
    KERNEL_TRY(write_one(job, drawn, drawn->first, is_two ? -(int64_t)drawn->amount : 0));
    if (is_two) {
        KERNEL_TRY(write_one(job, drawn, drawn->second, (int64_t)drawn->amount));
    }
    kernel_die_here(&job->common.death, job->ctx, job->step, 1);
    KERNEL_TRY(keel_unlock(job->ctx, drawn->first));
    return is_two ? keel_unlock(job->ctx, drawn->second) : KEEL_OK;
}

static keel_status_t read_all(job_t *job)
{
    const uint32_t size = keel_size(job->ctx);
    int64_t balance = 0;
    uint32_t rank;
    head_t head;

    KERNEL_TRY(keel_lock_all(job->ctx));
    kernel_die_here(&job->common.death, job->ctx, job->step, 0);
    for (rank = 0; rank < size; rank++) {
        if (rank == keel_rank(job->ctx)) {
            head = *(const head_t *)keel_win_base(job->win);
        } else {
            KERNEL_TRY(keel_get(job->win, rank, 0, &head, sizeof head));
        }
        balance += head.balance;
        job->is_broken |= (head.counter != head.length) || (head.length < job->seen[rank]);
        job->seen[rank] = head.length;
    }
    job->is_broken |= (balance != 0);
    kernel_die_here(&job->common.death, job->ctx, job->step, 1);
    return keel_unlock_all(job->ctx);
}

static keel_status_t do_step(job_t *job)
{
    const draw_t drawn = draw(job, keel_rank(job->ctx), job->step);

    KERNEL_TRY((drawn.kind == READ_ALL) ? read_all(job) : write_locked(job, &drawn));
    kernel_die_here(&job->common.death, job->ctx, job->step, 2);
    job->step++;
    if (((job->common.ckpt_every != 0) && (job->step % (job->common.ckpt_every * job->unit) == 0)) ||
        (job->step == job->steps)) {
        return keel_checkpoint(job->ctx); /* the last checkpoint: all ranks have done their steps */
    }
    return KEEL_OK;
}

/* ---- the end, at rank 0 ---- */

/* Computes the expected window of @a target into @a head, and the number of entries of each source
 * into @a entries. */
static void expect(const job_t *job, uint32_t target, head_t *head, uint64_t *entries)
{
    const uint32_t size = keel_size(job->ctx);
    uint64_t step;
    uint32_t rank;

    *head = (head_t){0};
    for (rank = 0; rank < size; rank++) {
        entries[rank] = 0;
        for (step = 0; step < job->steps; step++) {
            const draw_t drawn = draw(job, rank, step);
            const int is_two = (drawn.kind == WRITE_TWO);

            if ((drawn.kind == READ_ALL) || ((drawn.first != target) && (drawn.second != target))) {
                continue;
            }
            entries[rank]++;
            head->counter++;
            head->length++;
            head->added += drawn.amount;
            head->balance += !is_two ? 0 : (drawn.first == target) ? -(int64_t)drawn.amount : (int64_t)drawn.amount;
        }
    }
}

static int is_touching(const job_t *job, uint32_t target, uint64_t entry)
{
    const draw_t drawn = draw(job, (uint32_t)(entry >> 32), entry & UINT32_MAX);

    return (drawn.kind != READ_ALL) && ((drawn.first == target) || (drawn.second == target));
}

/* Entries in order and in the right number occur exactly once. @a entries is used up. */
static int is_list_right(const job_t *job, uint32_t target, const uint64_t *list, uint64_t length, uint64_t *entries,
                         uint64_t *last)
{
    const uint32_t size = keel_size(job->ctx);
    uint64_t i;

    memset(last, 0, size * sizeof *last);
    for (i = 0; i < length; i++) {
        const uint32_t source = (uint32_t)(list[i] >> 32);
        const uint64_t step = list[i] & UINT32_MAX;

        if ((source >= size) || (step >= job->steps) || (step + 1 <= last[source]) || (entries[source]-- == 0) ||
            !is_touching(job, target, list[i])) {
            return 0;
        }
        last[source] = step + 1;
    }
    return 1;
}

static keel_status_t judge(job_t *job, kernel_outcome_t *outcome)
{
    const uint32_t size = keel_size(job->ctx);
    uint64_t *list = malloc((job->capacity + 2 * size) * sizeof *list);
    uint64_t *const entries = list + job->capacity, *const last = entries + size;
    keel_status_t status = (list == NULL) ? KEEL_ERR_NO_MEMORY : keel_lock_all(job->ctx);
    head_t head, expected;
    uint32_t rank;

    outcome->seconds = kernel_now_s() - job->started;
    outcome->is_verified = 1;
    outcome->is_right = !job->is_broken;
    outcome->hash = KERNEL_HASH_START;
    for (rank = 0; (rank < size) && (status == KEEL_OK); rank++) {
        status = keel_get(job->win, rank, 0, &head, sizeof head);
        if (status == KEEL_OK) {
            status = keel_get(job->win, rank, sizeof head, list, job->capacity * sizeof *list);
        }
        expect(job, rank, &expected, entries);
        outcome->is_right &= (memcmp(&head, &expected, sizeof head) == 0) &&
                             is_list_right(job, rank, list, expected.length, entries, last);
        outcome->hash = kernel_hash(outcome->hash, &head, sizeof head);
    }
    if (status == KEEL_OK) {
        status = keel_unlock_all(job->ctx);
    }
    keel_stats(job->ctx, &outcome->stats, sizeof(outcome->stats));
    free(list);
    return status;
}

static keel_status_t run(job_t *job, kernel_outcome_t *outcome)
{
    if (keel_restarted(job->ctx)) {
        KERNEL_TRY(keel_restore(job->ctx));
    }
    while (job->step < job->steps) {
        KERNEL_TRY(do_step(job));
    }
    if (keel_rank(job->ctx) == 0) {
        KERNEL_TRY(judge(job, outcome));
    } else {
        outcome->is_right = !job->is_broken;
    }
    return keel_finalize(job->ctx);
}

static keel_status_t open_memory(job_t *job)
{
    const uint32_t size = keel_size(job->ctx);

    job->capacity = job->steps * size;
    job->seen = calloc(size, sizeof *job->seen);
    if (job->seen == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    KERNEL_TRY(keel_win_alloc(job->ctx, sizeof(head_t) + job->capacity * sizeof(uint64_t), NULL, &job->win));
    KERNEL_TRY(keel_protect(job->ctx, 0, &job->step, sizeof job->step));
    KERNEL_TRY(keel_protect(job->ctx, 1, &job->started, sizeof job->started));
    KERNEL_TRY(keel_protect(job->ctx, 2, &job->is_broken, sizeof job->is_broken));
    return keel_protect(job->ctx, 3, job->seen, size * sizeof *job->seen);
}

int main(int argc, char **argv)
{
    job_t job = {.steps = 400, .unit = 1};
    const kernel_option_t own[] = {{.name = "steps", .letter = 'n', .number_p = &job.steps, .min = 1},
                                   {.name = "unit", .number_p = &job.unit, .min = 1}};
    kernel_outcome_t outcome = {.kernel = PROGRAM};
    kernel_field_t field = {"steps", NULL, 0};
    keel_status_t status;
    uint32_t rank;
    int exit_status;

    exit_status = kernel_options_parse(PROGRAM, help, argc, argv, own, 2, &job.common);
    if (exit_status >= 0) {
        return exit_status;
    }
    status = keel_init(NULL, &job.ctx);
    if (status != KEEL_OK) {
        return kernel_keel_error(PROGRAM, "keel_init", status);
    }
    rank = keel_rank(job.ctx);
    outcome.ranks = keel_size(job.ctx);
    job.started = kernel_now_s();
    status = open_memory(&job);
    if (status == KEEL_OK) {
        do {
            status = run(&job, &outcome);
        } while (status == KEEL_ERR_ROLLED_BACK);
    }
    if (status != KEEL_OK) {
        return kernel_keel_error(PROGRAM, "run", status);
    }
    if (rank == 0) {
        field.number = (double)job.steps;
        kernel_print_outcome(&outcome, job.common.format, &field, 1);
    }
    free(job.seen);
    return outcome.is_right ? KERNEL_EXIT_OK : KERNEL_EXIT_WRONG;
}
