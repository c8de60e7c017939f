/* Reads the area of one life, which may have ended at any instruction. */
#ifndef KEEL_TRACE_TRACE_LIFE_H_
#define KEEL_TRACE_TRACE_LIFE_H_

#include "trace/trace_area.h"

typedef struct keel_trace_life {
    keel_trace_head_t head;
    uint64_t *words;            /* head.words of the newest snapshot; zeros: there is none */
    uint64_t *peaks;            /* by target */
    keel_trace_event_t *events; /* in the order of time */
    size_t count;
    uint64_t overwritten; /* events replaced by newer events */
    uint64_t torn;        /* events begun and not completed at the end of the life */
    int is_truncated;     /* the file is shorter than the head says */
    uint64_t end_ns;      /* when the life left, or the last sign of it */
    void *memory;
} keel_trace_life_t;

/* @a dir: descriptor of the folder. 0; ENOMEM; EBADMSG: no area; or the errno of the file. */
int keel_trace_life_read(int dir, const char *name, keel_trace_life_t *life_p);
void keel_trace_life_release(keel_trace_life_t *life);

#endif
