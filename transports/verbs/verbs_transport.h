/* The transport's object, shared by its files and known to nobody else. */
#ifndef KEEL_VERBS_TRANSPORT_H_
#define KEEL_VERBS_TRANSPORT_H_

#include "verbs_lent.h"
#include "verbs_link.h"
#include "verbs_reads.h"
#include "verbs_socket.h"

#include "service/service_alone.h"
#include "service/service_loop.h"
#include "shm/shm_wait.h"

typedef struct keel_verbs keel_verbs_t;
typedef struct keel_verbs_peer keel_verbs_peer_t;

/* a connected incarnation, as the thread inside Keel sees it */
struct keel_verbs_peer {
    keel_verbs_address_t address;
    uint32_t rank;
    unsigned lanes;
    keel_shm_card_t *card;   /* mapped here, with KEEL_LANE_PTR; else NULL */
    keel_verbs_link_t *link; /* NULL: nothing was sent yet */
    keel_verbs_talk_t *talk; /* while it is being connected, */
    unsigned host;           /* by this one of its addresses, */
    uint64_t dialled_ns;     /* since then */
    ucs_list_link_t dialling;
    int is_suspect; /* its link broke and on_suspect() is still to be called */
};

/* who has connected, and waits for its greeting's answer: that may wait until its earlier incarnation has been disconnected */
typedef struct keel_verbs_guest {
    ucs_list_link_t link;
    keel_verbs_talk_t talk;
} keel_verbs_guest_t;

/* Takes requests and sends replies, on its own thread; that thread alone touches it but for the atomics and what gate guards. */
typedef struct keel_verbs_service {
    keel_verbs_port_t port;
    keel_service_loop_t loop;
    int listener;
    uint16_t listens_at;
    /* which links there are; taken before posts. A queue pair to a rank is made, and looked for to be destroyed, inside */
    pthread_mutex_t gate;
    pthread_mutex_t posts; /* the port's lock */
    keel_verbs_link_t **links;
    ucs_list_link_t guests;
    atomic_uint changes; /* +1 when current[] or dead[] changed */
    unsigned changes_seen;
    unsigned looks;               /* progress() without a look at sockets */
    keel_service_message_t *room; /* given for the data of the next reply, or NULL */
} keel_verbs_service_t;

struct keel_verbs {
    keel_transport_t super;
    keel_transport_params_t params;
    keel_shm_t shm;
    keel_verbs_device_t device;
    keel_verbs_address_t address;
    int has_others;     /* ranks that do not share memory with this one */
    int keeps_own_link; /* memory for it and for what it brings */
    int is_no_atomic_said;
    int is_refusal_said; /* that a window cannot be reached by the device */
    keel_verbs_loans_t loans;
    keel_verbs_reads_t reads;
    uint64_t fences;
    uint32_t refused; /* greetings and messages that no process of the job has made */

    keel_verbs_port_t main;
    keel_shm_wait_t wait;
    keel_verbs_peer_t **peers;
    ucs_list_link_t dialling; /* peers that are being connected */
    unsigned suspects;
    uint64_t lost_ns; /* when others were last told that the device is lost; 0: it is not */
    unsigned looks;
    keel_service_alone_t alone;

    /* what the two threads tell each other */
    _Atomic(uint64_t) *current, *dead; /* instance of each rank that is connected; that was disconnected last */
    keel_verbs_service_t service;
};

static inline keel_verbs_t *keel_verbs_of(keel_transport_t *transport)
{
    return (keel_verbs_t *)transport;
}

#endif
