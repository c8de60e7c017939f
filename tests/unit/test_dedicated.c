/*
 * Groups with parity on ranks of their own: properties on random hierarchies, checked by code that
 * does not share the algorithm.
 */
#include "topo/choose.h"
#include "topo/dedicated.h"
#include "topo/topology.h"

#include "topo_random.h"

#include <stdio.h>

/* Checks a partition: sizes differ by at most one, and each group has its checksum ranks first and
 * no others. */
static void check_partition(uint32_t ranks, uint32_t programs, uint32_t parities, const keel_groups_t *groups)
{
    uint8_t *seen = calloc(ranks, 1);
    uint64_t total = 0;

    ck_assert_uint_eq(groups->count, (ranks - programs) / parities);
    for (uint32_t g = 0; g < groups->count; g++) {
        ck_assert(groups->size[g] == ranks / groups->count || groups->size[g] == (ranks - 1) / groups->count + 1);
        for (uint32_t i = 0; i < groups->size[g]; i++) {
            const uint32_t rank = groups->members[g][i];

            ck_assert_uint_lt(rank, ranks);
            ck_assert_uint_eq(seen[rank]++, 0);
            ck_assert_int_eq(rank >= programs, i < parities);
            ck_assert(groups->of_rank[rank] == g && groups->index[rank] == i);
        }
        total += groups->size[g];
    }
    free(seen);
    ck_assert_uint_eq(total, ranks);
}

/* Counts, over all groups, the most members of one group on one element. */
static uint32_t count_worst(const keel_domains_t *domains, const keel_groups_t *groups, uint32_t l)
{
    const keel_domain_level_t *level = &domains->levels[l];
    uint32_t *here = calloc((size_t)level->count * groups->count, sizeof(*here)), worst = 0;

    for (uint32_t r = 0; r < domains->ranks; r++) {
        const uint32_t now = ++here[(size_t)level->of_rank[r] * groups->count + groups->of_rank[r]];

        worst = (now > worst) ? now : worst;
    }
    free(here);
    return worst;
}

/* Some group has at least the average share of the fullest element. */
static uint32_t least_possible(const keel_domains_t *domains, uint32_t groups, uint32_t l)
{
    const keel_domain_level_t *level = &domains->levels[l];
    uint32_t *here = calloc(level->count, sizeof(*here)), most = 0;

    for (uint32_t r = 0; r < domains->ranks; r++) {
        here[level->of_rank[r]]++;
        most = (here[level->of_rank[r]] > most) ? here[level->of_rank[r]] : most;
    }
    free(here);
    return (most + groups - 1) / groups;
}

static void check_placement(const keel_domains_t *domains, uint32_t programs, uint32_t parities, uint32_t level)
{
    keel_groups_t groups, again;

    ck_assert_int_eq(keel_groups_place_dedicated(domains, programs, parities, level, &groups), KEEL_OK);
    check_partition(domains->ranks, programs, parities, &groups);
    for (uint32_t l = 0; l <= level; l++) {
        ck_assert_uint_eq(count_worst(domains, &groups, l), least_possible(domains, groups.count, l));
    }
    ck_assert_int_eq(groups.crowded, count_worst(domains, &groups, level) > parities);
    ck_assert_int_eq(keel_groups_place_dedicated(domains, programs, parities, level, &again), KEEL_OK);
    ck_assert_mem_eq(groups.of_rank, again.of_rank, domains->ranks * sizeof(uint32_t));
    ck_assert_mem_eq(groups.index, again.index, domains->ranks * sizeof(uint32_t));
    keel_groups_release(&again);
    keel_groups_release(&groups);
}

START_TEST(random_hierarchies_are_spread_as_evenly_as_can_be)
{
    uint64_t state = unit_seed();
    keel_domains_t domains;

    for (int n = 0; n < UNIT_ROUNDS(2000); n++) {
        const uint32_t ranks = 5 + unit_random(&state) % 200, levels = 1 + unit_random(&state) % 4;
        const uint32_t parities = 1 + unit_random(&state) % (ranks < 9 ? ranks - 3 : 3);
        const uint32_t count = 1 + unit_random(&state) % (ranks / (parities + 2));

        topo_random_domains(&state, ranks, levels, &domains);
        check_placement(&domains, ranks - count * parities, parities, unit_random(&state) % levels);
        keel_domains_release(&domains);
    }
}
END_TEST

/* A hundred thousand ranks, with as few and as many checksum ranks as are likely. */
START_TEST(large_hierarchies_are_spread_as_evenly_as_can_be)
{
    static const uint32_t counts[] = {100, 2500, 12500};
    uint64_t state = unit_seed();
    keel_domains_t domains;
    keel_groups_t groups;

    for (unsigned n = 0; n < UNIT_ROUNDS(sizeof(counts) / sizeof(*counts)); n++) {
        const uint32_t programs = 100000 - counts[n] * (n + 1);

        topo_random_domains(&state, 100000, 3, &domains);
        ck_assert_int_eq(keel_groups_place_dedicated(&domains, programs, n + 1, 2, &groups), KEEL_OK);
        check_partition(100000, programs, n + 1, &groups);
        for (uint32_t level = 0; level < 3; level++) {
            uint32_t worst;

            ck_assert_int_eq(keel_groups_worst(&domains, &groups, level, &worst), KEEL_OK);
            ck_assert_uint_eq(worst, least_possible(&domains, counts[n], level));
        }
        keel_groups_release(&groups);
        keel_domains_release(&domains);
    }
}
END_TEST

/* Makes five nodes with @a each ranks. */
static void domains_of(uint32_t each, keel_domains_t *domains)
{
    uint32_t node[64];

    for (uint32_t r = 0; r < 5 * each; r++) {
        node[r] = r / each;
    }
    ck_assert_int_eq(keel_domains_of_nodes(5 * each, node, domains), KEEL_OK);
}

START_TEST(what_is_promised_holds_for_checksum_ranks_too)
{
    static const struct {
        const char *level;
        uint32_t each, programs, parities;
        keel_status_t status;
        const char *note;
    } cases[] = {
        {"node", 2, 7, 1, KEEL_OK, "no node holds more than 1 of a group"},
        {"auto", 2, 7, 1, KEEL_OK, "no node holds more than 1 of a group"},
        {"node", 4, 12, 2, KEEL_OK, "no node holds more than 2 of a group"},
        {"node", 2, 9, 1, KEEL_ERR_GROUPS,
         "with KEEL_CHECKSUM_RANKS of 1 some node has to hold 2 of a group, and parity covers 1; "
         "KEEL_CHECKSUM_RANKS of 2 would do"},
        {"auto", 2, 9, 1, KEEL_OK,
         "a node holds 2 of a group: losing it loses more than parity covers; KEEL_CHECKSUM_RANKS of 2 would do"},
        {"none", 2, 7, 1, KEEL_OK,
         "a node holds 2 of a group: losing it loses more than parity covers; placed by the topology, none would"},
        {"node", 2, 6, 1, KEEL_ERR_GROUPS, "6 ranks do not make as many groups as KEEL_CHECKSUM_RANKS of 4 is for"},
    };
    char note[KEEL_TOPOLOGY_NOTE_MAX];
    keel_domains_t domains;
    keel_groups_t groups;

    for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        keel_status_t status;

        domains_of(cases[i].each, &domains);
        status = keel_topology_place_dedicated(&domains, cases[i].level, cases[i].programs, cases[i].parities, &groups,
                                               note, sizeof(note));
        ck_assert_str_eq(note, cases[i].note);
        ck_assert_int_eq(status, cases[i].status);
        if (status == KEEL_OK) {
            check_partition(domains.ranks, cases[i].programs, cases[i].parities, &groups);
            ck_assert_int_eq(count_worst(&domains, &groups, 0) <= cases[i].parities, strncmp(note, "no ", 3) == 0);
            keel_groups_release(&groups);
        }
        keel_domains_release(&domains);
    }
}
END_TEST

START_TEST(what_cannot_be_placed_is_refused)
{
    static const struct {
        uint32_t programs, parities, level;
        keel_status_t status;
    } cases[] = {
        {0, 1, 0, KEEL_ERR_INVALID_PARAM}, {10, 1, 0, KEEL_ERR_INVALID_PARAM}, {7, 0, 0, KEEL_ERR_INVALID_PARAM},
        {7, 2, 0, KEEL_ERR_INVALID_PARAM}, {7, 1, 1, KEEL_ERR_INVALID_PARAM},  {6, 1, 0, KEEL_ERR_GROUPS},
        {1, 3, 0, KEEL_ERR_GROUPS},
    };
    keel_domains_t domains;
    keel_groups_t groups;

    domains_of(2, &domains);
    for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        ck_assert_int_eq(
            keel_groups_place_dedicated(&domains, cases[i].programs, cases[i].parities, cases[i].level, &groups),
            cases[i].status);
    }
    keel_domains_release(&domains);
}
END_TEST

static int fail_at, live;

static int may_allocate(void *arg, size_t bytes, const char *name)
{
    return fail_at-- != 0;
}

static void allocated(void *arg, void *memory, size_t bytes, int is_arena)
{
    live++;
}

static void freed(void *arg, void *memory)
{
    live--;
}

START_TEST(each_failing_allocation_is_reported_and_leaks_nothing)
{
    const keel_memory_hook_t hook = {may_allocate, allocated, freed, NULL};
    char note[KEEL_TOPOLOGY_NOTE_MAX];
    keel_domains_t domains;
    keel_groups_t groups;
    keel_status_t status;
    int i, before;

    for (unsigned is_none = 0; is_none < 2; is_none++) {
        domains_of(2, &domains);
        keel_memory_set_hook(&hook);
        i = 0;
        do {
            before = live;
            fail_at = i++;
            status =
                keel_topology_place_dedicated(&domains, is_none ? "none" : "node", 7, 1, &groups, note, sizeof(note));
            ck_assert(status == KEEL_OK || (status == KEEL_ERR_NO_MEMORY && live == before));
        } while (status != KEEL_OK);
        ck_assert_int_gt(i, 8);
        keel_groups_release(&groups);
        ck_assert_int_eq(live, before);
        keel_memory_set_hook(NULL);
        keel_domains_release(&domains);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        random_hierarchies_are_spread_as_evenly_as_can_be,     large_hierarchies_are_spread_as_evenly_as_can_be,
        what_is_promised_holds_for_checksum_ranks_too,         what_cannot_be_placed_is_refused,
        each_failing_allocation_is_reported_and_leaks_nothing, NULL};

    return unit_run("dedicated", tests);
}
