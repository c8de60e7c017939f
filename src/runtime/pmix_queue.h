/*
 * The queue between PMIx's thread, which hears of events, and the thread inside Keel, which polls. It gives each event
 * once and in the order that runtime.h promises: death(r, i) before join(r, i + 1), nothing twice.
 *
 * Threads: push() in any thread, pop() and notify() in one. pop() looks at one atomic word when there is nothing; an event pushed
 * before it is seen by the pop() after the store became visible, and its memory through the lock.
 */
#ifndef KEEL_RUNTIME_PMIX_QUEUE_H_
#define KEEL_RUNTIME_PMIX_QUEUE_H_

#include <runtime.h>

#include <pthread.h>
#include <stdatomic.h>

typedef struct keel_pmix_entry {
    struct keel_pmix_entry *next;
    keel_event_t event;
    char address[]; /* of a join */
} keel_pmix_entry_t;

typedef struct keel_pmix_progress {
    uint32_t deaths; /* incarnations below this one are known to be dead */
    uint32_t joins;  /* incarnations below this one are known to have joined; the first life counts as joined */
    uint32_t has_left;
} keel_pmix_progress_t;

typedef struct keel_pmix_queue {
    atomic_uint count;
    pthread_mutex_t lock; /* of all below */
    keel_pmix_entry_t *first, **last;
    keel_pmix_entry_t *given;       /* what pop() gave last: its address stays valid until the next */
    keel_pmix_progress_t *progress; /* by rank */
    uint32_t size;
    uint8_t *news; /* set to 1 after each event; NULL: nobody wants to know */
} keel_pmix_queue_t;

keel_status_t keel_pmix_queue_init(keel_pmix_queue_t *queue, uint32_t size);
void keel_pmix_queue_release(keel_pmix_queue_t *queue);
/* copies the event; drops what is known already, and adds a death that has to come first. KEEL_ERR_NO_MEMORY: lost */
keel_status_t keel_pmix_queue_push(keel_pmix_queue_t *queue, const keel_event_t *event);
/* a death of which the launcher does not tell the incarnation: the one that is there */
keel_status_t keel_pmix_queue_push_current_death(keel_pmix_queue_t *queue, uint32_t rank);
/* sets @a news to 1 after each event that is pushed from now on, and at once when there is one */
void keel_pmix_queue_notify(keel_pmix_queue_t *queue, uint8_t *news);
int keel_pmix_queue_pop_slow(keel_pmix_queue_t *queue, keel_event_t *event_p);

/* 1 and an event, or 0; a few nanoseconds when there is none */
static inline int keel_pmix_queue_pop(keel_pmix_queue_t *queue, keel_event_t *event_p)
{
    if (atomic_load_explicit(&queue->count, memory_order_relaxed) == 0) {
        return 0;
    }
    return keel_pmix_queue_pop_slow(queue, event_p);
}

#endif
