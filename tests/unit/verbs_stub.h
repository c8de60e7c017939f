/*
 * A stand-in for libibverbs inside one process, for hosts without RDMA devices: transports of
 * several ranks use one device. Queue pairs of the device reach each other by copying. The stand-in
 * is stricter than hardware: a missing receive, an overflowing queue, unregistered memory, and a
 * request to a queue pair that is not ready are errors at once. Times, lost packets, and the
 * behaviour of a failing device are not modelled.
 */
#ifndef KEEL_TESTS_VERBS_STUB_H_
#define KEEL_TESTS_VERBS_STUB_H_

#include <infiniband/verbs.h>

typedef struct stub_counts {
    unsigned queue_pairs;     /* existing queue pairs */
    unsigned regions;         /* registered regions of memory */
    size_t locked;            /* bytes of registered regions */
    uint64_t posts, requests; /* sends, puts and gets: calls, and requests in all calls */
    uint64_t completions;     /* taken by ibv_poll_cq() */
    unsigned missing;         /* messages without a receive */
    unsigned overflows;       /* requests or completions beyond the size of a queue */
    unsigned refused;         /* puts and gets refused by the access rights of the memory */
    unsigned unacknowledged;  /* events taken and not acknowledged */
    unsigned unfenced;        /* puts of bytes that a get brings, without a wait for the get */
} stub_counts_t;

/* Sets up the device: absent, or with a port that is down; registrations fail beyond @a lockable
 * bytes. */
void stub_set(int has_device, int is_down, size_t lockable);
stub_counts_t stub_counts(void);
/* Holds back completions of sends while @a is_holding. */
void stub_hold(int is_holding);
/* Cuts off the queue pairs made before this call, as of a dead process: requests to them fail. */
void stub_cut(struct ibv_context *context);
/* Announces an event of the device to its user. A failed device takes requests and completes
 * none. */
void stub_announce(struct ibv_context *context, enum ibv_event_type type);
/* Counts the connected queue pairs of all ranks that are ready to receive from queue pair @a
 * number. */
unsigned stub_receivers(uint32_t number);

#endif
