/*
 * A stand-in for libibverbs inside one process, where no RDMA device can be had: transports of several ranks use one device, whose
 * queue pairs reach each other by copying. It is stricter than hardware: a receive that is missing, a queue that overflows, memory
 * that is not registered, and a request to a queue pair that is not ready are errors at once. It shows nothing of times, of
 * packets that are lost, or of what a real device does while it fails.
 */
#ifndef KEEL_TESTS_VERBS_STUB_H_
#define KEEL_TESTS_VERBS_STUB_H_

#include <infiniband/verbs.h>

typedef struct stub_counts {
    unsigned queue_pairs;     /* that there are */
    unsigned regions;         /* of memory that are registered */
    size_t locked;            /* bytes of these */
    uint64_t posts, requests; /* of sends, puts and gets */
    uint64_t completions;     /* taken by ibv_poll_cq() */
    unsigned missing;         /* messages without a receive */
    unsigned overflows;       /* requests or completions beyond what a queue holds */
    unsigned refused;         /* puts and gets of memory that is not to be reached so */
    unsigned unacknowledged;  /* events that were taken */
    unsigned unfenced;        /* puts of what a get brings that do not wait for it */
} stub_counts_t;

/* the device that there is: none, or with a port that is down; that no memory can be registered beyond so many bytes */
void stub_set(int has_device, int is_down, size_t lockable);
stub_counts_t stub_counts(void);
/* completions of sends are held back while @a is_holding */
void stub_hold(int is_holding);
/* queue pairs made before this call reach nobody from now on, as those of a process that is gone: requests to them fail */
void stub_cut(struct ibv_context *context);
/* the device says so to who opened it so; one that has failed takes requests and completes none */
void stub_announce(struct ibv_context *context, enum ibv_event_type type);
/* queue pairs that are connected to this one, wherever: how many are ready to receive from it */
unsigned stub_receivers(uint32_t number);

#endif
