/* Carries out KEEL_TOPO_LEVEL: places groups, and says in words what was reached or why it was refused. */
#include "topo/topology.h"

#include <stdio.h>
#include <string.h>

static uint32_t keel_choose_level(const keel_domains_t *domains, const char *name)
{
    uint32_t level = 0;

    while ((level < domains->level_count) && (strcmp(domains->levels[level].name, name) != 0)) {
        level++;
    }
    return level;
}

static keel_status_t keel_choose_unknown(const keel_domains_t *domains, const char *name, char *note, size_t size)
{
    size_t used = (size_t)snprintf(note, size, "there is no level '%.40s': known are none auto", name);
    uint32_t level;

    for (level = 0; (level < domains->level_count) && (used < size); level++) {
        used += (size_t)snprintf(note + used, size - used, " %s", domains->levels[level].name);
    }
    return KEEL_ERR_INVALID_PARAM;
}

/* @a fits: the largest size that keeps the level, 0: none */
static void keel_choose_advice(uint32_t fits, uint32_t group_size, char *advice, size_t size)
{
    if (fits == 0) {
        snprintf(advice, size, "no size would do");
    } else if (fits >= group_size) {
        snprintf(advice, size, "placed by the topology, none would");
    } else {
        snprintf(advice, size, "groups of %u would do", fits);
    }
}

static keel_status_t keel_choose_note(const keel_domains_t *domains, keel_groups_t *groups,
                                      const keel_place_params_t *params, char *note, size_t size)
{
    keel_place_params_t node = *params;
    uint32_t reached, fits, worst;
    char advice[64];
    keel_status_t status;

    status = keel_groups_reach(domains, groups, params->parities, &reached);
    if (status != KEEL_OK) {
        return status;
    }
    groups->crowded = (reached == domains->level_count);
    if (!groups->crowded) {
        snprintf(note, size, "no %s holds more than %u of a group", domains->levels[reached].name, params->parities);
        return KEEL_OK;
    }
    node.level = 0;
    fits = keel_groups_size_that_fits(domains, &node);
    status = keel_groups_worst(domains, groups, 0, &worst);
    keel_choose_advice(fits, params->group_size, advice, sizeof(advice));
    snprintf(note, size, "a %s holds %u of a group: losing it loses more than parity covers; %s",
             domains->levels[0].name, worst, advice);
    return status;
}

static keel_status_t keel_choose_named(const keel_domains_t *domains, const keel_place_params_t *params,
                                       keel_groups_t *groups_p, char *note, size_t size)
{
    const char *name = domains->levels[params->level].name;
    uint32_t best, fits;
    char advice[64];
    keel_status_t status;

    status = keel_groups_place(domains, params, groups_p, &best);
    if ((status != KEEL_OK) || !groups_p->crowded) {
        snprintf(note, size, "no %s holds more than %u of a group", name, params->parities);
        return status;
    }
    keel_groups_release(groups_p);
    fits = keel_groups_size_that_fits(domains, params);
    keel_choose_advice(fits, params->group_size, advice, sizeof(advice));
    snprintf(note, size, "with groups of %u some %s has to hold %u of a group, and parity covers %u; %s",
             params->group_size, name, best, params->parities, advice);
    return KEEL_ERR_GROUPS;
}

keel_status_t keel_topology_place(const keel_domains_t *domains, const char *level, uint32_t group_size,
                                  uint32_t parities, keel_groups_t *groups_p, char *note, size_t note_size)
{
    keel_place_params_t params = {.group_size = group_size, .parities = parities, .level = domains->level_count - 1};
    const int is_none = (strcmp(level, "none") == 0);
    keel_status_t status;

    if (!is_none && (strcmp(level, "auto") != 0)) {
        params.level = keel_choose_level(domains, level);
        if (params.level == domains->level_count) {
            return keel_choose_unknown(domains, level, note, note_size);
        }
        return keel_choose_named(domains, &params, groups_p, note, note_size);
    }
    status = is_none ? keel_groups_in_order(domains->ranks, group_size, parities, groups_p)
                     : keel_groups_place(domains, &params, groups_p, NULL);
    if (status != KEEL_OK) {
        snprintf(note, note_size, "groups of %u with %u parities cannot be formed from %u ranks", group_size, parities,
                 domains->ranks);
        return status;
    }
    status = keel_choose_note(domains, groups_p, &params, note, note_size);
    if (status != KEEL_OK) {
        keel_groups_release(groups_p);
    }
    return status;
}
