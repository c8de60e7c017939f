/*
 * A job of two processes without a launcher: they meet over a TCP connection, which then serves as
 * the runtime (runtime_ops.h) of both. The connection carries the client's plan, the addresses,
 * and, by its end, the report of a death.
 */
#ifndef KEEL_PERF_PAIR_H_
#define KEEL_PERF_PAIR_H_

#include <runtime_ops.h>

typedef struct perf_pair {
    keel_runtime_t base; /* rank 0: the client */
    int socket;
    unsigned polls;
    int is_leaving;    /* the other process has announced its end */
    uint32_t nodes[2]; /* of each rank */
    char *hosts[2];    /* of each node */
    char names[2][256];
    void *address; /* of the other process */
    size_t address_len;
} perf_pair_t;

extern const keel_runtime_ops_t perf_pair_ops; /* driver_arg: the pair, already connected */

/* Connects to @a host; if empty, waits for a client. Returns 0, or -1 after a message. */
int perf_pair_meet(perf_pair_t *pair, const char *host, unsigned port);
/*
 * Sends raw bytes; returns 0 or -1. Both processes must run the same build on the same kind of
 * machine.
 */
int perf_pair_send(perf_pair_t *pair, const void *data, size_t length);
int perf_pair_receive(perf_pair_t *pair, void *data, size_t length);

#endif
