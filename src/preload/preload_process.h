/* Settings, start, fork and end of the measured process. */
#ifndef KEEL_PRELOAD_PROCESS_H_
#define KEEL_PRELOAD_PROCESS_H_

#include <stdint.h>

/* True if records are written, not only counted. Valid after preload_process_begin(). */
extern int preload_process_copies;

/* At the first access: allocates the log, and leaves a mark in the directory of the output. Later
 * calls have no effect. */
void preload_process_begin(void);
/* True if the report was written; calls are no longer counted. */
int preload_process_is_over(void);
/* a steady clock, ns */
uint64_t preload_process_clock(void);

#endif
