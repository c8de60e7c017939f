/* Groups: properties checked on random node maps, by code that does not share the algorithm. */
#include "topo/group.h"

#include "base/memory.h"

#include "unit.h"

#include <string.h>

#define RANKS_MAX 200
#define NODES_MAX 64

/* Checks a partition: every rank once, both directions agree, sizes differ by at most one and stay
 * within bounds. */
static void check_partition(uint32_t ranks, uint32_t group_size, const keel_groups_t *groups)
{
    uint32_t seen[RANKS_MAX] = {0};
    uint32_t smallest = UINT32_MAX, largest = 0, total = 0;
    uint32_t g, i;

    for (g = 0; g < groups->count; g++) {
        smallest = (groups->size[g] < smallest) ? groups->size[g] : smallest;
        largest = (groups->size[g] > largest) ? groups->size[g] : largest;
        for (i = 0; i < groups->size[g]; i++) {
            const uint32_t rank = groups->members[g][i];
            ck_assert_uint_lt(rank, ranks);
            seen[rank]++;
            ck_assert_uint_eq(groups->of_rank[rank], g);
            ck_assert_uint_eq(groups->index[rank], i);
        }
        total += groups->size[g];
    }
    ck_assert_uint_eq(total, ranks);
    for (i = 0; i < ranks; i++) {
        ck_assert_uint_eq(seen[i], 1);
    }
    ck_assert_uint_le(largest - smallest, 1);
    ck_assert_uint_ge(smallest, (ranks > 1) ? 2 : 1);
    ck_assert_msg(largest <= group_size || (group_size == 2 && largest == 3), "largest %u of %u", largest, group_size);
}

/* Checks whether any group has two members on one node, and whether this number of groups forces
 * such a group. */
static void check_nodes(uint32_t ranks, const uint32_t *node, const keel_groups_t *groups)
{
    int crowded = 0, forced = 0;
    uint32_t g, i, j, on_node;

    for (g = 0; g < groups->count; g++) {
        for (i = 0; i < groups->size[g]; i++) {
            for (j = 0; j < i; j++) {
                crowded |= (node[groups->members[g][i]] == node[groups->members[g][j]]);
            }
        }
    }
    for (i = 0; i < ranks; i++) {
        on_node = 0;
        for (j = 0; j < ranks; j++) {
            on_node += (node[i] == node[j]);
        }
        forced |= (on_node > groups->count);
    }
    ck_assert_int_eq(crowded, groups->crowded);
    ck_assert_int_eq(crowded, forced);
}

START_TEST(random_node_maps_give_balanced_groups_across_nodes)
{
    uint64_t state = unit_seed();
    uint32_t node[RANKS_MAX];
    uint32_t ranks, nodes, group_size, i;
    keel_groups_t groups, again;
    int n;

    for (n = 0; n < 1000; n++) {
        ranks = 2 + unit_random(&state) % (RANKS_MAX - 1);
        nodes = 1 + unit_random(&state) % NODES_MAX;
        group_size = 2 + unit_random(&state) % (ranks - 1);
        if (n % 2 == 0) {
            group_size = (group_size > 8) ? 2 + group_size % ((ranks < 8) ? ranks - 1 : 7) : group_size;
        }
        for (i = 0; i < ranks; i++) {
            node[i] = (n % 3 == 0) ? i * nodes / ranks : (uint32_t)(unit_random(&state) % nodes) * 1000003u;
        }
        ck_assert_int_eq(keel_groups_make(ranks, node, group_size, &groups), KEEL_OK);
        check_partition(ranks, group_size, &groups);
        check_nodes(ranks, node, &groups);
        ck_assert_int_eq(keel_groups_make(ranks, node, group_size, &again), KEEL_OK);
        ck_assert_mem_eq(groups.of_rank, again.of_rank, ranks * sizeof *again.of_rank);
        ck_assert_mem_eq(groups.index, again.index, ranks * sizeof *again.index);
        keel_groups_release(&groups);
        keel_groups_release(&again);
    }
}
END_TEST

START_TEST(eight_ranks_on_four_nodes_form_two_groups_across_them)
{
    const uint32_t node[] = {0, 0, 1, 1, 2, 2, 3, 3};
    keel_groups_t groups;

    ck_assert_int_eq(keel_groups_make(8, node, 4, &groups), KEEL_OK);
    ck_assert_uint_eq(groups.count, 2);
    ck_assert_int_eq(groups.crowded, 0);
    ck_assert_uint_ne(groups.of_rank[0], groups.of_rank[1]);
    keel_groups_release(&groups);
}
END_TEST

START_TEST(one_node_is_crowded)
{
    const uint32_t node[] = {5, 5, 5, 5};
    keel_groups_t groups;

    ck_assert_int_eq(keel_groups_make(4, node, 4, &groups), KEEL_OK);
    ck_assert_uint_eq(groups.count, 1);
    ck_assert_int_eq(groups.crowded, 1);
    keel_groups_release(&groups);
}
END_TEST

START_TEST(a_single_rank_is_a_group)
{
    const uint32_t node[] = {0};
    keel_groups_t groups;

    ck_assert_int_eq(keel_groups_make(1, node, 1, &groups), KEEL_OK);
    ck_assert_uint_eq(groups.count, 1);
    ck_assert_uint_eq(groups.size[0], 1);
    ck_assert_int_eq(groups.crowded, 0);
    keel_groups_release(&groups);
}
END_TEST

START_TEST(impossible_sizes_are_refused)
{
    const uint32_t node[] = {0, 1, 2, 3};
    keel_groups_t groups;

    ck_assert_int_eq(keel_groups_make(4, node, 5, &groups), KEEL_ERR_GROUPS);
    ck_assert_int_eq(keel_groups_make(4, node, 1, &groups), KEEL_ERR_GROUPS);
    ck_assert_int_eq(keel_groups_make(4, node, UINT32_MAX, &groups), KEEL_ERR_GROUPS);
    ck_assert_int_eq(keel_groups_make(4, node, 0, &groups), KEEL_ERR_INVALID_PARAM);
    ck_assert_int_eq(keel_groups_make(0, node, 2, &groups), KEEL_ERR_INVALID_PARAM);
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
    const uint32_t node[] = {0, 1, 2, 3, 4, 5, 6, 7};
    keel_groups_t groups;
    keel_status_t status;
    int i = 0;

    keel_memory_set_hook(&hook);
    do {
        fail_at = i++;
        status = keel_groups_make(8, node, 4, &groups);
        ck_assert(status == KEEL_OK || (status == KEEL_ERR_NO_MEMORY && live == 0));
    } while (status != KEEL_OK);
    ck_assert_int_gt(i, 8); /* eight and more allocations */
    keel_groups_release(&groups);
    ck_assert_int_eq(live, 0);
    keel_memory_set_hook(NULL);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {random_node_maps_give_balanced_groups_across_nodes,
                                  eight_ranks_on_four_nodes_form_two_groups_across_them,
                                  one_node_is_crowded,
                                  a_single_rank_is_a_group,
                                  impossible_sizes_are_refused,
                                  each_failing_allocation_is_reported_and_leaks_nothing,
                                  NULL};

    return unit_run("group", tests);
}
