/* What groups lost and recovered, summed over the runs of all workers. */
#ifndef KEEL_SIM_GROUPS_H_
#define KEEL_SIM_GROUPS_H_

#include "sim_case.h"

#include "code/rs.h"

#include <stdatomic.h>

#define GROUPS_SIZE_MAX 8 /* a large run set has to see recoveries in groups of each size up to this one */

typedef struct groups_tally {
    _Atomic uint64_t together[KEEL_RS_PARITIES_MAX + 1]; /* runs, by members of a group that were lost at once */
    _Atomic uint64_t sizes[GROUPS_SIZE_MAX + 1];         /* runs, by size of a group that lost a member with an image */
    _Atomic uint64_t parities[KEEL_RS_PARITIES_MAX + 1]; /* runs with a checkpoint, by parities */
} groups_tally_t;

/* adds a run, if it recovered */
void groups_count(groups_tally_t *tally, const case_result_t *result);
void groups_print(const groups_tally_t *tally);
/* 1, and a message each, for a size of groups, or a number of losses or of parities up to 3, that no run of a large set had */
int groups_have_gaps(const groups_tally_t *tally, int is_large);
/*
 * 4 parities and more are never drawn, but asked for by @a parities. 1 if no run recovered with so many, or none lost so many
 * members of a group at once; 0 for fewer parities.
 */
int groups_are_unused(const groups_tally_t *tally, int parities);

#endif
