/*
 * Messages of every type in any order, between deaths, replacements and checkpoints: arrivals over
 * the served lane, and the effects of control messages. The first byte of an input says the rank
 * and incarnation of the process; steps follow.
 */
#include "fuzz_scene.h"

#include "fuzz_input.h"
#include "recovery/position.h"
#include "recovery/recover.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Runs one step if the input has its data. Returns 0 at the end. */
static int step_message(fuzz_scene_t *scene, const uint8_t **at, const uint8_t *end)
{
    fuzz_message_t message;

    if ((size_t)(end - *at) < sizeof(message)) {
        return 0;
    }
    memcpy(&message, *at, sizeof(message));
    *at += sizeof(message);
    if (message.length > end - *at) {
        message.length = (uint16_t)(end - *at);
    }
    if (message.length > FUZZ_DATA_MAX) {
        return 0;
    }
    fuzz_scene_deliver(scene, &message, *at);
    *at += message.length;
    return 1;
}

static int step_raw(fuzz_scene_t *scene, int is_reply, const uint8_t **at, const uint8_t *end)
{
    size_t length;

    if (*at == end) {
        return 0;
    }
    length = *(*at)++;
    length = length < (size_t)(end - *at) ? length : (size_t)(end - *at);
    fuzz_scene_deliver_raw(scene, is_reply, *at, length);
    *at += length;
    return 1;
}

static void step_checkpoint(fuzz_scene_t *scene)
{
    const keel_image_meta_t meta = {.generation = scene->rec.phase + 1, .rank = scene->lane.rank};
    const keel_part_t part = {.kind = KEEL_PART_WINDOW, .base = scene->window, .length = FUZZ_BYTES};

    if (keel_recovery_state(&scene->rec) == KEEL_RANK_FRONT && !keel_recovery_is_frozen(&scene->rec)) {
        keel_position_leave(&scene->rec, scene->rec.phase + 1);
        (void)keel_ckpt_take(&scene->ckpt, &meta, &part, 1);
    }
}

static void step_put(fuzz_scene_t *scene, uint32_t rank)
{
    keel_record_t *record;

    if (rank == scene->lane.rank || keel_recovery_state(&scene->rec) != KEEL_RANK_FRONT) {
        return;
    }
    record = keel_put_log_reserve(&scene->puts, rank, 8);
    if (record != NULL) {
        keel_put_log_head(&scene->puts, record, keel_where(0, KEEL_RECORD_PUT, FUZZ_WINDOW), 8);
        memset(record + 1, 0x11, 8);
    }
}

static void step_replay(fuzz_scene_t *scene)
{
    keel_sync_t *sync = &scene->sync;

    if (sync->waits.is_replaying && keel_waits_are_here(sync)) {
        (void)keel_waits_replay_next(sync);
        if (keel_waits_have_remaining(sync)) {
            (void)keel_waits_take_remaining(sync);
        }
    }
    if (sync->sections.is_replaying && keel_sections_are_here(sync)) {
        keel_sections_begin(sync);
        (void)keel_sections_apply_next(sync);
        if (!keel_sections_has_left(sync) && keel_sections_finish(sync) == KEEL_OK &&
            keel_sections_catch_up(sync) == KEEL_OK) {
            keel_position_go_live_caught_up(&scene->rec);
        }
    }
}

static int step(fuzz_scene_t *scene, const uint8_t **at, const uint8_t *end)
{
    const uint8_t what = *(*at)++;
    const uint32_t rank = (what >> 4) % FUZZ_RANKS;

    switch (what & 0xf) {
    case FUZZ_STEP_RAW_REQUEST:
        return step_raw(scene, 0, at, end);
    case FUZZ_STEP_RAW_REPLY:
        return step_raw(scene, 1, at, end);
    case FUZZ_STEP_DEATH:
        fuzz_scene_event(scene, KEEL_EVENT_DEATH, rank, scene->incarnation[rank]);
        break;
    case FUZZ_STEP_JOIN:
        fuzz_scene_event(scene, KEEL_EVENT_JOIN, rank, scene->incarnation[rank] + 1);
        break;
    case FUZZ_STEP_EXIT:
        fuzz_scene_event(scene, KEEL_EVENT_EXIT, rank, scene->incarnation[rank]);
        break;
    case FUZZ_STEP_CHECKPOINT:
        step_checkpoint(scene);
        break;
    case FUZZ_STEP_PUT:
        step_put(scene, rank);
        break;
    case FUZZ_STEP_GSYNC:
        if (keel_position_may_leave(&scene->rec, scene->rec.phase + 1)) {
            keel_position_leave(&scene->rec, scene->rec.phase + 1);
        }
        break;
    case FUZZ_STEP_PROGRESS:
        keel_progress_run(&scene->progress);
        break;
    case FUZZ_STEP_REPLAY:
        step_replay(scene);
        break;
    default:
        return step_message(scene, at, end);
    }
    return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *at = data + 1, *end = data + size;
    static fuzz_scene_t scene;

    if (size < 2) {
        return 0;
    }
    fuzz_scene_begin(&scene, data[0] % FUZZ_RANKS, (data[0] >> 2) & 1);
    while (at < end && step(&scene, &at, end)) {
    }
    keel_progress_run(&scene.progress);
    fuzz_scene_end(&scene);
    return 0;
}
