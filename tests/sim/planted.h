/* The planted defects (check/plant.h) by name; only in the simulator that is built with them. */
#ifndef KEEL_SIM_PLANTED_H_
#define KEEL_SIM_PLANTED_H_

/* plants the defect; 0 when there is none of that name */
int planted_set(const char *name);
/* runs in which the defect planted has to be noticed */
unsigned planted_runs(void);
void planted_list(void);

/* ---- the cases that runs have to see (check/reached.h) ---- */

/* counts in all processes forked from here on; 0 when there is no memory */
int reached_begin(void);
/* prints them; how many were never reached that any set of runs has to */
unsigned reached_gaps(void);
/* how often; -1: there is none of that name */
long long reached_count(const char *name);

#endif
