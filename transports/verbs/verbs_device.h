/* The device of this process, with port, address and capabilities. */
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
    int is_ethernet; /* packets need the global address, and nothing else */
    uint8_t port;
    uint16_t lid;
    enum ibv_mtu mtu;
    unsigned reads_out, reads_in; /* maximum reads in flight from an end, and towards it */
    int has_atomics;
    /* lockable: bytes of memory that this process may lock, SIZE_MAX: no limit; kept: reserved
     * for connections; locked: used by the thread inside Keel */
    size_t lockable, kept, locked;
    int is_lost; /* the device has announced its failure; set by one thread, read by others */
} keel_verbs_device_t;

/* KEEL_ERR_TRANSPORT with a message: no device, the device is unusable, or its port is down */
keel_status_t keel_verbs_device_open(keel_verbs_device_t *device, const keel_transport_params_t *params);
void keel_verbs_device_close(keel_verbs_device_t *device);
/* Handles the announcements of the device, signalled by context->async_fd, and reports a
 * failure: sets is_lost. One thread. */
void keel_verbs_device_take_events(keel_verbs_device_t *device, const keel_transport_params_t *params);
static inline int keel_verbs_device_is_lost(const keel_verbs_device_t *device)
{
    return __atomic_load_n(&device->is_lost, __ATOMIC_ACQUIRE);
}
/* declares the device useless */
static inline void keel_verbs_device_mark_lost(keel_verbs_device_t *device)
{
    __atomic_store_n(&device->is_lost, 1, __ATOMIC_RELEASE);
}
/* lockable bytes left beside kept and locked; SIZE_MAX: no limit */
size_t keel_verbs_room(const keel_verbs_device_t *device);
/* Registers memory of this process if kept stays available; otherwise NULL, with errno. Only the
 * thread inside Keel. */
struct ibv_mr *keel_verbs_lock(keel_verbs_device_t *device, void *base, size_t bytes, int access);
void keel_verbs_unlock(keel_verbs_device_t *device, struct ibv_mr *mr);
/* registers memory, for remote writes and reads if @a is_remote; NULL with a message on failure */
struct ibv_mr *keel_verbs_register(const keel_verbs_device_t *device, const keel_transport_params_t *params, void *base,
                                   size_t bytes, int is_remote);

#endif
