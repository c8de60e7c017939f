/*
 * Turns at a lock. Rank 1 gives up the lock of rank 0 and takes the lock again at once, so rank 2
 * finds a taken lock at every look. Rank 2 must get the lock after a bounded number of grants. The
 * same holds for a window's lock that two ranks share by turns without a gap. In some seeds rank 2
 * dies while waiting; no rank may leave the lock to the dead claim.
 */
#include "few_ranks.h"

#include "peer/lockword.h"

#include <stdlib.h>

#define SEEDS  24
#define RANKS  3u
#define ROUNDS 3u   /* number of times that rank 2 gets the lock */
#define SHARED 400u /* grants after which the patience of sharers is the longest */

typedef enum { SECTIONS, EXCLUSIVE, OVERLAPPING } kind_t;

typedef struct job {
    few_t few;
    kind_t kind;
    int dies;
    unsigned had;     /* number of times that rank 2 has had the lock */
    unsigned grants;  /* grants to others since rank 2 asked */
    unsigned holders; /* number of ranks that share the lock */
} job_t;

static keel_status_t take(job_t *job, uint32_t rank, keel_win_h win)
{
    const keel_lock_how_t how = (job->kind == OVERLAPPING && rank != 2) ? KEEL_LOCK_SHARED : KEEL_LOCK_EXCLUSIVE;

    return (job->kind == SECTIONS) ? keel_lock(job->few.ctx[rank], 0) : keel_win_lock(win, 0, how);
}

static keel_status_t give(job_t *job, uint32_t rank, keel_win_h win)
{
    return (job->kind == SECTIONS) ? keel_unlock(job->few.ctx[rank], 0) : keel_win_unlock(win, 0);
}

static uint64_t claim_of_second(const job_t *job)
{
    return (job->few.ctx[0] != NULL) ? keel_lock_claims(keel_lane_locks(&job->few.ctx[0]->lane), RANKS).waiting[2] : 0;
}

static int is_over(const job_t *job)
{
    return job->dies ? job->few.deaths > 0 : job->had >= ROUNDS;
}

/*
 * Takes the lock again and again. Two ranks that share a lock take turns, so the lock stays taken.
 */
static keel_status_t take_again(job_t *job, uint32_t rank, keel_win_h win)
{
    const unsigned most = (job->kind == OVERLAPPING) ? SHARED : KEEL_CLAIM_GRANTS + RANKS;
    keel_status_t status = KEEL_OK;

    while (status == KEEL_OK && !is_over(job)) {
        status = take(job, rank, win);
        if (status == KEEL_OK && claim_of_second(job) != 0 && ++job->grants > most) {
            keel_sim_flaw(job->few.sim, "rank 2 waits during %u grants", job->grants);
        }
        job->holders++;
        for (unsigned i = 0; status == KEEL_OK && i < 3; i++) {
            keel_sim_compute(job->few.sim, 2000);
        }
        /* the other rank shares before this rank gives up, unless the other waits for this rank */
        for (unsigned i = 0; status == KEEL_OK && job->kind == OVERLAPPING && job->holders < 2 && i < 200; i++) {
            status = few_progress(&job->few, rank);
        }
        job->holders--;
        status = (status == KEEL_OK) ? give(job, rank, win) : status;
    }
    return status;
}

static keel_status_t wait_for_turns(job_t *job, keel_win_h win)
{
    keel_status_t status = KEEL_OK;

    while (status == KEEL_OK && !is_over(job)) {
        job->grants = 0;
        status = take(job, 2, win);
        job->had += status == KEEL_OK;
        keel_sim_compute(job->few.sim, 1000);
        status = (status == KEEL_OK) ? give(job, 2, win) : status;
    }
    return status;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    job_t *job = (job_t *)few;
    keel_status_t status = KEEL_OK;

    if (rank == 2) {
        status = wait_for_turns(job, last);
    } else if (rank == 1 || job->kind == OVERLAPPING) {
        status = take_again(job, rank, last);
    }
    status = (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
    if (status == KEEL_OK && job->dies && rank == 0 && claim_of_second(job) != 0) {
        keel_sim_flaw(few->sim, "rank 2 is dead, and its claim is not");
    }
    return status;
}

/* Kills rank 2 while rank 2 waits. */
static void strike(few_t *few)
{
    const job_t *job = (const job_t *)few;

    if (job->dies && few->deaths == 0 && job->grants > 5 && claim_of_second(job) != 0) {
        few_kill(few, 2);
    }
}

static int run(uint64_t seed, const char *lanes)
{
    const few_play_t play = {.ranks = RANKS,
                             .deaths = seed % 4 == 3, /* with critical sections: a local recovery */
                             .windows = 1,
                             .lanes = lanes,
                             .phases = phases,
                             .strike = strike};
    job_t job = {.kind = (kind_t)(seed % 4 % 3), .dies = seed % 4 == 3};

    return few_run(&job.few, &play, seed);
}

int main(void)
{
    int is_right = 1;

    for (uint64_t seed = 0; seed < SEEDS && is_right; seed++) {
        is_right = run(seed, "KEEL_LANES=served") && run(seed, "KEEL_LANES=direct");
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
