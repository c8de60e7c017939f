/* Loss of data in rings of ranks. */
#include "tools/topo/replica_sets.h"

#include "base/memory.h"

#include <string.h>

#define RING_MAX (2 * KEEL_REPLICA_SETS_COPIES)

/* Numbers of choices of failed ranks, by their count. */
typedef struct ring {
    uint64_t size;
    long double all[RING_MAX + 1], lost[RING_MAX + 1], kept[RING_MAX + 1];
} ring_t;

/* rows[n][j]: choices of j of n ranks in a row without @a copies consecutive ones */
static void rows_count(uint64_t size, uint64_t copies, long double rows[RING_MAX + 1][RING_MAX + 1])
{
    memset(rows, 0, sizeof(rows[0]) * (RING_MAX + 1));
    for (uint64_t n = 0; n <= size; n++) {
        for (uint64_t j = 0; j <= n; j++) {
            /* a run of failed ranks, then the first rank in order */
            for (uint64_t run = 0; run < copies && run <= j; run++) {
                rows[n][j] += (run == n) ? 1 : (run < n) ? rows[n - run - 1][j - run] : 0;
            }
        }
    }
}

/* Cuts a ring at the first and the last rank in order. The failed ranks between the two, across
 * the start, can be cut in as many ways as their number and 1. */
static void ring_count(uint64_t size, uint64_t copies, ring_t *ring)
{
    static long double rows[RING_MAX + 1][RING_MAX + 1];

    *ring = (ring_t){.size = size};
    rows_count(size, copies, rows);
    for (uint64_t j = 0; j <= size; j++) {
        ring->all[j] = 1;
        for (uint64_t i = 0; i < j; i++) {
            ring->all[j] = ring->all[j] * (long double)(size - i) / (long double)(i + 1);
        }
        for (uint64_t across = 0; across < copies && across <= j && across < size; across++) {
            const uint64_t rest = size - across;

            ring->kept[j] += (long double)(across + 1) * ((rest == 1) ? (j == across) : rows[rest - 2][j - across]);
        }
        ring->lost[j] = ring->all[j] - ring->kept[j];
    }
}

typedef struct counts {
    uint64_t ranks;
    long double *all, *lost, *kept;
} counts_t;

static void counts_add(counts_t *counts, const ring_t *ring)
{
    for (uint64_t i = counts->ranks + ring->size + 1; i-- > 0;) {
        long double all = 0, lost = 0, kept = 0;

        for (uint64_t j = 0; j <= ring->size && j <= i; j++) {
            if (i - j <= counts->ranks) {
                all += counts->all[i - j] * ring->all[j];
                lost += counts->lost[i - j] * ring->all[j] + counts->kept[i - j] * ring->lost[j];
                kept += counts->kept[i - j] * ring->kept[j];
            }
        }
        counts->all[i] = all;
        counts->lost[i] = lost;
        counts->kept[i] = kept;
    }
    counts->ranks += ring->size;
}

keel_status_t keel_replica_sets_table(uint64_t ranks, uint64_t sets, uint64_t copies, double *lost, double *kept)
{
    counts_t counts = {.all = keel_alloc(3 * (ranks + 1) * sizeof(*counts.all), "numbers of losses")};
    ring_t small, large;

    if (counts.all == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    counts.lost = counts.all + ranks + 1;
    counts.kept = counts.lost + ranks + 1;
    counts.all[0] = counts.kept[0] = 1;
    ring_count(ranks / sets, copies, &small);
    ring_count(ranks / sets + 1, copies, &large);
    for (uint64_t i = 0; i < sets; i++) {
        counts_add(&counts, (i < ranks % sets) ? &large : &small);
    }
    for (uint64_t i = 0; i <= ranks; i++) {
        lost[i] = (double)(counts.lost[i] / counts.all[i]);
        kept[i] = (double)(counts.kept[i] / counts.all[i]);
    }
    keel_free(counts.all);
    return KEEL_OK;
}
