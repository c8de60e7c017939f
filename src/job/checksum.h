/* A rank that holds parity for others (KEEL_PARITY=dedicated) and runs no program. */
#ifndef KEEL_JOB_CHECKSUM_H_
#define KEEL_JOB_CHECKSUM_H_

#include "engine/context.h"

keel_status_t keel_checksum_run(keel_context_h ctx);

#endif
