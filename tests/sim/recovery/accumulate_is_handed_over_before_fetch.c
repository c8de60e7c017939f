/*
 * Rank 1 adds to a word of rank 0, by an accumulate that begins at another word. Rank 2 fetches the
 * word, and is about to fetch it again when rank 0 dies. If the second fetch is handed over before
 * the addition of rank 1, the fetch finds less than before: the job must roll back.
 */
#include "few_ranks.h"

#define RANKS   3
#define SEEDS   20
#define ADDED   5u
#define SLOW_NS 20000000

enum { WORD = 5, WORDS = 6 };

typedef struct job {
    few_t few;
    int has_added, has_fetched, is_slow;
} job_t;

static void ready(few_t *few, uint32_t rank)
{
}

static keel_status_t fetch(few_t *few, keel_win_h win)
{
    job_t *job = (job_t *)few;
    uint64_t first = 0, second = 0;
    keel_status_t status = KEEL_OK;

    while (!job->has_added && status == KEEL_OK) {
        status = few_progress(few, 2);
    }
    if (status == KEEL_OK) {
        status = keel_atomic(win, KEEL_ATOMIC_ADD, 0, WORD * sizeof(first), sizeof(first), 1, 0, &first);
    }
    job->has_fetched |= status == KEEL_OK;
    if (status == KEEL_OK) {
        status = keel_atomic(win, KEEL_ATOMIC_ADD, 0, WORD * sizeof(second), sizeof(second), 1, 0, &second);
    }
    return (status == KEEL_OK && second != first + 1) ? KEEL_ERR_CORRUPT : status;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    const uint64_t values[WORDS] = {[WORD] = ADDED}, *own = keel_win_base(last);
    job_t *job = (job_t *)few;
    keel_status_t status = KEEL_OK;

    if (rank == 1) {
        status = keel_accumulate(last, KEEL_OP_SUM, KEEL_TYPE_UINT64, 0, 0, values, WORDS, NULL);
        status = (status == KEEL_OK) ? keel_flush(few->ctx[rank], 0) : status;
        job->has_added |= status == KEEL_OK;
    } else if (rank == 2) {
        status = fetch(few, last);
    }
    status = (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
    return (status == KEEL_OK && rank == 0 && own[WORD] != ADDED + 2) ? KEEL_ERR_CORRUPT : status;
}

static void strike(few_t *few)
{
    job_t *job = (job_t *)few;
    const keel_context_h one = few->ctx[1], two = few->ctx[2];

    if (few->deaths == 0 && job->has_fetched && few->ctx[0] != NULL && two != NULL && two->fragments_open[0] > 0) {
        few_kill(few, 0);
    } else if (few->deaths == 1 && !job->is_slow && one != NULL && one->rec.decisions > 0) {
        job->is_slow = keel_sim_hang(few->sim, 1, SLOW_NS);
    }
}

int main(void)
{
    static const few_play_t play = {.ranks = RANKS,
                                    .deaths = 1,
                                    .windows = 1,
                                    .lanes = "KEEL_LANES=served",
                                    .ready = ready,
                                    .phases = phases,
                                    .strike = strike};

    return few_main(&play, sizeof(job_t), SEEDS);
}
