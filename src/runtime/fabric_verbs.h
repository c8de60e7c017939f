/*
 * Meaning of an asynchronous event of libibverbs to the job; a file of its own, for tests without a
 * device.
 */
#ifndef KEEL_RUNTIME_FABRIC_VERBS_H_
#define KEEL_RUNTIME_FABRIC_VERBS_H_

#include "fabric.h"

#include <infiniband/verbs.h>

/* Returns 0 for an event of neither device nor port. */
int keel_fabric_verbs_event(enum ibv_event_type type, unsigned port, keel_fabric_event_t *event_p);

#endif
