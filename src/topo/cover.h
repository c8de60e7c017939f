/* Which lost elements of the failure domains the parity of groups covers: the group size that KEEL_GROUP_SIZE=auto takes, and the
 * setting to name where a lost node loses more of a group than its parity covers. */
#ifndef KEEL_TOPO_COVER_H_
#define KEEL_TOPO_COVER_H_

#include "topo/group.h"

typedef struct keel_cover_params {
    const keel_domains_t *domains;
    const char *level;     /* KEEL_TOPO_LEVEL: auto, none or the name of a level */
    uint32_t programs;     /* ranks that hold no parity only; 0: parity rotates */
    uint32_t group_size;   /* KEEL_GROUP_SIZE; for keel_cover_auto_size() the largest that auto takes */
    uint32_t parities;     /* KEEL_PARITIES */
    uint32_t parities_max; /* the most that KEEL_PARITIES may be */
    int is_group_auto;     /* group_size is the choice of keel_cover_auto_size() */
} keel_cover_params_t;

/*
 * The largest group size, of at most @a params->group_size, with which no element of the coarsest possible level holds more of a
 * group than @a params->parities; the level of KEEL_TOPO_LEVEL if it names one, and node or coarser otherwise. Where no
 * size covers a level, and without a level, @a params->group_size. Never more than there are ranks. Deterministic.
 */
uint32_t keel_cover_auto_size(const keel_cover_params_t *params);
/*
 * Whether the loss of a node, or of an element of a coarser level that another group size covers, loses more of a group than
 * parity covers. Jobs on one node and KEEL_TOPO_LEVEL other than auto have no such remark.
 * @param text  the level, and a setting that covers it or that none does; at most @a text_size bytes.
 */
int keel_cover_has_remark(const keel_cover_params_t *params, const keel_groups_t *groups, char *text, size_t text_size);

#endif
