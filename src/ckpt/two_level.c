/* Numerical minimum of the time on two levels; the header has the derivation. */
#include "ckpt/two_level.h"

#include <math.h>

#define KEEL_TWO_LEVEL_GOLDEN 0.6180339887498949
/* Steps of a search: each leaves 0.62 or 0.5 of the range. */
#define KEEL_TWO_LEVEL_GOLDEN_STEPS 100
#define KEEL_TWO_LEVEL_BISECT_STEPS 60
/* range of intervals: from this part of the cost to this multiple of the MTBF */
#define KEEL_TWO_LEVEL_SHORTEST 1e-3
#define KEEL_TWO_LEVEL_LONGEST  20.0

/* h(s) of the header */
static double segment_hazard(const keel_two_level_t *params, double segment_s)
{
    const double covered = 1 / params->covered_mtbf_s, beyond = 1 / params->beyond_mtbf_s, all = covered + beyond;

    return log1p(beyond * expm1(all * segment_s) / (beyond + covered * exp(-all * params->recovery_s)));
}

/* Expected time of a segment without failures beyond parity. */
static double segment_time(const keel_two_level_t *params, double segment_s)
{
    const double covered = 1 / params->covered_mtbf_s;

    return exp(covered * params->recovery_s) * expm1(covered * segment_s) / covered;
}

double keel_two_level_time(const keel_two_level_t *params, double interval_s, double checkpoints)
{
    const double beyond = 1 / params->beyond_mtbf_s, all = beyond + 1 / params->covered_mtbf_s;
    const double segment_s = interval_s + params->cost_s;
    const double hazard = segment_hazard(params, segment_s);
    const double slowed = segment_hazard(params, segment_s + params->set_cost_s);
    double time_s;

    if (beyond == 0) {
        time_s =
            (checkpoints - 1) * segment_time(params, segment_s) + segment_time(params, segment_s + params->set_cost_s);
    } else {
        time_s = exp(beyond * params->set_time_s) * (1 / beyond + expm1(all * params->restart_s) / all) *
                 (expm1(checkpoints * hazard) - expm1(hazard - slowed));
    }
    /* NaN: a product of 0 and infinity */
    return isnan(time_s) ? INFINITY : time_s / (checkpoints * interval_s);
}

/* 1 - (1 - x) exp(x) for x up to 1, as a series without cancellation */
static double rest_of_product(double x)
{
    double term = x, sum = 0;

    for (int n = 2; n < 24; n++) {
        term *= x / n;
        sum += term * (n - 1);
    }
    return sum;
}

/* The best real number of checkpoints, between what the time of a set allows and the maximum. */
static double real_checkpoints(const keel_two_level_t *params, double interval_s)
{
    const double segment_s = interval_s + params->cost_s;
    const double hazard = segment_hazard(params, segment_s);
    const double slowed = segment_hazard(params, segment_s + params->set_cost_s);
    const double least = fmin(fmax(1, params->set_time_s / segment_s), KEEL_TWO_LEVEL_CHECKPOINTS_MAX);
    double low = 0, high = 1;

    if (hazard == 0) {
        return KEEL_TWO_LEVEL_CHECKPOINTS_MAX;
    }
    for (int i = 0; i < KEEL_TWO_LEVEL_BISECT_STEPS; i++) {
        const double x = (low + high) / 2;

        if (rest_of_product(x) < -expm1(hazard - slowed)) {
            low = x;
        } else {
            high = x;
        }
    }
    return fmax(least, fmin(high / hazard, KEEL_TWO_LEVEL_CHECKPOINTS_MAX));
}

uint32_t keel_two_level_checkpoints(const keel_two_level_t *params, double interval_s)
{
    const double real = real_checkpoints(params, interval_s), below = floor(real), above = ceil(real);
    const int is_complete = below * (interval_s + params->cost_s) >= params->set_time_s;

    return (uint32_t)((is_complete &&
                       keel_two_level_time(params, interval_s, below) <= keel_two_level_time(params, interval_s, above))
                          ? below
                          : above);
}

/* The time with @a checkpoints; 0: with the best real number of checkpoints. */
static double time_with(const keel_two_level_t *params, double interval_s, double checkpoints)
{
    if (checkpoints == 0) {
        return keel_two_level_time(params, interval_s, real_checkpoints(params, interval_s));
    }
    return keel_two_level_time(params, interval_s, checkpoints);
}

/* The best interval with @a checkpoints; 0: with the best real number for each interval.
 * From complete_s on, a set is complete before the next one begins. */
static double best_interval(const keel_two_level_t *params, double checkpoints)
{
    const double all = 1 / params->covered_mtbf_s + 1 / params->beyond_mtbf_s;
    const double complete_s = (checkpoints > 0) ? params->set_time_s / checkpoints - params->cost_s : 0;
    double low = log(fmax(fmax(params->cost_s * KEEL_TWO_LEVEL_SHORTEST, params->least_s), complete_s));
    double high = fmax(low, log(KEEL_TWO_LEVEL_LONGEST / all));
    double left = high - KEEL_TWO_LEVEL_GOLDEN * (high - low), right = low + KEEL_TWO_LEVEL_GOLDEN * (high - low);
    double at_left = time_with(params, exp(left), checkpoints), at_right = time_with(params, exp(right), checkpoints);

    for (int i = 0; i < KEEL_TWO_LEVEL_GOLDEN_STEPS; i++) {
        if (at_left <= at_right) { /* both infinite: the interval is too long */
            high = right;
            right = left;
            at_right = at_left;
            left = high - KEEL_TWO_LEVEL_GOLDEN * (high - low);
            at_left = time_with(params, exp(left), checkpoints);
        } else {
            low = left;
            left = right;
            at_left = at_right;
            right = low + KEEL_TWO_LEVEL_GOLDEN * (high - low);
            at_right = time_with(params, exp(right), checkpoints);
        }
    }
    return exp((low + high) / 2);
}

void keel_two_level_best(const keel_two_level_t *params, double *interval_p, uint32_t *checkpoints_p)
{
    const double real = real_checkpoints(params, best_interval(params, 0));
    const double below = floor(real), above = ceil(real);
    const double below_s = best_interval(params, below), above_s = best_interval(params, above);
    const int is_below = keel_two_level_time(params, below_s, below) <= keel_two_level_time(params, above_s, above);

    *interval_p = is_below ? below_s : above_s;
    *checkpoints_p = (uint32_t)(is_below ? below : above);
}
