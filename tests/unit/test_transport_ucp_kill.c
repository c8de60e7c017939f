/*
 * The UCX transport while processes are killed: traffic of every rank with every other, both lanes,
 * and SIGKILL at any moment. Survivors neither abort nor hang nor lose or repeat a message among
 * themselves, and new incarnations get in. KEELTEST_KILLS sets the number of deaths.
 */
#define _GNU_SOURCE
#include "ucp_rig.h"
#include "unit.h"

#include <dirent.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WINDOW = 8, DATA = 65280, MEMORY = 1 << 16, ENOUGH = 20, RANKS = 3 };

typedef struct head {
    uint64_t seq;
    uint32_t source, incarnation, bytes, target;
} head_t;

typedef struct partner {
    unsigned char *data; /* source of messages; unreadable after the disconnection */
    uint64_t sent, replied, since_change;
    uint32_t incarnation; /* as stated by its requests: service thread */
    int has_incarnation;
    uint64_t expected; /* next request of the partner: service thread */
    keel_transport_key_t *key;
} partner_t;

typedef struct storm {
    partner_t partners[RIG_RANKS];
    keel_transport_mem_t *mem;
    _Atomic uint64_t *memory;
    int must_stop, is_drained;
    uint32_t reported;
} storm_t;

static unsigned char pattern(uint32_t rank, size_t idx)
{
    return (unsigned char)(rank * 31 + idx * 7 + (idx >> 8));
}

static void check_data(rank_t *rank, uint32_t from, const unsigned char *data, size_t length)
{
    const size_t step = (length > 64) ? length / 64 : 1;
    size_t i;

    for (i = 0; i < length; i += step) {
        rank_check(rank, data[i] == pattern(from, i));
    }
}

/* Service thread. */
static int on_request(rank_t *rank, const void *header, size_t header_len, const void *data, size_t data_len)
{
    storm_t *storm = rank->arg;
    const head_t *head = header;
    partner_t *partner = &storm->partners[head->source];

    rank_check(rank, (header_len == sizeof(*head)) && (head->target == rank->rank));
    if (!partner->has_incarnation || (partner->incarnation != head->incarnation)) {
        rank_check(rank, !partner->has_incarnation || (head->incarnation > partner->incarnation));
        partner->has_incarnation = 1;
        partner->incarnation = head->incarnation;
        partner->expected = 0;
    }
    rank_check(rank, head->seq == partner->expected);
    partner->expected++;
    rank_check(rank, head->bytes == data_len);
    check_data(rank, head->source, data, data_len);
    /* the source may be dead */
    rank->ops->reply(rank->transport, head->source, header, header_len, data, data_len);
    return 1;
}

static void on_reply(rank_t *rank, const void *header, size_t header_len, const void *data, size_t data_len)
{
    storm_t *storm = rank->arg;
    const head_t *head = header;
    partner_t *partner = &storm->partners[head->target];

    rank_check(rank, (header_len == sizeof(*head)) && (head->source == rank->rank));
    rank_check(rank, rank->lanes[head->target] != 0);
    rank_check(rank, head->seq == partner->replied);
    partner->replied++;
    partner->since_change++;
    rank_check(rank, head->bytes == data_len);
    check_data(rank, rank->rank, data, data_len);
}

static void partner_up(rank_t *rank, const rig_message_t *message)
{
    storm_t *storm = rank->arg;
    partner_t *partner = &storm->partners[message->rank];
    keel_status_t status;
    size_t i;

    partner->sent = partner->replied = partner->since_change = 0;
    partner->data = mmap(NULL, DATA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (i = 0; i < DATA; i++) {
        partner->data[i] = pattern(rank->rank, i);
    }
    rank_connect(rank, message);
    if (rank->lanes[message->rank] & KEEL_LANE_PTR) {
        status = rank->ops->key_open(rank->transport, message->rank, message->blob + message->value[0],
                                     message->length - message->value[0], 0, &partner->key);
        /* dead again already */
        rank_check(rank, (status == KEEL_OK) || (status == KEEL_ERR_UNREACHABLE));
    }
}

static void partner_down(rank_t *rank, uint32_t peer)
{
    storm_t *storm = rank->arg;
    partner_t *partner = &storm->partners[peer];

    rank->ops->disconnect(rank->transport, peer);
    rank->lanes[peer] = 0;
    if (partner->key != NULL) {
        rank->ops->key_close(rank->transport, partner->key);
        partner->key = NULL;
    }
    mprotect(partner->data, DATA, PROT_NONE); /* a late reader of these data fails at once */
    munmap(partner->data, DATA);
}

static uint64_t count_lines(const char *path)
{
    FILE *file = fopen(path, "r");
    uint64_t lines = 0;
    int c;

    while ((c = fgetc(file)) != EOF) {
        lines += (c == '\n');
    }
    fclose(file);
    return lines;
}

static uint64_t count_entries(const char *path)
{
    DIR *dir = opendir(path);
    uint64_t entries = 0;

    while (readdir(dir) != NULL) {
        entries++;
    }
    closedir(dir);
    return entries;
}

static int handle(rank_t *rank, const rig_message_t *message)
{
    storm_t *storm = rank->arg;
    uint32_t peer;

    switch (message->type) {
    case RIG_ADDRESS:
        partner_up(rank, message);
        break;
    case RIG_DEATH:
        partner_down(rank, message->rank);
        break;
    case RIG_COUNT:
        rank_tell(rank, RIG_NUMBER, count_entries("/proc/self/fd"), count_lines("/proc/self/maps"));
        return 1;
    case RIG_STOP:
        storm->must_stop = 1;
        break;
    case RIG_EXIT:
        return 0;
    default:
        rank_check(rank, !"a message that is known");
    }
    for (peer = 0; peer < rank->size; peer++) {
        storm->partners[peer].since_change = 0;
    }
    return 1;
}

static void send_some(rank_t *rank)
{
    static const uint32_t sizes[] = {0, 8, 8, 300, 5000, DATA};
    storm_t *storm = rank->arg;
    partner_t *partner;
    keel_status_t status;
    uint32_t peer;
    head_t head;

    for (peer = 0; peer < rank->size; peer++) {
        partner = &storm->partners[peer];
        if (rank->lanes[peer] == 0) {
            continue;
        }
        while (partner->sent - partner->replied < WINDOW) {
            head = (head_t){.seq = partner->sent,
                            .source = rank->rank,
                            .incarnation = rank->incarnation,
                            .bytes = sizes[unit_random(&rank->seed) % 6],
                            .target = peer};
            status = rank->ops->send(rank->transport, peer, &head, sizeof(head), partner->data, head.bytes);
            if (status == KEEL_ERR_UNREACHABLE) {
                break; /* the connection broke; the report of the death is on its way */
            }
            rank_check(rank, status == KEEL_OK);
            partner->sent++;
        }
    }
}

/* Changes words of the partner's memory, also during its death: the owner adds to word 0, other
 * ranks to the word of their rank. */
static void touch_memory(rank_t *rank)
{
    storm_t *storm = rank->arg;
    _Atomic uint64_t *words;
    uint32_t peer;

    atomic_fetch_add(&storm->memory[0], 1);
    for (peer = 0; peer < rank->size; peer++) {
        if (storm->partners[peer].key != NULL) {
            words = rank->ops->key_ptr(storm->partners[peer].key);
            atomic_fetch_add(&words[1 + rank->rank], 1);
            words[MEMORY / 8 - 1 - rank->rank] = atomic_load(&words[0]);
        }
    }
}

/* Reports once a generation that replies of all partners flow, or once that all replies have
 * come. */
static void report(rank_t *rank)
{
    storm_t *storm = rank->arg;
    int is_drained = storm->must_stop;
    uint32_t peer, partners = 0, flowing = 0;

    for (peer = 0; peer < rank->size; peer++) {
        if (rank->lanes[peer] != 0) {
            partners++;
            flowing += (storm->partners[peer].since_change >= ENOUGH);
            is_drained &= (storm->partners[peer].sent == storm->partners[peer].replied);
        }
    }
    if ((partners == rank->size - 1) && (flowing == partners) && (storm->reported != rank->generation)) {
        storm->reported = rank->generation;
        rank_tell(rank, RIG_READY, rank->generation, 0);
    }
    if (is_drained && !storm->is_drained) {
        storm->is_drained = 1;
        rank_tell(rank, RIG_DRAINED, 0, 0);
    }
}

static void storm_body(rank_t *rank)
{
    const char *lanes = rank->arg;
    storm_t storm = {0};
    unsigned char key[512];
    rig_message_t message;
    size_t length;
    void *base;

    rank->arg = &storm;
    rank->on_request = on_request;
    rank->on_reply = on_reply;
    rank_open(rank, lanes);
    rank_check(rank, rank->ops->mem_alloc(rank->transport, MEMORY, NULL, &storm.mem, &base) == KEEL_OK);
    storm.memory = base;
    length = sizeof(key);
    rank_check(rank, rank->ops->mem_pack(rank->transport, storm.mem, key, &length) == KEEL_OK);
    rank_publish_address(rank, key, length);
    for (;;) {
        while (rank_receive(rank, &message, 0)) {
            if (!handle(rank, &message)) {
                rank->ops->close(rank->transport);
                return;
            }
        }
        if (!storm.must_stop) {
            send_some(rank);
            touch_memory(rank);
        }
        rank_progress(rank);
        report(rank);
    }
}

/* ---- the test ---- */

static int all_flow(rig_t *rig)
{
    uint32_t rank;

    for (rank = 0; rank < rig->size; rank++) {
        if (rig->ready[rank] != rig->generation) {
            return 0;
        }
    }
    return 1;
}

static int all_drained(rig_t *rig)
{
    uint32_t rank;

    for (rank = 0; rank < rig->size; rank++) {
        if (!rig->is_drained[rank]) {
            return 0;
        }
    }
    return 1;
}

static int all_have_met(rig_t *rig)
{
    uint32_t rank;

    for (rank = 0; rank < rig->size; rank++) {
        if (!rig->has_address[rank]) {
            return 0;
        }
    }
    return 1;
}

static void stop_all(rig_t *rig)
{
    uint32_t rank;

    for (rank = 0; rank < rig->size; rank++) {
        rig_send(rig, rank, RIG_STOP, 0, NULL);
    }
    rig_run_until(rig, all_drained);
}

static void exit_all(rig_t *rig)
{
    uint32_t rank;

    for (rank = 0; rank < rig->size; rank++) {
        rig_send(rig, rank, RIG_EXIT, 0, NULL);
    }
}

static int has_number(rig_t *rig)
{
    return rig->has_number[0];
}

static void count_resources(rig_t *rig, uint64_t *files, uint64_t *mappings)
{
    rig_run_ms(rig, 1500); /* resources of the dead are freed after a second at the latest */
    rig->has_number[0] = 0;
    rig_send(rig, 0, RIG_COUNT, 0, NULL);
    rig_run_until(rig, has_number);
    *files = rig->number[0][0];
    *mappings = rig->number[0][1];
}

/* Two of three deaths come in full traffic, the others while ranks still meet. */
static void kill_one(rig_t *rig)
{
    const uint32_t victim = 1 + (uint32_t)(unit_random(&rig->seed) % (rig->size - 1));

    if (unit_random(&rig->seed) % 3 != 0) {
        rig_run_until(rig, all_flow);
    }
    rig_run_ms(rig, (unsigned)(unit_random(&rig->seed) % 8));
    rig_kill(rig, victim);
    rig_spawn(rig, victim);
}

START_TEST(survivors_of_kills_go_on_and_meet_the_replacements)
{
    static const char *const lanes[] = {"auto", "served"};
    const char *given = getenv("KEELTEST_KILLS");
    const unsigned kills = (given != NULL) ? (unsigned)atoi(given) : UNIT_ROUNDS(12);
    uint64_t files[2], mappings[2];
    uint32_t rank;
    unsigned i;
    rig_t rig;

    rig_init(&rig, RANKS, storm_body, (void *)lanes[_i]);
    rig.seed = unit_seed();
    for (rank = 0; rank < rig.size; rank++) {
        rig_spawn(&rig, rank);
    }
    for (i = 0; i < 4; i++) {
        kill_one(&rig);
    }
    rig_run_until(&rig, all_flow);
    count_resources(&rig, &files[0], &mappings[0]);
    for (i = 0; i < kills; i++) {
        kill_one(&rig);
    }
    rig_run_until(&rig, all_flow);
    count_resources(&rig, &files[1], &mappings[1]);
    printf("%u kills: open files %lu then %lu, mappings %lu then %lu\n", kills + 4, files[0], files[1], mappings[0],
           mappings[1]);
    /* Two ranks that connect to each other at the same time end with one socket or two. */
    ck_assert_uint_le(files[1], files[0] + 2 * 2 * (RANKS - 1));
    ck_assert_uint_le(mappings[1], mappings[0] + 16);
    stop_all(&rig);
    exit_all(&rig);
    rig_finish(&rig);
}
END_TEST

START_TEST(a_death_while_all_close_harms_no_process)
{
    uint32_t rank;
    unsigned i;
    rig_t rig;

    rig_init(&rig, RANKS, storm_body, (void *)"auto");
    rig.seed = unit_seed();
    for (i = 0; i < UNIT_ROUNDS(12); i++) {
        memset(rig.is_drained, 0, sizeof(rig.is_drained));
        for (rank = 0; rank < rig.size; rank++) {
            rig_spawn(&rig, rank);
        }
        rig_run_until(&rig, all_have_met);
        rig_run_until(&rig, all_flow);
        stop_all(&rig);
        exit_all(&rig);
        usleep((useconds_t)(unit_random(&rig.seed) % 4000)); /* the moment of the death */
        rig_silence(&rig, 1 + (uint32_t)(unit_random(&rig.seed) % (RANKS - 1)));
        rig_finish(&rig);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("transport_ucp_kill");
    TCase *tcase = tcase_create("transport_ucp_kill");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tcase, 0); /* ctest has a timeout, and every wait in this file its own */
    tcase_add_loop_test(tcase, survivors_of_kills_go_on_and_meet_the_replacements, 0, 2);
    tcase_add_test(tcase, a_death_while_all_close_harms_no_process);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return (failed == 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}
