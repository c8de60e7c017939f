/*
 * Requests that the transport on libibverbs posts together, over a stand-in for that library
 * (verbs_stub.h).
 */
#include "verbs_pair.h"

enum { RANKS = PAIR_RANKS, WORDS = 1024, GETS = 20 };

typedef struct gets {
    pair_side_t sides[RANKS];
    keel_transport_mem_t *mem; /* of rank 1 */
    keel_transport_key_t *key;
    uint64_t *log; /* memory of rank 0, target of the gets */
    unsigned told;
} gets_t;

static void on_done(void *arg, keel_status_t status)
{
    ck_assert_int_eq(status, KEEL_OK);
    ((gets_t *)arg)->told++;
}

static void gets_open(gets_t *gets)
{
    pair_side_t *sides = gets->sides;
    unsigned char blob[256];
    size_t length = sizeof(blob);
    void *base;

    memset(gets, 0, sizeof(*gets));
    pair_open(sides);
    pair_reaches(&sides[0], 1, &sides[1]);
    ck_assert_int_eq(sides[1].ops->mem_alloc(sides[1].transport, WORDS * 8, NULL, &gets->mem, &base), KEEL_OK);
    for (uint64_t i = 0; i < WORDS; i++) {
        ((uint64_t *)base)[i] = i;
    }
    sides[1].ops->mem_expose(sides[1].transport, gets->mem, KEEL_LANE_RMA);
    ck_assert_int_eq(sides[1].ops->mem_pack(sides[1].transport, gets->mem, blob, &length), KEEL_OK);
    ck_assert_int_eq(sides[0].ops->key_open(sides[0].transport, 1, blob, length, (uintptr_t)base, &gets->key), KEEL_OK);
    gets->log = malloc(WORDS * 8);
    sides[0].ops->lend(sides[0].transport, gets->log, WORDS * 8);
}

static void gets_close(gets_t *gets)
{
    pair_side_t *sides = gets->sides;

    sides[0].ops->key_close(sides[0].transport, gets->key);
    sides[1].ops->mem_free(sides[1].transport, gets->mem);
    pair_close(sides);
    free(gets->log);
}

static void get_word(gets_t *gets, uint64_t word)
{
    pair_side_t *side = &gets->sides[0];

    ck_assert_int_eq(side->ops->get(side->transport, gets->key, word * 8, &gets->log[word], 8, on_done, gets),
                     KEEL_INPROGRESS);
}

static void progress(gets_t *gets)
{
    (void)gets->sides[0].ops->progress(gets->sides[0].transport);
}

/* Progress between gets does not post the gets. */
START_TEST(gets_amid_which_progress_is_made_are_posted_together)
{
    pair_side_t *side;
    uint64_t posts;
    gets_t gets;

    gets_open(&gets);
    side = &gets.sides[0];
    progress(&gets);
    posts = stub_counts().posts;
    for (unsigned i = 0; i < GETS; i++) {
        get_word(&gets, i);
        progress(&gets);
    }
    ck_assert_uint_eq(stub_counts().posts, posts);
    for (unsigned round = 1; gets.told < GETS; round++) { /* the wait posts the chain */
        ck_assert_uint_lt(round, 10000);
        side->ops->wait(side->transport, round, 1000, 0);
        progress(&gets);
    }
    ck_assert_uint_eq(stub_counts().posts, posts + 1);
    for (uint64_t i = 0; i < GETS; i++) {
        ck_assert_uint_eq(gets.log[i], i);
    }
    gets_close(&gets);
}
END_TEST

/* A program that only makes progress has issued its last get. */
START_TEST(gets_that_none_follow_are_posted_by_progress_alone)
{
    const time_t deadline = time(NULL) + PAIR_DEADLINE_S;
    uint64_t posts;
    gets_t gets;

    gets_open(&gets);
    progress(&gets);
    posts = stub_counts().posts;
    get_word(&gets, 5);
    progress(&gets);
    progress(&gets);
    ck_assert_uint_eq(stub_counts().posts, posts + 1);
    while (gets.told < 1 && time(NULL) < deadline) {
        progress(&gets);
        sched_yield();
    }
    ck_assert_uint_eq(gets.told, 1);
    ck_assert_uint_eq(gets.log[5], 5);
    gets_close(&gets);
}
END_TEST

/* A device reads inline data when the request is posted, before the data of the get arrive. */
START_TEST(a_put_behind_a_fence_is_not_inline_while_a_get_may_bring_what_it_puts)
{
    const time_t deadline = time(NULL) + PAIR_DEADLINE_S;
    keel_transport_put_t put = {.length = 8};
    unsigned count = 1;
    pair_side_t *side;
    gets_t gets;

    gets_open(&gets);
    side = &gets.sides[0];
    get_word(&gets, 5);
    side->ops->fence(side->transport);
    put.offset = 9 * sizeof(uint64_t);
    put.buffer = &gets.log[5];
    ck_assert_int_eq(side->ops->put(side->transport, gets.key, &put, &count), KEEL_OK);
    ck_assert_uint_eq(count, 1);
    while (gets.told < 1 && time(NULL) < deadline) {
        progress(&gets);
        sched_yield();
    }
    ck_assert_uint_eq(gets.told, 1);
    ck_assert_uint_eq(stub_counts().unfenced, 0);
    gets_close(&gets);
}
END_TEST

static void on_old(void *arg, keel_status_t status)
{
    ck_assert_int_eq(status, KEEL_OK);
    (*(unsigned *)arg)++;
}

/* The device changes words for any rank, the owner included, and changes nothing else. Without a
 * request for atomics, or without a rank on another node, no key allows atomics. */
START_TEST(words_are_changed_by_the_device_for_their_owner_too)
{
    static const keel_transport_atomic_t add = {.op = KEEL_TRANSPORT_ADD, .operand = 5},
                                         swap = {.op = KEEL_TRANSPORT_CSWAP, .operand = 70, .compare = 7},
                                         miss = {.op = KEEL_TRANSPORT_CSWAP, .operand = 90, .compare = 1};
    const time_t deadline = time(NULL) + PAIR_DEADLINE_S;
    keel_transport_mem_t *mem;
    keel_transport_key_t *keys[RANKS];
    unsigned char blob[256];
    size_t length = sizeof(blob);
    uint64_t *words, old[3] = {0};
    unsigned told = 0, issued = 0;
    keel_status_t status;
    pair_side_t *side;
    gets_t gets;

    gets_open(&gets);
    ck_assert(!gets.sides[0].ops->key_is_atomic(gets.key));
    side = &gets.sides[1];
    ck_assert_int_eq(side->ops->mem_alloc(side->transport, 64, NULL, &mem, (void **)&words), KEEL_OK);
    side->ops->mem_expose(side->transport, mem, KEEL_LANE_RMA | KEEL_LANE_ATOMIC);
    ck_assert_int_eq(side->ops->mem_pack(side->transport, mem, blob, &length), KEEL_OK);
    for (uint32_t r = 0; r < RANKS; r++) {
        ck_assert_int_eq(
            gets.sides[r].ops->key_open(gets.sides[r].transport, 1, blob, length, (uintptr_t)words, &keys[r]), KEEL_OK);
        ck_assert(side->ops->key_is_atomic(keys[r]));
    }
    words[0] = 100;
    words[1] = 7;
    words[2] = 3;
    ck_assert_int_eq(side->ops->atomic(gets.sides[0].transport, keys[0], 1 << 20, &add, old, on_old, &told),
                     KEEL_ERR_RANGE);
    while (told < 3 && time(NULL) < deadline) {
        /* the connection to itself is still in the making, by its own service thread */
        if (issued < 3) {
            status = (issued == 0)
                         ? side->ops->atomic(gets.sides[0].transport, keys[0], 0, &add, &old[0], on_old, &told)
                     : (issued == 1) ? side->ops->atomic(side->transport, keys[1], 8, &swap, &old[1], on_old, &told)
                                     : side->ops->atomic(side->transport, keys[1], 16, &miss, &old[2], on_old, &told);
            ck_assert(status == KEEL_INPROGRESS || status == KEEL_ERR_NO_MEMORY);
            issued += (status == KEEL_INPROGRESS);
        }
        for (uint32_t r = 0; r < RANKS; r++) {
            (void)gets.sides[r].ops->progress(gets.sides[r].transport);
            gets.sides[r].ops->wait(gets.sides[r].transport, 100, 100, 0);
        }
    }
    ck_assert_uint_eq(told, 3);
    ck_assert_uint_eq(words[0], 105);
    ck_assert_uint_eq(words[1], 70);
    ck_assert_uint_eq(words[2], 3);
    ck_assert_uint_eq(old[0], 100);
    ck_assert_uint_eq(old[1], 7);
    ck_assert_uint_eq(old[2], 3);
    ck_assert_uint_eq(side->suspects, 0);
    for (uint32_t r = 0; r < RANKS; r++) {
        side->ops->key_close(gets.sides[r].transport, keys[r]);
    }
    side->ops->mem_free(side->transport, mem);
    gets_close(&gets);
    ck_assert_uint_eq(stub_counts().refused, 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {gets_amid_which_progress_is_made_are_posted_together,
                                  gets_that_none_follow_are_posted_by_progress_alone,
                                  a_put_behind_a_fence_is_not_inline_while_a_get_may_bring_what_it_puts,
                                  words_are_changed_by_the_device_for_their_owner_too, NULL};

    return unit_run("transport_verbs_chain", tests);
}
