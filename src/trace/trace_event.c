/* Names of the kinds of events. */
#include "trace/trace_event.h"

#include <stddef.h>

static const keel_trace_kind_info_t infos[] = {
    [KEEL_TRACE_NONE] = {NULL, KEEL_TRACE_INSTANT, KEEL_TRACE_OFTEN, "", {"", ""}},
#define INFO(_kind, _name, _shape, _ring, _number, _first, _second) \
    [KEEL_TRACE_##_kind] = {_name, KEEL_TRACE_##_shape, KEEL_TRACE_##_ring, _number, {_first, _second}},
    KEEL_TRACE_KINDS(INFO)
#undef INFO
};

const keel_trace_kind_info_t *keel_trace_kind_info(uint32_t kind)
{
    return (kind > KEEL_TRACE_NONE && kind < KEEL_TRACE_KIND_LAST) ? &infos[kind] : NULL;
}
