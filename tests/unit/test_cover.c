/*
 * The choice of KEEL_GROUP_SIZE=auto for every small shape of a job, against a search through all
 * group sizes and numbers of parities that places groups and counts.
 */
#include "topo/cover.h"

#include "topo/choose.h"
#include "topo/topology.h"

#include "topo_random.h"

enum { NODES = 8, RANKS = 16, PARITIES = 8, LEVELS = 2 };

typedef struct shape {
    uint32_t nodes, ranks, per_rack; /* per_rack: nodes; 0: no racks */
    int is_cyclic;
    uint32_t node[RANKS], rack[RANKS];
    keel_domain_level_t level[LEVELS];
    keel_domains_t domains;
} shape_t;

static char node_name[] = "node", rack_name[] = "rack";

static void shape_make(shape_t *shape, uint32_t nodes, uint32_t ranks, uint32_t per_rack, int is_cyclic)
{
    const uint32_t block = (ranks + nodes - 1) / nodes;
    uint32_t last = 0;

    for (uint32_t r = 0; r < ranks; r++) {
        shape->node[r] = is_cyclic ? r % nodes : r / block;
        shape->rack[r] = (per_rack > 0) ? shape->node[r] / per_rack : 0;
        last = (shape->node[r] > last) ? shape->node[r] : last;
    }
    shape->level[0] = (keel_domain_level_t){.name = node_name, .count = last + 1, .of_rank = shape->node};
    shape->level[1] = (keel_domain_level_t){
        .name = rack_name, .count = (per_rack > 0) ? last / per_rack + 1 : 1, .of_rank = shape->rack};
    shape->domains = (keel_domains_t){.ranks = ranks, .level_count = (per_rack > 0) ? 2 : 1, .levels = shape->level};
    shape->nodes = last + 1;
    shape->ranks = ranks;
}

/* Upper bound of KEEL_GROUP_SIZE=auto, as in base/config.c. */
static uint32_t usual(uint32_t parities)
{
    return (parities < 4) ? 4 : 2 * parities;
}

/* Returns the finest level of which an element holds more members than the parities; level_count:
 * none; UINT32_MAX: no such groups. */
static uint32_t first_broken(const shape_t *shape, uint32_t size, uint32_t parities)
{
    char note[KEEL_TOPOLOGY_NOTE_MAX];
    keel_groups_t groups;
    uint32_t level, worst;

    if (keel_topology_place(&shape->domains, "auto", size, parities, &groups, note, sizeof(note)) != KEEL_OK) {
        return UINT32_MAX;
    }
    for (level = 0; level < shape->domains.level_count; level++) {
        ck_assert_int_eq(keel_groups_worst(&shape->domains, &groups, level, &worst), KEEL_OK);
        if (worst > parities) {
            break;
        }
    }
    keel_groups_release(&groups);
    return level;
}

static int keeps(const shape_t *shape, uint32_t size, uint32_t parities, uint32_t level)
{
    const uint32_t broken = first_broken(shape, size, parities);

    return broken != UINT32_MAX && broken > level;
}

/* Returns the largest size of at most @a most that keeps the level; 0: none. */
static uint32_t largest(const shape_t *shape, uint32_t most, uint32_t parities, uint32_t level)
{
    uint32_t size = (most < shape->ranks) ? most : shape->ranks;

    while (size > 1 && !keeps(shape, size, parities, level)) {
        size--;
    }
    return (size > 1) ? size : 0;
}

static keel_cover_params_t params_of(const shape_t *shape, uint32_t size, uint32_t parities, int is_auto)
{
    return (keel_cover_params_t){.domains = &shape->domains,
                                 .level = "auto",
                                 .group_size = size,
                                 .parities = parities,
                                 .parities_max = PARITIES,
                                 .is_group_auto = is_auto};
}

/* @return the text of the remark, or NULL */
static const char *remark(const shape_t *shape, const keel_cover_params_t *params)
{
    static char text[KEEL_TOPOLOGY_NOTE_MAX];
    char note[KEEL_TOPOLOGY_NOTE_MAX];
    keel_groups_t groups;
    int has;

    ck_assert_int_eq(keel_topology_place(&shape->domains, params->level, params->group_size, params->parities, &groups,
                                         note, sizeof(note)),
                     KEEL_OK);
    has = keel_cover_has_remark(params, &groups, text, sizeof(text));
    keel_groups_release(&groups);
    return has ? text : NULL;
}

/* A setting named by the remark keeps the level; "no setting" is true. */
static void check_advice(const shape_t *shape, const char *text, const keel_cover_params_t *params, uint32_t level)
{
    const char *named_size = strstr(text, "KEEL_GROUP_SIZE="), *named = strstr(text, "KEEL_PARITIES=");
    const uint32_t parities = (named != NULL) ? (uint32_t)atoi(strchr(named, '=') + 1) : params->parities;
    uint32_t size;

    ck_assert_ptr_nonnull(strstr(text, shape->level[level].name));
    if (named == NULL && named_size == NULL) {
        ck_assert_ptr_nonnull(strstr(text, "no setting covers it"));
        for (uint32_t m = params->parities; m <= PARITIES; m++) {
            ck_assert_uint_eq(largest(shape, shape->ranks, m, level), 0);
        }
        return;
    }
    if (named_size != NULL) {
        size = (uint32_t)atoi(strchr(named_size, '=') + 1);
    } else {
        const keel_cover_params_t again = params_of(shape, usual(parities), parities, 1);

        ck_assert(params->is_group_auto);
        size = keel_cover_auto_size(&again);
    }
    ck_assert_msg(keeps(shape, size, parities, level), "%u ranks on %u nodes: %s", shape->ranks, shape->nodes, text);
}

static void check_shape(const shape_t *shape, uint32_t parities)
{
    keel_cover_params_t params = params_of(shape, usual(parities), parities, 1);
    const uint32_t chosen = keel_cover_auto_size(&params);
    uint32_t level = shape->domains.level_count, best = 0;
    const char *text;

    while (level > 0 && best == 0) {
        best = largest(shape, usual(parities), parities, --level);
    }
    if (best > 0) {
        ck_assert_msg(chosen == best, "%u, not %u: %u ranks, %u nodes, %u parities", chosen, best, shape->ranks,
                      shape->nodes, parities);
    }
    for (uint32_t size = parities + 1; size <= shape->ranks; size++) {
        params = params_of(shape, size, parities, size == chosen);
        text = remark(shape, &params);
        if (keeps(shape, size, parities, 0) && shape->domains.level_count == 1) {
            ck_assert_ptr_null(text);
        } else if (!keeps(shape, size, parities, 0)) {
            ck_assert_ptr_nonnull(text);
            check_advice(shape, text, &params, 0);
        } else if (text != NULL) {
            ck_assert_ptr_null(strstr(text, "no setting"));
            check_advice(shape, text, &params, 1);
        }
    }
}

START_TEST(auto_takes_the_largest_group_that_keeps_a_node)
{
    shape_t shape;

    for (uint32_t nodes = 2; nodes <= NODES; nodes++) {
        for (uint32_t ranks = nodes; ranks <= RANKS; ranks++) {
            for (uint32_t parities = 1; parities <= PARITIES && parities < ranks; parities++) {
                for (int is_cyclic = 0; is_cyclic < 2; is_cyclic++) {
                    shape_make(&shape, nodes, ranks, 0, is_cyclic);
                    check_shape(&shape, parities);
                }
            }
        }
    }
}
END_TEST

START_TEST(auto_keeps_the_coarsest_level_that_it_can)
{
    shape_t shape;

    for (uint32_t nodes = 2; nodes <= NODES; nodes++) {
        for (uint32_t ranks = nodes; ranks <= RANKS; ranks++) {
            for (uint32_t parities = 1; parities <= 3 && parities < ranks; parities++) {
                for (uint32_t per_rack = 1; per_rack <= 4; per_rack++) {
                    shape_make(&shape, nodes, ranks, per_rack, 1);
                    check_shape(&shape, parities);
                }
            }
        }
    }
}
END_TEST

/* Groups of 4 would lose a node with their job. */
START_TEST(small_jobs_on_two_nodes_form_groups_that_survive_one)
{
    shape_t shape;

    for (uint32_t ranks = 4; ranks <= 8; ranks += 4) {
        keel_cover_params_t params;

        shape_make(&shape, 2, ranks, 0, 0);
        params = params_of(&shape, 4, 1, 1);
        params.group_size = keel_cover_auto_size(&params);
        ck_assert(keeps(&shape, params.group_size, 1, 0));
        ck_assert_ptr_null(remark(&shape, &params));
        params.group_size = 4;
        ck_assert_ptr_nonnull(strstr(remark(&shape, &params), "KEEL_GROUP_SIZE="));
    }
    shape_make(&shape, 2, 3, 0, 0);
    ck_assert_str_eq(remark(&shape, &(keel_cover_params_t){.domains = &shape.domains,
                                                           .level = "auto",
                                                           .group_size = 3,
                                                           .parities = 1,
                                                           .parities_max = 3,
                                                           .is_group_auto = 1}),
                     "a lost node takes up to 2 ranks of a group, more than parity replaces (1), and ends the job: "
                     "KEEL_PARITIES=2 covers it");
}
END_TEST

START_TEST(a_level_that_is_asked_for_is_the_one_that_is_kept)
{
    shape_t shape;
    keel_cover_params_t params;

    shape_make(&shape, 8, 8, 4, 1); /* two racks */
    params = params_of(&shape, 4, 1, 1);
    ck_assert_uint_eq(keel_cover_auto_size(&params), 2);
    params.level = "node";
    ck_assert_uint_eq(keel_cover_auto_size(&params), 4);
    params.level = "rack";
    ck_assert_uint_eq(keel_cover_auto_size(&params), 2);
    params.level = "none";
    ck_assert_uint_eq(keel_cover_auto_size(&params), 4);
    ck_assert_ptr_null(remark(&shape, &params));
    shape_make(&shape, 1, 8, 0, 0); /* no job survives its only node */
    params = params_of(&shape, 4, 1, 1);
    ck_assert_uint_eq(keel_cover_auto_size(&params), 4);
    ck_assert_ptr_null(remark(&shape, &params));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        auto_takes_the_largest_group_that_keeps_a_node, auto_keeps_the_coarsest_level_that_it_can,
        small_jobs_on_two_nodes_form_groups_that_survive_one, a_level_that_is_asked_for_is_the_one_that_is_kept, NULL};

    return unit_run("cover", tests);
}
