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

static uint64_t keel_plan_failures_until_lost(const void *arg, keel_plan_random_t *random)
{
    const keel_plan_replica_run_t *run = arg;
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

/* Sets mean, shares and intervals from the failures of each sample, which are sorted. */
static void keel_plan_replica_result(uint64_t *values, uint64_t n, keel_plan_replicas_t *result)
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

int keel_plan_sample_losses(keel_plan_draw_cb_t draw, const void *arg, uint64_t samples, keel_plan_random_t *random,
                            const keel_plan_progress_t *progress, keel_plan_replicas_t *result)
{
    uint64_t *values = keel_alloc(samples * sizeof *values, "plan values");
    uint64_t i;

    if (values == NULL) {
        return -1;
    }
    for (i = 0; i < samples; i++) {
        values[i] = draw(arg, random);
        if ((progress->report != NULL) && progress->report(progress->arg, (double)(i + 1) / (double)samples)) {
            i++;
            break;
        }
    }
    keel_plan_replica_result(values, i, result);
    keel_free(values);
    return 0;
}

int keel_plan_simulate_replicas(const keel_replicas_t *replicas, uint64_t samples, keel_plan_random_t *random,
                                const keel_plan_progress_t *progress, keel_plan_replicas_t *result)
{
    keel_plan_replica_run_t run = {replicas->processes, replicas->processes / replicas->replicas, replicas->replicas,
                                   NULL, NULL};
    int rc = -1;

    run.failed = keel_alloc((run.processes / 64 + 1) * sizeof *run.failed, "plan failed");
    run.dead = keel_alloc(run.groups, "plan dead");
    if ((run.failed != NULL) && (run.dead != NULL) && (replicas->replicas <= UINT8_MAX)) {
        rc = keel_plan_sample_losses(keel_plan_failures_until_lost, &run, samples, random, progress, result);
    }
    keel_free(run.failed);
    keel_free(run.dead);
    return rc;
}
