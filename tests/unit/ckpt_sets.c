/*
 * Parity over images that lie in slots of their own (ckpt/demand.h), and both ways to read images
 * (KEEL_CKPT_TRANSFER).
 */
#include "base/config.h"
#include "ckpt_world.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS UNIT_ROUNDS(60)

/* Moves each image to a slot drawn at random. */
static void scatter(world_t *w, uint8_t *slots)
{
    for (uint32_t i = 0; i < w->size; i++) {
        fake_region_t *regions = w->lane.regions[w->ranks[i]] + KEEL_REGION_IMAGE0;
        const fake_region_t image = regions[w->slot];

        slots[i] = (uint8_t)ckpt_below(&w->random, KEEL_SLOTS);
        regions[w->slot] = (fake_region_t){0};
        regions[slots[i]] = image;
    }
}

START_TEST(images_in_slots_of_their_own_have_the_same_parity)
{
    const uint64_t seed = ckpt_seed("images_in_slots_of_their_own_have_the_same_parity");
    uint8_t slots[GROUP_MAX];
    world_t w;

    for (unsigned round = 0; round < ROUNDS; round++) {
        world_init(&w, seed + round);
        world_encode(&w);
        scatter(&w, slots);
        for (uint32_t i = 0; i < w.size; i++) {
            keel_parity_t *parity = world_parity(&w, i);
            uint8_t *share = world_output(&w, w.share_size), *image = world_output(&w, w.image_sizes[i]);
            keel_parity_work_t work = world_work(&w, share);

            work.image_slots = slots;
            ck_assert_int_eq(keel_parity_encode(parity, &work), KEEL_OK);
            ck_assert_int_eq(world_run(&w, parity), KEEL_OK);
            world_check(share, w.shares[i], w.share_size);
            work.output = image;
            ck_assert_int_eq(keel_parity_rebuild(parity, &work), KEEL_OK);
            ck_assert_int_eq(world_run(&w, parity), KEEL_OK);
            world_check(image, w.images[i], w.image_sizes[i]);
            free(share);
            free(image);
            keel_parity_destroy(parity);
        }
        world_free(&w);
    }
}
END_TEST

/* One member has a new image in another slot. */
START_TEST(the_share_in_use_and_what_changed_make_the_new_one)
{
    const uint64_t seed = ckpt_seed("the_share_in_use_and_what_changed_make_the_new_one");
    world_t w;

    for (unsigned round = 0; round < ROUNDS; round++) {
        uint8_t before[GROUP_MAX], now[GROUP_MAX], *image, *share;
        const uint8_t *maps[GROUP_MAX] = {0};
        keel_changes_shape_t shape;
        keel_parity_before_t base;
        keel_parity_work_t work;
        keel_parity_t *parity;
        uint64_t position = 0;
        uint32_t changed;
        uint8_t *map;

        world_init(&w, seed + round);
        world_encode(&w);
        changed = (uint32_t)ckpt_below(&w.random, w.size);
        memset(before, (int)w.slot, sizeof before);
        memset(now, (int)w.slot, sizeof now);
        now[changed] = KEEL_SLOTS - 1;
        image = malloc(w.image_sizes[changed] + 1);
        memcpy(image, w.images[changed], w.image_sizes[changed]);
        if (w.image_sizes[changed] > 0) {
            image[ckpt_below(&w.random, w.image_sizes[changed])] ^= 0x41;
        }
        w.lane.regions[w.ranks[changed]][KEEL_REGION_IMAGE0 + KEEL_SLOTS - 1] =
            (fake_region_t){.memory = image, .size = w.image_sizes[changed]};
        for (uint32_t i = 0; i < w.size; i++) {
            if (i == changed) {
                continue;
            }
            parity = world_parity(&w, i);
            shape = keel_parity_changes_shape(parity, w.image_sizes);
            map = calloc(1, shape.bytes + 1);
            position = 0;
            ck_assert(shape.bytes == 0 || keel_changes_compare(&shape, image, w.images[changed], w.image_sizes[changed],
                                                               UINT64_MAX, &position, map));
            maps[changed] = map;
            base = (keel_parity_before_t){.share = w.shares[i], .image_slots = before, .changes = maps};
            share = world_output(&w, w.share_size);
            work = world_work(&w, share);
            work.image_slots = now;
            work.before = &base;
            ck_assert_int_eq(keel_parity_encode(parity, &work), KEEL_OK);
            ck_assert_int_eq(world_run(&w, parity), KEEL_OK);
            work.before = NULL; /* a full computation gives the same share */
            work.output = world_output(&w, w.share_size);
            ck_assert_int_eq(keel_parity_encode(parity, &work), KEEL_OK);
            ck_assert_int_eq(world_run(&w, parity), KEEL_OK);
            world_check(share, work.output, w.share_size);
            free(work.output);
            free(share);
            free(map);
            maps[changed] = NULL;
            keel_parity_destroy(parity);
        }
        free(image);
        world_free(&w);
    }
}
END_TEST

static uint64_t large(uint64_t *random)
{
    return 20 * PIECE + ckpt_below(random, PIECE);
}

static size_t peak_of(keel_transfer_t transfer, uint64_t seed, unsigned *pending_p)
{
    const keel_config_t config = {.transfer = transfer};
    keel_parity_t *parity;
    uint8_t *share;
    size_t peak;
    world_t w;

    world_init_sized(&w, seed, 4, 1, large);
    world_encode(&w);
    memset(w.lane.is_mapped, 0, sizeof w.lane.is_mapped);
    w.lane.at_once_percent = 0;
    w.lane.pending_most = 0;
    w.lane.lane.config = &config;
    parity = world_parity(&w, 0);
    share = world_output(&w, w.share_size);
    ck_assert_int_eq(world_begin_share(&w, parity, share), KEEL_OK);
    ck_assert_int_eq(world_run(&w, parity), KEEL_OK);
    world_check(share, w.shares[0], w.share_size);
    peak = keel_parity_buffer_peak(parity);
    *pending_p = w.lane.pending_most;
    keel_parity_destroy(parity);
    free(share);
    world_free(&w);
    return peak;
}

START_TEST(a_stream_takes_less_memory_and_bulk_has_more_under_way)
{
    const uint64_t seed = ckpt_seed("a_stream_takes_less_memory_and_bulk_has_more_under_way");
    unsigned stream_pending, bulk_pending;
    const size_t stream = peak_of(KEEL_TRANSFER_STREAM, seed, &stream_pending);
    const size_t bulk = peak_of(KEEL_TRANSFER_BULK, seed, &bulk_pending);

    ck_assert_uint_le(stream_pending, AHEAD * 3);
    ck_assert_uint_le(stream, AHEAD * 3 * (PIECE + 256));
    ck_assert_uint_gt(bulk_pending, stream_pending);
    ck_assert_uint_gt(bulk, stream);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("parity of sets");
    TCase *tcase = tcase_create("sets");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tcase, 0); /* ctest has a timeout */
    tcase_add_test(tcase, images_in_slots_of_their_own_have_the_same_parity);
    tcase_add_test(tcase, the_share_in_use_and_what_changed_make_the_new_one);
    tcase_add_test(tcase, a_stream_takes_less_memory_and_bulk_has_more_under_way);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
