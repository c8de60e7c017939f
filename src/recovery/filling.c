/* Logs that fill. */
#include "recovery/filling.h"

#include "peer/control.h"

#define FILLING_REASON 1u /* in keel_said_t, where reasons of rollbacks are */

void keel_filling_offer(keel_recovery_t *rec)
{
    rec->is_safe_offered = 1;
}

static void say(keel_recovery_t *rec, uint32_t rank)
{
    if (keel_said_add(&rec->said, FILLING_REASON)) {
        keel_warn(
            rec->message,
            "half of the logs of rank %u is in use, and the program has offered no safe point yet (keel_gsync() with "
            "KEEL_GSYNC_SAFE, keel_checkpoint()): when they are full a death is a rollback to its start",
            rank);
    }
}

void keel_filling_step(keel_recovery_t *rec)
{
    const keel_segment_pool_t *pool = rec->puts->pool;
    const uint32_t rank = rec->lane->rank;

    if (rec->is_safe_offered || rec->filling_told > rec->lane->peers[0].incarnation || rec->generation.number > 0 ||
        !keel_segment_pool_is_filling(pool) || keel_said_has(&rec->said, FILLING_REASON)) {
        return;
    }
    if (rank == 0) {
        say(rec, rank);
    } else if (!rec->lane->peers[0].is_up ||
               keel_lane_control_send(rec->lane, 0, KEEL_CONTROL_FILLING, &rank, sizeof(rank)) != KEEL_OK) {
        return; /* when it has a replacement */
    }
    rec->filling_told = rec->lane->peers[0].incarnation + 1;
}

void keel_filling_receive(keel_recovery_t *rec, const keel_control_in_t *in)
{
    if (in->length != sizeof(in->source) || rec->lane->rank != 0) {
        keel_error(rec->message, "malformed word of logs from rank %u refused", in->source);
        return;
    }
    say(rec, in->source);
}
