/*
 * A program declares waits, and polls by gets: each rank counts steps in its own word, and reads
 * the next rank's word until the next rank has come as far. One rank dies amid a phase. No rank
 * accesses its replacement before the replacement has replayed the puts there. The replacement
 * neither waits nor reaches the gsync before the others go on. So the first get without a record
 * must complete the replay.
 */
#include "few_ranks.h"

#include <stdio.h>
#include <stdlib.h>

#define SEEDS   40
#define STEPS   12
#define KILL_AT 5 /* step of the victim */

/* way in which the program learns that a get is complete */
typedef enum { END_GET, END_FLUSH, END_FLUSH_ALL, END_FENCE, END_WAIT, END_TEST, END_CALLBACK, END_LAST } end_t;

typedef struct ring {
    few_t few;
    end_t end;
    uint64_t step[FEW_RANKS_MAX];
    int called[FEW_RANKS_MAX];
    int is_struck;
} ring_t;

static void on_done(void *user, keel_status_t status)
{
    *(int *)user = (status == KEEL_OK);
}

static keel_status_t until_done(ring_t *ring, uint32_t rank, keel_req_h req)
{
    keel_status_t status = KEEL_INPROGRESS;

    if (ring->end == END_WAIT) {
        return keel_req_wait(req);
    }
    while (status == KEEL_INPROGRESS) {
        status = few_progress(&ring->few, rank);
        status = (status == KEEL_OK) ? keel_req_test(req) : status;
    }
    keel_req_free(req);
    return status;
}

static keel_status_t until_called(ring_t *ring, uint32_t rank)
{
    keel_status_t status = KEEL_OK;

    while (status == KEEL_OK && !ring->called[rank]) {
        status = few_progress(&ring->few, rank);
    }
    return status;
}

static keel_status_t look(ring_t *ring, uint32_t rank, keel_win_h win, uint64_t *word)
{
    const uint32_t next = (rank + 1) % ring->few.play->ranks;
    const keel_rma_params_t params = {
        .field_mask = KEEL_RMA_PARAM_FIELD_CB, .cb = on_done, .user = &ring->called[rank]};
    keel_context_h ctx = ring->few.ctx[rank];
    keel_req_h req = NULL;
    keel_status_t status;

    keel_sim_compute(ring->few.sim, 1000);
    if (ring->end == END_GET) {
        return keel_get(win, next, 0, word, sizeof(*word));
    }
    ring->called[rank] = 0;
    status = keel_get_nbx(win, next, 0, word, sizeof(*word), (ring->end == END_CALLBACK) ? &params : NULL,
                          (ring->end == END_WAIT || ring->end == END_TEST) ? &req : NULL);
    if (status < KEEL_OK) {
        return status;
    }
    switch (ring->end) {
    case END_FLUSH:
        return keel_flush(ctx, next);
    case END_FLUSH_ALL:
        return keel_flush_all(ctx);
    case END_FENCE:
        return keel_fence(ctx);
    case END_CALLBACK:
        /* a get that is complete at once calls no callback */
        return (status == KEEL_INPROGRESS) ? until_called(ring, rank) : status;
    default:
        return (req != NULL) ? until_done(ring, rank, req) : KEEL_OK;
    }
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    ring_t *ring = (ring_t *)few;
    keel_status_t status = KEEL_OK;
    uint64_t word, step;

    for (step = 1; step <= STEPS && status == KEEL_OK; step++) {
        ring->step[rank] = step;
        status = keel_put(last, rank, 0, &step, sizeof(step));
        word = 0;
        while (word < step && status == KEEL_OK) {
            status = look(ring, rank, last, &word);
        }
        if (word > STEPS) {
            return KEEL_ERR_CORRUPT;
        }
    }
    return (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
}

static void strike(few_t *few)
{
    ring_t *ring = (ring_t *)few;

    if (!ring->is_struck && ring->step[1] == KILL_AT && few->ctx[1] != NULL) {
        ring->is_struck = 1;
        few_kill(few, 1);
    }
}

static int run(end_t end, const char *lanes, uint64_t seed)
{
    const few_play_t play = {.ranks = 3,
                             .deaths = 1,
                             .windows = 1,
                             .flags = KEEL_PARAM_FLAG_WAITS,
                             .lanes = lanes,
                             .is_noticing = 1,
                             .phases = phases,
                             .strike = strike};
    ring_t ring = {.end = end};

    if (few_run(&ring.few, &play, seed)) {
        return 1;
    }
    fprintf(stderr, "end %u, %s\n", (unsigned)end, lanes);
    return 0;
}

int main(void)
{
    int is_right = 1;

    for (unsigned end = 0; end < END_LAST && is_right; end++) {
        for (uint64_t seed = 1; seed <= SEEDS && is_right; seed++) {
            is_right = run((end_t)end, "KEEL_LANES=served", seed) && run((end_t)end, "KEEL_LANES=direct", seed);
        }
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
