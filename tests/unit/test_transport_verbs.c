/* Transports of several ranks over a stand-in for libibverbs (verbs_stub.h), in one process. */
#include "transports/verbs/verbs.h"
#include "transports/verbs/verbs_transport.h"
#include "unit.h"
#include "verbs_stub.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum { RANKS = 2, DEADLINE_S = 20, BIG = KEEL_MESSAGE_DATA_MAX };

typedef struct side {
    keel_transport_t *transport;
    const keel_transport_ops_t *ops;
    /* requests: number of arrivals; is_gated: the service side waits in its next request */
    atomic_uint requests, is_gated, is_waiting;
    unsigned replies, suspects;
    uint64_t expected; /* number in the next request's header */
    atomic_uint disorder;
    unsigned char *room;
} side_t;

static const uint32_t nodes[RANKS] = {0, 1};

/* The content of message number @a number: its length and its bytes. */
static size_t length_of(uint64_t number)
{
    uint64_t state = number;

    return (number % 7 == 0) ? 0 : (number % 7 == 1) ? BIG : unit_random(&state) % ((number % 2) ? 200 : BIG);
}

static void fill(unsigned char *data, size_t length, uint64_t number)
{
    for (size_t i = 0; i < length; i++) {
        data[i] = (unsigned char)(number * 31 + i * 7 + (i >> 8));
    }
}

static int is_filled(const unsigned char *data, size_t length, uint64_t number)
{
    for (size_t i = 0; i < length; i++) {
        if (data[i] != (unsigned char)(number * 31 + i * 7 + (i >> 8))) {
            return 0;
        }
    }
    return 1;
}

/* Answers each request with its own content. */
static int on_request(void *arg, const void *header, size_t header_len, const void *data, size_t data_len)
{
    side_t *side = arg;
    uint64_t number;
    void *room;

    if (atomic_load(&side->is_gated)) {
        atomic_store(&side->is_waiting, 1);
        while (atomic_load(&side->is_gated)) {
            sched_yield();
        }
    }
    memcpy(&number, header, sizeof(number));
    if (header_len != sizeof(number) || number != side->expected || data_len != length_of(number) ||
        !is_filled(data, data_len, number)) {
        atomic_fetch_add(&side->disorder, 1);
    }
    side->expected++;
    if (side->ops->reply_room(side->transport, 0, data_len, &room) == KEEL_OK) {
        memcpy(room, data, data_len);
        (void)side->ops->reply(side->transport, 0, header, header_len, room, data_len);
    }
    atomic_fetch_add(&side->requests, 1);
    return KEEL_SERVED_AWAITED;
}

static int on_idle(void *arg, int is_late)
{
    return 0;
}

static void on_reply(void *arg, const void *header, size_t header_len, const void *data, size_t data_len)
{
    side_t *side = arg;
    uint64_t number;

    memcpy(&number, header, sizeof(number));
    if (number != side->replies || data_len != length_of(number) || !is_filled(data, data_len, number)) {
        atomic_fetch_add(&side->disorder, 1);
    }
    side->replies++;
}

static void on_suspect(void *arg, uint32_t peer)
{
    ((side_t *)arg)->suspects++;
}

static keel_status_t open_as(side_t *side, uint32_t rank, const char *device)
{
    const keel_transport_params_t params = {.rank = rank,
                                            .size = RANKS,
                                            .node = nodes,
                                            .lanes = "served",
                                            .device = device,
                                            .spin_us = 20,
                                            .on_request = on_request,
                                            .on_idle = on_idle,
                                            .on_reply = on_reply,
                                            .on_suspect = on_suspect,
                                            .arg = side};

    memset(side, 0, sizeof(*side));
    side->ops = &keel_transport_verbs_ops;
    return side->ops->open(&params, &side->transport);
}

static void meet(side_t *side, uint32_t rank, side_t *other)
{
    const void *address;
    unsigned lanes;
    size_t length;

    ck_assert_int_eq(other->ops->address(other->transport, &address, &length), KEEL_OK);
    ck_assert_int_eq(side->ops->connect(side->transport, rank, address, length, &lanes), KEEL_OK);
    ck_assert(lanes & KEEL_LANE_SERVED);
}

static void open_pair(side_t *sides)
{
    ck_assert_int_eq(open_as(&sides[0], 0, NULL), KEEL_OK);
    ck_assert_int_eq(open_as(&sides[1], 1, NULL), KEEL_OK);
    meet(&sides[0], 1, &sides[1]);
    meet(&sides[1], 0, &sides[0]);
}

static void close_one(side_t *side)
{
    side->ops->close(side->transport);
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

static unsigned char *messages[RANKS * 64];

static keel_status_t send_number(side_t *side, uint64_t number)
{
    const size_t length = length_of(number);
    unsigned char **data = &messages[number % (sizeof(messages) / sizeof(messages[0]))];

    free(*data);
    *data = malloc(length + 1);
    fill(*data, length, number);
    return side->ops->send(side->transport, 1, &number, sizeof(number), *data, length);
}

static void exchange(side_t *sides, uint64_t count)
{
    const uint64_t window = 100, end = sides[0].replies + count;

    for (uint64_t number = sides[0].replies; number < end; number++) {
        progress_until(&sides[0], sides[0].replies + window > number);
        ck_assert_int_eq(send_number(&sides[0], number), KEEL_OK);
    }
    progress_until(&sides[0], sides[0].replies == end);
    ck_assert_uint_eq(atomic_load(&sides[0].disorder) + atomic_load(&sides[1].disorder), 0);
}

static void nothing_was_wrong(void)
{
    const stub_counts_t counts = stub_counts();

    ck_assert_uint_eq(counts.missing, 0);
    ck_assert_uint_eq(counts.overflows, 0);
    ck_assert_uint_eq(counts.refused, 0);
}

static void nothing_is_left(void)
{
    ck_assert_uint_eq(stub_counts().queue_pairs, 0);
    ck_assert_uint_eq(stub_counts().regions, 0);
}

START_TEST(messages_of_all_lengths_arrive_whole_and_in_order)
{
    side_t sides[RANKS];

    open_pair(sides);
    exchange(sides, 700);
    close_one(&sides[0]);
    close_one(&sides[1]);
    nothing_was_wrong();
    nothing_is_left();
}
END_TEST

START_TEST(no_connection_is_made_before_something_is_sent)
{
    side_t sides[RANKS];

    open_pair(sides);
    progress_until(&sides[0], sides[0].replies == 0);
    ck_assert_uint_eq(stub_counts().queue_pairs, 0);
    exchange(sides, 1);
    ck_assert_uint_eq(stub_counts().queue_pairs, 2);
    close_one(&sides[0]);
    close_one(&sides[1]);
    nothing_is_left();
}
END_TEST

/* A service side that takes nothing is sent no more messages than its posted receives. */
START_TEST(idle_receiver_is_sent_as_much_as_it_has_room_for)
{
    side_t sides[RANKS];
    uint64_t number;

    open_pair(sides);
    exchange(sides, 1);
    atomic_store(&sides[1].is_gated, 1);
    for (number = 1; number <= 60; number++) {
        ck_assert_int_eq(send_number(&sides[0], number), KEEL_OK);
    }
    progress_until(&sides[0], atomic_load(&sides[1].is_waiting));
    for (int i = 0; i < 1000; i++) {
        (void)sides[0].ops->progress(sides[0].transport);
    }
    ck_assert_uint_eq(sides[0].replies, 1);
    nothing_was_wrong();
    atomic_store(&sides[1].is_gated, 0);
    progress_until(&sides[0], sides[0].replies == 61);
    ck_assert_uint_eq(atomic_load(&sides[1].disorder), 0);
    close_one(&sides[0]);
    close_one(&sides[1]);
    nothing_was_wrong();
}
END_TEST

/* No slot is written again before its completion. Late completions bound the messages. */
START_TEST(completions_that_are_late_hold_up_and_lose_nothing)
{
    side_t sides[RANKS];

    open_pair(sides);
    exchange(sides, 3);
    for (unsigned round = 0; round < 20; round++) {
        const uint64_t first = sides[0].replies;

        stub_hold(1);
        for (uint64_t number = first; number < first + 30; number++) {
            ck_assert_int_eq(send_number(&sides[0], number), KEEL_OK);
        }
        for (int i = 0; i < 200; i++) {
            (void)sides[0].ops->progress(sides[0].transport);
            sched_yield();
        }
        stub_hold(0);
        progress_until(&sides[0], sides[0].replies == first + 30);
    }
    ck_assert_uint_eq(atomic_load(&sides[0].disorder) + atomic_load(&sides[1].disorder), 0);
    close_one(&sides[0]);
    close_one(&sides[1]);
    nothing_was_wrong();
}
END_TEST

/* The numbers that name requests have 31 bits. */
START_TEST(the_numbers_of_requests_come_round)
{
    keel_verbs_link_t *link;
    side_t sides[RANKS];

    open_pair(sides);
    exchange(sides, 1);
    link = ((keel_verbs_t *)sides[0].transport)->peers[1]->link;
    /* a completion stands for all requests before */
    while (link->built != link->done || link->slots_busy > 0) {
        exchange(sides, 1);
    }
    link->built = link->done = link->asked = 0x7ffffff0;
    exchange(sides, 200);
    ck_assert(link->built > 0x80000000);
    close_one(&sides[0]);
    close_one(&sides[1]);
    nothing_was_wrong();
}
END_TEST

START_TEST(a_connection_that_breaks_is_a_suspicion_once)
{
    side_t sides[RANKS];

    open_pair(sides);
    exchange(sides, 5);
    stub_cut(((keel_verbs_t *)sides[1].transport)->device.context);
    ck_assert_int_eq(send_number(&sides[0], 5), KEEL_OK);
    progress_until(&sides[0], sides[0].suspects == 1);
    ck_assert_int_eq(send_number(&sides[0], 6), KEEL_ERR_UNREACHABLE);
    for (int i = 0; i < 1000; i++) {
        (void)sides[0].ops->progress(sides[0].transport);
    }
    ck_assert_uint_eq(sides[0].suspects, 1);
    sides[0].ops->disconnect(sides[0].transport, 1);
    ck_assert_int_eq(send_number(&sides[0], 7), KEEL_ERR_UNREACHABLE);
    close_one(&sides[0]);
    close_one(&sides[1]);
    nothing_is_left();
}
END_TEST

/* disconnect() cuts both queue pairs: the device refuses later requests of the peer. */
START_TEST(a_process_that_is_cut_off_reaches_nothing_after_disconnect)
{
    keel_verbs_link_t *link;
    side_t sides[RANKS];
    uint32_t number;

    open_pair(sides);
    exchange(sides, 5); /* rank 0 asks rank 1 */
    link = ((keel_verbs_t *)sides[0].transport)->peers[1]->link;
    number = link->qp->qp_num;
    ck_assert_uint_eq(stub_receivers(number), 1);
    /* rank 1 learns that rank 0 is dead, while rank 0 lives */
    sides[1].ops->disconnect(sides[1].transport, 0);
    ck_assert_uint_eq(stub_receivers(number), 0);
    ck_assert_int_eq(send_number(&sides[0], 5), KEEL_OK);
    progress_until(&sides[0], sides[0].suspects == 1);
    ck_assert_uint_eq(atomic_load(&sides[1].requests), 5);
    close_one(&sides[0]);
    close_one(&sides[1]);
    nothing_is_left();
}
END_TEST

/* A replacement waits until its predecessor is disconnected, and is then served. */
START_TEST(a_replacement_is_served_when_its_predecessor_is_disconnected)
{
    side_t sides[RANKS], next;

    open_pair(sides);
    exchange(sides, 5);
    ck_assert_int_eq(open_as(&next, 0, NULL), KEEL_OK);
    meet(&next, 1, &sides[1]);
    sides[1].expected = 0;
    ck_assert_int_eq(send_number(&next, 0), KEEL_OK);
    for (int i = 0; i < 2000; i++) {
        (void)next.ops->progress(next.transport);
        sched_yield();
    }
    ck_assert_uint_eq(next.replies, 0);
    sides[1].ops->disconnect(sides[1].transport, 0);
    meet(&sides[1], 0, &next);
    progress_until(&next, next.replies == 1);
    ck_assert_uint_eq(next.suspects, 0);
    close_one(&sides[0]);
    close_one(&next);
    close_one(&sides[1]);
    nothing_is_left();
}
END_TEST

START_TEST(a_process_that_ends_is_a_suspicion)
{
    side_t sides[RANKS];

    open_pair(sides);
    exchange(sides, 5);
    close_one(&sides[1]); /* like a dead process: its socket ends */
    progress_until(&sides[0], sides[0].suspects == 1);
    close_one(&sides[0]);
    nothing_is_left();
}
END_TEST

START_TEST(a_device_that_will_not_do_is_an_error)
{
    static const char *const wrong[] = {"none0", "stub0:2", "stub0:x", "stub0:1:9:", "stub0:1:0"};
    side_t side;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        ck_assert_int_ne(open_as(&side, 0, wrong[i]), KEEL_OK);
    }
    stub_set(0, 0, SIZE_MAX);
    ck_assert_int_eq(open_as(&side, 0, NULL), KEEL_ERR_TRANSPORT);
    stub_set(1, 1, SIZE_MAX);
    ck_assert_int_eq(open_as(&side, 0, NULL), KEEL_ERR_TRANSPORT);
    stub_set(1, 0, SIZE_MAX);
    ck_assert_int_eq(open_as(&side, 0, "stub0:1:1"), KEEL_OK);
    close_one(&side);
    nothing_is_left();
}
END_TEST

START_TEST(memory_that_cannot_be_registered_is_an_error)
{
    side_t sides[RANKS];

    open_pair(sides);
    stub_set(1, 0, 1000);
    ck_assert_int_eq(send_number(&sides[0], 0), KEEL_ERR_BUDGET);
    stub_set(1, 0, SIZE_MAX);
    exchange(sides, 3);
    close_one(&sides[0]);
    close_one(&sides[1]);
    nothing_is_left();
}
END_TEST

/* ---- puts ---- */

enum { WINDOW = 4 << 20, LENT = 3 << 20, PUTS = 64 };

typedef struct target {
    side_t sides[RANKS];
    keel_transport_mem_t *mem;
    unsigned char *base; /* of rank 1's memory */
    keel_transport_key_t *key;
    unsigned char *lent; /* memory of rank 0 */
    unsigned told;       /* completions, and how the last one ended */
    int is_flushed;
    keel_status_t how;
} target_t;

static void on_done(void *arg, keel_status_t status)
{
    target_t *target = arg;

    target->told++;
    target->how = status;
}

static keel_status_t open_key(target_t *target, int is_exposed)
{
    side_t *owner = &target->sides[1];
    unsigned char blob[256];
    size_t length = sizeof(blob);
    void *base;

    ck_assert_int_eq(owner->ops->mem_alloc(owner->transport, WINDOW, NULL, &target->mem, &base), KEEL_OK);
    target->base = base;
    if (is_exposed) {
        owner->ops->mem_expose(owner->transport, target->mem, KEEL_LANE_RMA);
    }
    ck_assert_int_eq(owner->ops->mem_pack(owner->transport, target->mem, blob, &length), KEEL_OK);
    return target->sides[0].ops->key_open(target->sides[0].transport, 1, blob, length, (uintptr_t)base, &target->key);
}

static void open_target(target_t *target)
{
    memset(target, 0, sizeof(*target));
    open_pair(target->sides);
    exchange(target->sides, 1);
    ck_assert_int_eq(open_key(target, 1), KEEL_OK);
    target->lent = malloc(LENT);
    fill(target->lent, LENT, 1);
    target->sides[0].ops->lend(target->sides[0].transport, target->lent, LENT);
}

static void close_target(target_t *target)
{
    close_one(&target->sides[0]);
    close_one(&target->sides[1]);
    free(target->lent);
    nothing_is_left();
}

static keel_status_t put(target_t *target, uint64_t offset, const void *buffer, size_t length)
{
    const keel_transport_put_t one = {offset, buffer, length};
    unsigned count = 1;
    const keel_status_t status = target->sides[0].ops->put(target->sides[0].transport, target->key, &one, &count);

    ck_assert_uint_eq(count, status == KEEL_OK);
    return status;
}

static void on_flushed(void *arg, keel_status_t status)
{
    ck_assert_int_eq(status, KEEL_OK);
    ((target_t *)arg)->is_flushed = 1;
}

static void flush(target_t *target)
{
    side_t *side = &target->sides[0];

    target->is_flushed = (side->ops->flush(side->transport, 1, on_flushed, target) == KEEL_OK);
    progress_until(side, target->is_flushed);
}

START_TEST(many_puts_and_a_flush_are_few_posts_and_completions)
{
    stub_counts_t before, after;
    uint64_t words[PUTS];
    target_t target;

    open_target(&target);
    exchange(target.sides, 8);
    before = stub_counts();
    for (unsigned i = 0; i < PUTS; i++) {
        words[i] = i + 1;
        ck_assert_int_eq(put(&target, 8 * i, &words[i], sizeof(words[i])), KEEL_OK);
    }
    flush(&target);
    after = stub_counts();
    ck_assert_int_eq(memcmp(target.base, words, sizeof(words)), 0);
    ck_assert_uint_eq(after.requests - before.requests, PUTS);
    ck_assert_uint_le(after.posts - before.posts, 4);
    ck_assert_uint_le(after.completions - before.completions, 2);
    close_target(&target);
    nothing_was_wrong();
}
END_TEST

/* A request is posted after all puts that were issued before. */
START_TEST(a_request_comes_behind_puts)
{
    target_t target;

    open_target(&target);
    for (uint64_t i = 0; i < 100; i++) {
        ck_assert_int_eq(put(&target, 0, &i, sizeof(i)), KEEL_OK);
        exchange(target.sides, 1);
        ck_assert_int_eq(memcmp(target.base, &i, sizeof(i)), 0);
    }
    close_target(&target);
    nothing_was_wrong();
}
END_TEST

/* Of any length, from anywhere in lent memory, also across the ends of one registration. */
START_TEST(long_puts_are_read_from_lent_memory)
{
    uint64_t state = unit_seed();
    target_t target;

    open_target(&target);
    for (unsigned i = 0; i < 300; i++) {
        const size_t length = 1 + unit_random(&state) % (256 << 10), from = unit_random(&state) % (LENT - length);
        const uint64_t offset = unit_random(&state) % (WINDOW - length);

        while (put(&target, offset, target.lent + from, length) != KEEL_OK) {
            flush(&target); /* no room */
        }
        if (i % 8 == 0) {
            flush(&target);
            ck_assert_int_eq(memcmp(target.base + offset, target.lent + from, length), 0);
        }
    }
    close_target(&target);
    nothing_was_wrong();
}
END_TEST

START_TEST(what_cannot_be_put_is_refused)
{
    static unsigned char own[4096];
    target_t target;

    open_target(&target);
    /* no rank has lent this memory */
    ck_assert_int_eq(put(&target, 0, own, sizeof(own)), KEEL_ERR_UNSUPPORTED);
    ck_assert_int_eq(put(&target, WINDOW - 8, own, 16), KEEL_ERR_RANGE);
    ck_assert_int_eq(put(&target, WINDOW, own, 0), KEEL_OK);
    stub_set(1, 0, 0);
    /* no more memory can be locked */
    ck_assert_int_eq(put(&target, 0, target.lent, 4096), KEEL_ERR_UNSUPPORTED);
    ck_assert_int_eq(put(&target, 0, target.lent, 8), KEEL_OK);
    target.sides[0].ops->key_close(target.sides[0].transport, target.key);
    ck_assert_int_eq(open_key(&target, 1), KEEL_ERR_UNSUPPORTED);
    stub_set(1, 0, SIZE_MAX);
    ck_assert_int_eq(open_key(&target, 0), KEEL_ERR_UNSUPPORTED);
    flush(&target);
    close_target(&target);
    nothing_was_wrong();
}
END_TEST

/* Puts under way behind a full queue end, and so do puts under way at the death of the peer. */
START_TEST(puts_under_way_end_with_their_peer)
{
    target_t target;
    uint64_t word = 1;
    unsigned count = 0;

    open_target(&target);
    stub_hold(1);
    while (put(&target, 0, &word, sizeof(word)) == KEEL_OK) {
        ck_assert_uint_lt(++count, 10000);
    }
    ck_assert_int_eq(target.sides[0].ops->flush(target.sides[0].transport, 1, on_done, &target), KEEL_INPROGRESS);
    ck_assert_uint_eq(target.told, 0);
    stub_hold(0);
    progress_until(&target.sides[0], target.told == 1);
    ck_assert_int_eq(target.how, KEEL_OK);
    stub_cut(((keel_verbs_t *)target.sides[1].transport)->device.context);
    ck_assert_int_eq(put(&target, 0, &word, sizeof(word)), KEEL_OK);
    ck_assert_int_eq(target.sides[0].ops->flush(target.sides[0].transport, 1, on_done, &target), KEEL_INPROGRESS);
    progress_until(&target.sides[0], target.sides[0].suspects == 1);
    ck_assert_uint_eq(target.told, 1);
    ck_assert_int_eq(put(&target, 0, &word, sizeof(word)), KEEL_ERR_UNREACHABLE);
    target.sides[0].ops->disconnect(target.sides[0].transport, 1);
    ck_assert_uint_eq(target.told, 2);
    ck_assert_int_eq(target.how, KEEL_ERR_UNREACHABLE);
    close_target(&target);
}
END_TEST

/* A process declared dead lives, and puts: no put is written after disconnect(). */
START_TEST(a_put_after_disconnect_is_not_written)
{
    target_t target;
    uint64_t word = 7;

    open_target(&target);
    ck_assert_int_eq(put(&target, 0, &word, sizeof(word)), KEEL_OK);
    flush(&target);
    ck_assert_int_eq(memcmp(target.base, &word, sizeof(word)), 0);
    word = 8;
    ck_assert_int_eq(put(&target, 0, &word, sizeof(word)), KEEL_OK); /* under way */
    target.sides[1].ops->disconnect(target.sides[1].transport, 0);
    progress_until(&target.sides[0], target.sides[0].suspects == 1);
    word = 7;
    ck_assert_int_eq(memcmp(target.base, &word, sizeof(word)), 0);
    close_target(&target);
}
END_TEST

/* ---- gets ---- */

START_TEST(gets_bring_what_is_there)
{
    uint64_t state = unit_seed();
    static unsigned char buffers[8][KEEL_VERBS_READ_MAX];
    size_t offsets[8], lengths[8];
    target_t target;
    side_t *side = &target.sides[0];

    open_target(&target);
    fill(target.base, WINDOW, 9);
    for (unsigned round = 0; round < 40; round++) {
        const unsigned told = target.told;

        for (unsigned i = 0; i < 8; i++) {
            lengths[i] = 1 + unit_random(&state) % KEEL_VERBS_READ_MAX;
            offsets[i] = unit_random(&state) % (WINDOW - lengths[i]);
            ck_assert_int_eq(
                side->ops->get(side->transport, target.key, offsets[i], buffers[i], lengths[i], on_done, &target),
                KEEL_INPROGRESS);
        }
        /* No slot is free. A get beyond the window is refused all the same. */
        ck_assert_int_eq(side->ops->get(side->transport, target.key, 0, buffers[0], 8, on_done, &target),
                         KEEL_ERR_NO_MEMORY);
        ck_assert_int_eq(side->ops->get(side->transport, target.key, WINDOW, buffers[0], 8, on_done, &target),
                         KEEL_ERR_RANGE);
        progress_until(side, target.told == told + 8);
        ck_assert_int_eq(target.how, KEEL_OK);
        for (unsigned i = 0; i < 8; i++) {
            ck_assert_int_eq(memcmp(buffers[i], target.base + offsets[i], lengths[i]), 0);
        }
    }
    close_target(&target);
    nothing_was_wrong();
}
END_TEST

/* Issues a get, and a put of the fetched bytes behind a fence. */
static void get_and_record(target_t *target, uint64_t from, uint64_t to, unsigned char *record, size_t length)
{
    side_t *side = &target->sides[0];
    static volatile uint64_t word;

    word = from + 1;
    ck_assert_int_eq(side->ops->get(side->transport, target->key, from, record + 24, length, on_done, target),
                     KEEL_INPROGRESS);
    side->ops->fence(side->transport);
    ck_assert_int_eq(side->ops->put_record(side->transport, target->key, to, record, 24 + length), KEEL_INPROGRESS);
    side->ops->fence(side->transport);
    ck_assert_int_eq(side->ops->put_record(side->transport, target->key, to - 8, (const void *)&word, sizeof(word)),
                     KEEL_INPROGRESS);
    side->ops->fence(side->transport);
    word = 0;
}

START_TEST(what_gets_bring_is_recorded_behind_them)
{
    static const size_t lengths[] = {8, 64, 2000};
    target_t target;
    uint64_t word;

    open_target(&target);
    fill(target.base, WINDOW / 2, 9);
    for (unsigned i = 0; i < 60; i++) {
        const size_t length = lengths[i % 3];
        const uint64_t from = i * 5000, to = WINDOW / 2 + 8 + i * 4096;
        unsigned char *record = target.lent + i * 4096;

        get_and_record(&target, from, to, record, length);
        if (i % 7 == 6) {
            flush(&target);
        }
        exchange(target.sides, (i % 5 == 4) ? 1 : 0);
        if (i % 7 == 6) {
            memcpy(&word, target.base + to - 8, sizeof(word));
            ck_assert_uint_eq(word, from + 1);
            ck_assert_int_eq(memcmp(target.base + to, record, 24), 0);
            ck_assert_int_eq(memcmp(target.base + to + 24, target.base + from, length), 0);
        }
    }
    flush(&target);
    progress_until(&target.sides[0], target.told >= 60);
    ck_assert_uint_eq(stub_counts().unfenced, 0);
    close_target(&target);
    nothing_was_wrong();
}
END_TEST

/* After each get there is room for its record, for any number of puts. */
START_TEST(there_is_room_for_the_record_of_a_get)
{
    target_t target;
    side_t *side = &target.sides[0];
    uint64_t word = 1;
    unsigned records = 0;

    open_target(&target);
    stub_hold(1);
    while (side->ops->get(side->transport, target.key, 0, target.lent, 64, on_done, &target) == KEEL_INPROGRESS) {
        while (records % 2 == 0 && put(&target, 0, &word, sizeof(word)) == KEEL_OK) {
        }
        side->ops->fence(side->transport);
        ck_assert_int_eq(side->ops->put_record(side->transport, target.key, 64, target.lent, 64), KEEL_INPROGRESS);
        ck_assert_int_eq(side->ops->put_record(side->transport, target.key, 8, &word, sizeof(word)), KEEL_INPROGRESS);
        ck_assert_uint_lt(++records, 10000);
    }
    ck_assert_uint_gt(records, 0);
    stub_hold(0);
    flush(&target);
    close_target(&target);
    nothing_was_wrong();
}
END_TEST

START_TEST(gets_under_way_end_with_their_peer)
{
    static unsigned char buffer[64], before[64];
    target_t target;
    side_t *side = &target.sides[0];

    open_target(&target);
    fill(target.base, WINDOW, 9);
    stub_cut(((keel_verbs_t *)target.sides[1].transport)->device.context);
    ck_assert_int_eq(side->ops->get(side->transport, target.key, 0, buffer, sizeof(buffer), on_done, &target),
                     KEEL_INPROGRESS);
    progress_until(side, side->suspects == 1);
    ck_assert_uint_eq(target.told, 0);
    side->ops->disconnect(side->transport, 1);
    ck_assert_uint_eq(target.told, 1);
    ck_assert_int_eq(target.how, KEEL_ERR_UNREACHABLE);
    ck_assert_int_eq(memcmp(buffer, before, sizeof(buffer)), 0);
    close_target(&target);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {messages_of_all_lengths_arrive_whole_and_in_order,
                                  no_connection_is_made_before_something_is_sent,
                                  idle_receiver_is_sent_as_much_as_it_has_room_for,
                                  completions_that_are_late_hold_up_and_lose_nothing,
                                  the_numbers_of_requests_come_round,
                                  a_connection_that_breaks_is_a_suspicion_once,
                                  a_process_that_is_cut_off_reaches_nothing_after_disconnect,
                                  a_replacement_is_served_when_its_predecessor_is_disconnected,
                                  a_process_that_ends_is_a_suspicion,
                                  a_device_that_will_not_do_is_an_error,
                                  memory_that_cannot_be_registered_is_an_error,
                                  many_puts_and_a_flush_are_few_posts_and_completions,
                                  a_request_comes_behind_puts,
                                  long_puts_are_read_from_lent_memory,
                                  what_cannot_be_put_is_refused,
                                  puts_under_way_end_with_their_peer,
                                  a_put_after_disconnect_is_not_written,
                                  gets_bring_what_is_there,
                                  what_gets_bring_is_recorded_behind_them,
                                  there_is_room_for_the_record_of_a_get,
                                  gets_under_way_end_with_their_peer,
                                  NULL};
    return unit_run("transport_verbs", tests);
}
