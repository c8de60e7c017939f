/*
 * The peers of a process and how they are reached: incarnations, regions, one-sided issue over the direct or the
 * served lane, control messages. Knows no protocol above: what it means that a peer died is decided by recovery.
 *
 * Regions are the memory others may reach, by number: internal ones first, then windows. A region's key is sent to
 * every peer by the owner whenever it is made and again to every replacement, first in first out with everything else,
 * so an access that names a region finds it open.
 */
#ifndef KEEL_PEER_PEER_H_
#define KEEL_PEER_PEER_H_

#include "base/config.h"
#include "base/message.h"
#include "check/plant.h"
#include "peer/board.h"
#include "peer/carried.h"
#include "peer/lockword.h"
#include "wire/digest.h"
#include "wire/wire.h"
#include "wire/record.h"
#include "runtime.h"
#include "transport.h"

#include <pthread.h>
#include <ucs/datastruct/list.h>

enum {
    KEEL_REGION_BOARD = 0,    /* arrival words and marks, one slot a source (peer/board.h) */
    KEEL_REGION_GETLOG = 1,   /* LG: what others log of their gets here */
    KEEL_REGION_IMAGE0 = 2,   /* image slots: 2 to 5, the last two for demand checkpoints */
    KEEL_REGION_PARITY0 = 6,  /* parity slots: 6 to 9, likewise */
    KEEL_REGION_LOCKS = 10,   /* peer/lockword.h */
    KEEL_REGION_WINDOW0 = 12, /* windows: 12 + window id */
    KEEL_REGION_LAST = 4096   /* as many as a record can name */
};

_Static_assert(KEEL_LOCK_WINDOWS == KEEL_REGION_LAST - KEEL_REGION_WINDOW0, "a lock each");

/* at least so often in KEEL_HEARTBEAT_TIMEOUT a process inside Keel has to look who answers (recovery/detect) */
#define KEEL_LOOKS_A_TIMEOUT 64

#define KEEL_SLOTS_COORDINATED 2u /* of images and of parity: 0 and 1, */
#define KEEL_SLOTS             4u /* and those for demand checkpoints */

typedef void (*keel_lane_done_cb_t)(void *arg, keel_status_t status);

/* what an access towards a peer does now; set by recovery/position */
typedef enum {
    KEEL_PEER_LIVE,   /* it is done */
    KEEL_PEER_BEHIND, /* dead, or recovering behind this process: puts are only logged, gets wait */
    KEEL_PEER_AHEAD   /* this process re-executes behind it: puts are only logged, gets come from records */
} keel_peer_mode_t;

typedef struct keel_region {
    uint64_t base;             /* at the owner */
    size_t size;               /* bytes; kept when the owner dies */
    keel_transport_key_t *key; /* open on the direct lane */
    void *ptr;                 /* mapped here, or NULL */
    int is_known;
    int is_served;              /* the owner's own thread does all accesses, by messages: the program gave the memory */
    uint8_t is_device_wanted;   /* by the owner, for atomics, where there is one, */
    uint8_t is_by_device;       /* and there is: of who was there last */
    uint32_t incarnation;       /* of the process that told */
    int is_lent;                /* the program has the address of the mapping, and may touch it at any time */
    keel_transport_key_t *kept; /* lent, and its owner is dead: mapped until its successor's takes its place */
} keel_region_t;

typedef struct keel_control_in keel_control_in_t;

typedef struct keel_peer {
    uint32_t rank;
    uint32_t incarnation;   /* of the process that is there, or that is awaited */
    uint8_t is_up;          /* connected to that incarnation */
    uint8_t is_broken;      /* the transport lost that connection: nothing will be acknowledged any more */
    uint8_t was_stored;     /* this process itself did what it did to the last one that died */
    uint8_t was_up;         /* some incarnation of it was connected */
    uint8_t mode;           /* keel_peer_mode_t */
    unsigned lanes;         /* keel_lane_caps of the connection */
    keel_region_t *regions; /* of lane->regions_room */
    /* served lane, this process asking */
    uint64_t sent, acked;     /* sequence numbers */
    uint8_t says_more;        /* the last one sent said MORE: another one has to follow */
    ucs_list_link_t reads;    /* keel_read_t, in the order sent */
    ucs_list_link_t controls; /* keel_control_out_t, until acknowledged */
    /* peer/remote_put */
    ucs_list_link_t putting; /* in lane->putting while not all puts are done */
    uint64_t put, put_done;  /* puts issued, those that have taken effect there */
    uint64_t put_flushing;   /* those before the flush under way, */
    uint8_t is_put_flushing; /* if one is */
    uint8_t is_put_untold;   /* no record was sent since the last of them */
    uint32_t put_phase;      /* 1 + the phase of the last of them, 0: none */
    /* gets by operations (peer/issue, oplog/get_remote) */
    uint32_t getting;       /* gets under way */
    uint64_t recorded;      /* the last request that the peer's service side records */
    keel_carried_t carried; /* the newest that others' service sides carried here of it */
    uint32_t found;         /* classes that it uses, as was seen with what was fetched from it */
    uint32_t missing;       /* 1 + the last phase in which its own did not carry all, 0: it did */
    uint32_t room_chunk,
        room_used; /* where this process may write records since it was answered: keel_wire_body_t.reply */
    /* served lane, this process serving; under lane->lock */
    uint32_t accepted; /* incarnation whose messages are taken, when is_accepted */
    uint8_t is_accepted;
    uint64_t applied, acknowledged; /* the last one, by an answer or by itself */
    uint8_t is_followed;            /* the last one said MORE */
    uint64_t done;                  /* phase << 32 | records of it applied here, whichever incarnation sent them */
    keel_digest_t digest;           /* of these, what came over this lane without a gap from the phase's first on */
    uint32_t answered;              /* what it has fetched here is with it up to that serial */
    uint32_t atomics;               /* 1 + the last phase of which an atomic was applied here; read without the lock */
    keel_control_in_t *partial;     /* of a control message in pieces: what is there, */
    size_t partial_length;          /* bytes of it; NULL: none is on its way */
} keel_peer_t;

typedef struct keel_own_region {
    void *base;
    size_t size;
    keel_transport_mem_t *mem; /* NULL: it is not the transport's, or there is none */
    keel_transport_key_t *key; /* by which this process, too, does atomics there; NULL: by its CPU */
    uint8_t is_retired;        /* without memory; replacements are told its size */
    uint8_t is_device_wanted;  /* for atomics, where there is one */
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
    /* service side, under the lock, before the answer: a logged get or fetched value. Its data goes to where this points,
     * NULL: nowhere; when it is there, on_served_got() makes the record one that others may see. */
    void *(*on_served_get)(void *arg, uint32_t source, const keel_get_record_t *record);
    void (*on_served_got)(void *arg, const keel_get_record_t *record);
    /* and where the source may go on there: 1 + the chunk's index in the high half, bytes of records in the low one; 0: nowhere */
    uint64_t (*on_served_room)(void *arg, uint32_t source);
    /* service side, under the lock: a REFILL message; here and not in the inbox, so that it stays before the gets
     * sent after it and is not lost when its sender dies */
    void (*on_served_refill)(void *arg, uint32_t source, const void *data, size_t length);
    void *arg;
    uint8_t *news; /* any thread sets it to 1 when the thread inside Keel is to make progress; NULL: nobody looks */
    keel_counters_t counters;   /* where they begin */
    keel_transport_t *prepared; /* by keel_lane_prepare(), or NULL; belongs to the lane from keel_lane_init() on */
} keel_lane_params_t;

typedef struct keel_lane {
    keel_message_t *message;
    const keel_config_t *config;
    const keel_transport_ops_t *ops;
    keel_transport_t *transport;
    keel_runtime_t *runtime;
    uint32_t rank, size, incarnation;
    uint32_t programs;  /* ranks that run the program; those from here on hold parity */
    uint32_t agreement; /* crc of what all processes have to have alike: another's difference is a failure */
    keel_peer_t *peers;
    uint32_t broken;          /* peers that are up and is_broken */
    uint32_t not_live;        /* peers whose mode is another than KEEL_PEER_LIVE */
    uint32_t unanswered;      /* peers that have not acknowledged all that they were sent */
    uint32_t getting;         /* reads by one-sided operations that are under way */
    uint64_t changes;         /* grows when a mode or a mapping changes: what was derived from them is old then */
    unsigned regions_room;    /* what there is room for in tables of regions; it grows (peer/region) */
    keel_own_region_t *own;   /* so many; the table is moved under the lock */
    keel_board_slot_t slot;   /* this process's own words, as it last said them */
    keel_kinds_t kinds;       /* likewise */
    keel_board_slot_t *board; /* own memory: one slot a source */
    void *(*on_served_get)(void *arg, uint32_t source, const keel_get_record_t *record);
    void (*on_served_got)(void *arg, const keel_get_record_t *record);
    uint64_t (*on_served_room)(void *arg, uint32_t source);
    void (*on_served_refill)(void *arg, uint32_t source, const void *data, size_t length);
    void *arg;
    uint8_t *news;
    void *reads_pool;
    ucs_list_link_t reads_free;
    ucs_list_link_t gets;    /* under way by operations (peer/issue) */
    ucs_list_link_t putting; /* peers to which puts are under way (peer/remote_put) */
    uint64_t next_read;

    pthread_mutex_t lock; /* between the thread inside Keel and the service thread; no other lock is taken inside */
    /* the first phase whose puts may be one-sided operations: what the predecessor may have put, which is of earlier ones, is sent, for the
     * target to pass over */
    uint32_t put_from;
    uint32_t rollback;       /* data of another rollback number is refused; written under the lock */
    keel_carrier_t *carrier; /* service side */
    keel_fetches_t fetches;  /* of this process, from service sides */
    ucs_list_link_t inbox;
    int inbox_pending;        /* read without the lock */
    int awaits_records;       /* the program waits for what others put: only grows; any thread */
    int failure;              /* keel_status_t: what nobody can go on after, until recovery takes it up; any thread */
    keel_counters_t counters; /* where they begin */
} keel_lane_t;

/*
 * In a process that has no rank yet, before keel_lane_init() with the same parameters: what takes long and can be done. The
 * transport is opened when it is NULL; @a bytes: as the runtime tells. KEEL_INPROGRESS: call again.
 */
keel_status_t keel_lane_prepare(keel_lane_t *lane, const keel_lane_params_t *params, const uint64_t *bytes,
                                unsigned count, keel_transport_t **transport_p);
keel_status_t keel_lane_init(keel_lane_t *lane, const keel_lane_params_t *params);
void keel_lane_release(keel_lane_t *lane);
keel_status_t keel_lane_address(keel_lane_t *lane, const void **address_p, size_t *length_p);
/* connects to an incarnation and greets it: hello, then all regions */
keel_status_t keel_lane_peer_up(keel_lane_t *lane, uint32_t rank, uint32_t incarnation, const void *address,
                                size_t length);
/* the peer answers, whatever the transport said */
void keel_lane_peer_answers(keel_lane_t *lane, uint32_t rank);
/* cuts a dead incarnation off: reads under way end with KEEL_ERR_UNREACHABLE, nothing of it is applied any more;
 * @a next is the incarnation awaited */
void keel_lane_peer_down(keel_lane_t *lane, uint32_t rank, uint32_t next);
void keel_lane_set_mode(keel_lane_t *lane, uint32_t rank, keel_peer_mode_t mode);
/* what all processes have to have alike, before the first is met */
static inline void keel_lane_agree(keel_lane_t *lane, uint32_t agreement)
{
    lane->agreement = agreement;
}
/* what was derived from modes and mappings is old */
static inline void keel_lane_change(keel_lane_t *lane)
{
    lane->changes++;
}
/* this process's words of gsync @a number: what its arrival says with it, and that it is done with its image (peer/board.h) */
static inline void keel_lane_say_flags(keel_lane_t *lane, uint32_t number, uint64_t flags)
{
    lane->slot.flags[number & 1] = flags;
}
static inline void keel_lane_say_second(keel_lane_t *lane, uint32_t number)
{
    lane->slot.second = keel_arrive(lane->rollback, lane->incarnation, number);
}
/* what it knows of generations: which one's parity share it has, and which one is in use everywhere (KEEL_CKPT_CANNOT) */
static inline void keel_lane_say_parity(keel_lane_t *lane, uint64_t generation)
{
    lane->slot.parity_done = generation;
}
static inline void keel_lane_say_committed(keel_lane_t *lane, uint32_t generation)
{
    lane->slot.committed = generation;
}
/* it has a get without a record in @a phase */
static inline void keel_lane_say_lost_get(keel_lane_t *lane, uint32_t phase)
{
    lane->slot.lost_gets = (uint64_t)phase + 1;
}
static inline void keel_lane_say_no_lost_gets(keel_lane_t *lane)
{
    lane->slot.lost_gets = 0;
}
/* the first failure counts; the text was said where it was found */
static inline void keel_lane_fail(keel_lane_t *lane, keel_status_t status)
{
    int none = KEEL_OK;

    (void)__atomic_compare_exchange_n(&lane->failure, &none, (int)status, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}
static inline keel_status_t keel_lane_failure(const keel_lane_t *lane)
{
    return (keel_status_t)__atomic_load_n(&lane->failure, __ATOMIC_ACQUIRE);
}
/* handles HELLO and REGION messages; 1 when the message was one of these */
int keel_lane_control(keel_lane_t *lane, const keel_control_in_t *in);

/* served lane: an atomic record and its operands (contiguous, stable until acknowledged) whose old value comes back */
typedef struct keel_fetch {
    const keel_record_t *record;   /* of one that died before it answered; NULL: that which was fetched last */
    uint32_t phase, number, index; /* of the record, as above; of the access among the gets */
    int is_logged;
    int is_unnumbered; /* of an accumulate: it is none of the numbered records */
    int is_clocked;    /* what comes back is a keel_fetched_t */
} keel_fetch_t;

/*
 * Asks the peer's lock area, or the own one. KEEL_OK: the answer is in *answer; KEEL_INPROGRESS: it will be. On the served
 * lane a lock that is granted gets its record in the target's get log in the same step; @a cb NULL: no answer is wanted.
 */
typedef struct keel_lock_request {
    keel_lock_ask_t ask;
    uint64_t number;       /* TRY, TRY_READ: keel_reading() */
    uint32_t phase, index; /* of the record among the gets */
    int is_logged;
} keel_lock_request_t;

/* all requests and puts to the peer were applied, or it is down */
static inline int keel_lane_is_flushed(const keel_lane_t *lane, uint32_t peer)
{
    const keel_peer_t *p = &lane->peers[peer];

    return p->acked == p->sent && (p->put_done == p->put || KEEL_PLANT(put_unawaited)) && p->getting == 0;
}
/* direct lane: who waits there sees what was stored before a full fence; a load and a branch unless it sleeps */
static inline void keel_lane_ring(const keel_lane_t *lane, uint32_t peer)
{
    if (lane->peers[peer].lanes & KEEL_LANE_PTR) {
        lane->ops->ring(lane->transport, peer);
    }
}
/* what the peer has granted for records of gets is not this process's any more */
static inline void keel_lane_leave_room(keel_lane_t *lane, uint32_t rank)
{
    lane->peers[rank].room_chunk = 0;
}
/* so many bytes more of it hold records */
static inline void keel_lane_use_room(keel_lane_t *lane, uint32_t rank, uint32_t bytes)
{
    lane->peers[rank].room_used += bytes;
}
unsigned keel_lane_progress(keel_lane_t *lane);

/* of @a source one of @a phase is applied here; with the lane's lock */
void keel_lane_note_atomics(keel_lane_t *lane, uint32_t source, uint32_t phase);

/* something that this process has asked of others, or put there, is to be answered yet: an event of the network will tell */
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

/* of a message that tells something of each rank: bytes for each, and for all */
#define KEEL_CONTROL_RANK_MAX 128u
#define KEEL_CONTROL_HEAD_MAX 512u

/* under the lock: messages of this incarnation are taken from its first on, those of older ones no more; nothing when
 * it or a newer one is taken already */
void keel_lane_accept(keel_peer_t *peer, uint32_t incarnation);

/* what the board says of the first @a records of a phase; those without a number are not counted */
static inline uint64_t keel_lane_done_word(const keel_lane_t *lane, uint32_t phase, uint64_t records)
{
    const uint32_t end = keel_counters_records(&lane->counters);

    return keel_phase_word(phase, records < end ? (uint32_t)records : end);
}

/* under the lock: so many records of the phase from that source are done here */
static inline void keel_lane_set_done(keel_lane_t *lane, uint32_t source, uint32_t phase, uint64_t records)
{
    lane->peers[source].done = keel_lane_done_word(lane, phase, records);
}
/* under the lock: a rollback. Data of others is refused, and what the board and counters said of anybody is forgotten */
void keel_lane_forget_done(keel_lane_t *lane, uint32_t rollback);
/* and without it: what this process says from now on is that it has this generation and nothing else */
void keel_lane_forget_said(keel_lane_t *lane, uint32_t generation);
/* a replacement takes part in the rollback of that number */
void keel_lane_set_rollback(keel_lane_t *lane, uint32_t rollback);

/* takes the header of a message that came from outside; 0 when the message is not what it says or from nobody here: that is
 * said, and fails the lane, since somebody waits for what the message should have done */
int keel_lane_open_message(keel_lane_t *lane, const char *what, const void *header, size_t header_len, const void *data,
                           size_t data_len, keel_wire_t *wire);

#endif
