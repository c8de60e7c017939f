/*
 * What a program of plan.h computes when nothing fails: found by interpreting it phase by phase and rank by rank on
 * plain arrays, which is right because it is race-free. Runs are compared with it at every observation.
 */
#ifndef KEEL_TEST_ORACLE_H_
#define KEEL_TEST_ORACLE_H_

#include "plan.h"

typedef struct oracle oracle_t;

oracle_t *oracle_create(const plan_t *plan);
void oracle_destroy(oracle_t *oracle);

/* what @a rank observed as number @a point of @a phase (values got, its own memory, its hash) */
uint64_t oracle_value(const oracle_t *oracle, uint32_t phase, uint32_t rank, unsigned point);
unsigned oracle_points(const oracle_t *oracle, uint32_t phase, uint32_t rank);
/* memory of a window at the beginning of @a phase; phase == phases of the plan: at the end */
const unsigned char *oracle_memory(const oracle_t *oracle, uint32_t phase, unsigned window, uint32_t rank);
uint64_t oracle_final_hash(const oracle_t *oracle, uint32_t rank);

#endif
