/*
 * Records: put-log records on arrival, get-log records as sent on, and the get log as the sources
 * left the log in the memory of this process. The process outlives each input, and clears its logs
 * between inputs.
 */
#include "fuzz_scene.h"

#include "fuzz_input.h"
#include "oplog/get_log_chunks.h"
#include "oplog/get_log_replay.h"
#include "peer/issue.h"
#include "peer/region.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static fuzz_scene_t scene;

static void record_arena(const uint8_t *data, size_t size)
{
    const uint64_t value = 7;
    const keel_get_record_t record = {.phase = 3, .length = sizeof(value)};
    uint8_t *arena = keel_lane_region_base(&scene.lane, KEEL_REGION_GETLOG);
    const uint32_t chunk_size = keel_get_chunk_size(FUZZ_GETLOG);
    void *to;

    memcpy(arena, data, size < FUZZ_GETLOG ? size : FUZZ_GETLOG);
    for (uint32_t source = 1; source < FUZZ_RANKS; source++) {
        (void)keel_get_log_send_replay(&scene.gets, source);
        keel_get_log_source_down(&scene.gets, source);
        to = keel_get_log_serve(&scene.gets, source, &record);
        if (to != NULL) {
            memcpy(to, &value, sizeof(value));
            keel_get_log_served(&scene.gets, &record);
        }
    }
    keel_get_chunks_trim(arena, FUZZ_GETLOG, chunk_size, KEEL_GET_CHUNKS_ANY_SOURCE, 2);
    keel_get_chunks_reset(arena, FUZZ_GETLOG, chunk_size);
    keel_lane_issue_drop(&scene.lane, &scene.lane.peers[1], KEEL_OK);
    keel_lane_issue_drop(&scene.lane, &scene.lane.peers[2], KEEL_OK);
    keel_lane_issue_drop(&scene.lane, &scene.lane.peers[3], KEEL_OK);
}

static void record_replay(const uint8_t *data, size_t size)
{
    keel_control_in_t *in = malloc(sizeof(*in) + size);
    static uint8_t buffer[65536];
    uint64_t where;

    if (in == NULL) {
        return;
    }
    *in = (keel_control_in_t){.source = 1, .type = KEEL_CONTROL_GETLOG, .length = size};
    memcpy(in->payload, data, size);
    keel_get_log_receive_replay(&scene.gets, in, 0);
    free(in);
    for (uint32_t phase = 0; phase < 4; phase++) {
        keel_get_log_set_phase(&scene.gets, phase);
        for (where = 0; where < 4; where++) {
            (void)keel_get_log_replay(&scene.gets, 1, keel_where(where * 8, KEEL_RECORD_PUT, FUZZ_WINDOW), 8, buffer);
        }
    }
    (void)keel_get_log_refill(&scene.gets, 1);
    keel_get_log_trim(&scene.gets, 2, 4);
    keel_lane_issue_drop(&scene.lane, &scene.lane.peers[1], KEEL_OK);
}

static void record_refill(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + 1);

    if (copy != NULL) {
        memcpy(copy, data, size);
        keel_get_log_serve_refill(&scene.gets, 2, copy, size);
    }
    free(copy);
}

static void record_message(keel_wire_type_t type, const uint8_t *data, size_t size)
{
    fuzz_message_t message = {.source = 3, .type = (uint8_t)type, .length = (uint16_t)size, .words = {[3] = 1}};

    if (size <= FUZZ_DATA_MAX) {
        fuzz_scene_deliver(&scene, &message, data);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > FUZZ_GETLOG) {
        return 0;
    }
    if (scene.window == NULL) {
        fuzz_scene_begin(&scene, 0, 0);
    }
    switch (data[0] % FUZZ_RECORD_LAST) {
    case FUZZ_RECORD_ARENA:
        record_arena(data + 1, size - 1);
        break;
    case FUZZ_RECORD_REPLAY:
        record_replay(data + 1, size - 1);
        break;
    case FUZZ_RECORD_REFILL:
        record_refill(data + 1, size - 1);
        break;
    case FUZZ_RECORD_RECORDS:
        record_message(KEEL_WIRE_RECORDS, data + 1, size - 1);
        break;
    case FUZZ_RECORD_ATOMIC:
        record_message(KEEL_WIRE_ATOMIC, data + 1, size - 1);
        break;
    case FUZZ_RECORD_ACCUMULATE:
        record_message(KEEL_WIRE_ACCUMULATE, data + 1, size - 1);
        break;
    case FUZZ_RECORD_UNNUMBERED:
        record_message(KEEL_WIRE_UNNUMBERED, data + 1, size - 1);
        break;
    default:
        fuzz_scene_deliver_raw(&scene, 0, data + 1, size - 1);
        break;
    }
    keel_get_log_clear(&scene.gets, 0);
    return 0;
}
