/*
 * include/keel/ucp.h beside UCP's own headers: the same values, and each call on two ranks that
 * access each other's memory. ucp_names served also demands that accesses return requests.
 */
#include <ucp/api/ucp.h>

#include <keel/ucp.h>

#include <stdio.h>

#define SAME(_name) _Static_assert((long)KEEL_##_name == (long)_name, #_name)
SAME(UCS_OK);
SAME(UCS_INPROGRESS);
SAME(UCS_ERR_NO_RESOURCE);
SAME(UCS_ERR_IO_ERROR);
SAME(UCS_ERR_NO_MEMORY);
SAME(UCS_ERR_INVALID_PARAM);
SAME(UCS_ERR_UNREACHABLE);
SAME(UCS_ERR_INVALID_ADDR);
SAME(UCS_ERR_MESSAGE_TRUNCATED);
SAME(UCS_ERR_CANCELED);
SAME(UCS_ERR_OUT_OF_RANGE);
SAME(UCS_ERR_EXCEEDS_LIMIT);
SAME(UCS_ERR_UNSUPPORTED);
SAME(UCS_ERR_REJECTED);
SAME(UCS_ERR_NOT_CONNECTED);
SAME(UCS_ERR_CONNECTION_RESET);
SAME(UCS_ERR_LAST);
SAME(UCP_OP_ATTR_FIELD_CALLBACK);
SAME(UCP_OP_ATTR_FIELD_USER_DATA);
SAME(UCP_OP_ATTR_FIELD_DATATYPE);
SAME(UCP_OP_ATTR_FIELD_REPLY_BUFFER);
SAME(UCP_OP_ATTR_FLAG_FAST_CMPL);
SAME(UCP_OP_ATTR_FLAG_MULTI_SEND);
SAME(UCP_ATOMIC_OP_ADD);
SAME(UCP_ATOMIC_OP_SWAP);
SAME(UCP_ATOMIC_OP_CSWAP);
SAME(UCP_ATOMIC_OP_AND);
SAME(UCP_ATOMIC_OP_OR);
SAME(UCP_ATOMIC_OP_XOR);
SAME(UCP_ATOMIC_OP_LAST);
SAME(UCP_ATOMIC_POST_OP_ADD);
SAME(UCP_ATOMIC_POST_OP_AND);
SAME(UCP_ATOMIC_POST_OP_OR);
SAME(UCP_ATOMIC_POST_OP_XOR);
SAME(UCP_ATOMIC_POST_OP_LAST);
SAME(UCP_ATOMIC_FETCH_OP_FADD);
SAME(UCP_ATOMIC_FETCH_OP_SWAP);
SAME(UCP_ATOMIC_FETCH_OP_CSWAP);
SAME(UCP_ATOMIC_FETCH_OP_FAND);
SAME(UCP_ATOMIC_FETCH_OP_FOR);
SAME(UCP_ATOMIC_FETCH_OP_FXOR);
SAME(UCP_ATOMIC_FETCH_OP_LAST);
_Static_assert(keel_ucp_dt_make_contig(8) == ucp_dt_make_contig(8), "a contiguous datatype");

#define WORDS 512u
#define BASE  0x100000u /* the address of each part: any number */

static unsigned failures, requests, called, called_old;
static keel_context_h ctx;
static keel_ucp_ep_h ep, own;
static keel_ucp_rkey_h key;

#define CHECK(_condition)                                   \
    do {                                                    \
        if (!(_condition)) {                                \
            failures++;                                     \
            printf("line %d: %s\n", __LINE__, #_condition); \
        }                                                   \
    } while (0)

static void on_done(void *request, keel_ucs_status_t status, void *user_data)
{
    CHECK(request != NULL && status == KEEL_UCS_OK && user_data == &called);
    called++;
    keel_ucp_request_free(request);
}

static keel_ucs_status_t complete(keel_ucs_status_ptr_t request)
{
    keel_ucs_status_t status = KEEL_UCS_PTR_STATUS(request);

    if (!KEEL_UCS_PTR_IS_PTR(request)) {
        CHECK(KEEL_UCS_PTR_IS_ERR(request) == (status < 0));
        return status;
    }
    while ((status = keel_ucp_request_check_status(request)) == KEEL_UCS_INPROGRESS) {
        CHECK(keel_ucp_worker_progress(ctx) == 0);
    }
    keel_ucp_request_free(request);
    return status;
}

static void check_statuses(void)
{
    for (int s = KEEL_OK - 1; s > KEEL_ERR_LAST; s--) {
        const keel_ucs_status_t status = keel_ucs_status((keel_status_t)s);

        CHECK(KEEL_UCS_STATUS_IS_ERR(status) && status > KEEL_UCS_ERR_LAST);
        CHECK(KEEL_UCS_PTR_IS_ERR(KEEL_UCS_STATUS_PTR(status)) && !KEEL_UCS_PTR_IS_PTR(KEEL_UCS_STATUS_PTR(status)));
        CHECK(KEEL_UCS_PTR_STATUS(KEEL_UCS_STATUS_PTR(status)) == status);
        CHECK((status == KEEL_UCS_ERR_CANCELED) == (s == KEEL_ERR_ROLLED_BACK));
        CHECK((status == KEEL_UCS_ERR_CONNECTION_RESET) == (s == KEEL_ERR_CATASTROPHIC || s == KEEL_ERR_LOST));
        CHECK((status == KEEL_UCS_ERR_NOT_CONNECTED) == (s == KEEL_ERR_ISOLATED));
    }
    CHECK(keel_ucs_status(KEEL_OK) == KEEL_UCS_OK && keel_ucs_status(KEEL_INPROGRESS) == KEEL_UCS_INPROGRESS);
    CHECK(KEEL_UCS_PTR_STATUS(NULL) == KEEL_UCS_OK && KEEL_UCS_PTR_STATUS(&failures) == KEEL_UCS_INPROGRESS);
    CHECK(strcmp(keel_ucs_status_string(KEEL_UCS_ERR_CANCELED), keel_status_string(KEEL_ERR_ROLLED_BACK)) == 0);
    CHECK(strcmp(keel_ucs_status_string(KEEL_UCS_ERR_LAST), keel_status_string(KEEL_ERR_LAST)) == 0);
}

static void check_accesses(void)
{
    uint32_t put[WORDS], got[WORDS];
    uint64_t word = 77, back = 0;
    keel_ucp_request_param_t param = {.op_attr_mask = 0};
    keel_ucs_status_ptr_t request;

    for (uint32_t i = 0; i < WORDS; i++) {
        put[i] = i + 1;
    }
    param.op_attr_mask = KEEL_UCP_OP_ATTR_FIELD_DATATYPE | KEEL_UCP_OP_ATTR_FIELD_CALLBACK |
                         KEEL_UCP_OP_ATTR_FIELD_USER_DATA | KEEL_UCP_OP_ATTR_FLAG_MULTI_SEND;
    param.datatype = keel_ucp_dt_make_contig(sizeof(put[0]));
    param.cb.send = on_done;
    param.user_data = &called;
    request = keel_ucp_put_nbx(ep, put, WORDS, BASE + 8, key, &param);
    requests += KEEL_UCS_PTR_IS_PTR(request);
    CHECK(!KEEL_UCS_PTR_IS_ERR(request) && keel_ucp_worker_fence(ctx) == KEEL_UCS_OK);
    request = keel_ucp_get_nbx(ep, got, WORDS, BASE + 8, key, &param);
    requests += KEEL_UCS_PTR_IS_PTR(request);
    CHECK(!KEEL_UCS_PTR_IS_ERR(request) && keel_ucp_worker_flush_nbx(ctx, &param) == NULL);
    CHECK(called == requests && memcmp(put, got, sizeof(put)) == 0);

    param.op_attr_mask = 0; /* bytes */
    CHECK(complete(keel_ucp_put_nbx(ep, &word, sizeof(word), BASE, key, &param)) == KEEL_UCS_OK);
    CHECK(keel_ucp_ep_flush_nbx(ep, &param) == NULL);
    CHECK(complete(keel_ucp_get_nbx(ep, &back, sizeof(back), BASE, key, &param)) == KEEL_UCS_OK && back == 77);
    word = 78;
    CHECK(keel_ucp_put_nbi(ep, &word, sizeof(word), BASE, key) >= KEEL_UCS_OK);
    CHECK(keel_ucp_ep_flush_nbx(ep, &param) == NULL);
    CHECK(keel_ucp_get_nbi(ep, &back, sizeof(back), BASE, key) >= KEEL_UCS_OK);
    CHECK(keel_ucp_ep_flush_nbx(ep, &param) == NULL && back == 78);
    request = keel_ucp_get_nbx(ep, &back, sizeof(back), BASE, key, &param);
    if (KEEL_UCS_PTR_IS_PTR(request)) {
        keel_ucp_request_free(request); /* incomplete: freed on completion */
    }
    CHECK(keel_ucp_worker_flush_nbx(ctx, &param) == NULL);
}

/* A fetching atomic on the word at @a address, which holds @a before and then @a after. */
static void check_atomic(keel_ucp_atomic_op_t op, size_t size, uint64_t operand, uint64_t reply, uint64_t before,
                         uint64_t after)
{
    const uint64_t address = BASE + sizeof(uint64_t) * (WORDS + size);
    keel_ucp_request_param_t param = {.op_attr_mask = KEEL_UCP_OP_ATTR_FIELD_DATATYPE};
    uint64_t now = 0;

    param.datatype = keel_ucp_dt_make_contig(size);
    param.op_attr_mask |= KEEL_UCP_OP_ATTR_FIELD_REPLY_BUFFER;
    param.reply_buffer = &reply;
    CHECK(complete(keel_ucp_atomic_op_nbx(ep, op, &operand, 1, address, key, &param)) == KEEL_UCS_OK);
    CHECK(memcmp(&reply, &before, size) == 0);
    operand = 0; /* OR of nothing reads */
    param.reply_buffer = &now;
    CHECK(complete(keel_ucp_atomic_op_nbx(ep, KEEL_UCP_ATOMIC_OP_OR, &operand, 1, address, key, &param)) ==
          KEEL_UCS_OK);
    CHECK(now == after);
}

static void check_atomics(size_t size)
{
    keel_ucp_request_param_t param = {.op_attr_mask = KEEL_UCP_OP_ATTR_FIELD_DATATYPE};
    const uint64_t one = 1, address = BASE + sizeof(uint64_t) * (WORDS + size);

    param.datatype = keel_ucp_dt_make_contig(size);
    CHECK(complete(keel_ucp_atomic_op_nbx(ep, KEEL_UCP_ATOMIC_OP_ADD, &one, 1, address, key, &param)) == KEEL_UCS_OK);
    check_atomic(KEEL_UCP_ATOMIC_OP_ADD, size, 4, 0, 1, 5);
    check_atomic(KEEL_UCP_ATOMIC_OP_CSWAP, size, 4, 99, 5, 5);
    check_atomic(KEEL_UCP_ATOMIC_OP_CSWAP, size, 5, 99, 5, 99);
    check_atomic(KEEL_UCP_ATOMIC_OP_SWAP, size, 12, 0, 99, 12);
    check_atomic(KEEL_UCP_ATOMIC_OP_AND, size, 6, 0, 12, 4);
    check_atomic(KEEL_UCP_ATOMIC_OP_OR, size, 3, 0, 4, 7);
    check_atomic(KEEL_UCP_ATOMIC_OP_XOR, size, 5, 0, 7, 2);
}

static void on_old_done(void *request, keel_ucs_status_t status)
{
    CHECK(status == KEEL_UCS_OK);
    called_old++;
    keel_ucp_request_release(request);
}

/* Counts a request; the callback frees the request. */
static unsigned was_request(keel_ucs_status_ptr_t request)
{
    CHECK(!KEEL_UCS_PTR_IS_ERR(request));
    return KEEL_UCS_PTR_IS_PTR(request);
}

static void check_old_accesses(void)
{
    uint64_t word = 31, back = 0;
    unsigned count = called_old;
    void *place;

    count += was_request(keel_ucp_put_nb(ep, &word, sizeof(word), BASE, key, on_old_done));
    CHECK(keel_ucp_ep_flush(ep) == KEEL_UCS_OK);
    count += was_request(keel_ucp_get_nb(ep, &back, sizeof(back), BASE, key, on_old_done));
    CHECK(keel_ucp_worker_flush(ctx) == KEEL_UCS_OK);
    CHECK(back == 31 && called_old == count);
    word = 32;
    CHECK(keel_ucp_put(ep, &word, sizeof(word), BASE, key) == KEEL_UCS_OK);
    word = 0;
    CHECK(keel_ucp_ep_flush_nb(ep, 0, on_old_done) == NULL);
    CHECK(keel_ucp_get(ep, &back, sizeof(back), BASE, key) == KEEL_UCS_OK && back == 32);
    CHECK(complete(keel_ucp_get_nb(ep, &back, sizeof(back), BASE, key, NULL)) == KEEL_UCS_OK);
    CHECK(keel_ucp_worker_flush_nb(ctx, 0, on_old_done) == NULL && called_old == count);
    CHECK(keel_ucp_put(ep, &word, 8, BASE - 8, key) == KEEL_UCS_ERR_OUT_OF_RANGE);
    place = &place;
    CHECK((keel_ucp_rkey_ptr(key, BASE + 16, &place) == KEEL_UCS_OK) == (place != (void *)&place));
}

/* Posts make 10, 2, 10 and 7 of a word of 0. The fetches go on from 7. */
static void check_old_atomics(size_t size)
{
    static const struct {
        keel_ucp_atomic_fetch_op_t op;
        uint64_t value, result, before;
    } steps[] = {
        {KEEL_UCP_ATOMIC_FETCH_OP_FADD, 3, 0, 7},     {KEEL_UCP_ATOMIC_FETCH_OP_CSWAP, 11, 50, 10},
        {KEEL_UCP_ATOMIC_FETCH_OP_CSWAP, 10, 50, 10}, {KEEL_UCP_ATOMIC_FETCH_OP_SWAP, 12, 0, 50},
        {KEEL_UCP_ATOMIC_FETCH_OP_FAND, 6, 0, 12},    {KEEL_UCP_ATOMIC_FETCH_OP_FOR, 3, 0, 4},
        {KEEL_UCP_ATOMIC_FETCH_OP_FXOR, 5, 0, 7},     {KEEL_UCP_ATOMIC_FETCH_OP_FADD, 0, 0, 2},
    };
    const uint64_t address = BASE + sizeof(uint64_t) * (WORDS + 16 + size);
    const unsigned before = called_old;
    unsigned count = 0;

    CHECK(keel_ucp_atomic_post(ep, KEEL_UCP_ATOMIC_POST_OP_ADD, 10, size, address, key) == KEEL_UCS_OK);
    CHECK(keel_ucp_ep_flush(ep) == KEEL_UCS_OK);
    CHECK(keel_ucp_atomic_post(ep, KEEL_UCP_ATOMIC_POST_OP_AND, 2, size, address, key) == KEEL_UCS_OK);
    CHECK(keel_ucp_ep_flush(ep) == KEEL_UCS_OK);
    CHECK(keel_ucp_atomic_post(ep, KEEL_UCP_ATOMIC_POST_OP_OR, 8, size, address, key) == KEEL_UCS_OK);
    CHECK(keel_ucp_ep_flush(ep) == KEEL_UCS_OK);
    CHECK(keel_ucp_atomic_post(ep, KEEL_UCP_ATOMIC_POST_OP_XOR, 13, size, address, key) == KEEL_UCS_OK);
    CHECK(keel_ucp_ep_flush(ep) == KEEL_UCS_OK);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        uint64_t result = steps[i].result;

        count += was_request(
            keel_ucp_atomic_fetch_nb(ep, steps[i].op, steps[i].value, &result, size, address, key, on_old_done));
        CHECK(keel_ucp_worker_flush(ctx) == KEEL_UCS_OK);
        CHECK(result == steps[i].before && called_old == before + count);
    }
    CHECK(keel_ucp_atomic_post(ep, KEEL_UCP_ATOMIC_POST_OP_LAST, 1, size, address, key) == KEEL_UCS_ERR_INVALID_PARAM);
    CHECK(KEEL_UCS_PTR_STATUS(keel_ucp_atomic_fetch_nb(ep, KEEL_UCP_ATOMIC_FETCH_OP_LAST, 1, &count, size, address, key,
                                                       NULL)) == KEEL_UCS_ERR_INVALID_PARAM);
    CHECK(keel_ucp_atomic_post(ep, KEEL_UCP_ATOMIC_POST_OP_ADD, 1, 3, address, key) == KEEL_UCS_ERR_UNSUPPORTED);
}

static void check_errors(uint32_t peer)
{
    keel_ucp_request_param_t param = {.op_attr_mask = 0};
    uint64_t word = 0;
    keel_ucp_ep_h none;

    CHECK(keel_ucp_ep_create(ctx, 2, &none) == KEEL_UCS_ERR_INVALID_ADDR);
    CHECK(keel_ucp_ep_create(ctx, 1 - peer, &own) == KEEL_UCS_OK);
    CHECK(complete(keel_ucp_put_nbx(own, &word, 8, BASE, key, &param)) == KEEL_UCS_ERR_INVALID_PARAM);
    CHECK(keel_ucp_put_nbi(own, &word, 8, BASE, key) == KEEL_UCS_ERR_INVALID_PARAM);
    CHECK(keel_ucp_get_nbi(own, &word, 8, BASE, key) == KEEL_UCS_ERR_INVALID_PARAM);
    CHECK(complete(keel_ucp_get_nbx(ep, &word, 8, BASE - 8, key, &param)) == KEEL_UCS_ERR_OUT_OF_RANGE);
    CHECK(complete(keel_ucp_atomic_op_nbx(ep, KEEL_UCP_ATOMIC_OP_ADD, &word, 2, BASE, key, &param)) ==
          KEEL_UCS_ERR_INVALID_PARAM);
    CHECK(complete(keel_ucp_atomic_op_nbx(ep, KEEL_UCP_ATOMIC_OP_LAST, &word, 1, BASE, key, &param)) ==
          KEEL_UCS_ERR_INVALID_PARAM);
    param.op_attr_mask = KEEL_UCP_OP_ATTR_FIELD_DATATYPE;
    param.datatype = keel_ucp_dt_make_contig(8);
    /* as many words as make 0 or 8 bytes, modulo 2^64 */
    CHECK(complete(keel_ucp_put_nbx(ep, &word, SIZE_MAX / 8 + 1, BASE, key, &param)) == KEEL_UCS_ERR_OUT_OF_RANGE);
    CHECK(complete(keel_ucp_get_nbx(ep, &word, SIZE_MAX / 8 + 2, BASE, key, &param)) == KEEL_UCS_ERR_OUT_OF_RANGE);
    CHECK(complete(keel_ucp_atomic_op_nbx(ep, KEEL_UCP_ATOMIC_OP_CSWAP, &word, 1, BASE, key, &param)) ==
          KEEL_UCS_ERR_INVALID_PARAM);
    CHECK(complete(keel_ucp_atomic_op_nbx(ep, KEEL_UCP_ATOMIC_OP_ADD, &word, 1, BASE + 1, key, &param)) ==
          KEEL_UCS_ERR_INVALID_PARAM);
    param.datatype = keel_ucp_dt_make_contig(3);
    CHECK(complete(keel_ucp_atomic_op_nbx(ep, KEEL_UCP_ATOMIC_OP_ADD, &word, 1, BASE, key, &param)) ==
          KEEL_UCS_ERR_UNSUPPORTED);
    param.datatype = UCP_DATATYPE_IOV;
    CHECK(complete(keel_ucp_put_nbx(ep, &word, 1, BASE, key, &param)) == KEEL_UCS_ERR_INVALID_PARAM);
    param.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE;
    CHECK(complete(keel_ucp_put_nbx(ep, &word, 1, BASE, key, &param)) == KEEL_UCS_ERR_INVALID_PARAM);
    keel_ucp_ep_destroy(own);
}

int main(int argc, char **argv)
{
    const int is_served = argc > 1 && strcmp(argv[1], "served") == 0;
    const keel_ucp_request_param_t none = {.op_attr_mask = 0};
    keel_win_h win;
    uint32_t peer;

    if (keel_init(NULL, &ctx) != KEEL_OK || keel_size(ctx) != 2 ||
        keel_win_alloc(ctx, 16 * WORDS, NULL, &win) != KEEL_OK) {
        return 1;
    }
    peer = 1 - keel_rank(ctx);
    CHECK(keel_ucp_ep_create(ctx, peer, &ep) == KEEL_UCS_OK);
    CHECK(keel_ucp_rkey_create(win, peer, BASE, &key) == KEEL_UCS_OK);
    check_statuses();
    check_accesses();
    for (size_t size = 1; size <= 8; size *= 2) {
        check_atomics(size);
        check_old_atomics(size);
    }
    check_old_accesses();
    check_errors(peer);
    CHECK(keel_gsync(ctx, 0) == KEEL_OK);
    CHECK(!is_served || requests > 0);
    keel_ucp_rkey_destroy(key);
    CHECK(keel_ucp_ep_close_nbx(ep, &none) == NULL);
    CHECK(keel_finalize(ctx) == KEEL_OK);
    return failures > 0;
}
