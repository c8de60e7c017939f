/*
 * How the thread inside Keel waits, from one call to the next: it polls, yields the core, then sleeps until it is woken.
 *
 * Polling ends a wait soonest where nobody else wants the core, and keeps away who is waited for where somebody does: how
 * long the last yields took tells which it is. Yields are few where each of them lets others run; where none does they
 * go on as long as falling asleep and being woken take. Who sleeps is woken by the service thread, by the network when a reply is
 * due, and else by peers that have stored something here (ring()): a futex cannot watch files, and other processes cannot
 * reach these, so while replies are due a ring goes unheard, and the sleep is short.
 */
#ifndef KEEL_SHM_WAIT_H_
#define KEEL_SHM_WAIT_H_

#include "shm_memory.h"

#include <stdatomic.h>

typedef struct keel_shm_wait_ops {
    /* whether the next sleep is to be short: there is work that nothing announces */
    int (*is_busy)(void *arg);
    /* sleeps until a message comes or the bell is rung, @a timeout_us at most */
    void (*sleep)(void *arg, int bell, unsigned timeout_us);
} keel_shm_wait_ops_t;

typedef struct keel_shm_wait {
    const keel_shm_wait_ops_t *ops;
    void *arg;
    keel_shm_card_t *card; /* of this process */
    int bell;              /* wakes it where it sleeps on files */
    atomic_uint served;    /* +1 for each batch of requests with news */
    unsigned served_seen;

    int is_begun;     /* nothing has happened since it began */
    int is_announced; /* the next call sleeps */
    unsigned yields;
    unsigned shared; /* others want the core: until so many yields in a row came back at once */
    uint64_t begin_ns;
} keel_shm_wait_t;

keel_status_t keel_shm_wait_open(keel_shm_wait_t *wait, const keel_shm_wait_ops_t *ops, void *arg,
                                 keel_shm_card_t *card);
void keel_shm_wait_close(keel_shm_wait_t *wait);
/* as wait() of transport.h; to be called only when nothing is there that waits to be delivered */
void keel_shm_wait(keel_shm_wait_t *wait, unsigned round, unsigned timeout_us, int is_reply_due);
/* in progress(), of which @a events were handled; 1 when there was news for the thread inside Keel since the last call, else 0 */
unsigned keel_shm_wait_progressed(keel_shm_wait_t *wait, unsigned events);
/* of the service thread: there is news for the thread inside Keel */
void keel_shm_wait_end(keel_shm_wait_t *wait);

#endif
