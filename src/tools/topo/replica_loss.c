/*
 * The paper's formula is an alternating sum (inclusion and exclusion over the groups). Its j-th
 * term is at most mu^j / j!, with mu the expected number of lost groups, since failures without
 * replacement are negatively associated; for the same reason, no group is lost with a probability
 * of at most exp(-mu). So with 113 bits of mantissa the sum is accurate to 1e-14 for mu <= 40, and
 * beyond that the answer is 1 to 17 digits.
 *
 * If r does not divide p, p mod r groups have r + 1 processes, or all groups have more in a job of
 * few processes. Few processes are counted. Of many, the larger groups are counted, and the
 * failures among their processes are drawn by the hypergeometric distribution; the formula has the
 * others.
 */
#include "tools/topo/replica_loss.h"
#include "tools/topo/replica_sets.h"

#include "base/memory.h"

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
            (replicas->processes >= replicas->replicas) &&
            ((replicas->processes % replicas->replicas == 0) || (replicas->replicas <= KEEL_REPLICA_SETS_COPIES)))
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

/* Number of groups that have one process more than replicas. */
static uint64_t keel_replicas_large(const keel_replicas_t *replicas)
{
    return replicas->processes % replicas->replicas;
}

/* True if the processes are counted. */
static int keel_replicas_is_counted(const keel_replicas_t *replicas)
{
    return (keel_replicas_large(replicas) > 0) && (replicas->processes <= KEEL_REPLICA_SETS_RANKS_MAX);
}

/* Tables of keel_replica_sets_table(), to be freed; NULL: no memory. */
static double *keel_replicas_table(uint64_t processes, uint64_t groups, uint64_t replicas)
{
    double *lost = keel_alloc(2 * (processes + 1) * sizeof *lost, "probabilities of loss");

    if ((lost != NULL) &&
        (keel_replica_sets_table(processes, groups, replicas, lost, lost + processes + 1) != KEEL_OK)) {
        keel_free(lost);
        lost = NULL;
    }
    return lost;
}

static double keel_replicas_counted(const keel_replicas_t *replicas, uint64_t failures, int is_lost)
{
    const uint64_t p = replicas->processes, f = failures < p ? failures : p;
    double *table = keel_replicas_table(p, p / replicas->replicas, replicas->replicas);
    const double value = (table == NULL) ? NAN : table[is_lost ? f : p + 1 + f];

    keel_free(table);
    return value;
}

static keel_wide_t keel_replicas_sum_divided(const keel_replicas_t *replicas, keel_wide_t f)
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

/* Over the number k of failures among the processes of the larger groups. */
static keel_wide_t keel_replicas_sum_mixed(const keel_replicas_t *replicas, keel_wide_t f)
{
    const uint64_t r = replicas->replicas, large = keel_replicas_large(replicas), size = large * (r + 1);
    const keel_replicas_t rest = {replicas->processes - size, r};
    const keel_wide_t p = (keel_wide_t)replicas->processes, z = (keel_wide_t)size;
    double *lost = keel_replicas_table(size, large, r);
    keel_wide_t share = 1, sum = 0;

    if ((lost == NULL) || (f > p - z)) {
        keel_free(lost);
        return (lost == NULL) ? (keel_wide_t)NAN : 1;
    }
    for (uint64_t i = 0; i < size; i++) {
        share *= (p - f - (keel_wide_t)i) / (p - (keel_wide_t)i);
    }
    for (uint64_t i = 0; (i <= size) && ((keel_wide_t)i <= f); i++) {
        const keel_wide_t k = (keel_wide_t)i;

        sum +=
            share * ((keel_wide_t)lost[i] + (keel_wide_t)lost[size + 1 + i] * keel_replicas_sum_divided(&rest, f - k));
        share *= (z - k) * (f - k) / ((k + 1) * (p - z - f + k + 1));
    }
    keel_free(lost);
    return sum;
}

static keel_wide_t keel_replicas_sum(const keel_replicas_t *replicas, keel_wide_t f)
{
    return (keel_replicas_large(replicas) == 0) ? keel_replicas_sum_divided(replicas, f)
                                                : keel_replicas_sum_mixed(replicas, f);
}

double keel_replicas_loss(const keel_replicas_t *replicas, uint64_t failures)
{
    if (keel_replicas_is_counted(replicas)) {
        return keel_replicas_counted(replicas, failures, 1);
    }
    const double sum = (double)keel_replicas_sum(
        replicas, (keel_wide_t)(failures < replicas->processes ? failures : replicas->processes));

    return (sum < 1) ? sum : 1;
}

double keel_replicas_survival(const keel_replicas_t *replicas, uint64_t failures)
{
    if (keel_replicas_is_counted(replicas)) {
        return keel_replicas_counted(replicas, failures, 0);
    }
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
    difference = keel_replicas_is_counted(replicas)
                     ? keel_replicas_loss(replicas, failures) - keel_replicas_loss(replicas, failures - 1)
                     : (double)(keel_replicas_sum(replicas, (keel_wide_t)failures) -
                                keel_replicas_sum(replicas, (keel_wide_t)(failures - 1)));
    return (difference > 0) ? difference : 0;
}

/* Numbers of r processes that hold the same data. */
static double keel_replicas_groups(const keel_replicas_t *replicas)
{
    const uint64_t p = replicas->processes, r = replicas->replicas, groups = p / r, more = p % groups;

    return (double)((p / groups == r) ? groups - more + more * (r + 1) : p);
}

double keel_replicas_loss_approximate(const keel_replicas_t *replicas, uint64_t failures)
{
    const double p = (double)replicas->processes, r = (double)replicas->replicas;

    return keel_replicas_groups(replicas) * pow((double)failures / p, r);
}

double keel_replicas_failures_approximate(const keel_replicas_t *replicas)
{
    const double p = (double)replicas->processes, r = (double)replicas->replicas;

    return p * pow(1 / keel_replicas_groups(replicas), 1 / r);
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
    const keel_wide_t groups = (keel_wide_t)(replicas->processes / replicas->replicas - keel_replicas_large(replicas));
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

static double keel_replicas_expected_counted(const keel_replicas_t *replicas)
{
    const uint64_t p = replicas->processes;
    double *table = keel_replicas_table(p, p / replicas->replicas, replicas->replicas);
    double sum = (table == NULL) ? NAN : 0;

    for (uint64_t f = 0; (table != NULL) && (f <= p); f++) {
        sum += table[p + 1 + f];
    }
    keel_free(table);
    return sum;
}

/*
 * E[F] is the sum over f >= 0 of P(F > f); by Euler and Maclaurin, the integral misses half the
 * first value.
 */
double keel_replicas_failures_expected(const keel_replicas_t *replicas)
{
    const uint64_t end = keel_replicas_is_counted(replicas) ? 0 : keel_replicas_end(replicas);
    double sum = 0;
    uint64_t f;

    if (keel_replicas_is_counted(replicas)) {
        return keel_replicas_expected_counted(replicas);
    }
    if (end > KEEL_REPLICAS_ONE_BY_ONE) {
        return keel_replicas_integral(replicas, (double)end) + 0.5;
    }
    for (f = 0; f < end; f++) {
        sum += keel_replicas_survival(replicas, f);
    }
    return sum;
}
