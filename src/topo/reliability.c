/*
 * Probabilities here go down to 1e-20 and below, so nothing is computed as 1 - p of a small p and no ratio of binomials
 * by its factorials: ratios are products of their factors, and the exact count sums positive terms only.
 */
#include "topo/reliability.h"

#include "base/memory.h"

#include <assert.h>
#include <math.h>

#define KEEL_DAY_S               86400.0
#define KEEL_RELIABILITY_X_MAX   4096   /* concurrent failures looked at one by one; more count as catastrophic */
#define KEEL_RELIABILITY_NOTHING 1e-20  /* of a sum */
#define KEEL_RELIABILITY_SMALL   1e-100 /* below it products are computed anew, from factors */
#define KEEL_RELIABILITY_MU_MAX  40.0
#define KEEL_RELIABILITY_PRECISE 1e-15 /* relative; what is left out is less */

/* ---- how many fail ------------------------------------------------------------------------------------------ */

/* C(n, x) q^x (1 - q)^(n - x) */
static double keel_binomial(uint64_t n, uint64_t x, double q)
{
    const long double size = n, hits = x;
    int sign;

    if (q >= 1) {
        return x == n;
    }
    return (double)expl(lgammal_r(size + 1, &sign) - lgammal_r(hits + 1, &sign) - lgammal_r(size - hits + 1, &sign) +
                        hits * logl(q) + (size - hits) * log1pl(-q));
}

static double keel_failures_window_risk(const keel_failures_t *failures)
{
    return -expm1(-failures->window_s / failures->mtbf_s);
}

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
        return KEEL_DAY_S / failures->window_s * keel_binomial(level->count, x, keel_failures_window_risk(failures));
    }
    return 0;
}

/* beyond the mean the terms fall faster than any geometric series; before it the tail is most of the whole */
static double keel_failures_element_tail(const keel_hazard_t *level, uint64_t from)
{
    const keel_failures_t *failures = &level->failures;
    const double q = keel_failures_window_risk(failures);
    const double any =
        KEEL_DAY_S / failures->window_s * -expm1(-(double)level->count * failures->window_s / failures->mtbf_s);
    double term, sum = 0;
    uint64_t x;

    if ((double)from <= q * (double)level->count + 1) {
        for (x = 1; x < from; x++) {
            sum += keel_failures_probability(level, x);
        }
        return (sum < any) ? any - sum : 0;
    }
    term = keel_failures_probability(level, from);
    for (x = from; (x <= level->count) && (term > sum * 1e-18); x++) {
        sum += term;
        term *= (double)(level->count - x) / (double)(x + 1) * (q / (1 - q));
    }
    return sum;
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

/* ---- whether that is a catastrophe -------------------------------------------------------------------------- */

keel_status_t keel_reliability_spread(uint64_t count, uint64_t group_size, uint64_t parities, uint64_t *elements_p,
                                      uint64_t *deaths_p)
{
    uint64_t elements, share;

    if ((count == 0) || (parities == 0) || (parities >= group_size)) {
        return KEEL_ERR_INVALID_PARAM;
    }
    elements = (group_size < count) ? group_size : count;
    share = (group_size + elements - 1) / elements; /* members on the fullest element */
    if (share > parities) {
        return KEEL_ERR_GROUPS;
    }
    *elements_p = elements;
    *deaths_p = parities / share + 1;
    return KEEL_OK;
}

uint64_t keel_reliability_classes(uint64_t count, uint64_t elements)
{
    return (count + elements - 1) / elements;
}

double keel_reliability_bound(uint64_t count, uint64_t classes, uint64_t elements, uint64_t deaths, uint64_t x)
{
    double bound = (double)classes;
    uint64_t i;

    if (x < deaths) {
        return 0;
    }
    for (i = 0; i < deaths; i++) {
        bound *= (double)(elements - i) / (double)(i + 1) * ((double)(x - i) / (double)(count - i));
    }
    return (bound < 1) ? bound : 1;
}

/* the probability that the least possible number of the class's elements, @a least, is among r failed ones of rest */
static double keel_reliability_least(uint64_t size, uint64_t rest, uint64_t r, uint64_t least)
{
    const uint64_t alive = rest - r;
    double h = 1;
    uint64_t i;

    if (least > 0) { /* all others failed: the alive ones are all of the class */
        for (i = 0; i < alive; i++) {
            h *= (double)(size - i) / (double)(rest - i);
        }
    } else if (size < r) {
        for (i = 0; i < size; i++) {
            h *= (double)(alive - i) / (double)(rest - i);
        }
    } else {
        for (i = 0; i < r; i++) {
            h *= (double)(rest - size - i) / (double)(rest - i);
        }
    }
    return h;
}

/*
 * The first class has size of the rest elements, r of which failed: the probability of a catastrophe in it or, with what
 * is left of the failures, in the later ones (@a later by their number; NULL: not there). @a h: keel_reliability_least().
 */
static double keel_reliability_class(uint64_t size, uint64_t rest, uint64_t r, uint64_t deaths, double h,
                                     const double *later)
{
    const uint64_t least = (r > rest - size) ? r - (rest - size) : 0;
    const uint64_t most = (r < size) ? r : size;
    double sum = 0;
    uint64_t i;

    if (least >= deaths) {
        return 1;
    }
    for (i = least; i <= most; i++) {
        sum += h * ((i >= deaths) ? 1 : (later != NULL) ? later[r - i] : 0);
        if ((i >= deaths) && ((double)(i * (rest - r)) > (double)(size * r)) && (h < sum * KEEL_RELIABILITY_NOTHING)) {
            break; /* beyond the mean, and falling */
        }
        h *= (double)(size - i) / (double)(i + 1) * ((double)(r - i) / (double)(rest - size + i + 1 - r));
    }
    return (sum < 1) ? sum : 1;
}

void keel_reliability_exact(uint64_t count, uint64_t elements, uint64_t deaths, uint64_t x_max, double *conditional)
{
    const uint64_t classes = (elements <= count) ? count / elements : 1;
    uint64_t i, r, size, rest = 0;
    double h;

    assert((x_max <= count) && (deaths > 0));
    for (r = 0; r <= x_max; r++) {
        conditional[r] = 0;
    }
    for (i = classes; i-- > 0;) { /* conditional: of the classes after this one; in place, so from the top */
        size = count / classes + (i < count % classes);
        rest += size;
        h = 0;
        for (r = (x_max < rest) ? x_max : rest; r >= deaths; r--) {
            if ((r >= rest - size) || (h < KEEL_RELIABILITY_SMALL)) {
                h = keel_reliability_least(size, rest, r, (r > rest - size) ? r - (rest - size) : 0);
            }
            conditional[r] = keel_reliability_class(size, rest, r, deaths, h, conditional);
            h *=
                (double)(rest - r + 1) / (double)(rest - size - r + 1); /* of r - 1; not used where that divides by 0 */
        }
    }
}

/* an element with more ranks than there are groups has several of one group, however its placement */
static keel_status_t keel_reliability_crowd(const keel_reliability_params_t *params, uint32_t level, uint64_t elements,
                                            uint64_t *deaths_p)
{
    const uint64_t even = (params->group_size + elements - 1) / elements;
    const uint64_t share = (params->most_ranks[level] + params->groups - 1) / params->groups;

    if (share > params->parities) {
        return KEEL_ERR_GROUPS;
    }
    *deaths_p = params->parities / ((share > even) ? share : even) + 1;
    return KEEL_OK;
}

/* ---- equation 9 --------------------------------------------------------------------------------------------- */

/*
 * From which number of failures on it makes no difference that the rest counts as catastrophic: because so many fail hardly
 * ever, or because it is. (Failures of a draw are negatively associated, so with an expectation of mu catastrophic classes
 * none is with at most exp(-mu).)
 */
static uint64_t keel_reliability_cut(const keel_hazard_t *level, uint64_t elements, uint64_t deaths)
{
    const uint64_t most = (level->count < KEEL_RELIABILITY_X_MAX) ? level->count : KEEL_RELIABILITY_X_MAX;
    const double classes = (double)(level->count / elements);
    double sum = 0, one;
    uint64_t x;

    for (x = deaths; x < most; x++) {
        one = keel_reliability_class(
            elements, level->count, x, deaths,
            keel_reliability_least(elements, level->count, x,
                                   (x > level->count - elements) ? x - (level->count - elements) : 0),
            NULL);
        sum += keel_failures_probability(level, x) * one;
        if ((classes * one > KEEL_RELIABILITY_MU_MAX) ||
            (keel_failures_tail(level, x + 1) <= sum * KEEL_RELIABILITY_PRECISE)) {
            return x;
        }
    }
    return most;
}

static keel_status_t keel_reliability_level(const keel_reliability_params_t *params, const keel_hazard_t *level,
                                            uint64_t elements, uint64_t deaths, double *probability_p)
{
    const uint64_t classes =
        (params->method == KEEL_RELIABILITY_BOUND) ? params->groups : keel_reliability_classes(level->count, elements);
    const uint64_t cut = keel_reliability_cut(level, elements, deaths);
    double *conditional = NULL;
    double sum = 0;
    uint64_t x;

    if (params->method == KEEL_RELIABILITY_EXACT) {
        conditional = keel_alloc((cut + 1) * sizeof *conditional, "reliability");
        if (conditional == NULL) {
            return KEEL_ERR_NO_MEMORY;
        }
        keel_reliability_exact(level->count, elements, deaths, cut, conditional);
    }
    for (x = deaths; x <= cut; x++) {
        sum += keel_failures_probability(level, x) *
               ((conditional != NULL) ? conditional[x]
                                      : keel_reliability_bound(level->count, classes, elements, deaths, x));
    }
    keel_free(conditional);
    *probability_p = sum + keel_failures_tail(level, cut + 1);
    return KEEL_OK;
}

keel_status_t keel_reliability_catastrophe(const keel_reliability_params_t *params, double *by_level,
                                           double *probability_p)
{
    uint64_t elements, deaths;
    keel_status_t status;
    double part, sum = 0;
    uint32_t j;

    if ((params->level_count == 0) || (params->aware > params->level_count) ||
        ((params->method == KEEL_RELIABILITY_BOUND) && ((params->groups == 0) || (params->most_ranks == NULL)))) {
        return KEEL_ERR_INVALID_PARAM;
    }
    for (j = 0; j < params->level_count; j++) {
        if (j < params->aware) {
            status = keel_reliability_spread(params->levels[j].count, params->group_size, params->parities, &elements,
                                             &deaths);
            if ((status == KEEL_OK) && (params->method == KEEL_RELIABILITY_BOUND)) {
                status = keel_reliability_crowd(params, j, elements, &deaths);
            }
            if (status == KEEL_OK) {
                status = keel_reliability_level(params, &params->levels[j], elements, deaths, &part);
            }
            if (status != KEEL_OK) {
                return status;
            }
        } else {
            part = keel_failures_tail(&params->levels[j], 1);
        }
        if (by_level != NULL) {
            by_level[j] = part;
        }
        sum += part;
    }
    *probability_p = (sum < 1) ? sum : 1;
    return KEEL_OK;
}
