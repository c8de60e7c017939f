/*
 * The simulator keeps the contracts of transport.h and runtime_ops.h, and finds violations of them.
 */
#include "sim/random.h"
#include "sim/sim.h"

#include "base/memory.h"

#include <check.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define RANKS 3
#define WORDS 64
/* the address sanitizer takes ten times as long */
#ifdef __SANITIZE_ADDRESS__
#define SEEDS 40
#else
#define SEEDS 200
#endif

/* state of a rank in these tests; one per incarnation, made by join() */
typedef struct node {
    keel_sim_t *sim;
    struct fixture *fixture;
    uint32_t rank, incarnation;
    keel_runtime_t *runtime;
    keel_transport_t *transport;
    const keel_transport_ops_t *net;
    unsigned lanes[RANKS];
    uint64_t *memory;
    keel_transport_mem_t *mem;
    keel_transport_key_t *key[RANKS];
    unsigned completed, failed, idles;
    uint64_t next_request[RANKS], next_reply;
    int deaths, joins;
    int in_progress;
    void *peer_address[RANKS];
} node_t;

typedef struct fixture {
    void (*body)(node_t *node);
    uint64_t seed;
    keel_sim_direct_t direct;
    uint64_t kill_step;
    uint32_t victim;
    unsigned shared[16];
    node_t *nodes[RANKS];
    unsigned char blob[RANKS][64];
    size_t blob_len[RANKS];
    uint64_t *base[RANKS];
    keel_sim_t *sim;
} fixture_t;

typedef struct request {
    uint32_t from, pad;
    uint64_t number;
} request_t;

static int on_request(void *arg, const void *header, size_t header_len, const void *data, size_t data_len)
{
    node_t *node = arg;
    request_t request;

    ck_assert_uint_eq(header_len, sizeof(request));
    memcpy(&request, header, sizeof(request));
    ck_assert_uint_ge(request.number, node->next_request[request.from]);
    node->next_request[request.from] = request.number + 1;
    if (data_len > 0) {
        ck_assert_uint_eq(((const unsigned char *)data)[data_len - 1], (unsigned char)request.number);
    }
    node->net->reply(node->transport, request.from, &request, sizeof(request), data, data_len);
    return 1;
}

static int on_idle(void *arg, int is_late)
{
    (void)is_late;
    ++((node_t *)arg)->idles;
    return 0;
}

static void on_reply(void *arg, const void *header, size_t header_len, const void *data, size_t data_len)
{
    node_t *node = arg;
    request_t request;

    if (!node->in_progress) {
        ck_abort_msg("reply outside of progress()");
    }
    memcpy(&request, header, sizeof(request));
    ck_assert_uint_eq(request.number, node->next_reply);
    ++node->next_reply;
}

static void on_done(void *arg, keel_status_t status)
{
    node_t *node = arg;

    ++node->completed;
    node->failed += (status != KEEL_OK);
}

static void poll_events(node_t *node)
{
    keel_event_t event;

    while (node->runtime->ops->poll(node->runtime, &event)) {
        if (event.type == KEEL_EVENT_DEATH) {
            ck_assert_int_eq(node->deaths, node->joins);
            ++node->deaths;
            node->net->disconnect(node->transport, event.rank);
        } else if (event.type == KEEL_EVENT_JOIN) {
            ++node->joins;
            ck_assert_int_eq(node->deaths, node->joins);
            ck_assert_uint_eq(event.incarnation, (unsigned)node->joins);
            ck_assert_int_eq(node->net->connect(node->transport, event.rank, event.address, event.address_len,
                                                &node->lanes[event.rank]),
                             KEEL_OK);
        }
    }
}

static void progress(node_t *node)
{
    node->in_progress = 1;
    node->net->progress(node->transport);
    node->in_progress = 0;
    poll_events(node);
}

static void join(node_t *node)
{
    fixture_t *fixture = node->fixture;
    const struct keel_drivers *drivers = keel_sim_drivers(node->sim);
    keel_transport_params_t params = {.rank = node->rank,
                                      .size = RANKS,
                                      .lanes = "direct",
                                      .driver_arg = drivers->transport_arg,
                                      .on_request = on_request,
                                      .on_idle = on_idle,
                                      .on_reply = on_reply,
                                      .arg = node};
    const void *address;
    size_t length;
    void *other;
    uint32_t r;

    node->net = drivers->transport;
    ck_assert_int_eq(drivers->runtime->open(drivers->runtime_arg, &node->runtime), KEEL_OK);
    ck_assert_uint_eq(node->runtime->rank, node->rank);
    params.node = node->runtime->node;
    ck_assert_int_eq(node->net->open(&params, &node->transport), KEEL_OK);
    node->net->address(node->transport, &address, &length);
    ck_assert_int_eq(
        node->net->mem_alloc(node->transport, WORDS * 8, fixture->base[node->rank], &node->mem, (void **)&node->memory),
        KEEL_OK);
    fixture->base[node->rank] = node->memory;
    for (r = 0; r < WORDS; ++r) {
        ck_assert_uint_eq(node->memory[r], 0);
    }
    fixture->blob_len[node->rank] = sizeof(fixture->blob[0]);
    node->net->mem_pack(node->transport, node->mem, fixture->blob[node->rank], &fixture->blob_len[node->rank]);
    ck_assert_int_eq(drivers->runtime->announce(node->runtime, address, length), KEEL_OK);
    if (node->incarnation > 0) {
        return;
    }
    for (r = 0; r < RANKS; ++r) {
        ck_assert_int_eq(drivers->runtime->lookup(node->runtime, r, &other, &length), KEEL_OK);
        ck_assert_int_eq(node->net->connect(node->transport, r, other, length, &node->lanes[r]), KEEL_OK);
        free(other);
        ck_assert_int_eq(node->net->key_open(node->transport, r, fixture->blob[r], fixture->blob_len[r],
                                             (uintptr_t)fixture->base[r], &node->key[r]),
                         KEEL_OK);
    }
}

static void leave(node_t *node)
{
    node->net->close(node->transport);
    node->runtime->ops->close(node->runtime);
}

static void program(void *arg, keel_sim_t *sim, uint32_t rank, uint32_t incarnation)
{
    fixture_t *fixture = arg;
    node_t *node = keel_alloc(sizeof(*node), "node");

    node->sim = sim;
    node->fixture = fixture;
    node->rank = rank;
    node->incarnation = incarnation;
    join(node);
    fixture->nodes[rank] = node;
    fixture->body(node);
    leave(node);
    keel_free(node);
}

static void hook(void *arg, keel_sim_t *sim)
{
    fixture_t *fixture = arg;
    uint32_t r;

    for (r = 0; r < RANKS; ++r) {
        if (fixture->nodes[r] == NULL) { /* no deaths before all have met */
            keel_sim_hook_at(sim, keel_sim_step(sim) + 1);
            return;
        }
    }
    keel_sim_kill(sim, fixture->victim);
}

static keel_sim_end_t run(fixture_t *fixture, uint64_t seed, void (*body)(node_t *), char *flaw)
{
    static const uint32_t nodes[RANKS] = {0, 0, 0};
    const keel_sim_options_t options = {.seed = seed,
                                        .ranks = RANKS,
                                        .node = nodes,
                                        .direct = fixture->direct,
                                        .step_limit = 200000,
                                        .program = program,
                                        .hook = hook,
                                        .arg = fixture};
    keel_sim_end_t end;

    fixture->seed = seed;
    fixture->body = body;
    ck_assert_int_eq(keel_sim_create(&options, &fixture->sim), KEEL_OK);
    if (fixture->kill_step > 0) {
        keel_sim_hook_at(fixture->sim, fixture->kill_step);
    }
    end = keel_sim_run(fixture->sim);
    snprintf(flaw, 200, "%s", keel_sim_flaw_text(fixture->sim));
    fixture->shared[15] = (unsigned)keel_sim_step(fixture->sim);
    keel_sim_destroy(fixture->sim);
    return end;
}

static void expect_done(void (*body)(node_t *), keel_sim_direct_t direct)
{
    char flaw[200];
    uint64_t seed;

    for (seed = 1; seed <= SEEDS; ++seed) {
        fixture_t fixture = {.direct = direct};

        ck_assert_msg(run(&fixture, seed, body, flaw) == KEEL_SIM_DONE, "seed %llu: %s", (unsigned long long)seed,
                      flaw);
    }
}

static void expect_flaw(void (*body)(node_t *), keel_sim_direct_t direct, const char *text)
{
    char flaw[200];
    unsigned found = 0;
    uint64_t seed;

    for (seed = 1; seed <= 20; ++seed) {
        fixture_t fixture = {.direct = direct};

        if (run(&fixture, seed, body, flaw) == KEEL_SIM_FLAW) {
            ck_assert_msg(strstr(flaw, text) != NULL, "found another: %s", flaw);
            ++found;
        }
    }
    ck_assert_uint_gt(found, 0);
}

static void sleep_us(node_t *node, unsigned timeout_us)
{
    const unsigned round = 1000000; /* the rank has polled long enough */

    node->net->wait(node->transport, round, timeout_us, 0);
}

/*
 * Meets all ranks: increments a word that every rank polls. The word is test memory outside of the
 * simulated memory.
 */
static void meet(node_t *node, unsigned which)
{
    ++node->fixture->shared[which];
    while (node->fixture->shared[which] < RANKS) {
        progress(node);
        sleep_us(node, 10);
    }
}

/* ---- served ---- */

static void exchange_messages(node_t *node)
{
    unsigned char data[8][100];
    const uint32_t peer = (node->rank + 1) % RANKS;
    request_t request = {.from = node->rank};

    for (request.number = 0; request.number < 8; ++request.number) {
        memset(data[request.number], (int)request.number, sizeof(data[0]));
        ck_assert_int_eq(
            node->net->send(node->transport, peer, &request, sizeof(request), data[request.number], sizeof(data[0])),
            KEEL_OK);
    }
    while (node->next_reply < 8) {
        progress(node);
        sleep_us(node, 50);
    }
    meet(node, 0);
    ck_assert_uint_eq(node->next_request[(node->rank + RANKS - 1) % RANKS], 8);
}

START_TEST(requests_and_replies_stay_in_order_and_replies_come_in_progress)
{
    expect_done(exchange_messages, KEEL_SIM_PTR);
}
END_TEST

static void reuse_send_buffer(node_t *node)
{
    unsigned char data[16] = {0};
    request_t request = {.from = node->rank};

    node->net->send(node->transport, (node->rank + 1) % RANKS, &request, sizeof(request), data, sizeof(data));
    data[3] = 1;
    meet(node, 0);
}

START_TEST(changing_a_send_buffer_early_is_found)
{
    expect_flaw(reuse_send_buffer, KEEL_SIM_PTR, "before it was acknowledged");
}
END_TEST

static pthread_mutex_t test_mutex[RANKS];

static void hold_mutex(node_t *node)
{
    request_t request = {.from = node->rank};
    uint64_t before;
    unsigned i;

    node->net->send(node->transport, (node->rank + 1) % RANKS, &request, sizeof(request), NULL, 0);
    pthread_mutex_lock(&test_mutex[node->rank]);
    before = node->next_request[(node->rank + RANKS - 1) % RANKS];
    for (i = 0; i < 20; ++i) {
        progress(node);
        ck_assert_uint_eq(node->next_request[(node->rank + RANKS - 1) % RANKS], before);
    }
    pthread_mutex_unlock(&test_mutex[node->rank]);
    meet(node, 0);
}

START_TEST(a_mutex_keeps_the_service_side_out)
{
    for (unsigned i = 0; i < RANKS; ++i) {
        pthread_mutex_init(&test_mutex[i], NULL);
    }
    expect_done(hold_mutex, KEEL_SIM_PTR);
}
END_TEST

static void never_answer(node_t *node)
{
    while (node->rank == 1) {
        sleep_us(node, 1000);
    }
}

START_TEST(a_rank_that_waits_for_ever_is_found)
{
    expect_flaw(never_answer, KEEL_SIM_PTR, "no end");
}
END_TEST

/* ---- direct ---- */

static keel_status_t put(node_t *node, uint32_t peer, uint64_t offset, const void *data, size_t length)
{
    const keel_transport_put_t one = {offset, data, length};
    unsigned count = 1;

    return node->net->put(node->transport, node->key[peer], &one, &count);
}

/* The queue of a device is finite. */
static void put_when_there_is_room(node_t *node, uint32_t peer, uint64_t offset, const void *data, size_t length)
{
    keel_status_t status;

    while ((status = put(node, peer, offset, data, length)) == KEEL_ERR_NO_MEMORY) {
        progress(node);
    }
    ck_assert(status == KEEL_OK);
}

static void flush_is_complete(node_t *node)
{
    const uint32_t peer = (node->rank + 1) % RANKS;
    uint64_t data[WORDS];
    unsigned issued = 0, i;

    for (i = 0; i < WORDS; ++i) {
        data[i] = node->rank * 1000 + i;
    }
    for (i = 0; i < WORDS; i += 4) {
        put_when_there_is_room(node, peer, i * 8, &data[i], 32);
    }
    issued += (node->net->flush(node->transport, peer, on_done, node) == KEEL_INPROGRESS);
    while (node->completed < issued) {
        progress(node);
    }
    ck_assert_int_eq(memcmp(node->fixture->base[peer], data, sizeof(data)), 0);
    meet(node, 0);
}

START_TEST(flush_completes_when_all_before_took_effect)
{
    expect_done(flush_is_complete, KEEL_SIM_RMA);
}
END_TEST

static void fence_orders(node_t *node)
{
    const uint32_t peer = (node->rank + 1) % RANKS;
    const uint64_t one = 1;
    uint64_t *seen = node->fixture->base[peer];
    unsigned i;

    put(node, peer, 0, &one, 8);
    node->net->fence(node->transport);
    put(node, peer, 8, &one, 8);
    for (i = 0; i < 30; ++i) {
        ck_assert(!seen[1] || seen[0]);
        if (seen[0] && !seen[1]) {
            node->fixture->shared[1] |= 1;
        }
        progress(node);
    }
    meet(node, 0);
    while (!seen[1]) { /* the buffer is on this stack */
        progress(node);
    }
    put(node, peer, 16, &one, 8);
    put(node, peer, 24, &one, 8);
    while (!seen[2] || !seen[3]) {
        node->fixture->shared[2] |= (seen[3] && !seen[2]);
        progress(node);
    }
    meet(node, 3);
}

START_TEST(fence_orders_puts_and_nothing_else_does)
{
    char flaw[200];
    unsigned reordered = 0;
    uint64_t seed;

    for (seed = 1; seed <= SEEDS; ++seed) {
        fixture_t fixture = {.direct = KEEL_SIM_RMA};

        ck_assert_msg(run(&fixture, seed, fence_orders, flaw) == KEEL_SIM_DONE, "%s", flaw);
        reordered += fixture.shared[2];
    }
    ck_assert_uint_gt(reordered, SEEDS / 10);
}
END_TEST

static void reuse_put_buffer(node_t *node)
{
    uint64_t word = 5;

    put(node, 0, 8 * node->rank, &word, 8);
    word = 6;
    meet(node, 0);
    while (node->fixture->base[0][node->rank] == 0) {
        progress(node);
    }
}

START_TEST(changing_a_put_buffer_early_is_found)
{
    expect_flaw(reuse_put_buffer, KEEL_SIM_RMA, "before it was complete");
}
END_TEST

static void leave_the_region(node_t *node)
{
    uint64_t word = 0;

    put(node, 0, WORDS * 8 - 4, &word, 8);
}

START_TEST(access_beyond_a_region_is_found)
{
    expect_flaw(leave_the_region, KEEL_SIM_RMA, "of a region");
}
END_TEST

/* ---- death ---- */

/* Each rank puts to the next rank until rank 1 has died and come back everywhere. */
static void outlive(node_t *node)
{
    const uint32_t peer = (node->rank + 1) % RANKS;
    uint64_t word[200];
    unsigned i;

    if (node->incarnation > 0) {
        ck_assert_uint_eq(node->rank, 1);
        node->fixture->shared[1] = 1;
        while (node->fixture->shared[2] < RANKS - 1) {
            progress(node);
            /* a check without ck_assert: an assertion that passes costs a system call */
            if (node->memory[3] != 0) {
                ck_abort_msg("what was meant for the predecessor landed here");
            }
        }
        return;
    }
    for (i = 0; (i < 200) || (node->joins == 0); ++i) {
        word[i % 200] = i + 1;
        if ((node->deaths == 0) || (peer != 1)) {
            if (node->fixture->direct == KEEL_SIM_PTR) {
                ((volatile uint64_t *)node->net->key_ptr(node->key[peer]))[3] = i + 1;
            } else if (i < 200) {
                put(node, peer, 24, &word[i], 8);
            }
        }
        progress(node);
        sleep_us(node, 20);
    }
    ++node->fixture->shared[2];
    while (node->fixture->shared[2] < RANKS - 1) {
        progress(node);
    }
}

static void expect_outlived(keel_sim_direct_t direct)
{
    char flaw[200];
    uint64_t seed;
    unsigned survived = 0;

    for (seed = 1; seed <= SEEDS; ++seed) {
        fixture_t fixture = {.direct = direct, .victim = 1, .kill_step = 1 + seed % 97 * 5};

        ck_assert_msg(run(&fixture, seed, outlive, flaw) == KEEL_SIM_DONE, "seed %llu: %s", (unsigned long long)seed,
                      flaw);
        survived += fixture.shared[1];
    }
    ck_assert_uint_eq(survived, SEEDS);
}

START_TEST(late_traffic_never_reaches_the_replacement_ptr)
{
    expect_outlived(KEEL_SIM_PTR);
}
END_TEST

START_TEST(late_traffic_never_reaches_the_replacement_rma)
{
    expect_outlived(KEEL_SIM_RMA);
}
END_TEST

/*
 * The replacement of rank 1 sends requests to rank 0, which stays connected to the predecessor for
 * a while.
 */
static void ask_early(node_t *node)
{
    fixture_t *fixture = node->fixture;
    unsigned i;

    if (node->incarnation > 0) {
        request_t request = {.from = node->rank};
        const void *address;
        size_t length;

        node->net->address(fixture->nodes[0]->transport, &address, &length);
        ck_assert_int_eq(node->net->connect(node->transport, 0, address, length, &node->lanes[0]), KEEL_OK);
        for (; request.number < 3; ++request.number) {
            node->net->send(node->transport, 0, &request, sizeof(request), NULL, 0);
        }
        fixture->shared[1] = 1;
        while (node->next_reply < 3) {
            progress(node);
            sleep_us(node, 20);
        }
        fixture->shared[2] = 1;
        return;
    }
    for (i = 0; !fixture->shared[1] || (i < 100); i += fixture->shared[1]) {
        node->net->progress(node->transport); /* does not poll events */
        sleep_us(node, 20);
    }
    while (!fixture->shared[2]) {
        progress(node);
        sleep_us(node, 20);
    }
}

START_TEST(a_request_waits_until_the_predecessor_is_disconnected)
{
    char flaw[200];
    uint64_t seed;

    for (seed = 1; seed <= SEEDS; ++seed) {
        fixture_t fixture = {.direct = KEEL_SIM_PTR, .victim = 1, .kill_step = 1 + seed % 97 * 5};

        ck_assert_msg(run(&fixture, seed, ask_early, flaw) == KEEL_SIM_DONE, "seed %llu: %s", (unsigned long long)seed,
                      flaw);
        ck_assert_uint_eq(fixture.shared[2], 1);
    }
}
END_TEST

/*
 * Rank 1 writes increasing numbers to rank 0 until it dies. After disconnect() no further number
 * may arrive.
 */
static void cut_off(node_t *node)
{
    uint64_t word[400], seen;
    unsigned i;

    if (node->incarnation > 0) {
        node->fixture->shared[1] = 1;
        return;
    }
    for (i = 0; (node->rank == 1); ++i) {
        if (i < 400) {
            word[i] = i + 1;
            put(node, 0, 40, &word[i], 8);
        }
        progress(node);
    }
    while (node->deaths == 0) {
        progress(node);
        sleep_us(node, 20);
    }
    seen = node->memory[5];
    while (!node->fixture->shared[1] || (i++ < 200)) {
        progress(node);
        if (node->memory[5] != seen) {
            ck_abort_msg("a put of the dead arrived after disconnect()");
        }
        sleep_us(node, 20);
    }
}

START_TEST(nothing_one_sided_arrives_after_disconnect)
{
    char flaw[200];
    uint64_t seed;

    for (seed = 1; seed <= SEEDS; ++seed) {
        fixture_t fixture = {.direct = KEEL_SIM_RMA, .victim = 1, .kill_step = 300 + seed};

        ck_assert_msg(run(&fixture, seed, cut_off, flaw) == KEEL_SIM_DONE, "seed %llu: %s", (unsigned long long)seed,
                      flaw);
    }
}
END_TEST

/*
 * Rank 1 dies while gets from it are under way. Each get completes, with success and true data or
 * with unreachable.
 */
static void get_from_the_dead(node_t *node)
{
    uint64_t word[100];
    unsigned issued = 0, i;

    if ((node->incarnation > 0) || (node->rank == 1)) {
        node->memory[7] = 77;
        while (node->fixture->shared[1] < RANKS - 1) {
            progress(node);
        }
        return;
    }
    while (node->fixture->base[1][7] != 77) {
        progress(node);
    }
    for (i = 0; i < 100; ++i) {
        word[i] = 77;
        if (node->deaths == 0) {
            issued +=
                (node->net->get(node->transport, node->key[1], 56, &word[i], 8, on_done, node) == KEEL_INPROGRESS);
        }
        progress(node);
    }
    while ((node->completed < issued) || (node->joins == 0)) {
        progress(node);
        sleep_us(node, 20);
    }
    for (i = 0; i < 100; ++i) {
        ck_assert_uint_eq(word[i], 77);
    }
    ++node->fixture->shared[1];
    node->fixture->shared[2] += node->failed;
}

START_TEST(accesses_towards_the_dead_end_with_disconnect)
{
    char flaw[200];
    unsigned failed = 0;
    uint64_t seed;

    for (seed = 1; seed <= SEEDS; ++seed) {
        fixture_t fixture = {.direct = KEEL_SIM_RMA, .victim = 1, .kill_step = 200 + seed};

        ck_assert_msg(run(&fixture, seed, get_from_the_dead, flaw) == KEEL_SIM_DONE, "seed %llu: %s",
                      (unsigned long long)seed, flaw);
        failed += fixture.shared[2];
    }
    ck_assert_uint_gt(failed, 0);
}
END_TEST

static void leak(node_t *node)
{
    ck_assert_ptr_nonnull(keel_alloc(10, "lost"));
    meet(node, 0);
}

START_TEST(memory_left_behind_is_found)
{
    expect_flaw(leak, KEEL_SIM_PTR, "left 10 bytes allocated (lost)");
}
END_TEST

START_TEST(a_seed_reproduces_a_run)
{
    char flaw[200];
    unsigned differ = 0, before = 0;
    uint64_t seed;

    for (seed = 1; seed <= 20; ++seed) {
        fixture_t first = {.direct = KEEL_SIM_RMA, .victim = 1, .kill_step = 100};
        fixture_t second = first;

        run(&first, seed, outlive, flaw);
        run(&second, seed, outlive, flaw);
        ck_assert_uint_eq(first.shared[15], second.shared[15]);
        differ += (first.shared[15] != before);
        before = first.shared[15];
    }
    ck_assert_uint_gt(differ, 15);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("simulator");
    TCase *tcase = tcase_create("contracts");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, requests_and_replies_stay_in_order_and_replies_come_in_progress);
    tcase_add_test(tcase, changing_a_send_buffer_early_is_found);
    tcase_add_test(tcase, a_mutex_keeps_the_service_side_out);
    tcase_add_test(tcase, a_rank_that_waits_for_ever_is_found);
    tcase_add_test(tcase, flush_completes_when_all_before_took_effect);
    tcase_add_test(tcase, fence_orders_puts_and_nothing_else_does);
    tcase_add_test(tcase, changing_a_put_buffer_early_is_found);
    tcase_add_test(tcase, access_beyond_a_region_is_found);
    tcase_add_test(tcase, late_traffic_never_reaches_the_replacement_ptr);
    tcase_add_test(tcase, late_traffic_never_reaches_the_replacement_rma);
    tcase_add_test(tcase, a_request_waits_until_the_predecessor_is_disconnected);
    tcase_add_test(tcase, nothing_one_sided_arrives_after_disconnect);
    tcase_add_test(tcase, accesses_towards_the_dead_end_with_disconnect);
    tcase_add_test(tcase, memory_left_behind_is_found);
    tcase_add_test(tcase, a_seed_reproduces_a_run);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return (failed == 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}
