/* Put. */
#ifndef KEEL_RMA_PUT_H_
#define KEEL_RMA_PUT_H_

#include "access/target.h"

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
