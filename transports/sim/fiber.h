/* Stacks of the ranks, and the switch between a rank and the scheduler. Stacks are pooled for
 * later runs. */
#ifndef KEEL_SIM_FIBER_H_
#define KEEL_SIM_FIBER_H_

#include <stddef.h>

typedef struct sim_fiber sim_fiber_t;

#define SIM_STACK_DEFAULT ((size_t)256 << 10)

/* NULL without memory */
sim_fiber_t *sim_fiber_create(size_t stack_size, void (*entry)(void *arg), void *arg);
/* the fiber has ended, or is abandoned in its current state */
void sim_fiber_destroy(sim_fiber_t *fiber);
/* from the scheduler; returns when the fiber suspends or ends */
void sim_fiber_resume(sim_fiber_t *fiber);
void sim_fiber_suspend(sim_fiber_t *fiber);                        /* from the fiber */
void sim_fiber_exit(sim_fiber_t *fiber) __attribute__((noreturn)); /* from the fiber, at its end */

#endif
