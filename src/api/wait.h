/* Waiting inside a phase for what others put (protocol.md, Waits inside a phase); sync/waits has what is replayed into a wait, and why. */
#ifndef KEEL_API_WAIT_H_
#define KEEL_API_WAIT_H_

#include "api/context.h"

/* a replacement in a program that waits: before a gsync; after it, and when it was restored */
keel_status_t keel_wait_settle(keel_context_h ctx);
/*
 * And when the program learns that a get is complete of which there was no record: the predecessor did not come as far. The second,
 * in a flush or fence, of what is read at @a rank, or anywhere with KEEL_RANK_NONE.
 */
keel_status_t keel_wait_new(keel_context_h ctx);
keel_status_t keel_wait_new_at(keel_context_h ctx, uint32_t rank);
/* a replacement fetches what is in a record, with that clock: what the predecessor may have learned by it is replayed */
keel_status_t keel_wait_fetched(keel_context_h ctx, uint32_t clock);
void keel_wait_resume(keel_context_h ctx);

#endif
