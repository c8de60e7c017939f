/*
 * The argument. A failure of level j hits h of the group's elements at the rate r_j(h), the sum
 * over x of P_j(x) times the hypergeometric share, and takes at most h * share_j members. Failures
 * arrive independently, so a failure finds the results of the window before:
 * - failures of a single element of the group (h = 1) reach each element as a separate Poisson
 * process, so the other elements have failed independently with 1 - exp(-rate * window): a binomial
 * number;
 * - failures of several elements (h > 1) are a Poisson number for each h.
 * The sum over j and h of r_j(h) P(members lost before + h * share_j > m) counts every catastrophe
 * of more than one failure at least once: at its last failure. Double losses of a member, failures
 * after a catastrophe, and groups with fewer elements than given only increase the sum. All sums
 * have positive terms, so small sums are accurate.
 */
#include "tools/topo/overlap.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

/* more simultaneous failures are a catastrophe by themselves (reliability.c) */
#define KEEL_OVERLAP_X_MAX   4096
#define KEEL_OVERLAP_PRECISE 1e-18 /* relative error of truncated sums */

/* Distribution of the number of lost members: [i] for i, the last entry for at least as many. */
typedef struct keel_overlap_sum {
    double p[KEEL_OVERLAP_PARITIES_MAX + 2];
} keel_overlap_sum_t;

typedef struct keel_overlap_rates {
    double rate[KEEL_OVERLAP_PARITIES_MAX + 1]; /* r_j(h), a day */
} keel_overlap_rates_t;

static void keel_overlap_rates(const keel_overlap_level_t *level, uint64_t parities, keel_overlap_rates_t *rates)
{
    const uint64_t count = level->hazard->count;
    const uint64_t x_max = (count < KEEL_OVERLAP_X_MAX) ? count : KEEL_OVERLAP_X_MAX;
    uint64_t x, h;
    double p, sum = 0;

    memset(rates, 0, sizeof *rates);
    if (level->hazard->failures.kind == KEEL_FAILURES_ELEMENT) {
        rates->rate[1] = (double)level->elements * (KEEL_DAY_S / level->hazard->failures.mtbf_s);
        return;
    }
    for (x = 1; (x <= x_max) && (keel_failures_tail(level->hazard, x) > sum * KEEL_OVERLAP_PRECISE); x++) {
        p = keel_failures_probability(level->hazard, x);
        sum += p;
        for (h = 1; (h <= x) && (h <= level->elements) && (h * level->share <= parities); h++) {
            rates->rate[h] += p * keel_hypergeometric(count, level->elements, x, h);
        }
    }
}

/*
 * Adds a random multiple of @a step members, with the probabilities @a number; the last entry of
 * number is for at least as many.
 */
static void keel_overlap_add(keel_overlap_sum_t *sum, uint64_t most, uint64_t step, const double *number, uint64_t last)
{
    keel_overlap_sum_t result = {{0}};
    uint64_t i, n;

    for (i = 0; i <= most; i++) {
        for (n = 0; n <= last; n++) {
            result.p[(i + n * step < most) ? i + n * step : most] += sum->p[i] * number[n];
        }
    }
    *sum = result;
}

/* Adds elements that have each failed with probability q. */
static void keel_overlap_add_binomial(keel_overlap_sum_t *sum, uint64_t most, uint64_t step, uint64_t elements,
                                      double q)
{
    double number[KEEL_OVERLAP_PARITIES_MAX + 2] = {0}, term;
    const uint64_t last = (most + step - 1) / step;
    uint64_t n;

    for (n = 0; n < last; n++) {
        number[n] = keel_binomial(elements, n, q);
    }
    for (n = last; n <= elements; n++) {
        term = keel_binomial(elements, n, q);
        number[last] += term;
        if (((double)n > q * (double)elements) && (term <= number[last] * KEEL_OVERLAP_PRECISE)) {
            break;
        }
    }
    keel_overlap_add(sum, most, step, number, last);
}

static void keel_overlap_add_poisson(keel_overlap_sum_t *sum, uint64_t most, uint64_t step, double mean)
{
    double number[KEEL_OVERLAP_PARITIES_MAX + 2] = {0}, term = exp(-mean);
    const uint64_t last = (most + step - 1) / step;
    uint64_t n;

    for (n = 0; (n < last) || ((double)n <= mean) || (term > number[last] * KEEL_OVERLAP_PRECISE); n++) {
        number[(n < last) ? n : last] += term;
        term *= mean / (double)(n + 1);
    }
    keel_overlap_add(sum, most, step, number, last);
}

/* Probability that an element has failed alone within the window. */
static double keel_overlap_risk(const keel_overlap_level_t *level, const keel_overlap_rates_t *rates, double window_s)
{
    return -expm1(-rates->rate[1] / (double)level->elements * (window_s / KEEL_DAY_S));
}

/* Sums the losses in the window, except single failures of level j's elements. */
static void keel_overlap_before(const keel_overlap_level_t *levels, const keel_overlap_rates_t *rates, uint32_t count,
                                uint32_t j, uint64_t most, double window_s, keel_overlap_sum_t *sum)
{
    uint32_t i;
    uint64_t h;

    *sum = (keel_overlap_sum_t){{1}};
    for (i = 0; i < count; i++) {
        if (i != j) {
            keel_overlap_add_binomial(sum, most, levels[i].share, levels[i].elements,
                                      keel_overlap_risk(&levels[i], &rates[i], window_s));
        }
        for (h = 2; h <= KEEL_OVERLAP_PARITIES_MAX; h++) {
            if (rates[i].rate[h] > 0) {
                keel_overlap_add_poisson(sum, most, h * levels[i].share, rates[i].rate[h] * (window_s / KEEL_DAY_S));
            }
        }
    }
}

keel_status_t keel_overlap_rate(const keel_overlap_level_t *levels, uint32_t level_count, uint64_t parities,
                                double window_s, double *rate_p)
{
    const uint64_t most = parities + 1;
    keel_overlap_sum_t before, all;
    keel_overlap_rates_t *rates;
    uint64_t h, lost;
    uint32_t j;

    *rate_p = 0;
    if (parities > KEEL_OVERLAP_PARITIES_MAX) {
        return KEEL_ERR_INVALID_PARAM;
    }
    rates = keel_alloc(level_count * sizeof *rates, "overlap");
    if (rates == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    for (j = 0; j < level_count; j++) {
        keel_overlap_rates(&levels[j], parities, &rates[j]);
    }
    for (j = 0; j < level_count; j++) {
        const double risk = keel_overlap_risk(&levels[j], &rates[j], window_s);
        keel_overlap_before(levels, rates, level_count, j, most, window_s, &before);
        for (h = 1; (h <= levels[j].elements) && (h * levels[j].share <= parities); h++) {
            if (rates[j].rate[h] > 0) {
                /* the elements that fail now have not failed before: no member is lost twice */
                all = before;
                keel_overlap_add_binomial(&all, most, levels[j].share, levels[j].elements - h, risk);
                for (lost = most - h * levels[j].share; lost <= most; lost++) {
                    *rate_p += rates[j].rate[h] * all.p[lost];
                }
            }
        }
    }
    keel_free(rates);
    return KEEL_OK;
}
