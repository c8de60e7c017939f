/* What an asynchronous event of libibverbs means to the job; apart from the rest to be tested without a device. */
#ifndef KEEL_RUNTIME_FABRIC_VERBS_H_
#define KEEL_RUNTIME_FABRIC_VERBS_H_

#include "fabric.h"

#include <infiniband/verbs.h>

/* 0: none of a device or port */
int keel_fabric_verbs_event(enum ibv_event_type type, unsigned port, keel_fabric_event_t *event_p);

#endif
