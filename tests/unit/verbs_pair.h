/*
 * Two transports on libibverbs in this process, over a stand-in for that library (verbs_stub.h);
 * rank 0 sends to rank 1.
 */
#ifndef KEEL_TESTS_VERBS_PAIR_H_
#define KEEL_TESTS_VERBS_PAIR_H_

#include "transports/verbs/verbs.h"
#include "transports/verbs/verbs_transport.h"
#include "unit.h"
#include "verbs_stub.h"

#include <sched.h>
#include <string.h>

enum { PAIR_RANKS = 2, PAIR_DEADLINE_S = 30 };

typedef struct pair_side {
    keel_transport_t *transport;
    const keel_transport_ops_t *ops;
    unsigned suspects;
    atomic_uint requests;
} pair_side_t;

static inline int pair_on_request(void *arg, const void *header, size_t header_len, const void *data, size_t data_len)
{
    atomic_fetch_add(&((pair_side_t *)arg)->requests, 1);
    return 0;
}

static inline int pair_on_idle(void *arg, int is_late)
{
    return 0;
}

static inline void pair_on_reply(void *arg, const void *header, size_t header_len, const void *data, size_t data_len)
{
}

static inline void pair_on_suspect(void *arg, uint32_t peer)
{
    ((pair_side_t *)arg)->suspects++;
}

/* @a nodes: node of each rank */
static inline void pair_open_side(pair_side_t *side, uint32_t rank, const uint32_t *nodes)
{
    const keel_transport_params_t params = {.rank = rank,
                                            .size = PAIR_RANKS,
                                            .node = nodes,
                                            .lanes = "auto",
                                            .spin_us = 20,
                                            .on_request = pair_on_request,
                                            .on_idle = pair_on_idle,
                                            .on_reply = pair_on_reply,
                                            .on_suspect = pair_on_suspect,
                                            .arg = side};

    memset(side, 0, sizeof(*side));
    side->ops = &keel_transport_verbs_ops;
    ck_assert_int_eq(side->ops->open(&params, &side->transport), KEEL_OK);
}

static inline void pair_meet(pair_side_t *side, uint32_t rank, pair_side_t *other)
{
    const void *address;
    unsigned lanes;
    size_t length;

    ck_assert_int_eq(other->ops->address(other->transport, &address, &length), KEEL_OK);
    ck_assert_int_eq(side->ops->connect(side->transport, rank, address, length, &lanes), KEEL_OK);
}

/* Opens both sides, on two nodes. */
static inline void pair_open(pair_side_t *sides)
{
    static const uint32_t nodes[PAIR_RANKS] = {0, 1};

    pair_open_side(&sides[0], 0, nodes);
    pair_open_side(&sides[1], 1, nodes);
    pair_meet(&sides[0], 1, &sides[1]);
    pair_meet(&sides[1], 0, &sides[0]);
}

static inline void pair_close(pair_side_t *sides)
{
    sides[0].ops->close(sides[0].transport);
    sides[1].ops->close(sides[1].transport);
}

/* Sends a message and waits for the arrival, and so for a connection. */
static inline void pair_reaches(pair_side_t *side, uint32_t rank, pair_side_t *other)
{
    const time_t deadline = time(NULL) + PAIR_DEADLINE_S;
    const unsigned before = atomic_load(&other->requests);
    const uint64_t header = 1;

    ck_assert_int_eq(side->ops->send(side->transport, rank, &header, sizeof(header), NULL, 0), KEEL_OK);
    while (atomic_load(&other->requests) == before && time(NULL) < deadline) {
        (void)side->ops->progress(side->transport);
        sched_yield();
    }
    ck_assert_uint_eq(atomic_load(&other->requests), before + 1);
    ck_assert_uint_eq(side->suspects, 0);
}

#endif
