/*
 * Rank 0 alone has left a gsync and acts, while the other ranks are still inside. Rank 0 dies.
 *
 *   locks    The gsync is that of the window. Rank 0 locks rank 1 and dies. Rank 0 had begun the
 *            next phase, so all ranks had arrived: the survivors must be released from the gsync.
 *            Otherwise the survivors hand over from a position before the gsync, behind the
 *            replacement.
 *   waits    Rank 0 signals rank 1, and rank 1 puts over a word that rank 0 had read before. Rank
 *            0 dies. The replacement reads late and must find the old word. A rank that knows that
 *            rank 0 was ahead only logs its puts to rank 0. Otherwise the replacement counts as
 *            being where the others are, and rank 1 acts on the signal before the replacement is
 *            there.
 */
#include "few_ranks.h"

#include <stdio.h>
#include <stdlib.h>

#define RANKS       3 /* number of ranks of waits */
#define SEEDS       200
#define WAITS_SEEDS 40
#define BEGUN       1u /* number of the gsync */
#define WORD        7u
#define SLOW_NS     8000000 /* longer than rank 0's acts and the news of its death take */

/* ---- locks ---- */

typedef struct job {
    few_t few;
    int is_met; /* at the decision rank 1 was in the gsync */
    /* hangs of rank 1: in the gsync that rank 0 has left, and once the replacement is there */
    int is_slow;
} job_t;

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    const keel_context_h ctx = few->ctx[rank];
    const uint64_t word = WORD;
    keel_status_t status = KEEL_OK;
    keel_win_h further;

    if (rank == 0) {
        status = keel_lock(ctx, 1);
        while (status == KEEL_OK && few->deaths == 0) {
            status = few_progress(few, rank);
        }
        status = (status == KEEL_OK) ? keel_put(last, 1, 0, &word, sizeof(word)) : status;
        status = (status == KEEL_OK) ? keel_unlock(ctx, 1) : status;
    }
    /* includes a gsync */
    status = (status == KEEL_OK) ? keel_win_alloc(ctx, sizeof(word), NULL, &further) : status;
    return (status == KEEL_OK && rank == 1 && *(const uint64_t *)keel_win_base(last) != WORD) ? KEEL_ERR_CORRUPT
                                                                                              : status;
}

static void strike(few_t *few)
{
    const keel_context_h ctx = few->ctx[0], other = few->ctx[1];
    job_t *job = (job_t *)few;

    if (ctx == NULL || other == NULL) {
        return;
    }
    if (few->deaths == 0 && ctx->rec.phase == BEGUN) {
        if (other->rec.phase < BEGUN && job->is_slow == 0) {
            job->is_slow = keel_sim_hang(few->sim, 1, SLOW_NS);
        }
        if (ctx->sync.sections.held[1] == KEEL_HELD_WRITING) {
            few_kill(few, 0);
        }
    } else if (few->deaths == 1 && other->rec.phase < BEGUN) {
        job->is_met |= other->rec.view == KEEL_VIEW_REPORTED;
        if (job->is_slow == 1 && ctx->rec.life != KEEL_LIFE_FRESH && !ctx->sync.sections.is_replaying) {
            job->is_slow += keel_sim_hang(few->sim, 1, SLOW_NS);
        }
    }
}

static int run_locks(void)
{
    static const few_play_t play = {
        .ranks = 2, .deaths = 1, .windows = 1, .lanes = "KEEL_LANES=direct", .phases = phases, .strike = strike};
    int is_right = 1, met = 0;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        job_t job = {0};

        is_right &= few_run(&job.few, &play, seed);
        met += job.is_met;
    }
    if (met == 0) {
        fprintf(stderr, "the moment did not come\n");
    }
    return (is_right && met > 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- waits ---- */

/* Words after the word of the ring: one of rank 1, one of rank 0, two of rank 2. */
enum { GO = 1, DATA = 1, FIRST = 1, SECOND = 2 };
enum { OLD = 5, NEW = 6 };

typedef struct waits {
    few_t few;
    int is_slow[RANKS]; /* the rank hangs in the gsync that rank 0 leaves first */
    int has_gone;       /* rank 0 has signalled */
    int is_over;        /* rank 1 has put over the word that rank 0 read */
} waits_t;

static keel_status_t put(keel_win_h win, uint32_t target, uint64_t offset, uint64_t word)
{
    return keel_put(win, target, offset * sizeof(word), &word, sizeof(word));
}

/*
 * The replacement reads late and must find the value of its predecessor, which had not signalled
 * before reading.
 */
static keel_status_t waits_first(waits_t *job, keel_win_h win)
{
    const uint64_t *own = keel_win_base(win);
    few_t *few = &job->few;
    keel_status_t status = KEEL_OK;
    uint64_t word;

    while (status == KEEL_OK && few->deaths > 0 && !job->is_over) {
        status = few_progress(few, 0);
    }
    word = own[DATA];
    status = (status == KEEL_OK) ? put(win, 2, FIRST, word) : status;
    status = (status == KEEL_OK) ? put(win, 1, GO, 1) : status;
    status = (status == KEEL_OK) ? keel_flush_all(few->ctx[0]) : status;
    job->has_gone |= status == KEEL_OK;
    while (status == KEEL_OK && few->deaths == 0) {
        status = few_progress(few, 0);
    }
    return (status == KEEL_OK) ? put(win, 2, SECOND, word) : status;
}

static keel_status_t waits_phases(few_t *few, uint32_t rank, keel_win_h last)
{
    waits_t *job = (waits_t *)few;
    uint64_t *own = keel_win_base(last);
    keel_status_t status = few_put_ring(few, rank, last, WORD);

    own[DATA] = (rank == 0) ? OLD : 0;
    while (status == KEEL_OK && rank == 0 && few->deaths == 0 && !(job->is_slow[1] && job->is_slow[2])) {
        status = few_progress(few, rank);
    }
    status = (status == KEEL_OK) ? few_gsync_ring(few, rank, last, WORD) : status;
    if (status == KEEL_OK && rank == 0) {
        status = waits_first(job, last);
    } else if (status == KEEL_OK && rank == 1) {
        status = keel_wait_until(last, GO * sizeof(*own), sizeof(*own), KEEL_COMPARE_EQ, 1);
        status = (status == KEEL_OK) ? put(last, 0, DATA, NEW) : status;
        job->is_over |= status == KEEL_OK;
    }
    status = (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
    return (status == KEEL_OK && rank == 2 && own[FIRST] != own[SECOND]) ? KEEL_ERR_CORRUPT : status;
}

static void waits_strike(few_t *few)
{
    waits_t *job = (waits_t *)few;

    for (uint32_t r = 1; r < RANKS && few->deaths == 0; r++) {
        if (few->ctx[r] != NULL && few->ctx[r]->rec.arrived == BEGUN + 1 && !job->is_slow[r]) {
            job->is_slow[r] = keel_sim_hang(few->sim, r, SLOW_NS);
        }
    }
    if (few->deaths == 0 && job->has_gone) {
        few_kill(few, 0);
    }
}

int main(void)
{
    static const few_play_t waits = {.ranks = RANKS,
                                     .deaths = 1,
                                     .windows = 1,
                                     .flags = KEEL_PARAM_FLAG_WAITS,
                                     .lanes = "KEEL_LANES=direct",
                                     .phases = waits_phases,
                                     .strike = waits_strike};
    int status = run_locks();

    status |= few_main(&waits, sizeof(waits_t), WAITS_SEEDS);
    return status;
}
