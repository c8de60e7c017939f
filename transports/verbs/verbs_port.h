/*
 * A port is the links of one thread: their completions in one queue, what wakes the thread, and the pools of their messages.
 *
 * Links are known to their requests by a number that is not used again soon: a device may keep completions of a queue pair that
 * is gone.
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
    unsigned places; /* in the completion queue, of links that there are */
    int sockets;     /* an epoll file: what of them wants attention */
    /* held while something is posted or a queue pair destroyed, where another thread may destroy; NULL: one thread alone does */
    pthread_mutex_t *lock;
    keel_service_pools_t pools;
    keel_service_wire_t wire;  /* version, rank and instance of this process */
    keel_service_lane_t lane;  /* that its links send on */
    uint32_t *refused;         /* messages and greetings that no process of the job has made; of all ports */
    keel_verbs_link_t **links; /* by the lower bits of their number */
    unsigned size, count, next;
    ucs_list_link_t unposted; /* links with operations that are not posted yet */
    ucs_list_link_t waiters_free;
    struct ibv_wc seen[KEEL_VERBS_POLL];
    unsigned seen_count, seen_next; /* completions that were taken and not handled */
    void (*on_message)(void *arg, keel_verbs_link_t *link, const keel_service_wire_t *wire, const void *header,
                       const void *data, size_t data_len);
    void (*on_broken)(void *arg, keel_verbs_link_t *link); /* once a link, from progress */
    void *arg;
    uint64_t posts, completions, puts, put_bytes, records, atomics; /* for who wants to know */
} keel_verbs_port_t;

/* small, large: bytes of data a message of the two pools can hold; large 0: no such pool */
keel_status_t keel_verbs_port_open(keel_verbs_port_t *port, const keel_verbs_device_t *device,
                                   const keel_transport_params_t *params, size_t small, size_t large);
void keel_verbs_port_close(keel_verbs_port_t *port); /* frees its links, too */
/* what is chained is posted, but for gets that were added since the call before: if no more are, by the next one */
unsigned keel_verbs_port_progress(keel_verbs_port_t *port);
void keel_verbs_port_post(keel_verbs_port_t *port); /* all that is chained: somebody waits for it */
/* until something completes, a socket wants attention or the bell is rung. NULL: for as long as that takes */
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

/* numbers the link, and makes room for @a places completions at a time. KEEL_ERR_NO_MEMORY, KEEL_ERR_TRANSPORT */
keel_status_t keel_verbs_port_add(keel_verbs_port_t *port, keel_verbs_link_t *link, unsigned places);
void keel_verbs_port_remove(keel_verbs_port_t *port, keel_verbs_link_t *link, unsigned places);

#endif
