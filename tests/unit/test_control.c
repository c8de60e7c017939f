/*
 * Control messages in chunks: a message appears only when whole, and never mixes chunks of several
 * messages.
 */
#include "lane_scene.h"

#include "base/memory.h"
#include "unit.h"
#include "peer/control.h"

/* Delivers @a length bytes at @a offset of a report of @a all bytes. */
static void scene_piece(scene_t *scene, uint32_t source, uint64_t all, uint64_t offset, size_t length)
{
    keel_wire_t wire = scene_wire(scene, source, KEEL_WIRE_CONTROL);
    uint8_t bytes[BYTES];

    for (size_t i = 0; i < length; i++) {
        bytes[i] = (uint8_t)(offset + i + all);
    }
    wire.body.control.type = KEEL_CONTROL_REPORT;
    wire.body.control.length = all;
    wire.body.control.before = offset;
    scene_deliver(scene, &wire, bytes, length);
}

/* One whole report arrived, and no other. */
static void check_report(scene_t *scene, uint32_t source, size_t all)
{
    keel_control_in_t *in = keel_lane_control_next(&scene->lane);

    ck_assert_ptr_nonnull(in);
    ck_assert(in->source == source && in->type == KEEL_CONTROL_REPORT && in->length == all);
    for (size_t i = 0; i < all; i++) {
        ck_assert_uint_eq(in->payload[i], (uint8_t)(i + all));
    }
    keel_free(in);
    ck_assert_ptr_null(keel_lane_control_next(&scene->lane));
}

START_TEST(a_control_message_is_whole_when_its_last_piece_is_there)
{
    scene_t scene;

    scene_begin(&scene, 0);
    scene_piece(&scene, 1, 100, 0, 40);
    scene_piece(&scene, 2, 90, 0, 89); /* chunks of another rank lie between */
    scene_piece(&scene, 1, 100, 40, 40);
    ck_assert_ptr_null(keel_lane_control_next(&scene.lane));
    scene_piece(&scene, 1, 100, 80, 20);
    check_report(&scene, 1, 100);
    scene_piece(&scene, 2, 90, 89, 1);
    check_report(&scene, 2, 90);
    /* the remaining chunks could not be sent: the source starts over */
    scene_piece(&scene, 1, 100, 0, 40);
    scene_piece(&scene, 1, 100, 40, 40);
    scene_piece(&scene, 1, 120, 0, 60);
    scene_piece(&scene, 1, 120, 60, 60);
    check_report(&scene, 1, 120);
    ck_assert_int_eq(keel_lane_failure(&scene.lane), KEEL_OK);
    scene_end(&scene);
}
END_TEST

START_TEST(a_piece_that_does_not_belong_to_what_is_there_is_refused)
{
    static const struct {
        uint64_t all, offset;
        size_t length;
    } cases[] = {{100, 41, 20}, {100, 39, 20},       {100, 40, 61}, {99, 40, 20},
                 {100, 40, 0},  {UINT64_MAX, 0, 20}, {10, 0, 20},   {100, UINT64_MAX, 20}};
    scene_t scene;

    for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        for (unsigned has_begun = 0; has_begun < 2; has_begun++) {
            scene_begin(&scene, 0);
            if (has_begun) {
                scene_piece(&scene, 1, 100, 0, 40);
            }
            scene_piece(&scene, 1, cases[i].all, cases[i].offset, cases[i].length);
            ck_assert_int_eq(keel_lane_failure(&scene.lane), KEEL_ERR_CORRUPT);
            ck_assert_ptr_null(keel_lane_control_next(&scene.lane));
            scene_end(&scene);
        }
    }
}
END_TEST

START_TEST(a_replacement_does_not_go_on_with_what_its_predecessor_sent)
{
    const uint8_t bytes[60] = {0};
    scene_t scene;
    keel_wire_t wire;

    scene_begin(&scene, 0);
    scene_piece(&scene, 1, 100, 0, 40);
    keel_lane_peer_down(&scene.lane, 1, 1);
    scene_greet(&scene, 1, 1);
    wire = scene_wire(&scene, 1, KEEL_WIRE_CONTROL);
    wire.source_incarnation = 1;
    wire.body.control.type = KEEL_CONTROL_REPORT;
    wire.body.control.length = 100;
    wire.body.control.before = 40;
    scene_deliver(&scene, &wire, bytes, sizeof(bytes));
    ck_assert_int_eq(keel_lane_failure(&scene.lane), KEEL_ERR_CORRUPT);
    scene_end(&scene);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {a_control_message_is_whole_when_its_last_piece_is_there,
                                  a_piece_that_does_not_belong_to_what_is_there_is_refused,
                                  a_replacement_does_not_go_on_with_what_its_predecessor_sent, NULL};

    return unit_run("control", tests);
}
