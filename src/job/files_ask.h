/*
 * A request for a checkpoint or for a stop, at the leader. A checkpoint meets the request only if
 * the checkpoint began after the leader had seen the request: an older image lacks the work that
 * the request is to save, and a program that stops itself would repeat its call after each restart.
 */
#ifndef KEEL_JOB_FILES_ASK_H_
#define KEEL_JOB_FILES_ASK_H_

#include "check/plant.h"

#include <stdint.h>

typedef struct keel_files_ask {
    int is_open;       /* seen and not met */
    uint32_t after;    /* newest generation that had begun by then; UINT32_MAX: not known */
    uint64_t since_ns; /* when the request was seen */
} keel_files_ask_t;

/* Takes the newest look into account. @param newest: newest generation that has begun; UINT32_MAX:
 * not known. After a rollback the generations begin anew below @a after. */
static inline void keel_files_ask_look(keel_files_ask_t *ask, int is_asked, uint32_t newest, uint64_t now_ns)
{
    if (is_asked && !ask->is_open) {
        ask->after = newest;
        ask->since_ns = now_ns;
    } else if (newest < ask->after) {
        ask->after = newest;
    }
    ask->is_open = is_asked;
}

/* True if the files of this generation meet the request. */
static inline int keel_files_ask_is_met(const keel_files_ask_t *ask, uint32_t generation)
{
    return ask->is_open && generation + KEEL_PLANT(files_ask_met_by_same) > ask->after;
}

/* True if the request has been open for longer than @a within_s seconds; 0: no limit. */
static inline int keel_files_ask_is_late(const keel_files_ask_t *ask, uint64_t now_ns, double within_s)
{
    return ask->is_open && within_s > 0 && (double)(now_ns - ask->since_ns) * 1e-9 >= within_s;
}

#endif
