/* What accesses begin with that no log has: from the first of them on every death is a rollback (order/mix). */
#ifndef KEEL_ACCESS_UNLOGGED_H_
#define KEEL_ACCESS_UNLOGGED_H_

#include "access/target.h"

/* KEEL_OK: @a call may access so much of @a rank's window, which is live, and mapped here where it can be */
keel_status_t keel_unlogged_begin(keel_win_h win, uint32_t rank, uint64_t offset, size_t length, const void *buffer,
                                  const char *call);
/* until a rank that died is there again, and its window known: in most cases with KEEL_ERR_ROLLED_BACK */
keel_status_t keel_unlogged_await(keel_win_h win, uint32_t rank);

#endif
