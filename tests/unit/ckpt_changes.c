/*
 * Parity of images that changed in part: the update from the changed blocks equals a full
 * computation.
 */
#include "ckpt_world.h"

#include <check.h>
#include <string.h>

/* The images in the world's slot are the former ones. New images lie in the other slot, with maps
 * of the changed blocks. */
typedef struct later {
    world_t *w;
    keel_changes_shape_t shape;
    uint8_t *images[GROUP_MAX], *maps[GROUP_MAX], *shares[GROUP_MAX];
} later_t;

/* Changes about @a in_1024 of each 1024 blocks, each in one byte or as a whole. */
static void later_image(later_t *later, uint32_t member, unsigned in_1024)
{
    world_t *w = later->w;
    const uint64_t size = w->image_sizes[member];
    fake_region_t *region = &w->lane.regions[w->ranks[member]][KEEL_REGION_IMAGE0 + 1 - w->slot];
    uint64_t position = 0;

    ck_assert_uint_lt(size, 1u << 30);
    *region = (fake_region_t){.memory = malloc(size + 100), .size = size + 100};
    ckpt_fill(&w->random, region->memory, size + 100);
    memcpy(region->memory, w->images[member], size);
    for (uint64_t at = 0; at < size; at += 1 + ckpt_below(&w->random, later->shape.block)) {
        if (ckpt_below(&w->random, 1024) < in_1024) {
            const uint64_t most = ckpt_below(&w->random, 2) ? 1 : size - at;

            ckpt_fill(&w->random, region->memory + at, most < later->shape.block ? most : later->shape.block);
        }
    }
    later->images[member] = region->memory;
    later->maps[member] = calloc(1, later->shape.bytes + 1);
    while (!keel_changes_compare(&later->shape, region->memory, w->images[member], size,
                                 1 + ckpt_below(&w->random, 100000), &position, later->maps[member])) {
    }
}

static void later_init(later_t *later, world_t *w, unsigned in_1024)
{
    keel_parity_t *parity = world_parity(w, 0);

    *later = (later_t){.w = w, .shape = keel_parity_changes_shape(parity, w->image_sizes)};
    keel_parity_destroy(parity);
    for (uint32_t i = 0; i < w->size; i++) {
        later_image(later, i, in_1024);
    }
}

static void later_free(later_t *later)
{
    for (uint32_t i = 0; i < later->w->size; i++) {
        free(later->images[i]);
        free(later->maps[i]);
    }
}

/* Returns the new share of a member, computed with or without the former share. */
static uint8_t *later_share(later_t *later, uint32_t index, int has_before, uint64_t *read_p, uint64_t *spared_p)
{
    world_t *w = later->w;
    uint8_t *share = world_output(w, w->share_size);
    const keel_parity_before_t before = {.share = w->shares[index], .changes = (const uint8_t *const *)later->maps};
    keel_parity_t *parity = world_parity(w, index);
    keel_parity_work_t work = world_work(w, share);
    uint64_t moved;

    work.slot = 1 - w->slot;
    work.before = has_before ? &before : NULL;
    ck_assert_int_eq(keel_parity_encode(parity, &work), KEEL_OK);
    ck_assert_int_eq(world_run(w, parity), KEEL_OK);
    *read_p = 0;
    for (uint32_t i = 0; i < w->size; i++) {
        *read_p += keel_parity_bytes_from(parity, i);
    }
    *spared_p = keel_parity_bytes_spared(parity);
    moved = keel_parity_bytes_moved(parity) - *read_p;
    ck_assert_uint_ge(moved, w->share_size);
    ck_assert_uint_le(moved, (has_before ? 2 : 1) * w->share_size);
    keel_parity_destroy(parity);
    return share;
}

/* Checks the shares of all members; the outputs are the sums of bytes read and spared. */
static void later_check(later_t *later, uint64_t *read_p, uint64_t *spared_p)
{
    *read_p = *spared_p = 0;
    for (uint32_t i = 0; i < later->w->size; i++) {
        uint64_t all, none, read, spared;
        uint8_t *anew = later_share(later, i, 0, &all, &none);
        uint8_t *share = later_share(later, i, 1, &read, &spared);

        world_check(share, anew, later->w->share_size);
        ck_assert_uint_eq(none, 0);
        ck_assert_uint_eq(read + spared, all);
        *read_p += read;
        *spared_p += spared;
        free(share);
        free(anew);
    }
}

START_TEST(a_share_from_differences_is_the_share_computed_from_images)
{
    static const unsigned rates[] = {0, 3, 30, 300, 1024};
    uint64_t seed = ckpt_seed("a_share_from_differences_is_the_share_computed_from_images");

    for (int round = 0; round < UNIT_ROUNDS(60); round++) {
        uint64_t read, spared;
        later_t later;
        world_t w;

        world_init(&w, ckpt_random(&seed));
        world_encode(&w);
        later_init(&later, &w, rates[round % 5]);
        later_check(&later, &read, &spared);
        if (rates[round % 5] == 0) {
            ck_assert_uint_eq(read, 0);
        }
        later_free(&later);
        world_free(&w);
    }
}
END_TEST

static uint64_t large_image_size(uint64_t *random)
{
    return 1000000;
}

START_TEST(one_changed_block_costs_what_was_and_what_is_of_it_once_a_parity)
{
    for (uint32_t parities = 1; parities <= 3; parities++) {
        uint64_t read, spared;
        later_t later;
        world_t w;

        world_init_sized(&w, 5, 6, parities, large_image_size);
        world_encode(&w);
        later_init(&later, &w, 0);
        later.images[2][later.shape.chunk + 5] ^= 1;
        keel_changes_compare(&later.shape, later.images[2], w.images[2], 1000000, 1000000, &(uint64_t){0},
                             later.maps[2]);
        later_check(&later, &read, &spared);
        ck_assert_uint_eq(read, 2 * parities * later.shape.block);
        later_free(&later);
        world_check_products(&w);
        world_free(&w);
    }
}
END_TEST

START_TEST(every_difference_sets_its_bit_and_no_other)
{
    uint64_t seed = ckpt_seed("every_difference_sets_its_bit_and_no_other");
    const keel_stripes_t stripes = {.size = 5, .parities = 2};

    for (int round = 0; round < UNIT_ROUNDS(300); round++) {
        const uint64_t size = 1 + ckpt_below(&seed, 100000), at = ckpt_below(&seed, size);
        const uint64_t sizes[5] = {size, ckpt_below(&seed, 100000)};
        const size_t most = 3 + ckpt_below(&seed, 200);
        const keel_changes_shape_t shape = keel_changes_shape(&stripes, sizes, 1024 + ckpt_below(&seed, 60000), most);
        uint8_t *image = malloc(size), *before = malloc(size), *map = calloc(1, shape.bytes);
        uint64_t position = 0;
        unsigned set = 0;

        ck_assert_uint_gt(shape.bytes, 0);
        ck_assert_uint_le(shape.bytes, most);
        ckpt_fill(&seed, image, size);
        memcpy(before, image, size);
        before[at] ^= (uint8_t)(1 + ckpt_below(&seed, 255));
        while (!keel_changes_compare(&shape, image, before, size, 1 + ckpt_below(&seed, 20000), &position, map)) {
        }
        ck_assert_int_eq(keel_changes_has(&shape, map, at / shape.chunk, at % shape.chunk), 1);
        for (size_t i = 0; i < shape.bytes; i++) {
            set += (unsigned)__builtin_popcount(map[i]);
        }
        ck_assert_uint_eq(set, 1);
        free(image);
        free(before);
        free(map);
    }
}
END_TEST

START_TEST(without_room_for_a_map_there_is_none)
{
    const keel_stripes_t stripes = {.size = 40, .parities = 1};
    const uint64_t sizes[40] = {5000}, none[40] = {0};

    ck_assert_uint_eq(keel_changes_shape(&stripes, none, 4096, 1000).bytes, 0);
    ck_assert_uint_eq(keel_changes_shape(&stripes, sizes, 4096, 4).bytes, 0);
    ck_assert_uint_eq(keel_changes_shape(&stripes, sizes, 512, 1000).bytes, 0);
    ck_assert_uint_gt(keel_changes_shape(&stripes, sizes, 4096, 1000).bytes, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ckpt changes");
    TCase *tcase = tcase_create("changes");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tcase, 0); /* ctest has a timeout */
    tcase_add_test(tcase, a_share_from_differences_is_the_share_computed_from_images);
    tcase_add_test(tcase, one_changed_block_costs_what_was_and_what_is_of_it_once_a_parity);
    tcase_add_test(tcase, every_difference_sets_its_bit_and_no_other);
    tcase_add_test(tcase, without_room_for_a_map_there_is_none);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
