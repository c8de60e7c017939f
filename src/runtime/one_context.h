/* A process has one context at a time, whichever runtime serves it: windows have fixed addresses,
 * and restarts and signals belong to the process. The simulator's contexts do not count. */
#ifndef KEEL_RUNTIME_ONE_CONTEXT_H_
#define KEEL_RUNTIME_ONE_CONTEXT_H_

#include <keel/status.h>

/* KEEL_ERR_STATE, with a message that begins with @a call: the process has a context. */
keel_status_t keel_one_context_begin(const char *call);
void keel_one_context_end(void);

#endif
