/* The record of a put: what one call puts, or as much of it as one record takes. */
#ifndef KEEL_RMA_PUT_RECORD_H_
#define KEEL_RMA_PUT_RECORD_H_

#include "access/target.h"
#include "check/plant.h"
#include "peer/store.h"

/* a put of bytes that lie one behind the other, or of several parts: blocks of a list, with a signal or without, or blocks at regular
 * distances */
typedef struct keel_put_record {
    keel_win_h win, signal_win; /* the latter is .win where there is no signal */
    uint32_t rank;
    uint64_t where;
    size_t length;    /* of its payload */
    const void *data; /* the payload; NULL: it is written from the parts */
    int is_due;       /* with it a message is full, */
    size_t left;      /* and as many bytes of the put come after it (keel_put_log_gather()) */
    /* parts */
    const keel_block_t *list;    /* of .count, empty ones too; or NULL, */
    const keel_blocks_t *blocks; /* and then these, */
    const char *from;            /* from here */
    const keel_signal_t *signal;
    size_t count;
} keel_put_record_t;

/* logs it, and does or sends it if the target is live */
keel_status_t keel_put_record(const keel_put_record_t *put);
/* memory that is mapped nowhere: it is there when this returns KEEL_OK (rma/by_message) */
keel_status_t keel_put_record_by_message(const keel_put_record_t *put);

/* programs that wait: logs this process's clock before what it does there, if it was not since the last wait */
keel_status_t keel_put_clock(keel_win_h win, uint32_t rank);

/* Room in the log, or NULL when the log is full or off, and then at once the put itself: it is a put to one of these windows, or to both. The
 * only copy of what a target has yet to be given is not dropped: the call waits until the target was given what the log holds for it. So
 * does a put to one that replays the rest (sync/waits). */
keel_status_t keel_put_reserve(keel_win_h win, keel_win_h other, uint32_t rank, size_t length,
                               keel_record_t **record_p);

/*
 * Direct lane, programs that do not wait: puts have no numbers, and are done again. But where an atomic that comes after this one was done
 * there (rma/atomic), this one was, and would undo it.
 */
int keel_put_was_before(keel_context_h ctx, uint32_t rank);

/* direct lane, before what is put there, or an atomic: what was read there has its records there */
void keel_put_push_gets(keel_context_h ctx, uint32_t rank);

/*
 * Direct lane, programs that wait: exactly once. The number of a record is opened at the target, then it is done, then it is
 * closed; a wait there does not return while one is open. So if this process dies, what is closed is in place, and its replacement
 * only logs it: the target may have gone on and others have overwritten it. What is open was seen by nobody and is done again.
 * The target is woken by what makes it sure that it is there (keel_flush_ring()).
 */
static inline __attribute__((always_inline)) void keel_put_open(keel_board_slot_t *slot, int has_number, uint64_t word)
{
    if (has_number && !KEEL_PLANT(opened_late)) {
        keel_board_set(&slot->opened, word);
    }
    if (!KEEL_PLANT(opened_unfenced)) {
        keel_store_barrier(); /* pairs with keel_wait_until_closed(): who sees the data sees it open */
    }
    KEEL_MOMENT();
}
/* behind its stores, and before it is closed */
static inline __attribute__((always_inline)) void keel_put_opened(keel_board_slot_t *slot, int has_number,
                                                                  uint64_t word)
{
    KEEL_MOMENT();
    if (has_number && KEEL_PLANT(opened_late)) {
        keel_board_set(&slot->opened, word);
    }
}
/* all of it, numbered already: the record is written, and what it says is stored at the target, which is mapped here */
void keel_put_record_open(const keel_put_record_t *put, keel_record_t *record, keel_board_slot_t *slot, int has_number,
                          uint64_t word);

/* programs that wait: the next ones that are stored at @a rank under this clock may go the short way (put_near()), and words in this
 * window the shortest; the rank is touched, and is rung later */
static inline void keel_put_set_near(keel_win_h win, uint32_t rank)
{
    keel_context_h ctx = win->ctx;
    struct keel_home *home = ctx->home;
    const keel_target_t *target = keel_win_target(win, rank);
    const int holds_words = target->size >= sizeof(uint64_t);

    home->log = &ctx->puts.targets[rank];
    home->phase = keel_phase_word(ctx->rec.phase, 0);
    home->slot = keel_access_slot(&ctx->lane, rank);
    home->win = holds_words ? win : NULL;
    home->base = target->ptr;
    home->last = holds_words ? target->size - sizeof(uint64_t) : 0;
    home->near = keel_context_cached_target(rank, home->log->clock); /* what is told there, if callbacks have waited */
}

#endif
