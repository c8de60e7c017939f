/*
 * Locks held across a gsync, in the image of the gsync. Every process is inside the gsync and has
 * the replies to all lock requests, so the locks held by each rank agree with the lock words of
 * all.
 */
#include "sync/sections_image.h"
#include "check/plant.h"
#include "peer/members.h"
#include "sync/sections.h"

#include "sync/sync.h"

#include <string.h>

typedef struct sections_image {
    uint64_t word;
    uint64_t count;
} sections_image_t;

/* one rank, perhaps this rank */
typedef struct sections_image_entry {
    uint32_t rank, held;
    uint64_t counter, seen, reads; /* of the lock held at the rank */
    uint64_t reading;              /* the word of the rank in the own lock area */
} sections_image_entry_t;

static int is_saved(const keel_sync_t *sync, uint32_t rank)
{
    return sync->sections.held[rank] != KEEL_HELD_NOT || keel_lane_locks(sync->lane)->reading[rank] != 0;
}

/* True if a gone rank owns the lock. */
static int sections_are_of_gone(const keel_lane_t *lane, uint64_t word)
{
    const uint32_t owner = keel_lock_owner(word);

    return owner > 0 && owner <= lane->size && keel_rank_is_gone(lane, owner - 1) &&
           !KEEL_PLANT(sections_image_of_gone);
}

size_t keel_sections_image_size(const keel_sync_t *sync)
{
    const keel_lock_area_t *area = keel_lane_locks(sync->lane);
    size_t count = 0;

    KEEL_EACH_TOUCHED(r, sync->lane) {
        count += (size_t)is_saved(sync, r);
    }
    return (count > 0 || keel_lock_owner(area->word) != 0)
               ? sizeof(sections_image_t) + count * sizeof(sections_image_entry_t)
               : 0;
}

void keel_sections_save(const keel_sync_t *sync, void *to)
{
    const keel_sections_t *s = &sync->sections;
    const keel_lock_area_t *area = keel_lane_locks(sync->lane);
    sections_image_t *image = to;
    sections_image_entry_t *entry = (sections_image_entry_t *)(image + 1);

    *image = (sections_image_t){.word = area->word};
    KEEL_EACH_TOUCHED(r, sync->lane) {
        if (is_saved(sync, r)) {
            entry[image->count++] = (sections_image_entry_t){.rank = r,
                                                             .held = s->held[r],
                                                             .counter = s->counter_at[r],
                                                             .seen = s->seen_at[r],
                                                             .reads = s->reads[r],
                                                             .reading = area->reading[r]};
        }
    }
}

keel_status_t keel_sections_load(keel_sync_t *sync, const void *from, size_t length)
{
    keel_sections_t *s = &sync->sections;
    keel_lock_area_t *area = keel_lane_locks(sync->lane);
    const sections_image_t *image = from;
    const sections_image_entry_t *entry = (const sections_image_entry_t *)(image + 1);

    if (length < sizeof(*image) || (length - sizeof(*image)) / sizeof(*entry) != image->count ||
        (length - sizeof(*image)) % sizeof(*entry) != 0) {
        return KEEL_ERR_CORRUPT;
    }
    for (uint64_t i = 0; i < image->count; i++) {
        const uint32_t r = entry[i].rank;

        if (r >= sync->lane->size || entry[i].held > KEEL_HELD_READING) {
            return KEEL_ERR_CORRUPT;
        }
        if (keel_rank_is_gone(sync->lane, r) && !KEEL_PLANT(sections_image_of_gone)) {
            continue; /* no rank would release the lock */
        }
        s->held[r] = (uint8_t)entry[i].held;
        s->open += entry[i].held != KEEL_HELD_NOT;
        s->counter_at[r] = entry[i].counter;
        s->seen_at[r] = entry[i].seen;
        s->reads[r] = entry[i].reads;
        if (entry[i].reading != 0) {
            keel_lock_join_readers(area, sync->lane->size, r);
        }
        keel_store_word_fenced(&area->reading[r], entry[i].reading);
    }
    keel_store_word_fenced(&area->word, sections_are_of_gone(sync->lane, image->word)
                                            ? keel_lock_word_free(keel_lock_counter(image->word))
                                            : image->word);
    return KEEL_OK;
}
