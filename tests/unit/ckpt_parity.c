/*
 * Parity of a group: shares decode to every member's image, for all sizes, lanes, orders and
 * failures.
 */
#include "base/memory.h"
#include "code/rs.h"

#include "ckpt_world.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* Stores the product of each byte and the coefficient. */
static void products_of(uint8_t *products, uint8_t coefficient)
{
    memset(products, 0, 256);
    for (unsigned value = 0; value < 256; value++) {
        const uint8_t byte = (uint8_t)value;

        keel_rs_add_reference(&products[value], &byte, coefficient, 1);
    }
}

/* Computes the share by the definition in stripes.h. */
static void share_by_definition(const world_t *w, uint32_t index, uint8_t *share)
{
    const uint32_t data = w->size - w->parities;
    const uint64_t chunk = w->share_size / w->parities;
    uint8_t products[256];

    memset(share, 0, w->share_size);
    for (uint32_t row = 0; row < w->parities; row++) {
        const uint32_t stripe = (index + w->size - row) % w->size;

        for (uint32_t place = 0; place < data; place++) {
            const uint32_t member = (stripe + w->parities + place) % w->size;

            products_of(products, keel_rs_coefficient(data, w->parities, row, place));
            for (uint64_t at = 0; at < chunk && place * chunk + at < w->image_sizes[member]; at++) {
                share[row * chunk + at] ^= products[w->images[member][place * chunk + at]];
            }
        }
    }
}

START_TEST(a_share_is_what_the_header_says)
{
    uint64_t seed = ckpt_seed("a_share_is_what_the_header_says");

    for (int round = 0; round < UNIT_ROUNDS(40); round++) {
        uint8_t *share;
        world_t w;

        world_init(&w, ckpt_random(&seed));
        world_encode(&w);
        share = malloc(w.share_size + 1);
        ck_assert_ptr_nonnull(share);
        for (uint32_t i = 0; i < w.size; i++) {
            share_by_definition(&w, i, share);
            ck_assert_mem_eq(w.shares[i], share, w.share_size);
        }
        free(share);
        world_free(&w);
    }
}
END_TEST

/* A member that lost everything, or only its share. */
typedef struct lost {
    uint32_t index;
    keel_parity_t *parity;
    uint8_t *image, *share, *old_image, *old_share;
    int has_image;
    int stage; /* 0: image under way, 1: share under way, 2: done */
} lost_t;

static void lost_begin(world_t *w, lost_t *lost)
{
    lost->parity = world_parity(w, lost->index);
    lost->image = world_output(w, w->image_sizes[lost->index]);
    lost->share = world_output(w, w->share_size);
    lost->old_image = malloc(w->image_sizes[lost->index] + 1);
    lost->old_share = malloc(w->share_size + 1);
    memcpy(lost->old_image, w->images[lost->index], w->image_sizes[lost->index]);
    memcpy(lost->old_share, w->shares[lost->index], w->share_size);
    memset(w->shares[lost->index], 0xbb, w->share_size);
    if (!lost->has_image) {
        memset(w->images[lost->index], 0xbb, w->image_sizes[lost->index]);
    }
    w->has[lost->index] = lost->has_image ? KEEL_PARITY_HAS_IMAGE : 0;
    lost->stage = lost->has_image;
}

static void lost_step(world_t *w, lost_t *lost)
{
    const keel_status_t status = keel_parity_step(lost->parity);

    if (status == KEEL_INPROGRESS || lost->stage == 2) {
        return;
    }
    ck_assert_int_eq(status, KEEL_OK);
    if (++lost->stage == 1) {
        ck_assert_int_eq(world_begin_share(w, lost->parity, lost->share), KEEL_OK);
    }
}

static void lost_end(world_t *w, lost_t *lost)
{
    if (!lost->has_image) {
        world_check(lost->image, lost->old_image, w->image_sizes[lost->index]);
    }
    world_check(lost->share, lost->old_share, w->share_size);
    memcpy(w->images[lost->index], lost->old_image, w->image_sizes[lost->index]);
    memcpy(w->shares[lost->index], lost->old_share, w->share_size);
    w->has[lost->index] = KEEL_PARITY_HAS_ALL;
    free(lost->image);
    free(lost->share);
    free(lost->old_image);
    free(lost->old_share);
    keel_parity_destroy(lost->parity);
}

static void lose_and_check(world_t *w, unsigned set)
{
    lost_t lost[KEEL_RS_PARITIES_MAX];
    unsigned count = 0, done = 0;

    for (uint32_t i = 0; i < w->size; i++) {
        if (set >> i & 1) {
            lost[count] = (lost_t){.index = i, .has_image = ckpt_below(&w->random, 4) == 0};
            lost_begin(w, &lost[count++]);
        }
    }
    for (unsigned i = 0; i < count; i++) {
        ck_assert_int_eq(lost[i].has_image ? world_begin_share(w, lost[i].parity, lost[i].share)
                                           : world_begin_image(w, lost[i].parity, lost[i].image),
                         KEEL_OK);
    }
    for (int steps = 0; done < count; steps++) {
        ck_assert_int_lt(steps, STEPS_MAX);
        lost_step(w, &lost[ckpt_below(&w->random, count)]);
        fake_lane_progress(&w->lane, (unsigned)ckpt_below(&w->random, 8));
        done = 0;
        for (unsigned i = 0; i < count; i++) {
            done += lost[i].stage == 2;
        }
    }
    for (unsigned i = 0; i < count; i++) {
        lost_end(w, &lost[i]);
    }
}

START_TEST(ranks_lost_together_are_rebuilt_at_the_same_time)
{
    uint64_t seed = ckpt_seed("ranks_lost_together_are_rebuilt_at_the_same_time");

    for (int round = 0; round < UNIT_ROUNDS(40); round++) {
        world_t w;

        world_init(&w, ckpt_random(&seed));
        world_encode(&w);
        for (int loss = 0; loss < ((w.parities <= 3) ? 12 : 2); loss++) {
            unsigned set = 0;

            for (uint32_t i = 0; i < w.parities; i++) {
                set |= 1u << ckpt_below(&w.random, w.size);
            }
            lose_and_check(&w, set);
        }
        world_free(&w);
    }
}
END_TEST

static uint64_t small_image_size(uint64_t *random)
{
    return ckpt_below(random, 3) == 0 ? 0 : ckpt_below(random, 3000);
}

/* True if the test loses this set. With up to 3 parities: every set that they cover; with more:
 * those sets of the largest groups that need all parities. */
static int is_tried(unsigned set, uint32_t size, uint32_t parities)
{
    const uint32_t lost = (uint32_t)__builtin_popcount(set);

    return (parities <= 3) ? lost <= parities : lost == parities && size == GROUP_MAX;
}

START_TEST(every_set_of_m_members_of_every_group_is_rebuilt)
{
    uint64_t seed = ckpt_seed("every_set_of_m_members_of_every_group_is_rebuilt");

    for (uint32_t size = 2; size <= GROUP_MAX; size++) {
        for (uint32_t parities = 1; parities < size && parities <= KEEL_RS_PARITIES_MAX; parities++) {
            world_t w;

            world_init_sized(&w, ckpt_random(&seed), size, parities, small_image_size);
            world_encode(&w);
            for (unsigned set = 1; set < (1u << size); set++) {
                if (is_tried(set, size, parities)) {
                    lose_and_check(&w, set);
                }
            }
            world_check_products(&w);
            world_free(&w);
        }
    }
}
END_TEST

START_TEST(more_losses_than_parities_are_refused)
{
    keel_parity_t *parity;
    uint8_t *output;
    world_t w;

    world_init_sized(&w, 7, 5, 2, small_image_size);
    world_encode(&w);
    output = world_output(&w, 64 * 3000);
    parity = world_parity(&w, 0);
    w.has[1] = 0;
    ck_assert_int_eq(world_begin_image(&w, parity, output), KEEL_OK);
    keel_parity_cancel(parity);
    w.has[3] = 0;
    ck_assert_int_eq(world_begin_image(&w, parity, output), KEEL_ERR_INVALID_PARAM);
    ck_assert_int_eq(world_begin_share(&w, parity, output), KEEL_ERR_INVALID_PARAM);
    ck_assert_int_eq(keel_parity_step(parity), KEEL_OK);
    keel_parity_destroy(parity);
    free(output);
    world_free(&w);
}
END_TEST

START_TEST(a_group_of_two_mirrors)
{
    uint64_t seed = ckpt_seed("a_group_of_two_mirrors");

    for (int round = 0; round < UNIT_ROUNDS(20); round++) {
        world_t w;

        world_init_sized(&w, ckpt_random(&seed), 2, 1, world_image_size);
        world_encode(&w);
        ck_assert_int_eq(memcmp(w.shares[0], w.images[1], w.image_sizes[1]), 0);
        ck_assert_int_eq(memcmp(w.shares[1], w.images[0], w.image_sizes[0]), 0);
        world_free(&w);
    }
}
END_TEST

START_TEST(share_size_is_a_fair_part_of_the_largest_image)
{
    const uint64_t sizes[4] = {0, 64 * 3 * 10, 5, 64};
    const keel_parity_group_t of_two = {.size = 2, .parities = 1}, of_three = {.size = 3, .parities = 1};
    const keel_parity_group_t of_four = {.size = 4, .parities = 1}, twice = {.size = 4, .parities = 2};

    ck_assert_uint_eq(keel_parity_share_size(&of_four, sizes), 640);
    ck_assert_uint_eq(keel_parity_share_size(&twice, sizes), 2 * 960);
    ck_assert_uint_eq(keel_parity_share_size(&of_two, sizes), 1920);
    ck_assert_uint_eq(keel_parity_share_size(&of_four, (const uint64_t[]){1, 0, 0, 0}), 64);
    ck_assert_uint_eq(keel_parity_share_size(&twice, (const uint64_t[]){1, 0, 0, 0}), 128);
    ck_assert_uint_eq(keel_parity_share_size(&of_three, (const uint64_t[]){0, 0, 0}), 0);
    ck_assert_uint_eq(keel_parity_share_size(&of_four, (const uint64_t[]){64 * 3 + 1, 0, 0, 0}), 128);
}
END_TEST

static void cancel_cb(void *arg)
{
    keel_parity_cancel(arg);
}

/* Cancelled work leaves no trace in later work, although the cancelled reads still end. */
START_TEST(work_cancelled_at_any_point_does_not_disturb_the_next)
{
    uint64_t seed = ckpt_seed("work_cancelled_at_any_point_does_not_disturb_the_next");

    for (int round = 0; round < UNIT_ROUNDS(60); round++) {
        keel_parity_t *parity;
        uint8_t *garbage, *share;
        uint32_t index;
        world_t w;

        world_init(&w, ckpt_random(&seed));
        world_encode(&w);
        index = (uint32_t)ckpt_below(&w.random, w.size);
        parity = world_parity(&w, index);
        share = world_output(&w, w.share_size);
        for (int again = 0; again < 8; again++) {
            garbage = malloc(w.share_size + 1);
            ck_assert_int_eq(world_begin_share(&w, parity, garbage), KEEL_OK);
            for (uint64_t steps = ckpt_below(&w.random, 12); steps > 0; steps--) {
                (void)keel_parity_step(parity);
                fake_lane_progress(&w.lane, (unsigned)ckpt_below(&w.random, 5));
            }
            if (ckpt_below(&w.random, 3) == 0) { /* from inside a read */
                w.lane.on_read = cancel_cb;
                w.lane.on_read_arg = parity;
                (void)keel_parity_step(parity);
                w.lane.on_read = NULL;
            }
            keel_parity_cancel(parity);
            ck_assert_int_eq(keel_parity_step(parity), KEEL_OK);
            free(garbage); /* no read may write to garbage after this point */
        }
        ck_assert_int_eq(world_begin_share(&w, parity, share), KEEL_OK);
        ck_assert_int_eq(world_run(&w, parity), KEEL_OK);
        world_check(share, w.shares[index], w.share_size);
        ck_assert_uint_le(w.lane.pending_most, AHEAD * (w.size - 1));
        keel_parity_destroy(parity);
        fake_lane_progress(&w.lane, FAKE_PENDING);
        free(share);
        world_free(&w);
    }
}
END_TEST

START_TEST(destroyed_with_reads_outstanding)
{
    uint64_t seed = ckpt_seed("destroyed_with_reads_outstanding");

    for (int round = 0; round < UNIT_ROUNDS(40); round++) {
        keel_parity_t *parity;
        uint8_t *share;
        world_t w;

        world_init(&w, ckpt_random(&seed));
        share = malloc(w.share_size + 1);
        parity = world_parity(&w, 0);
        ck_assert_int_eq(world_begin_share(&w, parity, share), KEEL_OK);
        for (uint64_t steps = ckpt_below(&w.random, 4); steps > 0; steps--) {
            (void)keel_parity_step(parity);
        }
        keel_parity_destroy(parity);
        free(share);
        fake_lane_progress(&w.lane, FAKE_PENDING);
        world_free(&w);
    }
    keel_parity_destroy(NULL);
}
END_TEST

static uint64_t some_image_size(uint64_t *random)
{
    return 300000 + ckpt_below(random, 300000);
}

START_TEST(an_error_of_any_read_ends_the_work_until_the_next)
{
    uint64_t seed = ckpt_seed("an_error_of_any_read_ends_the_work_until_the_next");
    world_t w;

    for (int round = 0; round < 3; round++) {
        unsigned reads = 1;

        world_init_sized(&w, ckpt_random(&seed), 4, 1 + (uint32_t)round % 3, some_image_size);
        w.lane.ops.max_data = 60000;
        memset(w.lane.is_mapped, 0, sizeof w.lane.is_mapped);
        world_encode(&w);
        for (unsigned fail = 1; fail <= reads; fail++) {
            keel_parity_t *parity = world_parity(&w, 1);
            uint8_t *image = world_output(&w, w.image_sizes[1]);

            w.lane.reads = 0;
            w.lane.fail_read = fail;
            w.lane.fail_in_call = (int)ckpt_below(&w.random, 2);
            w.lane.fail_status = KEEL_ERR_UNREACHABLE;
            ck_assert_int_eq(world_begin_image(&w, parity, image), KEEL_OK);
            ck_assert_int_eq(world_run(&w, parity), KEEL_ERR_UNREACHABLE);
            ck_assert_int_eq(keel_parity_step(parity), KEEL_ERR_UNREACHABLE);
            if (w.lane.fail_in_call) { /* nothing begins after an error */
                ck_assert_uint_eq(w.lane.reads, fail);
            }
            w.lane.fail_read = 0;
            if (ckpt_below(&w.random, 2)) {
                fake_lane_progress(&w.lane, FAKE_PENDING);
                ck_assert_int_eq(keel_parity_step(parity), KEEL_ERR_UNREACHABLE);
            }
            w.lane.reads = 0;
            ck_assert_int_eq(world_begin_image(&w, parity, image), KEEL_OK);
            ck_assert_int_eq(world_run(&w, parity), KEEL_OK);
            world_check(image, w.images[1], w.image_sizes[1]);
            reads = w.lane.reads;
            fake_lane_progress(&w.lane, FAKE_PENDING);
            keel_parity_destroy(parity);
            free(image);
        }
        ck_assert_uint_gt(reads, 4);
        world_free(&w);
    }
}
END_TEST

/* More chunks than four steps can combine and read ahead in a group of three. */
static uint64_t large_image_size(uint64_t *random)
{
    return 2000000 + ckpt_below(random, 300000);
}

START_TEST(a_peer_that_dies_ends_the_work)
{
    uint64_t seed = ckpt_seed("a_peer_that_dies_ends_the_work");

    for (int round = 0; round < UNIT_ROUNDS(40); round++) {
        uint8_t *share;
        keel_parity_t *parity;
        world_t w;

        world_init_sized(&w, ckpt_random(&seed), 3, 1, large_image_size);
        share = malloc(w.share_size);
        parity = world_parity(&w, 0);
        ck_assert_int_eq(world_begin_share(&w, parity, share), KEEL_OK);
        for (uint64_t steps = ckpt_below(&w.random, 4); steps > 0; steps--) {
            (void)keel_parity_step(parity);
            fake_lane_progress(&w.lane, 1);
        }
        fake_lane_kill(&w.lane, w.ranks[1]);
        ck_assert_int_eq(world_run(&w, parity), KEEL_ERR_UNREACHABLE);
        keel_parity_destroy(parity);
        fake_lane_progress(&w.lane, FAKE_PENDING);
        free(share);
        world_free(&w);
    }
}
END_TEST

START_TEST(a_region_shorter_than_its_owner_said_is_refused)
{
    for (int is_mapped = 0; is_mapped < 2; is_mapped++) {
        uint8_t *share;
        keel_parity_t *parity;
        fake_region_t *region;
        world_t w;

        world_init_sized(&w, 11, 3, 1, some_image_size);
        share = malloc(w.share_size);
        parity = world_parity(&w, 0);
        region = &w.lane.regions[w.ranks[2]][KEEL_REGION_IMAGE0 + w.slot];

        w.lane.is_mapped[w.ranks[2]] = is_mapped;
        region->size = 1000;
        region->memory = w.images[2] = realloc(w.images[2], 1000);
        ck_assert_int_eq(world_begin_share(&w, parity, share), KEEL_OK);
        ck_assert_int_eq(world_run(&w, parity), KEEL_ERR_CORRUPT);
        region->size = 0;
        ck_assert_int_eq(world_begin_share(&w, parity, share), KEEL_OK);
        ck_assert_int_eq(world_run(&w, parity), KEEL_ERR_UNREACHABLE);
        keel_parity_destroy(parity);
        fake_lane_progress(&w.lane, FAKE_PENDING);
        free(share);
        world_free(&w);
    }
}
END_TEST

START_TEST(a_step_does_a_bounded_amount_of_work)
{
    uint64_t seed = ckpt_seed("a_step_does_a_bounded_amount_of_work");

    for (int round = 0; round < UNIT_ROUNDS(20); round++) {
        keel_parity_t *parity;
        keel_status_t status;
        uint64_t before = 0;
        uint8_t *image;
        world_t w;

        world_init(&w, ckpt_random(&seed));
        world_encode(&w);
        image = malloc(w.image_sizes[0] + 1);
        parity = world_parity(&w, 0);
        ck_assert_int_eq(world_begin_image(&w, parity, image), KEEL_OK);
        do {
            uint64_t after = 0;

            status = keel_parity_step(parity);
            fake_lane_progress(&w.lane, FAKE_PENDING);
            for (uint32_t i = 0; i < w.size; i++) {
                after += keel_parity_bytes_from(parity, i);
            }
            ck_assert_uint_lt(after - before, 4 * PIECE + (w.size - 1) * PIECE);
            before = after;
        } while (status == KEEL_INPROGRESS);
        ck_assert_int_eq(status, KEEL_OK);
        keel_parity_destroy(parity);
        free(image);
        world_free(&w);
    }
}
END_TEST

START_TEST(bytes_are_counted_by_member)
{
    keel_parity_t *parity;
    uint8_t *image;
    world_t w;

    world_init_sized(&w, 5, 4, 1, some_image_size);
    for (uint32_t i = 0; i < 4; i++) { /* no padding anywhere */
        w.image_sizes[i] = 3 * 64 * 1000;
    }
    w.share_size = 64 * 1000;
    world_encode(&w);
    image = malloc(w.image_sizes[2]);
    parity = world_parity(&w, 2);
    ck_assert_int_eq(world_begin_share(&w, parity, image), KEEL_OK);
    ck_assert_int_eq(world_run(&w, parity), KEEL_OK);
    for (uint32_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(keel_parity_bytes_from(parity, i), i == 2 ? 0 : w.share_size);
    }
    ck_assert_int_eq(world_begin_image(&w, parity, image), KEEL_OK);
    ck_assert_uint_eq(keel_parity_bytes_from(parity, 0), 0);
    ck_assert_int_eq(world_run(&w, parity), KEEL_OK);
    /* a share of each member, and the chunks that are not in a stripe of the own parity */
    for (uint32_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(keel_parity_bytes_from(parity, i), i == 2 ? 0 : 3 * w.share_size);
    }
    ck_assert_uint_eq(keel_parity_bytes_from(parity, 99), 0);
    keel_parity_destroy(parity);
    free(image);
    world_free(&w);
}
END_TEST

typedef struct scarcity {
    int left; /* remaining allocations that succeed */
} scarcity_t;

static int scarcity_may_allocate(void *arg, size_t bytes, const char *name)
{
    scarcity_t *scarcity = arg;

    return scarcity->left-- > 0;
}

START_TEST(every_allocation_may_fail)
{
    scarcity_t scarcity = {0};
    const keel_memory_hook_t hook = {.may_allocate = scarcity_may_allocate, .arg = &scarcity};
    keel_status_t status = KEEL_ERR_NO_MEMORY;
    uint8_t *share;
    world_t w;

    world_init_sized(&w, 3, 4, 2, some_image_size);
    memset(w.lane.is_mapped, 0, sizeof w.lane.is_mapped);
    world_encode(&w);
    share = malloc(w.share_size);
    for (int count = 0; status != KEEL_OK; count++) {
        const keel_parity_group_t group = world_group(&w, 0);
        keel_parity_t *parity = NULL;

        ck_assert_int_lt(count, 100);
        scarcity.left = count;
        keel_memory_set_hook(&hook);
        status = keel_parity_create(&w.lane.lane, &group, &parity);
        if (status == KEEL_OK) {
            ck_assert_int_eq(world_begin_share(&w, parity, share), KEEL_OK);
            status = world_run(&w, parity);
            keel_parity_destroy(parity);
        }
        keel_memory_set_hook(NULL);
        ck_assert(status == KEEL_OK || status == KEEL_ERR_NO_MEMORY);
        fake_lane_progress(&w.lane, FAKE_PENDING);
    }
    ck_assert_int_eq(memcmp(share, w.shares[0], w.share_size), 0);
    free(share);
    world_free(&w);
}
END_TEST

START_TEST(mapped_members_need_no_buffers)
{
    scarcity_t scarcity = {0};
    const keel_memory_hook_t hook = {.may_allocate = scarcity_may_allocate, .arg = &scarcity};
    keel_parity_t *parity;
    uint8_t *share;
    world_t w;

    world_init_sized(&w, 3, 4, 2, some_image_size);
    for (uint32_t i = 0; i < w.size; i++) {
        w.lane.is_mapped[w.ranks[i]] = 1;
    }
    share = malloc(w.share_size);
    parity = world_parity(&w, 0);
    keel_memory_set_hook(&hook);
    ck_assert_int_eq(world_begin_share(&w, parity, share), KEEL_OK);
    ck_assert_int_eq(world_run(&w, parity), KEEL_OK);
    keel_memory_set_hook(NULL);
    keel_parity_destroy(parity);
    free(share);
    world_free(&w);
}
END_TEST

START_TEST(calls_out_of_place_are_refused)
{
    const keel_parity_group_t alone = {.members = (const uint32_t[]){1}, .size = 1, .index = 0, .parities = 1};
    const keel_parity_group_t other = {.members = (const uint32_t[]){1, 2}, .size = 2, .index = 2, .parities = 1};
    const keel_parity_group_t mirrors = {.members = (const uint32_t[]){1, 2}, .size = 2, .index = 0, .parities = 2};
    const keel_parity_group_t none = {.members = (const uint32_t[]){1, 2}, .size = 2, .index = 0};
    uint64_t nonsense[3] = {64, UINT64_MAX - 5, 64};
    keel_parity_work_t work;
    keel_parity_t *parity;
    uint8_t *share;
    world_t w;

    world_init_sized(&w, 3, 3, 1, some_image_size);
    share = malloc(w.share_size);
    ck_assert_int_eq(keel_parity_create(&w.lane.lane, &alone, &parity), KEEL_ERR_INVALID_PARAM);
    ck_assert_int_eq(keel_parity_create(&w.lane.lane, &other, &parity), KEEL_ERR_INVALID_PARAM);
    ck_assert_int_eq(keel_parity_create(&w.lane.lane, &mirrors, &parity), KEEL_ERR_INVALID_PARAM);
    ck_assert_int_eq(keel_parity_create(&w.lane.lane, &none, &parity), KEEL_ERR_INVALID_PARAM);
    parity = world_parity(&w, 0);
    ck_assert_int_eq(keel_parity_step(parity), KEEL_OK);
    keel_parity_cancel(parity);
    work = world_work(&w, share);
    work.slot = KEEL_SLOTS;
    ck_assert_int_eq(keel_parity_encode(parity, &work), KEEL_ERR_INVALID_PARAM);
    work = world_work(&w, share);
    work.image_sizes = nonsense;
    ck_assert_int_eq(keel_parity_encode(parity, &work), KEEL_ERR_INVALID_PARAM);
    ck_assert_int_eq(world_begin_share(&w, parity, share), KEEL_OK);
    ck_assert_int_eq(world_begin_image(&w, parity, share), KEEL_ERR_STATE);
    ck_assert_int_eq(world_run(&w, parity), KEEL_OK);
    ck_assert_int_eq(keel_parity_step(parity), KEEL_OK);
    keel_parity_destroy(parity);
    free(share);
    world_free(&w);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ckpt parity");
    TCase *tcase = tcase_create("parity");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tcase, 0); /* ctest has a timeout */
    tcase_add_test(tcase, a_share_is_what_the_header_says);
    tcase_add_test(tcase, ranks_lost_together_are_rebuilt_at_the_same_time);
    tcase_add_test(tcase, every_set_of_m_members_of_every_group_is_rebuilt);
    tcase_add_test(tcase, more_losses_than_parities_are_refused);
    tcase_add_test(tcase, a_group_of_two_mirrors);
    tcase_add_test(tcase, share_size_is_a_fair_part_of_the_largest_image);
    tcase_add_test(tcase, work_cancelled_at_any_point_does_not_disturb_the_next);
    tcase_add_test(tcase, destroyed_with_reads_outstanding);
    tcase_add_test(tcase, an_error_of_any_read_ends_the_work_until_the_next);
    tcase_add_test(tcase, a_peer_that_dies_ends_the_work);
    tcase_add_test(tcase, a_region_shorter_than_its_owner_said_is_refused);
    tcase_add_test(tcase, a_step_does_a_bounded_amount_of_work);
    tcase_add_test(tcase, bytes_are_counted_by_member);
    tcase_add_test(tcase, every_allocation_may_fail);
    tcase_add_test(tcase, mapped_members_need_no_buffers);
    tcase_add_test(tcase, calls_out_of_place_are_refused);
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
