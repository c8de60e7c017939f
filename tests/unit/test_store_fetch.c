/* Which copies of a range a load or a refill gives up. */
#include "unit.h"

#include "store/store_fetch.h"

#include <stdlib.h>

enum { RANKS = 3 };

static struct keel_context context;
static struct keel_store store = {.ctx = &context};

static keel_store_fetch_t *fetch_make(void)
{
    static const uint32_t node[RANKS] = {0, 1, 2};
    const keel_store_place_params_t params = {.ranks = RANKS, .copies = RANKS, .ranges = 4};
    keel_store_fetch_t *fetch = calloc(1, sizeof(*fetch) + sizeof(*fetch->wants));
    keel_domains_t domains;

    ck_assert_int_eq(keel_domains_of_nodes(RANKS, node, &domains), KEEL_OK);
    ck_assert_int_eq(keel_store_place_init(&store.place, &domains, &params), KEEL_OK);
    keel_domains_release(&domains);
    fetch->store = &store;
    fetch->count = 1;
    return fetch;
}

static void fetch_end(keel_store_fetch_t *fetch)
{
    keel_store_place_release(&store.place);
    free(fetch);
}

START_TEST(copies_that_were_read_are_given_up)
{
    keel_store_fetch_t *fetch = fetch_make();

    ck_assert(!keel_store_fetch_is_nowhere(fetch));
    fetch->wants[0].tried = 3;
    ck_assert(!keel_store_fetch_is_nowhere(fetch));
    fetch->wants[0].tried = 7;
    ck_assert(keel_store_fetch_is_nowhere(fetch));
    fetch_end(fetch);
}
END_TEST

START_TEST(failed_reads_do_not_give_up_a_copy)
{
    keel_store_fetch_t *fetch = fetch_make();

    fetch->wants[0].tried = 7;
    for (unsigned copy = 0; copy < RANKS; copy++) {
        fetch->wants[0].unread = 1u << copy;
        ck_assert(!keel_store_fetch_is_nowhere(fetch));
    }
    fetch_end(fetch);
}
END_TEST

START_TEST(refills_do_not_need_the_own_copy)
{
    keel_store_fetch_t *fetch = fetch_make();

    fetch->is_refill = 1;
    for (uint32_t copy = 0; copy < RANKS; copy++) {
        context.lane.rank = keel_store_place_find(&store.place, 0, copy).holder;
        fetch->wants[0].tried = 7u & ~(1u << copy);
        ck_assert(keel_store_fetch_is_nowhere(fetch));
        fetch->wants[0].tried = 1u << copy;
        ck_assert(!keel_store_fetch_is_nowhere(fetch));
    }
    fetch_end(fetch);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {copies_that_were_read_are_given_up, failed_reads_do_not_give_up_a_copy,
                                  refills_do_not_need_the_own_copy, NULL};

    return unit_run("store_fetch", tests);
}
