/*
 * Ranks as processes, for tests of the UCX transport: the test process forks them, hands addresses
 * and blobs around over socket pairs, and kills and restarts them. The test process has no
 * transport.
 */
#ifndef KEEL_TESTS_UCP_RIG_H_
#define KEEL_TESTS_UCP_RIG_H_

#include "transports/ucp/ucp_ops.h"

#include <sys/types.h>

enum { RIG_RANKS = 8, RIG_BLOB = 4096, RIG_DEADLINE_S = 30 };

typedef enum {
    RIG_ADDRESS, /* both ways: address of rank */
    RIG_BLOB_OF, /* both ways: blob that another rank gave to rank_publish() */
    RIG_BARRIER, /* both ways */
    RIG_DEATH,   /* to ranks */
    RIG_COUNT,   /* to ranks: report RIG_NUMBER */
    RIG_STOP,    /* to ranks */
    RIG_EXIT,    /* to ranks */
    RIG_READY,   /* from ranks: value is the generation */
    RIG_DRAINED, /* from ranks */
    RIG_NUMBER   /* from ranks: open files, mappings */
} rig_type_t;

typedef struct rig_message {
    uint32_t type, rank, generation, length;
    uint64_t value[2];
    unsigned char blob[RIG_BLOB];
} rig_message_t;

/* ---- in a rank ---- */

typedef struct rank {
    uint32_t rank, size, incarnation, generation;
    uint64_t seed;
    int control;
    uint32_t node[RIG_RANKS];
    keel_transport_t *transport;
    const keel_transport_ops_t *ops;
    unsigned lanes[RIG_RANKS]; /* lanes of each peer; 0: not connected */
    void *arg;                 /* owned by the test */
    unsigned rounds;           /* calls of rank_progress() without an event */
    /* The body sets the fields below before rank_open(). */
    unsigned spin_us;       /* 0: 50 */
    const char *tls_served; /* NULL: the default */
    /* Returns whether the request is news. */
    int (*on_request)(struct rank *rank, const void *header, size_t header_len, const void *data, size_t data_len);
    int (*on_idle)(struct rank *rank, int is_late);
    void (*on_notify)(struct rank *rank); /* called each tick_us */
    unsigned tick_us;
    void (*on_reply)(struct rank *rank, const void *header, size_t header_len, const void *data, size_t data_len);
} rank_t;

typedef void (*rank_body_t)(rank_t *rank);

/* Ends the rank, and so the test. */
#define rank_check(_rank, _condition)                            \
    do {                                                         \
        if (!(_condition)) {                                     \
            rank_fail((_rank), #_condition, __FILE__, __LINE__); \
        }                                                        \
    } while (0)
void rank_fail(const rank_t *rank, const char *condition, const char *file, int line) __attribute__((noreturn));

void rank_open(rank_t *rank, const char *lanes);
/* Publishes the address, and behind the address data of the test; value[0] of the message is the
 * offset of these data. */
void rank_publish_address(rank_t *rank, const void *extra, size_t extra_len);
void rank_connect(rank_t *rank, const rig_message_t *address);
/* Opens the transport, publishes its address and connects to all others. */
void rank_join(rank_t *rank, const char *lanes);
void rank_publish(rank_t *rank, const void *blob, size_t length);
/* Returns 1 and a message, or 0; with @a may_block waits, outside the transport. */
int rank_receive(rank_t *rank, rig_message_t *message, int may_block);
void rank_tell(rank_t *rank, rig_type_t type, uint64_t value0, uint64_t value1);
/* Waits for all ranks, outside the transport. */
void rank_barrier(rank_t *rank);
/* Waits for all ranks, with progress. */
void rank_barrier_inside(rank_t *rank);
void rank_progress(rank_t *rank);

/* ---- in the test ---- */

typedef struct rig {
    uint32_t size, generation;
    rank_body_t body;
    void *arg;
    uint64_t seed;
    uint32_t node[RIG_RANKS];
    /* network namespaces that ranks enter by turns: KEELTEST_NETNS=path:path; empty: none */
    char netns[2][64];
    pid_t pid[RIG_RANKS]; /* 0: not running */
    int control[RIG_RANKS];
    uint32_t incarnation[RIG_RANKS], ready[RIG_RANKS];
    int has_address[RIG_RANKS], is_drained[RIG_RANKS], has_number[RIG_RANKS];
    uint64_t number[RIG_RANKS][2];
    rig_message_t address[RIG_RANKS];
    unsigned at_barrier;
} rig_t;

/* All ranks are on one node; starts no rank. */
void rig_init(rig_t *rig, uint32_t size, rank_body_t body, void *arg);
/* Starts a rank. Its address goes to all other ranks on arrival, and theirs to the rank. */
void rig_spawn(rig_t *rig, uint32_t rank);
/* Sends SIGKILL, reaps the process, and informs the others. */
void rig_kill(rig_t *rig, uint32_t rank);
/* Sends SIGKILL to a rank that still runs, and reaps the process; informs no rank. */
void rig_silence(rig_t *rig, uint32_t rank);
void rig_send(rig_t *rig, uint32_t rank, rig_type_t type, uint32_t about, const rig_message_t *content);
/* Handles messages of the ranks until @a is_done, at most RIG_DEADLINE_S. A rank that ends
 * meanwhile fails the test. */
void rig_run_until(rig_t *rig, int (*is_done)(rig_t *rig));
void rig_run_ms(rig_t *rig, unsigned ms);
/* Waits until every rank has ended with status 0. */
void rig_finish(rig_t *rig);
/* Spawns all ranks, and finishes. */
void rig_run(rig_t *rig);

#endif
