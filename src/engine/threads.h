/*
 * Several threads inside Keel at once (KEEL_PARAM_FLAG_THREADS). Without the flag KEEL_INSIDE() is a load and a branch, and the fast paths of
 * accesses have nothing of it: with it no rank is reached by these (keel_context.fast_ranks).
 */
#ifndef KEEL_ENGINE_THREADS_H_
#define KEEL_ENGINE_THREADS_H_

#include "engine/context.h"

keel_status_t keel_threads_init(keel_context_h ctx);
void keel_threads_release(keel_context_h ctx);

void keel_threads_enter(keel_context_h ctx);
void keel_threads_leave(keel_context_h ctx);
/* the caller leaves all of its calls: it jumps out of them */
void keel_threads_leave_all(keel_context_h ctx);
/* in a call that waits: threads that want to enter have their turn. Nothing without the flag. */
void keel_threads_yield(keel_context_h ctx);
/* others are in calls too, and were just now in them for more than to wait: nobody sleeps with the lock */
int keel_threads_are_busy(keel_context_h ctx);
/* until the caller is the only one that is in a call: the others' calls are about to end */
void keel_threads_await_others(keel_context_h ctx);
/* the caller, and no other thread, is in a callback of the program's */
int keel_threads_in_callback(keel_context_h ctx);
void keel_threads_set_in_callback(keel_context_h ctx, int is_calling);
/* callbacks that the caller has called, and no other thread */
uint64_t keel_threads_callbacks_run(const keel_context_h ctx);

/* Takes the turn: 1; 0 while another thread has it. Without the flag every try succeeds. */
int keel_threads_try_turn(keel_context_h ctx, enum keel_turn what);
void keel_threads_give_turn(keel_context_h ctx, enum keel_turn what);

/* collective calls are made by one thread at a time: KEEL_ERR_STATE, said, where another one is in one */
keel_status_t keel_threads_begin_collective(keel_context_h ctx, const char *call);
void keel_threads_end_collective(keel_context_h ctx);

static inline keel_context_h keel_inside_enter(keel_context_h ctx)
{
    if (__builtin_expect(ctx == NULL || ctx->threads == NULL, 1)) {
        return NULL;
    }
    keel_threads_enter(ctx);
    return ctx;
}

static inline void keel_inside_leave(const keel_context_h *ctx)
{
    if (__builtin_expect(*ctx != NULL, 0)) {
        keel_threads_leave(*ctx);
    }
}

/* in a public call, ahead of all that it does: from here to its end no other thread is inside, but while it waits */
#define KEEL_INSIDE(_ctx) \
    __attribute__((cleanup(keel_inside_leave), unused)) const keel_context_h keel_is_inside = keel_inside_enter(_ctx)
#define KEEL_INSIDE_WIN(_win) KEEL_INSIDE(((_win) != NULL) ? (_win)->ctx : NULL)

#endif
