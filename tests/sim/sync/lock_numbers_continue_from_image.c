/*
 * Only rank 0 has locked, its own memory and before a checkpoint. Rank 0 dies, so no living rank
 * knows of locks. The replacement must continue to count at the number of the image. The next
 * replacement takes the order of critical sections from the numbers.
 */
#include "few_ranks.h"

#define SEEDS 10
#define WORD  7u

typedef struct job {
    few_t few;
    unsigned saved; /* number of ranks past the checkpoint */
    int has_locked; /* the replacement has done its section */
    int is_over;    /* rank 1 has done the section after it */
} job_t;

/* The value read in the section is gone later: rank 1 overwrites it in the next section. */
static keel_status_t lock_own(keel_context_h ctx, uint64_t *own)
{
    keel_status_t status = keel_lock(ctx, 0);

    if (status == KEEL_OK) {
        own[1] = own[0] + 1;
        status = keel_unlock(ctx, 0);
    }
    return status;
}

static keel_status_t first_phases(job_t *job, uint64_t *own)
{
    const keel_context_h ctx = job->few.ctx[0];
    keel_status_t status = KEEL_OK;

    if (keel_incarnation(ctx) == 0) {
        status = lock_own(ctx, own);
        status = (status == KEEL_OK) ? keel_checkpoint(ctx) : status;
        job->saved++;
        keel_sim_compute(job->few.sim, 100000000); /* dies here */
    }
    status = (status == KEEL_OK) ? lock_own(ctx, own) : status;
    job->has_locked = 1;
    while (status == KEEL_OK && own[0] != WORD) {
        status = few_progress(&job->few, keel_rank(ctx));
    }
    return status;
}

static keel_status_t second_phases(job_t *job, keel_win_h win)
{
    const keel_context_h ctx = job->few.ctx[1];
    const uint64_t word = WORD;
    keel_status_t status = keel_checkpoint(ctx);

    job->saved++;
    while (status == KEEL_OK && !job->has_locked) {
        status = few_progress(&job->few, keel_rank(ctx));
    }
    status = (status == KEEL_OK) ? keel_lock(ctx, 0) : status;
    status = (status == KEEL_OK) ? keel_put(win, 0, 0, &word, sizeof(word)) : status;
    status = (status == KEEL_OK) ? keel_unlock(ctx, 0) : status;
    job->is_over = 1;
    return status;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    uint64_t *own = keel_win_base(win);
    keel_status_t status = (rank == 0) ? first_phases(job, own) : second_phases(job, win);
    keel_win_h further;

    if (status == KEEL_OK) {
        /* includes a gsync, in programs that lock too */
        status = keel_win_alloc(few->ctx[rank], 64, NULL, &further);
    }
    if (status == KEEL_OK && rank == 0 && own[1] != 1) {
        keel_sim_flaw(few->sim, "the section of rank 1 was done before the own one");
    }
    return status;
}

static void strike(few_t *few)
{
    const job_t *job = (const job_t *)few;

    if ((few->deaths == 0 && job->saved == 2) || (few->deaths == 1 && job->is_over)) {
        few_kill(few, 0);
    }
}

int main(void)
{
    static const few_play_t play = {.ranks = 2, .deaths = 2, .windows = 1, .phases = phases, .strike = strike};

    return few_main(&play, sizeof(job_t), SEEDS);
}
