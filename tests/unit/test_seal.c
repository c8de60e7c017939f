/* Messages are taken once, from their own connection, unchanged. */
#include "service/service_seal.h"
#include "unit.h"

#include <string.h>

enum { HEADER = 72, DATA = 200 };

static const keel_service_end_t first = {.instance = 0x1111, .rank = 0}, second = {.instance = 0x2222, .rank = 1};
static keel_auth_t auth;
static keel_service_seal_t out, in;

/* A message as the network delivers it. */
typedef struct sent {
    keel_service_received_t message;
    unsigned char data[DATA];
} sent_t;

static void setup(void)
{
    static const uint8_t secret[KEEL_AUTH_SECRET] = "a secret of the test";

    keel_auth_set(&auth, secret);
    keel_service_seal_init(&out, &auth, KEEL_SERVICE_REQUESTS, &first, &second);
    keel_service_seal_init(&in, &auth, KEEL_SERVICE_REQUESTS, &first, &second);
}

static sent_t make(keel_service_seal_t *seal, enum keel_service_wire_kind kind)
{
    sent_t sent = {.message.wire = {.version = KEEL_SERVICE_WIRE_VERSION, .kind = (uint8_t)kind, .header_len = HEADER}};

    memset(sent.message.header, 'h', HEADER);
    memset(sent.data, 'd', DATA);
    keel_service_seal_close(seal, &sent.message.wire, sent.data, DATA);
    return sent;
}

static int is_taken(keel_service_seal_t *seal, const sent_t *sent)
{
    return keel_service_seal_open(seal, &sent->message, sent->data, DATA) == NULL;
}

START_TEST(the_sum_is_siphash)
{
    uint8_t key[KEEL_AUTH_KEY], bytes[15];

    for (unsigned i = 0; i < KEEL_AUTH_KEY; i++) {
        key[i] = (uint8_t)i;
    }
    memcpy(bytes, key, sizeof(bytes));
    /* appendix A of the paper "SipHash: a fast short-input PRF" */
    ck_assert_uint_eq(keel_auth_sum(key, bytes, sizeof(bytes)), 0xa129ca6149be45e5u);
}
END_TEST

START_TEST(a_message_is_taken_once)
{
    sent_t one, two;

    setup();
    one = make(&out, KEEL_SERVICE_WIRE_REQUEST);
    two = make(&out, KEEL_SERVICE_WIRE_REQUEST);
    ck_assert(is_taken(&in, &one));
    ck_assert(!is_taken(&in, &one));
    ck_assert(is_taken(&in, &two));
    ck_assert(!is_taken(&in, &one));
    ck_assert(!is_taken(&in, &two));
}
END_TEST

START_TEST(a_message_of_before_the_last_is_refused)
{
    sent_t one, two;

    setup();
    one = make(&out, KEEL_SERVICE_WIRE_REQUEST);
    two = make(&out, KEEL_SERVICE_WIRE_REQUEST);
    ck_assert(is_taken(&in, &two));
    ck_assert(!is_taken(&in, &one));
}
END_TEST

/* Each bit of both headers, and of the data of a greeting. */
START_TEST(a_changed_bit_is_refused)
{
    const size_t headers = 8 * (sizeof(keel_service_wire_t) + HEADER);
    sent_t right, wrong;

    setup();
    right = make(&out, KEEL_SERVICE_WIRE_HELLO);
    for (size_t bit = 0; bit < headers + 8 * (size_t)DATA; bit++) {
        unsigned char *bytes = (bit < headers) ? (unsigned char *)&wrong.message : wrong.data;
        const size_t at = (bit < headers) ? bit : bit - headers;

        if (at / 8 == offsetof(keel_service_wire_t, header_len) ||
            at / 8 == offsetof(keel_service_wire_t, header_len) + 1) {
            continue; /* the check of the message's length comes before */
        }
        wrong = right;
        bytes[at / 8] ^= (unsigned char)(1u << (at % 8));
        ck_assert_msg(!is_taken(&in, &wrong), "bit %zu", bit);
    }
    ck_assert(is_taken(&in, &right)); /* and no refused message counts as taken */
}
END_TEST

START_TEST(a_message_of_another_connection_is_refused)
{
    static const uint8_t secret[KEEL_AUTH_SECRET] = "another one";
    const keel_service_end_t later = {.instance = 0x3333, .rank = 1}, elsewhere = {.instance = 0x2222, .rank = 2};
    keel_auth_t other = {.state = KEEL_AUTH_AWAITED};
    keel_service_seal_t seals[5];

    setup();
    keel_auth_set(&other, secret);
    keel_service_seal_init(&seals[0], &other, KEEL_SERVICE_REQUESTS, &first, &second);
    keel_service_seal_init(&seals[1], &auth, KEEL_SERVICE_REPLIES, &first, &second);
    keel_service_seal_init(&seals[2], &auth, KEEL_SERVICE_REQUESTS, &second, &first);
    keel_service_seal_init(&seals[3], &auth, KEEL_SERVICE_REQUESTS, &first, &later);
    keel_service_seal_init(&seals[4], &auth, KEEL_SERVICE_REQUESTS, &first, &elsewhere);
    for (unsigned i = 0; i < 5; i++) {
        sent_t sent = make(&seals[i], KEEL_SERVICE_WIRE_REQUEST);

        ck_assert_msg(!is_taken(&in, &sent), "seal %u", i);
        ck_assert_uint_ne(keel_service_seal_sum(&seals[i], "greeting", 8), keel_service_seal_sum(&in, "greeting", 8));
    }
}
END_TEST

START_TEST(nothing_is_taken_before_the_secret_is_there)
{
    const keel_auth_t awaited = {.state = KEEL_AUTH_AWAITED};
    keel_service_seal_t seal;
    sent_t sent;

    keel_service_seal_init(&seal, &awaited, KEEL_SERVICE_REQUESTS, &first, &second);
    sent = make(&seal, KEEL_SERVICE_WIRE_REQUEST);
    ck_assert(!is_taken(&seal, &sent));
}
END_TEST

/* With authentication off, a message has no sum, and a message with a sum is taken, too. With
 * authentication on, a message without a sum is refused. */
START_TEST(off_takes_everything_and_on_does_not)
{
    keel_auth_t none = {.state = KEEL_AUTH_AWAITED};
    keel_service_seal_t off;
    sent_t sent;

    setup();
    keel_auth_set_off(&none);
    keel_service_seal_init(&off, &none, KEEL_SERVICE_REQUESTS, &first, &second);
    sent = make(&off, KEEL_SERVICE_WIRE_REQUEST);
    ck_assert_uint_eq(sent.message.wire.sum, 0);
    ck_assert(is_taken(&off, &sent));
    ck_assert(is_taken(&off, &sent));
    ck_assert(!is_taken(&in, &sent));
    sent = make(&out, KEEL_SERVICE_WIRE_REQUEST);
    ck_assert(is_taken(&off, &sent));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {the_sum_is_siphash,
                                  a_message_is_taken_once,
                                  a_message_of_before_the_last_is_refused,
                                  a_changed_bit_is_refused,
                                  a_message_of_another_connection_is_refused,
                                  nothing_is_taken_before_the_secret_is_there,
                                  off_takes_everything_and_on_does_not,
                                  NULL};

    return unit_run("seal", tests);
}
