/* The UCX transport between live processes: memory, order, sizes, bad input. */
#define _GNU_SOURCE
#include "ucp_rig.h"
#include "unit.h"

#include "base/memory.h"
#include "runtime/process.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { KEY_MAX = 512 };

typedef struct head {
    uint64_t seq;
    uint32_t source, bytes;
    unsigned char fill[KEEL_TRANSPORT_HEADER_MAX - 16];
} head_t;

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

static unsigned char pattern(uint64_t seq, size_t idx)
{
    return (unsigned char)(seq * 31 + idx * 7 + (idx >> 8));
}

static int no_request(rank_t *rank, const void *header, size_t header_len, const void *data, size_t data_len)
{
    rank_check(rank, !"a request nobody sent");
    return 1;
}

static void no_reply(rank_t *rank, const void *header, size_t header_len, const void *data, size_t data_len)
{
    rank_check(rank, !"a reply nobody sent");
}

static void handle_nothing(rank_t *rank)
{
    rank->on_request = no_request;
    rank->on_reply = no_reply;
}

/* ---- memory ---- */

static void share(rank_t *rank, size_t bytes, keel_transport_mem_t **mem_p, void **base_p)
{
    unsigned char blob[KEY_MAX + 8];
    size_t length = KEY_MAX;
    size_t i;

    rank_check(rank, rank->ops->mem_alloc(rank->transport, bytes, NULL, mem_p, base_p) == KEEL_OK);
    for (i = 0; i < bytes; i++) {
        rank_check(rank, ((unsigned char *)*base_p)[i] == 0);
    }
    rank_check(rank, rank->ops->mem_pack(rank->transport, *mem_p, blob + 8, &length) == KEEL_OK);
    memcpy(blob, base_p, 8);
    rank_publish(rank, blob, length + 8);
}

static keel_transport_key_t *open_key(rank_t *rank)
{
    keel_transport_key_t *key;
    rig_message_t message;
    uint64_t base;

    rank_receive(rank, &message, 1);
    rank_check(rank, message.type == RIG_BLOB_OF);
    memcpy(&base, message.blob, 8);
    rank_check(rank, rank->ops->key_open(rank->transport, message.rank, message.blob + 8, message.length - 8, base,
                                         &key) == KEEL_OK);
    return key;
}

static void pointer_body(rank_t *rank)
{
    enum { WORDS = 1 << 16, ADDS = 20000 };
    keel_transport_key_t *key;
    keel_transport_mem_t *mem;
    _Atomic uint64_t *words;
    void *base;
    size_t i;

    handle_nothing(rank);
    rank_join(rank, "auto");
    if (rank->rank == 0) {
        share(rank, WORDS * 8, &mem, &base);
        words = base;
        rank_barrier(rank); /* sits in a read, so that other ranks get no help from this rank */
        for (i = 1; i < WORDS; i++) {
            rank_check(rank, words[i] == i * 3);
        }
        rank_check(rank, words[0] == (uint64_t)ADDS * (rank->size - 1));
        words[1] = 77;
        rank_barrier(rank);
        rank_barrier(rank);
        rank->ops->mem_free(rank->transport, mem);
    } else {
        rank_check(rank, rank->lanes[0] == (KEEL_LANE_PTR | KEEL_LANE_SERVED));
        key = open_key(rank);
        words = rank->ops->key_ptr(key);
        rank_check(rank, words != NULL);
        for (i = rank->rank; i < WORDS; i += rank->size - 1) {
            words[i] = i * 3;
        }
        for (i = 0; i < ADDS; i++) {
            atomic_fetch_add(&words[0], 1);
        }
        rank_barrier(rank);
        rank_barrier(rank);
        rank_check(rank, words[1] == 77);
        rank->ops->key_close(rank->transport, key);
        rank_barrier(rank);
    }
    rank->ops->close(rank->transport);
}

START_TEST(stores_and_atomics_reach_a_rank_that_does_not_progress)
{
    rig_t rig;

    rig_init(&rig, 3, pointer_body, NULL);
    rig_run(&rig);
}
END_TEST

typedef struct fixed {
    const char *lanes;
    int is_made_ahead;
} fixed_t;

static void fixed_body(rank_t *rank)
{
    const size_t bytes = 3 << 20;
    const uint64_t ahead[] = {2 * bytes, bytes + 4096};
    const fixed_t *const fixed = rank->arg;
    keel_transport_mem_t *mem, *other;
    char *free_place, *taken;
    void *base, *again;
    size_t i;

    handle_nothing(rank);
    rank_open(rank, fixed->lanes);
    if (fixed->is_made_ahead) {
        rank_check(rank, rank->ops->reserve(rank->transport, ahead, 2) == KEEL_INPROGRESS);
        rank_check(rank, rank->ops->reserve(rank->transport, ahead, 2) == KEEL_OK);
        rank_check(rank, rank->ops->reserve(rank->transport, ahead + 1, 1) == KEEL_OK);
    }
    taken = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(taken, 5, bytes);
    free_place = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(free_place, bytes);

    rank_check(rank, rank->ops->mem_alloc(rank->transport, bytes, taken, &mem, &base) == KEEL_ERR_NO_MEMORY);
    rank_check(rank,
               rank->ops->mem_alloc(rank->transport, bytes, taken + bytes - 4096, &mem, &base) == KEEL_ERR_NO_MEMORY);
    for (i = 0; i < bytes; i++) {
        rank_check(rank, taken[i] == 5);
    }
    rank_check(rank,
               rank->ops->mem_alloc(rank->transport, bytes, free_place + 8, &mem, &base) == KEEL_ERR_INVALID_PARAM);
    rank_check(rank, rank->ops->mem_alloc(rank->transport, 0, NULL, &mem, &base) == KEEL_ERR_INVALID_PARAM);
    rank_check(rank, rank->ops->mem_alloc(rank->transport, (size_t)1 << 60, NULL, &mem, &base) == KEEL_ERR_NO_MEMORY);

    rank_check(rank, rank->ops->mem_alloc(rank->transport, bytes, free_place, &mem, &base) == KEEL_OK);
    rank_check(rank, base == free_place);
    rank_check(rank, rank->ops->mem_alloc(rank->transport, bytes, free_place, &other, &again) == KEEL_ERR_NO_MEMORY);
    memset(base, 9, bytes);
    rank->ops->mem_free(rank->transport, mem);
    rank_check(rank, rank->ops->mem_alloc(rank->transport, bytes, free_place, &mem, &base) == KEEL_OK);
    for (i = 0; i < bytes; i++) {
        rank_check(rank, ((char *)base)[i] == 0);
    }
    rank->ops->close(rank->transport); /* frees the remaining memory */
}

START_TEST(memory_comes_zeroed_at_the_address_asked_for_or_not_at_all)
{
    static const fixed_t fixed[] = {{"auto", 0}, {"served", 0}, {"auto", 1}, {"served", 1}};
    rig_t rig;

    rig_init(&rig, 1, fixed_body, (void *)&fixed[_i]);
    rig_run(&rig);
}
END_TEST

static void lanes_body(rank_t *rank)
{
    const char *lanes = rank->arg;
    unsigned expected = KEEL_LANE_SERVED;
    uint32_t other;

    handle_nothing(rank);
    rank_join(rank, lanes);
    for (other = 0; other < rank->size; other++) {
        if ((strcmp(lanes, "direct") == 0) ||
            ((strcmp(lanes, "auto") == 0) && (rank->node[other] == rank->node[rank->rank]))) {
            expected = KEEL_LANE_SERVED | KEEL_LANE_PTR;
        } else {
            expected = KEEL_LANE_SERVED;
        }
        rank_check(rank, (other == rank->rank) || (rank->lanes[other] == expected));
    }
    rank_barrier(rank);
    rank->ops->close(rank->transport);
}

START_TEST(lanes_follow_the_nodes_unless_forced)
{
    static const char *const lanes[] = {"auto", "direct", "served"};
    rig_t rig;

    rig_init(&rig, 3, lanes_body, (void *)lanes[_i]);
    rig.node[2] = 1;
    rig_run(&rig);
}
END_TEST

/* ---- bad input ---- */

static void corrupt_address(rank_t *rank, const rig_message_t *good)
{
    rig_message_t bad;
    unsigned lanes;
    uint32_t i;

    for (i = 0; i < good->length; i++) {
        bad = *good;
        bad.blob[i] ^= (unsigned char)(1 << (i % 8));
        rank_check(rank, rank->ops->connect(rank->transport, 1, bad.blob, bad.length, &lanes) == KEEL_ERR_CORRUPT);
        rank_check(rank, rank->ops->connect(rank->transport, 1, good->blob, i, &lanes) == KEEL_ERR_CORRUPT);
    }
    rank_check(rank, rank->ops->connect(rank->transport, 1, good->blob, good->length + 1, &lanes) == KEEL_ERR_CORRUPT);
    rank_check(rank, rank->ops->connect(rank->transport, 0, good->blob, good->length, &lanes) == KEEL_ERR_CORRUPT);
    rank_check(rank, rank->ops->connect(rank->transport, 2, good->blob, good->length, &lanes) == KEEL_ERR_RANK);
}

static void corrupt_key(rank_t *rank, const rig_message_t *good)
{
    keel_transport_key_t *key;
    rig_message_t bad;
    uint32_t i;

    for (i = 8; i < good->length; i++) {
        bad = *good;
        bad.blob[i] ^= (unsigned char)(1 << (i % 8));
        rank_check(rank,
                   rank->ops->key_open(rank->transport, 1, bad.blob + 8, bad.length - 8, 0, &key) == KEEL_ERR_CORRUPT);
        rank_check(rank, rank->ops->key_open(rank->transport, 1, good->blob + 8, i - 8, 0, &key) == KEEL_ERR_CORRUPT);
    }
    rank_check(rank, rank->ops->key_open(rank->transport, 0, good->blob + 8, good->length - 8, 0, &key) ==
                         KEEL_ERR_UNREACHABLE);
}

static void corrupt_body(rank_t *rank)
{
    unsigned char data[8] = {0};
    keel_transport_mem_t *mem;
    rig_message_t message;
    void *base;

    handle_nothing(rank);
    rank_open(rank, "auto");
    rank_publish_address(rank, NULL, 0);
    rank_receive(rank, &message, 1);
    if (rank->rank == 0) {
        rank_check(rank, rank->ops->send(rank->transport, 1, data, 8, NULL, 0) == KEEL_ERR_UNREACHABLE);
        corrupt_address(rank, &message);
        rank_connect(rank, &message);
        rank_check(rank, rank->ops->connect(rank->transport, 1, message.blob, message.length, &rank->lanes[1]) ==
                             KEEL_ERR_STATE);
        rank_check(rank, rank->ops->send(rank->transport, 1, data, KEEL_TRANSPORT_HEADER_MAX + 1, NULL, 0) ==
                             KEEL_ERR_INVALID_PARAM);
        rank_check(rank, rank->ops->send(rank->transport, 1, data, 8, data, rank->ops->max_data + 1) ==
                             KEEL_ERR_INVALID_PARAM);
        rank_receive(rank, &message, 1);
        corrupt_key(rank, &message);
    } else {
        rank_connect(rank, &message);
        share(rank, 4096, &mem, &base);
    }
    rank_barrier(rank);
    rank->ops->close(rank->transport);
}

START_TEST(a_blob_with_any_bit_wrong_is_refused)
{
    rig_t rig;

    rig_init(&rig, 2, corrupt_body, NULL);
    rig_run(&rig);
}
END_TEST

/* ---- messages ---- */

typedef struct echo {
    uint64_t expected[RIG_RANKS]; /* next request of each source: service thread */
    uint64_t replied[RIG_RANKS];  /* next reply of each target */
    _Atomic uint64_t idle;
    uint64_t unacknowledged;
} echo_t;

static void check_data(rank_t *rank, const head_t *head, const unsigned char *data, size_t data_len)
{
    size_t i;

    rank_check(rank, head->bytes == data_len);
    for (i = 0; i < data_len; i++) {
        if (data[i] != pattern(head->seq, i)) {
            rank_check(rank, !"data as it was sent");
        }
    }
}

/* Answers in turn with copied data and with data written to a reply room, each also after a room
 * that was requested and left unused. */
static keel_status_t echo_answer(rank_t *rank, const head_t *head, const void *data, size_t data_len)
{
    void *room = NULL, *left = NULL;

    if (head->seq & 2) {
        rank_check(rank, rank->ops->reply_room(rank->transport, head->source, 65280, &left) == KEEL_OK);
        memset(left, 0xee, 65280);
    }
    if (head->seq & 1) {
        rank_check(rank, rank->ops->reply_room(rank->transport, head->source, data_len, &room) == KEEL_OK);
        data = memcpy(room, data, data_len);
    }
    return rank->ops->reply(rank->transport, head->source, head, sizeof(*head), data, data_len);
}

static int echo_request(rank_t *rank, const void *header, size_t header_len, const void *data, size_t data_len)
{
    echo_t *echo = rank->arg;
    const head_t *head = header;

    rank_check(rank, header_len == sizeof(*head));
    rank_check(rank, head->seq == echo->expected[head->source]);
    echo->expected[head->source]++;
    echo->unacknowledged++;
    check_data(rank, head, data, data_len);
    rank_check(rank, echo_answer(rank, head, data, data_len) == KEEL_OK);
    return 1;
}

static int echo_idle(rank_t *rank, int is_late)
{
    echo_t *echo = rank->arg;

    (void)is_late;
    rank_check(rank, echo->unacknowledged > 0);
    echo->unacknowledged = 0;
    echo->idle++;
    return 0;
}

static void echo_reply(rank_t *rank, const void *header, size_t header_len, const void *data, size_t data_len)
{
    echo_t *echo = rank->arg;
    const head_t *head = header;

    rank_check(rank, header_len == sizeof(*head));
    rank_check(rank, head->seq == echo->replied[0]);
    echo->replied[0]++;
    check_data(rank, head, data, data_len);
}

static size_t any_size(uint64_t *state)
{
    static const size_t limits[] = {0, 8, 512, 2047, 2048, 4096, 8200, 65279, 65280};
    const uint64_t draw = unit_random(state);

    return (draw & 256) ? limits[draw % 9] : unit_random(state) % 65281;
}

/* Keeps @a window requests to rank 0 under way, each from a buffer of its own. */
static void send_echoes(rank_t *rank, uint64_t count, uint64_t window)
{
    echo_t *echo = rank->arg;
    uint64_t seq = 0;
    unsigned char *slots = malloc(window * 65280);
    unsigned char *slot;
    head_t head = {.source = rank->rank};
    size_t i;

    while (echo->replied[0] < count) {
        if ((seq == count) || (seq - echo->replied[0] >= window)) {
            rank_progress(rank);
            continue;
        }
        slot = slots + (seq % window) * 65280;
        head.seq = seq++;
        head.bytes = (uint32_t)any_size(&rank->seed);
        for (i = 0; i < head.bytes; i++) {
            slot[i] = pattern(head.seq, i);
        }
        rank_check(rank, rank->ops->send(rank->transport, 0, &head, sizeof(head), slot, head.bytes) == KEEL_OK);
        memset(head.fill, 0xee, sizeof(head.fill)); /* the header was copied */
    }
    free(slots);
}

/* A judge of a silent process looks at the thread that would answer, to tell a hang from a lack of
 * cores. */
static void named_body(rank_t *rank)
{
    keel_sight_t sight;
    int is_seen = 0;

    handle_nothing(rank);
    rank_join(rank, "served");
    /* the thread may still be on the way to its first line */
    for (unsigned looks = 0; !is_seen && looks < 4000; looks++) {
        is_seen = keel_process_see(getpid(), KEEL_SERVICE_THREAD, &sight);
        usleep(is_seen ? 0 : 5000);
    }
    rank_check(rank, is_seen);
    rank_barrier(rank);
    rank->ops->close(rank->transport);
}

static void echo_body(rank_t *rank)
{
#ifdef __SANITIZE_THREAD__ /* a byte takes ten times as long */
    enum { COUNT = 600 };
#else
    enum { COUNT = 3000 };
#endif
    echo_t echo = {0};

    rank->arg = &echo;
    rank->on_request = echo_request;
    rank->on_idle = echo_idle;
    rank->on_reply = echo_reply;
    rank_join(rank, "served");
    if (rank->rank != 0) {
        send_echoes(rank, COUNT, 64);
    }
    rank_barrier(rank); /* rank 0 is in a read all the time: its service thread does the work */
    rank_check(rank, (rank->rank != 0) || (echo.idle > 0));
    rank->ops->close(rank->transport);
}

START_TEST(requests_and_replies_keep_their_order_and_data_with_one_source)
{
    rig_t rig;

    rig_init(&rig, 2, echo_body, NULL);
    rig.seed = unit_seed();
    rig_run(&rig);
}
END_TEST

START_TEST(requests_and_replies_keep_their_order_and_data_with_four_sources)
{
    rig_t rig;

    rig_init(&rig, 5, echo_body, NULL);
    rig.seed = unit_seed();
    rig_run(&rig);
}
END_TEST

START_TEST(service_thread_is_found_by_its_name)
{
    rig_t rig;

    rig_init(&rig, 2, named_body, NULL);
    rig_run(&rig);
}
END_TEST

/* A close right after the last message was queued loses nothing. */
static void last_words_body(rank_t *rank)
{
    enum { COUNT = 2000 };
    static unsigned char data[65280];
    echo_t echo = {0};
    head_t head = {.source = rank->rank, .bytes = sizeof(data)};
    size_t i;

    rank->arg = &echo;
    rank->on_request = echo_request;
    rank->on_reply = echo_reply;
    rank_join(rank, "served");
    if (rank->rank == 1) {
        for (i = 0; i < sizeof(data); i++) {
            data[i] = pattern(0, i);
        }
        rank_check(rank, rank->ops->send(rank->transport, 0, &head, sizeof(head), data, sizeof(data)) == KEEL_OK);
        head.bytes = 0;
        for (head.seq = 1; head.seq < COUNT; head.seq++) {
            rank_check(rank, rank->ops->send(rank->transport, 0, &head, sizeof(head), NULL, 0) == KEEL_OK);
        }
    } else {
        while (*(volatile uint64_t *)&echo.expected[1] < COUNT) {
            rank_progress(rank);
        }
    }
    rank->ops->close(rank->transport);
}

START_TEST(close_sends_what_was_queued)
{
    rig_t rig;

    rig_init(&rig, 2, last_words_body, NULL);
    rig_run(&rig);
}
END_TEST

/* Answers with 8 KiB, far more than sockets hold. */
static int large_request(rank_t *rank, const void *header, size_t header_len, const void *data, size_t data_len)
{
    static const unsigned char answer[8192];
    const head_t *head = header;
    echo_t *echo = rank->arg;

    rank_check(rank,
               rank->ops->reply(rank->transport, head->source, header, header_len, answer, sizeof(answer)) == KEEL_OK);
    echo->idle++;
    return 1;
}

static void large_reply(rank_t *rank, const void *header, size_t header_len, const void *data, size_t data_len)
{
    const head_t *head = header;
    echo_t *echo = rank->arg;

    rank_check(rank, head->seq == echo->replied[0]++ && data_len == 8192);
}

/* All requests are answered before the first answer is taken. */
static void late_body(rank_t *rank)
{
    enum { COUNT = 4000 };
    head_t head = {.source = rank->rank};
    echo_t echo = {0};

    rank->arg = &echo;
    rank->on_request = large_request;
    rank->on_reply = large_reply;
    rank_join(rank, "served");
    for (; rank->rank != 0 && head.seq < COUNT; head.seq++) {
        rank_check(rank, rank->ops->send(rank->transport, 0, &head, sizeof(head), NULL, 0) == KEEL_OK);
        while (head.seq == 0 && echo.replied[0] == 0) { /* connects */
            rank_progress(rank);
        }
    }
    while (rank->rank == 0 && echo.idle < COUNT) {
        rank_progress(rank);
    }
    rank_barrier(rank);
    while (rank->rank != 0 && echo.replied[0] < COUNT) {
        rank_progress(rank);
    }
    rank_barrier(rank);
    rank->ops->close(rank->transport);
}

START_TEST(no_answer_is_lost_when_the_asker_takes_none_for_long)
{
    rig_t rig;

    rig_init(&rig, 2, late_body, NULL);
    /* sockets between namespaces do not take all requests without progress */
    if (rig.netns[0][0] == 0) {
        rig_run(&rig);
    }
}
END_TEST

static int refuse(void *arg, size_t bytes, const char *name)
{
    return 0;
}

/* Light traffic takes its messages from the first chunk of the pools. */
static void scarce_body(rank_t *rank)
{
    const keel_memory_hook_t hook = {.may_allocate = refuse};
    echo_t echo = {0};

    rank->arg = &echo;
    rank->on_request = echo_request;
    rank->on_reply = echo_reply;
    rank_join(rank, "served");
    if (rank->rank != 0) {
        send_echoes(rank, 1, 1);
    }
    rank_barrier(rank);
    keel_memory_set_hook(&hook);
    echo.replied[0]--;
    echo.expected[1]--;
    if (rank->rank != 0) {
        rank_barrier(rank);
        send_echoes(rank, 1, 1);
    } else {
        rank_barrier(rank);
    }
    rank_barrier(rank);
    keel_memory_set_hook(NULL);
    rank->ops->close(rank->transport);
}

START_TEST(light_traffic_allocates_nothing)
{
    rig_t rig;

    rig_init(&rig, 2, scarce_body, NULL);
    rig_run(&rig);
}
END_TEST

/* ---- numbers: printed, not judged ---- */

typedef struct numbers {
    uint64_t replies, requests, acknowledged;
} numbers_t;

static int numbers_request(rank_t *rank, const void *header, size_t header_len, const void *data, size_t data_len)
{
    numbers_t *numbers = rank->arg;

    numbers->requests++;
    if (data_len <= 8) {
        rank->ops->reply(rank->transport, 1, header, header_len, data, data_len);
    }
    return 1;
}

static int numbers_idle(rank_t *rank, int is_late)
{
    numbers_t *numbers = rank->arg;

    (void)is_late;
    if (numbers->requests > numbers->acknowledged) {
        numbers->acknowledged = numbers->requests;
        rank->ops->reply(rank->transport, 1, &numbers->acknowledged, 8, NULL, 0);
    }
    return 0;
}

static void numbers_reply(rank_t *rank, const void *header, size_t header_len, const void *data, size_t data_len)
{
    numbers_t *numbers = rank->arg;

    numbers->replies++;
    memcpy(&numbers->acknowledged, header, 8);
}

static int compare(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

/* Each of the two tests takes at most a second, so the number of rounds depends on the load of the
 * cores. */
enum { ROUNDS = 5000, CHUNKS = 5000, WINDOW = 256 };
static unsigned char numbers_data[65280];

/* Returns the number of requests sent. */
static unsigned print_latency(rank_t *rank, numbers_t *numbers)
{
    static uint64_t took[ROUNDS];
    const uint64_t begun = now_ns();
    uint64_t start, sent;
    unsigned i;

    for (i = 0; (i < ROUNDS) && (now_ns() - begun < 1000000000); i++) {
        sent = numbers->replies;
        start = now_ns();
        rank->ops->send(rank->transport, 0, &start, 8, numbers_data, 8);
        while (numbers->replies == sent) {
            rank_progress(rank);
        }
        took[i] = now_ns() - start;
        while (numbers->replies < sent + 2) { /* the acknowledgement of on_idle() */
            rank_progress(rank);
        }
    }
    qsort(took, i, sizeof(took[0]), compare);
    printf("8 B request and reply over tcp, %u times: median %.1f us, 99%% %.1f us\n", i, (double)took[i / 2] / 1e3,
           (double)took[i * 99 / 100] / 1e3);
    return i;
}

static void print_bandwidth(rank_t *rank, numbers_t *numbers, uint64_t sent)
{
    const uint64_t before = sent, start = now_ns();
    uint64_t last = before + CHUNKS;

    numbers->acknowledged = sent;
    while (numbers->acknowledged < last) {
        if (now_ns() - start >= 1000000000) {
            last = sent;
        }
        if ((sent < last) && (sent - numbers->acknowledged < WINDOW)) {
            rank->ops->send(rank->transport, 0, &sent, 8, numbers_data, sizeof(numbers_data));
            sent++;
        } else {
            rank_progress(rank);
        }
    }
    printf("65280 B requests, %u under way: %.2f GB/s\n", WINDOW,
           (double)(sent - before) * sizeof(numbers_data) / (double)(now_ns() - start));
}

static void numbers_body(rank_t *rank)
{
    numbers_t numbers = {0};
    cpu_set_t core;

    CPU_ZERO(&core);
    CPU_SET(rank->rank % sysconf(_SC_NPROCESSORS_ONLN), &core);
    sched_setaffinity(0, sizeof(core), &core);
    rank->arg = &numbers;
    rank->on_request = numbers_request;
    rank->on_idle = numbers_idle;
    rank->on_reply = numbers_reply;
    rank_join(rank, "served");
    if (rank->rank == 1) {
        print_bandwidth(rank, &numbers, print_latency(rank, &numbers));
        fflush(stdout);
    }
    rank_barrier(rank);
    rank->ops->close(rank->transport);
}

START_TEST(numbers_are_printed)
{
    rig_t rig;

    rig_init(&rig, 2, numbers_body, NULL);
    rig_run(&rig);
}
END_TEST

int main(void)
{
    const TTest *const single[] = {stores_and_atomics_reach_a_rank_that_does_not_progress,
                                   a_blob_with_any_bit_wrong_is_refused,
                                   requests_and_replies_keep_their_order_and_data_with_one_source,
                                   requests_and_replies_keep_their_order_and_data_with_four_sources,
                                   service_thread_is_found_by_its_name,
                                   close_sends_what_was_queued,
                                   no_answer_is_lost_when_the_asker_takes_none_for_long,
                                   light_traffic_allocates_nothing,
                                   numbers_are_printed,
                                   NULL};
    Suite *suite = suite_create("transport_ucp");
    TCase *tcase = tcase_create("transport_ucp");
    SRunner *runner = srunner_create(suite);
    const TTest *const *test;
    int failed;

    /* settings of the program for its own UCX do not affect the transport */
    setenv("UCX_TLS", "ib,cuda", 1);
    tcase_set_timeout(tcase, UNIT_TIMEOUT_S);
    for (test = single; *test != NULL; test++) {
        tcase_add_test(tcase, *test);
    }
    tcase_add_loop_test(tcase, memory_comes_zeroed_at_the_address_asked_for_or_not_at_all, 0, 4);
    tcase_add_loop_test(tcase, lanes_follow_the_nodes_unless_forced, 0, 3);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return (failed == 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}
