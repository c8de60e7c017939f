/* Pairs the begins and ends of spans. */
#include "trace/trace_spans.h"

#include "base/memory.h"

#include <errno.h>
#include <stdlib.h>

static int compare_items(const void *first, const void *second)
{
    const keel_trace_item_t *a = first, *b = second;

    /* the longer span first: it contains the other one */
    return (a->begin_ns != b->begin_ns) ? (a->begin_ns < b->begin_ns ? -1 : 1)
           : (a->end_ns != b->end_ns)   ? (a->end_ns > b->end_ns ? -1 : 1)
                                        : (int)a->kind - (int)b->kind;
}

/* Time of the oldest event in a ring. */
static uint64_t ring_begin(const keel_trace_life_t *life, keel_trace_ring_t ring)
{
    for (size_t i = 0; i < life->count; i++) {
        if (keel_trace_kind_info(life->events[i].kind)->ring == ring) {
            return life->events[i].ns;
        }
    }
    return 0;
}

/* Ends the open span of the kind, or one with an overwritten begin. */
static void items_end(const keel_trace_life_t *life, const keel_trace_event_t *event, keel_trace_item_t *items,
                      size_t *count, size_t *open)
{
    if (*open == SIZE_MAX) {
        *open = (*count)++;
        items[*open] = (keel_trace_item_t){.kind = event->kind,
                                           .begin_ns = ring_begin(life, keel_trace_kind_info(event->kind)->ring),
                                           .number = event->number,
                                           .lacks_begin = 1};
    }
    items[*open].end_ns = event->ns;
    *open = SIZE_MAX;
}

/* Ends an open span of the kind. */
static void items_give_up(keel_trace_item_t *items, size_t *open, uint64_t ns)
{
    if (*open != SIZE_MAX) {
        items[*open].end_ns = ns;
        *open = SIZE_MAX;
    }
}

static int is_overwritten(const keel_trace_life_t *life, keel_trace_ring_t ring)
{
    return life->head.claimed[ring] > life->head.capacity[ring];
}

/*
 * Adds the phases between the gsyncs: from the end of a gsync, of a restore or of a rollback. @a
 * items are sorted; returns the new count.
 */
static size_t items_add_phases(const keel_trace_life_t *life, keel_trace_item_t *items, size_t count)
{
    /* before this time gsyncs may be missing */
    const uint64_t known_ns = is_overwritten(life, KEEL_TRACE_OFTEN) ? ring_begin(life, KEEL_TRACE_OFTEN) : 0;
    uint64_t begin_ns = UINT64_MAX;
    uint32_t phase = 0;
    size_t more = count;

    for (size_t i = 0; i < count; i++) {
        const keel_trace_item_t *item = &items[i];

        if (item->kind == KEEL_TRACE_GSYNC && begin_ns <= item->begin_ns) {
            items[more++] = (keel_trace_item_t){
                .kind = KEEL_TRACE_PHASE, .begin_ns = begin_ns, .end_ns = item->begin_ns, .number = phase};
        }
        if (item->kind == KEEL_TRACE_GSYNC || item->kind == KEEL_TRACE_RESTORE || item->kind == KEEL_TRACE_ROLLBACK ||
            (item->kind == KEEL_TRACE_START && life->head.incarnation == 0)) {
            begin_ns = (item->lacks_end || item->end_ns < known_ns) ? UINT64_MAX : item->end_ns;
            phase = item->number;
        }
    }
    /* equal if the end of the gsync is the last event of a killed life */
    if (begin_ns <= life->end_ns) {
        items[more++] = (keel_trace_item_t){.kind = KEEL_TRACE_PHASE,
                                            .begin_ns = begin_ns,
                                            .end_ns = life->end_ns,
                                            .number = phase,
                                            .lacks_end = life->head.left_ns == 0};
    }
    return more;
}

int keel_trace_items(const keel_trace_life_t *life, keel_trace_item_t **items_p, size_t *count_p)
{
    keel_trace_item_t *items = keel_alloc((2 * life->count + 1) * sizeof(*items), "spans of a life");
    size_t open[KEEL_TRACE_KIND_LAST], count = 0;

    if (items == NULL) {
        return ENOMEM;
    }
    for (unsigned kind = 0; kind < KEEL_TRACE_KIND_LAST; kind++) {
        open[kind] = SIZE_MAX;
    }
    for (size_t i = 0; i < life->count; i++) {
        const keel_trace_event_t *event = &life->events[i];
        const keel_trace_shape_t shape = keel_trace_kind_info(event->kind)->shape;
        const int is_span = shape == KEEL_TRACE_SPAN && event->value[0] <= event->ns;

        if (shape == KEEL_TRACE_PAIR && (event->flags & KEEL_TRACE_IS_END)) {
            items_end(life, event, items, &count, &open[event->kind]);
            continue;
        }
        if (event->kind == KEEL_TRACE_ROLLBACK) {
            items_give_up(items, &open[KEEL_TRACE_REPLAY], event->ns);
            items_give_up(items, &open[KEEL_TRACE_CATCH_UP], event->ns);
        }
        if (shape == KEEL_TRACE_PAIR) {
            items_give_up(items, &open[event->kind], event->ns); /* for the new one */
            open[event->kind] = count;
        }
        items[count++] =
            (keel_trace_item_t){.kind = event->kind,
                                .begin_ns = is_span ? event->value[0] : event->ns,
                                .end_ns = (shape == KEEL_TRACE_PAIR) ? UINT64_MAX : event->ns,
                                .number = event->number,
                                .value = {(shape == KEEL_TRACE_SPAN) ? 0 : event->value[0], event->value[1]}};
    }
    for (size_t i = 0; i < count; i++) {
        if (items[i].end_ns == UINT64_MAX) {
            items[i].lacks_end = 1;
            items[i].end_ns = (life->end_ns > items[i].begin_ns) ? life->end_ns : items[i].begin_ns;
        }
    }
    qsort(items, count, sizeof(*items), compare_items);
    count = items_add_phases(life, items, count);
    qsort(items, count, sizeof(*items), compare_items);
    *items_p = items;
    *count_p = count;
    return 0;
}
