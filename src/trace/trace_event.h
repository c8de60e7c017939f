/* Events of a trace: their kinds, and the record of an event. */
#ifndef KEEL_TRACE_TRACE_EVENT_H_
#define KEEL_TRACE_TRACE_EVENT_H_

#include <stdint.h>

typedef enum keel_trace_shape {
    KEEL_TRACE_PAIR,    /* two records: the begin and the end of a span */
    KEEL_TRACE_SPAN,    /* one record at the end of the span; value[0]: time of its begin */
    KEEL_TRACE_INSTANT, /* one moment */
    KEEL_TRACE_COUNTER  /* values from now on */
} keel_trace_shape_t;

/* An area has a ring for each class, so that frequent events do not overwrite those of a death. */
typedef enum keel_trace_ring { KEEL_TRACE_OFTEN, KEEL_TRACE_RARE, KEEL_TRACE_RINGS } keel_trace_ring_t;

/*
 * Entries: kind, name, shape, ring, names of number, value[0] and value[1] in the output ("": not
 * used). Kinds are stored in files: a new kind comes at the end.
 */
#define KEEL_TRACE_KINDS(_)                                                 \
    _(GSYNC, "gsync", PAIR, OFTEN, "gsync", "", "")                         \
    _(LOGS, "logs", COUNTER, OFTEN, "", "put log", "get log")               \
    _(COPY, "checkpoint: copy", SPAN, OFTEN, "gsync", "", "bytes")          \
    _(PARITY, "checkpoint: parity", SPAN, OFTEN, "gsync", "", "bytes")      \
    _(COMMIT, "checkpoint in use", INSTANT, OFTEN, "gsync", "", "")         \
    _(ABORT, "checkpoint given up", INSTANT, RARE, "gsync", "", "")         \
    _(DEMAND, "demand checkpoint: copy", SPAN, OFTEN, "gsync", "", "bytes") \
    _(DEATH, "death", INSTANT, RARE, "rank", "incarnation", "")             \
    _(JOIN, "replacement joins", INSTANT, RARE, "rank", "incarnation", "")  \
    _(VIEW, "view change", PAIR, RARE, "", "", "")                          \
    _(DECISION, "decision", INSTANT, RARE, "mode", "generation", "front")   \
    _(START, "start-up", SPAN, RARE, "", "", "")                            \
    _(REBUILD, "rebuild", SPAN, RARE, "generation", "", "bytes")            \
    _(RESTORE, "restore", SPAN, RARE, "generation", "", "")                 \
    _(REPLAY, "replay", PAIR, RARE, "gsync", "", "")                        \
    _(CATCH_UP, "catch-up", PAIR, RARE, "gsync", "", "")                    \
    _(HAND_OVER, "hand over", INSTANT, RARE, "rank", "phase", "records")    \
    _(ROLLBACK, "rollback", PAIR, RARE, "generation", "", "")               \
    _(FAILED, "failure", INSTANT, RARE, "status", "", "")                   \
    _(PHASE, "phase", PAIR, OFTEN, "phase", "", "")                         \
    _(FLUSH, "flush", INSTANT, OFTEN, "rank", "", "")                       \
    _(FILE, "checkpoint: file", SPAN, RARE, "generation", "", "bytes")

typedef enum keel_trace_kind {
    KEEL_TRACE_NONE,
#define KEEL_TRACE_KIND(_kind, ...) KEEL_TRACE_##_kind,
    KEEL_TRACE_KINDS(KEEL_TRACE_KIND)
#undef KEEL_TRACE_KIND
        KEEL_TRACE_KIND_LAST
} keel_trace_kind_t;

typedef struct keel_trace_kind_info {
    const char *name;
    keel_trace_shape_t shape;
    keel_trace_ring_t ring;
    const char *number, *value[2];
} keel_trace_kind_info_t;

/* NULL: no kind of this version */
const keel_trace_kind_info_t *keel_trace_kind_info(uint32_t kind);

enum { KEEL_TRACE_IS_BEGIN = 1, KEEL_TRACE_IS_END = 2 }; /* flags of a PAIR */

/* Record of an event in an area. */
typedef struct keel_trace_event {
    uint64_t ns;
    uint64_t value[2];
    uint32_t number;
    uint16_t kind, flags;
    /* 1 + the index of the event in its ring, written last; another value: the record is not
     * complete. The last field: a truncated record lacks it. */
    uint64_t mark;
} keel_trace_event_t;
_Static_assert(sizeof(keel_trace_event_t) == 40, "events are records in files");

#endif
