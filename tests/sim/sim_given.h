/* Memory that a simulated program gives to its windows: it outlives the process, as what a dead one leaves is mapped by others. */
#ifndef KEEL_SIM_GIVEN_H_
#define KEEL_SIM_GIVEN_H_

#include <stddef.h>

/* zeroed pages; ends the program when out of memory */
void *sim_given(size_t bytes);
/* all of it: the run is over */
void sim_given_release(void);

#endif
