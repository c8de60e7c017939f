/* The reads of a load: parts of equal blocks, and what happens where no copy is left. */
#ifndef KEEL_STORE_STORE_READ_H_
#define KEEL_STORE_STORE_READ_H_

#include "store/store_state.h"

/* A load in steps. */
typedef struct keel_store_reading {
    struct keel_store_fetch *fetch;
    keel_store_part_t *parts;
    uint64_t unit; /* bytes of a block */
    keel_status_t result;
    /* the words of the holders of a block without a copy; NULL: not asked for */
    struct keel_gather *asking;
    int is_asked; /* the holders are done with the version: each is read once more */
} keel_store_reading_t;

/* Statuses as those of keel_store_load(). After an error nothing is to be ended. */
keel_status_t keel_store_reading_begin(keel_store_reading_t *reading, keel_store_h store, uint64_t unit,
                                       keel_store_part_t *parts, unsigned count);
/* Does what is possible now. KEEL_INPROGRESS: another step is needed. */
keel_status_t keel_store_reading_step(keel_store_reading_t *reading);
void keel_store_reading_end(keel_store_reading_t *reading); /* zeroed: no effect */

/* Reads parts with blocks of @a unit bytes, from the newest version. Statuses as those of
 * keel_store_load(). */
keel_status_t keel_store_read(keel_store_h store, uint64_t unit, keel_store_part_t *parts, unsigned count);
/* Reads bytes of the head of a rank's window, in a wait. KEEL_ERR_UNREACHABLE: not possible now;
 * KEEL_ERR_CORRUPT: the rank's window has no such bytes. */
keel_status_t keel_store_read_head(keel_store_h store, uint32_t rank, uint64_t offset, void *to, size_t length);
/* Bytes that the rank submitted to the newest version. */
keel_status_t keel_store_read_total(keel_store_h store, uint32_t rank, uint64_t *total_p);
/* Checks rank, range and buffer of a part. */
keel_status_t keel_store_read_check(keel_store_h store, uint64_t unit, const keel_store_part_t *part);
/* Reports that the part goes beyond the @a submitted blocks; returns KEEL_ERR_RANGE. */
keel_status_t keel_store_refuse_range(keel_store_h store, const keel_store_part_t *part, uint64_t submitted);

#endif
