/* Commit of the coordinated image in the making. */
#include "recovery/commit.h"

#include "peer/members.h"
#include "recovery/recovery.h"

int keel_commit_is_known(const keel_recovery_t *rec)
{
    const uint32_t making = rec->ckpt->set.making.number;

    return making != 0 && !keel_lane_is_leader(rec->lane) &&
           keel_board_get(&rec->lane->board[rec->lane->leader].committed) == making;
}

void keel_commit(keel_recovery_t *rec, uint32_t generation)
{
    if (keel_ckpt_commit(rec->ckpt, generation)) {
        keel_outcome_saved(rec, rec->ckpt->set.started_ns);
        keel_demand_reset(rec->demand);
        keel_put_log_trim(rec->puts, generation, rec->phase);
        keel_get_log_trim(rec->gets, generation, rec->phase);
    }
}
