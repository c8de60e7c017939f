/* Implements KEEL_TOPO_LEVEL: places groups and describes the result or the reason of a refusal. */
#include "topo/choose.h"
#include "topo/topology.h"

#include "topo/dedicated.h"

#include "base/memory.h"

#include <stdio.h>
#include <string.h>

/* the request */
typedef struct keel_choose {
    const keel_domains_t *domains;
    /* parity is on the ranks behind the first programs ranks; 0: parity rotates */
    uint32_t programs;
    uint32_t group_size, parities;
    char *note;
    size_t note_size;
} keel_choose_t;

static keel_status_t keel_choose_unknown(const keel_choose_t *choose, const char *name)
{
    const keel_domains_t *domains = choose->domains;
    const size_t size = choose->note_size;
    size_t used = (size_t)snprintf(choose->note, size, "there is no level '%.40s': known are none auto", name);
    uint32_t level;

    for (level = 0; (level < domains->level_count) && (used < size); level++) {
        used += (size_t)snprintf(choose->note + used, size - used, " %s", domains->levels[level].name);
    }
    return KEEL_ERR_INVALID_PARAM;
}

static uint32_t keel_choose_checksums(const keel_choose_t *choose)
{
    return choose->domains->ranks - choose->programs;
}

/* describes a setting that would satisfy the level */
static void keel_choose_advice(const keel_choose_t *choose, uint32_t level, char *advice, size_t size)
{
    const int is_dedicated = choose->programs > 0;
    const keel_place_params_t params = {.group_size = choose->group_size, .parities = choose->parities, .level = level};
    const uint32_t fits = is_dedicated ? keel_groups_checksums_that_fit(choose->domains, level, choose->parities)
                                       : keel_groups_size_that_fits(choose->domains, &params);
    const uint32_t given = is_dedicated ? keel_choose_checksums(choose) : choose->group_size;

    if (fits == 0) {
        snprintf(advice, size, "no %s would do", is_dedicated ? "number of checksum ranks" : "size");
    } else if (is_dedicated ? fits <= given : fits >= given) {
        snprintf(advice, size, "placed by the topology, none would");
    } else if (is_dedicated) {
        snprintf(advice, size, "KEEL_CHECKSUM_RANKS of %u would do", fits);
    } else {
        snprintf(advice, size, "groups of %u would do", fits);
    }
}

/* groups in rank order, regardless of hosts */
static keel_status_t keel_choose_in_order(const keel_choose_t *choose, keel_groups_t *groups_p)
{
    keel_groups_t groups;
    keel_status_t status;

    if (choose->programs == 0) {
        return keel_groups_in_order(choose->domains->ranks, choose->group_size, choose->parities, groups_p);
    }
    status = keel_groups_in_order(choose->programs, choose->group_size, 1, &groups);
    if (status != KEEL_OK) {
        return status;
    }
    status = (groups.count * choose->parities != keel_choose_checksums(choose))
                 ? KEEL_ERR_GROUPS
                 : keel_groups_add_checksums(&groups, choose->programs, choose->parities);
    if (status != KEEL_OK) {
        keel_groups_release(&groups);
    } else {
        *groups_p = groups;
    }
    return status;
}

static keel_status_t keel_choose_spread(const keel_choose_t *choose, uint32_t level, keel_groups_t *groups_p)
{
    const keel_place_params_t params = {.group_size = choose->group_size, .parities = choose->parities, .level = level};

    if (choose->programs == 0) {
        return keel_groups_place(choose->domains, &params, groups_p, NULL);
    }
    return keel_groups_place_dedicated(choose->domains, choose->programs, choose->parities, level, groups_p);
}

/* explains why no groups can be formed */
static keel_status_t keel_choose_refuse(const keel_choose_t *choose, keel_status_t status)
{
    if (status == KEEL_ERR_NO_MEMORY) {
        snprintf(choose->note, choose->note_size, "out of memory");
    } else if (choose->programs > 0) {
        snprintf(choose->note, choose->note_size,
                 "%u ranks do not make as many groups as KEEL_CHECKSUM_RANKS of %u is for", choose->programs,
                 keel_choose_checksums(choose));
    } else {
        snprintf(choose->note, choose->note_size, "groups of %u with %u parities cannot be formed from %u ranks",
                 choose->group_size, choose->parities, choose->domains->ranks);
    }
    return status;
}

/* describes the losses that the groups survive */
static keel_status_t keel_choose_note(const keel_choose_t *choose, keel_groups_t *groups)
{
    const keel_domains_t *domains = choose->domains;
    uint32_t reached, worst;
    char advice[64];
    keel_status_t status;

    status = keel_groups_reach(domains, groups, choose->parities, &reached);
    if (status != KEEL_OK) {
        return status;
    }
    groups->crowded = (reached == domains->level_count);
    if (!groups->crowded) {
        snprintf(choose->note, choose->note_size, "no %s holds more than %u of a group", domains->levels[reached].name,
                 choose->parities);
        return KEEL_OK;
    }
    status = keel_groups_worst(domains, groups, 0, &worst);
    keel_choose_advice(choose, 0, advice, sizeof(advice));
    snprintf(choose->note, choose->note_size, "a %s holds %u of a group: losing it loses more than parity covers; %s",
             domains->levels[0].name, worst, advice);
    return status;
}

/* checks a level requested by name */
static keel_status_t keel_choose_keep(const keel_choose_t *choose, uint32_t level, const keel_groups_t *groups)
{
    const char *name = choose->domains->levels[level].name;
    char advice[64], what[48];
    keel_status_t status;
    uint32_t worst;

    status = keel_groups_worst(choose->domains, groups, level, &worst);
    if (status != KEEL_OK) {
        return keel_choose_refuse(choose, status);
    }
    if (worst <= choose->parities) {
        snprintf(choose->note, choose->note_size, "no %s holds more than %u of a group", name, choose->parities);
        return KEEL_OK;
    }
    keel_choose_advice(choose, level, advice, sizeof(advice));
    snprintf(what, sizeof(what), (choose->programs > 0) ? "KEEL_CHECKSUM_RANKS of %u" : "groups of %u",
             (choose->programs > 0) ? keel_choose_checksums(choose) : choose->group_size);
    snprintf(choose->note, choose->note_size, "with %s some %s has to hold %u of a group, and parity covers %u; %s",
             what, name, worst, choose->parities, advice);
    return KEEL_ERR_GROUPS;
}

static keel_status_t keel_choose(const keel_choose_t *choose, const char *name, keel_groups_t *groups_p)
{
    const int is_none = (strcmp(name, "none") == 0), is_named = !is_none && (strcmp(name, "auto") != 0);
    uint32_t level = choose->domains->level_count - 1;
    keel_status_t status;

    if (is_named) {
        level = keel_domains_find(choose->domains, name);
    }
    if (level == choose->domains->level_count) {
        return keel_choose_unknown(choose, name);
    }
    status = is_none ? keel_choose_in_order(choose, groups_p) : keel_choose_spread(choose, level, groups_p);
    if (status != KEEL_OK) {
        return keel_choose_refuse(choose, status);
    }
    status = is_named ? keel_choose_keep(choose, level, groups_p) : keel_choose_note(choose, groups_p);
    if (status != KEEL_OK) {
        keel_groups_release(groups_p);
    }
    return status;
}

keel_status_t keel_topology_place(const keel_domains_t *domains, const char *level, uint32_t group_size,
                                  uint32_t parities, keel_groups_t *groups_p, char *note, size_t note_size)
{
    const keel_choose_t choose = {
        .domains = domains, .group_size = group_size, .parities = parities, .note = note, .note_size = note_size};

    return keel_choose(&choose, level, groups_p);
}

keel_status_t keel_topology_place_dedicated(const keel_domains_t *domains, const char *level, uint32_t programs,
                                            uint32_t parities, keel_groups_t *groups_p, char *note, size_t note_size)
{
    const uint32_t count = (domains->ranks - programs) / parities;
    const keel_choose_t choose = {.domains = domains,
                                  .programs = programs,
                                  .group_size = (programs + count - 1) / count,
                                  .parities = parities,
                                  .note = note,
                                  .note_size = note_size};

    return keel_choose(&choose, level, groups_p);
}
