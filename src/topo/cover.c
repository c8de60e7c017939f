/* A number of groups covers a level if no group has more members on the level's fullest element
 * than its parity replaces. */
#include "topo/cover.h"

#include "topo/dedicated.h"

#include <stdio.h>
#include <string.h>

/* the finest level with elements that may be lost as a whole: lower levels are parts of a
 * machine */
static uint32_t keel_cover_node(const keel_domains_t *domains)
{
    const uint32_t node = keel_domains_find(domains, "node");

    return (node < domains->level_count) ? node : 0;
}

/* largest group size that covers the level; 0: none */
static uint32_t keel_cover_size(const keel_cover_params_t *params, uint32_t level, uint32_t parities)
{
    const keel_place_params_t place = {.group_size = params->group_size, .parities = parities, .level = level};

    return keel_groups_size_that_fits(params->domains, &place);
}

uint32_t keel_cover_auto_size(const keel_cover_params_t *params)
{
    const keel_domains_t *domains = params->domains;
    const uint32_t most = (params->group_size > domains->ranks) ? domains->ranks : params->group_size;
    const uint32_t named = keel_domains_find(domains, params->level);
    uint32_t first = keel_cover_node(domains), level = domains->level_count, fits;

    if (strcmp(params->level, "none") == 0) {
        return most;
    }
    if (named < domains->level_count) {
        first = named;
        level = named + 1;
    }
    for (; level > first; level--) {
        fits = keel_cover_size(params, level - 1, params->parities);
        if (fits > 0) {
            return (fits < most) ? fits : most;
        }
    }
    return most;
}

static int keel_cover_advise_checksums(const keel_cover_params_t *params, uint32_t level, char *text, size_t size)
{
    const uint32_t fits = keel_groups_checksums_that_fit(params->domains, level, params->parities);

    if (fits <= params->domains->ranks - params->programs) {
        return 0;
    }
    snprintf(text, size, "KEEL_CHECKSUM_RANKS=%u covers it", fits);
    return 1;
}

/* finds the fewest parities up to @a parities_max that cover the level, with the largest
 * possible group size */
static int keel_cover_advise(const keel_cover_params_t *params, uint32_t level, uint32_t parities_max, char *text,
                             size_t size)
{
    uint32_t parities, fits, most;

    if (params->programs > 0) {
        return keel_cover_advise_checksums(params, level, text, size);
    }
    for (parities = params->parities; parities <= parities_max; parities++) {
        fits = keel_cover_size(params, level, parities);
        if (fits == 0) {
            continue;
        }
        most = (params->group_size > parities) ? params->group_size : 2 * parities;
        if (parities == params->parities) {
            snprintf(text, size, "KEEL_GROUP_SIZE=%u covers it", (fits < most) ? fits : most);
        } else if (params->is_group_auto) {
            snprintf(text, size, "KEEL_PARITIES=%u covers it", parities);
        } else {
            snprintf(text, size, "KEEL_PARITIES=%u with KEEL_GROUP_SIZE=%u covers it", parities,
                     (fits < most) ? fits : most);
        }
        return 1;
    }
    return 0;
}

int keel_cover_has_remark(const keel_cover_params_t *params, const keel_groups_t *groups, char *text, size_t text_size)
{
    const keel_domains_t *domains = params->domains;
    const uint32_t node = keel_cover_node(domains);
    char advice[80];
    uint32_t level, worst;
    int is_covered;

    if (strcmp(params->level, "auto") != 0) {
        return 0;
    }
    for (level = node; level < domains->level_count; level++) {
        const keel_domain_level_t *one = &domains->levels[level];

        if ((one->count < 2) || (keel_groups_worst(domains, groups, level, &worst) != KEEL_OK) ||
            (worst <= params->parities)) {
            continue;
        }
        is_covered = keel_cover_advise(params, level, (level == node) ? params->parities_max : params->parities, advice,
                                       sizeof(advice));
        if (is_covered || (level == node)) {
            snprintf(text, text_size,
                     "a lost %s takes up to %u ranks of a group, more than parity replaces (%u), and ends the job: %s",
                     one->name, worst, params->parities, is_covered ? advice : "no setting covers it");
            return 1;
        }
    }
    return 0;
}
