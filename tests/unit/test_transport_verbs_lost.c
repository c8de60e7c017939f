/*
 * A device that fails while the transport on libibverbs uses the device, over a stand-in for that
 * library (verbs_stub.h).
 */
#include "transports/verbs/verbs.h"
#include "transports/verbs/verbs_link.h"
#include "transports/verbs/verbs_transport.h"
#include "unit.h"
#include "verbs_stub.h"

#include <sched.h>

enum { RANKS = 2, DEADLINE_S = 30 };

typedef struct side {
    keel_transport_t *transport;
    const keel_transport_ops_t *ops;
    unsigned suspects, lost;
    atomic_uint requests;
} side_t;

static const uint32_t nodes[RANKS] = {0, 1};

static int on_request(void *arg, const void *header, size_t header_len, const void *data, size_t data_len)
{
    atomic_fetch_add(&((side_t *)arg)->requests, 1);
    return 0;
}

static int on_idle(void *arg, int is_late)
{
    return 0;
}

static void on_reply(void *arg, const void *header, size_t header_len, const void *data, size_t data_len)
{
}

static void on_suspect(void *arg, uint32_t peer)
{
    ((side_t *)arg)->suspects++;
}

static void on_lost(void *arg)
{
    ((side_t *)arg)->lost++;
}

static void open_side(side_t *side, uint32_t rank)
{
    const keel_transport_params_t params = {.rank = rank,
                                            .size = RANKS,
                                            .node = nodes,
                                            .lanes = "served",
                                            .spin_us = 20,
                                            .on_request = on_request,
                                            .on_idle = on_idle,
                                            .on_reply = on_reply,
                                            .on_suspect = on_suspect,
                                            .on_lost = on_lost,
                                            .arg = side};

    side->ops = &keel_transport_verbs_ops;
    ck_assert_int_eq(side->ops->open(&params, &side->transport), KEEL_OK);
}

static void meet(side_t *side, uint32_t rank, side_t *other)
{
    const void *address;
    unsigned lanes;
    size_t length;

    ck_assert_int_eq(other->ops->address(other->transport, &address, &length), KEEL_OK);
    ck_assert_int_eq(side->ops->connect(side->transport, rank, address, length, &lanes), KEEL_OK);
}

static keel_status_t send_one(side_t *side)
{
    const uint64_t header = 1;

    return side->ops->send(side->transport, 1, &header, sizeof(header), NULL, 0);
}

#define progress_until(_side, _condition)                     \
    do {                                                      \
        const time_t deadline = time(NULL) + DEADLINE_S;      \
                                                              \
        while (!(_condition) && time(NULL) < deadline) {      \
            (void)(_side)->ops->progress((_side)->transport); \
            sched_yield();                                    \
        }                                                     \
        ck_assert(_condition);                                \
    } while (0)

/* A process that waits for its own death repeats the report, as a message may be lost. An event of
 * one connection is no failure of the device. */
START_TEST(a_device_that_fails_is_said_until_the_process_ends)
{
    side_t sides[RANKS] = {{.lost = 0}, {.lost = 0}};
    struct ibv_context *device;

    open_side(&sides[0], 0);
    open_side(&sides[1], 1);
    meet(&sides[0], 1, &sides[1]);
    meet(&sides[1], 0, &sides[0]);
    device = ((keel_verbs_t *)sides[0].transport)->device.context;
    ck_assert_int_eq(send_one(&sides[0]), KEEL_OK);
    progress_until(&sides[0], atomic_load(&sides[1].requests) == 1);
    stub_announce(device, IBV_EVENT_QP_REQ_ERR);
    ck_assert_int_eq(send_one(&sides[0]), KEEL_OK);
    progress_until(&sides[0], atomic_load(&sides[1].requests) == 2);
    stub_announce(device, IBV_EVENT_DEVICE_FATAL);
    progress_until(&sides[0], sides[0].lost == 1);
    ck_assert_uint_eq(sides[0].suspects, 1);
    ck_assert_int_eq(send_one(&sides[0]), KEEL_ERR_UNREACHABLE);
    progress_until(&sides[0], sides[0].lost == 2);
    ck_assert_uint_eq(sides[0].suspects, 1);
    ck_assert_uint_eq(sides[1].lost, 0);
    ck_assert_uint_eq(stub_counts().unacknowledged, 0);
    sides[0].ops->close(sides[0].transport);
    sides[1].ops->close(sides[1].transport);
    ck_assert_uint_eq(stub_counts().queue_pairs, 0);
    ck_assert_uint_eq(stub_counts().regions, 0);
}
END_TEST

/* A process without memory for a further connection would make a peer wait for ever, so the process
 * reports the shortage until the end. */
START_TEST(unreachable_peer_is_reported)
{
    side_t sides[RANKS] = {{.lost = 0}, {.lost = 0}};

    open_side(&sides[0], 0);
    open_side(&sides[1], 1);
    stub_set(1, 0, stub_counts().locked + keel_verbs_link_bytes());
    meet(&sides[0], 1, &sides[1]);
    ck_assert_int_eq(send_one(&sides[0]), KEEL_OK);
    progress_until(&sides[0], sides[0].suspects == 1);
    progress_until(&sides[1], sides[1].lost == 2);
    ck_assert_uint_eq(sides[0].lost, 0);
    stub_set(1, 0, SIZE_MAX);
    sides[0].ops->close(sides[0].transport);
    sides[1].ops->close(sides[1].transport);
    ck_assert_uint_eq(stub_counts().queue_pairs, 0);
    ck_assert_uint_eq(stub_counts().regions, 0);
}
END_TEST

/* The replacement of a disconnected process may greet before this process connects. */
START_TEST(a_replacement_is_served_before_this_process_connects_to_it)
{
    side_t sides[RANKS] = {{.lost = 0}, {.lost = 0}}, next = {.lost = 0};

    open_side(&sides[0], 0);
    open_side(&sides[1], 1);
    meet(&sides[0], 1, &sides[1]);
    meet(&sides[1], 0, &sides[0]);
    ck_assert_int_eq(send_one(&sides[0]), KEEL_OK);
    progress_until(&sides[0], atomic_load(&sides[1].requests) == 1);
    open_side(&next, 0);
    meet(&next, 1, &sides[1]);
    sides[1].ops->disconnect(sides[1].transport, 0);
    ck_assert_int_eq(send_one(&next), KEEL_OK);
    progress_until(&next, atomic_load(&sides[1].requests) == 2);
    ck_assert_uint_eq(next.suspects, 0);
    sides[0].ops->close(sides[0].transport);
    next.ops->close(next.transport);
    sides[1].ops->close(sides[1].transport);
    ck_assert_uint_eq(stub_counts().queue_pairs, 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {a_device_that_fails_is_said_until_the_process_ends, unreachable_peer_is_reported,
                                  a_replacement_is_served_before_this_process_connects_to_it, NULL};

    return unit_run("transport_verbs_lost", tests);
}
