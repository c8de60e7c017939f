/* Spans and moments of a life, from its events. */
#ifndef KEEL_TRACE_TRACE_SPANS_H_
#define KEEL_TRACE_TRACE_SPANS_H_

#include "trace/trace_life.h"

typedef struct keel_trace_item {
    keel_trace_kind_t kind;
    uint64_t begin_ns, end_ns; /* equal for a moment */
    uint32_t number;
    uint64_t value[2]; /* of a SPAN the first one is 0 */
    /* the record of the begin was overwritten: the begin is that of the remaining events */
    int lacks_begin;
    int lacks_end; /* the life ended within the span */
} keel_trace_item_t;

/* Lists the items of a life in the order of their begins. 0 or ENOMEM; the caller frees *items_p by
 * keel_free(). */
int keel_trace_items(const keel_trace_life_t *life, keel_trace_item_t **items_p, size_t *count_p);

#endif
