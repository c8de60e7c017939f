/*
 * A small limit of locked memory: the transport on libibverbs over a stand-in for that library
 * (verbs_stub.h).
 */
#include "verbs_pair.h"

enum { RANKS = PAIR_RANKS, WINDOW = 1 << 20, WINDOWS = 32 };

#define LIMIT ((size_t)8 << 20)

typedef struct windows {
    keel_transport_mem_t *mems[WINDOWS];
    unsigned exposed; /* number of exposed windows */
} windows_t;

/* Each process has its own limit; the stand-in counts the registrations of both. */
static void set_limit(pair_side_t *side, size_t limit)
{
    keel_verbs_of(side->transport)->device.lockable = limit;
}

static size_t lendable(pair_side_t *side)
{
    size_t limit;
    const size_t bytes = side->ops->lendable(side->transport, &limit);

    ck_assert_uint_eq(limit, LIMIT);
    return bytes;
}

/* Exposes more windows than the limit has room for. */
static void expose_all(pair_side_t *side, windows_t *windows)
{
    windows->exposed = 0;
    for (unsigned i = 0; i < WINDOWS; i++) {
        void *base;

        ck_assert_int_eq(side->ops->mem_alloc(side->transport, WINDOW, NULL, &windows->mems[i], &base), KEEL_OK);
        side->ops->mem_expose(side->transport, windows->mems[i], KEEL_LANE_RMA);
        windows->exposed += (windows->mems[i]->registration != NULL);
    }
}

static void free_all(pair_side_t *side, windows_t *windows)
{
    for (unsigned i = 0; i < WINDOWS; i++) {
        side->ops->mem_free(side->transport, windows->mems[i]);
    }
}

START_TEST(windows_leave_room_for_connections)
{
    windows_t windows[RANKS];
    pair_side_t sides[RANKS];

    pair_open(sides);
    stub_set(1, 0, 2 * LIMIT);
    for (unsigned i = 0; i < RANKS; i++) {
        set_limit(&sides[i], LIMIT);
        expose_all(&sides[i], &windows[i]);
        ck_assert_uint_ge(windows[i].exposed, LIMIT / WINDOW / 2);
        ck_assert_uint_lt(windows[i].exposed, LIMIT / WINDOW);
        ck_assert_uint_lt(lendable(&sides[i]), WINDOW);
    }
    pair_reaches(&sides[0], 1, &sides[1]);
    pair_reaches(&sides[1], 0, &sides[0]);
    free_all(&sides[0], &windows[0]);
    free_all(&sides[1], &windows[1]);
    pair_close(sides);
    ck_assert_uint_eq(stub_counts().regions, 0);
}
END_TEST

START_TEST(what_may_be_lent_is_less_by_what_is_in_use)
{
    size_t before, length = WINDOW;
    pair_side_t sides[RANKS], *own = &sides[0];
    keel_transport_mem_t *mem;
    keel_verbs_t *verbs;
    void *base, *log;

    pair_open(sides);
    set_limit(own, LIMIT);
    verbs = keel_verbs_of(own->transport);
    before = lendable(own);
    ck_assert_uint_gt(before, LIMIT / 2);
    ck_assert_uint_lt(before, LIMIT);
    pair_reaches(own, 1, &sides[1]);
    ck_assert_uint_eq(lendable(own), before); /* room was kept for the connection */
    ck_assert_int_eq(own->ops->mem_alloc(own->transport, WINDOW, NULL, &mem, &base), KEEL_OK);
    own->ops->mem_expose(own->transport, mem, KEEL_LANE_RMA);
    ck_assert_uint_eq(lendable(own), before - WINDOW);
    log = aligned_alloc(4096, 2 * KEEL_VERBS_BLOCK);
    own->ops->lend(own->transport, log, 2 * KEEL_VERBS_BLOCK);
    ck_assert_uint_eq(lendable(own), before - WINDOW);
    ck_assert_ptr_nonnull(keel_verbs_lent_at(&verbs->loans, &verbs->device, &verbs->params, log, &length));
    ck_assert_uint_eq(lendable(own), before - WINDOW - KEEL_VERBS_BLOCK);
    keel_verbs_take_back(&verbs->loans, &verbs->device, log);
    own->ops->mem_free(own->transport, mem);
    ck_assert_uint_eq(lendable(own), before);
    free(log);
    pair_close(sides);
}
END_TEST

START_TEST(where_all_share_memory_anything_may_be_lent)
{
    static const uint32_t one_node[RANKS];
    pair_side_t side;

    pair_open_side(&side, 0, one_node);
    set_limit(&side, LIMIT);
    ck_assert_uint_eq(lendable(&side), SIZE_MAX);
    side.ops->close(side.transport);
}
END_TEST

/* Connections alone exceed the limit: no memory remains, and the remainder does not go below 0. */
START_TEST(a_limit_below_what_is_kept_leaves_nothing)
{
    pair_side_t sides[RANKS];
    windows_t windows;

    pair_open(sides);
    set_limit(&sides[0], 1000);
    ck_assert_uint_eq(keel_verbs_room(&keel_verbs_of(sides[0].transport)->device), 0);
    expose_all(&sides[0], &windows);
    ck_assert_uint_eq(windows.exposed, 0);
    pair_reaches(&sides[0], 1, &sides[1]);
    free_all(&sides[0], &windows);
    pair_close(sides);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {windows_leave_room_for_connections, what_may_be_lent_is_less_by_what_is_in_use,
                                  where_all_share_memory_anything_may_be_lent,
                                  a_limit_below_what_is_kept_leaves_nothing, NULL};

    return unit_run("transport_verbs_limit", tests);
}
