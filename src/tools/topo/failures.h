/*
 * Rates of simultaneous failures of a machine's elements: P_j(x) of [F 5.2], x elements of level j,
 * per day. Pure computation.
 *
 * If only the rate of single elements is known (KEEL_FAILURES_ELEMENT), each fails alone, and the
 * elements that failed within the last window_s are away; no fixed windows are used. Then P_j(x) is
 * the rate at which an element goes away while x - 1 others are away: a catastrophe only if the x
 * elements are one and the x - 1 were not.
 */
#ifndef KEEL_TOOLS_TOPO_FAILURES_H_
#define KEEL_TOOLS_TOPO_FAILURES_H_

#include <stdint.h>

#define KEEL_DAY_S 86400.0

typedef enum {
    KEEL_FAILURES_FIT,    /* scale * exp(-decay * x) [F 7.1] */
    KEEL_FAILURES_TABLE,  /* for x = 1, 2, ...; 0 beyond */
    KEEL_FAILURES_ELEMENT /* elements fail alone, each once in mtbf_s */
} keel_failures_kind_t;

typedef struct keel_failures {
    keel_failures_kind_t kind;
    double scale, decay;
    const double *table;
    uint32_t table_len;
    double mtbf_s, window_s;
} keel_failures_t;

typedef struct keel_hazard {
    uint64_t count; /* H_j: elements of the level */
    keel_failures_t failures;
    uint64_t used; /* elements with ranks of the job; 0: all */
} keel_hazard_t;

/* P_j(x), expected per day: may exceed 1. */
double keel_failures_probability(const keel_hazard_t *level, uint64_t x);
/* Sum of P_j(x) for x >= from. */
double keel_failures_tail(const keel_hazard_t *level, uint64_t from);
/* Failures per day of elements with ranks of the job. */
double keel_failures_of_job(const keel_hazard_t *level);
uint64_t keel_hazard_used(const keel_hazard_t *level);

/* C(n, x) q^x (1 - q)^(n - x) */
double keel_binomial(uint64_t n, uint64_t x, double q);
/* Probability that x of @a all elements include exactly @a hits of the @a part. */
double keel_hypergeometric(uint64_t all, uint64_t part, uint64_t x, uint64_t hits);

#endif
