/* Coverage of lost elements of the failure domains by the parity of groups: the group size for
 * KEEL_GROUP_SIZE=auto, and the setting to recommend if a lost node takes more of a group than
 * parity covers. */
#ifndef KEEL_TOPO_COVER_H_
#define KEEL_TOPO_COVER_H_

#include "topo/group.h"

typedef struct keel_cover_params {
    const keel_domains_t *domains;
    const char *level; /* KEEL_TOPO_LEVEL: auto, none or the name of a level */
    uint32_t programs; /* number of ranks without dedicated parity; 0: parity rotates */
    /* KEEL_GROUP_SIZE; for keel_cover_auto_size() the largest size that auto may choose */
    uint32_t group_size;
    uint32_t parities;     /* KEEL_PARITIES */
    uint32_t parities_max; /* maximum of KEEL_PARITIES */
    int is_group_auto;     /* group_size was chosen by keel_cover_auto_size() */
} keel_cover_params_t;

/*
 * Largest group size, up to @a params->group_size, such that no element of the coarsest possible
 * level holds more of a group than @a params->parities. The level is KEEL_TOPO_LEVEL if it names
 * one, otherwise node or coarser. If no size covers a level, or without a level, @a
 * params->group_size. Never above the number of ranks. Deterministic.
 */
uint32_t keel_cover_auto_size(const keel_cover_params_t *params);
/*
 * Does the loss of a node, or of an element of a coarser level that another group size covers, take
 * more of a group than parity covers? Jobs on one node, and KEEL_TOPO_LEVEL other than auto, have
 * no remark.
 * @param text the level, and a setting that covers it or the statement that none does; at most @a
 *         text_size bytes.
 */
int keel_cover_has_remark(const keel_cover_params_t *params, const keel_groups_t *groups, char *text, size_t text_size);

#endif
