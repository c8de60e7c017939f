/* A checksum rank (KEEL_PARITY=dedicated) holds parity for other ranks and runs no program. */
#ifndef KEEL_JOB_CHECKSUM_H_
#define KEEL_JOB_CHECKSUM_H_

#include "engine/context.h"

keel_status_t keel_checksum_run(keel_context_h ctx);

#endif
