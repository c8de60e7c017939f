/* Parity on members of its own: any m members of a group decode from the others. */
#include "code/rs.h"

#include "ckpt_world.h"

#include <check.h>
#include <string.h>

static uint64_t small_image_size(uint64_t *random)
{
    return ckpt_below(random, 4) == 0 ? 0 : ckpt_below(random, 9000);
}

static void encode_all(world_t *w)
{
    for (uint32_t i = 0; i < w->parities; i++) {
        keel_parity_t *parity = world_parity(w, i);

        ck_assert_int_eq(world_begin_share(w, parity, w->shares[i]), KEEL_OK);
        ck_assert_int_eq(world_run(w, parity), KEEL_OK);
        keel_parity_destroy(parity);
    }
}

START_TEST(a_share_is_the_parity_of_whole_images)
{
    uint64_t seed = ckpt_seed("a_share_is_the_parity_of_whole_images");

    for (uint32_t size = 2; size <= GROUP_MAX; size++) {
        for (uint32_t parities = 1; parities < size && parities <= KEEL_RS_PARITIES_MAX; parities++) {
            world_t w;

            world_init_dedicated(&w, ckpt_random(&seed), size, parities, small_image_size);
            encode_all(&w);
            for (uint32_t row = 0; row < parities; row++) {
                uint8_t *expected = calloc(1, w.share_size + 1);

                for (uint32_t column = 0; column < size - parities; column++) {
                    keel_rs_add_reference(expected, w.images[parities + column],
                                          keel_rs_coefficient(size - parities, parities, row, column),
                                          w.image_sizes[parities + column]);
                }
                ck_assert_int_eq(memcmp(expected, w.shares[row], w.share_size), 0);
                free(expected);
            }
            world_free(&w);
        }
    }
}
END_TEST

/* Decodes a lost member from the remaining members. */
static void decode_one(world_t *w, uint32_t index)
{
    const int is_parity = index < w->parities;
    const size_t length = is_parity ? w->share_size : w->image_sizes[index];
    keel_parity_t *parity = world_parity(w, index);
    uint8_t *output = world_output(w, length);

    ck_assert_int_eq(is_parity ? world_begin_share(w, parity, output) : world_begin_image(w, parity, output), KEEL_OK);
    ck_assert_int_eq(world_run(w, parity), KEEL_OK);
    world_check(output, is_parity ? w->shares[index] : w->images[index], length);
    keel_parity_destroy(parity);
    free(output);
}

START_TEST(every_set_of_m_members_is_rebuilt)
{
    uint64_t seed = ckpt_seed("every_set_of_m_members_is_rebuilt");

    for (uint32_t size = 2; size <= GROUP_MAX; size++) {
        for (uint32_t parities = 1; parities < size && parities <= KEEL_RS_PARITIES_MAX; parities++) {
            world_t w;

            world_init_dedicated(&w, ckpt_random(&seed), size, parities, small_image_size);
            encode_all(&w);
            for (unsigned set = 1; set < (1u << size); set++) {
                if ((uint32_t)__builtin_popcount(set) > parities) {
                    continue;
                }
                for (uint32_t i = 0; i < size; i++) {
                    w.has[i] = (set >> i & 1) ? 0 : KEEL_PARITY_HAS_ALL;
                }
                for (uint32_t i = 0; i < size; i++) {
                    if (set >> i & 1) {
                        decode_one(&w, i);
                    }
                }
            }
            world_free(&w);
        }
    }
}
END_TEST

START_TEST(members_compute_only_what_they_have)
{
    uint8_t *output;
    world_t w;

    world_init_dedicated(&w, 9, 5, 2, small_image_size);
    output = world_output(&w, 64 * 9000);
    for (uint32_t i = 0; i < 5; i++) {
        const keel_parity_group_t group = world_group(&w, i);
        keel_parity_t *parity = world_parity(&w, i);

        ck_assert_uint_eq(keel_parity_share_size(&group, w.image_sizes), i < 2 ? w.share_size : 0);
        ck_assert_int_eq(i < 2 ? world_begin_image(&w, parity, output) : world_begin_share(&w, parity, output),
                         KEEL_ERR_INVALID_PARAM);
        keel_parity_destroy(parity);
    }
    free(output);
    world_free(&w);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ckpt dedicated");
    TCase *tcase = tcase_create("dedicated");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tcase, 0); /* ctest has a timeout */
    tcase_add_test(tcase, a_share_is_the_parity_of_whole_images);
    tcase_add_test(tcase, every_set_of_m_members_is_rebuilt);
    tcase_add_test(tcase, members_compute_only_what_they_have);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
