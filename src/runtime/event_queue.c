/* Events in the order of runtime_ops.h, without duplicates. */
#include "event_queue.h"

#include <base/memory.h>

#include <string.h>

keel_status_t keel_event_queue_init(keel_event_queue_t *queue, uint32_t size)
{
    memset(queue, 0, sizeof *queue);
    queue->progress = keel_alloc(size * sizeof *queue->progress, "runtime events");
    if (queue->progress == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    for (uint32_t rank = 0; rank < size; rank++) {
        queue->progress[rank].joins = 1;
    }
    queue->last = &queue->first;
    queue->size = size;
    pthread_mutex_init(&queue->lock, NULL);
    return KEEL_OK;
}

void keel_event_queue_release(keel_event_queue_t *queue)
{
    while (queue->first != NULL) {
        keel_event_entry_t *entry = queue->first;

        queue->first = entry->next;
        keel_free(entry);
    }
    keel_free(queue->given);
    keel_free(queue->progress);
    pthread_mutex_destroy(&queue->lock);
}

static keel_status_t keel_event_queue_append(keel_event_queue_t *queue, const keel_event_t *event)
{
    keel_event_entry_t *entry = keel_alloc(sizeof *entry + event->address_len, "runtime event");

    if (entry == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    entry->event = *event;
    entry->event.address = entry->address;
    if (event->address_len != 0) {
        memcpy(entry->address, event->address, event->address_len);
    }
    *queue->last = entry;
    queue->last = &entry->next;
    atomic_fetch_add_explicit(&queue->count, 1, memory_order_relaxed);
    if (queue->news != NULL) {
        __atomic_store_n(queue->news, 1, __ATOMIC_RELEASE);
    }
    return KEEL_OK;
}

static keel_status_t keel_event_queue_append_death(keel_event_queue_t *queue, uint32_t rank, uint32_t incarnation)
{
    keel_event_t death = {.type = KEEL_EVENT_DEATH, .rank = rank, .incarnation = incarnation};
    keel_status_t status;

    if (incarnation < queue->progress[rank].deaths) {
        return KEEL_OK;
    }
    status = keel_event_queue_append(queue, &death);
    if (status == KEEL_OK) {
        queue->progress[rank].deaths = incarnation + 1;
    }
    return status;
}

static keel_status_t keel_event_queue_append_join(keel_event_queue_t *queue, const keel_event_t *event)
{
    keel_event_progress_t *progress = &queue->progress[event->rank];
    keel_status_t status = KEEL_OK;

    if (event->incarnation < progress->joins || event->incarnation < progress->deaths) {
        return KEEL_OK;
    }
    status = keel_event_queue_append_death(queue, event->rank, event->incarnation - 1);
    if (status == KEEL_OK) {
        status = keel_event_queue_append(queue, event);
    }
    if (status == KEEL_OK) {
        progress->joins = event->incarnation + 1;
    }
    return status;
}

static keel_status_t keel_event_queue_append_exit(keel_event_queue_t *queue, const keel_event_t *event)
{
    keel_event_progress_t *progress = &queue->progress[event->rank];
    keel_status_t status;

    if (progress->has_left || event->incarnation < progress->deaths) {
        return KEEL_OK;
    }
    status = keel_event_queue_append(queue, event);
    progress->has_left = (status == KEEL_OK);
    return status;
}

keel_status_t keel_event_queue_push(keel_event_queue_t *queue, const keel_event_t *event)
{
    keel_status_t status;

    if (event->rank >= queue->size) {
        return KEEL_OK;
    }
    pthread_mutex_lock(&queue->lock);
    switch (event->type) {
    case KEEL_EVENT_DEATH:
        status = keel_event_queue_append_death(queue, event->rank, event->incarnation);
        break;
    case KEEL_EVENT_JOIN:
        status = keel_event_queue_append_join(queue, event);
        break;
    case KEEL_EVENT_GONE:
        status = keel_event_queue_append(queue, event);
        break;
    default:
        status = keel_event_queue_append_exit(queue, event);
        break;
    }
    pthread_mutex_unlock(&queue->lock);
    return status;
}

keel_status_t keel_event_queue_push_current_death(keel_event_queue_t *queue, uint32_t rank)
{
    keel_status_t status = KEEL_OK;

    if (rank >= queue->size) {
        return KEEL_OK;
    }
    pthread_mutex_lock(&queue->lock);
    if (queue->progress[rank].deaths < queue->progress[rank].joins) {
        status = keel_event_queue_append_death(queue, rank, queue->progress[rank].joins - 1);
    }
    pthread_mutex_unlock(&queue->lock);
    return status;
}

void keel_event_queue_notify(keel_event_queue_t *queue, uint8_t *news)
{
    pthread_mutex_lock(&queue->lock);
    queue->news = news;
    if (queue->first != NULL) {
        __atomic_store_n(news, 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&queue->lock);
}

void keel_event_queue_unnotify(keel_event_queue_t *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->news = NULL;
    pthread_mutex_unlock(&queue->lock);
}

int keel_event_queue_pop_slow(keel_event_queue_t *queue, keel_event_t *event_p)
{
    keel_event_entry_t *entry;

    pthread_mutex_lock(&queue->lock);
    keel_free(queue->given);
    entry = queue->first;
    queue->given = entry;
    if (entry != NULL) {
        queue->first = entry->next;
        if (queue->first == NULL) {
            queue->last = &queue->first;
        }
        atomic_fetch_sub_explicit(&queue->count, 1, memory_order_relaxed);
        *event_p = entry->event;
    }
    pthread_mutex_unlock(&queue->lock);
    return entry != NULL;
}
