/*
 * Shares of numbered items, such as points or vertices. The share of a rank follows from the list
 * of living ranks alone. The items themselves are in a store: each rank submitted the share that
 * it had when all ranks of the job were alive.
 */
#ifndef KEEL_KERNEL_SHARE_H_
#define KEEL_KERNEL_SHARE_H_

#include "kernel.h"

#include <keel/store.h>

#include <stddef.h>

/* Ranks that take part, ascending. */
typedef struct {
    uint32_t *ranks, count;
    uint32_t place; /* index of this rank in ranks */
} kernel_living_t;

typedef struct {
    uint64_t first, count;
} kernel_range_t;

/* All ranks of the job. Returns 0, or -1 without memory. */
int kernel_living_init(kernel_living_t *living, keel_context_h ctx);
void kernel_living_cleanup(kernel_living_t *living);

/* Share of the rank at @a place of @a count ranks. */
kernel_range_t kernel_share_at(uint64_t items, uint32_t place, uint32_t count);
kernel_range_t kernel_share_own(uint64_t items, const kernel_living_t *living);

/*
 * Parts of a range by the ranks that submitted the items; *parts_p is freed by the caller, and the
 * buffers in it are not set. Returns the number of parts, or 0 without memory.
 */
unsigned kernel_share_parts(uint64_t items, uint32_t ranks, kernel_range_t range, keel_store_part_t **parts_p);

/* Loads items of @a bytes each, wherever they were submitted; the time is added to *seconds_p. */
keel_status_t kernel_share_load(keel_store_h store, uint64_t items, uint32_t ranks, kernel_range_t range, size_t bytes,
                                void *buffer, double *seconds_p);

#endif
