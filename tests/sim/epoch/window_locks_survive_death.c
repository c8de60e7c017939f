/*
 * Locks of windows. All ranks share some locks and add to sums under these locks. One rank holds
 * the locks of all ranks from one gsync to the next, and a checkpoint is taken meanwhile. In some
 * seeds ranks also lock exclusively, from some phase on, and write a pair of words one after the
 * other; no rank may see half a pair. One rank dies at a drawn moment. As long as no rank locks
 * exclusively, the death must not be a rollback. In all cases each sum must contain each part once.
 * In further seeds a window is made while locks of another window are held, receives puts, and is
 * freed while all locks of the other window are held.
 */
#include "few_ranks.h"

#include "sim/random.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRY(_call)                   \
    do {                             \
        keel_status_t _st = (_call); \
        if (_st != KEEL_OK) {        \
            return _st;              \
        }                            \
    } while (0)

#define SEEDS  200
#define MAKES  60u /* number of further seeds, in which windows are made */
#define RANKS  3u
#define PHASES 5u
#define ACTS   3u /* acts of each rank before the checkpoint of a phase */

typedef struct memory {
    uint64_t pair[2], sum;
} memory_t;

typedef struct job {
    few_t few;
    uint64_t seed, first; /* first phase with exclusive locks */
    struct {
        uint64_t phase, is_half;
    } at[RANKS]; /* protected region */
    int makes;
    unsigned acts, kill_at;
    uint64_t undoubted; /* rollbacks, except for those due to an atomic under way */
} job_t;

static uint64_t drawn(const job_t *job, uint32_t rank, uint64_t act)
{
    return keel_random_mix(job->seed ^ (job->at[rank].phase << 40) ^ (act << 32) ^ ((uint64_t)rank << 24));
}

static uint32_t target_of(uint64_t draw)
{
    return (uint32_t)((draw >> 8) % RANKS);
}

/* Returns 1 if the rank holds locks from before to after the checkpoint of this phase. */
static int is_holder(const job_t *job, uint32_t rank)
{
    return (job->at[rank].phase + job->seed) % RANKS == rank;
}

static keel_status_t look(job_t *job, keel_win_h win, uint32_t target)
{
    uint64_t pair[2][2];

    for (unsigned i = 0; i < 2; i++) {
        TRY(keel_get(win, target, offsetof(memory_t, pair), pair[i], sizeof(pair[i])));
        keel_sim_compute(job->few.sim, 5000);
    }
    return (pair[0][0] == pair[0][1] && memcmp(pair[0], pair[1], sizeof(pair[0])) == 0) ? KEEL_OK : KEEL_ERR_CORRUPT;
}

static keel_status_t add(keel_win_h win, uint32_t target)
{
    return keel_atomic(win, KEEL_ATOMIC_ADD, target, offsetof(memory_t, sum), sizeof(uint64_t), 1, 0, NULL);
}

static keel_status_t write_pair(job_t *job, uint32_t rank, keel_win_h win, uint32_t target)
{
    uint64_t pair[2];

    TRY(keel_get(win, target, offsetof(memory_t, pair), pair, sizeof(pair)));
    if (pair[0] != pair[1]) {
        return KEEL_ERR_CORRUPT;
    }
    pair[0]++;
    for (unsigned i = 0; i < 2; i++) {
        TRY(keel_put(win, target, offsetof(memory_t, pair) + i * sizeof(pair[0]), pair, sizeof(pair[0])));
        TRY(keel_flush(job->few.ctx[rank], target));
        keel_sim_compute(job->few.sim, 5000);
    }
    return KEEL_OK;
}

static keel_status_t take(job_t *job, uint32_t rank, keel_win_h win, uint32_t target, keel_lock_how_t how, int is_tried)
{
    keel_status_t status = is_tried ? keel_win_trylock(win, target, how) : keel_win_lock(win, target, how);

    while (status == KEEL_INPROGRESS) {
        TRY(few_progress(&job->few, rank));
        status = keel_win_trylock(win, target, how);
    }
    return status;
}

/* Adds one to the sum of the act's target. */
static keel_status_t act(job_t *job, uint32_t rank, keel_win_h win, uint64_t number)
{
    const uint64_t draw = drawn(job, rank, number);
    const uint32_t target = target_of(draw);
    const int excludes = job->at[rank].phase >= job->first && draw % 3 == 0;

    job->acts++;
    keel_sim_compute(job->few.sim, draw % 20000);
    if (!excludes && draw % 4 == 1) {
        TRY(keel_win_lock_all(win));
        TRY(look(job, win, target));
        TRY(add(win, target));
        return keel_win_unlock_all(win);
    }
    TRY(take(job, rank, win, target, excludes ? KEEL_LOCK_EXCLUSIVE : KEEL_LOCK_SHARED, (draw >> 4) % 2 == 0));
    TRY(excludes ? write_pair(job, rank, win, target) : look(job, win, target));
    TRY(add(win, target));
    return keel_win_unlock(win, target);
}

enum { HOLD_ALL, HOLD_EACH, HOLD_ONE };

/* HOLD_ONE: an exclusive lock at the next rank. */
static int held(const job_t *job, uint32_t rank)
{
    const int how = (int)((job->seed + job->at[rank].phase) % 3);

    return (how == HOLD_ONE && job->at[rank].phase < job->first) ? HOLD_ALL : how;
}

static keel_status_t hold(job_t *job, uint32_t rank, keel_win_h win)
{
    switch (held(job, rank)) {
    case HOLD_ALL:
        return keel_win_lock_all(win);
    case HOLD_ONE:
        return keel_win_lock(win, (rank + 1) % RANKS, KEEL_LOCK_EXCLUSIVE);
    }
    for (uint32_t r = 0; r < RANKS; r++) {
        TRY(keel_win_lock(win, r, KEEL_LOCK_SHARED));
    }
    return KEEL_OK;
}

static keel_status_t give(job_t *job, uint32_t rank, keel_win_h win)
{
    if (held(job, rank) == HOLD_ONE) {
        TRY(write_pair(job, rank, win, (rank + 1) % RANKS));
        return keel_win_unlock(win, (rank + 1) % RANKS);
    }
    for (uint32_t r = 0; r < RANKS; r++) {
        TRY(look(job, win, r));
    }
    if (held(job, rank) == HOLD_ALL) {
        return keel_win_unlock_all(win);
    }
    for (uint32_t r = 0; r < RANKS; r++) {
        TRY(keel_win_unlock(win, r));
    }
    return KEEL_OK;
}

/* Requests a lock without waiting, so the holder's locks may become visible amid the checkpoint. */
static keel_status_t want(job_t *job, uint32_t rank, keel_win_h win)
{
    const uint32_t target = target_of(drawn(job, rank, ACTS + 1));
    keel_status_t status;

    if (job->at[rank].phase < job->first || drawn(job, rank, ACTS + 1) % 2 == 0) {
        return KEEL_OK;
    }
    keel_sim_compute(job->few.sim, 10000);
    status = keel_win_trylock(win, target, KEEL_LOCK_EXCLUSIVE);
    return (status == KEEL_INPROGRESS) ? KEEL_OK : (status == KEEL_OK) ? keel_win_unlock(win, target) : status;
}

static keel_status_t make(job_t *job, uint32_t rank, keel_win_h *made_p)
{
    TRY(keel_win_alloc(job->few.ctx[rank], 4096, NULL, made_p));
    return few_put_ring(&job->few, rank, *made_p, job->at[rank].phase + 1);
}

/* Runs after the gsync that follows the puts. */
static keel_status_t unmake(job_t *job, uint32_t rank, keel_win_h win, keel_win_h made)
{
    if (*(const uint64_t *)keel_win_base(made) != job->at[rank].phase + 1 + (rank + RANKS - 1) % RANKS) {
        return KEEL_ERR_CORRUPT;
    }
    TRY(keel_win_lock_all(win));
    TRY(keel_win_free(made));
    return keel_win_unlock_all(win);
}

static keel_status_t phase(job_t *job, uint32_t rank, keel_win_h win)
{
    const keel_context_h ctx = job->few.ctx[rank];
    keel_win_h made = NULL;

    if (!job->at[rank].is_half) {
        for (uint64_t i = 0; i < ACTS; i++) {
            TRY(act(job, rank, win, i));
        }
        /*
         * No rank may wait for an exclusive lock while the holder of all locks waits for other
         * ranks.
         */
        TRY(keel_gsync(ctx, 0));
        TRY(is_holder(job, rank) ? hold(job, rank, win) : want(job, rank, win));
        job->at[rank].is_half = 1;
        TRY(keel_checkpoint(ctx));
    }
    TRY(job->makes ? make(job, rank, &made) : KEEL_OK);
    TRY(is_holder(job, rank) ? give(job, rank, win) : act(job, rank, win, ACTS));
    if (job->makes) {
        TRY(keel_gsync(ctx, 0));
        TRY(unmake(job, rank, win, made));
    }
    job->at[rank].is_half = 0;
    job->at[rank].phase++;
    return keel_gsync(ctx, 0);
}

/* Returns the sum of all additions at this rank. */
static uint64_t sum_of(job_t *job, uint32_t rank)
{
    uint64_t sum = 0;

    for (uint32_t source = 0; source < RANKS; source++) {
        const uint64_t end = job->at[source].phase;

        for (job->at[source].phase = 0; job->at[source].phase < end; job->at[source].phase++) {
            for (uint64_t i = 0; i < ACTS + !is_holder(job, source); i++) {
                sum += target_of(drawn(job, source, i)) == rank;
            }
        }
    }
    return sum;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    const memory_t *own = keel_win_base(win);
    keel_stats_t stats;

    while (job->at[rank].phase < PHASES) {
        TRY(phase(job, rank, win));
    }
    if (own->sum != sum_of(job, rank) || own->pair[0] != own->pair[1]) {
        keel_sim_flaw(few->sim, "the sum of rank %u is %lu, not %lu", rank, (unsigned long)own->sum,
                      (unsigned long)sum_of(job, rank));
    }
    TRY(keel_stats(few->ctx[rank], &stats, sizeof(stats)));
    job->undoubted = stats.rollbacks - stats.rollbacks_in_doubt;
    return KEEL_OK;
}

static void begin(few_t *few, uint32_t rank)
{
    job_t *job = (job_t *)few;

    memset(&job->at[rank], 0, sizeof(job->at[rank]));
    if (keel_protect(few->ctx[rank], 1, &job->at[rank], sizeof(job->at[rank])) != KEEL_OK) {
        keel_sim_flaw(few->sim, "nothing is protected");
    }
}

/*
 * In a replacement: repeats the windows that its predecessor had made and freed before its image.
 */
static void repeat(few_t *few, uint32_t rank)
{
    keel_stats_t stats = {.window_calls_due = 0};
    keel_status_t status;
    keel_win_h made;

    do {
        status = keel_stats(few->ctx[rank], &stats, sizeof(stats));
        if (status == KEEL_OK && stats.window_calls_due > 0) {
            status = keel_win_alloc(few->ctx[rank], 4096, NULL, &made);
            status = (status == KEEL_OK) ? keel_win_free(made) : status;
        }
    } while (status == KEEL_OK && stats.window_calls_due > 0);
    if (status != KEEL_OK) {
        keel_sim_flaw(few->sim, "windows are not made again: %s", keel_status_string(status));
    }
}

static void strike(few_t *few)
{
    job_t *job = (job_t *)few;
    const uint32_t victim = (uint32_t)(job->seed >> 1) % RANKS;

    if (few->deaths == 0 && job->acts == job->kill_at && few->ctx[victim] != NULL) {
        few_kill(few, victim);
    }
}

static int run(uint64_t seed, const char *lanes, int makes)
{
    const few_play_t play = {.ranks = RANKS,
                             .deaths = 1,
                             .windows = 1,
                             .lanes = lanes,
                             .is_noticing = 1,
                             .begin = begin,
                             .ready = repeat,
                             .phases = phases,
                             .strike = strike};
    job_t job = {.seed = seed,
                 .makes = makes,
                 .first = (seed % 3 == 0) ? PHASES : seed / 3 % 3, /* PHASES: never */
                 .kill_at = 2 + (unsigned)(keel_random_mix(seed) % (RANKS * (ACTS + 1) * PHASES - 8))};

    if (few_run(&job.few, &play, seed) && (job.first < PHASES || job.undoubted == 0)) {
        return 1;
    }
    fprintf(stderr, "%s, %lu rollbacks\n", lanes, (unsigned long)job.undoubted);
    return 0;
}

int main(void)
{
    int is_right = 1;

    for (uint64_t seed = 1; seed <= SEEDS && is_right; seed++) {
        is_right = run(seed, "KEEL_LANES=served", 0) && run(seed, "KEEL_LANES=direct", 0);
    }
    for (uint64_t seed = SEEDS + 1; seed <= SEEDS + MAKES && is_right; seed++) {
        is_right = run(seed, "KEEL_LANES=served", 1) && run(seed, "KEEL_LANES=direct", 1);
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
