/* The start of an unlogged access: after the first one every death is a rollback (order/mix). */
#ifndef KEEL_ACCESS_UNLOGGED_H_
#define KEEL_ACCESS_UNLOGGED_H_

#include "access/target.h"

/* Returns KEEL_OK when @a call may access the bytes of @a rank's window. The rank is live then,
 * and the window is mapped here if possible. */
keel_status_t keel_unlogged_begin(keel_win_h win, uint32_t rank, uint64_t offset, size_t length, const void *buffer,
                                  const char *call);
/* Waits until a dead rank is back and its window is known. Mostly the job rolls back first:
 * KEEL_ERR_ROLLED_BACK. */
keel_status_t keel_unlogged_await(keel_win_h win, uint32_t rank);

#endif
