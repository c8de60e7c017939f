/* The device of this process: which one, which port and address of it, and what it can. */
#ifndef KEEL_VERBS_DEVICE_H_
#define KEEL_VERBS_DEVICE_H_

#include "transport.h"

#include <infiniband/verbs.h>

typedef struct keel_verbs_device {
    struct ibv_context *context;
    struct ibv_pd *pd;
    char name[80]; /* DEVICE:PORT */
    union ibv_gid gid;
    int gid_index;
    int is_ethernet; /* the global address is needed, and is all that is */
    uint8_t port;
    uint16_t lid;
    enum ibv_mtu mtu;
    unsigned reads_out, reads_in; /* that may be under way at a time from one end, and towards it */
    unsigned requests_max;        /* of one queue */
    int has_atomics;
    /* bytes of memory that this process may lock, SIZE_MAX: any; of these kept for connections; of the others, in use by the thread
     * inside Keel */
    size_t lockable, kept, locked;
    int is_lost; /* it has announced that it does nothing any more; by one thread, and read by others */
} keel_verbs_device_t;

/* KEEL_ERR_TRANSPORT, said: there is none, it cannot be used, or its port is down */
keel_status_t keel_verbs_device_open(keel_verbs_device_t *device, const keel_transport_params_t *params);
void keel_verbs_device_close(keel_verbs_device_t *device);
/* takes what the device has announced, which its file (context->async_fd) tells of, and says it: sets is_lost. One thread */
void keel_verbs_device_listen(keel_verbs_device_t *device, const keel_transport_params_t *params);
static inline int keel_verbs_device_is_lost(const keel_verbs_device_t *device)
{
    return __atomic_load_n(&device->is_lost, __ATOMIC_ACQUIRE);
}
/* it is of no use any more, whatever it says */
static inline void keel_verbs_device_lose(keel_verbs_device_t *device)
{
    __atomic_store_n(&device->is_lost, 1, __ATOMIC_RELEASE);
}
/* how many of these bytes are left beside what is kept; SIZE_MAX: any */
size_t keel_verbs_room(const keel_verbs_device_t *device);
/* registers memory of this process if what is kept for connections stays; NULL, with errno, when it cannot be. The thread inside Keel */
struct ibv_mr *keel_verbs_lock(keel_verbs_device_t *device, void *base, size_t bytes, int access);
void keel_verbs_unlock(keel_verbs_device_t *device, struct ibv_mr *mr);
/* registers memory that others may write and read if @a is_remote; NULL, said, when it cannot be */
struct ibv_mr *keel_verbs_register(const keel_verbs_device_t *device, const keel_transport_params_t *params, void *base,
                                   size_t bytes, int is_remote);

#endif
