/* Images: written data are read back, and nothing else is accepted. */
#include "ckpt/image.h"

#include "base/crc.h"

#include "ckpt_random.h"

#include <check.h>
#include <string.h>

#define PARTS_MAX 12

typedef struct fixture {
    uint64_t random;
    keel_part_t parts[PARTS_MAX];
    unsigned count;
    keel_image_meta_t meta;
    uint8_t *slot; /* exactly size bytes, so that a sanitizer reports an access beyond */
    size_t size;
} fixture_t;

static void fixture_init(fixture_t *f, uint64_t seed, uint64_t largest)
{
    memset(f, 0, sizeof *f);
    f->random = seed;
    f->count = (unsigned)ckpt_below(&f->random, PARTS_MAX + 1);
    f->meta = (keel_image_meta_t){.generation = ckpt_random(&f->random), .rank = 7, .rollbacks = 3, .window_calls = 9};
    for (unsigned i = 0; i < f->count; i++) {
        keel_part_t *part = &f->parts[i];

        part->kind = i < f->count / 2 ? KEEL_PART_WINDOW : KEEL_PART_PROTECTED;
        part->id = (uint32_t)ckpt_random(&f->random);
        part->where = (part->kind == KEEL_PART_WINDOW) ? ckpt_random(&f->random) : 0;
        part->length = ckpt_below(&f->random, 4) == 0 ? 0 : ckpt_below(&f->random, largest);
        part->base = malloc(part->length + 1);
        ckpt_fill(&f->random, part->base, part->length);
    }
    f->size = keel_image_size(f->parts, f->count);
    f->slot = aligned_alloc(KEEL_IMAGE_ALIGN, f->size);
    memset(f->slot, 0xa5, f->size);
    keel_image_write(f->slot, &f->meta, f->parts, f->count);
}

static void fixture_free(fixture_t *f)
{
    for (unsigned i = 0; i < f->count; i++) {
        free(f->parts[i].base);
    }
    free(f->slot);
}

/* Neither check nor read accepts the slot, and both give a reason. */
static void assert_refused(const fixture_t *f, const void *slot, size_t size)
{
    const char *why = NULL;
    keel_image_meta_t meta;

    ck_assert_int_eq(keel_image_check(slot, size, &meta, &why), KEEL_ERR_CORRUPT);
    ck_assert_ptr_nonnull(why);
    ck_assert_int_eq(keel_image_check(slot, size, NULL, NULL), KEEL_ERR_CORRUPT);
}

START_TEST(what_is_written_is_read_back)
{
    uint64_t seed = ckpt_seed("what_is_written_is_read_back");

    for (int round = 0; round < 200; round++) {
        void *saved[PARTS_MAX];
        keel_image_meta_t meta;
        fixture_t f;

        fixture_init(&f, ckpt_random(&seed), 5000);
        ck_assert_uint_eq(f.size % KEEL_IMAGE_ALIGN, 0);
        ck_assert_int_eq(keel_image_check(f.slot, f.size, &meta, NULL), KEEL_OK);
        ck_assert_mem_eq(&meta, &f.meta, sizeof meta);
        for (unsigned i = 0; i < f.count; i++) {
            saved[i] = malloc(f.parts[i].length + 1);
            if (f.parts[i].length > 0) {
                memcpy(saved[i], f.parts[i].base, f.parts[i].length);
                memset(f.parts[i].base, 0x5a, f.parts[i].length);
            }
        }
        ck_assert_int_eq(keel_image_read(f.slot, f.size, f.parts, f.count, NULL), KEEL_OK);
        for (unsigned i = 0; i < f.count; i++) {
            ck_assert(f.parts[i].length == 0 || memcmp(saved[i], f.parts[i].base, f.parts[i].length) == 0);
            free(saved[i]);
        }
        fixture_free(&f);
    }
}
END_TEST

START_TEST(an_image_in_a_larger_slot_is_accepted)
{
    fixture_t f;
    uint8_t *larger;

    fixture_init(&f, 4, 5000);
    larger = calloc(1, f.size + 1000);
    memcpy(larger, f.slot, f.size);
    ck_assert_int_eq(keel_image_check(larger, f.size + 1000, NULL, NULL), KEEL_OK);
    ck_assert_int_eq(keel_image_read(larger, f.size + 1000, f.parts, f.count, NULL), KEEL_OK);
    free(larger);
    fixture_free(&f);
}
END_TEST

START_TEST(equal_state_gives_equal_images)
{
    fixture_t f;
    uint8_t *again;

    fixture_init(&f, 5, 5000);
    again = malloc(f.size);
    memset(again, 0x11, f.size);
    keel_image_write(again, &f.meta, f.parts, f.count);
    ck_assert_int_eq(memcmp(again, f.slot, f.size), 0);
    free(again);
    fixture_free(&f);
}
END_TEST

START_TEST(every_single_bit_counts)
{
    fixture_t f;

    fixture_init(&f, 6, 200);
    ck_assert_uint_gt(f.count, 2);
    for (size_t bit = 0; bit < f.size * 8; bit++) {
        f.slot[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_refused(&f, f.slot, f.size);
        f.slot[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    ck_assert_int_eq(keel_image_check(f.slot, f.size, NULL, NULL), KEEL_OK);
    fixture_free(&f);
}
END_TEST

START_TEST(every_truncation_is_refused)
{
    fixture_t f;

    fixture_init(&f, 6, 200);
    for (size_t size = 0; size < f.size; size++) {
        uint8_t *shorter = malloc(size + (size == 0));

        memcpy(shorter, f.slot, size);
        assert_refused(&f, shorter, size);
        ck_assert_int_eq(keel_image_read(shorter, size, f.parts, f.count, NULL), KEEL_ERR_CORRUPT);
        free(shorter);
    }
    fixture_free(&f);
}
END_TEST

START_TEST(random_damage_is_refused)
{
    uint64_t seed = ckpt_seed("random_damage_is_refused");

    for (int round = 0; round < 3000; round++) {
        const char *why = NULL;
        uint8_t *before;
        fixture_t f;

        fixture_init(&f, ckpt_random(&seed), 700);
        before = malloc(f.size);
        memcpy(before, f.slot, f.size);
        for (uint64_t flips = 1 + ckpt_below(&f.random, 40); flips > 0; flips--) {
            const uint64_t limit = ckpt_below(&f.random, 2) ? f.size : 64 + f.count * 32;

            f.slot[ckpt_below(&f.random, limit)] ^= (uint8_t)(1u << ckpt_below(&f.random, 8));
        }
        if (memcmp(before, f.slot, f.size) != 0) {
            assert_refused(&f, f.slot, f.size);
            /* No access outside the slot. Only damaged padding may pass, because a read does not
             * use padding. */
            (void)keel_image_read(f.slot, f.size, f.parts, f.count, &why);
        }
        free(before);
        fixture_free(&f);
    }
}
END_TEST

START_TEST(noise_is_refused)
{
    uint64_t seed = ckpt_seed("noise_is_refused");

    for (int round = 0; round < 3000; round++) {
        const uint64_t magic = KEEL_IMAGE_MAGIC;
        const uint32_t version = KEEL_IMAGE_VERSION;
        const size_t size = ckpt_below(&seed, 400);
        uint8_t *slot = malloc(size + 1);

        ckpt_fill(&seed, slot, size);
        if (size >= 12) { /* pass the first checks */
            memcpy(slot, &magic, 8);
            memcpy(slot + 8, &version, 4);
        }
        if (size >= 64) {
            const uint64_t length = ckpt_below(&seed, 2) ? size / 64 * 64 : ckpt_random(&seed);

            memcpy(slot + 16, &length, 8);
            slot[50] = slot[51] = 0; /* part count below 65536 */
        }
        ck_assert_int_eq(keel_image_check(slot, size, NULL, NULL), KEEL_ERR_CORRUPT);
        free(slot);
    }
}
END_TEST

static void put_u32(uint8_t *at, uint32_t value)
{
    memcpy(at, &value, sizeof value);
}

static void put_u64(uint8_t *at, uint64_t value)
{
    memcpy(at, &value, sizeof value);
}

/* Stores a header crc that fits the present header and table; offsets as in image.c. */
static void forge_crc(uint8_t *slot, size_t size)
{
    uint32_t count;

    memcpy(&count, slot + 56, sizeof count);
    put_u32(slot + 12, 0);
    if (64 + 32ull * count <= size) {
        put_u32(slot + 12, keel_crc(0, slot, 64 + 32ull * count));
    }
}

START_TEST(a_table_that_lies_under_a_right_crc_is_refused)
{
    uint64_t seed = ckpt_seed("a_table_that_lies_under_a_right_crc_is_refused");

    for (int round = 0; round < 5000; round++) {
        static const uint64_t evil[] = {UINT64_MAX, UINT64_MAX - 63, UINT64_MAX - 64, 1ull << 63, 1ull << 32, 0, 1, 64};
        uint64_t value;
        uint8_t *entry, *before;
        int is_possible = 0;
        fixture_t f;

        fixture_init(&f, ckpt_random(&seed), 700);
        before = malloc(f.size);
        memcpy(before, f.slot, f.size);
        value = evil[ckpt_below(&f.random, sizeof evil / sizeof *evil)];
        value = ckpt_below(&f.random, 2) ? value : ckpt_below(&f.random, 2 * f.size);
        entry = f.slot + 64 + 32 * ckpt_below(&f.random, f.count + (f.count == 0));
        switch (f.count == 0 ? ckpt_below(&f.random, 2) : ckpt_below(&f.random, 5)) {
        case 0:
            put_u64(f.slot + 16, value);
            break;
        case 1:
            put_u32(f.slot + 56, (uint32_t)value);
            is_possible = value == f.count + 1ull; /* one more empty part, if the table has room */
            break;
        case 2:
            put_u32(entry, 2 + (uint32_t)ckpt_below(&f.random, UINT32_MAX - 2));
            break;
        case 3:
            put_u64(entry + 8, value);
            break;
        /* Offset of the bytes: any offset is legal, but a changed one is not the requested part. */
        default:
            put_u64(entry + 16, value);
            is_possible = 1;
        }
        if (memcmp(before, f.slot, f.size) != 0) {
            forge_crc(f.slot, f.size);
            if (!is_possible) {
                assert_refused(&f, f.slot, f.size);
            }
            ck_assert_int_ne(keel_image_read(f.slot, f.size, f.parts, f.count, NULL), KEEL_OK);
        }
        free(before);
        fixture_free(&f);
    }
}
END_TEST

START_TEST(another_set_of_parts_is_refused_before_anything_is_written)
{
    keel_part_t other[PARTS_MAX + 1];
    uint8_t *before;
    fixture_t f;

    fixture_init(&f, 6, 300);
    ck_assert_uint_gt(f.count, 2);
    memset(f.parts[0].base, 0x77, f.parts[0].length);
    before = malloc(f.parts[0].length);
    memcpy(before, f.parts[0].base, f.parts[0].length);
    for (int change = 0; change < 6; change++) {
        const char *why = NULL;
        unsigned count = f.count;

        memcpy(other, f.parts, sizeof f.parts);
        switch (change) {
        case 0:
            other[count - 1].id++;
            break;
        case 1:
            other[count - 1].length--;
            break;
        case 2:
            other[count - 1].kind = KEEL_PART_WINDOW;
            break;
        case 3:
            count--;
            break;
        case 4:
            other[0].where++;
            break;
        default:
            other[count] = other[count - 1];
            count++;
        }
        ck_assert_int_eq(keel_image_read(f.slot, f.size, other, count, &why), KEEL_ERR_STATE);
        ck_assert_ptr_nonnull(why);
        ck_assert_int_eq(memcmp(before, f.parts[0].base, f.parts[0].length), 0);
    }
    free(before);
    fixture_free(&f);
}
END_TEST

START_TEST(the_table_has_the_parts_and_their_places)
{
    for (uint64_t seed = 1; seed < 50; seed++) {
        keel_part_t parts[PARTS_MAX + 1];
        unsigned count = 0;
        fixture_t f;

        fixture_init(&f, seed, 200);
        ck_assert_int_eq(keel_image_table(f.slot, f.size, NULL, 0, &count, NULL), KEEL_OK);
        ck_assert_uint_eq(count, f.count);
        ck_assert_int_eq(keel_image_table(f.slot, f.size, parts, count, &count, NULL), KEEL_OK);
        for (unsigned i = 0; i < count; i++) {
            ck_assert(parts[i].kind == f.parts[i].kind && parts[i].id == f.parts[i].id &&
                      parts[i].length == f.parts[i].length && parts[i].where == f.parts[i].where);
        }
        f.slot[0] ^= 1;
        ck_assert_int_eq(keel_image_table(f.slot, f.size, parts, count, &count, NULL), KEEL_ERR_CORRUPT);
        fixture_free(&f);
    }
}
END_TEST

START_TEST(bytes_of_a_window_are_found_where_the_image_has_them)
{
    for (uint64_t seed = 1; seed < 50; seed++) {
        fixture_t f;

        fixture_init(&f, seed, 200);
        for (unsigned i = 0; i < f.count; i++) {
            const keel_part_t *part = &f.parts[i];
            const uint64_t half = part->length / 2;
            const void *found = keel_image_find(f.slot, part->id, part->where + half, part->length - half);

            if (part->kind == KEEL_PART_WINDOW) {
                ck_assert_ptr_nonnull(found);
                ck_assert_int_eq(memcmp(found, (char *)part->base + half, part->length - half), 0);
            } else {
                ck_assert_ptr_null(found);
            }
            ck_assert_ptr_null(keel_image_find(f.slot, part->id, part->where, part->length + 1));
            ck_assert_ptr_null(keel_image_find(f.slot, part->id, part->where - 1, 1));
            ck_assert_ptr_null(keel_image_find(f.slot, part->id, part->where + half, UINT64_MAX));
        }
        fixture_free(&f);
    }
}
END_TEST

START_TEST(an_image_without_parts_is_an_image)
{
    const keel_image_meta_t meta = {.generation = 1};
    _Alignas(64) uint8_t slot[64];
    keel_image_meta_t read;

    ck_assert_uint_eq(keel_image_size(NULL, 0), sizeof slot);
    keel_image_write(slot, &meta, NULL, 0);
    ck_assert_int_eq(keel_image_check(slot, sizeof slot, &read, NULL), KEEL_OK);
    ck_assert_uint_eq(read.generation, 1);
    ck_assert_int_eq(keel_image_read(slot, sizeof slot, NULL, 0, NULL), KEEL_OK);
}
END_TEST

START_TEST(a_zeroed_slot_is_no_image)
{
    static const uint8_t slot[4096];

    ck_assert_int_eq(keel_image_check(slot, sizeof slot, NULL, NULL), KEEL_ERR_CORRUPT);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ckpt image");
    TCase *tcase = tcase_create("image");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tcase, 0); /* ctest has a timeout */
    tcase_add_test(tcase, what_is_written_is_read_back);
    tcase_add_test(tcase, an_image_in_a_larger_slot_is_accepted);
    tcase_add_test(tcase, equal_state_gives_equal_images);
    tcase_add_test(tcase, every_single_bit_counts);
    tcase_add_test(tcase, every_truncation_is_refused);
    tcase_add_test(tcase, random_damage_is_refused);
    tcase_add_test(tcase, noise_is_refused);
    tcase_add_test(tcase, a_table_that_lies_under_a_right_crc_is_refused);
    tcase_add_test(tcase, another_set_of_parts_is_refused_before_anything_is_written);
    tcase_add_test(tcase, the_table_has_the_parts_and_their_places);
    tcase_add_test(tcase, bytes_of_a_window_are_found_where_the_image_has_them);
    tcase_add_test(tcase, an_image_without_parts_is_an_image);
    tcase_add_test(tcase, a_zeroed_slot_is_no_image);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
