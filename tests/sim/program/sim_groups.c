/* What groups lost and recovered, summed over the runs of all workers. */
#include "sim_groups.h"

#include <stdio.h>

#define DRAWN 3 /* maximum number of parities that is drawn if none is requested */

void groups_count(groups_tally_t *tally, const case_result_t *result)
{
    if (result->recoveries == 0 || result->is_catastrophic) {
        return;
    }
    atomic_fetch_add(&tally->together[result->together], 1);
    atomic_fetch_add(&tally->parities[result->parities], result->checkpoints > 0);
    for (unsigned size = 2; size <= GROUPS_SIZE_MAX; ++size) {
        atomic_fetch_add(&tally->sizes[size], (result->groups_hit >> size) & 1);
    }
}

void groups_print(const groups_tally_t *tally)
{
    printf("recovered from a checkpoint with parities");
    for (unsigned m = 1; m <= KEEL_RS_PARITIES_MAX; ++m) {
        printf(" %u: %llu,", m, (unsigned long long)tally->parities[m]);
    }
    printf(" after losses in a group at once of");
    for (unsigned lost = 2; lost <= KEEL_RS_PARITIES_MAX; ++lost) {
        printf(" %u: %llu,", lost, (unsigned long long)tally->together[lost]);
    }
    printf(" from an image in groups of");
    for (unsigned size = 2; size <= GROUPS_SIZE_MAX; ++size) {
        printf(" %u: %llu%s", size, (unsigned long long)tally->sizes[size], (size < GROUPS_SIZE_MAX) ? "," : "\n");
    }
}

int groups_have_gaps(const groups_tally_t *tally, int is_large)
{
    int gaps = 0;

    for (unsigned m = 1; m <= DRAWN; ++m) {
        if (tally->parities[m] == 0) {
            fprintf(stderr, "no run recovered with %u parities\n", m);
            gaps = 1;
        }
    }
    for (unsigned lost = 2; lost <= (is_large ? DRAWN : 2); ++lost) {
        if (tally->together[lost] == 0) {
            fprintf(stderr, "no group lost %u members and recovered\n", lost);
            gaps = 1;
        }
    }
    for (unsigned size = 2; is_large && size <= GROUPS_SIZE_MAX; ++size) {
        if (tally->sizes[size] == 0) {
            fprintf(stderr, "no group of %u recovered\n", size);
            gaps = 1;
        }
    }
    return gaps;
}

int groups_are_unused(const groups_tally_t *tally, int parities)
{
    parities = (parities < (int)KEEL_RS_PARITIES_MAX) ? parities : (int)KEEL_RS_PARITIES_MAX;
    if (parities <= DRAWN || (tally->parities[parities] > 0 && tally->together[parities] > 0)) {
        return 0;
    }
    fprintf(stderr, "no run recovered with %d parities, or no group lost %d members and recovered\n", parities,
            parities);
    return 1;
}
