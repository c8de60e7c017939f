/* Opens the area of the life, if the user asked for a trace or for statistics. */
#ifndef KEEL_JOB_TRACING_H_
#define KEEL_JOB_TRACING_H_

#include <keel/keel.h>

/* If the area cannot be made, the job goes on without events of the rank, with a warning. */
void keel_tracing_open(keel_context_h ctx);
/* keel_init() is over. */
void keel_tracing_started(keel_context_h ctx);
/* The life leaves the job. Without keelrun, the last rank to leave writes the files. */
void keel_tracing_close(keel_context_h ctx);
/* Hooks of KEEL_HOOK_PHASE and KEEL_HOOK_WAIT: write a snapshot of the statistics. */
void keel_tracing_phase(keel_context_h ctx);
void keel_tracing_wait(keel_context_h ctx);

#endif
