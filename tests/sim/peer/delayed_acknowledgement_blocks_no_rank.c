/*
 * Served lane. Each message of a long put except the last announces that more of the put follows,
 * also if the log fills up amid the put. The target delays its acknowledgement while more
 * follows. A rank that waits for a put must never wait for a delayed acknowledgement. The source,
 * the target or another rank dies meanwhile, and all ranks roll back: the logs are full, and
 * pending messages are drained.
 */
#include "few_ranks.h"

#include <stdlib.h>
#include <string.h>

#define SEEDS 20
#define BYTES ((size_t)100 << 10) /* the log has no room amid the second put of this size */

typedef struct job {
    few_t few;
    int is_followed; /* a message has announced that more follows */
    int is_over;     /* the contexts are about to be destroyed */
    unsigned char bytes[BYTES];
} job_t;

/* Runs between any two steps: checks the last message that rank 1 took. */
static void look(few_t *few)
{
    job_t *job = (job_t *)few;

    if (!job->is_over && few->ctx[1] != NULL) {
        job->is_followed |= few->ctx[1]->lane.peers[0].is_followed;
    }
}

static void kill_at_once(few_t *few, uint32_t rank)
{
    look(few);
    if (((job_t *)few)->is_followed && few->deaths == 0) {
        few_kill(few, rank);
    }
}

static void kill_source(few_t *few)
{
    kill_at_once(few, 0);
}

static void kill_target(few_t *few)
{
    kill_at_once(few, 1);
}

static void kill_other(few_t *few)
{
    kill_at_once(few, 2);
}

static keel_status_t put_long(job_t *job, keel_win_h win, unsigned char value)
{
    const keel_context_h ctx = job->few.ctx[0];
    keel_status_t status;

    memset(job->bytes, value, BYTES);
    status = keel_put(win, 1, 0, job->bytes, BYTES);
    if (status == KEEL_OK && ctx->lane.peers[1].says_more) {
        keel_sim_flaw(job->few.sim, "nothing follows what was said to be followed");
    }
    return (status == KEEL_OK) ? keel_flush(ctx, 1) : status;
}

static int is_filled(keel_win_h win, unsigned char value)
{
    const unsigned char *bytes = keel_win_base(win);

    return bytes[0] == value && memcmp(bytes, bytes + 1, BYTES - 1) == 0;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    job_t *job = (job_t *)few;
    keel_win_h win;
    keel_status_t status = keel_win_alloc(few->ctx[rank], BYTES, NULL, &win);

    for (unsigned char value = 1; status == KEEL_OK && value < 4; value++) {
        status = (rank == 0) ? put_long(job, win, value) : KEEL_OK;
        status = (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
        if (status == KEEL_OK && rank == 1 && !is_filled(win, value)) {
            status = KEEL_ERR_CORRUPT;
        }
        status = (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
    }
    job->is_over |= rank == 0 && status == KEEL_OK;
    if (job->is_over && !job->is_followed) {
        keel_sim_flaw(few->sim, "no message said that more follows");
    }
    return status;
}

int main(void)
{
    static const few_play_t plays[] = {
        {.ranks = 2, .windows = 1, .lanes = "KEEL_LANES=served", .phases = phases, .strike = look},
        {.ranks = 2, .deaths = 1, .windows = 1, .lanes = "KEEL_LANES=served", .phases = phases, .strike = kill_source},
        {.ranks = 2, .deaths = 1, .windows = 1, .lanes = "KEEL_LANES=served", .phases = phases, .strike = kill_target},
        {.ranks = 3, .deaths = 1, .windows = 1, .lanes = "KEEL_LANES=served", .phases = phases, .strike = kill_other}};
    int status = EXIT_SUCCESS;

    for (unsigned i = 0; i < sizeof(plays) / sizeof(plays[0]); i++) {
        status |= few_main(&plays[i], sizeof(job_t), SEEDS);
    }
    return status;
}
