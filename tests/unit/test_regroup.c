/*
 * Groups after ranks were lost or moved, on random hierarchies. The test counts the property, and
 * for small jobs with one parity searches all ways to regroup for one with fewer moves.
 */
#include "topo/regroup.h"
#include "topo/remaining.h"

#include "topo_random.h"

#define SMALL_RANKS 8

typedef struct scene {
    keel_domains_t domains;
    keel_groups_t groups;
    keel_place_params_t params;
    uint8_t *is_lost;
    uint32_t left;
} scene_t;

static void scene_make(uint64_t *state, uint32_t ranks, uint32_t parities, scene_t *scene)
{
    topo_random_domains(state, ranks, 2, &scene->domains);
    scene->params.parities = parities;
    scene->params.level = unit_random(state) % 2;
    scene->params.group_size = parities + 1 + unit_random(state) % 6;
    scene->params.group_size = (scene->params.group_size > ranks) ? ranks : scene->params.group_size;
    ck_assert_int_eq(keel_groups_place(&scene->domains, &scene->params, &scene->groups, NULL), KEEL_OK);
    scene->is_lost = calloc(ranks, 1);
}

/* Loses single ranks, or whole elements of a level, and leaves some survivors. */
static void scene_lose(uint64_t *state, scene_t *scene)
{
    const uint32_t ranks = scene->domains.ranks;
    const keel_domain_level_t *level = &scene->domains.levels[unit_random(state) % 2];
    const uint32_t odds = 1 + unit_random(state) % 8, whole = unit_random(state) % 2;
    const uint32_t element = unit_random(state) % level->count;

    scene->left = ranks;
    for (uint32_t r = 0; r < ranks; r++) {
        if ((whole ? level->of_rank[r] == element : unit_random(state) % odds == 0) &&
            scene->left > scene->params.parities + 1) {
            scene->is_lost[r] = 1;
            scene->left--;
        }
    }
}

static void scene_release(scene_t *scene)
{
    keel_groups_release(&scene->groups);
    keel_domains_release(&scene->domains);
    free(scene->is_lost);
}

static uint32_t together(const scene_t *scene, const keel_groups_t *groups, uint32_t rank)
{
    const uint32_t *element = scene->domains.levels[scene->params.level].of_rank;
    const uint32_t group = groups->of_rank[rank];
    uint32_t count = 0;

    for (uint32_t i = 0; i < groups->size[group]; i++) {
        count += (element[groups->members[group][i]] == element[rank]);
    }
    return count;
}

/* Checks that survivors are in groups that are whole, lost ranks in none, and that the reported
 * numbers are correct. */
static void check_shrunk(const scene_t *scene, const keel_groups_t *groups, const keel_shrink_result_t *result)
{
    uint32_t worst = 0, total = 0, stayed = 0;

    for (uint32_t g = 0; g < groups->count; g++) {
        uint32_t most = 0;

        ck_assert_uint_gt(groups->size[g], scene->params.parities);
        total += groups->size[g];
        for (uint32_t i = 0; i < groups->size[g]; i++) {
            const uint32_t rank = groups->members[g][i];
            uint32_t same = 0;

            ck_assert(groups->of_rank[rank] == g && groups->index[rank] == i && !scene->is_lost[rank]);
            for (uint32_t j = 0; j < groups->size[g]; j++) {
                same += (scene->groups.of_rank[groups->members[g][j]] == scene->groups.of_rank[rank]);
            }
            most = (same > most) ? same : most;
        }
        stayed += most;
    }
    for (uint32_t r = 0; r < scene->domains.ranks; r++) {
        if (scene->is_lost[r]) {
            ck_assert_uint_eq(groups->of_rank[r], KEEL_GROUP_NONE);
        } else {
            const uint32_t count = together(scene, groups, r);

            worst = (count > worst) ? count : worst;
        }
    }
    ck_assert_uint_eq(total, scene->left);
    ck_assert_uint_eq(worst, result->best);
    ck_assert_int_eq(groups->crowded, worst > scene->params.parities);
    ck_assert_uint_le(scene->left - stayed, result->moved);
}

/* Newly formed groups move all survivors. */
static int is_close(const scene_t *scene, const keel_shrink_result_t *result)
{
    return result->moved < scene->left;
}

START_TEST(random_losses_leave_groups_that_keep_the_property)
{
    uint64_t state = unit_seed();
    keel_shrink_result_t result;
    keel_groups_t groups;
    unsigned anew = 0, kept = 0;

    for (int n = 0; n < 3000; n++) {
        const uint32_t parities = 1 + unit_random(&state) % 3;
        scene_t scene;

        scene_make(&state, parities + 2 + unit_random(&state) % 120, parities, &scene);
        scene_lose(&state, &scene);
        ck_assert_int_eq(
            keel_groups_shrink(&scene.domains, &scene.groups, scene.is_lost, &scene.params, &groups, &result), KEEL_OK);
        check_shrunk(&scene, &groups, &result);
        if (is_close(&scene, &result)) {
            uint32_t small = 0;

            ck_assert(!groups.crowded);
            /* members of whole groups move only to fill other groups */
            for (uint32_t g = 0; g < scene.groups.count; g++) {
                uint32_t left = 0;

                for (uint32_t i = 0; i < scene.groups.size[g]; i++) {
                    left += !scene.is_lost[scene.groups.members[g][i]];
                }
                small += (left <= parities) ? left : 0;
            }
            ck_assert_uint_le(result.moved, small * parities);
            kept++;
        }
        anew += !is_close(&scene, &result);
        keel_groups_release(&groups);
        scene_release(&scene);
    }
    printf("%u times close to the old groups, %u times anew\n", kept, anew);
    ck_assert_uint_gt(kept, anew / 4);
    ck_assert_uint_gt(anew, 0);
}
END_TEST

START_TEST(a_hundred_thousand_ranks_are_regrouped)
{
    keel_shrink_result_t result;
    keel_groups_t groups;
    scene_t scene = {.params = {.group_size = 4, .parities = 1, .level = 0}, .left = 100000};
    uint32_t *node = malloc(scene.left * sizeof(*node));

    for (uint32_t r = 0; r < scene.left; r++) {
        node[r] = r / 16;
    }
    ck_assert_int_eq(keel_domains_of_nodes(scene.left, node, &scene.domains), KEEL_OK);
    ck_assert_int_eq(keel_groups_place(&scene.domains, &scene.params, &scene.groups, NULL), KEEL_OK);
    scene.is_lost = calloc(scene.left, 1);
    for (uint32_t r = 0; r < 100000; r++) { /* half of the nodes */
        scene.is_lost[r] = (node[r] * 2654435761u >> 16) % 2;
        scene.left -= scene.is_lost[r];
    }
    ck_assert_int_eq(keel_groups_shrink(&scene.domains, &scene.groups, scene.is_lost, &scene.params, &groups, &result),
                     KEEL_OK);
    ck_assert(is_close(&scene, &result));
    check_shrunk(&scene, &groups, &result);
    keel_groups_release(&groups);
    scene_release(&scene);
    free(node);
}
END_TEST

/* ---- all ways ---- */

typedef struct search {
    const scene_t *scene;
    uint32_t of_rank[SMALL_RANKS], size[SMALL_RANKS], moved, fewest;
} search_t;

/* Groups keep their numbers, so a rank with another number has moved. */
static void search_ways(search_t *search, uint32_t rank)
{
    const scene_t *scene = search->scene;
    const uint32_t *element = scene->domains.levels[scene->params.level].of_rank;

    while (rank < scene->domains.ranks && scene->is_lost[rank]) {
        rank++;
    }
    if (rank == scene->domains.ranks) {
        for (uint32_t g = 0; g < scene->groups.count; g++) {
            if (search->size[g] > 0 && search->size[g] <= scene->params.parities) {
                return;
            }
        }
        search->fewest = (search->moved < search->fewest) ? search->moved : search->fewest;
        return;
    }
    for (uint32_t g = 0; g < scene->groups.count; g++) {
        const uint32_t was = scene->groups.size[g], is_moved = (scene->groups.of_rank[rank] != g);
        const uint32_t most = (was > scene->params.group_size) ? was : scene->params.group_size;
        uint32_t same = 0;

        for (uint32_t r = 0; r < rank; r++) {
            same += (!scene->is_lost[r] && search->of_rank[r] == g && element[r] == element[rank]);
        }
        if (search->size[g] < most && same < scene->params.parities) {
            search->of_rank[rank] = g;
            search->size[g]++;
            search->moved += is_moved;
            search_ways(search, rank + 1);
            search->moved -= is_moved;
            search->size[g]--;
        }
    }
}

START_TEST(with_one_parity_no_way_moves_fewer)
{
    uint64_t state = unit_seed();
    keel_shrink_result_t result;
    keel_groups_t groups;
    unsigned compared = 0, anew = 0;

    for (int n = 0; n < 4000; n++) {
        scene_t scene;
        search_t search = {.scene = &scene, .fewest = UINT32_MAX};

        scene_make(&state, 4 + unit_random(&state) % (SMALL_RANKS - 3), 1, &scene);
        scene_lose(&state, &scene);
        ck_assert_int_eq(
            keel_groups_shrink(&scene.domains, &scene.groups, scene.is_lost, &scene.params, &groups, &result), KEEL_OK);
        search_ways(&search, 0);
        if (is_close(&scene, &result)) {
            ck_assert_uint_eq(result.moved, search.fewest);
            compared++;
        } else if (groups.crowded) {
            ck_assert_msg(search.fewest == UINT32_MAX, "crowded, and %u moves would do", search.fewest);
        } else {
            /* longer chains of moves than the library tries would have done */
            anew += (search.fewest != UINT32_MAX);
        }
        keel_groups_release(&groups);
        scene_release(&scene);
    }
    printf("%u compared, %u anew where some moves would have done\n", compared, anew);
    ck_assert_uint_gt(compared, 300);
    ck_assert_uint_lt(anew, compared / 10);
}
END_TEST

static int groups_are_equal(uint32_t ranks, const keel_groups_t *one, const keel_groups_t *other)
{
    int is_equal = one->count == other->count;

    for (uint32_t r = 0; is_equal && one->count > 0 && r < ranks; r++) {
        is_equal = one->of_rank[r] == other->of_rank[r] && one->index[r] == other->index[r];
    }
    return is_equal;
}

static void order_draw(uint64_t *state, uint32_t ranks, uint32_t *order)
{
    for (uint32_t i = 0; i < ranks; i++) {
        order[i] = i;
    }
    for (uint32_t i = ranks; i > 1; i--) {
        const uint32_t at = unit_random(state) % i, other = order[at];

        order[at] = order[i - 1];
        order[i - 1] = other;
    }
}

START_TEST(groups_follow_from_the_order_of_the_losses)
{
    uint64_t state = 46;
    unsigned differ = 0, without = 0;

    for (unsigned run = 0; run < 400; run++) {
        const uint32_t ranks = 4 + unit_random(&state) % 13, parities = 1 + unit_random(&state) % 2;
        const uint32_t count = 2 + unit_random(&state) % (ranks - 2), known = 1 + unit_random(&state) % (count - 1);
        keel_groups_t whole, part, rest, other;
        uint32_t order[16], another[16], members = 0;
        scene_t scene;

        scene_make(&state, ranks, parities, &scene);
        order_draw(&state, ranks, order);
        for (uint32_t i = 0; i < count; i++) {
            another[i] = order[count - 1 - i];
        }
        ck_assert_int_eq(keel_groups_lose(&scene.domains, &scene.groups, order, 0, count, &scene.params, &whole),
                         KEEL_OK);
        ck_assert_int_eq(keel_groups_lose(&scene.domains, &scene.groups, order, 0, known, &scene.params, &part),
                         KEEL_OK);
        ck_assert_int_eq(keel_groups_lose(&scene.domains, &part, order, known, count, &scene.params, &rest), KEEL_OK);
        ck_assert_int_eq(keel_groups_lose(&scene.domains, &scene.groups, another, 0, count, &scene.params, &other),
                         KEEL_OK);
        ck_assert(groups_are_equal(ranks, &whole, &rest));
        differ += !groups_are_equal(ranks, &whole, &other);
        without += whole.count == 0;
        for (uint32_t g = 0; g < whole.count; g++) {
            ck_assert_uint_gt(whole.size[g], parities);
            members += whole.size[g];
        }
        ck_assert_uint_eq(members, (ranks - count > parities) ? ranks - count : 0);
        keel_groups_release(&whole);
        keel_groups_release(&part);
        keel_groups_release(&rest);
        keel_groups_release(&other);
        scene_release(&scene);
    }
    ck_assert_uint_gt(differ, 0);
    ck_assert_uint_gt(without, 0);
}
END_TEST

/* ---- by hand ---- */

START_TEST(too_few_survivors_are_refused)
{
    const uint32_t node[] = {0, 1, 2, 3};
    const uint8_t is_lost[] = {1, 0, 1, 1};
    const keel_place_params_t params = {.group_size = 4, .parities = 1};
    keel_shrink_result_t result;
    keel_domains_t domains;
    keel_groups_t groups, shrunk;

    ck_assert_int_eq(keel_domains_of_nodes(4, node, &domains), KEEL_OK);
    ck_assert_int_eq(keel_groups_place(&domains, &params, &groups, NULL), KEEL_OK);
    ck_assert_int_eq(keel_groups_shrink(&domains, &groups, is_lost, &params, &shrunk, &result), KEEL_ERR_GROUPS);
    keel_groups_release(&groups);
    keel_domains_release(&domains);
}
END_TEST

START_TEST(a_move_onto_a_member_of_the_group_is_found_at_its_level)
{
    /* Ranks 0 to 3 on nodes 0 to 3, racks of two nodes; one group of 0 and 2, one of 1 and 3. */
    uint32_t node[] = {0, 1, 2, 3}, rack[] = {0, 0, 1, 1};
    keel_domain_level_t levels[] = {{.name = "node", .count = 4, .of_rank = node},
                                    {.name = "rack", .count = 2, .of_rank = rack}};
    const keel_domains_t domains = {.ranks = 4, .level_count = 2, .levels = levels};
    const keel_place_params_t params = {.group_size = 2, .parities = 1, .level = 1};
    keel_groups_t groups;
    uint32_t level, held;

    ck_assert_int_eq(keel_groups_place(&domains, &params, &groups, NULL), KEEL_OK);
    ck_assert_uint_eq(groups.of_rank[0], groups.of_rank[2]);
    keel_groups_check_move(&domains, &groups, 0, 1, 1, &level, &held);
    ck_assert_uint_eq(level, 2); /* not moved: all is well */
    node[0] = 1;                 /* to the neighbour's node, which has no member of the group */
    keel_groups_check_move(&domains, &groups, 0, 1, 1, &level, &held);
    ck_assert_uint_eq(level, 2);
    node[0] = 3, rack[0] = 1; /* to the other rack */
    keel_groups_check_move(&domains, &groups, 0, 1, 1, &level, &held);
    ck_assert_uint_eq(level, 1);
    ck_assert_uint_eq(held, 2);
    node[0] = 2; /* and to the node of the other member */
    keel_groups_check_move(&domains, &groups, 0, 1, 1, &level, &held);
    ck_assert_uint_eq(level, 0);
    ck_assert_uint_eq(held, 2);
    keel_groups_check_move(&domains, &groups, 0, 2, 1, &level, &held);
    ck_assert_uint_eq(level, 2); /* two parities cover both members */
    keel_groups_release(&groups);
}
END_TEST

START_TEST(the_spare_that_keeps_most_of_the_promise_comes_first)
{
    /* Four ranks on nodes 0 to 3, racks of two nodes, and spares on a node each: 1, 2, 3, and 4 in
     * a rack of its own. */
    uint32_t node[] = {0, 1, 2, 3, 1, 2, 3, 4}, rack[] = {0, 0, 1, 1, 0, 1, 1, 2};
    keel_domain_level_t levels[] = {{.name = "node", .count = 5, .of_rank = node},
                                    {.name = "rack", .count = 3, .of_rank = rack}};
    const keel_domains_t domains = {.ranks = 8, .level_count = 2, .levels = levels};
    /* Rank 0 and rank 2 are a group. */
    uint32_t of_rank[] = {0, 1, 0, 1}, index[] = {0, 0, 1, 1}, size[] = {2, 2}, first[] = {0, 2}, second[] = {1, 3};
    uint32_t *members[] = {first, second};
    const keel_groups_t groups = {.count = 2, .of_rank = of_rank, .index = index, .size = size, .members = members};
    keel_spare_place_t place[4];

    keel_groups_order_spares(&domains, &groups, 4, 0, 1, 1, place);
    ck_assert(place[0].spare == 0 && place[0].kept == 2 && place[0].held == 0);
    ck_assert(place[1].spare == 3 && place[1].kept == 2);
    /* keeps the node, not the rack */
    ck_assert(place[2].spare == 2 && place[2].kept == 1 && place[2].held == 2);
    /* on the node of rank 2 */
    ck_assert(place[3].spare == 1 && place[3].kept == 0);
    keel_groups_order_spares(&domains, &groups, 4, 2, 1, 1, place);
    /* A dead rank frees its own rack. The second member begins with the second rack that keeps the
     * property. */
    ck_assert(place[0].spare == 3 && place[1].spare == 1 && place[2].spare == 2 && place[2].kept == 2);
    ck_assert(place[3].spare == 0 && place[3].kept == 1);
    keel_groups_order_spares(&domains, &groups, 4, 0, 2, 1, place);
    ck_assert(place[3].kept == 2); /* two parities cover all spares */
}
END_TEST

START_TEST(members_of_a_group_begin_at_spares_of_different_elements)
{
    /* A group on nodes 0 to 2, a spare on each of these nodes, and two on each of nodes 3 and 4. */
    uint32_t node[] = {0, 1, 2, 0, 3, 3, 1, 4, 4, 2};
    keel_domain_level_t level = {.name = "node", .count = 5, .of_rank = node};
    const keel_domains_t domains = {.ranks = 10, .level_count = 1, .levels = &level};
    uint32_t of_rank[] = {0, 0, 0}, index[] = {0, 1, 2}, size[] = {3}, all[] = {0, 1, 2};
    uint32_t *members[] = {all};
    const keel_groups_t groups = {.count = 1, .of_rank = of_rank, .index = index, .size = size, .members = members};
    /* Spares 0, of node 0, 1 and 2, of node 3, and 4 and 5, of node 4, keep the property for rank
     * 0. */
    const uint32_t expected[][7] = {{0, 1, 2, 4, 5, 3, 6}, {1, 2, 4, 5, 3, 6, 0}, {4, 5, 6, 1, 2, 0, 3}};
    keel_spare_place_t place[7];

    for (uint32_t r = 0; r < 3; r++) {
        keel_groups_order_spares(&domains, &groups, 3, r, 1, 0, place);
        for (uint32_t s = 0; s < 7; s++) {
            ck_assert_uint_eq(place[s].spare, expected[r][s]);
        }
    }
}
END_TEST

/* Counts, over all ranks, the members on the spare's element of a level, after the spare took the
 * place of @a rank. */
static uint32_t held_beside(const scene_t *scene, uint32_t ranks, uint32_t rank, uint32_t level, uint32_t spare)
{
    const uint32_t *element = scene->domains.levels[level].of_rank;
    uint32_t held = 1;

    for (uint32_t r = 0; r < ranks; r++) {
        held += r != rank && scene->groups.of_rank[r] == scene->groups.of_rank[rank] &&
                element[r] == element[ranks + spare];
    }
    return held;
}

START_TEST(no_later_spare_keeps_the_property_on_a_coarser_level)
{
    uint64_t state = unit_seed();
    unsigned differing = 0;

    for (int n = 0; n < 2000; n++) {
        const uint32_t parities = 1 + unit_random(&state) % 3, ranks = parities + 2 + unit_random(&state) % 60;
        const uint32_t spares = 1 + unit_random(&state) % 20, rank = unit_random(&state) % ranks;
        keel_place_params_t params = {.parities = parities, .group_size = parities + 1 + unit_random(&state) % 6};
        uint32_t first[ranks], before = UINT32_MAX;
        keel_spare_place_t place[spares];
        uint8_t is_there[spares];
        keel_domains_t own;
        scene_t scene;

        topo_random_domains(&state, ranks + spares, 3, &scene.domains);
        for (uint32_t r = 0; r < ranks; r++) {
            first[r] = r;
        }
        params.group_size = (params.group_size > ranks) ? ranks : params.group_size;
        ck_assert_int_eq(keel_domains_select(&scene.domains, ranks, first, &own), KEEL_OK);
        ck_assert_int_eq(keel_groups_place(&own, &params, &scene.groups, NULL), KEEL_OK);
        keel_groups_order_spares(&scene.domains, &scene.groups, ranks, rank, parities, 0, place);
        memset(is_there, 0, sizeof(is_there));
        for (uint32_t i = 0; i < spares; i++) {
            uint32_t kept = 0;

            while (kept < 3 && held_beside(&scene, ranks, rank, kept, place[i].spare) <= parities) {
                kept++;
            }
            ck_assert(!is_there[place[i].spare] && kept == place[i].kept && kept <= before);
            ck_assert_uint_eq(place[i].held, kept < 3 ? held_beside(&scene, ranks, rank, kept, place[i].spare) : 0);
            ck_assert(i == 0 || kept < before || place[i].held >= place[i - 1].held);
            differing += (i > 0 && kept < before);
            is_there[place[i].spare] = 1;
            before = kept;
        }
        keel_groups_release(&scene.groups);
        keel_domains_release(&scene.domains);
        keel_domains_release(&own);
    }
    ck_assert_uint_gt(differing, 100);
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
    const uint32_t node[] = {0, 0, 0, 1, 1, 1};
    /* close to the old groups, and newly formed */
    const uint8_t losses[][6] = {{1, 0, 0, 0, 0, 0}, {1, 0, 0, 0, 1, 1}};
    const uint32_t order[] = {0, 4, 5}; /* one after another */
    const keel_place_params_t params = {.group_size = 2, .parities = 1};
    keel_shrink_result_t result;
    keel_domains_t domains;
    keel_groups_t groups, shrunk;
    keel_status_t status;

    ck_assert_int_eq(keel_domains_of_nodes(6, node, &domains), KEEL_OK);
    ck_assert_int_eq(keel_groups_place(&domains, &params, &groups, NULL), KEEL_OK);
    for (unsigned n = 0; n < 3; n++) {
        int i = 0;

        live = 0;
        keel_memory_set_hook(&hook);
        do {
            fail_at = i++;
            status = (n < 2) ? keel_groups_shrink(&domains, &groups, losses[n], &params, &shrunk, &result)
                             : keel_groups_lose(&domains, &groups, order, 0, 3, &params, &shrunk);
            ck_assert(status == KEEL_OK || (status == KEEL_ERR_NO_MEMORY && live == 0));
        } while (status != KEEL_OK);
        ck_assert_int_gt(i, 8);
        keel_groups_release(&shrunk);
        ck_assert_int_eq(live, 0);
        keel_memory_set_hook(NULL);
    }
    keel_groups_release(&groups);
    keel_domains_release(&domains);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {random_losses_leave_groups_that_keep_the_property,
                                  a_hundred_thousand_ranks_are_regrouped,
                                  with_one_parity_no_way_moves_fewer,
                                  groups_follow_from_the_order_of_the_losses,
                                  too_few_survivors_are_refused,
                                  a_move_onto_a_member_of_the_group_is_found_at_its_level,
                                  the_spare_that_keeps_most_of_the_promise_comes_first,
                                  members_of_a_group_begin_at_spares_of_different_elements,
                                  no_later_spare_keeps_the_property_on_a_coarser_level,
                                  each_failing_allocation_is_reported_and_leaks_nothing,
                                  NULL};

    return unit_run("regroup", tests);
}
