/*
 * Rank 0 reads from rank 1 until the get log is full. Rank 0 reads a word without a record and
 * overwrites the word. Rank 1 dies. As soon as its replacement has the word from rank 0, rank 0
 * dies too. Only the replacement can know that the word cannot be read again.
 */
#include "few_ranks.h"

#define SEEDS 20
#define WORD  7u
#define OTHER 32 /* offset of another word */

typedef struct job {
    few_t few;
    unsigned long gets; /* gets of the first life until a record was lost */
    int is_read, is_put;
} job_t;

/* Returns the word at rank 1, even before rank 1's program does anything; NULL: not yet there. */
static const uint64_t *word_of(const few_t *few)
{
    return (few->ctx[1] != NULL) ? few->ctx[1]->lane.own[KEEL_REGION_WINDOW0].base : NULL;
}

static keel_status_t read_word(job_t *job, keel_win_h win)
{
    const uint64_t *lost = &job->few.ctx[0]->lane.slot.lost_gets;
    keel_status_t status = KEEL_OK;
    unsigned long gets = 0;
    uint64_t words[8] = {0};

    while (status == KEEL_OK && (job->is_read ? gets < job->gets : *lost == 0)) {
        status = keel_get(win, 1, 0, words, sizeof(words));
        gets++;
    }
    job->gets = gets;
    status = (status == KEEL_OK) ? keel_get(win, 1, 0, words, sizeof(words)) : status;
    job->is_read = 1;
    return (status == KEEL_OK && words[0] != 0) ? KEEL_ERR_CORRUPT : status;
}

static keel_status_t read_and_put(job_t *job, keel_win_h win)
{
    const uint64_t word = WORD;
    /* leaves room in the log for the next put */
    keel_status_t status = keel_put(win, 1, OTHER, &word, sizeof(word));

    status = (status == KEEL_OK) ? read_word(job, win) : status;
    status = (status == KEEL_OK) ? keel_put(win, 1, 0, &word, sizeof(word)) : status;
    status = (status == KEEL_OK) ? keel_flush(job->few.ctx[0], 1) : status;
    job->is_put = 1;
    /* does not arrive: other ranks would learn of the loss by the arrival */
    while (status == KEEL_OK && job->few.deaths < 2) {
        status = few_progress(&job->few, 0);
    }
    return status;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    keel_status_t status = (rank == 0) ? read_and_put((job_t *)few, last) : KEEL_OK;

    status = (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
    return (status == KEEL_OK && rank == 1 && *word_of(few) != WORD) ? KEEL_ERR_CORRUPT : status;
}

static void strike(few_t *few)
{
    const job_t *job = (const job_t *)few;

    if (few->deaths == 0 && job->is_put) {
        few_kill(few, 1);
    } else if (few->deaths == 1 && word_of(few) != NULL && *word_of(few) == WORD) {
        few_kill(few, 0);
    }
}

int main(void)
{
    static const few_play_t play = {
        .ranks = 3, .deaths = 2, .windows = 1, .lanes = "KEEL_LANES=served", .phases = phases, .strike = strike};

    return few_main(&play, sizeof(job_t), SEEDS);
}
