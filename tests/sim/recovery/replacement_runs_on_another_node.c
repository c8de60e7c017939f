/*
 * A replacement runs on another node than its predecessor, so two ranks that shared memory then
 * send messages. The earlier and the later puts of the source must all count, whichever of the two
 * ranks died.
 */
#include "few_ranks.h"

#include <stdlib.h>

#define SEEDS 10
#define WORDS 6u
#define HALF  3u

typedef enum { DIES_TARGET, DIES_LOCKING, DIES_SOURCE_TOO, DIES_LAST } what_t;

typedef struct job {
    few_t few;
    what_t what;
    int is_half;  /* half of the words are put */
    int is_later; /* one more word is put */
    int is_seen;  /* the lock's owner has been checked */
} job_t;

/*
 * Rank 0 puts. The target, rank 1, dies and is replaced on another node. Rank 0 may die in the same
 * phase.
 */
static keel_status_t put_words(job_t *job, keel_win_h win)
{
    const keel_context_h ctx = job->few.ctx[0];
    keel_status_t status = KEEL_OK;

    for (uint64_t i = 0; i < WORDS && status == KEEL_OK; i++) {
        const uint64_t word = 100 + i;

        status = keel_put(win, 1, i * sizeof(word), &word, sizeof(word));
        /* a put of no bytes: the direct lane and messages must count it alike */
        if (status == KEEL_OK) {
            status = keel_put(win, 1, i * sizeof(word), &word, 0);
        }
        job->is_half |= (i == HALF - 1);
        while (status == KEEL_OK && job->is_half &&
               (ctx->lane.peers[1].incarnation == 0 || ctx->lane.peers[1].mode != KEEL_PEER_LIVE)) {
            status = few_progress(&job->few, keel_rank(ctx));
        }
        if (job->what == DIES_SOURCE_TOO && status == KEEL_OK && i == HALF && keel_incarnation(ctx) == 0) {
            status = keel_flush(ctx, 1);
            job->is_later = 1;
            keel_sim_compute(job->few.sim, 100000000); /* dies here */
        }
    }
    return (status == KEEL_OK) ? keel_flush(ctx, 1) : status;
}

/* Checks that rank 1 owns the lock of rank 0. */
static void check_owner(job_t *job)
{
    const uint64_t word = keel_lane_locks(&job->few.ctx[0]->lane)->word;

    if (word != keel_lock_word(keel_lock_counter(word), 1)) {
        keel_sim_flaw(job->few.sim, "the lock says %lx, which is not rank 1", (unsigned long)word);
    }
    job->is_seen = 1;
}

/* Rank 1 puts in critical sections, dies between two sections, and continues on another node. */
static keel_status_t put_locked(job_t *job, keel_win_h win)
{
    const keel_context_h ctx = job->few.ctx[1];
    keel_status_t status = KEEL_OK;

    for (uint64_t i = 0; i < WORDS && status == KEEL_OK; i++) {
        const uint64_t word = 100 + i;

        status = keel_lock(ctx, 0);
        if (status == KEEL_OK) {
            status = keel_put(win, 0, i * sizeof(word), &word, sizeof(word));
        }
        if (status == KEEL_OK && keel_incarnation(ctx) > 0 && i == WORDS - 1) {
            check_owner(job);
        }
        status = (status == KEEL_OK) ? keel_unlock(ctx, 0) : status;
        job->is_half |= (i == HALF - 1);
        if (job->is_half && keel_incarnation(ctx) == 0) {
            keel_sim_compute(job->few.sim, 100000000); /* dies here */
        }
    }
    return status;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    const uint32_t source = (job->what == DIES_LOCKING) ? 1 : 0;
    const uint64_t *own = keel_win_base(win);
    keel_status_t status = KEEL_OK;
    keel_win_h further;

    if (rank == source) {
        status = (job->what == DIES_LOCKING) ? put_locked(job, win) : put_words(job, win);
    }
    if (status == KEEL_OK) {
        /* includes a gsync, in programs that lock too */
        status = keel_win_alloc(few->ctx[rank], 64, NULL, &further);
    }
    for (uint64_t i = 0; i < WORDS && status == KEEL_OK && rank != source; i++) {
        if (own[i] != 100 + i) {
            keel_sim_flaw(few->sim, "what was put, %lu, is lost", (unsigned long)i);
        }
    }
    return status;
}

static void strike(few_t *few)
{
    const job_t *job = (const job_t *)few;

    if (few->deaths == 0 && job->is_half) {
        few_kill(few, 1);
        keel_sim_move(few->sim, 1, 1);
    }
    if (few->deaths == 1 && job->is_later) {
        few_kill(few, 0);
    }
}

int main(void)
{
    int is_right = 1;

    for (unsigned what = 0; what < DIES_LAST; what++) {
        const few_play_t play = {
            .ranks = 2, .deaths = (what == DIES_SOURCE_TOO) ? 2 : 1, .windows = 1, .phases = phases, .strike = strike};

        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            job_t job = {.what = (what_t)what};

            is_right &= few_run(&job.few, &play, seed) && job.is_seen == (what == DIES_LOCKING);
        }
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
