/*
 * Memory that a simulated program gives to its windows. The memory outlives the process: other
 * ranks may have the memory of a dead rank mapped.
 */
#ifndef KEEL_SIM_GIVEN_H_
#define KEEL_SIM_GIVEN_H_

#include <stddef.h>

/* Allocates zeroed pages; ends the program when out of memory. */
void *sim_given(size_t bytes);
/* Frees all such memory. Precondition: the run is over. */
void sim_given_release(void);

#endif
