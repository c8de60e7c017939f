/*
 * The log of rank 0 is full when rank 0 waits for any of two words, so no rank has a record of the
 * result. Rank 0 reports the result to rank 2 and dies. Rank 2 puts the other word. The rank that
 * would hold the record must know that no record exists. The job rolls back, or the replacement
 * finds both words.
 */
#include "few_ranks.h"

#define SEEDS 20

/* offsets in each rank's window; the data that fills the log lies behind the words */
enum { FIRST = 0, SECOND = 8, REPORT = 16, FILL = 512, BYTES = 1024 };

typedef struct job {
    few_t few;
    int is_over; /* rank 2 has put the other word */
} job_t;

static keel_status_t put(few_t *few, uint32_t rank, keel_win_h win, uint32_t target, uint64_t offset, uint64_t word)
{
    keel_status_t status = keel_put(win, target, offset, &word, sizeof(word));

    return (status == KEEL_OK) ? keel_flush(few->ctx[rank], target) : status;
}

/* Puts until the log has room only for a few more puts to rank 2, and for no other record. */
static keel_status_t fill(keel_context_h ctx, keel_win_h win)
{
    const char bytes[BYTES - FILL] = {1};
    keel_status_t status = KEEL_OK;

    while (status == KEEL_OK && ctx->gets.pool->free != NULL) {
        status = keel_put(win, 2, FILL, bytes, sizeof(bytes));
    }
    return (status == KEEL_OK) ? keel_flush(ctx, 2) : status;
}

static keel_status_t zero(few_t *few, keel_win_h win)
{
    keel_word_t words[] = {{.win = win, .offset = FIRST, .size = 8, .compare = KEEL_COMPARE_EQ, .value = 1},
                           {.win = win, .offset = SECOND, .size = 8, .compare = KEEL_COMPARE_EQ, .value = 1}};
    keel_status_t status = fill(few->ctx[0], win);
    unsigned met = 0;

    status = (status == KEEL_OK) ? keel_wait(few->ctx[0], KEEL_WAIT_ANY, words, 2, &met) : status;
    if (status == KEEL_OK && met != 1) {
        keel_sim_flaw(few->sim, "rank 0.%u finds both words", keel_incarnation(few->ctx[0]));
    }
    status = (status == KEEL_OK) ? put(few, 0, win, 2, REPORT, met) : status;
    return (status == KEEL_OK) ? few_await_deaths(few, 0, 1) : status;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h win)
{
    const uint64_t *own = keel_win_base(win);
    keel_status_t status = KEEL_OK;

    if (rank == 0) {
        status = zero(few, win);
    } else if (rank == 1) {
        status = put(few, 1, win, 0, FIRST, 1);
    } else {
        status = keel_wait_until(win, REPORT, 8, KEEL_COMPARE_EQ, 1);
        status = (status == KEEL_OK) ? put(few, 2, win, 0, SECOND, 1) : status;
        ((job_t *)few)->is_over |= status == KEEL_OK;
    }
    status = (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
    return (status == KEEL_OK && rank == 2 && own[REPORT / 8] != 1) ? KEEL_ERR_CORRUPT : status;
}

static void strike(few_t *few)
{
    if (few->deaths == 0 && ((const job_t *)few)->is_over) {
        few_kill(few, 0);
    }
}

int main(void)
{
    static const char *const lanes[] = {"KEEL_LANES=direct", "KEEL_LANES=served"};
    int status = 0;

    for (unsigned i = 0; i < 2; i++) {
        const few_play_t play = {.ranks = 3,
                                 .deaths = 1,
                                 .windows = 1,
                                 .bytes = BYTES,
                                 .flags = KEEL_PARAM_FLAG_WAITS,
                                 .lanes = lanes[i],
                                 .phases = phases,
                                 .strike = strike};

        status |= few_main(&play, sizeof(job_t), SEEDS);
    }
    return status;
}
