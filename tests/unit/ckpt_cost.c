/*
 * The cost of a checkpoint in Daly's formula. The allocation of a slot takes time only once, so the
 * cost of later checkpoints excludes the allocation.
 */
#include "ckpt/coordinated.h"

#include "runtime_ops.h"
#include "unit.h"

#include <string.h>

#define SECOND 1000000000ull
#define BYTES  4096u

static struct scene {
    keel_lane_t lane;
    keel_own_region_t own[KEEL_REGION_WINDOW0];
    keel_config_t config;
    keel_message_t message;
    keel_transport_ops_t ops;
    keel_runtime_ops_t runtime_ops;
    keel_runtime_t runtime;
    keel_peer_t peers[1];
    keel_ckpt_t ckpt;
    uint64_t now_ns;
    uint8_t memory[2][2 * BYTES] __attribute__((aligned(64)));
    unsigned made;
} scene;

/* Each clock call takes a millisecond, an allocation takes a second. */
static uint64_t tell_now(keel_runtime_t *runtime)
{
    scene.now_ns += SECOND / 1000;
    return scene.now_ns;
}

static keel_status_t make_slowly(keel_transport_t *transport, size_t bytes, void *address, keel_transport_mem_t **mem_p,
                                 void **base_p)
{
    ck_assert_uint_lt(scene.made, 2);
    ck_assert_uint_le(bytes, sizeof(scene.memory[0]));
    *base_p = scene.memory[scene.made++];
    *mem_p = *base_p;
    scene.now_ns += SECOND;
    return KEEL_OK;
}

static void take(uint32_t generation)
{
    static uint8_t data[BYTES];
    const keel_part_t part = {.base = data, .length = sizeof(data)};
    const keel_image_meta_t meta = {.generation = generation};

    ck_assert_int_eq(keel_ckpt_take(&scene.ckpt, &meta, &part, 1), KEEL_OK);
    keel_ckpt_step(&scene.ckpt);
    ck_assert_int_eq(keel_ckpt_commit(&scene.ckpt, generation), 1);
}

START_TEST(memory_that_is_made_once_is_no_part_of_the_cost)
{
    memset(&scene, 0, sizeof(scene));
    scene.config = (keel_config_t){.protect = KEEL_PROTECT_ALL, .interval_mode = KEEL_INTERVAL_DALY, .mtbf_s = 600};
    scene.ops = (keel_transport_ops_t){.max_data = 1 << 16, .mem_alloc = make_slowly};
    scene.runtime_ops = (keel_runtime_ops_t){.now_ns = tell_now};
    scene.runtime = (keel_runtime_t){.ops = &scene.runtime_ops, .size = 1};
    scene.lane = (keel_lane_t){.message = &scene.message,
                               .config = &scene.config,
                               .ops = &scene.ops,
                               .runtime = &scene.runtime,
                               .size = 1,
                               .programs = 1,
                               .peers = scene.peers,
                               .own = scene.own,
                               .regions_room = KEEL_REGION_WINDOW0};
    ck_assert_int_eq(pthread_mutex_init(&scene.lane.lock, NULL), 0);
    ck_assert_int_eq(keel_ckpt_init(&scene.ckpt, &scene.lane, NULL), KEEL_OK);
    for (uint32_t generation = 1; generation <= 3; generation++) {
        take(generation);
        ck_assert_uint_eq(scene.made, (generation < 2) ? 1 : 2);
        ck_assert_double_lt(scene.ckpt.interval.cost_s, 0.1);
        ck_assert_double_ge(scene.ckpt.interval.cost_s, 0.001); /* one clock call at least */
    }
    keel_ckpt_release(&scene.ckpt);
    pthread_mutex_destroy(&scene.lane.lock);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {memory_that_is_made_once_is_no_part_of_the_cost, NULL};

    return unit_run("ckpt_cost", tests);
}
