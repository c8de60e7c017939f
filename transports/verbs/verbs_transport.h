/* Object of the transport, shared by its files only. */
#ifndef KEEL_VERBS_TRANSPORT_H_
#define KEEL_VERBS_TRANSPORT_H_

#include "verbs_lent.h"
#include "verbs_link.h"
#include "verbs_reads.h"
#include "verbs_socket.h"

#include "service/service_silence.h"
#include "service/service_loop.h"
#include "shm/shm_wait.h"

typedef struct keel_verbs keel_verbs_t;
typedef struct keel_verbs_peer keel_verbs_peer_t;

/* a connected incarnation, owned by the thread inside Keel */
struct keel_verbs_peer {
    keel_verbs_address_t address;
    uint32_t rank;
    unsigned lanes;
    keel_shm_card_t *card;   /* mapped card, with KEEL_LANE_PTR; else NULL */
    keel_verbs_link_t *link; /* NULL: not connected yet */
    keel_verbs_talk_t *talk; /* greeting, while connecting */
    unsigned host;           /* index of the address in use while connecting */
    uint64_t dialled_ns;     /* time since that address is in use */
    ucs_list_link_t dialling;
    int is_suspect; /* the link is broken and on_suspect() has yet to be called */
};

/* A connecting process without an answer to its greeting. The answer may wait for the
 * disconnection of its earlier incarnation. */
typedef struct keel_verbs_guest {
    ucs_list_link_t link;
    keel_verbs_talk_t talk;
} keel_verbs_guest_t;

/* Receives requests and sends replies on its own thread. Only that thread uses the fields,
 * except for the atomics and the fields guarded by gate. */
typedef struct keel_verbs_service {
    keel_verbs_port_t port;
    keel_service_loop_t loop;
    int listener;
    uint16_t listens_at;
    /* Guards links; taken before posts. A queue pair to a rank is created, and searched for its
     * destruction, inside the gate. */
    pthread_mutex_t gate;
    pthread_mutex_t posts; /* lock of the port */
    keel_verbs_link_t **links;
    ucs_list_link_t guests;
    atomic_uint changes; /* incremented when current[] or dead[] has changed */
    unsigned changes_seen;
    unsigned unchecked;           /* calls of progress() since the last check of sockets */
    keel_service_message_t *room; /* message with room for the data of the next reply, or NULL */
} keel_verbs_service_t;

struct keel_verbs {
    keel_transport_t super;
    keel_transport_params_t params;
    keel_shm_t shm;
    keel_verbs_device_t device;
    keel_verbs_address_t address;
    int has_others; /* some rank shares no memory with the own rank */
    /* memory is reserved for the own link and for the results of its requests */
    int keeps_own_link;
    int is_no_atomic_reported;
    int is_refusal_reported; /* the refusal of a window's registration was reported */
    keel_verbs_loans_t loans;
    keel_verbs_reads_t reads;
    uint64_t fences;
    uint32_t refused; /* count of greetings and messages from outside the job */

    keel_verbs_port_t main;
    keel_shm_wait_t wait;
    keel_verbs_peer_t **peers;
    ucs_list_link_t dialling; /* peers being connected */
    unsigned suspects;
    uint64_t lost_ns; /* time of the last report that the device is lost; 0: the device works */
    unsigned unchecked;
    keel_service_silence_t silence;

    /* communication between the two threads */
    /* for each rank the connected instance, and the instance disconnected last */
    _Atomic(uint64_t) *current, *dead;
    keel_verbs_service_t service;
};

static inline keel_verbs_t *keel_verbs_of(keel_transport_t *transport)
{
    return (keel_verbs_t *)transport;
}

#endif
