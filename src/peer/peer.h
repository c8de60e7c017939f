/*
 * The peers of a process and the ways to reach them: incarnations, regions, one-sided access over
 * the direct or the served lane, control messages. This room knows no protocol above it; recovery
 * decides the consequences of a death.
 *
 * A region is memory that peers may reach, named by a number: internal regions first, then windows.
 * The owner sends the key of a region to every peer when the region is made, and again to every
 * replacement, first in first out with all other messages. So a region is open at the target before
 * an access names it. Only the parity group gets the keys of images and shares of parity.
 */
#ifndef KEEL_PEER_PEER_H_
#define KEEL_PEER_PEER_H_

#include "base/config.h"
#include "base/message.h"
#include "base/rank_set.h"
#include "check/plant.h"
#include "peer/board.h"
#include "peer/piggyback.h"
#include "peer/lockword.h"
#include "peer/usage.h"
#include "wire/digest.h"
#include "wire/wire.h"
#include "wire/record.h"
#include "runtime_ops.h"
#include "transport.h"

#include <pthread.h>
#include <ucs/datastruct/list.h>

enum {
    KEEL_REGION_BOARD = 0,    /* arrival words and marks, one slot a source (peer/board.h) */
    KEEL_REGION_GETLOG = 1,   /* LG: records of the gets that peers did here */
    KEEL_REGION_IMAGE0 = 2,   /* image slots 2 to 5; the last two hold demand checkpoints */
    KEEL_REGION_PARITY0 = 6,  /* parity slots 6 to 9; the last two belong to demand checkpoints */
    KEEL_REGION_LOCKS = 10,   /* peer/lockword.h */
    KEEL_REGION_WINDOW0 = 12, /* windows: 12 + window id */
    KEEL_REGION_LAST = 4096   /* the number of regions that a record can name */
};

_Static_assert(KEEL_LOCK_WINDOWS == KEEL_REGION_LAST - KEEL_REGION_WINDOW0, "a lock each");

/* A process inside Keel polls at least this often in KEEL_HEARTBEAT_TIMEOUT to see which peers
 * answer (recovery/detect). */
#define KEEL_LOOKS_A_TIMEOUT 64

/* slots 0 and 1, of images and of parity: coordinated checkpoints */
#define KEEL_SLOTS_COORDINATED 2u
#define KEEL_SLOTS             4u /* slots of both kinds; 2 and 3 belong to demand checkpoints */

typedef void (*keel_lane_done_cb_t)(void *arg, keel_status_t status);

/* Effect of an access towards a peer at present; recovery/position sets the mode. */
typedef enum {
    KEEL_PEER_LIVE, /* the access is done */
    /* the peer is dead or recovers behind this process: puts are only logged, gets wait */
    KEEL_PEER_BEHIND,
    /* this process re-executes behind the peer: puts are only logged, gets come from records */
    KEEL_PEER_AHEAD
} keel_peer_mode_t;

typedef struct keel_region {
    uint64_t base;             /* address at the owner */
    size_t size;               /* bytes; kept when the owner dies */
    keel_transport_key_t *key; /* open on the direct lane */
    void *ptr;                 /* address of the mapping here, or NULL */
    int is_known;
    /* the program gave the memory: the owner's service thread does all accesses, by messages */
    int is_served;
    uint8_t is_device_wanted; /* the owner asks for a device to do the atomics */
    /* a device does the atomics; kept from the last process of the rank */
    uint8_t is_by_device;
    uint32_t incarnation; /* of the process that announced the region */
    /* the program holds the address of the mapping and may touch the memory at any time */
    int is_lent;
    /* key of a lent region after the death of its owner: stays mapped until the successor's
     * mapping replaces it */
    keel_transport_key_t *kept;
} keel_region_t;

typedef struct keel_control_in keel_control_in_t;

/* Takes a control message of one type; @a arg as registered (peer/control.h). */
typedef void (*keel_control_handler_t)(void *arg, const keel_control_in_t *in);
/* Looks at a control message before its handler; 0: the message is dropped. */
typedef int (*keel_control_filter_t)(void *arg, const keel_control_in_t *in);

typedef struct keel_peer {
    uint32_t rank;
    /* of the connected process, or of the awaited one; KEEL_INCARNATION_GONE: none will come */
    uint32_t incarnation;
    uint32_t lives; /* of a gone rank: number of its processes */
    uint8_t is_up;  /* connected to this incarnation */
    /* the transport lost the connection: no request is acknowledged any more */
    uint8_t is_broken;
    /* the last process that died was reached by this process's own stores */
    uint8_t was_stored;
    uint8_t was_up;         /* some incarnation of the rank was connected */
    uint8_t mode;           /* keel_peer_mode_t */
    unsigned lanes;         /* keel_lane_caps of the connection */
    keel_region_t *regions; /* table of lane->regions_room entries */
    /* served lane: this process as source */
    uint64_t sent, acked;     /* sequence numbers of requests */
    uint8_t says_more;        /* the last request carries MORE: a further request has to follow */
    ucs_list_link_t reads;    /* keel_read_t, in the order of sending */
    ucs_list_link_t controls; /* keel_control_out_t, until acknowledged */
    /* one-sided puts (peer/remote_put) */
    ucs_list_link_t putting;    /* in lane->putting while puts are incomplete */
    uint64_t put, put_done;     /* puts issued, and puts that have taken effect at the peer */
    uint64_t put_flushing;      /* puts that the flush under way covers */
    uint8_t is_put_flushing;    /* a flush is under way */
    uint8_t is_put_unannounced; /* no record was sent since the last put */
    uint32_t put_phase;         /* 1 + the phase of the last put; 0: none */
    /* gets by one-sided operations (peer/issue, oplog/get_remote) */
    uint32_t getting;           /* gets under way */
    uint64_t recorded;          /* the last request that the peer's service side records */
    keel_piggybacked_t carried; /* newest value of this rank piggybacked by other service sides */
    uint32_t found;             /* classes that the peer uses, as seen with fetched values */
    /* 1 + the last phase in which a reply of the peer could not piggyback all pending values; 0:
     * none */
    uint32_t missing;
    /* place granted by the last reply for records of this process: keel_wire_body_t.reply */
    uint32_t room_chunk, room_used;
    /* served lane: this process as target; under lane->lock */
    uint32_t accepted; /* incarnation with accepted messages, if is_accepted */
    uint8_t is_accepted;
    /* sequence numbers: last request applied, last one acknowledged by a reply or an ACK */
    uint64_t applied, acknowledged;
    uint8_t is_followed; /* the last request carried MORE */
    uint64_t done;       /* phase << 32 | records of the peer applied here, from any incarnation */
    /* digest of the records that came over this lane without a gap from the first of the phase
     * on */
    keel_digest_t digest;
    uint32_t answered; /* serial of the peer's last fetch that has its reply */
    /* 1 + the last phase of which an atomic was applied here; read without the lock */
    uint32_t atomics;
    /* received part of a segmented control message; NULL: none is incomplete */
    keel_control_in_t *partial;
    size_t partial_length; /* bytes received of it */
} keel_peer_t;

typedef struct keel_own_region {
    void *base;
    size_t size;
    keel_transport_mem_t *mem; /* NULL: the transport does not own the memory, or there is none */
    /* key by which this process does its own atomics there; NULL: by its CPU */
    keel_transport_key_t *key;
    /* the region has no memory any more; its size is still announced to replacements */
    uint8_t is_retired;
    uint8_t is_device_wanted; /* a device is to do the atomics, if there is one */
} keel_own_region_t;

struct keel_control_in {
    ucs_list_link_t list;
    uint32_t source, incarnation;
    keel_control_type_t type;
    size_t length;
    uint8_t payload[];
};

typedef struct keel_lane_params {
    keel_message_t *message;
    const keel_config_t *config;
    const keel_transport_ops_t *ops;
    void *driver_arg;
    keel_runtime_t *runtime;
    /* Service side, under the lock, before the reply: a logged get or fetched value. Returns the
     * place for its data, or NULL for none. on_served_got() publishes the record once the data
     * is there. */
    void *(*on_served_get)(void *arg, uint32_t source, const keel_get_record_t *record);
    void (*on_served_got)(void *arg, const keel_get_record_t *record);
    /* Service side: the place where the source may continue writing records: 1 + index of the
     * chunk in the high half, bytes of records in the low half; 0: nowhere. */
    uint64_t (*on_served_room)(void *arg, uint32_t source);
    /* Service side, under the lock: a REFILL message. It is handled here instead of in the inbox
     * so that it precedes the gets sent after it and survives the death of its sender. */
    void (*on_served_refill)(void *arg, uint32_t source, const void *data, size_t length);
    void *arg;
    /* any thread sets it to 1 when the thread inside Keel has to make progress; NULL: unused */
    uint8_t *news;
    keel_counters_t counters; /* initial values */
    /* from keel_lane_prepare(), or NULL; the lane owns it from keel_lane_init() on */
    keel_transport_t *prepared;
} keel_lane_params_t;

typedef struct keel_lane {
    keel_message_t *message;
    const keel_config_t *config;
    const keel_transport_ops_t *ops;
    keel_transport_t *transport;
    keel_runtime_t *runtime;
    uint32_t rank, size, incarnation;
    uint32_t leader;   /* rank of the program that decides and gives orders (peer/members.h) */
    uint32_t programs; /* ranks that run the program; the ranks from here on hold parity */
    /* crc of the settings that all processes must share; a difference is a failure */
    uint32_t agreement;
    /* ranks of the parity group: images and shares of parity are announced to these alone */
    const uint32_t *group;
    uint32_t group_size; /* 0: no parity */
    keel_peer_t *peers;
    uint32_t gone;       /* ranks that are gone (peer/members.h) */
    uint32_t broken;     /* peers that are up and is_broken */
    uint32_t not_live;   /* peers that are not gone, in another mode than KEEL_PEER_LIVE */
    uint32_t unanswered; /* peers with unacknowledged requests */
    uint32_t getting;    /* one-sided reads under way */
    /* grows with each change of a mode or mapping: values derived from them are outdated then */
    uint64_t changes;
    unsigned regions_room;    /* capacity of the tables of regions; grows (peer/region) */
    keel_own_region_t *own;   /* table of regions_room entries; moved only under the lock */
    keel_board_slot_t slot;   /* this process's own words, as last announced */
    keel_usage_t usage;       /* this process's own usage, as last announced */
    keel_board_slot_t *board; /* in own memory: one slot a source */
    void *(*on_served_get)(void *arg, uint32_t source, const keel_get_record_t *record);
    void (*on_served_got)(void *arg, const keel_get_record_t *record);
    uint64_t (*on_served_room)(void *arg, uint32_t source);
    void (*on_served_refill)(void *arg, uint32_t source, const void *data, size_t length);
    void *arg;
    uint8_t *news;
    void *reads_pool;
    ucs_list_link_t reads_free;
    ucs_list_link_t gets;    /* gets by one-sided operations under way (peer/issue) */
    ucs_list_link_t putting; /* peers with puts under way (peer/remote_put) */
    uint64_t next_read;

    /* between the thread inside Keel and the service thread; no other lock is taken under it */
    pthread_mutex_t lock;
    /* First phase with one-sided puts. Puts of earlier phases may repeat those of the
     * predecessor, so they go by message and the target skips duplicates. */
    uint32_t put_from;
    /* data with another rollback number is refused; written under the lock */
    uint32_t rollback;
    /* contains each peer with requests that no reply has acknowledged; under the lock */
    keel_rank_set_t unacknowledged;
    keel_piggyback_t *carrier; /* used by the service side */
    keel_fetches_t fetches;    /* this process's fetches from service sides */
    ucs_list_link_t inbox;
    int inbox_pending; /* read without the lock */
    struct {
        keel_control_handler_t handle; /* NULL: messages of the type are dropped */
        void *arg;
    } handlers[KEEL_CONTROL_LAST]; /* by type of control message */
    keel_control_filter_t filter;  /* NULL: all messages count */
    void *filter_arg;
    int awaits_records; /* the program waits for puts of others; never reset; any thread */
    /* keel_status_t: a failure that ends the job, until recovery takes it over; any thread */
    int failure;
    keel_counters_t counters; /* initial values */
    struct keel_trace *trace; /* events of this process; NULL: none are recorded */
} keel_lane_t;

/*
 * Does the slow part of the initialisation in a process without a rank, before keel_lane_init()
 * with the same parameters. Opens the transport if *transport_p is NULL. @a bytes: sizes of regions
 * that the runtime announces. Returns KEEL_INPROGRESS if another call is needed.
 */
keel_status_t keel_lane_prepare(keel_lane_t *lane, const keel_lane_params_t *params, const uint64_t *bytes,
                                unsigned count, keel_transport_t **transport_p);
keel_status_t keel_lane_init(keel_lane_t *lane, const keel_lane_params_t *params);
void keel_lane_release(keel_lane_t *lane);
keel_status_t keel_lane_address(keel_lane_t *lane, const void **address_p, size_t *length_p);
/* Connects to an incarnation and greets it: HELLO, then all regions that concern the peer. */
keel_status_t keel_lane_peer_up(keel_lane_t *lane, uint32_t rank, uint32_t incarnation, const void *address,
                                size_t length);
/* Notes that the peer answers although the transport reported a broken connection. */
void keel_lane_peer_answers(keel_lane_t *lane, uint32_t rank);
/* Cuts off a dead incarnation: reads under way end with KEEL_ERR_UNREACHABLE, and no later
 * message of that process is applied. @a next: the incarnation that is awaited. */
void keel_lane_peer_down(keel_lane_t *lane, uint32_t rank, uint32_t next);
/* No process of the dead rank will come: from now on it is no member, and never leads. */
void keel_lane_peer_gone(keel_lane_t *lane, uint32_t rank);
void keel_lane_set_mode(keel_lane_t *lane, uint32_t rank, keel_peer_mode_t mode);
/* Sets the crc of the settings that all processes must share; before the first peer is met. */
static inline void keel_lane_agree(keel_lane_t *lane, uint32_t agreement)
{
    lane->agreement = agreement;
}
/* Sets the parity group; before the first image is made. */
static inline void keel_lane_set_group(keel_lane_t *lane, const uint32_t *members, uint32_t size)
{
    lane->group = members;
    lane->group_size = size;
}
/* NULL: events are no longer recorded. */
static inline void keel_lane_set_trace(keel_lane_t *lane, struct keel_trace *trace)
{
    lane->trace = trace;
}
/* Marks all values derived from modes and mappings as outdated. */
static inline void keel_lane_change(keel_lane_t *lane)
{
    lane->changes++;
}
/* Own words for gsync @a number: the flags of the arrival, and the mark "image copied"
 * (peer/board.h). */
static inline void keel_lane_announce_flags(keel_lane_t *lane, uint32_t number, uint64_t flags)
{
    lane->slot.flags[number & 1] = flags;
}
static inline void keel_lane_announce_second(keel_lane_t *lane, uint32_t number)
{
    lane->slot.image_copied = keel_arrive(lane->rollback, lane->incarnation, number);
}
/* The gsync in @a word, which the present incarnation of the rank announced on the board by
 * keel_arrive(); 0: none yet. */
static inline uint32_t keel_lane_arrived(const keel_lane_t *lane, uint32_t rank, const uint64_t *word)
{
    return keel_arrive_number(__atomic_load_n(word, __ATOMIC_ACQUIRE), lane->rollback, lane->peers[rank].incarnation);
}
/* Own words about generations: the one of the parity share here, and the one in use
 * everywhere (KEEL_CKPT_FAILED). */
static inline void keel_lane_announce_parity(keel_lane_t *lane, uint64_t generation)
{
    lane->slot.parity_done = generation;
}
static inline void keel_lane_announce_committed(keel_lane_t *lane, uint32_t generation)
{
    lane->slot.committed = generation;
}
/* Own word: this process has a get without a record in @a phase. */
static inline void keel_lane_announce_lost_get(keel_lane_t *lane, uint32_t phase)
{
    lane->slot.lost_gets = (uint64_t)phase + 1;
}
static inline void keel_lane_announce_no_lost_gets(keel_lane_t *lane)
{
    lane->slot.lost_gets = 0;
}
/* Records a failure; the first one counts. The caller has reported the error already. */
/* Progresses the caller's own communication in each round of a wait (keel_params_t.progress). */
static inline int keel_lane_progress_caller(const keel_lane_t *lane)
{
    if (lane->config->progress == NULL) {
        return 0;
    }
    lane->config->progress(lane->config->progress_arg);
    return 1;
}

static inline void keel_lane_fail(keel_lane_t *lane, keel_status_t status)
{
    int none = KEEL_OK;

    (void)__atomic_compare_exchange_n(&lane->failure, &none, (int)status, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}
static inline keel_status_t keel_lane_failure(const keel_lane_t *lane)
{
    return (keel_status_t)__atomic_load_n(&lane->failure, __ATOMIC_ACQUIRE);
}

/* Served lane: an atomic record with its operands (contiguous, unchanged until acknowledged)
 * that returns the old value. */
typedef struct keel_fetch {
    /* a hand-over to a replacement: the pending record; NULL: the last fetch of this process */
    const keel_record_t *record;
    /* number: of the record within the phase; index: of the access among the gets */
    uint32_t phase, number, index;
    int is_logged;
    int is_unnumbered; /* an accumulate that is no numbered record */
    int is_clocked;    /* the reply is a keel_fetched_t */
} keel_fetch_t;

/*
 * Sends a lock request to the peer, or performs it on own or mapped memory. KEEL_OK: the result is
 * in *answer; KEEL_INPROGRESS: it follows. On the served lane the target logs a granted lock in its
 * get log in the same step. @a cb NULL: no reply is wanted.
 */
typedef struct keel_lock_request {
    keel_lock_ask_t ask;
    uint64_t number;       /* of TRY and TRY_READ: keel_reading() */
    uint32_t phase, index; /* index: of the record among the gets */
    int is_logged;
} keel_lock_request_t;

/* True if all requests and puts to the peer were applied, or the peer is down. */
static inline int keel_lane_is_flushed(const keel_lane_t *lane, uint32_t peer)
{
    const keel_peer_t *p = &lane->peers[peer];

    return p->acked == p->sent && (p->put_done == p->put || KEEL_PLANT(peer_put_unawaited)) && p->getting == 0;
}
/* Direct lane: wakes the peer if it sleeps in a wait, which then sees the stores before a full
 * fence. Costs a load and a branch if the peer does not sleep. */
static inline void keel_lane_ring(const keel_lane_t *lane, uint32_t peer)
{
    if (lane->peers[peer].lanes & KEEL_LANE_PTR) {
        lane->ops->ring(lane->transport, peer);
    }
}
/* Gives up the room that the peer granted for records of gets. */
static inline void keel_lane_leave_room(keel_lane_t *lane, uint32_t rank)
{
    lane->peers[rank].room_chunk = 0;
}
/* Accounts @a bytes of the granted room as used by records. */
static inline void keel_lane_use_room(keel_lane_t *lane, uint32_t rank, uint32_t bytes)
{
    lane->peers[rank].room_used += bytes;
}
unsigned keel_lane_progress(keel_lane_t *lane);

/* Notes that an atomic of @a source and @a phase was applied here; under the lane's lock. */
void keel_lane_note_atomics(keel_lane_t *lane, uint32_t source, uint32_t phase);

/* True if a request or put of this process is unanswered, so a network event will follow. */
static inline int keel_lane_is_answer_due(const keel_lane_t *lane)
{
    return lane->unanswered > 0 || lane->getting > 0 || lane->putting.next != &lane->putting;
}

static inline keel_lock_area_t *keel_lane_locks(keel_lane_t *lane)
{
    return (keel_lock_area_t *)lane->own[KEEL_REGION_LOCKS].base;
}
static inline keel_locker_t keel_lane_locker(const keel_lane_t *lane)
{
    return (keel_locker_t){.rank = lane->rank, .ranks = lane->size};
}

/* limits of a message with an entry for each rank: bytes of an entry, and of the head */
#define KEEL_CONTROL_RANK_MAX 128u
#define KEEL_CONTROL_HEAD_MAX 512u

/* Under the lock: accepts messages of this incarnation from its first on, and none of older
 * ones. No effect if the same or a newer incarnation is accepted already. */
void keel_lane_accept(keel_peer_t *peer, uint32_t incarnation);

/* Board word for the first @a records of a phase; records without a number are not counted. */
static inline uint64_t keel_lane_done_word(const keel_lane_t *lane, uint32_t phase, uint64_t records)
{
    const uint32_t end = keel_counters_records(&lane->counters);

    return keel_phase_word(phase, records < end ? (uint32_t)records : end);
}

/* Under the lock: sets the number of records of the phase from the source that are applied here. */
static inline void keel_lane_set_done(keel_lane_t *lane, uint32_t source, uint32_t phase, uint64_t records)
{
    lane->peers[source].done = keel_lane_done_word(lane, phase, records);
}
/* Under the lock, in a rollback: refuses data of other rollback numbers and clears board and
 * counters of all ranks. */
void keel_lane_forget_done(keel_lane_t *lane, uint32_t rollback);
/* Without the lock, in a rollback: resets the own words; this process announces only @a
 * generation afterwards. */
void keel_lane_forget_announced(keel_lane_t *lane, uint32_t generation);
/* Sets the rollback number in a replacement that takes part in that rollback. */
void keel_lane_set_rollback(keel_lane_t *lane, uint32_t rollback);

/* Opens the header of a message from outside. Returns 0 if the message is malformed or comes
 * from no rank of the job. The error is reported and fails the lane, because some call waits for
 * the effect of the message. */
int keel_lane_open_message(keel_lane_t *lane, const char *what, const void *header, size_t header_len, const void *data,
                           size_t data_len, keel_wire_t *wire);

#endif
