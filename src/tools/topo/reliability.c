/*
 * Probabilities here reach 1e-20 and below. So no small p is computed as 1 - (1 - p), and no ratio
 * of binomials by factorials: ratios are products of their factors, and the exact count sums
 * positive terms only.
 */
#include "tools/topo/reliability.h"

#include "base/memory.h"
#include "tools/topo/overlap.h"

#include <assert.h>
#include <math.h>

/* simultaneous failures computed one by one; more count as catastrophic */
#define KEEL_RELIABILITY_X_MAX      4096
#define KEEL_RELIABILITY_NEGLIGIBLE 1e-20  /* negligible part of a sum */
#define KEEL_RELIABILITY_SMALL      1e-100 /* smaller products are recomputed from factors */
#define KEEL_RELIABILITY_MU_MAX     40.0
#define KEEL_RELIABILITY_PRECISE    1e-15 /* relative error of truncated sums */

/* ---- catastrophic draws ---- */

keel_status_t keel_reliability_spread(uint64_t used, uint64_t group_size, uint64_t parities, keel_spread_t *spread_p)
{
    if ((used == 0) || (parities == 0) || (parities >= group_size)) {
        return KEEL_ERR_INVALID_PARAM;
    }
    *spread_p = (keel_spread_t){.each = group_size / used, .elements = group_size % used};
    return (spread_p->each + (spread_p->elements > 0) > parities) ? KEEL_ERR_GROUPS : KEEL_OK;
}

uint64_t keel_reliability_deaths(const keel_spread_t *spread, uint64_t parities, uint64_t x)
{
    if ((spread->each > 0) && (x > parities / spread->each)) {
        return 0;
    }
    return parities - spread->each * x + 1;
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

/*
 * Probability that the least possible number of the class's elements, @a least, is among r failed
 * elements of rest.
 */
static double keel_reliability_least(uint64_t size, uint64_t rest, uint64_t r, uint64_t least)
{
    const uint64_t alive = rest - r;
    double h = 1;
    uint64_t i;

    if (least > 0) { /* all others failed: all living elements are of the class */
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
 * Probability of a catastrophe in the first class, which has size of the rest elements, r of which
 * failed, or, with the remaining failures, in the later classes (@a later by their number; NULL: no
 * later class). @a h: keel_reliability_least().
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
        if ((i >= deaths) && ((double)(i * (rest - r)) > (double)(size * r)) &&
            (h < sum * KEEL_RELIABILITY_NEGLIGIBLE)) {
            break; /* beyond the mean, where the terms fall */
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
    /* conditional: of the classes after the present; updated in place, so from the top */
    for (i = classes; i-- > 0;) {
        size = count / classes + (i < count % classes);
        rest += size;
        h = 0;
        for (r = (x_max < rest) ? x_max : rest; r >= deaths; r--) {
            if ((r >= rest - size) || (h < KEEL_RELIABILITY_SMALL)) {
                h = keel_reliability_least(size, rest, r, (r > rest - size) ? r - (rest - size) : 0);
            }
            conditional[r] = keel_reliability_class(size, rest, r, deaths, h, conditional);
            /* h of r - 1; not used where the division is by 0 */
            h *= (double)(rest - r + 1) / (double)(rest - size - r + 1);
        }
    }
}

/* ---- the draws of a level ---- */

/* Conditions that make a draw of a level catastrophic. */
typedef struct keel_reliability_pattern {
    keel_reliability_method_t method;
    keel_spread_t spread;
    uint64_t parities; /* elements of spread that may be lost */
    uint64_t classes;  /* count of classes of spread.elements each, for the union bounds */
} keel_reliability_pattern_t;

/* Computes the conditional probability for x = 0 .. x_max failures of elements with ranks. */
static void keel_reliability_of_used(const keel_reliability_pattern_t *pattern, uint64_t used, uint64_t x_max,
                                     double *conditional)
{
    const keel_spread_t *spread = &pattern->spread;
    uint64_t x, deaths;

    if ((pattern->method == KEEL_RELIABILITY_EXACT) && (spread->each == 0)) {
        keel_reliability_exact(used, spread->elements, pattern->parities + 1, x_max, conditional);
        return;
    }
    for (x = x_max + 1; x-- > 0;) { /* from the top: the exact values of x overwrite those below */
        deaths = keel_reliability_deaths(spread, pattern->parities, x);
        if ((deaths == 0) || (spread->elements == 0)) {
            conditional[x] = (deaths == 0);
        } else if (pattern->method == KEEL_RELIABILITY_EXACT) {
            keel_reliability_exact(used, spread->elements, deaths, x, conditional);
        } else {
            conditional[x] = keel_reliability_bound(used, pattern->classes, spread->elements, deaths, x);
        }
    }
}

/*
 * Converts to x failures of any elements, in place; from the top, since each value needs those
 * below.
 */
static void keel_reliability_thin(uint64_t count, uint64_t used, uint64_t x_max, double *conditional)
{
    const uint64_t unused = count - used;
    uint64_t x, i, mode;
    double top, p, sum;

    for (x = x_max; x > 0; x--) {
        mode = (uint64_t)((double)(x + 1) * (double)(used + 1) / (double)(count + 2));
        mode = (mode < used) ? mode : used;
        mode = (mode < x) ? mode : x;
        mode = (x - mode > unused) ? x - unused : mode;
        top = keel_hypergeometric(count, used, x, mode);
        sum = 0;
        for (p = top, i = mode; (i <= x) && (i <= used) && ((sum == 0) || (p > sum * KEEL_RELIABILITY_NEGLIGIBLE));
             i++) {
            sum += p * conditional[i];
            p *= (double)(used - i) / (double)(i + 1) * ((double)(x - i) / (double)(unused + i + 1 - x));
        }
        for (p = top, i = mode; (i > 0) && (x - i < unused); i--) {
            p *= (double)i / (double)(used - i + 1) * ((double)(unused + i - x) / (double)(x - i + 1));
            if (p * conditional[i - 1] <= sum * KEEL_RELIABILITY_NEGLIGIBLE) {
                break;
            }
            sum += p * conditional[i - 1];
        }
        conditional[x] = (sum < 1) ? sum : 1;
    }
}

/*
 * The number of failures from which on more failures may count as catastrophic without an error: so
 * many failures are negligibly rare, or catastrophic anyway. (Failures of a draw are negatively
 * associated: with mu expected catastrophic classes, the probability of none is at most exp(-mu).)
 */
static uint64_t keel_reliability_cut(const keel_hazard_t *level, const keel_reliability_pattern_t *pattern)
{
    const uint64_t most = (level->count < KEEL_RELIABILITY_X_MAX) ? level->count : KEEL_RELIABILITY_X_MAX;
    const uint64_t used = keel_hazard_used(level), each = pattern->spread.each;
    const uint64_t elements = (each > 0) ? used : pattern->spread.elements;
    const uint64_t deaths = ((each > 0) ? pattern->parities / each : pattern->parities) + 1;
    const double classes = (double)(used / elements);
    double sum = 0, one;
    uint64_t x;

    for (x = 1; x < most; x++) {
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

static keel_status_t keel_reliability_level(const keel_reliability_pattern_t *pattern, const keel_hazard_t *level,
                                            double *probability_p)
{
    const int is_element = (level->failures.kind == KEEL_FAILURES_ELEMENT);
    const uint64_t used = keel_hazard_used(level), cut = keel_reliability_cut(level, pattern);
    double *conditional, sum = 0, share;
    uint64_t x;

    conditional = keel_alloc((cut + 1) * sizeof *conditional, "reliability");
    if (conditional == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    keel_reliability_of_used(pattern, used, (cut < used) ? cut : used, conditional);
    if (used < level->count) {
        keel_reliability_thin(level->count, used, cut, conditional);
    }
    /* elements that fail alone: the last of x makes the draw catastrophic, x - 1 were not */
    for (x = 1; x <= cut; x++) {
        share = is_element ? fmax(conditional[x] - conditional[x - 1], 0) : conditional[x];
        sum += keel_failures_probability(level, x) * share;
    }
    *probability_p = sum + keel_failures_tail(level, cut + 1) * (is_element ? 1 - conditional[cut] : 1);
    keel_free(conditional);
    return KEEL_OK;
}

/* ---- equation 9 ---- */

/*
 * Members on an element: more ranks on an element than groups put several members of a group there,
 * in any placement.
 */
static uint64_t keel_reliability_share(const keel_reliability_params_t *params, uint32_t level)
{
    const uint64_t used = keel_hazard_used(&params->levels[level]);
    const uint64_t even = (params->group_size + used - 1) / used;
    const uint64_t crowd = (params->most_ranks[level] + params->groups - 1) / params->groups;

    return (crowd > even) ? crowd : even;
}

static keel_status_t keel_reliability_heeded(const keel_reliability_params_t *params, uint32_t j,
                                             keel_overlap_level_t *overlap, double *part_p)
{
    const keel_hazard_t *level = &params->levels[j];
    const uint64_t used = keel_hazard_used(level);
    keel_reliability_pattern_t pattern = {.method = params->method, .parities = params->parities};
    keel_status_t status;

    status = keel_reliability_spread(used, params->group_size, params->parities, &pattern.spread);
    if (status != KEEL_OK) {
        return status;
    }
    if (params->method == KEEL_RELIABILITY_BOUND) {
        *overlap = (keel_overlap_level_t){.hazard = level,
                                          .elements = (params->group_size < used) ? params->group_size : used,
                                          .share = keel_reliability_share(params, j)};
        if (overlap->share > params->parities) {
            return KEEL_ERR_GROUPS;
        }
        *part_p = 0;
        if (level->failures.kind == KEEL_FAILURES_ELEMENT) {
            return KEEL_OK; /* elements fail one at a time: only overlaps count */
        }
        pattern.spread = (keel_spread_t){.each = 0, .elements = overlap->elements};
        pattern.parities = params->parities / overlap->share;
        pattern.classes = params->groups;
    } else if (pattern.spread.elements > 0) {
        pattern.classes = keel_reliability_classes(used, pattern.spread.elements);
    }
    return keel_reliability_level(&pattern, level, part_p);
}

static keel_status_t keel_reliability_sum(const keel_reliability_params_t *params, keel_overlap_level_t *overlaps,
                                          double *by_level, double *sum_p)
{
    keel_status_t status;
    double part;
    uint32_t j;

    *sum_p = 0;
    for (j = 0; j < params->level_count; j++) {
        if (j < params->aware) {
            status = keel_reliability_heeded(params, j, &overlaps[j], &part);
            if (status != KEEL_OK) {
                return status;
            }
        } else {
            part = keel_failures_of_job(&params->levels[j]);
        }
        if (by_level != NULL) {
            by_level[j] = part;
        }
        *sum_p += part;
    }
    if (params->method != KEEL_RELIABILITY_BOUND) {
        return KEEL_OK;
    }
    status = keel_overlap_rate(overlaps, params->aware, params->parities, params->window_s, &part);
    *sum_p += (double)params->groups * part;
    return status;
}

keel_status_t keel_reliability_catastrophe(const keel_reliability_params_t *params, double *by_level,
                                           double *probability_p)
{
    keel_overlap_level_t *overlaps;
    keel_status_t status;
    double sum;

    if ((params->level_count == 0) || (params->aware > params->level_count) ||
        ((params->method == KEEL_RELIABILITY_BOUND) && ((params->groups == 0) || (params->most_ranks == NULL)))) {
        return KEEL_ERR_INVALID_PARAM;
    }
    overlaps = keel_alloc(params->level_count * sizeof *overlaps, "overlaps");
    if (overlaps == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    status = keel_reliability_sum(params, overlaps, by_level, &sum);
    keel_free(overlaps);
    if (status == KEEL_OK) {
        *probability_p = (sum < 1) ? sum : 1;
    }
    return status;
}
