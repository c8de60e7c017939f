/*
 * Time of the next coordinated checkpoint: Daly's optimum [F 6.1]
 *   sqrt(2 C M) (1 + 1/3 sqrt(C / 2M) + 1/9 (C / 2M)) - C  for C < 2M, else M.
 * C is the measured time that the program spends in Keel for the copy and for the parity after it.
 * M is KEEL_MTBF.
 */
#ifndef KEEL_CKPT_INTERVAL_H_
#define KEEL_CKPT_INTERVAL_H_

#include "base/config.h"

typedef struct keel_interval {
    keel_interval_mode_t mode;
    double value, mtbf_s;
    double cost_s;    /* smoothed measured cost; 0 before the first checkpoint */
    uint64_t last_ns; /* time of the newest checkpoint, or of the start */
    uint64_t gsyncs;  /* safe gsyncs and safe points since last_ns */
} keel_interval_t;

/* seconds between checkpoints for this cost; 0 for a cost of 0 */
double keel_interval_daly_s(double cost_s, double mtbf_s);
void keel_interval_init(keel_interval_t *interval, const keel_config_t *config, uint64_t now_ns);
/* Called at each safe gsync by the deciding rank: 1 if a checkpoint is due. The first is due at
 * once in mode daly, since its cost is unknown. */
int keel_interval_is_due(keel_interval_t *interval, uint64_t now_ns);
/* Has the interval passed? May be called between safe gsyncs; counts nothing. */
int keel_interval_has_passed(const keel_interval_t *interval, uint64_t now_ns);
void keel_interval_taken(keel_interval_t *interval, uint64_t now_ns, double cost_s);

#endif
