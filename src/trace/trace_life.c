/* Reads areas; nothing in a file is trusted. */
#include "trace/trace_life.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int read_all(int file, void *to, size_t bytes, size_t *got_p)
{
    *got_p = 0;
    while (*got_p < bytes) {
        const ssize_t got = read(file, (char *)to + *got_p, bytes - *got_p);

        if (got < 0 && errno != EINTR) {
            return errno;
        }
        if (got == 0) {
            break;
        }
        *got_p += (got > 0) ? (size_t)got : 0;
    }
    return 0;
}

static int head_is_right(const keel_trace_head_t *head)
{
    return memcmp(head->magic, KEEL_TRACE_MAGIC, sizeof(head->magic)) == 0 && head->version == KEEL_TRACE_VERSION &&
           head->bytes == sizeof(*head) && head->size > 0 && head->size <= KEEL_TRACE_RANKS_MAX &&
           head->rank < head->size && head->programs <= head->size && head->words <= KEEL_TRACE_WORDS_MAX &&
           head->capacity[0] <= KEEL_TRACE_EVENTS_MAX && head->capacity[1] <= KEEL_TRACE_EVENTS_MAX;
}

static int compare_events(const void *first, const void *second)
{
    const keel_trace_event_t *a = first, *b = second;

    return (a->ns != b->ns) ? (a->ns < b->ns ? -1 : 1) : (a->mark < b->mark) ? -1 : (a->mark > b->mark);
}

/* Moves the complete events of a ring to the list. */
static void take_ring(keel_trace_life_t *life, const keel_trace_event_t *ring, keel_trace_ring_t which)
{
    const uint64_t claimed = life->head.claimed[which], capacity = life->head.capacity[which];
    uint64_t index = (claimed > capacity) ? claimed - capacity : 0;

    life->overwritten += (capacity > 0) ? index : 0;
    for (; capacity > 0 && index < claimed; index++) {
        const keel_trace_event_t *event = &ring[index % capacity];

        if (event->mark == index + 1 && keel_trace_kind_info(event->kind) != NULL) {
            life->events[life->count++] = *event;
        } else {
            life->torn++;
        }
    }
}

static void life_take(keel_trace_life_t *life, const keel_trace_layout_t *layout)
{
    char *base = life->memory;

    life->words = (uint64_t *)(base + layout->snapshots[life->head.turn % 2]);
    life->peaks = (uint64_t *)(base + layout->peaks);
    /* a ring is no longer needed once its events are taken: the list is behind the rings */
    life->events = (keel_trace_event_t *)(base + layout->end);
    for (unsigned i = 0; i < KEEL_TRACE_RINGS; i++) {
        take_ring(life, (const keel_trace_event_t *)(base + layout->ring[i]), i);
    }
    qsort(life->events, life->count, sizeof(*life->events), compare_events);
    life->head.host[sizeof(life->head.host) - 1] = life->head.clock[sizeof(life->head.clock) - 1] = '\0';
    life->end_ns = life->head.left_ns;
    if (life->end_ns == 0) {
        life->end_ns = (life->head.snapshot_ns > life->head.begun_ns) ? life->head.snapshot_ns : life->head.begun_ns;
        if (life->count > 0 && life->events[life->count - 1].ns > life->end_ns) {
            life->end_ns = life->events[life->count - 1].ns;
        }
    }
}

int keel_trace_life_read(int dir, const char *name, keel_trace_life_t *life_p)
{
    const int file = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    keel_trace_life_t life = {.memory = NULL};
    keel_trace_layout_t layout;
    size_t got, events;
    int error;

    if (file < 0) {
        return errno;
    }
    error = read_all(file, &life.head, sizeof(life.head), &got);
    if (error == 0 && (got < sizeof(life.head) || !head_is_right(&life.head))) {
        error = EBADMSG;
    }
    if (error == 0) {
        layout = keel_trace_layout(&life.head);
        events = life.head.capacity[0] + (size_t)life.head.capacity[1];
        life.memory = keel_alloc(layout.end + events * sizeof(keel_trace_event_t), "area of a life");
        error = (life.memory == NULL) ? ENOMEM : 0;
    }
    if (error == 0) {
        error = read_all(file, (char *)life.memory + sizeof(life.head), layout.end - sizeof(life.head), &got);
    }
    close(file);
    if (error != 0) {
        keel_free(life.memory);
        return error;
    }
    life.is_truncated = got < layout.end - sizeof(life.head);
    life_take(&life, &layout);
    *life_p = life;
    return 0;
}

void keel_trace_life_release(keel_trace_life_t *life)
{
    keel_free(life->memory);
    *life = (keel_trace_life_t){.memory = NULL};
}
