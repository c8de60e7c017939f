/* What the transport on libibverbs posts together, over a stand-in for that library (verbs_stub.h). */
#include "verbs_pair.h"

enum { RANKS = PAIR_RANKS, WORDS = 1024, GETS = 20 };

typedef struct gets {
    pair_side_t sides[RANKS];
    keel_transport_mem_t *mem; /* of rank 1 */
    keel_transport_key_t *key;
    uint64_t *log; /* of rank 0: gets arrive there */
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

/* whatever else has to be looked at meanwhile */
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
    for (unsigned round = 1; gets.told < GETS; round++) { /* whose waiting ends it */
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

/* a program that looks now and then is one that issues nothing any more */
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

int main(void)
{
    const TTest *const tests[] = {gets_amid_which_progress_is_made_are_posted_together,
                                  gets_that_none_follow_are_posted_by_progress_alone, NULL};

    return unit_run("transport_verbs_chain", tests);
}
