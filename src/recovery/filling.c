/* Logs that fill. */
#include "recovery/filling.h"

#include "check/plant.h"
#include "peer/control.h"

#include <string.h>

#define FILLING_POINTS 0x100u /* beside a filling_t: the rank calls keel_safe_point() */
/* in keel_said_t, where reasons of rollbacks are: decisions make both known to all ranks */
#define FILLING_REASON 1u
#define POINTS_REASON  2u
#define FILLING_HALF   50u /* percent */
#define FILLING_LOOKS  8u  /* steps between two looks at the get log, which touches some of its chunks */

typedef enum { FILLING_NONE, FILLING_OPLOG, FILLING_GETLOG, FILLING_LAST } filling_t;

static const char *const filling_names[] = {[FILLING_OPLOG] = "KEEL_OPLOG_SIZE", [FILLING_GETLOG] = "KEEL_GETLOG_SIZE"};

void keel_filling_offer(keel_recovery_t *rec)
{
    rec->is_safe_offered = 1;
}

void keel_filling_offer_point(keel_recovery_t *rec)
{
    if (!rec->are_points_offered) {
        rec->is_safe_offered = rec->are_points_offered = 1;
        (void)keel_said_add(&rec->said, POINTS_REASON);
    }
}

int keel_filling_points_are_known(const keel_recovery_t *rec)
{
    return keel_said_has(&rec->said, POINTS_REASON);
}

void keel_filling_served(keel_recovery_t *rec)
{
    rec->is_stop_wanted = 0;
}

static filling_t look(keel_recovery_t *rec, unsigned percent)
{
    const keel_segment_pool_t *pool = rec->puts->pool;

    if ((uint64_t)pool->in_use * 100 > (uint64_t)pool->count * percent) {
        return FILLING_OPLOG;
    }
    return (rec->filling_looks++ % FILLING_LOOKS == 0 && rec->gets->is_enabled && !KEEL_PLANT(filling_puts_alone) &&
            keel_get_log_may_be_filled(rec->gets, percent))
               ? FILLING_GETLOG
               : FILLING_NONE;
}

/* Rank 0: @a rank has said so. */
static void heard(keel_recovery_t *rec, uint32_t rank, uint32_t word)
{
    if (word & FILLING_POINTS) {
        rec->is_stop_wanted = 1;
    } else if (!rec->is_safe_offered && keel_said_add(&rec->said, FILLING_REASON)) {
        keel_warn(
            rec->message,
            "half of a log of rank %u is in use (%s), and the program has offered no safe point yet (keel_gsync() "
            "with KEEL_GSYNC_SAFE, keel_checkpoint(), or keel_safe_point() outside of its locks): when no room is left "
            "a death is a rollback to its start",
            rank, filling_names[word]);
    }
}

static void tell(keel_recovery_t *rec, filling_t log)
{
    const uint32_t word = log | (rec->are_points_offered ? FILLING_POINTS : 0);

    if (rec->lane->rank == 0) {
        heard(rec, 0, word);
    } else if (!rec->lane->peers[0].is_up ||
               keel_lane_control_send(rec->lane, 0, KEEL_CONTROL_FILLING, &word, sizeof(word)) != KEEL_OK) {
        return; /* when it has a replacement */
    }
    rec->filling_told = rec->lane->peers[0].incarnation + 1;
    rec->filling_phase = rec->phase + 1;
}

/* Once a phase: each stop begins one. */
static void want_stop(keel_recovery_t *rec)
{
    const unsigned soft = rec->lane->config->oplog_soft;
    filling_t log;

    if (soft == 0 || !keel_sync_may_be_local(rec->sync) || keel_recovery_state(rec) != KEEL_RANK_FRONT ||
        (rec->filling_phase == rec->phase + 1 && rec->filling_told == rec->lane->peers[0].incarnation + 1)) {
        return;
    }
    log = look(rec, soft);
    if (log != FILLING_NONE) {
        tell(rec, log);
    }
}

void keel_filling_step(keel_recovery_t *rec)
{
    filling_t log;

    if (rec->are_points_offered) {
        want_stop(rec);
        return;
    }
    if (rec->is_safe_offered || rec->filling_told > rec->lane->peers[0].incarnation || rec->generation.number > 0 ||
        keel_said_has(&rec->said, FILLING_REASON)) {
        return;
    }
    log = look(rec, FILLING_HALF);
    if (log != FILLING_NONE) {
        tell(rec, log);
    }
}

void keel_filling_receive(keel_recovery_t *rec, const keel_control_in_t *in)
{
    uint32_t word = FILLING_NONE;

    if (in->length == sizeof(word)) {
        memcpy(&word, in->payload, sizeof(word));
    }
    if ((word & ~FILLING_POINTS) == FILLING_NONE || (word & ~FILLING_POINTS) >= FILLING_LAST || rec->lane->rank != 0) {
        keel_error(rec->message, "malformed word of logs from rank %u refused", in->source);
        return;
    }
    heard(rec, in->source, word);
}
