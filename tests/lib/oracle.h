/*
 * The results of a program of plan.h without failures. The oracle interprets the program phase by
 * phase and rank by rank on plain arrays, which is correct because the program is race-free. Runs
 * are compared with the oracle at every observation.
 */
#ifndef KEEL_TEST_ORACLE_H_
#define KEEL_TEST_ORACLE_H_

#include "plan.h"

typedef struct oracle oracle_t;

oracle_t *oracle_create(const plan_t *plan);
void oracle_destroy(oracle_t *oracle);

/* Value number @a point observed by @a rank in @a phase (values got, own memory, its hash). */
uint64_t oracle_value(const oracle_t *oracle, uint32_t phase, uint32_t rank, unsigned point);
unsigned oracle_points(const oracle_t *oracle, uint32_t phase, uint32_t rank);
/* The memory of a window at the beginning of @a phase; phase == phases of the plan: at the end. */
const unsigned char *oracle_memory(const oracle_t *oracle, uint32_t phase, unsigned window, uint32_t rank);
uint64_t oracle_final_hash(const oracle_t *oracle, uint32_t rank);

#endif
