/* How much memory the logs of a process take where nobody has said it (KEEL_OPLOG_SIZE=auto). */
#ifndef KEEL_ENGINE_LOGS_PLAN_H_
#define KEEL_ENGINE_LOGS_PLAN_H_

#include <stddef.h>
#include <stdint.h>

#define KEEL_LOGS_LEAST   ((size_t)64 << 20) /* where a node has little memory */
#define KEEL_LOGS_SEGMENT (64u << 10)        /* of logs so large: it holds the longest record of any other rank */

typedef struct keel_logs_room {
    size_t usual;    /* bytes, where nothing stands against it */
    size_t share;    /* of this process in its node's memory */
    int is_lazy;     /* memory that is not touched takes none */
    size_t lendable; /* what the network device may use at a time; SIZE_MAX: any */
    uint32_t ranks;
} keel_logs_room_t;

/* for whom the device's share was too little */
enum keel_logs_limit { KEEL_LOGS_UNLIMITED, KEEL_LOGS_SHRUNK, KEEL_LOGS_BEYOND };

typedef struct keel_logs_plan {
    size_t bytes, most;         /* at first, and where images are large */
    enum keel_logs_limit limit; /* BEYOND: they stay as they are, and the device reads puts from no or some of them */
} keel_logs_plan_t;

keel_logs_plan_t keel_logs_plan(const keel_logs_room_t *room);

#endif
