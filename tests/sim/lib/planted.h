/* Planted defects (check/plant.h) by name, for programs built with KEEL_PLANTED_DEFECTS. */
#ifndef KEEL_SIM_PLANTED_H_
#define KEEL_SIM_PLANTED_H_

/* Plants the defect. Returns 0 if no defect has this name. */
int planted_set(const char *name);
/* Returns the number of runs within which the planted defect must be noticed. */
unsigned planted_runs(void);
void planted_list(void);

/* ---- cases that the runs must reach (check/reached.h) ---- */

/* Starts counting in all processes forked from here on. Returns 0 if out of memory. */
int reached_begin(void);
/* Prints how often each case was reached. */
void reached_print(void);
/* Returns the number of unreached cases that every run set must reach. */
unsigned reached_gaps(void);
/* Returns how often the case was reached; -1: no case has this name. */
long long reached_count(const char *name);

#endif
