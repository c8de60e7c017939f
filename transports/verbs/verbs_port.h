/*
 * A port is the set of links of one thread: their completions in one queue, the files that wake the
 * thread, and their pools of messages.
 *
 * Requests name their link by a number that is not reused soon: a device may keep completions of a
 * destroyed queue pair.
 */
#ifndef KEEL_VERBS_PORT_H_
#define KEEL_VERBS_PORT_H_

#include "verbs_device.h"

#include "service/service_seal.h"

#include <pthread.h>

enum { KEEL_VERBS_POLL = 16 };

typedef struct keel_verbs_link keel_verbs_link_t;

typedef struct keel_verbs_port {
    const keel_verbs_device_t *device;
    const keel_transport_params_t *params;
    struct ibv_comp_channel *channel;
    struct ibv_cq *cq;
    unsigned places; /* entries of the completion queue needed by the existing links */
    int sockets;     /* epoll file of the sockets */
    /* Held while something is posted or a queue pair destroyed, if another thread may destroy.
     * NULL: only one thread does. */
    pthread_mutex_t *lock;
    keel_service_pools_t pools;
    keel_service_wire_t wire; /* version, rank and instance of this process */
    keel_service_lane_t lane; /* lane on which its links send */
    /* count of messages and greetings from outside the job; shared by all ports */
    uint32_t *refused;
    keel_verbs_link_t **links; /* by the lower bits of their number */
    unsigned size, count, next;
    ucs_list_link_t unposted; /* links with requests not posted yet */
    ucs_list_link_t waiters_free;
    struct ibv_wc seen[KEEL_VERBS_POLL];
    unsigned seen_count, seen_next; /* completions taken and not handled yet */
    void (*on_message)(void *arg, keel_verbs_link_t *link, const keel_service_wire_t *wire, const void *header,
                       const void *data, size_t data_len);
    /* called from progress, once for each link */
    void (*on_broken)(void *arg, keel_verbs_link_t *link);
    void *arg;
    uint64_t posts, completions, puts, put_bytes, records, atomics; /* statistics */
} keel_verbs_port_t;

/* small, large: bytes of data that messages of the two pools can hold; large 0: no such pool */
keel_status_t keel_verbs_port_open(keel_verbs_port_t *port, const keel_verbs_device_t *device,
                                   const keel_transport_params_t *params, size_t small, size_t large);
void keel_verbs_port_close(keel_verbs_port_t *port); /* frees the links, too */
/* Posts chains. A chain of gets that has grown since the previous call waits for the next call. */
unsigned keel_verbs_port_progress(keel_verbs_port_t *port);
void keel_verbs_port_post(keel_verbs_port_t *port); /* posts all chains: a caller waits */
/* Sleeps until a completion, a socket event or the bell. NULL: no limit. */
void keel_verbs_port_sleep(keel_verbs_port_t *port, int bell, const struct timespec *timeout);

/* ---- for links ---- */
static inline void keel_verbs_port_lock(const keel_verbs_port_t *port)
{
    if (port->lock != NULL) {
        pthread_mutex_lock(port->lock);
    }
}

static inline void keel_verbs_port_unlock(const keel_verbs_port_t *port)
{
    if (port->lock != NULL) {
        pthread_mutex_unlock(port->lock);
    }
}

/* Numbers the link, and makes room for @a places simultaneous completions. KEEL_ERR_NO_MEMORY,
 * KEEL_ERR_TRANSPORT. */
keel_status_t keel_verbs_port_add(keel_verbs_port_t *port, keel_verbs_link_t *link, unsigned places);
void keel_verbs_port_remove(keel_verbs_port_t *port, keel_verbs_link_t *link, unsigned places);

#endif
