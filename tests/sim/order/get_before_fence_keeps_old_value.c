/*
 * A fence lies between a pending get and a put to the same word. The get must return the value from
 * before the put, even if the target dies meanwhile and its replacement is handed the put.
 */
#include "few_ranks.h"

#include <stdlib.h>

#define SEEDS 20
#define OLD   3u
#define NEW   7u

static const char *const lanes[] = {"KEEL_LANES=served", "KEEL_LANES=direct"};

typedef struct fenced {
    few_t few; /* must be the first member */
    int is_direct, is_asked;
} fenced_t;

static keel_status_t get_then_put(few_t *few, keel_win_h last)
{
    fenced_t *fenced = (fenced_t *)few;
    const uint64_t word = NEW + 1;
    uint64_t seen = 0;
    keel_req_h req = NULL;
    keel_status_t status = keel_get_nbx(last, 1, 0, &seen, sizeof(seen), NULL, &req);

    fenced->is_asked = 1;
    if (status == KEEL_INPROGRESS) {
        status = keel_fence(few->ctx[0]);
    }
    if (status == KEEL_OK) {
        status = keel_put(last, 1, 0, &word, sizeof(word));
    }
    if (status == KEEL_OK && req != NULL) {
        status = keel_req_wait(req);
    }
    return (status == KEEL_OK && seen != OLD) ? KEEL_ERR_CORRUPT : status;
}

static int is_thought_alive(const few_t *few)
{
    const keel_peer_t *peer = &few->ctx[0]->lane.peers[1];

    return peer->mode == KEEL_PEER_LIVE && peer->incarnation == 0;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    fenced_t *fenced = (fenced_t *)few;
    keel_status_t status;

    fenced->is_direct = few->play->lanes == lanes[1];
    status = few_put_ring(few, rank, last, OLD);

    status = (status == KEEL_OK) ? few_gsync_ring(few, rank, last, OLD) : status;
    /* all ranks have checked the first value */
    status = (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
    while (status == KEEL_OK && rank == 1 && few->deaths == 0) {
        status = few_progress(few, rank);
    }
    while (status == KEEL_OK && rank == 0 && fenced->is_direct && is_thought_alive(few)) {
        fenced->is_asked = 1; /* the get must be issued towards the dead rank */
        status = few_progress(few, rank);
    }
    if (status == KEEL_OK && rank == 0) {
        status = get_then_put(few, last);
    }
    return (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
}

static void strike(few_t *few)
{
    fenced_t *fenced = (fenced_t *)few;

    if (fenced->is_asked && few->deaths == 0) {
        few_kill(few, 1);
    }
}

int main(void)
{
    int status = EXIT_SUCCESS;

    for (unsigned i = 0; i < 4; i++) {
        const few_play_t play = {.ranks = 2,
                                 .deaths = 1,
                                 .windows = 1,
                                 .flags = (i < 2) ? 0 : KEEL_PARAM_FLAG_WAITS,
                                 .lanes = lanes[i % 2],
                                 .phases = phases,
                                 .strike = strike};

        status |= few_main(&play, sizeof(fenced_t), SEEDS);
    }
    return status;
}
