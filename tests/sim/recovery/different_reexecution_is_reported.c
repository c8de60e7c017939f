/*
 * Rank 1 puts words to rank 0 and dies when the words are there. Its replacement does something
 * else in the same phase. Rank 0 skips the puts of the replacement, because the words are there, so
 * no rank would notice that rank 0's memory differs from the memory that rank 1 continues with. In
 * other runs rank 1 dies in the next phase, before any put. The difference must be reported, and
 * the job must roll back. A replacement that repeats the same puts must be recovered locally.
 */
#include "few_ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEEDS 20
#define RANKS 3u
#define STEPS 4u
#define FATAL 2u /* step in which rank 1 dies */
#define WORDS 4u
#define OTHER 1000u /* added to the values of another life */

typedef enum { SAME, VALUE, PLACE, FEWER, MORE, NONE, FETCHED } what_t;

typedef struct job {
    few_t few;
    /* bit mask of the ranks that have reached the place of the death, behind the puts */
    unsigned there;
    uint64_t rollbacks;
} job_t;

static what_t what;  /* kind of the difference */
static int is_ahead; /* rank 1 dies in the next phase */

static uint32_t life(const few_t *few)
{
    return few->ctx[1]->lane.incarnation;
}

/* Puts words to rank 0, and keeps copies in the own window. */
static keel_status_t put_words(few_t *few, keel_win_h win, unsigned step)
{
    const int is_other = life(few) > 0;
    const unsigned words = (is_other && what == NONE) ? 0 : (is_other && what == FEWER) ? WORDS / 2 : WORDS;
    uint64_t *own = keel_win_base(win), old;
    keel_status_t status = KEEL_OK;

    if (is_other && what == FETCHED) { /* at a place where the first life had put a word */
        own[WORDS + 1]++;
        status = keel_atomic(win, KEEL_ATOMIC_ADD, 0, (WORDS + 1) * sizeof(*own), sizeof(*own), 1, 0, &old);
    }
    for (unsigned i = 0; i < words && status == KEEL_OK; i++) {
        const unsigned at = (is_other && what == PLACE && i == WORDS - 1) ? WORDS : i;

        own[at] = ((uint64_t)step << 16) + i + ((is_other && what == VALUE) ? OTHER : 0);
        status = keel_put(win, 0, at * sizeof(*own), &own[at], sizeof(*own));
    }
    if (status == KEEL_OK && is_other && what == MORE) {
        own[WORDS + 1] = step;
        status = keel_put(win, 0, (WORDS + 1) * sizeof(*own), &own[WORDS + 1], sizeof(*own));
    }
    return status;
}

static keel_status_t await_death(few_t *few, uint32_t rank)
{
    keel_status_t status = KEEL_OK;

    while (status == KEEL_OK && few->deaths == 0) {
        status = few_progress(few, rank);
    }
    return status;
}

/* Checks that rank 0 has the words of which rank 1 keeps copies. */
static keel_status_t look(keel_win_h win)
{
    uint64_t words[WORDS + 2];
    keel_status_t status = keel_get(win, 1, 0, words, sizeof(words));

    return (status == KEEL_OK && memcmp(words, keel_win_base(win), sizeof(words)) != 0) ? KEEL_ERR_CORRUPT : status;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    const keel_context_h ctx = few->ctx[rank];
    job_t *job = (job_t *)few;
    keel_status_t status = KEEL_OK;

    for (unsigned step = 0; step < STEPS && status == KEEL_OK; step++) {
        status = (rank == 1) ? put_words(few, last, step) : KEEL_OK;
        if (status == KEEL_OK && step == FATAL && is_ahead) {
            status = keel_gsync(ctx, 0);
        } else if (status == KEEL_OK && step == FATAL && rank == 1) {
            status = keel_flush(ctx, 0);
        }
        if (status == KEEL_OK && step == FATAL) {
            job->there |= 1u << rank;
            status = await_death(few, rank);
        }
        status = (status == KEEL_OK) ? keel_gsync(ctx, 0) : status;
        status = (status == KEEL_OK && rank == 0) ? look(last) : status;
        status = (status == KEEL_OK) ? keel_gsync(ctx, 0) : status;
    }
    if (status == KEEL_OK && rank == 0) {
        job->rollbacks = ctx->rec.rollbacks;
    }
    return status;
}

static void strike(few_t *few)
{
    if (few->deaths == 0 && ((const job_t *)few)->there == (1u << RANKS) - 1) {
        few_kill(few, 1);
    }
}

static int run(const char *lanes, uint64_t flags)
{
    const few_play_t play = {
        .ranks = RANKS, .deaths = 1, .windows = 1, .flags = flags, .lanes = lanes, .phases = phases, .strike = strike};
    int is_right = 1;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        job_t job = {0};

        is_right &= few_run(&job.few, &play, seed);
        if (job.rollbacks != (what != SAME)) {
            fprintf(stderr, "seed %lu, %s, difference %u, ahead %d: rolled back %lu times\n", (unsigned long)seed,
                    lanes, (unsigned)what, is_ahead, (unsigned long)job.rollbacks);
            is_right = 0;
        }
    }
    return is_right;
}

int main(void)
{
    static const struct {
        what_t what;
        int is_ahead;
        const char *lanes;
        uint64_t flags;
    } runs[] = {{SAME, 0, "KEEL_LANES=served", 0},
                {SAME, 1, "KEEL_LANES=served", 0},
                {SAME, 0, "KEEL_LANES=direct", KEEL_PARAM_FLAG_WAITS},
                {SAME, 1, "KEEL_LANES=direct", KEEL_PARAM_FLAG_WAITS},
                {VALUE, 0, "KEEL_LANES=served", 0},
                {VALUE, 1, "KEEL_LANES=served", 0},
                {PLACE, 0, "KEEL_LANES=served", 0},
                {PLACE, 1, "KEEL_LANES=served", 0},
                {FEWER, 0, "KEEL_LANES=served", 0},
                {FEWER, 1, "KEEL_LANES=served", 0},
                {MORE, 1, "KEEL_LANES=served", 0},
                {FETCHED, 0, "KEEL_LANES=served", 0},
                {FETCHED, 1, "KEEL_LANES=served", 0},
                {NONE, 0, "KEEL_LANES=served", 0},
                {NONE, 1, "KEEL_LANES=served", 0},
                {FEWER, 0, "KEEL_LANES=direct", KEEL_PARAM_FLAG_WAITS},
                {NONE, 1, "KEEL_LANES=direct", KEEL_PARAM_FLAG_WAITS}};
    int is_right = 1;

    for (unsigned i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
        what = runs[i].what;
        is_ahead = runs[i].is_ahead;
        is_right &= run(runs[i].lanes, runs[i].flags);
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
