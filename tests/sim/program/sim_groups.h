/* What groups lost and recovered, summed over the runs of all workers. */
#ifndef KEEL_SIM_GROUPS_H_
#define KEEL_SIM_GROUPS_H_

#include "sim_case.h"

#include "code/rs.h"

#include <stdatomic.h>

/*
 * largest group size; a large run set must see recoveries in groups of each size up to this maximum
 */
#define GROUPS_SIZE_MAX 8

typedef struct groups_tally {
    /* runs, by the number of members of a group lost at once */
    _Atomic uint64_t together[KEEL_RS_PARITIES_MAX + 1];
    /* runs, by the size of a group that lost a member with an image */
    _Atomic uint64_t sizes[GROUPS_SIZE_MAX + 1];
    /* runs with a checkpoint, by number of parities */
    _Atomic uint64_t parities[KEEL_RS_PARITIES_MAX + 1];
} groups_tally_t;

/* Adds the run if it recovered. */
void groups_count(groups_tally_t *tally, const case_result_t *result);
void groups_print(const groups_tally_t *tally);
/*
 * Returns 1, after a message for each gap, if a large run set has no run with some size of groups,
 * number of losses, or number of parities up to 3.
 */
int groups_have_gaps(const groups_tally_t *tally, int is_large);
/*
 * Runs use 4 parities and more only if @a parities requests them. Returns 1 if no run recovered
 * with so many parities, or no run lost so many members of a group at once; 0 for fewer parities.
 */
int groups_are_unused(const groups_tally_t *tally, int parities);

#endif
