/* Lists the lost and the remaining parts of a job. */
#include "tools/info/topo_lost.h"

#include "base/memory.h"
#include "topo/hostlist.h"
#include "topo/remaining.h"

#include <string.h>

typedef struct lost {
    const keel_domains_t *domains;
    uint8_t *is_lost; /* by rank */
} lost_t;

/* Marks every element of that name, on any level. */
static keel_status_t lost_element(void *arg, const char *name)
{
    const lost_t *lost = arg;
    int is_there = 0;

    for (uint32_t l = 0; l < lost->domains->level_count; l++) {
        const keel_domain_level_t *level = &lost->domains->levels[l];

        for (uint32_t r = 0; r < lost->domains->ranks; r++) {
            if (strcmp(level->element_name[level->of_rank[r]], name) == 0) {
                lost->is_lost[r] = is_there = 1;
            }
        }
    }
    if (!is_there) {
        fprintf(stderr, "keel_info: -L: no rank runs on '%s'\n", name);
    }
    return is_there ? KEEL_OK : KEEL_ERR_INVALID_PARAM;
}

static void lost_print_ranks(FILE *stream, const lost_t *lost, uint32_t *ranks, const char *names)
{
    uint32_t count = 0;

    for (uint32_t r = 0; r < lost->domains->ranks; r++) {
        if (lost->is_lost[r]) {
            ranks[count++] = r;
        }
    }
    fprintf(stream, "# lost with %s: %s ", names, (count == 1) ? "rank" : "ranks");
    topo_print_ranges(stream, ranks, count, " ");
    fputc('\n', stream);
}

static void lost_print_groups(FILE *stream, const topo_view_t *view, const lost_t *lost)
{
    uint32_t beyond = 0;

    for (uint32_t g = 0; g < view->groups->count; g++) {
        uint32_t members = 0;

        for (uint32_t i = 0; i < view->groups->size[g]; i++) {
            members += lost->is_lost[view->groups->members[g][i]];
        }
        if (members > view->parities) {
            fprintf(stream, "# group %u loses %u of %u members, more than its parity covers: the job is lost\n", g,
                    members, view->groups->size[g]);
            beyond++;
        }
    }
    if (beyond == 0) {
        fputs("# no group loses more than its parity covers: replacements get all of it back\n", stream);
    }
}

/* Prints a job of the remaining ranks, on the level that the groups keep. */
static keel_status_t lost_print_remaining(FILE *stream, const topo_view_t *view, const lost_t *lost)
{
    keel_place_params_t params = {.group_size = view->group_size, .parities = view->parities};
    keel_shrink_result_t result;
    topo_view_t left = *view;
    keel_groups_t groups;
    keel_status_t status;

    status = keel_groups_reach(view->domains, view->groups, view->parities, &params.level);
    if (status != KEEL_OK) {
        return status;
    }
    if (params.level == view->domains->level_count) {
        params.level = 0; /* the groups keep no level */
    }
    status = keel_groups_shrink(view->domains, view->groups, lost->is_lost, &params, &groups, &result);
    if (status == KEEL_ERR_GROUPS) {
        fputs("# a job of those who are left would have no parity\n", stream);
        return KEEL_OK;
    }
    if (status != KEEL_OK) {
        return status;
    }
    fprintf(stream,
            "# a job of those who are left: %u groups, %u ranks change theirs, no %s holds more than %u of a group\n",
            groups.count, result.moved, view->domains->levels[params.level].name, result.best);
    left.groups = &groups;
    topo_print_groups(stream, &left);
    keel_groups_release(&groups);
    return KEEL_OK;
}

keel_status_t topo_print_lost(FILE *stream, const topo_view_t *view, const char *names)
{
    const uint32_t ranks = view->domains->ranks;
    lost_t lost = {.domains = view->domains, .is_lost = keel_alloc(ranks, "ranks that are lost")};
    uint32_t *list = keel_alloc(ranks * sizeof(*list), "ranks that are lost"), most = KEEL_HOSTLIST_NAMES_MAX;
    keel_status_t status = KEEL_ERR_NO_MEMORY;
    const char *why = NULL;

    if (lost.is_lost != NULL && list != NULL) {
        status = keel_hostlist_walk(names, lost_element, &lost, &most, &why);
    }
    if (why != NULL) {
        fprintf(stderr, "keel_info: -L: %s\n", why);
    }
    if (status == KEEL_OK) {
        lost_print_ranks(stream, &lost, list, names);
        if (view->groups != NULL) {
            lost_print_groups(stream, view, &lost);
        }
        if (view->groups != NULL && !view->is_dedicated) {
            status = lost_print_remaining(stream, view, &lost);
        }
    }
    keel_free(lost.is_lost);
    keel_free(list);
    return status;
}
