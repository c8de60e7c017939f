/*
 * Endpoints of this process, and the processes at their remote ends. A target is a remote UCP
 * worker as seen from a local worker; several endpoints may lead to a target. Targets and workers
 * are never freed. Every call may come from any thread.
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
/* Finds the target of an endpoint. An unknown endpoint gets a target without worker and uid. NULL:
 * no memory. */
preload_target_t *preload_targets_find(const void *ep);
/* number of targets so far */
uint32_t preload_targets_count(void);
/* Finds or adds the worker with this handle. NULL: no memory. */
preload_worker_t *preload_targets_worker(const void *handle);

/* Adds the uid of a local worker. */
void preload_targets_own(uint64_t uid);
/* Calls visit for each uid of this process. */
void preload_targets_each_own(void (*visit)(void *arg, uint64_t uid), void *arg);

/* Called around fork(), so that the child's copy is consistent. */
void preload_targets_lock(void);
void preload_targets_unlock(void);

/* A count that changes with each flush of the target. */
static inline uint64_t preload_target_flushes(const preload_target_t *target)
{
    uint64_t flushes = __atomic_load_n(&target->flushes, __ATOMIC_RELAXED);

    if (target->worker != NULL) {
        flushes += __atomic_load_n(&target->worker->flushes, __ATOMIC_RELAXED);
    }
    return flushes;
}

#endif
