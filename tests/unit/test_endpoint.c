/*
 * Endpoints of dedicated parity. Each group gets its number of endpoints. The library's choice
 * keeps the property if any choice does; for small jobs the test searches all choices.
 */
#include "tools/topo/endpoint.h"

#include "topo_random.h"

#define SMALL_RANKS 12

typedef struct scene {
    keel_domains_t domains, programs;
    keel_groups_t groups;
    uint32_t parities, level, endpoints;
} scene_t;

/* Groups of the program alone, endpoints behind the groups, all on random elements. */
static void scene_make(uint64_t *state, uint32_t most, scene_t *scene)
{
    keel_place_params_t params = {.parities = 1, .level = unit_random(state) % 2};
    uint32_t *rank, programs, groups;

    scene->parities = 1 + unit_random(state) % 3;
    scene->level = params.level;
    do {
        programs = 2 + unit_random(state) % (most - 3);
        params.group_size = 2 + unit_random(state) % (programs - 1);
        groups = (programs + params.group_size - 1) / params.group_size;
        groups = (groups > programs / 2) ? programs / 2 : groups;
    } while (programs + groups * scene->parities > most);
    scene->endpoints = groups * scene->parities;
    topo_random_domains(state, programs + scene->endpoints, 2, &scene->domains);
    rank = malloc(programs * sizeof(*rank));
    for (uint32_t r = 0; r < programs; r++) {
        rank[r] = r;
    }
    ck_assert_int_eq(keel_domains_select(&scene->domains, programs, rank, &scene->programs), KEEL_OK);
    ck_assert_int_eq(keel_domains_check(&scene->programs), KEEL_OK);
    ck_assert_int_eq(keel_groups_place(&scene->programs, &params, &scene->groups, NULL), KEEL_OK);
    ck_assert_uint_eq(scene->groups.count, groups);
    free(rank);
}

static void scene_release(scene_t *scene)
{
    keel_groups_release(&scene->groups);
    keel_domains_release(&scene->programs);
    keel_domains_release(&scene->domains);
}

/* Counts the most members of a group on one element, by pairs of ranks. */
static uint32_t count_worst(const scene_t *scene, const uint32_t *group)
{
    const uint32_t *element = scene->domains.levels[scene->level].of_rank;
    const uint32_t ranks = scene->domains.ranks, programs = scene->programs.ranks;
    uint32_t worst = 0;

    for (uint32_t r = 0; r < ranks; r++) {
        const uint32_t own = (r < programs) ? scene->groups.of_rank[r] : group[r - programs];
        uint32_t held = 0;

        for (uint32_t q = 0; q < ranks; q++) {
            const uint32_t other = (q < programs) ? scene->groups.of_rank[q] : group[q - programs];

            held += (own == other && element[r] == element[q]);
        }
        worst = (held > worst) ? held : worst;
    }
    return worst;
}

static int any_choice(const scene_t *scene, uint32_t *group, uint32_t *used, uint32_t endpoint)
{
    if (endpoint == scene->endpoints) {
        return count_worst(scene, group) <= scene->parities;
    }
    for (uint32_t g = 0; g < scene->groups.count; g++) {
        if (used[g] < scene->parities) {
            int found;

            used[g]++;
            group[endpoint] = g;
            found = any_choice(scene, group, used, endpoint + 1);
            used[g]--;
            if (found) {
                return 1;
            }
        }
    }
    return 0;
}

static void check_assigned(const scene_t *scene, const uint32_t *group, uint32_t best)
{
    uint32_t *used = calloc(scene->groups.count, sizeof(*used));

    for (uint32_t e = 0; e < scene->endpoints; e++) {
        ck_assert_uint_lt(group[e], scene->groups.count);
        used[group[e]]++;
    }
    for (uint32_t g = 0; g < scene->groups.count; g++) {
        ck_assert_uint_eq(used[g], scene->parities);
    }
    ck_assert_uint_eq(best, count_worst(scene, group));
    free(used);
}

START_TEST(groups_get_their_endpoints_apart_where_any_choice_can)
{
    uint64_t state = unit_seed();
    unsigned kept = 0, missed = 0;

    for (int n = 0; n < 2000; n++) {
        uint32_t group[SMALL_RANKS], other[SMALL_RANKS], used[SMALL_RANKS] = {0}, best;
        scene_t scene;

        scene_make(&state, SMALL_RANKS, &scene);
        ck_assert_int_eq(
            keel_groups_assign_endpoints(&scene.domains, &scene.groups, scene.parities, scene.level, group, &best),
            KEEL_OK);
        check_assigned(&scene, group, best);
        if (best > scene.parities) {
            ck_assert(!any_choice(&scene, other, used, 0));
            missed++;
        } else {
            kept++;
        }
        scene_release(&scene);
    }
    printf("%u kept, %u cannot be\n", kept, missed);
    ck_assert_uint_gt(kept, 100);
    ck_assert_uint_gt(missed, 100);
}
END_TEST

START_TEST(larger_jobs_get_as_many_as_they_need)
{
    uint64_t state = unit_seed();

    for (int n = 0; n < 100; n++) {
        uint32_t group[400], best;
        scene_t scene;

        scene_make(&state, 400, &scene);
        ck_assert_int_eq(
            keel_groups_assign_endpoints(&scene.domains, &scene.groups, scene.parities, scene.level, group, &best),
            KEEL_OK);
        check_assigned(&scene, group, best);
        scene_release(&scene);
    }
}
END_TEST

START_TEST(endpoints_give_way_to_one_that_fits_nowhere_else)
{
    /* Groups {0, 2} and {1, 3}. The first endpoint could serve either group, the second endpoint
     * only {0, 2}. */
    uint32_t element[] = {0, 1, 2, 3, 4, 1};
    keel_domain_level_t level = {.name = "node", .count = 5, .of_rank = element};
    const keel_domains_t domains = {.ranks = 6, .level_count = 1, .levels = &level};
    uint32_t of_rank[] = {0, 1, 0, 1}, index[] = {0, 0, 1, 1}, size[] = {2, 2}, first[] = {0, 2}, second[] = {1, 3};
    uint32_t *members[] = {first, second};
    const keel_groups_t groups = {.count = 2, .of_rank = of_rank, .index = index, .size = size, .members = members};
    uint32_t group[2], best;

    ck_assert_int_eq(keel_groups_assign_endpoints(&domains, &groups, 1, 0, group, &best), KEEL_OK);
    ck_assert_uint_eq(group[0], 1);
    ck_assert_uint_eq(group[1], 0);
    ck_assert_uint_eq(best, 1);
    ck_assert_int_eq(keel_groups_assign_endpoints(&domains, &groups, 2, 0, group, &best), KEEL_ERR_INVALID_PARAM);
    ck_assert_int_eq(keel_groups_assign_endpoints(&domains, &groups, 1, 1, group, &best), KEEL_ERR_INVALID_PARAM);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {groups_get_their_endpoints_apart_where_any_choice_can,
                                  larger_jobs_get_as_many_as_they_need,
                                  endpoints_give_way_to_one_that_fits_nowhere_else, NULL};

    return unit_run("endpoint", tests);
}
