/*
 * Processes outside the job that speak UCX and Keel's messages: a process with another secret, a
 * process that forges messages without a secret, and a process that replays captured messages. All
 * ends are in this process.
 */
#include "transports/ucp/ucp_ops.h"
#include "transports/ucp/ucp_blob.h"
#include "transports/ucp/ucp_link.h"

#include "base/auth.h"
#include "base/memory.h"
#include "unit.h"

#include <stdatomic.h>
#include <sched.h>
#include <string.h>

enum { RANKS = 2, CAPTURES = 8, CAPTURE_MAX = 4096 };

/* A rank, or a process that claims to be a rank. */
typedef struct end {
    keel_transport_t *transport;
    keel_auth_t auth;
    keel_message_t message;
    atomic_uint requests, replies, refused;
    char why[256];
} end_t;

/* UCX without a transport of Keel's. */
typedef struct raw {
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_address_t *address;
    size_t address_len;
    struct {
        size_t header_len, data_len;
        unsigned char header[CAPTURE_MAX], data[CAPTURE_MAX];
    } capture[CAPTURES];
    unsigned captures;
} raw_t;

static const uint32_t node[RANKS] = {0, 1};
static const uint8_t job[KEEL_AUTH_SECRET] = "the job's", other[KEEL_AUTH_SECRET] = "a stranger's";

static void on_line(void *arg, keel_message_level_t level, const char *line)
{
    end_t *end = arg;

    if (strstr(line, "is dropped") != NULL) {
        snprintf(end->why, sizeof(end->why), "%s", line);
        atomic_fetch_add(&end->refused, 1);
    }
}

static int on_request(void *arg, const void *header, size_t header_len, const void *data, size_t data_len)
{
    end_t *end = arg;
    uint32_t source;

    ck_assert_uint_eq(header_len, sizeof(source));
    memcpy(&source, header, sizeof(source));
    atomic_fetch_add(&end->requests, 1);
    (void)keel_transport_ucp_ops.reply(end->transport, source, &source, sizeof(source), NULL, 0);
    return KEEL_SERVED_AWAITED;
}

static void on_reply(void *arg, const void *header, size_t header_len, const void *data, size_t data_len)
{
    atomic_fetch_add(&((end_t *)arg)->replies, 1);
}

static int on_idle(void *arg, int is_late)
{
    return 0;
}

static void on_suspect(void *arg, uint32_t peer)
{
}

static void end_open(end_t *end, uint32_t rank, const uint8_t *secret)
{
    keel_transport_params_t params = {.rank = rank,
                                      .size = RANKS,
                                      .node = node,
                                      .is_one_host = 1,
                                      .auth = &end->auth,
                                      .lanes = "served",
                                      .message = &end->message,
                                      .on_request = on_request,
                                      .on_idle = on_idle,
                                      .on_reply = on_reply,
                                      .on_suspect = on_suspect,
                                      .arg = end};

    memset(end, 0, sizeof(*end));
    end->message = (keel_message_t){.level = KEEL_MSG_WARN, .rank = rank, .sink = on_line, .arg = end};
    keel_auth_set(&end->auth, secret);
    ck_assert_int_eq(keel_transport_ucp_ops.open(&params, &end->transport), KEEL_OK);
}

static const keel_ucp_address_blob_t *end_address(end_t *end, size_t *length_p)
{
    const void *address;

    ck_assert_int_eq(keel_transport_ucp_ops.address(end->transport, &address, length_p), KEEL_OK);
    return address;
}

static void end_connect(end_t *end, end_t *peer, uint32_t rank)
{
    size_t length;
    const void *address = end_address(peer, &length);
    unsigned lanes;

    ck_assert_int_eq(keel_transport_ucp_ops.connect(end->transport, rank, address, length, &lanes), KEEL_OK);
}

static void end_ask(end_t *end, uint32_t own, uint32_t rank)
{
    ck_assert_int_eq(keel_transport_ucp_ops.send(end->transport, rank, &own, sizeof(own), NULL, 0), KEEL_OK);
}

/* Makes progress until @a counter is at least @a least, or the test's time limit ends the test. */
static void progress_until(end_t *const *ends, raw_t *raw, atomic_uint *counter, unsigned least)
{
    while (atomic_load(counter) < least) {
        for (unsigned i = 0; ends[i] != NULL; i++) {
            (void)keel_transport_ucp_ops.progress(ends[i]->transport);
        }
        if (raw != NULL) {
            (void)ucp_worker_progress(raw->worker);
        }
        sched_yield();
    }
}

static void end_close(end_t *end)
{
    keel_transport_ucp_ops.close(end->transport);
}

/* Rank 1 of the job is served, after any attack. */
static void rank_1_is_served(end_t *zero, end_t *one)
{
    end_t *const ends[] = {zero, one, NULL};
    const unsigned before = atomic_load(&one->replies);

    end_ask(one, 1, 0);
    progress_until(ends, NULL, &one->replies, before + 1);
}

/* ---- a process with another secret ---- */

START_TEST(a_process_with_another_secret_cannot_join)
{
    end_t zero, one, stranger;
    end_t *const ends[] = {&zero, &stranger, NULL};

    end_open(&zero, 0, job);
    end_open(&stranger, 1, other);
    end_connect(&stranger, &zero, 0);
    end_ask(&stranger, 1, 0);
    progress_until(ends, NULL, &zero.refused, 1);
    ck_assert_ptr_ne(strstr(zero.why, "it was not made with the secret of this job"), NULL);
    ck_assert_uint_eq(atomic_load(&zero.requests), 0);

    end_open(&one, 1, job);
    end_connect(&zero, &one, 1);
    end_connect(&one, &zero, 0);
    rank_1_is_served(&zero, &one);
    ck_assert_uint_eq(atomic_load(&zero.requests), 1);
    end_close(&stranger);
    end_close(&one);
    end_close(&zero);
}
END_TEST

/* ---- a process without a secret ---- */

static ucs_status_t on_capture(void *arg, const void *header, size_t header_len, void *data, size_t data_len,
                               const ucp_am_recv_param_t *param)
{
    raw_t *raw = arg;

    if (raw->captures < CAPTURES && header_len <= CAPTURE_MAX && data_len <= CAPTURE_MAX) {
        memcpy(raw->capture[raw->captures].header, header, header_len);
        memcpy(raw->capture[raw->captures].data, data, data_len);
        raw->capture[raw->captures].header_len = header_len;
        raw->capture[raw->captures].data_len = data_len;
        raw->captures++;
    }
    return UCS_OK;
}

static void raw_open(raw_t *raw)
{
    const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_AM};
    const ucp_worker_params_t worker = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                        .thread_mode = UCS_THREAD_MODE_SINGLE};
    const ucp_am_handler_param_t handler = {.field_mask =
                                                UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                                                UCP_AM_HANDLER_PARAM_FIELD_ARG | UCP_AM_HANDLER_PARAM_FIELD_FLAGS,
                                            .id = KEEL_AM_ID,
                                            .cb = on_capture,
                                            .arg = raw,
                                            .flags = UCP_AM_FLAG_WHOLE_MSG};
    ucp_config_t *config;

    memset(raw, 0, sizeof(*raw));
    ck_assert_int_eq(ucp_config_read(NULL, NULL, &config), UCS_OK);
    ck_assert_int_eq(ucp_config_modify(config, "TLS", "tcp"), UCS_OK);
    ck_assert_int_eq(ucp_config_modify(config, "NET_DEVICES", "lo"), UCS_OK);
    ck_assert_int_eq(ucp_config_modify(config, "PROTO_ENABLE", "n"), UCS_OK);
    ck_assert_int_eq(ucp_init(&params, config, &raw->context), UCS_OK);
    ucp_config_release(config);
    ck_assert_int_eq(ucp_worker_create(raw->context, &worker, &raw->worker), UCS_OK);
    ck_assert_int_eq(ucp_worker_set_am_recv_handler(raw->worker, &handler), UCS_OK);
    ck_assert_int_eq(ucp_worker_get_address(raw->worker, &raw->address, &raw->address_len), UCS_OK);
}

static void raw_close(raw_t *raw)
{
    ucp_worker_release_address(raw->worker, raw->address);
    ucp_worker_destroy(raw->worker);
    ucp_cleanup(raw->context);
}

static ucp_ep_h raw_connect(raw_t *raw, const keel_ucp_address_blob_t *address)
{
    const ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
                                    .address = keel_ucp_address_service(address)};
    ucp_ep_h ep;

    ck_assert_int_eq(ucp_ep_create(raw->worker, &params, &ep), UCS_OK);
    return ep;
}

static void raw_send(raw_t *raw, ucp_ep_h ep, const void *header, size_t header_len, const void *data, size_t data_len)
{
    const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_AM_SEND_FLAG_EAGER};
    ucs_status_ptr_t request = ucp_am_send_nbx(ep, KEEL_AM_ID, header, header_len, data, data_len, &param);

    ck_assert(!UCS_PTR_IS_ERR(request));
    while (UCS_PTR_IS_PTR(request) && ucp_request_check_status(request) == UCS_INPROGRESS) {
        (void)ucp_worker_progress(raw->worker);
        sched_yield();
    }
    if (UCS_PTR_IS_PTR(request)) {
        ucp_request_free(request);
    }
}

START_TEST(messages_without_the_secret_are_dropped)
{
    static raw_t raw;
    keel_service_received_t forged = {.wire = {.version = KEEL_SERVICE_WIRE_VERSION, .rank = 1, .sequence = 1u << 20}};
    const keel_ucp_address_blob_t *own, *peer;
    size_t own_len, peer_len;
    end_t zero, one;
    end_t *const ends[] = {&zero, NULL};
    ucp_ep_h ep;

    end_open(&zero, 0, job);
    end_open(&one, 1, job);
    end_connect(&zero, &one, 1);
    end_connect(&one, &zero, 0);
    rank_1_is_served(&zero, &one);
    own = end_address(&zero, &own_len);
    peer = end_address(&one, &peer_len);
    raw_open(&raw);
    ep = raw_connect(&raw, own);
    forged.wire.instance = peer->head.instance;
    /* With a valid address, and the crc of the address. */
    forged.wire.kind = KEEL_SERVICE_WIRE_HELLO;
    raw_send(&raw, ep, &forged.wire, sizeof(forged.wire), peer, peer_len);
    forged.wire.kind = KEEL_SERVICE_WIRE_BYE;
    raw_send(&raw, ep, &forged.wire, sizeof(forged.wire), NULL, 0);
    forged.wire.kind = KEEL_SERVICE_WIRE_REQUEST;
    forged.wire.header_len = sizeof(uint32_t);
    raw_send(&raw, ep, &forged, sizeof(forged.wire) + sizeof(uint32_t), NULL, 0);
    progress_until(ends, &raw, &zero.refused, 1);
    rank_1_is_served(&zero, &one);
    rank_1_is_served(&zero, &one);
    ck_assert_uint_eq(atomic_load(&zero.requests), 3);
    raw_close(&raw);
    end_close(&one);
    end_close(&zero);
}
END_TEST

/* ---- a process that captured messages of a rank ---- */

/* Rank 1 takes the stranger for rank 0: its address has rank 0's name, and leads to the
 * stranger. */
static void capture_hello(raw_t *raw, end_t *zero)
{
    size_t length;
    const keel_ucp_address_blob_t *real = end_address(zero, &length);
    keel_ucp_address_blob_t *false_one = keel_ucp_address_make(0, real->head.instance, raw->address, raw->address_len,
                                                               raw->address, raw->address_len, &real->card);
    unsigned lanes;
    end_t one;

    end_open(&one, 1, job);
    ck_assert_int_eq(keel_transport_ucp_ops.connect(one.transport, 0, false_one, false_one->head.length, &lanes),
                     KEEL_OK);
    while (raw->captures == 0) {
        (void)keel_transport_ucp_ops.progress(one.transport);
        (void)ucp_worker_progress(raw->worker);
        sched_yield();
    }
    end_close(&one);
    keel_free(false_one);
}

START_TEST(a_greeting_that_was_captured_ends_no_connection)
{
    static raw_t raw;
    keel_service_wire_t wire;
    size_t length;
    end_t zero, one;
    end_t *const ends[] = {&zero, NULL};
    ucp_ep_h ep;

    end_open(&zero, 0, job);
    raw_open(&raw);
    capture_hello(&raw, &zero);
    memcpy(&wire, raw.capture[0].header, sizeof(wire));
    ck_assert_uint_eq(wire.kind, KEEL_SERVICE_WIRE_HELLO);
    ep = raw_connect(&raw, end_address(&zero, &length));
    /* The first message passes for the process's own, outside this test; later ones are refused. */
    for (unsigned i = 0; i < 3; i++) {
        raw_send(&raw, ep, raw.capture[0].header, raw.capture[0].header_len, raw.capture[0].data,
                 raw.capture[0].data_len);
    }
    progress_until(ends, &raw, &zero.refused, 1);
    ck_assert_ptr_ne(strstr(zero.why, "that process has greeted before"), NULL);
    /* The next incarnation still joins. */
    end_open(&one, 1, job);
    end_connect(&zero, &one, 1);
    end_connect(&one, &zero, 0);
    rank_1_is_served(&zero, &one);
    raw_send(&raw, ep, raw.capture[0].header, raw.capture[0].header_len, raw.capture[0].data, raw.capture[0].data_len);
    rank_1_is_served(&zero, &one);
    raw_close(&raw);
    end_close(&one);
    end_close(&zero);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {a_process_with_another_secret_cannot_join, messages_without_the_secret_are_dropped,
                                  a_greeting_that_was_captured_ends_no_connection, NULL};

    return unit_run("transport_ucp_strangers", tests);
}
