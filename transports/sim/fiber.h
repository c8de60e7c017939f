/* Stacks of the ranks and the switch between them and the scheduler. Stacks are pooled for the next run. */
#ifndef KEEL_SIM_FIBER_H_
#define KEEL_SIM_FIBER_H_

#include <stddef.h>

typedef struct sim_fiber sim_fiber_t;

#define SIM_STACK_DEFAULT ((size_t)256 << 10)

/* NULL when there is no memory */
sim_fiber_t *sim_fiber_create(size_t stack_size, void (*entry)(void *arg), void *arg);
/* the fiber ended or is abandoned where it stands */
void sim_fiber_destroy(sim_fiber_t *fiber);
void sim_fiber_resume(sim_fiber_t *fiber);  /* from the scheduler; returns when the fiber suspends or ends */
void sim_fiber_suspend(sim_fiber_t *fiber); /* from the fiber */
void sim_fiber_exit(sim_fiber_t *fiber) __attribute__((noreturn)); /* from the fiber, at its end */

#endif
