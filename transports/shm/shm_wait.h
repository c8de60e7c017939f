/*
 * Waiting of the thread inside Keel, across calls: the thread polls, yields the core, then sleeps
 * until woken.
 *
 * Polling ends a wait soonest on a core of its own. On a shared core, polling keeps the awaited
 * thread from running. The duration of recent yields tells the two cases apart. Few yields follow
 * if each lets other threads run; otherwise yields continue for as long as falling asleep and
 * waking take. A sleeping thread is woken by the service thread, by the network if a reply is due,
 * else by peers that have stored something here (ring()). A futex cannot watch files, and other
 * processes cannot reach this process's files: while replies are due a ring is not heard, and the
 * sleep is short.
 */
#ifndef KEEL_SHM_WAIT_H_
#define KEEL_SHM_WAIT_H_

#include "shm_memory.h"

#include <stdatomic.h>

typedef struct keel_shm_wait_ops {
    /* Must the next sleep be short, because of work without an event? */
    int (*is_busy)(void *arg);
    /* sleeps until a message arrives or the bell rings, for at most @a timeout_us */
    void (*sleep)(void *arg, int bell, unsigned timeout_us);
} keel_shm_wait_ops_t;

typedef struct keel_shm_wait {
    const keel_shm_wait_ops_t *ops;
    void *arg;
    keel_shm_card_t *card; /* card of this process */
    int bell;              /* wakes a sleep on files */
    atomic_uint served;    /* number of batches of requests with news */
    unsigned served_seen;

    int is_begun;     /* no event since the start of the wait */
    int is_announced; /* the next call sleeps */
    unsigned yields;
    unsigned shared; /* the core counts as shared until this many yields in a row return at once */
    uint64_t begin_ns;
} keel_shm_wait_t;

keel_status_t keel_shm_wait_open(keel_shm_wait_t *wait, const keel_shm_wait_ops_t *ops, void *arg,
                                 keel_shm_card_t *card);
void keel_shm_wait_close(keel_shm_wait_t *wait);
/* wait() of transport.h; call only when no delivery is pending */
void keel_shm_wait(keel_shm_wait_t *wait, unsigned round, unsigned timeout_us, int is_reply_due);
/* Called in progress() with the number of @a events handled. Returns 1 if there was news for the
 * thread inside Keel since the last call. */
unsigned keel_shm_wait_progressed(keel_shm_wait_t *wait, unsigned events);
/* from the service thread: there is news for the thread inside Keel */
void keel_shm_wait_end(keel_shm_wait_t *wait);

#endif
