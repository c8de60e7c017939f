/* The record of a put: a whole call, or as much of a call as one record holds. */
#ifndef KEEL_RMA_PUT_RECORD_H_
#define KEEL_RMA_PUT_RECORD_H_

#include "access/target.h"
#include "check/plant.h"
#include "peer/store.h"

/* A put of contiguous bytes, or of several parts: a list of blocks, strided blocks, or data with
 * a signal. */
typedef struct keel_put_record {
    keel_win_h win, signal_win; /* signal_win is win where there is no signal */
    uint32_t rank;
    uint64_t where;
    size_t length;    /* bytes of the payload */
    const void *data; /* the payload of a contiguous put; NULL: the parts make the payload */
    int is_due;       /* this record fills a message */
    size_t left;      /* bytes of the put after this record (keel_put_log_gather()) */
    /* the parts */
    const keel_block_t *list;    /* count blocks, some of which may be empty; NULL: strided */
    const keel_blocks_t *blocks; /* strided blocks at the target, where list is NULL */
    const char *from;            /* the first strided block in the program's buffer */
    const keel_signal_t *signal;
    size_t count;
} keel_put_record_t;

/* Logs the record; stores or sends it if the target is live. */
keel_status_t keel_put_record(const keel_put_record_t *put);
/* Memory that is mapped nowhere (rma/by_message): applied there when this returns KEEL_OK. */
keel_status_t keel_put_record_by_message(const keel_put_record_t *put);

/* Programs that wait: logs this process's clock for @a rank before an access there, once after
 * each wait. */
keel_status_t keel_put_clock(keel_win_h win, uint32_t rank);

/* Reserves a log record for a put to @a win, and to @a other for a signal. *record_p is NULL if
 * the log is off or full; the put must then be issued at once. The log may be the only copy for
 * a target that is down or that replays the rest (sync/waits), so the call then waits for the
 * hand-over instead of dropping the record. */
keel_status_t keel_put_reserve(keel_win_h win, keel_win_h other, uint32_t rank, size_t length,
                               keel_record_t **record_p);

/*
 * Direct lane, programs that do not wait: puts have no numbers, and a re-execution repeats them.
 * Returns 1 if the target already has a later atomic of the same source (rma/atomic): the put was
 * done before, and a repetition would undo the atomic.
 */
int keel_put_was_before(keel_context_h ctx, uint32_t rank);

/* Direct lane, before a put or an atomic: records of earlier gets there reach the target first. */
void keel_put_push_gets(keel_context_h ctx, uint32_t rank);

/*
 * Exactly once on the direct lane, in programs that wait. The source opens the number of a record
 * at the target, stores the data, then closes the number; a wait at the target does not return
 * while a number is open. If the source dies, closed records are in place: the replacement only
 * logs them, because the target may have continued and others may have overwritten the data. No
 * rank has acted on an open record, so the replacement repeats the record. keel_flush_ring() wakes
 * the target later.
 */
static inline __attribute__((always_inline)) void keel_put_open(keel_board_slot_t *slot, int has_number, uint64_t word)
{
    if (has_number && !KEEL_PLANT(put_record_unopened)) {
        keel_board_set(&slot->opened, word);
    }
    if (!KEEL_PLANT(put_record_opened_unfenced)) {
        /* pairs with keel_wait_until_closed(): a rank sees the open number before the data */
        keel_store_barrier();
    }
    KEEL_MOMENT();
}
/* writes a record with a number, and stores its data at the target, inside keel_put_open() */
void keel_put_record_open(const keel_put_record_t *put, keel_record_t *record, keel_board_slot_t *slot, int has_number,
                          uint64_t word);

/* Programs that wait: caches the target for puts under the same clock (put_cached()) and for
 * words in the window. The rank is touched, and is rung later. */
static inline void keel_put_cache_target(keel_win_h win, uint32_t rank)
{
    keel_context_h ctx = win->ctx;
    struct keel_home *home = ctx->home;
    const keel_target_t *target = keel_win_target(win, rank);
    const int holds_words = target->size >= sizeof(uint64_t);

    home->log = &ctx->puts.targets[rank];
    home->phase = keel_phase_word(ctx->rec.phase, 0);
    home->slot = keel_access_slot(&ctx->lane, rank);
    keel_access_join(&ctx->lane, home->slot);
    home->win = holds_words ? win : NULL;
    home->base = target->ptr;
    home->last = holds_words ? target->size - sizeof(uint64_t) : 0;
    /* the clock announced there, even if callbacks have waited since */
    home->cached_target = keel_context_cached_target(rank, home->log->clock);
}

#endif
