/*
 * Number of processes that may fail before data in r replicas is lost [R IV-D]: p processes in p /
 * r groups, with the same data in each process of a group. Data is lost if all r processes of a
 * group have failed. If r does not divide p, the groups are rings (replica_sets.h), as in a store.
 * Pure computation; NaN if memory is short.
 */
#ifndef KEEL_TOOLS_TOPO_REPLICA_LOSS_H_
#define KEEL_TOOLS_TOPO_REPLICA_LOSS_H_

#include <keel/status.h>

#include <stdint.h>

typedef struct keel_replicas {
    uint64_t processes; /* p, at most 2^40 */
    uint64_t replicas;  /* r, at most p; more than 16 divide p */
} keel_replicas_t;

/* KEEL_ERR_INVALID_PARAM unless both are in range */
keel_status_t keel_replicas_check(const keel_replicas_t *replicas);
/* P(<=): data is lost by failure f. To 13 digits at any size; the complement to 1e-13 absolute. */
double keel_replicas_loss(const keel_replicas_t *replicas, uint64_t failures);
double keel_replicas_survival(const keel_replicas_t *replicas, uint64_t failures);
/* P(=): failure f loses the data. */
double keel_replicas_loss_at(const keel_replicas_t *replicas, uint64_t failures);
/* The paper's approximation for few failures, g (f / p)^r; no probability above 1. A ring counts as
 * many groups as it has processes. */
double keel_replicas_loss_approximate(const keel_replicas_t *replicas, uint64_t failures);
/* Failures at which the approximation reaches 1: p (1 / g)^(1 / r). */
double keel_replicas_failures_approximate(const keel_replicas_t *replicas);
/* Expected number of failures until data is lost. */
double keel_replicas_failures_expected(const keel_replicas_t *replicas);

#endif
