/*
 * Reads of a peer's memory by UCP's get. Without a device, UCP emulates such reads by messages, and
 * the transport would not use UCP's get. The test covers everything else, on UCP endpoints between
 * processes.
 */
#define _GNU_SOURCE
#include "ucp_rig.h"
#include "unit.h"

#include "transports/ucp/ucp_transport.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BYTES = 75 << 12, KEY_MAX = 512, LONGEST = KEEL_MESSAGE_DATA_MAX, LATE_MS = 300 };

typedef struct got {
    int is_done;
    keel_status_t status;
} got_t;

/* Sent by the owner with the key. */
typedef struct told {
    uint64_t base;
    int32_t pid, reserved;
} told_t;

static unsigned char pattern(size_t idx)
{
    return (unsigned char)(idx * 7 + (idx >> 8) * 13 + (idx >> 16));
}

static int on_request(rank_t *rank, const void *header, size_t header_len, const void *data, size_t data_len)
{
    rank->ops->reply(rank->transport, 0, header, header_len, data, data_len);
    return 1;
}

static void no_reply(rank_t *rank, const void *header, size_t header_len, const void *data, size_t data_len)
{
    rank_check(rank, !"a reply nobody sent");
}

static void on_got(void *arg, keel_status_t status)
{
    got_t *got = arg;

    got->is_done++;
    got->status = status;
}

static void join(rank_t *rank, int is_emulated)
{
    rig_message_t message;

    rank->tls_served = "tcp,self";
    rank_open(rank, "served");
    keel_ucp_of(rank->transport)->reads.is_emulated = is_emulated;
    rank_publish_address(rank, NULL, 0);
    rank_receive(rank, &message, 1);
    rank_connect(rank, &message);
    rank_check(rank, rank->lanes[1 - rank->rank] == (KEEL_LANE_SERVED | KEEL_LANE_READ));
}

static void share(rank_t *rank, size_t bytes, unsigned lane)
{
    unsigned char blob[sizeof(told_t) + KEY_MAX];
    size_t length = KEY_MAX, i;
    keel_transport_mem_t *mem;
    told_t told = {.pid = getpid()};
    void *base;

    rank_check(rank, rank->ops->mem_alloc(rank->transport, bytes, NULL, &mem, &base) == KEEL_OK);
    for (i = 0; i < bytes; i++) {
        ((unsigned char *)base)[i] = pattern(i);
    }
    rank->ops->mem_expose(rank->transport, mem, lane);
    rank_check(rank, rank->ops->mem_pack(rank->transport, mem, blob + sizeof(told), &length) == KEEL_OK);
    told.base = (uintptr_t)base;
    memcpy(blob, &told, sizeof(told));
    rank_publish(rank, blob, sizeof(told) + length);
}

static keel_status_t open_key(rank_t *rank, told_t *told, keel_transport_key_t **key_p)
{
    rig_message_t message;

    rank_receive(rank, &message, 1);
    rank_check(rank, message.type == RIG_BLOB_OF);
    memcpy(told, message.blob, sizeof(*told));
    return rank->ops->key_open(rank->transport, 1, message.blob + sizeof(*told), message.length - sizeof(*told),
                               told->base, key_p);
}

/* Waits for the end of the greetings; until then there is no lane to read by. */
static void await_link(rank_t *rank, keel_transport_key_t *key)
{
    unsigned char byte;
    got_t got = {0};
    keel_status_t status;

    while ((status = rank->ops->get(rank->transport, key, 0, &byte, 1, on_got, &got)) == KEEL_ERR_UNREACHABLE) {
        rank_progress(rank);
    }
    rank_check(rank, status == KEEL_INPROGRESS);
    while (!got.is_done) {
        rank_progress(rank);
    }
    rank_check(rank, (got.status == KEEL_OK) && (byte == pattern(0)));
}

static void check_bytes(rank_t *rank, const unsigned char *bytes, size_t offset, size_t length)
{
    size_t i;

    for (i = 0; i < length; i++) {
        rank_check(rank, bytes[i] == pattern(offset + i));
    }
}

static void owner(rank_t *rank)
{
    rank->on_request = on_request;
    rank->on_reply = no_reply;
    join(rank, 1);
    share(rank, BYTES, KEEL_LANE_READ);
    rank_barrier_inside(rank);
    rank->ops->close(rank->transport);
}

/* ---- successful reads ---- */

static void read_all(rank_t *rank, keel_transport_key_t *key, unsigned char *buffers)
{
    got_t got[KEEL_UCP_READS + 1] = {0};
    unsigned char more;
    unsigned i;

    for (i = 0; i < KEEL_UCP_READS; i++) {
        rank_check(rank, rank->ops->get(rank->transport, key, i * 31, buffers + (size_t)i * LONGEST, LONGEST - i,
                                        on_got, &got[i]) == KEEL_INPROGRESS);
    }
    rank_check(rank, rank->ops->get(rank->transport, key, 0, &more, 1, on_got, &got[i]) == KEEL_ERR_NO_MEMORY);
    for (i = 0; i < KEEL_UCP_READS; i++) {
        while (!got[i].is_done) {
            rank_progress(rank);
        }
        rank_check(rank, got[i].status == KEEL_OK);
        check_bytes(rank, buffers + (size_t)i * LONGEST, i * 31, LONGEST - i);
    }
    rank_check(rank, !got[i].is_done);
}

static void read_body(rank_t *rank)
{
    unsigned char *buffers = malloc((size_t)KEEL_UCP_READS * LONGEST), end;
    keel_transport_key_t *key;
    got_t got = {0};
    told_t told;
    unsigned round;

    if (rank->rank == 1) {
        owner(rank);
        free(buffers);
        return;
    }
    rank->on_request = on_request;
    rank->on_reply = no_reply;
    join(rank, 1);
    rank_check(rank, open_key(rank, &told, &key) == KEEL_OK);
    rank_check(rank, rank->ops->key_ptr(key) == NULL);
    await_link(rank, key);
    for (round = 0; round < 3; round++) {
        read_all(rank, key, buffers);
    }
    rank_check(rank, rank->ops->get(rank->transport, key, BYTES, &end, 1, on_got, &got) == KEEL_ERR_RANGE);
    rank_check(rank, rank->ops->get(rank->transport, key, UINT64_MAX, &end, 1, on_got, &got) == KEEL_ERR_RANGE);
    rank_check(rank,
               rank->ops->get(rank->transport, key, 0, buffers, LONGEST + 1, on_got, &got) == KEEL_ERR_UNSUPPORTED);
    rank_check(rank, rank->ops->get(rank->transport, key, BYTES, &end, 0, on_got, &got) == KEEL_OK);
    /* The reader lets the key go: reads under way keep the parts of the key that they need. */
    rank_check(rank, rank->ops->get(rank->transport, key, BYTES - 1, &end, 1, on_got, &got) == KEEL_INPROGRESS);
    rank->ops->key_close(rank->transport, key);
    while (!got.is_done) {
        rank_progress(rank);
    }
    rank_check(rank, (got.status == KEEL_OK) && (end == pattern(BYTES - 1)));
    rank_check(rank, keel_ucp_of(rank->transport)->requests == 0); /* Keel's own messages */
    rank_barrier_inside(rank);
    rank->ops->close(rank->transport);
    free(buffers);
}

static void run(rank_body_t body)
{
    rig_t rig;

    rig_init(&rig, 2, body, NULL);
    rig.node[1] = 1;
    rig_run(&rig);
}

START_TEST(gets_bring_what_is_there_and_as_many_as_there_is_room_for)
{
    run(read_body);
}
END_TEST

/* ---- inside a handler ---- */

typedef struct chain {
    keel_transport_key_t *key;
    unsigned char buffer[LONGEST];
    unsigned count;
    got_t got;
} chain_t;

/* Called inside UCP's progress, where nothing may be issued. */
static void read_in_handler(rank_t *rank, const void *header, size_t header_len, const void *data, size_t data_len)
{
    chain_t *chain = rank->arg;

    rank_check(rank, rank->ops->get(rank->transport, chain->key, 5, chain->buffer, LONGEST, on_got, &chain->got) ==
                         KEEL_INPROGRESS);
    rank_check(rank, keel_ucp_of(rank->transport)->reads.in_use == 1);
    rank_check(rank, keel_ucp_of(rank->transport)->reads.reads[0].state == KEEL_UCP_READ_QUEUED);
    chain->count++;
}

static void handler_body(rank_t *rank)
{
    chain_t chain = {0};
    uint64_t header = 1;
    told_t told;

    if (rank->rank == 1) {
        owner(rank);
        return;
    }
    rank->arg = &chain;
    rank->on_request = on_request;
    rank->on_reply = read_in_handler;
    join(rank, 1);
    rank_check(rank, open_key(rank, &told, &chain.key) == KEEL_OK);
    await_link(rank, chain.key);
    rank_check(rank, rank->ops->send(rank->transport, 1, &header, sizeof(header), NULL, 0) == KEEL_OK);
    while (!chain.got.is_done) {
        rank_progress(rank);
    }
    rank_check(rank, (chain.count == 1) && (chain.got.status == KEEL_OK));
    check_bytes(rank, chain.buffer, 5, LONGEST);
    rank_barrier_inside(rank);
    rank->ops->close(rank->transport);
}

START_TEST(what_is_asked_for_inside_a_handler_is_issued_after_it)
{
    run(handler_body);
}
END_TEST

/* ---- a peer that does not answer, and is given up ---- */

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void stop(rank_t *rank, pid_t pid)
{
    char path[64], state = '?';
    FILE *file;

    rank_check(rank, kill(pid, SIGSTOP) == 0);
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    while (state != 'T') {
        file = fopen(path, "r");
        rank_check(rank, (file != NULL) && (fscanf(file, "%*d %*s %c", &state) == 1));
        fclose(file);
    }
}

static void progress_ms(rank_t *rank, unsigned ms)
{
    const uint64_t end = now_ms() + ms;

    while (now_ms() < end) {
        rank_progress(rank);
    }
}

static void stopped_body(rank_t *rank)
{
    const size_t bytes = (size_t)KEEL_UCP_READS * LONGEST;
    keel_ucp_reads_t *reads;
    unsigned char *buffers;
    keel_transport_key_t *key;
    got_t got[KEEL_UCP_READS] = {0};
    told_t told;
    unsigned i;

    if (rank->rank == 1) {
        owner(rank);
        return;
    }
    rank->on_request = on_request;
    rank->on_reply = no_reply;
    join(rank, 1);
    reads = &keel_ucp_of(rank->transport)->reads;
    buffers = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    rank_check(rank, open_key(rank, &told, &key) == KEEL_OK);
    await_link(rank, key);
    stop(rank, told.pid);
    for (i = 0; i < KEEL_UCP_READS; i++) {
        rank_check(rank, rank->ops->get(rank->transport, key, 0, buffers + (size_t)i * LONGEST, LONGEST, on_got,
                                        &got[i]) == KEEL_INPROGRESS);
    }
    progress_ms(rank, 50);
    rank->ops->disconnect(rank->transport, 1);
    for (i = 0; i < KEEL_UCP_READS; i++) {
        rank_check(rank, (got[i].is_done == 1) && (got[i].status == KEEL_ERR_UNREACHABLE));
    }
    /* a late writer to these buffers fails at once */
    rank_check(rank, mprotect(buffers, bytes, PROT_NONE) == 0);
    rank_check(rank, rank->ops->get(rank->transport, key, 0, buffers, 1, on_got, &got[0]) == KEEL_ERR_UNREACHABLE);
    rank->ops->key_close(rank->transport, key);
    rank_check(rank, kill(told.pid, SIGCONT) == 0);
    progress_ms(rank, LATE_MS);
    for (i = 0; (i < 100) && (reads->in_use > 0); i++) { /* all reads return to the pool */
        progress_ms(rank, LATE_MS / 10);
    }
    rank_check(rank, reads->in_use == 0);
    for (i = 0; i < KEEL_UCP_READS; i++) {
        rank_check(rank, got[i].is_done == 1);
    }
    munmap(buffers, bytes);
    rank_barrier_inside(rank);
    rank->ops->close(rank->transport);
}

START_TEST(gets_end_inside_disconnect_and_nothing_is_written_later)
{
    run(stopped_body);
}
END_TEST

/* Closed with gets under way: no callback runs, and nothing leaks. */
static void close_body(rank_t *rank)
{
    static unsigned char buffer[LONGEST];
    keel_transport_key_t *key;
    rig_message_t message;
    got_t got = {0};
    told_t told;

    if (rank->rank == 1) {
        owner(rank);
        return;
    }
    rank->on_request = on_request;
    rank->on_reply = no_reply;
    join(rank, 1);
    rank_check(rank, open_key(rank, &told, &key) == KEEL_OK);
    await_link(rank, key);
    stop(rank, told.pid);
    rank_check(rank, rank->ops->get(rank->transport, key, 0, buffer, LONGEST, on_got, &got) == KEEL_INPROGRESS);
    rank->ops->close(rank->transport);
    rank_check(rank, !got.is_done);
    rank_tell(rank, RIG_READY, 1, 0);
    rank_receive(rank, &message, 1);
}

static int is_closed(rig_t *rig)
{
    return rig->ready[0] == 1;
}

START_TEST(a_transport_closes_with_gets_under_way)
{
    rig_t rig;

    rig_init(&rig, 2, close_body, NULL);
    rig.node[1] = 1;
    rig_spawn(&rig, 0);
    rig_spawn(&rig, 1);
    rig_run_until(&rig, is_closed);
    rig_silence(&rig, 1); /* the rank would abort: UCP's emulation answers dead ranks */
    rig_send(&rig, 0, RIG_EXIT, 1, NULL);
    rig_finish(&rig);
}
END_TEST

/* ---- reads that are not done in this way ---- */

static void unread_body(rank_t *rank)
{
    keel_transport_key_t *key;
    keel_status_t status;
    unsigned char byte;
    got_t got = {0};
    told_t told;

    rank->on_request = on_request;
    rank->on_reply = no_reply;
    join(rank, 0); /* UCP would have to emulate over tcp, though `self` takes the memory */
    if (rank->rank == 1) {
        share(rank, 4096, KEEL_LANE_READ);
        keel_ucp_of(rank->transport)->reads.is_emulated = 1;
        share(rank, 4096, KEEL_LANE_RMA);
        keel_ucp_of(rank->transport)->lockable = 65536;
        share(rank, 28673, KEEL_LANE_READ); /* 4096 are locked already */
        share(rank, 28672, KEEL_LANE_READ);
        share(rank, 1, KEEL_LANE_READ); /* no room for more */
    } else {
        rank_check(rank, open_key(rank, &told, &key) == KEEL_OK);
        while ((status = rank->ops->get(rank->transport, key, 0, &byte, 1, on_got, &got)) == KEEL_ERR_UNREACHABLE) {
            rank_progress(rank);
        }
        rank_check(rank, status == KEEL_ERR_UNSUPPORTED);
        rank->ops->key_close(rank->transport, key);
        rank_check(rank, open_key(rank, &told, &key) == KEEL_ERR_UNSUPPORTED);
        rank_check(rank, open_key(rank, &told, &key) == KEEL_ERR_UNSUPPORTED);
        rank_check(rank, open_key(rank, &told, &key) == KEEL_OK);
        rank->ops->key_close(rank->transport, key);
        rank_check(rank, open_key(rank, &told, &key) == KEEL_ERR_UNSUPPORTED);
    }
    rank_barrier_inside(rank);
    rank->ops->close(rank->transport);
}

START_TEST(windows_emulation_and_memory_beyond_the_limit_are_not_read)
{
    run(unread_body);
}
END_TEST

static void refuse(rank_t *rank, const rig_message_t *good, uint32_t rkey_len, size_t length)
{
    unsigned char room[1024] = {0};
    keel_ucp_key_blob_t *blob = (void *)room;
    keel_transport_key_t *key;

    memcpy(room, good->blob + sizeof(told_t), good->length - sizeof(told_t));
    blob->rkey_len = rkey_len;
    keel_shm_blob_seal(room, KEEL_UCP_BLOB_KEY, length, blob->head.instance);
    rank_check(rank, rank->ops->key_open(rank->transport, 1, room, length, 0, &key) == KEEL_ERR_CORRUPT);
}

static void corrupt_body(rank_t *rank)
{
    keel_transport_key_t *key;
    rig_message_t good, bad;
    size_t whole;
    uint32_t i;

    if (rank->rank == 1) {
        owner(rank);
        return;
    }
    rank->on_request = on_request;
    rank->on_reply = no_reply;
    join(rank, 1);
    rank_receive(rank, &good, 1);
    whole = good.length - sizeof(told_t);
    rank_check(rank, whole > sizeof(keel_ucp_key_blob_t));
    for (i = sizeof(told_t); i < good.length; i++) {
        bad = good;
        bad.blob[i] ^= (unsigned char)(1 << (i % 8));
        rank_check(rank, rank->ops->key_open(rank->transport, 1, bad.blob + sizeof(told_t), whole, 0, &key) ==
                             KEEL_ERR_CORRUPT);
        rank_check(rank, rank->ops->key_open(rank->transport, 1, good.blob + sizeof(told_t), i - sizeof(told_t), 0,
                                             &key) == KEEL_ERR_CORRUPT);
    }
    /* Correct sums, but lengths that lead out of the blob, or leave bytes over. */
    refuse(rank, &good, KEEL_UCP_RKEY_MAX + 1, keel_ucp_key_length(KEEL_UCP_RKEY_MAX + 1));
    refuse(rank, &good, UINT32_MAX, whole);
    refuse(rank, &good, UINT32_MAX - 6, whole); /* wraps in the padding */
    refuse(rank, &good, KEEL_UCP_RKEY_MAX, whole);
    refuse(rank, &good, 0, whole);
    rank_barrier_inside(rank);
    rank->ops->close(rank->transport);
}

START_TEST(a_key_with_any_bit_or_length_wrong_is_refused)
{
    run(corrupt_body);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("transport_ucp_reads");
    TCase *tcase = tcase_create("transport_ucp_reads");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tcase, UNIT_TIMEOUT_S);
    tcase_add_test(tcase, gets_bring_what_is_there_and_as_many_as_there_is_room_for);
    tcase_add_test(tcase, what_is_asked_for_inside_a_handler_is_issued_after_it);
    tcase_add_test(tcase, gets_end_inside_disconnect_and_nothing_is_written_later);
    tcase_add_test(tcase, a_transport_closes_with_gets_under_way);
    tcase_add_test(tcase, windows_emulation_and_memory_beyond_the_limit_are_not_read);
    tcase_add_test(tcase, a_key_with_any_bit_or_length_wrong_is_refused);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return (failed == 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}
