/* When the next coordinated checkpoint is due; keeps no clock of its own. */
#include "ckpt/interval.h"

#include <math.h>

#define KEEL_INTERVAL_SMOOTHING 0.25 /* weight of the newest measured cost */
/* lower bound for a measured cost, since a clock may not resolve it and 0 means unknown */
#define KEEL_INTERVAL_MIN_COST 1e-9

double keel_interval_daly_s(double cost_s, double mtbf_s)
{
    const double half = cost_s / (2 * mtbf_s);

    if (cost_s <= 0) {
        return 0;
    }
    return half < 1 ? sqrt(2 * cost_s * mtbf_s) * (1 + sqrt(half) / 3 + half / 9) - cost_s : mtbf_s;
}

void keel_interval_init(keel_interval_t *interval, const keel_config_t *config, uint64_t now_ns)
{
    *interval = (keel_interval_t){
        .mode = config->interval_mode, .value = config->interval_value, .mtbf_s = config->mtbf_s, .last_ns = now_ns};
}

int keel_interval_is_due(keel_interval_t *interval, uint64_t now_ns)
{
    interval->gsyncs++;
    return keel_interval_has_passed(interval, now_ns);
}

int keel_interval_has_passed(const keel_interval_t *interval, uint64_t now_ns)
{
    const double elapsed_s = now_ns > interval->last_ns ? (double)(now_ns - interval->last_ns) * 1e-9 : 0;

    switch (interval->mode) {
    case KEEL_INTERVAL_DALY:
        return interval->cost_s == 0 || elapsed_s >= keel_interval_daly_s(interval->cost_s, interval->mtbf_s);
    case KEEL_INTERVAL_GSYNCS:
        return (double)interval->gsyncs >= interval->value;
    case KEEL_INTERVAL_TIME:
        return elapsed_s >= interval->value;
    case KEEL_INTERVAL_OFF:
        break;
    }
    return 0;
}

void keel_interval_taken(keel_interval_t *interval, uint64_t now_ns, double cost_s)
{
    const double cost = cost_s > KEEL_INTERVAL_MIN_COST ? cost_s : KEEL_INTERVAL_MIN_COST;

    interval->cost_s =
        interval->cost_s == 0 ? cost : interval->cost_s + KEEL_INTERVAL_SMOOTHING * (cost - interval->cost_s);
    interval->last_ns = now_ns;
    interval->gsyncs = 0;
}
