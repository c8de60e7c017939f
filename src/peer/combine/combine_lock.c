/* Exclusion of accumulates (combine_area.h). */
#include "peer/combine/combine_lock.h"

#include "check/plant.h"
#include "peer/access.h"
#include "peer/combine/combine_plain.h"

/* Blocks that a call of the plain loop combines at most. */
#define PLAIN_BLOCKS 128u

keel_combine_area_t *keel_combine_area_of(keel_lane_t *lane, uint32_t rank)
{
    keel_lock_area_t *area = (rank == lane->rank)
                                 ? keel_lane_locks(lane)
                                 : (keel_lock_area_t *)keel_access_mapped(lane, rank, KEEL_REGION_LOCKS);

    return (area != NULL) ? &area->combine : NULL;
}

/* True if the holder in @a word is known to be dead. */
static int holder_is_dead(const keel_lane_t *lane, uint64_t word)
{
    const uint32_t rank = (uint32_t)word - 1, incarnation = (uint32_t)(word >> 32);

    if (rank >= lane->size || KEEL_PLANT(combine_lock_of_dead)) {
        return 0;
    }
    return incarnation < ((rank == lane->rank) ? lane->incarnation : lane->peers[rank].incarnation);
}

int keel_combine_try(const keel_lane_t *lane, keel_combine_area_t *area)
{
    uint64_t before = __atomic_load_n(&area->holder, __ATOMIC_SEQ_CST);

    if (before != 0 && !holder_is_dead(lane, before) && !KEEL_PLANT(combine_lock_shared)) {
        return 0;
    }
    return keel_store_word_exchange(&area->holder, &before, (uint64_t)lane->incarnation << 32 | (lane->rank + 1));
}

void keel_combine_release(const keel_lane_t *lane, keel_combine_area_t *area)
{
    uint64_t own = (uint64_t)lane->incarnation << 32 | (lane->rank + 1);

    /* not the word of a rank that took this one for dead */
    (void)keel_store_word_exchange(&area->holder, &own, 0);
}

int keel_combine_settle(const keel_lane_t *lane, keel_combine_area_t *area, uint32_t block)
{
    uint64_t holder;

    if (keel_combine_is_set(area->settled, block) || KEEL_PLANT(combine_lock_untouched)) {
        return 1;
    }
    keel_combine_set(area->touched, block);
    keel_store_fence(); /* the bit may be another rank's */
    holder = __atomic_load_n(&area->holder, __ATOMIC_SEQ_CST);
    if (holder != 0 && !holder_is_dead(lane, holder) && !KEEL_PLANT(combine_lock_settled_early)) {
        return 0;
    }
    keel_combine_set(area->settled, block);
    return 1;
}

/* Number of blocks of the kind @a is_touched, from @a block on, at most @a most. */
static uint32_t blocks_alike(const uint64_t *touched, uint32_t block, uint32_t most, int is_touched)
{
    uint32_t count = 0, run, left;

    do {
        const uint32_t next = (block + count) % KEEL_COMBINE_BLOCKS;
        const uint64_t bits = __atomic_load_n(&touched[next / 64], __ATOMIC_SEQ_CST);
        const uint64_t others = (is_touched ? ~bits : bits) >> (next % 64);

        left = 64 - next % 64;
        run = (others != 0) ? (uint32_t)__builtin_ctzll(others) : left;
        count += run;
    } while (run == left && count < most);
    return (count < most) ? count : most;
}

/* Number of elements before the first block of another kind, at most @a count. */
static uint32_t elements_alike(const keel_combine_place_t *place, uint64_t offset, size_t size, uint32_t count,
                               int *is_touched_p)
{
    const uint64_t first = offset / KEEL_COMBINE_BLOCK, last = (offset + (count - 1) * size) / KEEL_COMBINE_BLOCK;
    const uint32_t block = keel_combine_block(place->region, offset);
    const uint32_t most = (last - first < PLAIN_BLOCKS) ? (uint32_t)(last - first) + 1 : PLAIN_BLOCKS;
    uint64_t end;

    *is_touched_p = keel_combine_is_set(place->area->touched, block);
    end = (first + blocks_alike(place->area->touched, block, most, *is_touched_p)) * KEEL_COMBINE_BLOCK;
    /* the start of an element determines its block */
    return (end - offset < count * size) ? (uint32_t)((end - offset + size - 1) / size) : count;
}

void keel_combine_held(const keel_combine_place_t *place, const keel_record_accumulate_t *head, const char *values,
                       char *result)
{
    const size_t size = keel_type_size((keel_type_t)head->type);
    keel_record_accumulate_t part = *head;
    size_t at = 0;
    int is_locked;

    for (uint32_t left = head->count; left > 0; left -= part.count) {
        char *found = (result != NULL) ? result + at : NULL;

        part.count = elements_alike(place, place->offset + at, size, left, &is_locked);
        if (is_locked || !keel_combine_plain(&part, place->target + at, values + at, found)) {
            keel_combine(&part, place->target + at, values + at, found);
        }
        KEEL_MOMENT();
        at += part.count * size;
    }
}
