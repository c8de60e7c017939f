/*
 * Simulates failures of nodes, or of single ranks, until data of a store is lost, with the
 * placement of the store itself: the copies of a range lie at consecutive ranks of a set
 * (store/store_place).
 */
#include "plan_simulate.h"

#include "base/memory.h"
#include "store/store_place.h"

#include <string.h>

typedef struct keel_plan_placed_run {
    const keel_plan_placed_t *placed;
    keel_store_place_t place;
    uint32_t nodes;
    uint8_t *is_failed; /* by rank */
    uint32_t *order;    /* nodes in the order in which they fail */
} keel_plan_placed_run_t;

uint32_t keel_plan_placed_nodes(const keel_plan_placed_t *placed)
{
    return (placed->ranks + placed->width - 1) / placed->width;
}

/* True if the rank is one of so many consecutive failed ranks of its set as there are copies. */
static int keel_plan_placed_loses(const keel_plan_placed_run_t *run, uint32_t rank)
{
    const keel_groups_t *sets = &run->place.sets;
    const uint32_t set = sets->of_rank[rank], size = sets->size[set], index = sets->index[rank];
    uint32_t failed = 1, i;

    for (i = 1; (i < size) && run->is_failed[sets->members[set][(index + i) % size]]; i++) {
        failed++;
    }
    for (i = 1; (i < size) && (failed < size) && run->is_failed[sets->members[set][(index + size - i) % size]]; i++) {
        failed++;
    }
    return failed >= run->placed->replicas;
}

static int keel_plan_placed_fail(const keel_plan_placed_run_t *run, uint32_t node)
{
    const uint64_t begin = (uint64_t)node * run->placed->width;
    const uint64_t end =
        (begin + run->placed->width < run->placed->ranks) ? begin + run->placed->width : run->placed->ranks;
    int is_lost = 0;

    for (uint64_t r = begin; r < end; r++) {
        run->is_failed[r] = 1;
    }
    for (uint64_t r = begin; (r < end) && !is_lost; r++) {
        is_lost = keel_plan_placed_loses(run, (uint32_t)r);
    }
    return is_lost;
}

/* Draws the order up to the loss. */
static uint64_t keel_plan_placed_until_lost(const void *arg, keel_plan_random_t *random)
{
    const keel_plan_placed_run_t *run = arg;

    memset(run->is_failed, 0, run->placed->ranks);
    for (uint32_t i = 0; i < run->nodes; i++) {
        const uint32_t other = i + (uint32_t)keel_plan_random_below(random, run->nodes - i);
        const uint32_t node = run->order[other];

        run->order[other] = run->order[i];
        run->order[i] = node;
        if (keel_plan_placed_fail(run, node)) {
            return i + 1;
        }
    }
    return run->nodes;
}

static keel_status_t keel_plan_placed_begin(keel_plan_placed_run_t *run)
{
    const keel_plan_placed_t *placed = run->placed;
    const keel_store_place_params_t params = {
        .ranks = placed->ranks, .copies = (uint32_t)placed->replicas, .ranges = 1, .is_consecutive = 1};
    uint32_t *node = keel_alloc(placed->ranks * sizeof *node, "plan nodes");
    keel_domains_t domains = {0};
    keel_status_t status = KEEL_ERR_NO_MEMORY;

    run->nodes = keel_plan_placed_nodes(placed);
    run->is_failed = keel_alloc(placed->ranks, "plan failed");
    run->order = keel_alloc(run->nodes * sizeof *run->order, "plan order");
    if ((node != NULL) && (run->is_failed != NULL) && (run->order != NULL)) {
        for (uint32_t r = 0; r < placed->ranks; r++) {
            node[r] = r / placed->width;
        }
        for (uint32_t i = 0; i < run->nodes; i++) {
            run->order[i] = i;
        }
        status = keel_domains_of_nodes(placed->ranks, node, &domains);
    }
    if (status == KEEL_OK) {
        status = keel_store_place_init(&run->place, &domains, &params);
    }
    keel_domains_release(&domains);
    keel_free(node);
    return status;
}

int keel_plan_simulate_placed(const keel_plan_placed_t *placed, uint64_t samples, keel_plan_random_t *random,
                              const keel_plan_progress_t *progress, keel_plan_replicas_t *result)
{
    keel_plan_placed_run_t run = {.placed = placed};
    int rc = -1;

    if (keel_plan_placed_begin(&run) == KEEL_OK) {
        rc = keel_plan_sample_losses(keel_plan_placed_until_lost, &run, samples, random, progress, result);
    }
    keel_store_place_release(&run.place);
    keel_free(run.is_failed);
    keel_free(run.order);
    return rc;
}
