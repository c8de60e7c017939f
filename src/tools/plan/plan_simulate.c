/*
 * A stratum is a level and a number of failures at once; its weight P_j(x) is known, its share c of
 * catastrophic draws is unknown. Where elements fail alone (tools/topo/failures.h), c is the share
 * of draws made catastrophic by their last failure. If the possible draws are no more than the
 * planned ones, they are enumerated, without an error. The interval of the weighted sum combines
 * the intervals of the strata by the square-and-add method, which stays valid if a stratum has no
 * hit at all.
 */
#include "plan_simulate.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

/* numbers of failures with strata of their own; the last stratum has all above */
#define KEEL_PLAN_SEPARATE       6
#define KEEL_PLAN_DRAWS_MIN      400 /* per stratum */
#define KEEL_PLAN_PROGRESS_EVERY 16384
/* each with as many draws as all before: an early stop leaves draws in every stratum */
#define KEEL_PLAN_ROUNDS   16
#define KEEL_PLAN_SETS_MAX 20000000.0 /* larger numbers are not enumerated */

typedef struct keel_plan_run {
    const keel_plan_machine_t *machine;
    const keel_plan_layout_t *layout;
    keel_plan_random_t *random;
    const keel_plan_progress_t *progress;
    uint64_t planned, drawn;
    uint32_t *hits, *hit_stamp; /* by group: members dead in the draw with that stamp */
    uint32_t *failed_stamp;     /* by element */
    uint32_t stamp;
    int is_stopped;
} keel_plan_run_t;

typedef struct keel_plan_stratum {
    uint32_t level;
    uint64_t x, x_last; /* a range: drawn by probability */
    double weight;
    uint64_t draws; /* planned */
    uint64_t drawn, hits;
    int is_enumerated;
    double share; /* if enumerated */
} keel_plan_stratum_t;

void keel_plan_wilson(double hits, double n, double *low_p, double *high_p)
{
    const double z2 = KEEL_PLAN_Z * KEEL_PLAN_Z, p = hits / n;
    const double middle = (p + z2 / (2 * n)) / (1 + z2 / n);
    const double half = KEEL_PLAN_Z / (1 + z2 / n) * sqrt(p * (1 - p) / n + z2 / (4 * n * n));

    *low_p = (hits > 0) ? fmax(middle - half, 0) : 0;
    *high_p = (hits < n) ? fmin(middle + half, 1) : 1;
}

/* ---- one draw ---- */

static void keel_plan_next_draw(keel_plan_run_t *run)
{
    if (++run->stamp == 0) {
        memset(run->hit_stamp, 0, run->layout->group_count * sizeof *run->hit_stamp);
        memset(run->failed_stamp, 0, run->layout->count[0] * sizeof *run->failed_stamp);
        run->stamp = 1;
    }
}

/* Fails an element. Returns 1 if more than m members of a group are now dead. */
static int keel_plan_fail_element(keel_plan_run_t *run, uint32_t level, uint32_t element)
{
    const keel_plan_layout_t *layout = run->layout;
    uint32_t rank, group;

    for (rank = layout->start[level][element]; rank < layout->start[level][element + 1]; rank++) {
        group = layout->group_of[rank];
        if (run->hit_stamp[group] != run->stamp) {
            run->hit_stamp[group] = run->stamp;
            run->hits[group] = 0;
        }
        if (++run->hits[group] > layout->parities) {
            return 1;
        }
    }
    return 0;
}

static int keel_plan_is_alone(const keel_plan_run_t *run, uint32_t level)
{
    return run->machine->levels[level].failures.kind == KEEL_FAILURES_ELEMENT;
}

/* Draws a set of x different elements by Floyd's method. */
static int keel_plan_draw_set(keel_plan_run_t *run, uint32_t level, uint64_t x)
{
    const uint64_t count = run->layout->count[level];
    uint64_t i, element;

    for (i = count - x; i < count; i++) {
        element = keel_plan_random_below(run->random, i + 1);
        element = (run->failed_stamp[element] == run->stamp) ? i : element;
        run->failed_stamp[element] = run->stamp;
        if (keel_plan_fail_element(run, level, (uint32_t)element)) {
            return 1;
        }
    }
    return 0;
}

/* Draws elements that fail alone, in order. True if the last of x causes the catastrophe. */
static int keel_plan_draw_order(keel_plan_run_t *run, uint32_t level, uint64_t x)
{
    uint64_t i, element;

    for (i = 1; i <= x; i++) {
        do {
            element = keel_plan_random_below(run->random, run->layout->count[level]);
        } while (run->failed_stamp[element] == run->stamp);
        run->failed_stamp[element] = run->stamp;
        if (keel_plan_fail_element(run, level, (uint32_t)element)) {
            return i == x;
        }
    }
    return 0;
}

static int keel_plan_draw(keel_plan_run_t *run, uint32_t level, uint64_t x)
{
    keel_plan_next_draw(run);
    return keel_plan_is_alone(run, level) ? keel_plan_draw_order(run, level, x) : keel_plan_draw_set(run, level, x);
}

/* ---- one stratum ---- */

static double keel_plan_all_draws(uint64_t count, uint64_t x)
{
    double all = 1;
    uint64_t i;

    for (i = 0; (i < x) && (all < 1e18); i++) {
        all = all * (double)(count - i) / (double)(i + 1);
    }
    return all;
}

/* Enumerates every set of x elements in lexical order. */
static double keel_plan_enumerate(keel_plan_run_t *run, uint32_t level, uint32_t x)
{
    const uint32_t count = run->layout->count[level];
    uint32_t set[KEEL_PLAN_SEPARATE], i;
    double all = 0, hits = 0;

    for (i = 0; i < x; i++) {
        set[i] = i;
    }
    for (;;) {
        keel_plan_next_draw(run);
        for (i = 0; (i < x) && !keel_plan_fail_element(run, level, set[i]); i++) {
        }
        all++;
        hits += (i < x);
        for (i = x; (i > 0) && (set[i - 1] == count - x + i - 1); i--) {
        }
        if (i == 0) {
            return hits / all;
        }
        for (set[i - 1]++; i < x; i++) {
            set[i] = set[i - 1] + 1;
        }
    }
}

static uint64_t keel_plan_draw_number(keel_plan_run_t *run, const keel_plan_stratum_t *stratum)
{
    const keel_hazard_t *level = &run->machine->levels[stratum->level];
    double left;
    uint64_t x;

    if (stratum->x == stratum->x_last) {
        return stratum->x;
    }
    left = keel_plan_random_unit(run->random) * stratum->weight;
    for (x = stratum->x; x < stratum->x_last; x++) {
        left -= keel_failures_probability(level, x);
        if (left < 0) {
            break;
        }
    }
    return x;
}

/* Continues until @a draws draws are done. */
static void keel_plan_run_stratum(keel_plan_run_t *run, keel_plan_stratum_t *stratum, uint64_t draws)
{
    for (; (stratum->drawn < draws) && !run->is_stopped; stratum->drawn++) {
        stratum->hits += (uint64_t)keel_plan_draw(run, stratum->level, keel_plan_draw_number(run, stratum));
        if ((++run->drawn % KEEL_PLAN_PROGRESS_EVERY == 0) && (run->progress->report != NULL)) {
            run->is_stopped = run->progress->report(run->progress->arg, (double)run->drawn / (double)run->planned);
        }
    }
}

static void keel_plan_run_strata(keel_plan_run_t *run, keel_plan_stratum_t *strata, uint32_t n)
{
    uint32_t i, round;
    double sets;

    for (i = 0; i < n; i++) {
        sets = keel_plan_all_draws(run->layout->count[strata[i].level], strata[i].x);
        if ((strata[i].x == strata[i].x_last) && (strata[i].x <= KEEL_PLAN_SEPARATE) &&
            (sets <= (double)strata[i].draws) && (sets <= KEEL_PLAN_SETS_MAX)) {
            strata[i].share = keel_plan_enumerate(run, strata[i].level, (uint32_t)strata[i].x);
            /* minus the sets that were catastrophic before */
            if (keel_plan_is_alone(run, strata[i].level) && (strata[i].x > 1)) {
                strata[i].share -= keel_plan_enumerate(run, strata[i].level, (uint32_t)strata[i].x - 1);
            }
            strata[i].is_enumerated = 1;
            run->drawn += strata[i].draws;
        }
    }
    for (round = 1; round <= KEEL_PLAN_ROUNDS; round++) {
        for (i = 0; i < n; i++) {
            if (!strata[i].is_enumerated) {
                keel_plan_run_stratum(run, &strata[i], strata[i].draws >> (KEEL_PLAN_ROUNDS - round));
            }
        }
    }
}

static keel_plan_estimate_t keel_plan_share(const keel_plan_stratum_t *stratum)
{
    keel_plan_estimate_t share = {.value = stratum->share, .low = stratum->share, .high = stratum->share};

    if (!stratum->is_enumerated) {
        share = (keel_plan_estimate_t){.low = 0, .high = 1, .samples = stratum->drawn};
        if (stratum->drawn > 0) {
            share.value = (double)stratum->hits / (double)stratum->drawn;
            keel_plan_wilson((double)stratum->hits, (double)stratum->drawn, &share.low, &share.high);
        }
    }
    return share;
}

/* ---- all strata ---- */

/* Plans draws where they reduce the error most: by weight and by a guess at the spread. */
static uint32_t keel_plan_strata(keel_plan_run_t *run, uint64_t samples, keel_plan_stratum_t *strata)
{
    const keel_plan_layout_t *layout = run->layout;
    const double members = (double)layout->ranks / layout->group_count;
    uint32_t n = 0, j, i;
    double sum = 0, guess, score[KEEL_PLAN_LEVELS_MAX * (KEEL_PLAN_SEPARATE + 1)];
    uint64_t x;

    for (j = 0; j < layout->level_count; j++) {
        const keel_hazard_t *level = &run->machine->levels[j];
        for (x = 1; (x <= KEEL_PLAN_SEPARATE + 1) && (x <= level->count); x++) {
            const int is_last = (x == KEEL_PLAN_SEPARATE + 1);
            strata[n] = (keel_plan_stratum_t){.level = j,
                                              .x = x,
                                              .x_last = is_last ? level->count : x,
                                              .weight = is_last ? keel_failures_tail(level, x)
                                                                : keel_failures_probability(level, x)};
            guess = fmin((double)x * (double)x * members / (double)level->count, 0.5);
            score[n] = strata[n].weight * sqrt(guess * (1 - guess));
            sum += score[n];
            n += (strata[n].weight > 0);
        }
    }
    for (i = 0; i < n; i++) {
        strata[i].draws = KEEL_PLAN_DRAWS_MIN + (uint64_t)((double)samples * (sum > 0 ? score[i] / sum : 0));
        if ((strata[i].x == 1) && (strata[i].draws < layout->count[strata[i].level])) {
            strata[i].draws = layout->count[strata[i].level]; /* always enumerated */
        }
        run->planned += strata[i].draws;
    }
    return n;
}

static void keel_plan_add(keel_plan_estimate_t *sum, double weight, const keel_plan_estimate_t *share)
{
    sum->value += weight * share->value;
    /* square roots are taken at the end */
    sum->low += pow(weight * (share->value - share->low), 2);
    sum->high += pow(weight * (share->high - share->value), 2);
    sum->samples += share->samples;
}

static void keel_plan_close(keel_plan_estimate_t *sum)
{
    sum->low = fmin(fmax(sum->value - sqrt(sum->low), 0), 1);
    sum->high = fmin(sum->value + sqrt(sum->high), 1);
    sum->value = fmin(sum->value, 1);
}

int keel_plan_simulate(const keel_plan_machine_t *machine, const keel_plan_layout_t *layout, uint64_t samples,
                       keel_plan_random_t *random, const keel_plan_progress_t *progress, keel_plan_estimate_t *by_level,
                       keel_plan_estimate_t *estimate)
{
    keel_plan_run_t run = {.machine = machine, .layout = layout, .random = random, .progress = progress};
    keel_plan_stratum_t strata[KEEL_PLAN_LEVELS_MAX * (KEEL_PLAN_SEPARATE + 1)];
    keel_plan_estimate_t share, levels[KEEL_PLAN_LEVELS_MAX];
    uint32_t i, n;
    int rc = -1;

    memset(levels, 0, sizeof levels);
    memset(estimate, 0, sizeof *estimate);
    run.hits = keel_alloc(layout->group_count * sizeof *run.hits, "plan hits");
    run.hit_stamp = keel_alloc(layout->group_count * sizeof *run.hit_stamp, "plan hits");
    run.failed_stamp = keel_alloc(layout->count[0] * sizeof *run.failed_stamp, "plan failed");
    if ((run.hits == NULL) || (run.hit_stamp == NULL) || (run.failed_stamp == NULL)) {
        goto err_free;
    }
    n = keel_plan_strata(&run, samples, strata);
    keel_plan_run_strata(&run, strata, n);
    for (i = 0; i < n; i++) {
        share = keel_plan_share(&strata[i]);
        keel_plan_add(estimate, strata[i].weight, &share);
        keel_plan_add(&levels[strata[i].level], strata[i].weight, &share);
    }
    keel_plan_close(estimate);
    for (i = 0; (i < layout->level_count) && (by_level != NULL); i++) {
        keel_plan_close(&levels[i]);
        by_level[i] = levels[i];
    }
    rc = 0;
err_free:
    keel_free(run.hits);
    keel_free(run.hit_stamp);
    keel_free(run.failed_stamp);
    return rc;
}
