/*
 * Results for rank 0 in the last step of a kernel with input in a store: from each rank a hash, and
 * the seconds spent in the store.
 */
#ifndef KEEL_KERNEL_ENDS_H_
#define KEEL_KERNEL_ENDS_H_

#include "kernel.h"

/* Collective: the window for the results, in memory of rank 0. */
keel_status_t kernel_ends_alloc(keel_context_h ctx, keel_win_h *ends_p);
keel_status_t kernel_ends_put(keel_context_h ctx, keel_win_h ends, uint64_t hash, double store_s);
/* Rank 0: hash of the hashes of all ranks. */
uint64_t kernel_ends_hash(keel_context_h ctx, keel_win_h ends);
/* Rank 0: longest time of a process in the store. */
double kernel_ends_store_s(keel_context_h ctx, keel_win_h ends);

#endif
