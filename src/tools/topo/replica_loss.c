/*
 * The paper's formula is an alternating sum (inclusion and exclusion over the groups). Its j-th
 * term is at most mu^j / j!, with mu the expected number of lost groups, since failures without
 * replacement are negatively associated; for the same reason, no group is lost with a probability
 * of at most exp(-mu). So with 113 bits of mantissa the sum is accurate to 1e-14 for mu <= 40, and
 * beyond that the answer is 1 to 17 digits.
 */
#include "tools/topo/replica_loss.h"

#include <float.h>
#include <math.h>

#if LDBL_MANT_DIG >= 113
typedef long double keel_wide_t;
#else
typedef __float128 keel_wide_t;
#endif

#define KEEL_REPLICAS_MU_MAX     40.0
#define KEEL_REPLICAS_P_MAX      ((uint64_t)1 << 40)
#define KEEL_REPLICAS_ONE_BY_ONE 4096 /* largest count of values of f to sum; more are integrated */
#define KEEL_REPLICAS_PANELS     256

keel_status_t keel_replicas_check(const keel_replicas_t *replicas)
{
    return ((replicas->replicas > 0) && (replicas->processes > 0) && (replicas->processes <= KEEL_REPLICAS_P_MAX) &&
            (replicas->processes % replicas->replicas == 0))
               ? KEEL_OK
               : KEEL_ERR_INVALID_PARAM;
}

/*
 * Probability that r given processes of p are among f failed processes; for integer f < r a factor
 * is 0.
 */
static keel_wide_t keel_replicas_group(keel_wide_t p, keel_wide_t f, uint64_t r)
{
    keel_wide_t product = 1;
    uint64_t i;

    if (f < 0) {
        return 0;
    }
    for (i = 0; i < r; i++) {
        product *= (f - (keel_wide_t)i) / (p - (keel_wide_t)i);
    }
    return product;
}

static keel_wide_t keel_replicas_sum(const keel_replicas_t *replicas, keel_wide_t f)
{
    const keel_wide_t p = (keel_wide_t)replicas->processes;
    const uint64_t r = replicas->replicas;
    const uint64_t groups = replicas->processes / r;
    keel_wide_t term, sum;
    uint64_t j;

    term = (keel_wide_t)groups * keel_replicas_group(p, f, r);
    if (term > (keel_wide_t)KEEL_REPLICAS_MU_MAX) {
        return 1;
    }
    sum = term;
    for (j = 1; (j < groups) && (term != 0); j++) {
        term *= -(keel_wide_t)(groups - j) / (keel_wide_t)(j + 1) *
                keel_replicas_group(p - (keel_wide_t)(j * r), f - (keel_wide_t)(j * r), r);
        sum += term;
        if ((double)(term < 0 ? -term : term) <= 1e-36 * (double)(sum < 0 ? -sum : sum)) {
            break;
        }
    }
    return sum;
}

double keel_replicas_loss(const keel_replicas_t *replicas, uint64_t failures)
{
    const double sum = (double)keel_replicas_sum(
        replicas, (keel_wide_t)(failures < replicas->processes ? failures : replicas->processes));

    return (sum < 1) ? sum : 1;
}

double keel_replicas_survival(const keel_replicas_t *replicas, uint64_t failures)
{
    const double rest =
        (double)(1 - keel_replicas_sum(replicas,
                                       (keel_wide_t)(failures < replicas->processes ? failures : replicas->processes)));

    return (rest > 0) ? rest : 0;
}

double keel_replicas_loss_at(const keel_replicas_t *replicas, uint64_t failures)
{
    double difference;

    if ((failures == 0) || (failures > replicas->processes)) {
        return 0;
    }
    difference = (double)(keel_replicas_sum(replicas, (keel_wide_t)failures) -
                          keel_replicas_sum(replicas, (keel_wide_t)(failures - 1)));
    return (difference > 0) ? difference : 0;
}

double keel_replicas_loss_approximate(const keel_replicas_t *replicas, uint64_t failures)
{
    const double p = (double)replicas->processes, r = (double)replicas->replicas;

    return p / r * pow((double)failures / p, r);
}

double keel_replicas_failures_approximate(const keel_replicas_t *replicas)
{
    const double p = (double)replicas->processes, r = (double)replicas->replicas;

    return p * pow(r / p, 1 / r);
}

/* ---- expectation ---- */

/* Gauss-Legendre of order 8 */
static const double keel_replicas_nodes[] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267,
                                             0.9602898564975363};
static const double keel_replicas_weights[] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745,
                                               0.1012285362903763};

static double keel_replicas_integral(const keel_replicas_t *replicas, double end)
{
    const double half = end / KEEL_REPLICAS_PANELS / 2;
    double sum = 0, middle;
    int panel, i;

    for (panel = 0; panel < KEEL_REPLICAS_PANELS; panel++) {
        middle = half * (2 * panel + 1);
        for (i = 0; i < 4; i++) {
            sum += keel_replicas_weights[i] *
                   ((double)(1 - keel_replicas_sum(replicas, (keel_wide_t)(middle - half * keel_replicas_nodes[i]))) +
                    (double)(1 - keel_replicas_sum(replicas, (keel_wide_t)(middle + half * keel_replicas_nodes[i]))));
        }
    }
    return sum * half;
}

/* the first f at which survival is below exp(-KEEL_REPLICAS_MU_MAX) */
static uint64_t keel_replicas_end(const keel_replicas_t *replicas)
{
    const keel_wide_t p = (keel_wide_t)replicas->processes;
    const keel_wide_t groups = p / (keel_wide_t)replicas->replicas;
    uint64_t low = 0, high = replicas->processes, middle;

    while (low < high) {
        middle = low + (high - low) / 2;
        if (groups * keel_replicas_group(p, (keel_wide_t)middle, replicas->replicas) >
            (keel_wide_t)KEEL_REPLICAS_MU_MAX) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/*
 * E[F] is the sum over f >= 0 of P(F > f); by Euler and Maclaurin, the integral misses half the
 * first value.
 */
double keel_replicas_failures_expected(const keel_replicas_t *replicas)
{
    const uint64_t end = keel_replicas_end(replicas);
    double sum = 0;
    uint64_t f;

    if (end > KEEL_REPLICAS_ONE_BY_ONE) {
        return keel_replicas_integral(replicas, (double)end) + 0.5;
    }
    for (f = 0; f < end; f++) {
        sum += keel_replicas_survival(replicas, f);
    }
    return sum;
}
