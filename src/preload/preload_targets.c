/* Endpoints and targets. One lock protects all; only rare calls take the lock. */
#include "preload/preload_targets.h"

#include "base/memory.h"

#include <pthread.h>

#define BUCKETS 1024u

typedef struct endpoint {
    struct endpoint *next;
    const void *handle;
    preload_target_t *target;
} endpoint_t;

typedef struct own {
    struct own *next;
    uint64_t uid;
} own_t;

uint64_t preload_targets_version;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static endpoint_t *endpoints[BUCKETS];     /* by handle */
static preload_target_t *targets[BUCKETS]; /* by uid */
static uint32_t target_count;
static preload_worker_t *workers;
static own_t *owns;

static endpoint_t **bucket_of(const void *ep)
{
    return &endpoints[((uintptr_t)ep >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 54];
}

static endpoint_t *endpoint_find(const void *ep)
{
    endpoint_t *endpoint = *bucket_of(ep);

    while (endpoint != NULL && endpoint->handle != ep) {
        endpoint = endpoint->next;
    }
    return endpoint;
}

static preload_worker_t *worker_find(const void *handle)
{
    preload_worker_t *worker = workers;

    while (worker != NULL && worker->handle != handle) {
        worker = worker->next;
    }
    if (worker == NULL && (worker = keel_alloc(sizeof(*worker), "worker")) != NULL) {
        worker->handle = handle;
        worker->next = workers;
        workers = worker;
    }
    return worker;
}

/* A known uid is one target for each local worker; each call with uid 0 is another target. */
static preload_target_t *target_find(preload_worker_t *worker, uint64_t uid)
{
    preload_target_t **bucket = &targets[uid % BUCKETS], *target = *bucket;

    while (target != NULL && (uid == 0 || target->uid != uid || target->worker != worker)) {
        target = target->next;
    }
    if (target == NULL && (target = keel_alloc(sizeof(*target), "target")) != NULL) {
        target->worker = worker;
        target->uid = uid;
        target->index = target_count++;
        target->next = *bucket;
        *bucket = target;
    }
    return target;
}

/* the lock is held */
static endpoint_t *endpoint_set(const void *ep, preload_worker_t *worker, uint64_t uid)
{
    endpoint_t *endpoint = endpoint_find(ep), **bucket = bucket_of(ep);
    preload_target_t *target = target_find(worker, uid);

    if (target == NULL) {
        return NULL;
    }
    if (endpoint == NULL) {
        endpoint = keel_alloc(sizeof(*endpoint), "endpoint");
        if (endpoint == NULL) {
            return NULL;
        }
        endpoint->handle = ep;
        endpoint->next = *bucket;
        *bucket = endpoint;
    } else if (endpoint->target != target) {
        __atomic_fetch_add(&preload_targets_version, 1, __ATOMIC_RELEASE);
    }
    endpoint->target = target;
    return endpoint;
}

void preload_targets_add(const void *ep, const void *worker, uint64_t uid)
{
    pthread_mutex_lock(&lock);
    (void)endpoint_set(ep, worker_find(worker), uid);
    pthread_mutex_unlock(&lock);
}

preload_target_t *preload_targets_find(const void *ep)
{
    endpoint_t *endpoint;

    pthread_mutex_lock(&lock);
    endpoint = endpoint_find(ep);
    if (endpoint == NULL) {
        endpoint = endpoint_set(ep, NULL, 0);
    }
    pthread_mutex_unlock(&lock);
    return endpoint != NULL ? endpoint->target : NULL;
}

uint32_t preload_targets_count(void)
{
    uint32_t count;

    pthread_mutex_lock(&lock);
    count = target_count;
    pthread_mutex_unlock(&lock);
    return count;
}

preload_worker_t *preload_targets_worker(const void *handle)
{
    preload_worker_t *worker;

    pthread_mutex_lock(&lock);
    worker = worker_find(handle);
    pthread_mutex_unlock(&lock);
    return worker;
}

void preload_targets_own(uint64_t uid)
{
    own_t *own;

    pthread_mutex_lock(&lock);
    for (own = owns; own != NULL && own->uid != uid; own = own->next) {
    }
    if (own == NULL && (own = keel_alloc(sizeof(*own), "uid")) != NULL) {
        own->uid = uid;
        own->next = owns;
        owns = own;
    }
    pthread_mutex_unlock(&lock);
}

void preload_targets_each_own(void (*visit)(void *arg, uint64_t uid), void *arg)
{
    pthread_mutex_lock(&lock);
    for (own_t *own = owns; own != NULL; own = own->next) {
        visit(arg, own->uid);
    }
    pthread_mutex_unlock(&lock);
}

void preload_targets_lock(void)
{
    pthread_mutex_lock(&lock);
}

void preload_targets_unlock(void)
{
    pthread_mutex_unlock(&lock);
}
