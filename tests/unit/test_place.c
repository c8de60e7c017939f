/*
 * Placement on hierarchies: a checker that counts by sorting, and for small jobs a search through
 * all partitions. Neither shares the algorithm that forms groups.
 */
#include "topo/group.h"

#include "topo_random.h"

static int compare(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    return (a > b) - (a < b);
}

/* Checks a partition: sizes differ by at most one, and no size is above k, unless k would leave a
 * group within its parities. */
static void check_partition(uint32_t ranks, const keel_place_params_t *params, const keel_groups_t *groups)
{
    const uint32_t small = ranks / groups->count;
    uint8_t *seen = calloc(ranks, 1);
    uint64_t total = 0;

    for (uint32_t g = 0; g < groups->count; g++) {
        ck_assert(groups->size[g] == small || (groups->size[g] == small + 1 && ranks % groups->count != 0));
        for (uint32_t i = 0; i < groups->size[g]; i++) {
            const uint32_t rank = groups->members[g][i];

            ck_assert_uint_lt(rank, ranks);
            ck_assert_uint_eq(seen[rank]++, 0);
            ck_assert(groups->of_rank[rank] == g && groups->index[rank] == i);
        }
        total += groups->size[g];
    }
    free(seen);
    ck_assert_uint_eq(total, ranks);
    ck_assert_uint_gt(small, params->parities);
    if ((ranks + groups->count - 1) / groups->count > params->group_size) {
        ck_assert_uint_lt(ranks / (groups->count + 1), params->parities + 1);
    }
}

/* Counts the most members of one group on one element of a level. */
static uint32_t count_worst(const keel_domains_t *domains, const keel_groups_t *groups, uint32_t level)
{
    uint32_t *elements = malloc(domains->ranks * sizeof(*elements));
    uint32_t worst = 0, run;

    for (uint32_t g = 0; g < groups->count; g++) {
        for (uint32_t i = 0; i < groups->size[g]; i++) {
            elements[i] = domains->levels[level].of_rank[groups->members[g][i]];
        }
        qsort(elements, groups->size[g], sizeof(*elements), compare);
        run = 0;
        for (uint32_t i = 0; i < groups->size[g]; i++) {
            run = (i > 0 && elements[i] == elements[i - 1]) ? run + 1 : 1;
            worst = (run > worst) ? run : worst;
        }
    }
    free(elements);
    return worst;
}

/* Lower bound from the fullest element: with g groups, some group has at least the g-th part of its
 * ranks. */
static uint32_t least_possible(const keel_domains_t *domains, uint32_t groups, uint32_t level)
{
    uint32_t *sorted = malloc(domains->ranks * sizeof(*sorted));
    uint32_t most = 0, run = 0;

    memcpy(sorted, domains->levels[level].of_rank, domains->ranks * sizeof(*sorted));
    qsort(sorted, domains->ranks, sizeof(*sorted), compare);
    for (uint32_t i = 0; i < domains->ranks; i++) {
        run = (i > 0 && sorted[i] == sorted[i - 1]) ? run + 1 : 1;
        most = (run > most) ? run : most;
    }
    free(sorted);
    return (most + groups - 1) / groups;
}

static void check_placement(const keel_domains_t *domains, const keel_place_params_t *params)
{
    keel_groups_t groups, again;
    uint32_t best, worst, fits;

    ck_assert_int_eq(keel_groups_place(domains, params, &groups, &best), KEEL_OK);
    check_partition(domains->ranks, params, &groups);
    for (uint32_t level = 0; level <= params->level; level++) {
        ck_assert_uint_eq(count_worst(domains, &groups, level), least_possible(domains, groups.count, level));
        ck_assert_int_eq(keel_groups_worst(domains, &groups, level, &worst), KEEL_OK);
        ck_assert_uint_eq(worst, count_worst(domains, &groups, level));
    }
    ck_assert_uint_eq(best, worst);
    ck_assert_int_eq(groups.crowded, best > params->parities);

    ck_assert_int_eq(keel_groups_place(domains, params, &again, NULL), KEEL_OK);
    ck_assert_mem_eq(groups.of_rank, again.of_rank, domains->ranks * sizeof(uint32_t));
    ck_assert_mem_eq(groups.index, again.index, domains->ranks * sizeof(uint32_t));
    keel_groups_release(&again);
    keel_groups_release(&groups);

    /* The advice: this size meets the demand, the next does not. */
    fits = keel_groups_size_that_fits(domains, params);
    ck_assert_int_eq(fits<params->group_size, best> params->parities);
    for (uint32_t size = fits; size <= fits + 1 && size <= domains->ranks; size++) {
        keel_place_params_t advised = *params;

        advised.group_size = size;
        if (size > params->parities) {
            ck_assert_int_eq(keel_groups_place(domains, &advised, &again, &best), KEEL_OK);
            ck_assert_int_eq(best <= params->parities, size == fits);
            keel_groups_release(&again);
        }
    }
}

START_TEST(random_hierarchies_are_spread_as_evenly_as_can_be)
{
    uint64_t state = unit_seed();
    keel_place_params_t params;
    keel_domains_t domains;

    for (int n = 0; n < UNIT_ROUNDS(2000); n++) {
        const uint32_t ranks = 3 + unit_random(&state) % 300;
        const uint32_t levels = 1 + unit_random(&state) % 5;

        topo_random_domains(&state, ranks, levels, &domains);
        ck_assert_int_eq(keel_domains_check(&domains), KEEL_OK);
        params.parities = 1 + unit_random(&state) % (ranks < 9 ? ranks - 2 : 4);
        params.group_size = params.parities + 1 + unit_random(&state) % (ranks - params.parities);
        if (n % 2 == 0 && params.group_size > 16) {
            params.group_size = params.parities + 1 + params.group_size % 12;
        }
        params.level = unit_random(&state) % levels;
        check_placement(&domains, &params);
        keel_domains_release(&domains);
    }
}
END_TEST

START_TEST(large_hierarchies_are_spread_as_evenly_as_can_be)
{
    const uint32_t sizes[] = {10007, 65536, 99999, 100000};
    uint64_t state = unit_seed();
    keel_domains_t domains;

    for (unsigned n = 0; n < UNIT_ROUNDS(sizeof(sizes) / sizeof(*sizes)); n++) {
        const keel_place_params_t params = {.group_size = 4 + n * 7, .parities = 1 + n % 3, .level = 3};

        topo_random_domains(&state, sizes[n], 4, &domains);
        check_placement(&domains, &params);
        keel_domains_release(&domains);
    }
}
END_TEST

START_TEST(placing_a_hundred_thousand_ranks_takes_little_time)
{
    const keel_place_params_t params = {.group_size = 20, .parities = 1, .level = 4};
    uint64_t state = unit_seed();
    struct timespec begin, end;
    keel_domains_t domains;
    keel_groups_t groups;

    topo_random_domains(&state, 100000, 5, &domains);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    ck_assert_int_eq(keel_groups_place(&domains, &params, &groups, NULL), KEEL_OK);
    clock_gettime(CLOCK_MONOTONIC, &end);
    /* Printed, not asserted: the machine may be busy. The test's own timeout bounds the growth. */
    printf("100000 ranks on 5 levels placed in %.1f ms\n",
           (double)(end.tv_sec - begin.tv_sec) * 1e3 + (double)(end.tv_nsec - begin.tv_nsec) * 1e-6);
    keel_groups_release(&groups);
    keel_domains_release(&domains);
}
END_TEST

/* ---- all partitions of small jobs ---- */

typedef struct search {
    const keel_domains_t *domains;
    uint32_t level, count, best;
    uint32_t of_rank[8], size[8];
} search_t;

static void search_partitions(search_t *search, uint32_t rank)
{
    const uint32_t ranks = search->domains->ranks, *element = search->domains->levels[search->level].of_rank;
    uint32_t worst = 0;

    if (rank < ranks) {
        for (uint32_t g = 0; g < search->count; g++) {
            if (search->size[g] < (ranks + search->count - 1) / search->count) {
                search->of_rank[rank] = g;
                search->size[g]++;
                search_partitions(search, rank + 1);
                search->size[g]--;
            }
        }
        return;
    }
    for (uint32_t i = 0; i < ranks; i++) {
        uint32_t together = 0;

        if (search->size[search->of_rank[i]] < ranks / search->count) {
            return;
        }
        for (uint32_t j = 0; j < ranks; j++) {
            together += (search->of_rank[j] == search->of_rank[i] && element[j] == element[i]);
        }
        worst = (together > worst) ? together : worst;
    }
    search->best = (worst < search->best) ? worst : search->best;
}

START_TEST(no_partition_of_a_small_job_is_better)
{
    uint64_t state = unit_seed();
    keel_place_params_t params;
    keel_domains_t domains;
    keel_groups_t groups;
    uint32_t best;

    for (int n = 0; n < UNIT_ROUNDS(200); n++) {
        const uint32_t ranks = 3 + unit_random(&state) % 6;

        topo_random_domains(&state, ranks, 2, &domains);
        params.parities = 1 + unit_random(&state) % 2;
        params.group_size = params.parities + 1 + unit_random(&state) % (ranks - params.parities);
        params.level = unit_random(&state) % 2;
        ck_assert_int_eq(keel_groups_place(&domains, &params, &groups, &best), KEEL_OK);
        for (uint32_t level = 0; level <= params.level; level++) {
            search_t search = {.domains = &domains, .level = level, .count = groups.count, .best = UINT32_MAX};

            search_partitions(&search, 0);
            ck_assert_uint_eq(count_worst(&domains, &groups, level), search.best);
        }
        keel_groups_release(&groups);
        keel_domains_release(&domains);
    }
}
END_TEST

/* ---- by hand ---- */

/* Twelve ranks on six nodes; racks of nodes 0 and 2, 1 and 4, 3 and 5. */
static uint32_t nodes_of_12[] = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5};
static uint32_t racks_of_12[] = {0, 0, 1, 1, 0, 0, 2, 2, 1, 1, 2, 2};
static keel_domain_level_t levels_of_12[] = {{.name = "node", .count = 6, .of_rank = nodes_of_12},
                                             {.name = "rack", .count = 3, .of_rank = racks_of_12}};
static const keel_domains_t domains_of_12 = {.ranks = 12, .level_count = 2, .levels = levels_of_12};

START_TEST(the_level_decides_what_is_spread)
{
    keel_place_params_t params = {.group_size = 3, .parities = 1, .level = 1};
    keel_groups_t groups;
    uint32_t best;

    ck_assert_int_eq(keel_groups_place(&domains_of_12, &params, &groups, &best), KEEL_OK);
    ck_assert_uint_eq(best, 1);
    ck_assert_uint_eq(count_worst(&domains_of_12, &groups, 1), 1);
    keel_groups_release(&groups);
    params.level = 0;
    ck_assert_int_eq(keel_groups_place(&domains_of_12, &params, &groups, &best), KEEL_OK);
    ck_assert_uint_eq(best, 1);
    ck_assert_uint_eq(count_worst(&domains_of_12, &groups, 0), 1);
    /* the request did not name racks */
    ck_assert_uint_eq(count_worst(&domains_of_12, &groups, 1), 2);
    keel_groups_release(&groups);
}
END_TEST

START_TEST(an_impossible_demand_names_the_best_possible)
{
    const keel_place_params_t params = {.group_size = 6, .parities = 1, .level = 1};
    const keel_place_params_t two = {.group_size = 6, .parities = 2, .level = 1};
    keel_groups_t groups;
    uint32_t best;

    ck_assert_int_eq(keel_groups_place(&domains_of_12, &params, &groups, &best), KEEL_OK);
    ck_assert_int_eq(groups.crowded, 1);
    ck_assert_uint_eq(best, 2); /* four ranks of a rack in two groups */
    ck_assert_uint_eq(keel_groups_size_that_fits(&domains_of_12, &params), 3);
    keel_groups_release(&groups);
    ck_assert_int_eq(keel_groups_place(&domains_of_12, &two, &groups, &best), KEEL_OK);
    ck_assert_int_eq(groups.crowded, 0);
    keel_groups_release(&groups);
}
END_TEST

START_TEST(what_cannot_be_placed_is_refused)
{
    static uint32_t split[] = {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1}, beyond[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 6};
    keel_domain_level_t bad_levels[] = {levels_of_12[0], {.name = "split", .count = 2, .of_rank = split}};
    const keel_domains_t bad = {.ranks = 12, .level_count = 2, .levels = bad_levels};
    const struct {
        keel_place_params_t params;
        keel_status_t status;
    } cases[] = {
        {{.group_size = 0, .parities = 1}, KEEL_ERR_INVALID_PARAM},
        {{.group_size = 3, .parities = 0}, KEEL_ERR_INVALID_PARAM},
        {{.group_size = 3, .parities = 1, .level = 2}, KEEL_ERR_INVALID_PARAM},
        {{.group_size = 13, .parities = 1}, KEEL_ERR_GROUPS},
        {{.group_size = 1, .parities = 1}, KEEL_ERR_GROUPS},
        {{.group_size = 3, .parities = 3}, KEEL_ERR_GROUPS},
        {{.group_size = UINT32_MAX, .parities = UINT32_MAX}, KEEL_ERR_GROUPS},
    };
    keel_groups_t groups;

    for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ck_assert_int_eq(keel_groups_place(&domains_of_12, &cases[i].params, &groups, NULL), cases[i].status);
    }
    ck_assert_int_eq(
        keel_groups_place(&bad, &(keel_place_params_t){.group_size = 3, .parities = 1, .level = 1}, &groups, NULL),
        KEEL_ERR_INVALID_PARAM); /* a node on both sides of a split */
    bad_levels[0] = (keel_domain_level_t){.name = "beyond", .count = 6, .of_rank = beyond};
    ck_assert_int_eq(keel_domains_check(&bad), KEEL_ERR_INVALID_PARAM);
}
END_TEST

START_TEST(nodes_are_numbered_by_their_first_ranks)
{
    const uint32_t node[] = {7, 3, 7, UINT32_MAX, 0, 3}, expected[] = {0, 1, 0, 2, 3, 1};
    keel_domains_t domains;

    ck_assert_int_eq(keel_domains_of_nodes(6, node, &domains), KEEL_OK);
    ck_assert_uint_eq(domains.level_count, 1);
    ck_assert_uint_eq(domains.levels[0].count, 4);
    ck_assert_mem_eq(domains.levels[0].of_rank, expected, sizeof(expected));
    keel_domains_release(&domains);
    ck_assert_int_eq(keel_domains_of_nodes(0, node, &domains), KEEL_ERR_INVALID_PARAM);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {random_hierarchies_are_spread_as_evenly_as_can_be,
                                  large_hierarchies_are_spread_as_evenly_as_can_be,
                                  placing_a_hundred_thousand_ranks_takes_little_time,
                                  no_partition_of_a_small_job_is_better,
                                  the_level_decides_what_is_spread,
                                  an_impossible_demand_names_the_best_possible,
                                  what_cannot_be_placed_is_refused,
                                  nodes_are_numbered_by_their_first_ranks,
                                  NULL};

    return unit_run("place", tests);
}
