/* Exclusion of accumulates of many elements and single atomics, by threads as ranks. */
#include "peer/combine/combine_lock.h"

#include "unit.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

enum { RANKS = 3, BLOCKS = 64, ELEMENTS = BLOCKS * KEEL_COMBINE_BLOCK / sizeof(uint64_t), ROUNDS = 60, REGION = 12 };

static keel_combine_area_t area;
static _Alignas(64) uint64_t elements[ELEMENTS];
static keel_peer_t peers[RANKS][RANKS];
static keel_lane_t lanes[RANKS];
static uint64_t ones[ELEMENTS];

static void scene_begin(void)
{
    memset(&area, 0, sizeof(area));
    memset(elements, 0, sizeof(elements));
    memset(peers, 0, sizeof(peers));
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        lanes[rank] = (keel_lane_t){.rank = rank, .size = RANKS, .peers = peers[rank]};
    }
    for (unsigned i = 0; i < ELEMENTS; i++) {
        ones[i] = 1;
    }
}

static void add_many(const keel_lane_t *lane)
{
    const keel_record_accumulate_t head = {.op = KEEL_OP_SUM, .type = KEEL_TYPE_UINT64, .count = ELEMENTS};
    const keel_combine_place_t place = {.area = &area, .target = (char *)elements, .region = REGION};

    while (!keel_combine_try(lane, &area)) {
        sched_yield();
    }
    keel_combine_held(&place, &head, (const char *)ones, NULL);
    keel_combine_release(lane, &area);
}

static void add_one(const keel_lane_t *lane, unsigned element)
{
    const uint32_t block = keel_combine_block(REGION, element * sizeof(uint64_t));

    while (!keel_combine_settle(lane, &area, block)) {
        sched_yield();
    }
    __atomic_fetch_add(&elements[element], 1, __ATOMIC_ACQ_REL);
}

static void *accumulate(void *arg)
{
    for (unsigned i = 0; i < BLOCKS; i++) {
        add_many(arg);
    }
    return NULL;
}

/* Each atomic but the first of a block finds the block settled. */
static void *atomics(void *arg)
{
    for (unsigned i = 0; i < ELEMENTS; i++) {
        add_one(arg, i);
    }
    return NULL;
}

START_TEST(no_addition_is_lost)
{
    pthread_t threads[RANKS];
    uint64_t lost = 0;

    for (unsigned round = 0; round < ROUNDS; round++) {
        scene_begin();
        for (unsigned i = 0; i < RANKS; i++) {
            ck_assert_int_eq(pthread_create(&threads[i], NULL, (i == 2) ? atomics : accumulate, &lanes[i]), 0);
        }
        for (unsigned i = 0; i < RANKS; i++) {
            pthread_join(threads[i], NULL);
        }
        for (unsigned i = 0; i < ELEMENTS; i++) {
            lost += 2 * BLOCKS + 1 - elements[i];
        }
        ck_assert_uint_eq(lost, 0);
        ck_assert_uint_eq(area.holder, 0);
    }
}
END_TEST

START_TEST(a_dead_holder_is_passed_over)
{
    scene_begin();
    ck_assert(keel_combine_try(&lanes[0], &area));
    ck_assert(!keel_combine_try(&lanes[1], &area) && !keel_combine_settle(&lanes[1], &area, 5));
    lanes[1].peers[0].incarnation = 1;
    ck_assert(keel_combine_settle(&lanes[1], &area, 5));
    ck_assert(keel_combine_try(&lanes[1], &area) && !keel_combine_try(&lanes[2], &area));
    keel_combine_release(&lanes[0], &area); /* still runs, and holds nothing any more */
    ck_assert(!keel_combine_try(&lanes[2], &area));
    keel_combine_release(&lanes[1], &area);

    /* the replacement of the holder */
    ck_assert(keel_combine_try(&lanes[0], &area));
    lanes[0].incarnation = 1;
    ck_assert(keel_combine_try(&lanes[0], &area));
    lanes[1].incarnation = 1;
    /* before the rank knows of the death */
    ck_assert(!keel_combine_try(&lanes[1], &area));
}
END_TEST

/* Elements that begin in a touched block are combined by locked instructions, which the simulator
 * and the test above need; here only that each element is combined once, at any offset and size. */
START_TEST(each_element_is_combined_once)
{
    static _Alignas(64) uint8_t bytes[150 * KEEL_COMBINE_BLOCK], values[sizeof(bytes)], found[sizeof(bytes)];
    static uint8_t zeros[sizeof(bytes)], rest[sizeof(bytes)];
    uint64_t random = unit_seed();

    memset(values, 1, sizeof(values));
    memset(rest, 0xff, sizeof(rest));
    for (unsigned i = 0; i < 2000; i++) {
        const keel_type_t type = (keel_type_t)(KEEL_TYPE_UINT8 + unit_random(&random) % 4);
        const size_t size = keel_type_size(type), first = unit_random(&random) % KEEL_COMBINE_BLOCK / size * size;
        const uint32_t count = 1 + (uint32_t)(unit_random(&random) % ((sizeof(bytes) - first) / size));
        const keel_record_accumulate_t head = {.op = KEEL_OP_SUM, .type = (uint8_t)type, .count = count};
        const keel_combine_place_t place = {.area = &area,
                                            .target = (char *)bytes + first,
                                            .region = REGION,
                                            .offset = unit_random(&random) % 4096 / size * size + i % 2 * (size / 2)};

        scene_begin();
        memset(bytes, 0, sizeof(bytes));
        memset(found, 0xff, sizeof(found));
        for (unsigned k = 0; k < i % 8; k++) {
            keel_combine_set(area.touched,
                             keel_combine_block(REGION, place.offset + k * (unit_random(&random) % sizeof(bytes))));
        }
        keel_combine_held(&place, &head, (const char *)values, (char *)found);
        ck_assert_mem_eq(bytes, zeros, first);
        ck_assert_mem_eq(bytes + first, values, count * size);
        ck_assert_mem_eq(bytes + first + count * size, zeros, sizeof(bytes) - first - count * size);
        ck_assert_mem_eq(found, zeros, count * size);
        ck_assert_mem_eq(found + count * size, rest, sizeof(found) - count * size);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {no_addition_is_lost, a_dead_holder_is_passed_over, each_element_is_combined_once,
                                  NULL};

    return unit_run("combine_lock", tests);
}
