/*
 * Each comparison of keel_wait_until(), on words of each size. At first the comparison with the
 * left neighbour's word fails; then the neighbour puts a number and, after a fence, a word for
 * which the comparison holds. A rank that returns too early lacks the number. Rank 1 kills itself
 * during the program.
 */
#include "try.h"

#include <keel/keel.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NUMBER 0u /* offsets in the window */
#define WORD   8u
#define DELAY  2000u /* us; a rank without a wait would go on meanwhile */

/* Words of 64 bits, of which the first bytes are put. */
static const struct {
    keel_compare_t compare;
    uint64_t before, after, value;
} turns[] = {
    {KEEL_COMPARE_EQ, 3, 4, 4},
    {KEEL_COMPARE_NE, 5, 4, 5},
    /* the same 64 bits for every size of the word */
    {KEEL_COMPARE_EQ, 3, (uint64_t)-1, (uint64_t)-1},
    {KEEL_COMPARE_NE, (uint64_t)-7, 4, (uint64_t)-7},
    {KEEL_COMPARE_ALL_BITS, 0x7f, (uint64_t)-1, (uint64_t)-128},
    {KEEL_COMPARE_GE, 0, (uint64_t)-1, (uint64_t)-1},
    {KEEL_COMPARE_GT, 100, 101, 100},
    {KEEL_COMPARE_GE, 0, 0xf0, 0xf0}, /* above 127: unsigned */
    {KEEL_COMPARE_LT, 0x80, 0x7f, 0x80},
    {KEEL_COMPARE_LE, 0xff, 0, 0},
    {KEEL_COMPARE_GT_SIGNED, (uint64_t)-5, 0, (uint64_t)-5},
    {KEEL_COMPARE_GT_SIGNED, (uint64_t)-1, 1, 0},
    {KEEL_COMPARE_GE_SIGNED, (uint64_t)-100, (uint64_t)-99, (uint64_t)-99},
    {KEEL_COMPARE_LT_SIGNED, 1, (uint64_t)-1, 0},
    {KEEL_COMPARE_LE_SIGNED, 0, (uint64_t)-128, (uint64_t)-1},
    {KEEL_COMPARE_ANY_BIT, 8, 2, 6},
    {KEEL_COMPARE_ALL_BITS, 2, 6, 6},
    {KEEL_COMPARE_NO_BIT, 2, 8, 6},
};
#define TURNS (sizeof(turns) / sizeof(*turns))

typedef struct job {
    keel_context_h ctx;
    keel_win_h win;
    uint64_t step; /* protected */
} job_t;

static keel_status_t step(job_t *job)
{
    const size_t turn = job->step % TURNS, size = (size_t)1 << (job->step / TURNS);
    const uint32_t rank = keel_rank(job->ctx), right = (rank + 1) % keel_size(job->ctx);
    const uint64_t number = job->step + 1, *own = keel_win_base(job->win);

    TRY(keel_put(job->win, right, WORD, &turns[turn].before, size));
    TRY(keel_gsync(job->ctx, 0));
    usleep(DELAY);
    TRY(keel_put(job->win, right, NUMBER, &number, sizeof(number)));
    TRY(keel_fence(job->ctx));
    TRY(keel_put(job->win, right, WORD, &turns[turn].after, size));
    if (rank == 1 && keel_incarnation(job->ctx) == 0 && job->step == TURNS + 3) {
        raise(SIGKILL);
    }
    TRY(keel_wait_until(job->win, WORD, size, turns[turn].compare, turns[turn].value));
    if (own[NUMBER / 8] != number) {
        printf("compares: rank %u: turn %zu of %zu bytes returned too early\n", rank, turn, size);
        return KEEL_ERR_CORRUPT;
    }
    job->step++;
    return keel_gsync(job->ctx, KEEL_GSYNC_SAFE);
}

static keel_status_t run(job_t *job)
{
    keel_status_t status;

    do {
        status = keel_restarted(job->ctx) ? keel_restore(job->ctx) : KEEL_OK;
        while (status == KEEL_OK && job->step < 4 * TURNS) {
            status = step(job);
        }
    } while (status == KEEL_ERR_ROLLED_BACK);
    return status;
}

int main(void)
{
    const keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_FLAGS, .flags = KEEL_PARAM_FLAG_WAITS};
    job_t job = {.step = 0};

    if (keel_init(&params, &job.ctx) != KEEL_OK || keel_win_alloc(job.ctx, 16, NULL, &job.win) != KEEL_OK ||
        keel_protect(job.ctx, 1, &job.step, sizeof(job.step)) != KEEL_OK || run(&job) != KEEL_OK) {
        return 3;
    }
    printf("compares: rank %u: %u comparisons are right\n", keel_rank(job.ctx), (unsigned)job.step);
    return (keel_finalize(job.ctx) == KEEL_OK) ? 0 : 3;
}
