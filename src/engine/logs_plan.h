/* Size of the logs of a process by default (KEEL_OPLOG_SIZE=auto). */
#ifndef KEEL_ENGINE_LOGS_PLAN_H_
#define KEEL_ENGINE_LOGS_PLAN_H_

#include <stddef.h>
#include <stdint.h>

#define KEEL_LOGS_LEAST ((size_t)64 << 20) /* least size, for a node with little memory */
/* segment of such logs: holds the longest record of any rank */
#define KEEL_LOGS_SEGMENT (64u << 10)

typedef struct keel_logs_room {
    size_t usual;    /* bytes if nothing limits them */
    size_t share;    /* bytes of node memory available to the process */
    int is_lazy;     /* untouched memory costs nothing */
    size_t lendable; /* bytes that the network device can use at a time; SIZE_MAX: any */
    uint32_t ranks;
} keel_logs_room_t;

/* Effect of the device's limit on the logs. */
enum keel_logs_limit { KEEL_LOGS_UNLIMITED, KEEL_LOGS_SHRUNK, KEEL_LOGS_BEYOND };

typedef struct keel_logs_plan {
    size_t bytes, most; /* initial size, and size beside large images */
    /* BEYOND: the logs keep their size, and the device reads puts from a part of them or none */
    enum keel_logs_limit limit;
} keel_logs_plan_t;

keel_logs_plan_t keel_logs_plan(const keel_logs_room_t *room);

#endif
