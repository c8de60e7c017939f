/*
 * Simulates processes that fail in random order until all replicas of a group are gone; process i +
 * k * g holds replica k of group i [R IV-A]. A process drawn twice is drawn again, which is cheap
 * while few have failed.
 */
#include "plan_simulate.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct keel_plan_replica_run {
    uint64_t processes, groups, replicas;
    uint64_t *failed; /* one bit per process */
    uint8_t *dead;    /* failed processes of each group; at most 255 replicas */
} keel_plan_replica_run_t;

static uint64_t keel_plan_failures_until_lost(keel_plan_replica_run_t *run, keel_plan_random_t *random)
{
    uint64_t failures = 0, process, group;

    memset(run->failed, 0, (run->processes / 64 + 1) * sizeof *run->failed);
    memset(run->dead, 0, run->groups);
    for (;;) {
        process = keel_plan_random_below(random, run->processes);
        if (run->failed[process / 64] >> (process % 64) & 1) {
            continue;
        }
        run->failed[process / 64] |= 1ull << (process % 64);
        failures++;
        group = process % run->groups;
        if (++run->dead[group] == run->replicas) {
            return failures;
        }
    }
}

static int keel_plan_compare(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

void keel_plan_replica_result(uint64_t *values, uint64_t n, keel_plan_replicas_t *result)
{
    double mean = 0, squares = 0, half;
    unsigned a;
    uint64_t i;

    for (i = 0; i < n; i++) {
        mean += (double)values[i] / (double)n;
    }
    for (i = 0; i < n; i++) {
        squares += pow((double)values[i] - mean, 2);
    }
    half = (n > 1) ? KEEL_PLAN_Z * sqrt(squares / (double)(n - 1) / (double)n) : mean;
    qsort(values, n, sizeof *values, keel_plan_compare);
    result->failures = (keel_plan_estimate_t){mean, mean - half, mean + half, n};
    result->tenth = (double)values[n / 10];
    result->median = (double)values[n / 2];
    result->ninetieth = (double)values[n - 1 - n / 10];
    for (a = 0, i = 0; a < result->asked_count; a++, i = 0) {
        while ((i < n) && (values[i] <= result->asked[a])) {
            i++;
        }
        result->lost[a] = (keel_plan_estimate_t){.value = (double)i / (double)n, .samples = n};
        keel_plan_wilson((double)i, (double)n, &result->lost[a].low, &result->lost[a].high);
    }
}

int keel_plan_simulate_replicas(const keel_replicas_t *replicas, uint64_t samples, keel_plan_random_t *random,
                                const keel_plan_progress_t *progress, keel_plan_replicas_t *result)
{
    keel_plan_replica_run_t run = {replicas->processes, replicas->processes / replicas->replicas, replicas->replicas,
                                   NULL, NULL};
    uint64_t *values, i;
    int rc = -1;

    values = keel_alloc(samples * sizeof *values, "plan values");
    run.failed = keel_alloc((run.processes / 64 + 1) * sizeof *run.failed, "plan failed");
    run.dead = keel_alloc(run.groups, "plan dead");
    if ((values == NULL) || (run.failed == NULL) || (run.dead == NULL) || (replicas->replicas > UINT8_MAX)) {
        goto err_free;
    }
    for (i = 0; i < samples; i++) {
        values[i] = keel_plan_failures_until_lost(&run, random);
        if ((progress->report != NULL) && progress->report(progress->arg, (double)(i + 1) / (double)samples)) {
            i++;
            break;
        }
    }
    keel_plan_replica_result(values, i, result);
    rc = 0;
err_free:
    keel_free(values);
    keel_free(run.failed);
    keel_free(run.dead);
    return rc;
}
