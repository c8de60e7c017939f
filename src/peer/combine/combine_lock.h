/* Accumulates of many elements that exclude each other and single atomics (combine_area.h). */
#ifndef KEEL_PEER_COMBINE_LOCK_H_
#define KEEL_PEER_COMBINE_LOCK_H_

#include "peer/combine.h"
#include "peer/peer.h"

/* The area of a rank's memory, own memory included; NULL: not mapped. */
keel_combine_area_t *keel_combine_area_of(keel_lane_t *lane, uint32_t rank);
/* Takes the area for an accumulate. Returns 0 if another live rank holds the area. Between taking
 * and releasing the area the caller must not wait. */
int keel_combine_try(const keel_lane_t *lane, keel_combine_area_t *area);
void keel_combine_release(const keel_lane_t *lane, keel_combine_area_t *area);
/* Settles a block for single atomics. Returns 0 if a rank holds the area, which may not know of the
 * atomic; then the caller tries again. */
int keel_combine_settle(const keel_lane_t *lane, keel_combine_area_t *area, uint32_t block);

/* Where an accumulate goes, while the caller holds the area of that memory. */
typedef struct keel_combine_place {
    const keel_combine_area_t *area;
    char *target;
    unsigned region;
    uint64_t offset; /* of the first element in the region */
} keel_combine_place_t;
/* keel_combine(), while the caller holds the area: by plain loops in blocks without single
 * atomics. */
void keel_combine_held(const keel_combine_place_t *place, const keel_record_accumulate_t *head, const char *values,
                       char *result);

#endif
