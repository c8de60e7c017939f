/*
 * Visibility of stores on the direct lane. In a small program each rank in turn is slow, or dies,
 * between each two stores to memory that others see (check/plant.h). The programs have critical
 * sections, waits, puts of several blocks, or gsyncs with a checkpoint. As on x86, other ranks see
 * all stores of the rank except stores streamed past the caches; as on ARM, all stores except one
 * of the last.
 */
#include "few_ranks.h"

#include "check/plant.h"
#include "sim/world.h"

#include <stdio.h>
#include <stdlib.h>

#define RANKS   3
#define SEED    1
#define SLOW_NS 300000
#define SAVED   3u /* phases of the program of gsyncs */
#define LAST    8u
#define POINTS  512u
#define PASSED  2u /* later stores that are visible before the delayed store */

typedef struct job {
    few_t few;
    uint32_t victim;
    /* number of the tested point between two stores, and number of points until now */
    unsigned wanted, count;
    /*
     * number of the store that others do not see at the point, 0: none; number of stores until now
     */
    unsigned kept, stored;
    unsigned stored_at[POINTS];
    /* points before the last image is made */
    unsigned unsaved;
    /* DIES_SAVED: dies when an image of the tested acts is in use */
    enum { SLOW, DIES_AT_ONCE, DIES_LATE, DIES_SAVED, FATES } fate;
    /* time at which the victim came between the two stores; 0: not there */
    uint64_t since_ns;
    int is_met;
    /* the victim is in finalize: a rank that dies after the last gsync is not replaced */
    int is_over;
} job_t;

static job_t *playing;

static int is_about(const job_t *job)
{
    return keel_sim_current(sim_running) == job->victim && !job->is_over &&
           keel_sim_incarnation(sim_running, job->victim) == 0;
}

static void at_hold(void *to, size_t length, keel_stored_t how)
{
    job_t *job = playing;

    keel_sim_store_hold(sim_running, to, length, how);
    if (is_about(job) && (++job->stored == job->kept || how == KEEL_STORED_STREAMED)) {
        keel_sim_store_keep(sim_running, 3 * SLOW_NS);
    }
}

static void at_stores(void)
{
    job_t *job = playing;

    if (!is_about(job)) {
        return;
    }
    if (job->count < POINTS) {
        job->stored_at[job->count] = job->stored;
    }
    job->unsaved += job->few.ctx[job->victim] != NULL && job->few.ctx[job->victim]->rec.phase <= SAVED;
    if (++job->count != job->wanted) {
        return;
    }
    job->is_met = 1;
    job->since_ns = keel_sim_now_ns(sim_running);
    keel_sim_compute(sim_running, 2 * SLOW_NS);
    job->since_ns = 0;
}

static int has_saved(const few_t *few, uint32_t rank)
{
    const keel_context_h ctx = few->ctx[rank];

    return ctx != NULL && ctx->ckpt.set.used.number > SAVED && ctx->rec.phase < LAST;
}

static void strike(few_t *few)
{
    const job_t *job = (const job_t *)few;

    if (few->deaths == 0 && job->fate == DIES_SAVED && has_saved(few, job->victim)) {
        few_kill(few, job->victim);
    } else if (few->deaths == 0 && job->since_ns != 0 &&
               (job->fate == DIES_AT_ONCE ||
                (job->fate == DIES_LATE && keel_sim_now_ns(few->sim) >= job->since_ns + SLOW_NS))) {
        few_kill(few, job->victim);
    }
}

static void expect(few_t *few, uint32_t rank, uint64_t is, uint64_t wanted, const char *what)
{
    if (is != wanted) {
        keel_sim_flaw(few->sim, "rank %u has %s of %lu, %lu are wanted", rank, what, (unsigned long)is,
                      (unsigned long)wanted);
    }
}

static keel_status_t over(few_t *few, uint32_t rank, keel_status_t status)
{
    job_t *job = (job_t *)few;

    job->is_over |= status == KEEL_OK && rank == job->victim;
    return status;
}

/* ---- critical sections ---- */

static keel_status_t section(keel_context_h ctx, keel_win_h win, uint32_t rank, uint64_t sum)
{
    uint64_t word = 0;
    keel_status_t status = keel_lock(ctx, rank);

    status = (status == KEEL_OK) ? keel_get(win, rank, 8, &word, sizeof(word)) : status;
    word += sum;
    status = (status == KEEL_OK) ? keel_put(win, rank, 8, &word, sizeof(word)) : status;
    status = (status == KEEL_OK) ? keel_atomic(win, KEEL_ATOMIC_ADD, rank, 0, sizeof(sum), sum, 0, NULL) : status;
    return (status == KEEL_OK) ? keel_unlock(ctx, rank) : status;
}

static keel_status_t sections(few_t *few, uint32_t rank, keel_win_h win)
{
    const keel_context_h ctx = few->ctx[rank];
    const uint64_t *own = keel_win_base(win);
    keel_status_t status = section(ctx, win, (rank + 1) % RANKS, 1);
    keel_win_h further;
    uint64_t word;

    status = (status == KEEL_OK) ? section(ctx, win, (rank + 1) % RANKS, 10) : status;
    status = (status == KEEL_OK) ? section(ctx, win, (rank + 2) % RANKS, 100) : status;
    status = (status == KEEL_OK) ? keel_lock_all(ctx) : status;
    status = (status == KEEL_OK) ? keel_get(win, (rank + 1) % RANKS, 8, &word, sizeof(word)) : status;
    status = (status == KEEL_OK) ? keel_unlock_all(ctx) : status;
    /* includes a gsync */
    status = (status == KEEL_OK) ? keel_win_alloc(ctx, 8, NULL, &further) : status;
    if (status == KEEL_OK) {
        expect(few, rank, own[0], 111, "a sum");
        expect(few, rank, own[1], 111, "a word");
    }
    return over(few, rank, status);
}

/* ---- waits ---- */

static keel_status_t pass_on(few_t *few, uint32_t rank, keel_win_h win, uint32_t target, uint64_t value)
{
    const uint64_t flag = 1;
    keel_status_t status = keel_put(win, target, 0, &value, sizeof(value));

    status = (status == KEEL_OK) ? keel_fence(few->ctx[rank]) : status;
    return (status == KEEL_OK) ? keel_put(win, target, 8, &flag, sizeof(flag)) : status;
}

/* Rank 0 puts to rank 2 and signals rank 1. Rank 1 puts to rank 2 too and signals rank 2. */
static keel_status_t waits(few_t *few, uint32_t rank, keel_win_h win)
{
    const uint64_t value = rank + 1, flag = 1;
    uint64_t *own = keel_win_base(win);
    keel_status_t status = (rank == 0) ? keel_put(win, 2, 0, &value, sizeof(value))
                                       : keel_wait_until(win, 8, sizeof(uint64_t), KEEL_COMPARE_EQ, 1);

    own[1] = 0;
    if (status == KEEL_OK && rank == 0) {
        status = keel_flush(few->ctx[0], 2);
        status = (status == KEEL_OK) ? keel_put(win, 1, 8, &flag, sizeof(flag)) : status;
    } else if (status == KEEL_OK && rank == 1) {
        status = pass_on(few, 1, win, 2, value);
    } else if (status == KEEL_OK) {
        expect(few, rank, own[0], 2, "a word after its wait");
    }
    status = (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
    if (status == KEEL_OK) {
        expect(few, rank, own[0], (rank == 2) ? 2 : 0, "a word");
        expect(few, rank, own[1], 0, "a flag");
    }
    return over(few, rank, status);
}

/* ---- several blocks ---- */

enum { BLOCKS = 3 };

/* Puts @a value to three separate words, as a list or as blocks. */
static keel_status_t put_blocks(keel_win_h win, uint32_t target, uint64_t value, int is_list)
{
    uint64_t values[BLOCKS] = {value, value, value};
    const keel_block_t list[BLOCKS] = {{16, 8, &values[0]}, {0, 8, &values[1]}, {32, 8, &values[2]}};
    const keel_blocks_t blocks = {.length = 8, .count = BLOCKS, .stride = 16, .buffer_stride = 8};

    return is_list ? keel_put_list(win, target, list, BLOCKS) : keel_put_strided(win, target, &blocks, values);
}

/*
 * Does the same as waits(), but each put is of several blocks, and the last put has data and a
 * signal.
 */
static keel_status_t blocks(few_t *few, uint32_t rank, keel_win_h win)
{
    const uint64_t value = rank + 1;
    const keel_signal_t signal = {.offset = 8, .value = 1};
    uint64_t *own = keel_win_base(win);
    keel_status_t status =
        (rank == 0) ? put_blocks(win, 2, value, 1) : keel_wait_until(win, 8, sizeof(uint64_t), KEEL_COMPARE_EQ, 1);

    own[1] = 0;
    if (status == KEEL_OK && rank == 0) {
        status = keel_flush(few->ctx[0], 2);
        status = (status == KEEL_OK) ? keel_put_signal(win, 1, 24, &value, sizeof(value), &signal) : status;
    } else if (status == KEEL_OK && rank == 1) {
        expect(few, rank, own[3], 1, "the data of a signal");
        own[3] = 7;
        status = put_blocks(win, 2, value, 0);
        status = (status == KEEL_OK) ? keel_put_signal(win, 2, 0, &value, sizeof(value), &signal) : status;
    } else if (status == KEEL_OK) {
        expect(few, rank, own[0], 2, "a word after its wait");
        own[0] = 9;
    }
    status = (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
    if (status == KEEL_OK) {
        expect(few, rank, own[0], (rank == 2) ? 9 : 0, "a word");
        expect(few, rank, own[1], 0, "a flag");
        expect(few, rank, own[2], (rank == 2) ? 2 : 0, "a second word");
        expect(few, rank, own[3], (rank == 1) ? 7 : 0, "a word of data");
        expect(few, rank, own[4], (rank == 2) ? 2 : 0, "a third word");
    }
    return over(few, rank, status);
}

/* ---- gsyncs ---- */

/* Returns the offset of a phase's word; two successive phases use different words. */
static uint64_t place_of(uint64_t phase)
{
    return 8 * (phase & 1);
}

static keel_status_t gsync_phase(few_t *few, uint32_t rank, keel_win_h win)
{
    const keel_context_h ctx = few->ctx[rank];
    const uint64_t phase = ctx->rec.phase;
    const uint64_t *own = keel_win_base(win);
    uint64_t old = 0, sum = 0;
    keel_status_t status = keel_get(win, (rank + 1) % RANKS, place_of(phase - 1), &old, sizeof(old));

    status = (status == KEEL_OK) ? keel_put(win, (rank + 1) % RANKS, place_of(phase), &phase, sizeof(phase)) : status;
    status = (status == KEEL_OK) ? keel_atomic(win, KEEL_ATOMIC_ADD, (rank + 2) % RANKS, 16, sizeof(sum), 1, 0, &sum)
                                 : status;
    status = (status == KEEL_OK) ? keel_gsync(ctx, KEEL_GSYNC_SAFE) : status;
    if (status == KEEL_OK) {
        expect(few, rank, old, (phase == SAVED + 2) ? SAVED - 1 : phase - 1, "a value read");
        expect(few, rank, own[phase & 1], phase, "the word of a phase");
    }
    return status;
}

static keel_status_t gsyncs(few_t *few, uint32_t rank, keel_win_h win)
{
    const keel_context_h ctx = few->ctx[rank];
    keel_status_t status = KEEL_OK;

    while (status == KEEL_OK && ctx->rec.phase < LAST) {
        if (ctx->rec.phase == SAVED) {
            status = keel_checkpoint(ctx); /* makes two gsyncs; the image belongs to the first */
        } else if (ctx->rec.phase == SAVED + 1) {
            status = keel_gsync(ctx, 0);
        } else {
            status = gsync_phase(few, rank, win);
        }
    }
    if (status == KEEL_OK) {
        expect(few, rank, ((const uint64_t *)keel_win_base(win))[2], LAST - 3, "a sum");
    }
    return over(few, rank, status);
}

/* ---- all stores of a rank ---- */

static int run_one(const few_play_t *play, job_t *job)
{
    static const char *const fates[] = {"is slow", "dies", "dies late", "is slow and dies later"};
    few_play_t once = *play;
    int is_right;

    playing = job;
    once.deaths = job->fate != SLOW;
    is_right = few_run(&job->few, &once, SEED) && job->is_met == (job->wanted > 0);
    if (!is_right) {
        fprintf(stderr, "  rank %u %s at store %u, %u is not seen\n", job->victim, fates[job->fate], job->wanted,
                job->kept);
    }
    return is_right;
}

static int run_fates(const few_play_t *play, uint32_t victim, unsigned wanted, unsigned kept, int is_saved)
{
    const unsigned fates = is_saved ? FATES : DIES_SAVED;
    int is_right = 1;

    for (unsigned fate = 0; fate < fates && is_right; fate++) {
        job_t job = {.victim = victim, .wanted = wanted, .kept = kept, .fate = fate};

        /* otherwise the stores are visible, as without a delayed store */
        if (kept == 0 || fate != DIES_AT_ONCE) {
            is_right = run_one(play, &job);
        }
    }
    return is_right;
}

static int run_all(const few_play_t *play, uint32_t victim)
{
    job_t first = {.victim = victim};
    int is_right = run_one(play, &first) && first.count <= POINTS;

    for (unsigned i = 1; i <= first.count && is_right; i++) {
        const unsigned stored = first.stored_at[i - 1];
        const int is_saved = play->phases == gsyncs && i <= first.unsaved;

        if (play->stores != KEEL_SIM_ARM) {
            is_right = run_fates(play, victim, i, 0, is_saved);
        }
        for (unsigned passed = 1; play->stores == KEEL_SIM_ARM && passed <= PASSED && passed < stored; passed++) {
            is_right = is_right && run_fates(play, victim, i, stored - passed, is_saved);
        }
    }
    return is_right;
}

int main(void)
{
    static const few_play_t plays[] = {
        {.phases = sections},
        {.phases = waits},
        {.phases = waits, .flags = KEEL_PARAM_FLAG_WAITS},
        {.phases = blocks, .flags = KEEL_PARAM_FLAG_WAITS},
        {.phases = gsyncs},
    };
    int is_right = 1;

    keel_planted_stores = keel_planted_moment = at_stores;
    keel_planted_memory.hold = at_hold;
    for (unsigned i = 0; i < sizeof(plays) / sizeof(plays[0]); i++) {
        few_play_t play = plays[i];

        play.ranks = RANKS;
        play.windows = 1;
        play.lanes = "KEEL_LANES=direct";
        play.strike = strike;
        for (play.stores = KEEL_SIM_X86; play.stores <= KEEL_SIM_ARM; play.stores++) {
            for (uint32_t victim = 0; victim < RANKS && is_right; victim++) {
                is_right = run_all(&play, victim);
            }
        }
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
