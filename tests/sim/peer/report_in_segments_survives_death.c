/*
 * Reports and decisions that are longer than a message: with few ranks and short messages, and with
 * as many ranks as messages of 4 KiB require. A rank dies. The sender or the receiver of the report
 * or decision that follows dies amid its segments.
 */
#include "few_ranks.h"

#include <stdlib.h>

#define STEPS  5u
#define VICTIM 2u /* first victim */
#define FRONT  3u /* the victim dies in this phase or shortly after */

typedef enum { REPORT, DECISION } what_t;

static what_t what;
static int is_sender;

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    keel_status_t status = KEEL_OK;

    for (unsigned step = 0; step < STEPS && status == KEEL_OK; step++) {
        status = few_put_ring(few, rank, last, step << 8);
        status = (status == KEEL_OK) ? few_gsync_ring(few, rank, last, step << 8) : status;
        /* all ranks have checked the values */
        status = (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
    }
    return status;
}

static int is_amid_job(const few_t *few)
{
    for (uint32_t r = 0; r < few->play->ranks; r++) {
        if (few->ctx[r] == NULL) {
            return 0;
        }
    }
    return few->ctx[VICTIM]->rec.phase >= FRONT;
}

/* Returns 1 if a part of the message from @a source has arrived. */
static int is_amid(const few_t *few, uint32_t target, uint32_t source)
{
    const keel_control_type_t type = (what == REPORT) ? KEEL_CONTROL_REPORT : KEEL_CONTROL_DECISION;
    const keel_control_in_t *in = (few->ctx[target] != NULL) ? few->ctx[target]->lane.peers[source].partial : NULL;

    return in != NULL && in->type == type && in->incarnation == few->ctx[target]->lane.peers[source].incarnation;
}

static void strike(few_t *few)
{
    if (few->deaths == 0 && is_amid_job(few)) {
        few_kill(few, VICTIM);
    }
    for (uint32_t r = 1; few->deaths == 1 && r < few->play->ranks; r++) {
        if (is_amid(few, (what == REPORT) ? 0 : r, (what == REPORT) ? r : 0)) {
            few_kill(few, (what == REPORT) == is_sender ? r : 0);
        }
    }
}

int main(void)
{
    static const struct {
        uint32_t ranks;
        size_t message;
        uint64_t seeds;
    } sizes[] = {{5, 160, 10}, {8, 160, 10}, {65, 0, 1}, {100, 0, 1}};
    int status = EXIT_SUCCESS;

    for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        const few_play_t play = {.ranks = sizes[i].ranks,
                                 .deaths = 2,
                                 .windows = 1,
                                 .message = sizes[i].message,
                                 .phases = phases,
                                 .strike = strike};

        for (unsigned moment = 0; moment < 4; moment++) {
            what = (what_t)(moment / 2);
            is_sender = (int)(moment % 2);
            if (what == DECISION && sizes[i].ranks == 65) {
                continue; /* the decision is a single segment */
            }
            status |= few_main(&play, sizeof(few_t), sizes[i].seeds);
        }
    }
    return status;
}
