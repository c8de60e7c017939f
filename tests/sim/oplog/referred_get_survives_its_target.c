/*
 * Rank 0 reads words from rank 1 by a long get and overwrites the words. Only rank 1 has recorded
 * the data. Rank 1 dies. As soon as its replacement is back, rank 0 dies too. The replacement of
 * rank 0 must read the old words.
 */
#include "few_ranks.h"

#define SEEDS 20
#define OLD   3u
#define NEW   7u

typedef struct job {
    few_t few;
    int is_put;
} job_t;

static keel_status_t read_and_put(job_t *job, keel_win_h win)
{
    uint64_t words[32] = {0};
    /* the first access takes the general path */
    keel_status_t status = keel_get(win, 1, 0, words, sizeof(words[0]));

    status = (status == KEEL_OK) ? keel_get(win, 1, 0, words, sizeof(words)) : status;
    if (status == KEEL_OK && words[0] != OLD) {
        return KEEL_ERR_CORRUPT;
    }
    words[0] = NEW;
    status = (status == KEEL_OK) ? keel_put(win, 1, 0, words, sizeof(words)) : status;
    status = (status == KEEL_OK) ? keel_flush(job->few.ctx[0], 1) : status;
    job->is_put = 1;
    while (status == KEEL_OK && job->few.deaths < 2) {
        status = few_progress(&job->few, 0);
    }
    return status;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    uint64_t *words = keel_win_base(last);
    keel_status_t status;

    words[0] = OLD;
    status = keel_gsync(few->ctx[rank], 0);
    if (status == KEEL_OK && rank == 0) {
        status = read_and_put((job_t *)few, last);
    }
    status = (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
    return (status == KEEL_OK && rank == 1 && words[0] != NEW) ? KEEL_ERR_CORRUPT : status;
}

static void strike(few_t *few)
{
    const job_t *job = (const job_t *)few;

    if (few->deaths == 0 && job->is_put) {
        few_kill(few, 1);
    } else if (few->deaths == 1 && few->ctx[1] != NULL && few_is_back(few, 1)) {
        few_kill(few, 0);
    }
}

int main(void)
{
    static const few_play_t play = {.ranks = 3,
                                    .deaths = 2,
                                    .windows = 1,
                                    .bytes = 256,
                                    .lanes = "KEEL_LANES=direct",
                                    .phases = phases,
                                    .strike = strike};

    return few_main(&play, sizeof(job_t), SEEDS);
}
