/*
 * Several threads inside Keel at once (KEEL_PARAM_FLAG_THREADS). Without the flag KEEL_INSIDE() is
 * a load and a branch. Fast paths of accesses have no check: with the flag no rank is reached by a
 * fast path (keel_context.fast_ranks).
 */
#ifndef KEEL_ENGINE_THREADS_H_
#define KEEL_ENGINE_THREADS_H_

#include "engine/context.h"

keel_status_t keel_threads_init(keel_context_h ctx);
void keel_threads_release(keel_context_h ctx);

void keel_threads_enter(keel_context_h ctx);
void keel_threads_leave(keel_context_h ctx);
/* Leaves all calls of the calling thread, before it jumps out of them. */
void keel_threads_leave_all(keel_context_h ctx);
/* In a waiting call: gives threads that want to enter their turn. No effect without the flag. */
void keel_threads_yield(keel_context_h ctx);
/* True if other threads are in calls and did more than wait just now: then no thread sleeps with
 * the lock. */
int keel_threads_are_busy(keel_context_h ctx);
/* Waits until no other thread is inside Keel. Precondition: every other call is already
 * returning (rollback). */
void keel_threads_await_others(keel_context_h ctx);
/* True if the calling thread is in a callback of the program. */
int keel_threads_in_callback(keel_context_h ctx);
void keel_threads_set_in_callback(keel_context_h ctx, int is_calling);
/* Number of callbacks that the calling thread has run. */
uint64_t keel_threads_callbacks_run(const keel_context_h ctx);

/* Takes the turn: returns 1, or 0 while another thread has it. Without the flag every try
 * succeeds. */
int keel_threads_try_turn(keel_context_h ctx, enum keel_turn what);
void keel_threads_give_turn(keel_context_h ctx, enum keel_turn what);

/* Begins a collective call of one thread. Reports and returns KEEL_ERR_STATE if another thread
 * is in one. */
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

typedef struct {
    keel_context_h ctx;
    keel_status_t status; /* KEEL_OK, or KEEL_ERR_STATE: another thread is in a collective call */
} keel_collective_t;

static inline void keel_collective_end(const keel_collective_t *collective)
{
    if (collective->status == KEEL_OK) {
        keel_threads_end_collective(collective->ctx);
    }
}

/* First line of a public call: no other thread is inside Keel until its end, except while it
 * waits. */
#define KEEL_INSIDE(_ctx) \
    __attribute__((cleanup(keel_inside_leave), unused)) const keel_context_h keel_is_inside = keel_inside_enter(_ctx)
#define KEEL_INSIDE_WIN(_win) KEEL_INSIDE(((_win) != NULL) ? (_win)->ctx : NULL)

/* Begins a collective call, which ends with the block. keel_collective.status says whether the
 * call may go on. */
#define KEEL_COLLECTIVE(_ctx, _call)              \
    __attribute__((cleanup(keel_collective_end))) \
    const keel_collective_t keel_collective = {(_ctx), keel_threads_begin_collective(_ctx, _call)}

#endif
