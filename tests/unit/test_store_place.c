/* Placement of the copies of stores: the permutation, and holders by failure domains. */
#include "unit.h"

#include "store/store_next.h"
#include "store/store_place.h"

#include <stdlib.h>
#include <string.h>

enum { RANKS_MAX = 64 };

START_TEST(permutation_is_one_to_one_in_both_directions)
{
    static const uint64_t counts[] = {1, 2, 3, 4, 5, 16, 17, 63, 64, 65, 1000, 4097};
    static uint8_t seen[4097];

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        for (uint64_t seed = 0; seed < 4; seed++) {
            keel_permutation_t permutation;

            keel_permutation_init(&permutation, counts[i], seed, 0);
            memset(seen, 0, sizeof(seen));
            for (uint64_t x = 0; x < counts[i]; x++) {
                const uint64_t y = keel_permute(&permutation, x);

                ck_assert_uint_lt(y, counts[i]);
                ck_assert_uint_eq(seen[y]++, 0);
                ck_assert_uint_eq(keel_permute_back(&permutation, y), x);
            }
        }
    }
}
END_TEST

START_TEST(permutation_spreads_neighbours)
{
    keel_permutation_t permutation;
    unsigned near = 0;

    keel_permutation_init(&permutation, 4096, 1, 0);
    for (uint64_t x = 0; x + 1 < 4096; x++) {
        near += keel_permute(&permutation, x) / 64 == keel_permute(&permutation, x + 1) / 64;
    }
    ck_assert_uint_lt(near, 2 * 4096 / 64);
}
END_TEST

START_TEST(permutation_of_large_counts_ends)
{
    keel_permutation_t permutation;

    keel_permutation_init(&permutation, (1ull << 40) + 1, 7, 0);
    for (uint64_t x = 0; x < 1000; x++) {
        const uint64_t y = keel_permute(&permutation, x << 29);

        ck_assert_uint_le(y, 1ull << 40);
        ck_assert_uint_eq(keel_permute_back(&permutation, y), x << 29);
    }
}
END_TEST

/* ranks on nodes of @a width */
static keel_store_place_t place_on(uint32_t ranks, uint32_t width, uint32_t copies, int is_consecutive)
{
    const keel_store_place_params_t params = {
        .ranks = ranks, .copies = copies, .ranges = 5, .seed = 3, .is_consecutive = is_consecutive};
    uint32_t node[RANKS_MAX];
    keel_domains_t domains;
    keel_store_place_t place;

    for (uint32_t r = 0; r < ranks; r++) {
        node[r] = r / width;
    }
    ck_assert_int_eq(keel_domains_of_nodes(ranks, node, &domains), KEEL_OK);
    ck_assert_int_eq(keel_store_place_init(&place, &domains, &params), KEEL_OK);
    keel_domains_release(&domains);
    return place;
}

/* Every cell has one range, every copy of a range one cell, and the copies have different ranks. */
START_TEST(each_cell_has_one_copy_of_one_range)
{
    for (uint32_t ranks = 1; ranks <= 13; ranks++) {
        for (uint32_t copies = 1; copies <= ranks && copies <= 5; copies++) {
            keel_store_place_t place = place_on(ranks, 2, copies, copies % 2);

            for (uint64_t range = 0; range < ranks * place.params.ranges; range++) {
                uint64_t holders = 0;

                for (uint32_t copy = 0; copy < copies; copy++) {
                    const keel_store_cell_t cell = keel_store_place_find(&place, range, copy);
                    uint32_t found;

                    ck_assert_uint_lt(cell.index, copies * place.params.ranges);
                    ck_assert_uint_eq(keel_store_place_range(&place, cell.holder, cell.index, &found), range);
                    ck_assert_uint_eq(found, copy);
                    ck_assert_uint_eq(holders & (1ull << cell.holder), 0);
                    holders |= 1ull << cell.holder;
                }
            }
            keel_store_place_release(&place);
        }
    }
}
END_TEST

START_TEST(copies_lie_on_different_nodes_while_there_are_enough)
{
    static const uint32_t jobs[][3] = {{16, 4, 4}, {16, 8, 2}, {12, 3, 4}, {60, 6, 4}, {8, 1, 4}, {24, 4, 3}};

    for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
        const uint32_t ranks = jobs[i][0], width = jobs[i][1], copies = jobs[i][2];
        keel_store_place_t place = place_on(ranks, width, copies, 0);

        for (uint64_t range = 0; range < ranks * place.params.ranges; range++) {
            uint64_t nodes = 0;

            for (uint32_t copy = 0; copy < copies; copy++) {
                nodes |= 1ull << (keel_store_place_find(&place, range, copy).holder / width);
            }
            ck_assert_int_eq(__builtin_popcountll(nodes), copies);
        }
        keel_store_place_release(&place);
    }
}
END_TEST

START_TEST(consecutive_copies_begin_at_the_rank_that_submits)
{
    keel_store_place_t place = place_on(12, 3, 4, 1);

    for (uint64_t range = 0; range < 12 * place.params.ranges; range++) {
        ck_assert_uint_eq(keel_store_place_find(&place, range, 0).holder, range / place.params.ranges);
    }
    keel_store_place_release(&place);
}
END_TEST

START_TEST(permuted_ranges_of_one_rank_lie_at_many)
{
    const keel_store_place_params_t params = {.ranks = 16, .copies = 2, .ranges = 64};
    uint32_t node[16];
    keel_domains_t domains;
    keel_store_place_t place;
    uint64_t holders = 0;

    for (uint32_t r = 0; r < 16; r++) {
        node[r] = r;
    }
    ck_assert_int_eq(keel_domains_of_nodes(16, node, &domains), KEEL_OK);
    ck_assert_int_eq(keel_store_place_init(&place, &domains, &params), KEEL_OK);
    for (uint64_t range = 0; range < 64; range++) {
        holders |= 1ull << keel_store_place_find(&place, range, 0).holder;
    }
    ck_assert_int_ge(__builtin_popcountll(holders), 14);
    keel_store_place_release(&place);
    keel_domains_release(&domains);
}
END_TEST

/* After each loss: cells have one copy each, holders are there and differ, all ranks agree, and
 * copies lie on different nodes while there are two nodes with room. */
START_TEST(copies_of_gone_ranks_get_next_holders)
{
    enum { COPIES = 2, RANGES = 6, SPARE = 2 * COPIES * RANGES, ALL = 12, WIDTH = 3 };
    static const uint32_t gone[] = {4, 11, 0, 3, 5};
    uint8_t *used = calloc(ALL * (COPIES * RANGES + SPARE), 1);
    uint32_t node[ALL];
    keel_domains_t domains;
    keel_store_place_t place[ALL];

    for (uint32_t r = 0; r < ALL; r++) {
        node[r] = r / WIDTH;
    }
    ck_assert_int_eq(keel_domains_of_nodes(ALL, node, &domains), KEEL_OK);
    for (uint32_t r = 0; r < ALL; r++) {
        const keel_store_place_params_t params = {
            .ranks = ALL, .copies = COPIES, .ranges = RANGES, .seed = 3, .spare = SPARE, .own = r};

        ck_assert_int_eq(keel_store_place_init(&place[r], &domains, &params), KEEL_OK);
        ck_assert_int_eq(keel_store_next_init(&place[r], &domains), KEEL_OK);
    }
    for (size_t g = 0; g < sizeof(gone) / sizeof(gone[0]); g++) {
        uint32_t most = 0, least = SPARE;

        for (uint32_t r = 0; r < ALL; r++) {
            ck_assert_int_eq(keel_store_next_gone(&place[r], gone[g]), KEEL_OK);
        }
        memset(used, 0, ALL * (COPIES * RANGES + SPARE));
        for (uint64_t range = 0; range < ALL * RANGES; range++) {
            uint32_t nodes = 0;

            for (uint32_t copy = 0; copy < COPIES; copy++) {
                const keel_store_cell_t cell = keel_store_place_find(&place[range % ALL], range, copy);
                uint32_t found;

                ck_assert_uint_lt(cell.holder, ALL);
                ck_assert(!keel_store_place_is_gone(&place[0], cell.holder));
                ck_assert_uint_eq(used[cell.holder * (COPIES * RANGES + SPARE) + cell.index]++, 0);
                ck_assert_uint_eq(keel_store_place_range(&place[cell.holder], cell.holder, cell.index, &found), range);
                ck_assert_uint_eq(found, copy);
                nodes |= 1u << node[cell.holder];
            }
            ck_assert_int_eq(__builtin_popcount(nodes), COPIES);
        }
        for (uint32_t r = 0; r < ALL; r++) {
            const uint32_t here = place[0].next.used[r];

            most = (!keel_store_place_is_gone(&place[0], r) && here > most) ? here : most;
            least = (!keel_store_place_is_gone(&place[0], r) && here < least) ? here : least;
        }
        ck_assert_uint_le(most, least + 6);
    }
    for (uint32_t r = 0; r < ALL; r++) {
        keel_store_next_release(&place[r]);
        keel_store_place_release(&place[r]);
    }
    keel_domains_release(&domains);
    free(used);
}
END_TEST

START_TEST(impossible_numbers_are_refused)
{
    const uint32_t node[4] = {0, 1, 2, 3};
    const keel_store_place_params_t wrong[] = {{.ranks = 4, .copies = 5, .ranges = 1},
                                               {.ranks = 4, .copies = 0, .ranges = 1},
                                               {.ranks = 5, .copies = 2, .ranges = 1},
                                               {.ranks = 4, .copies = 2, .ranges = 0}};
    keel_domains_t domains;
    keel_store_place_t place;

    ck_assert_int_eq(keel_domains_of_nodes(4, node, &domains), KEEL_OK);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        ck_assert_int_eq(keel_store_place_init(&place, &domains, &wrong[i]), KEEL_ERR_INVALID_PARAM);
    }
    keel_domains_release(&domains);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {permutation_is_one_to_one_in_both_directions,
                                  permutation_spreads_neighbours,
                                  permutation_of_large_counts_ends,
                                  each_cell_has_one_copy_of_one_range,
                                  copies_lie_on_different_nodes_while_there_are_enough,
                                  consecutive_copies_begin_at_the_rank_that_submits,
                                  permuted_ranges_of_one_rank_lie_at_many,
                                  copies_of_gone_ranks_get_next_holders,
                                  impossible_numbers_are_refused,
                                  NULL};

    return unit_run("store_place", tests);
}
