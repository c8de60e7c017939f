/*
 * A rank that waits for a safe image must do its own part of the work first: the rank sleeps only
 * when it has no chunk to do, never between two chunks. A rank that rebuilds an image must not poll
 * all the time, because the ranks that send the image may need the core.
 */
#include "few_ranks.h"

#include <stdlib.h>

#define SEEDS      10
#define CHECKPOINT 2u /* number of the gsync */
#define LAST       4u /* last phase */
#define BYTES      ((size_t)1 << 24)
#define WAITS_MAX  400 /* waits for the parts of other ranks; a wait per chunk would be 1,024 */
#define POLLS_MAX  400 /* a spinning rank polls 200 times, and some chunks come at once */

typedef struct job {
    few_t few;
    int is_safe;
} job_t;

static keel_status_t safe_image(few_t *few, uint32_t rank)
{
    unsigned waits = keel_sim_waits(few->sim, rank);
    keel_status_t status = keel_checkpoint(few->ctx[rank]);

    waits = keel_sim_waits(few->sim, rank) - waits;
    if (waits > WAITS_MAX) {
        keel_sim_flaw(few->sim, "rank %u waited %u times until an image was safe", rank, waits);
    }
    return status;
}

static keel_status_t saves(few_t *few, uint32_t rank, keel_win_h last)
{
    keel_win_h win;
    keel_status_t status = keel_win_alloc(few->ctx[rank], BYTES, NULL, &win);

    status = (status == KEEL_OK) ? safe_image(few, rank) : status;
    return (status == KEEL_OK) ? safe_image(few, rank) : status;
}

static void never(few_t *few)
{
}

static void large_window(few_t *few, uint32_t rank)
{
    keel_win_h win;

    if (keel_win_alloc(few->ctx[rank], BYTES, NULL, &win) != KEEL_OK) {
        keel_sim_flaw(few->sim, "rank %u: no window", rank);
    }
}

static keel_status_t rebuilt(few_t *few, uint32_t rank, keel_win_h last)
{
    const unsigned polls = keel_sim_polls(few->sim, rank);
    keel_status_t status = KEEL_OK;

    /* also runs in a replacement, if no image was in use yet */
    if (few->ctx[rank]->rec.phase < CHECKPOINT) {
        status = keel_checkpoint(few->ctx[rank]);
        ((job_t *)few)->is_safe = 1;
    } else if (polls > POLLS_MAX) {
        keel_sim_flaw(few->sim, "rank %u polled %u times in a row until its image was there", rank, polls);
    }
    while (status == KEEL_OK && few->ctx[rank]->rec.phase < LAST) {
        status = keel_gsync(few->ctx[rank], 0);
    }
    return status;
}

static void strike_safe(few_t *few)
{
    if (few->deaths == 0 && ((const job_t *)few)->is_safe) {
        few_kill(few, 1);
    }
}

int main(void)
{
    static const few_play_t plays[] = {{.ranks = 2, .lanes = "KEEL_LANES=direct", .phases = saves, .strike = never},
                                       {.ranks = 3,
                                        .deaths = 1,
                                        .lanes = "KEEL_LANES=served",
                                        .ready = large_window,
                                        .phases = rebuilt,
                                        .strike = strike_safe}};
    int status = EXIT_SUCCESS;

    for (unsigned i = 0; i < sizeof(plays) / sizeof(plays[0]); i++) {
        status |= few_main(&plays[i], sizeof(job_t), SEEDS);
    }
    return status;
}
