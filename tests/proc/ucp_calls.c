/*
 * A UCP program without Keel, for libkeel-preload.so: calls each generation of the one-sided calls
 * and checks the values. Prints the numbers of its calls as "NAME COUNT" lines. Options: -n COUNT
 * of each call, -s BYTES of a put or get, -t THREADS, -c: callbacks get, too, -f: a child of fork()
 * makes no call and ends, -k: ends by SIGKILL, -x: ends by _exit().
 */
#include <ucp/api/ucp.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define CHECK(_condition)                                                    \
    do {                                                                     \
        if (!(_condition)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #_condition); \
            exit(1);                                                         \
        }                                                                    \
    } while (0)

/* of one thread: a worker with an endpoint to itself, and memory */
typedef struct place {
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_ep_h ep;
    ucp_mem_h memory;
    ucp_rkey_h rkey;
    char *base; /* the target: words for atomics, then bytes */
    uint64_t address;
    char *buffer;
    unsigned gets_in_callbacks, pointers;
} place_t;

enum { WORDS = 64 }; /* bytes in front of the target of puts */

static unsigned count = 3, threads = 1;
static size_t size = 64;
static int with_callbacks;

static ucs_status_t message_cb(void *arg, const void *header, size_t header_length, void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    (void)arg, (void)header, (void)header_length, (void)data, (void)length, (void)param;
    return UCS_OK;
}

static void handler_set(const place_t *place)
{
    ucp_am_handler_param_t handler = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB, .id = 1, .cb = message_cb};

    CHECK(ucp_worker_set_am_recv_handler(place->worker, &handler) == UCS_OK);
}

static void place_open(place_t *place)
{
    ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                           .features = UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64 | UCP_FEATURE_AM};
    ucp_worker_params_t worker = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                  .thread_mode = UCS_THREAD_MODE_SERIALIZED};
    ucp_ep_params_t ep = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS};
    ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS |
                                              UCP_MEM_MAP_PARAM_FIELD_ADDRESS,
                                .address = NULL,
                                .length = WORDS + size,
                                .flags = UCP_MEM_MAP_ALLOCATE};
    ucp_mem_attr_t memory = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
    ucp_address_t *address;
    void *packed;
    size_t length;

    CHECK(ucp_init(&params, NULL, &place->context) == UCS_OK);
    CHECK(ucp_worker_create(place->context, &worker, &place->worker) == UCS_OK);
    handler_set(place);
    CHECK(ucp_worker_get_address(place->worker, &address, &length) == UCS_OK);
    ep.address = address;
    CHECK(ucp_ep_create(place->worker, &ep, &place->ep) == UCS_OK);
    ucp_worker_release_address(place->worker, address);
    CHECK(ucp_mem_map(place->context, &map, &place->memory) == UCS_OK);
    CHECK(ucp_mem_query(place->memory, &memory) == UCS_OK);
    place->base = memory.address;
    memset(place->base, 0, WORDS + size);
    CHECK(ucp_rkey_pack(place->context, place->memory, &packed, &length) == UCS_OK);
    CHECK(ucp_ep_rkey_unpack(place->ep, packed, &place->rkey) == UCS_OK);
    ucp_rkey_buffer_release(packed);
    place->address = (uint64_t)(uintptr_t)place->base + WORDS;
    place->buffer = calloc(1, size);
    CHECK(place->buffer != NULL);
}

static void request_wait(const place_t *place, ucs_status_ptr_t request)
{
    CHECK(!UCS_PTR_IS_ERR(request));
    if (request != NULL) {
        while (ucp_request_check_status(request) == UCS_INPROGRESS) {
            ucp_worker_progress(place->worker);
        }
        ucp_request_free(request);
    }
}

static void place_close(place_t *place)
{
    ucp_rkey_destroy(place->rkey);
    request_wait(place, ucp_ep_close_nb(place->ep, UCP_EP_CLOSE_MODE_FLUSH));
    CHECK(ucp_mem_unmap(place->context, place->memory) == UCS_OK);
    ucp_worker_destroy(place->worker);
    ucp_cleanup(place->context);
    free(place->buffer);
}

static void ignored_cb(void *request, ucs_status_t status)
{
    (void)request;
    (void)status;
}

static void ignored_nbx_cb(void *request, ucs_status_t status, void *arg)
{
    (void)arg;
    ignored_cb(request, status);
}

static void puts_make(place_t *place)
{
    const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK, .cb.send = ignored_nbx_cb};
    const ucp_request_param_t words = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = ucp_dt_make_contig(8)};

    for (unsigned i = 0; i < count; i++) {
        memset(place->buffer, (int)i + 1, size);
        CHECK(ucp_put(place->ep, place->buffer, size, place->address, place->rkey) == UCS_OK);
        request_wait(place, ucp_put_nb(place->ep, place->buffer, size, place->address, place->rkey, ignored_cb));
        CHECK(ucp_put_nbi(place->ep, place->buffer, size, place->address, place->rkey) >= 0);
        request_wait(place, ucp_put_nbx(place->ep, place->buffer, size, place->address, place->rkey, &param));
        request_wait(place, ucp_put_nbx(place->ep, place->buffer, size / 8, place->address, place->rkey, &words));
    }
    CHECK(ucp_ep_flush(place->ep) == UCS_OK);
    for (size_t i = 0; i < size; i++) {
        CHECK(place->base[WORDS + i] == (char)count);
    }
}

static void gets_make(place_t *place)
{
    const ucp_request_param_t param = {.op_attr_mask = 0};

    for (unsigned i = 0; i < count; i++) {
        memset(place->base + WORDS, (int)i + 101, size);
        CHECK(ucp_get(place->ep, place->buffer, size, place->address, place->rkey) == UCS_OK);
        CHECK(place->buffer[size - 1] == (char)(i + 101));
        request_wait(place, ucp_get_nb(place->ep, place->buffer, size, place->address, place->rkey, ignored_cb));
        CHECK(ucp_get_nbi(place->ep, place->buffer, size, place->address, place->rkey) >= 0);
        CHECK(ucp_worker_flush(place->worker) == UCS_OK);
        request_wait(place, ucp_get_nbx(place->ep, place->buffer, size, place->address, place->rkey, &param));
    }
}

static void atomics_make(place_t *place)
{
    const uint64_t word = (uint64_t)(uintptr_t)place->base;
    const ucp_rkey_h rkey = place->rkey;
    ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE, .datatype = ucp_dt_make_contig(8)};
    uint64_t one = 1, old = 0;
    uint32_t half = 0;

    for (unsigned i = 0; i < count; i++) {
        CHECK(ucp_atomic_post(place->ep, UCP_ATOMIC_POST_OP_ADD, 1, 8, word, rkey) >= 0);
        param.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE;
        request_wait(place, ucp_atomic_op_nbx(place->ep, UCP_ATOMIC_OP_ADD, &one, 1, word, rkey, &param));
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_REPLY_BUFFER;
        param.reply_buffer = &old;
        request_wait(place, ucp_atomic_op_nbx(place->ep, UCP_ATOMIC_OP_ADD, &one, 1, word, rkey, &param));
        request_wait(place,
                     ucp_atomic_fetch_nb(place->ep, UCP_ATOMIC_FETCH_OP_FADD, 1, &old, 8, word, rkey, ignored_cb));
        CHECK(ucp_atomic_add64(place->ep, 1, word, rkey) == UCS_OK);
        CHECK(ucp_atomic_fadd64(place->ep, 1, word, rkey, &old) == UCS_OK);
        CHECK(old == 6 * i + 5);
        CHECK(ucp_atomic_swap64(place->ep, 7, word + 8, rkey, &old) == UCS_OK);
        CHECK(ucp_atomic_cswap64(place->ep, 7, 9, word + 8, rkey, &old) == UCS_OK && old == 7);
        CHECK(ucp_atomic_add32(place->ep, 1, word + 16, rkey) == UCS_OK);
        CHECK(ucp_atomic_fadd32(place->ep, 1, word + 16, rkey, &half) == UCS_OK && half == 2 * i + 1);
        CHECK(ucp_atomic_swap32(place->ep, 7, word + 24, rkey, &half) == UCS_OK);
        CHECK(ucp_atomic_cswap32(place->ep, 7, 9, word + 24, rkey, &half) == UCS_OK && half == 7);
    }
}

static void flushes_make(place_t *place)
{
    const ucp_request_param_t param = {.op_attr_mask = 0};
    void *pointer;

    for (unsigned i = 0; i < count; i++) {
        CHECK(ucp_ep_flush(place->ep) == UCS_OK);
        request_wait(place, ucp_ep_flush_nb(place->ep, 0, ignored_cb));
        request_wait(place, ucp_ep_flush_nbx(place->ep, &param));
        CHECK(ucp_worker_flush(place->worker) == UCS_OK);
        request_wait(place, ucp_worker_flush_nb(place->worker, 0, ignored_cb));
        request_wait(place, ucp_worker_flush_nbx(place->worker, &param));
        CHECK(ucp_worker_fence(place->worker) == UCS_OK);
        request_wait(place, ucp_am_send_nb(place->ep, 1, "x", 1, ucp_dt_make_contig(1), ignored_cb, 0));
        request_wait(place, ucp_am_send_nbx(place->ep, 1, NULL, 0, "x", 1, &param));
    }
    /* only some transports have pointers */
    place->pointers += ucp_rkey_ptr(place->rkey, place->address, &pointer) == UCS_OK;
}

/* runs inside ucp_get(), which makes progress until its own get is complete */
static void getting_cb(void *request, ucs_status_t status, void *arg)
{
    place_t *place = arg;

    CHECK(status == UCS_OK);
    CHECK(ucp_get_nbi(place->ep, place->buffer, size, place->address, place->rkey) >= 0);
    place->gets_in_callbacks++;
    ucp_request_free(request);
}

static void callbacks_make(place_t *place)
{
    const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
                                       .cb.send = getting_cb,
                                       .user_data = place};
    ucs_status_ptr_t request;

    for (unsigned i = 0; i < count; i++) {
        request = ucp_get_nbx(place->ep, place->buffer, size, place->address, place->rkey, &param);
        CHECK(!UCS_PTR_IS_ERR(request));
        CHECK(ucp_get(place->ep, place->buffer, size, place->address, place->rkey) == UCS_OK);
    }
    CHECK(ucp_worker_flush(place->worker) == UCS_OK);
}

static void *thread_run(void *arg)
{
    place_t *place = arg;

    puts_make(place);
    gets_make(place);
    atomics_make(place);
    flushes_make(place);
    if (with_callbacks) {
        callbacks_make(place);
    }
    return NULL;
}

static void counts_print(const place_t *places)
{
    const unsigned each = threads * count;
    unsigned callbacks = 0, pointers = 0, gets;

    for (unsigned i = 0; i < threads; i++) {
        callbacks += places[i].gets_in_callbacks;
        pointers += places[i].pointers;
    }
    gets = 4 * each + (with_callbacks ? 2 * each : 0) + callbacks;
    printf("puts %u\ngets %u\natomics %u\nfetching_atomics %u\n", 5 * each, gets, 12 * each, 8 * each);
    printf("put_bytes %zu\nget_bytes %zu\natomic_bytes %u\n", 5 * each * size, gets * size,
           8 * 8 * each + 4 * 4 * each);
    printf("flushes %u\nfences %u\nactive_messages %u\nrkey_pointers %u\n",
           7 * each + threads + (with_callbacks ? threads : 0), each, 2 * each, pointers);
    fflush(stdout);
}

/* a child has the parent's memory, but none of its counts */
static void child_run(void)
{
    const pid_t child = fork();
    int status;

    CHECK(child >= 0);
    if (child == 0) {
        exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

int main(int argc, char **argv)
{
    int option, with_child = 0, is_killed = 0, is_cut = 0;
    pthread_t *ids;
    place_t *places;

    while ((option = getopt(argc, argv, "n:s:t:cfkx")) != -1) {
        switch (option) {
        case 'n':
            count = (unsigned)atoi(optarg);
            break;
        case 's':
            size = (size_t)atol(optarg) / 8 * 8;
            break;
        case 't':
            threads = (unsigned)atoi(optarg);
            break;
        case 'c':
            with_callbacks = 1;
            break;
        case 'f':
            with_child = 1;
            break;
        case 'k':
            is_killed = 1;
            break;
        case 'x':
            is_cut = 1;
            break;
        default:
            return 2;
        }
    }
    places = calloc(threads, sizeof(*places));
    ids = calloc(threads, sizeof(*ids));
    CHECK(places != NULL && ids != NULL);
    for (unsigned i = 0; i < threads; i++) {
        place_open(&places[i]);
    }
    for (unsigned i = 1; i < threads; i++) {
        CHECK(pthread_create(&ids[i], NULL, thread_run, &places[i]) == 0);
    }
    (void)thread_run(&places[0]);
    for (unsigned i = 1; i < threads; i++) {
        CHECK(pthread_join(ids[i], NULL) == 0);
    }
    if (with_child) {
        child_run();
    }
    counts_print(places);
    if (is_killed) {
        raise(SIGKILL);
    }
    if (is_cut) {
        _exit(0);
    }
    for (unsigned i = 0; i < threads; i++) {
        place_close(&places[i]);
    }
    free(places);
    free(ids);
    return 0;
}
