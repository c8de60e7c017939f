/*
 * Endpoints, and the processes at their other ends, of this process. A target is a remote UCP
 * worker as seen from a local one; several endpoints may lead to it. Targets and workers are never
 * freed. Every call may come from any thread.
 */
#ifndef KEEL_PRELOAD_TARGETS_H_
#define KEEL_PRELOAD_TARGETS_H_

#include <stddef.h>
#include <stdint.h>

typedef struct preload_worker {
    struct preload_worker *next;
    const void *handle;
    uint64_t flushes; /* number of flushes and fences; atomic */
} preload_worker_t;

typedef struct preload_target {
    struct preload_target *next;
    preload_worker_t *worker; /* local; NULL: unknown */
    uint64_t uid;             /* of the remote worker; 0: unknown */
    uint32_t index;           /* 0, 1, ... */
    uint64_t flushes;         /* of endpoints to this target; atomic */
} preload_target_t;

/* Number of times that an endpoint's handle got another target. Threads that cache the targets of
 * handles look again if it has changed. */
extern uint64_t preload_targets_version;

/* An endpoint was created. Without memory the endpoint stays unknown. */
void preload_targets_add(const void *ep, const void *worker, uint64_t uid);
/* The target of an endpoint. An unknown endpoint gets a target with unknown ends. NULL without
 * memory. */
preload_target_t *preload_targets_find(const void *ep);
/* number of targets so far */
uint32_t preload_targets_count(void);
/* the worker with that handle; NULL without memory */
preload_worker_t *preload_targets_worker(const void *handle);

/* An address of a local worker has that uid. */
void preload_targets_own(uint64_t uid);
/* Calls visit for each uid of this process. */
void preload_targets_each_own(void (*visit)(void *arg, uint64_t uid), void *arg);

/* around fork(): no other thread is inside; in the child everything is as in the parent */
void preload_targets_lock(void);
void preload_targets_unlock(void);

/* changes since the last access of a target */
static inline uint64_t preload_target_flushes(const preload_target_t *target)
{
    uint64_t flushes = __atomic_load_n(&target->flushes, __ATOMIC_RELAXED);

    if (target->worker != NULL) {
        flushes += __atomic_load_n(&target->worker->flushes, __ATOMIC_RELAXED);
    }
    return flushes;
}

#endif
