/*
 * The queue between the threads that receive a runtime's events and the thread inside Keel, which
 * polls. The queue returns each event once, in the order of runtime_ops.h: death(r, i) before
 * join(r, i + 1).
 *
 * Threads: any thread calls push(); one thread calls pop() and notify(). An empty queue costs pop()
 * one relaxed load. pop() sees an event once the count is visible; the lock orders the event's
 * memory.
 */
#ifndef KEEL_RUNTIME_EVENT_QUEUE_H_
#define KEEL_RUNTIME_EVENT_QUEUE_H_

#include <runtime_ops.h>

#include <pthread.h>
#include <stdatomic.h>

typedef struct keel_event_entry {
    struct keel_event_entry *next;
    keel_event_t event;
    char address[]; /* of a join */
} keel_event_entry_t;

typedef struct keel_event_progress {
    uint32_t deaths; /* incarnations below are known to be dead */
    /* incarnations below are known to have joined; the first life counts as joined */
    uint32_t joins;
    uint32_t has_left;
} keel_event_progress_t;

typedef struct keel_event_queue {
    atomic_uint count;
    pthread_mutex_t lock; /* guards the members below */
    keel_event_entry_t *first, **last;
    /* entry of the last pop(): the address stays valid until the next */
    keel_event_entry_t *given;
    keel_event_progress_t *progress; /* by rank */
    uint32_t size;
    uint8_t *news; /* set to 1 after each event; NULL: no notification */
} keel_event_queue_t;

keel_status_t keel_event_queue_init(keel_event_queue_t *queue, uint32_t size);
void keel_event_queue_release(keel_event_queue_t *queue);
/*
 * Queues a copy of the event. Drops known events and inserts a death that must come first.
 * KEEL_ERR_NO_MEMORY: the event is lost.
 */
keel_status_t keel_event_queue_push(keel_event_queue_t *queue, const keel_event_t *event);
/* Queues the death of the current incarnation, for launchers that do not report incarnations. */
keel_status_t keel_event_queue_push_current_death(keel_event_queue_t *queue, uint32_t rank);
/* From now on sets *news to 1 after each pushed event, and at once if an event is queued. */
void keel_event_queue_notify(keel_event_queue_t *queue, uint8_t *news);
/* No event sets the flag of notify() any more, once this has returned. */
void keel_event_queue_unnotify(keel_event_queue_t *queue);
int keel_event_queue_pop_slow(keel_event_queue_t *queue, keel_event_t *event_p);

/* Returns 1 and an event, or 0. An empty queue costs a few nanoseconds. */
static inline int keel_event_queue_pop(keel_event_queue_t *queue, keel_event_t *event_p)
{
    if (atomic_load_explicit(&queue->count, memory_order_relaxed) == 0) {
        return 0;
    }
    return keel_event_queue_pop_slow(queue, event_p);
}

#endif
