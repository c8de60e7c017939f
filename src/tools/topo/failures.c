#include "tools/topo/failures.h"

#include <math.h>

#define KEEL_FAILURES_PRECISE 1e-17 /* relative error of truncated sums */

uint64_t keel_hazard_used(const keel_hazard_t *level)
{
    return (level->used > 0) ? level->used : level->count;
}

static long double keel_log_choose(uint64_t n, uint64_t x)
{
    int sign;

    return lgammal_r((long double)n + 1, &sign) - lgammal_r((long double)x + 1, &sign) -
           lgammal_r((long double)(n - x) + 1, &sign);
}

double keel_binomial(uint64_t n, uint64_t x, double q)
{
    if (x > n) {
        return 0;
    }
    if ((q >= 1) || (q <= 0)) {
        return x == ((q >= 1) ? n : 0);
    }
    return (double)expl(keel_log_choose(n, x) + (long double)x * logl(q) + (long double)(n - x) * log1pl(-q));
}

double keel_hypergeometric(uint64_t all, uint64_t part, uint64_t x, uint64_t hits)
{
    if ((x > all) || (hits > part) || (hits > x) || (x - hits > all - part)) {
        return 0;
    }
    return (double)expl(keel_log_choose(part, hits) + keel_log_choose(all - part, x - hits) - keel_log_choose(all, x));
}

/* ---- elements that fail alone ---- */

/* Probability that an element has failed within the last window. */
static double keel_failures_window_risk(const keel_failures_t *failures)
{
    return -expm1(-failures->window_s / failures->mtbf_s);
}

/* Rate at which elements go away: a repeated failure within the window does not count. */
static double keel_failures_element_rate(const keel_hazard_t *level)
{
    return (double)level->count * (KEEL_DAY_S / level->failures.mtbf_s) *
           exp(-level->failures.window_s / level->failures.mtbf_s);
}

/*
 * Sums P(x) for x >= from. Beyond the mean the terms fall faster than any geometric series; below
 * the mean the tail is most of the whole.
 */
static double keel_failures_element_tail(const keel_hazard_t *level, uint64_t from)
{
    const double q = keel_failures_window_risk(&level->failures), any = keel_failures_element_rate(level);
    const uint64_t others = level->count - 1;
    double term, sum = 0;
    uint64_t x;

    if ((double)from <= q * (double)others + 1) {
        for (x = 1; x < from; x++) {
            sum += keel_failures_probability(level, x);
        }
        return (sum < any) ? any - sum : 0;
    }
    term = keel_failures_probability(level, from);
    for (x = from; (x <= level->count) && (term > sum * KEEL_FAILURES_PRECISE); x++) {
        sum += term;
        term *= (double)(others - (x - 1)) / (double)x * (q / (1 - q));
    }
    return sum;
}

/* ---- all kinds ---- */

double keel_failures_probability(const keel_hazard_t *level, uint64_t x)
{
    const keel_failures_t *failures = &level->failures;

    if ((x == 0) || (x > level->count)) {
        return 0;
    }
    switch (failures->kind) {
    case KEEL_FAILURES_FIT:
        return failures->scale * exp(-failures->decay * (double)x);
    case KEEL_FAILURES_TABLE:
        return (x <= failures->table_len) ? failures->table[x - 1] : 0;
    case KEEL_FAILURES_ELEMENT:
        return keel_failures_element_rate(level) *
               keel_binomial(level->count - 1, x - 1, keel_failures_window_risk(failures));
    }
    return 0;
}

double keel_failures_tail(const keel_hazard_t *level, uint64_t from)
{
    const keel_failures_t *failures = &level->failures;
    const uint64_t first = (from > 0) ? from : 1;
    double sum = 0;
    uint64_t x;

    if (first > level->count) {
        return 0;
    }
    switch (failures->kind) {
    case KEEL_FAILURES_FIT:
        return failures->scale * exp(-failures->decay * (double)first) *
               expm1(-failures->decay * (double)(level->count - first + 1)) / expm1(-failures->decay);
    case KEEL_FAILURES_TABLE:
        for (x = first; (x <= failures->table_len) && (x <= level->count); x++) {
            sum += failures->table[x - 1];
        }
        return sum;
    case KEEL_FAILURES_ELEMENT:
        return keel_failures_element_tail(level, first);
    }
    return 0;
}

/* Rate of failures that hit the job: x failures miss the job if all are among unused elements. */
double keel_failures_of_job(const keel_hazard_t *level)
{
    const uint64_t used = keel_hazard_used(level), unused = level->count - used;
    double missed = 1, sum = 0;
    uint64_t x;

    if (level->failures.kind == KEEL_FAILURES_ELEMENT) {
        return (double)used * (KEEL_DAY_S / level->failures.mtbf_s);
    }
    for (x = 1; x <= level->count; x++) {
        missed *= (x <= unused) ? (double)(unused - x + 1) / (double)(level->count - x + 1) : 0;
        sum += keel_failures_probability(level, x) * (1 - missed);
        if ((missed < KEEL_FAILURES_PRECISE) || (keel_failures_tail(level, x + 1) <= sum * KEEL_FAILURES_PRECISE)) {
            return sum + keel_failures_tail(level, x + 1);
        }
    }
    return sum;
}
