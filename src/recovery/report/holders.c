/*
 * Record holders.
 *
 * Safety. A replacement below the front needs nothing from a rank without records: nothing is to be
 * handed over, and none of its predecessor's gets was there. An access of such a rank to the lost
 * rank after its report is of the front phase, because all reporters that do not re-execute stand
 * at the front or in the gsync that leads there. The access is only logged, and handed over when
 * the replacement announces to all ranks that it is at the front. The replacement does not wait for
 * it: the rank itself arrives only when nothing is left to hand over (keel_hand_over_is_pending()),
 * so no rank leaves the gsync before. Ranks that are lost, re-execute or await hand-overs hold
 * records of each other, since their accesses are still to come.
 * A rank that logs its first access after a decision is a holder in the next one, so a replacement
 * announces its position again after each decision. A holder stays one until either rank dies: the
 * two may adopt different decisions in between. In programs with an order inside phases each rank
 * is a holder.
 */
#include "recovery/report/holders.h"
#include "recovery/report/entries.h"

#include "check/plant.h"
#include "check/reached.h"
#include "oplog/get_log_chunks.h"
#include "recovery/hand_over.h"
#include "peer/members.h"

#define LOST_MAX 32u /* lost ranks with holders of their own; each rank is a holder of the others */

/* True if accesses of @a rank were counted here. */
static int holders_has_counted(const keel_recovery_t *rec, uint32_t rank)
{
    uint64_t done;

    pthread_mutex_lock(&rec->lane->lock);
    done = rec->lane->peers[rank].done;
    pthread_mutex_unlock(&rec->lane->lock);
    return done != 0 || keel_board_get(&rec->lane->board[rank].done) != 0;
}

int keel_holders_has_records(const keel_recovery_t *rec, uint32_t rank)
{
    if (rank == rec->lane->rank || rec->lane->peers[rank].mode == KEEL_PEER_LIVE) {
        return 0; /* not lost, or everything is handed over */
    }
    return holders_has_counted(rec, rank) ||
           (keel_put_log_target_bytes(rec->puts, rank) > 0 && !KEEL_PLANT(holders_without_puts)) ||
           (keel_get_log_has_source(rec->gets, rank) && !KEEL_PLANT(holders_without_gets)) ||
           (keel_segment_list_bytes(&rec->gets->targets[rank].list) > 0 && !KEEL_PLANT(holders_without_readers));
}

/* Lost, re-executes, or awaits hand-overs. */
static int is_lost(const decision_t *d, uint32_t rank)
{
    return d->ranks[rank].state != KEEL_RANK_FRONT || d->ranks[rank].is_incomplete;
}

/* The bit of a lost rank in decision_rank_t.holds, by the number of lost ranks before it; 0: none
 * is left, and each rank is a holder. */
static uint32_t lost_bit(uint32_t before)
{
    return (before < LOST_MAX) ? 1u << before : 0;
}

static int is_named(const decision_t *d, uint32_t holder, uint32_t bit)
{
    return bit == 0 || (d->ranks[holder].holds & bit) != 0;
}

void keel_holders_decide(const keel_recovery_t *rec, decision_t *d)
{
    const int is_ordered = keel_sync_may_be_ordered(&d->sync);
    uint32_t lost = 0;

    KEEL_EACH_MEMBER(x, rec->lane) {
        d->ranks[x].holds = is_ordered ? UINT32_MAX : 0;
    }
    KEEL_EACH_MEMBER_WHILE(r, rec->lane, !is_ordered && lost < LOST_MAX) {
        KEEL_EACH_MEMBER_WHILE(x, rec->lane, is_lost(d, r)) {
            if (is_lost(d, x) || keel_report_about(rec->reports[x], r)->has_records) {
                d->ranks[x].holds |= lost_bit(lost);
            }
        }
        lost += (uint32_t)is_lost(d, r);
    }
}

void keel_holders_adopt(keel_recovery_t *rec, const decision_t *d)
{
    const uint32_t own = rec->lane->rank;
    uint32_t lost = 0, own_bit = 0;

    KEEL_EACH_MEMBER(r, rec->lane) {
        if (r == own) {
            own_bit = lost_bit(lost);
        } else if (is_lost(d, r)) {
            rec->peer_states[r].is_held_here |= is_named(d, own, lost_bit(lost));
        }
        lost += (uint32_t)is_lost(d, r);
    }
    KEEL_EACH_MEMBER_WHILE(r, rec->lane, is_lost(d, own)) {
        rec->peer_states[r].is_holder |= r != own && is_named(d, r, own_bit);
        if (r != own && !rec->peer_states[r].is_holder) {
            KEEL_REACHED(holder_not);
        }
    }
}

int keel_holders_lost_hand_over(const keel_recovery_t *rec, uint32_t rank)
{
    const keel_peer_state_t *peer_state = &rec->peer_states[rank];

    return rec->life == KEEL_LIFE_AWAITING && peer_state->hand_over_lost && peer_state->received_end <= rec->phase;
}

int keel_holders_are_apart(const keel_recovery_t *rec, uint32_t rank)
{
    const keel_peer_state_t *peer_state = &rec->peer_states[rank];

    return peer_state->state == KEEL_RANK_FRONT && !peer_state->is_holder && !peer_state->is_held_here &&
           !keel_hand_over_has(rec, rank);
}
