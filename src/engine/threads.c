/*
 * Several threads inside Keel at once.
 *
 * Safety. The code below the calls is made for a single thread. So each call holds a lock from
 * begin to end, and releases it in one place only: in waits, between two rounds of progress
 * (keel_context_wait()). Afterwards the call derives all knowledge of the context again, since
 * callbacks may have made calls there, too. Calls that cannot do so take a turn (keel_turn).
 *
 * A thread that waits for the lock gets it before the releasing thread takes it again. So an access
 * of another thread can end a wait. Otherwise the owner of the lock is in a call that ends by
 * actions of other processes. In a rollback all waiting calls end, and keel_restore() begins
 * afterwards.
 */
#include "engine/threads.h"

#include "base/memory.h"
#include "check/plant.h"

#include <errno.h>
#include <sched.h>
#include <semaphore.h>

/* yields of waiting calls while no thread enters; then they sleep as a single thread does, for a
 * millisecond at most */
#define YIELDS 64

struct keel_threads {
    /* not a mutex: the simulator stops a service side while a rank holds a mutex, and waits
     * hold the lock */
    sem_t lock;
    const void *owner; /* owner of the lock */
    unsigned depth;    /* nested calls of the owner */
    unsigned waiting;  /* threads in want of the lock */
    unsigned turns;    /* number of entries */
    /* threads in a call, waiting ones included; protected by the lock like the fields below */
    unsigned inside;
    unsigned yields; /* yields since a thread entered */
    const void *calling;
    const void *collective;
    const void *turn[KEEL_TURN_LAST];
};

/* An address unique to the thread. */
static const void *self(void)
{
    static _Thread_local char here;

    return &here;
}

static int is_owner(const struct keel_threads *threads)
{
    return __atomic_load_n(&threads->owner, __ATOMIC_RELAXED) == self();
}

keel_status_t keel_threads_init(keel_context_h ctx)
{
    ctx->threads = keel_alloc(sizeof(*ctx->threads), "threads");
    if (ctx->threads == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    (void)sem_init(&ctx->threads->lock, 0, 1);
    return KEEL_OK;
}

void keel_threads_release(keel_context_h ctx)
{
    if (ctx->threads != NULL) {
        (void)sem_destroy(&ctx->threads->lock);
        keel_free(ctx->threads);
        ctx->threads = NULL;
    }
}

static void take(struct keel_threads *threads, unsigned depth)
{
    __atomic_add_fetch(&threads->waiting, 1, __ATOMIC_RELAXED);
    while (sem_wait(&threads->lock) != 0 && errno == EINTR) {
    }
    __atomic_sub_fetch(&threads->waiting, 1, __ATOMIC_RELAXED);
    __atomic_store_n(&threads->turns, threads->turns + 1, __ATOMIC_RELAXED);
    __atomic_store_n(&threads->owner, self(), __ATOMIC_RELAXED);
    threads->depth = depth;
}

static void give(struct keel_threads *threads)
{
    threads->depth = 0;
    __atomic_store_n(&threads->owner, NULL, __ATOMIC_RELAXED);
    (void)sem_post(&threads->lock);
}

void keel_threads_enter(keel_context_h ctx)
{
    struct keel_threads *threads = ctx->threads;

    if (keel_fork_is_child(ctx)) {
        return; /* an unknown thread of the parent may hold the lock; calls are refused */
    }
    if (is_owner(threads)) {
        threads->depth++;
        return;
    }
    take(threads, 1);
    threads->inside++;
    threads->yields = 0;
}

void keel_threads_leave(keel_context_h ctx)
{
    struct keel_threads *threads = ctx->threads;

    if (!keel_fork_is_child(ctx) && is_owner(threads) && --threads->depth == 0) {
        threads->inside--;
        give(threads);
    }
}

void keel_threads_leave_all(keel_context_h ctx)
{
    if (ctx->threads != NULL && is_owner(ctx->threads)) {
        for (unsigned i = 0; i < KEEL_TURN_LAST; i++) {
            keel_threads_give_turn(ctx, (enum keel_turn)i);
        }
        keel_threads_end_collective(ctx);
        ctx->threads->inside--;
        give(ctx->threads);
    }
}

static int are_several(const keel_context_h ctx)
{
    return ctx->threads != NULL &&
           (ctx->threads->inside > 1 || __atomic_load_n(&ctx->threads->waiting, __ATOMIC_RELAXED) > 0);
}

/* Releases the lock, and takes it again after all threads in want of it. */
static void yield(struct keel_threads *threads)
{
    const unsigned turn = threads->turns, depth = threads->depth;

    threads->yields++;
    give(threads);
    do {
        sched_yield();
    } while (__atomic_load_n(&threads->waiting, __ATOMIC_RELAXED) > 0 &&
             __atomic_load_n(&threads->turns, __ATOMIC_RELAXED) == turn);
    take(threads, depth);
}

void keel_threads_yield(keel_context_h ctx)
{
    if (ctx->threads != NULL && is_owner(ctx->threads) && are_several(ctx) && !KEEL_PLANT(threads_turn_kept)) {
        yield(ctx->threads);
    }
}

int keel_threads_are_busy(keel_context_h ctx)
{
    return are_several(ctx) && ctx->threads->yields <= YIELDS;
}

void keel_threads_await_others(keel_context_h ctx)
{
    while (ctx->threads != NULL && is_owner(ctx->threads) && ctx->threads->inside > 1 &&
           !KEEL_PLANT(threads_restored_early)) {
        yield(ctx->threads);
    }
}

int keel_threads_in_callback(keel_context_h ctx)
{
    return ctx->callbacks > 0 && (ctx->threads == NULL || ctx->threads->calling == self());
}

static _Thread_local uint64_t called_here;

uint64_t keel_threads_callbacks_run(const keel_context_h ctx)
{
    return (ctx->threads != NULL) ? called_here : ctx->called;
}

void keel_threads_set_in_callback(keel_context_h ctx, int is_calling)
{
    called_here += (uint64_t)(is_calling != 0);
    if (ctx->threads != NULL) {
        ctx->threads->calling = is_calling ? self() : NULL;
    }
}

/* ---- turns ---- */

int keel_threads_try_turn(keel_context_h ctx, enum keel_turn what)
{
    struct keel_threads *threads = ctx->threads;

    if (threads == NULL) {
        return 1;
    }
    if (threads->turn[what] != NULL && threads->turn[what] != self()) {
        return 0;
    }
    threads->turn[what] = self();
    return 1;
}

void keel_threads_give_turn(keel_context_h ctx, enum keel_turn what)
{
    if (ctx->threads != NULL && ctx->threads->turn[what] == self()) {
        ctx->threads->turn[what] = NULL;
    }
}

keel_status_t keel_threads_begin_collective(keel_context_h ctx, const char *call)
{
    if (ctx == NULL || ctx->threads == NULL) {
        return KEEL_OK;
    }
    if (ctx->threads->collective != NULL) {
        keel_error_ctx(ctx, "%s while another thread is in a collective call", call);
        return KEEL_ERR_STATE;
    }
    ctx->threads->collective = self();
    return KEEL_OK;
}

void keel_threads_end_collective(keel_context_h ctx)
{
    if (ctx != NULL && ctx->threads != NULL && ctx->threads->collective == self()) {
        ctx->threads->collective = NULL;
    }
}
