/* A rank that holds parity for others (KEEL_PARITY=dedicated) and runs no program. */
#ifndef KEEL_API_CHECKSUM_H_
#define KEEL_API_CHECKSUM_H_

#include "api/context.h"

keel_status_t keel_checksum_run(keel_context_h ctx);

#endif
