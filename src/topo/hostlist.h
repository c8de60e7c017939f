/*
 * Lists of names in Slurm's form: "n[001-128,200],login1 r[1-2]c[0-3]". Names are separated by
 * commas or blanks. Brackets contain numbers and ranges, with as many digits as the first number of
 * a range.
 */
#ifndef KEEL_TOPO_HOSTLIST_H_
#define KEEL_TOPO_HOSTLIST_H_

#include <keel/status.h>

#include <stddef.h>
#include <stdint.h>

#define KEEL_HOSTLIST_NAME_MAX   255u
#define KEEL_HOSTLIST_GROUPS_MAX 4u /* pairs of brackets in a name */
/* maximum names in a file: more than any machine has hosts */
#define KEEL_HOSTLIST_NAMES_MAX (1u << 20)

/* any other result than KEEL_OK ends the walk */
typedef keel_status_t (*keel_hostlist_cb_t)(void *arg, const char *name);

/*
 * Calls @a each for every name of @a list in order.
 * @param remaining_p number of further names allowed, counted down: KEEL_ERR_BUDGET at the end.
 * @param why_p description of KEEL_ERR_INVALID_PARAM and KEEL_ERR_BUDGET from the walk itself;
 *         otherwise NULL.
 */
keel_status_t keel_hostlist_walk(const char *list, keel_hostlist_cb_t each, void *arg, uint32_t *remaining_p,
                                 const char **why_p);

#endif
