/*
 * The area of one life of a rank: a mapped file with events and statistics, which survives SIGKILL.
 *
 *     head | two snapshots of statistics | peaks of the put log by target | rings of events
 *
 * A life may end at any instruction. So a record of an event is complete only if its mark is right,
 * and the mark is stored last. Of the two snapshots of statistics the newest complete one counts.
 * Without an area every call costs one comparison.
 */
#ifndef KEEL_TRACE_TRACE_AREA_H_
#define KEEL_TRACE_TRACE_AREA_H_

#include "trace/trace_event.h"

#include <stddef.h>
#include <stdint.h>

#define KEEL_TRACE_MAGIC       "KEELAREA"
#define KEEL_TRACE_VERSION     1u
#define KEEL_TRACE_NAME_MAX    64
#define KEEL_TRACE_AREA_PREFIX "life-"
#define KEEL_TRACE_EVENTS_MAX  (1u << 24)
#define KEEL_TRACE_RANKS_MAX   (1u << 24)
#define KEEL_TRACE_WORDS_MAX   4096u

/* Fixed part of an area's file. */
typedef struct keel_trace_head {
    char magic[8];
    uint32_t version, bytes; /* of this structure */
    uint32_t rank, incarnation, job;
    uint32_t size, programs; /* ranks; ranks that run the program */
    uint32_t node, process;
    uint32_t words;                      /* of a snapshot of statistics */
    uint32_t capacity[KEEL_TRACE_RINGS]; /* events of a ring; 0: no trace */
    uint64_t begun_ns;                   /* begin of the life, on the clock of events */
    uint64_t day_ns;                     /* time of day when that clock was 0 */
    uint64_t claimed[KEEL_TRACE_RINGS];  /* events begun */
    uint64_t turn;                       /* complete snapshots; the newest is in slot turn % 2 */
    uint64_t snapshot_ns;                /* of the newest snapshot */
    uint64_t left_ns;                    /* end of the life; 0: killed, or still alive */
    char host[64];
    char clock[40]; /* names the clock: lives with the same name have one clock */
    uint8_t reserved[296];
} keel_trace_head_t;
_Static_assert(sizeof(keel_trace_head_t) == 512, "heads are records in files");

typedef struct keel_trace {
    keel_trace_head_t *head; /* the mapping */
    size_t bytes;            /* of the mapping */
    uint64_t *snapshots[2];
    uint64_t *peaks;
    keel_trace_event_t *ring[KEEL_TRACE_RINGS];
    uint64_t (*now)(void *arg);
    void *arg;
} keel_trace_t;

typedef struct keel_trace_params {
    const char *path;       /* of a file that does not exist */
    keel_trace_head_t head; /* rank to begun_ns, day_ns, host */
    uint64_t (*now)(void *arg);
    void *arg;
} keel_trace_params_t;

/* Byte offsets in an area's file. */
typedef struct keel_trace_layout {
    size_t snapshots[2], peaks, ring[KEEL_TRACE_RINGS], end;
} keel_trace_layout_t;

keel_trace_layout_t keel_trace_layout(const keel_trace_head_t *head);
int keel_trace_is_area_name(const char *name);
/* Name of the file of a life. @a job: counts lives of the same rank and incarnation. */
void keel_trace_area_name(char name[KEEL_TRACE_NAME_MAX], uint32_t job, uint32_t rank, uint32_t incarnation);
/* Divides @a events between the rings. */
void keel_trace_divide(uint32_t events, uint32_t capacity[KEEL_TRACE_RINGS]);

/* Makes the file with all of its blocks, so that a full file system is noticed here. 0 or an
 * errno. */
int keel_trace_open(const keel_trace_params_t *params, keel_trace_t *trace_p);
/* Marks the life as one that left the job, and unmaps. */
void keel_trace_close(keel_trace_t *trace);

void keel_trace_write(keel_trace_t *trace, keel_trace_kind_t kind, uint16_t flags, uint32_t number, uint64_t first,
                      uint64_t second);
/* @a words: head.words of them. */
void keel_trace_write_snapshot(keel_trace_t *trace, const uint64_t *words);
/* Keeps the larger value. */
void keel_trace_write_peak(keel_trace_t *trace, uint32_t target, uint64_t bytes);

/* ---- calls at the place of an event; @a trace NULL: none ---- */

static inline int keel_trace_is_on(const keel_trace_t *trace)
{
    return __builtin_expect(trace != NULL, 0);
}
static inline void keel_trace_instant(keel_trace_t *trace, keel_trace_kind_t kind, uint32_t number, uint64_t first,
                                      uint64_t second)
{
    if (keel_trace_is_on(trace)) {
        keel_trace_write(trace, kind, 0, number, first, second);
    }
}
static inline void keel_trace_begin(keel_trace_t *trace, keel_trace_kind_t kind, uint32_t number)
{
    if (keel_trace_is_on(trace)) {
        keel_trace_write(trace, kind, KEEL_TRACE_IS_BEGIN, number, 0, 0);
    }
}
static inline void keel_trace_end(keel_trace_t *trace, keel_trace_kind_t kind, uint32_t number)
{
    if (keel_trace_is_on(trace)) {
        keel_trace_write(trace, kind, KEEL_TRACE_IS_END, number, 0, 0);
    }
}
/* The span began at @a begun_ns and ends now. */
static inline void keel_trace_span(keel_trace_t *trace, keel_trace_kind_t kind, uint32_t number, uint64_t begun_ns,
                                   uint64_t value)
{
    keel_trace_instant(trace, kind, number, begun_ns, value);
}

#endif
