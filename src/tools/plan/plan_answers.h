/* Two more answers of keel_plan: replicated data, and recommended settings of a job. */
#ifndef KEEL_TOOLS_PLAN_ANSWERS_H_
#define KEEL_TOOLS_PLAN_ANSWERS_H_

#include "plan_options.h"
#include "plan_simulate.h"

/* Each returns 0, or -1 with the reason. */
int keel_plan_answer_replicas(const keel_plan_options_t *options, const keel_plan_progress_t *progress, FILE *stream,
                              keel_plan_error_t *error);
/* Replicated data when nodes fail: the answer in each form. */
void keel_plan_nodes_text(const keel_plan_placed_t *placed, const keel_plan_replicas_t *result, FILE *stream);
void keel_plan_nodes_csv(const keel_plan_placed_t *placed, const keel_plan_replicas_t *result, FILE *stream);
void keel_plan_nodes_json(const keel_plan_placed_t *placed, const keel_plan_replicas_t *result, uint64_t seed,
                          FILE *stream);
/* @a machine: NULL if only the MTBF is known */
int keel_plan_answer_advice(const keel_plan_options_t *options, const keel_plan_machine_t *machine,
                            const keel_plan_progress_t *progress, FILE *stream, keel_plan_error_t *error);

#endif
