/*
 * The layers of a process from lane to recovery, over a transport and a runtime without actions of
 * their own.
 */
#include "fuzz_scene.h"

#include "base/memory.h"
#include "peer/issue.h"
#include "peer/region.h"
#include "peer/served.h"
#include "oplog/get_log_replay.h"
#include "recovery/recover.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

fuzz_sent_cb_t fuzz_sent;
void *fuzz_sent_arg;
char fuzz_refused[256];

/* ---- a transport without a network ---- */

static keel_transport_t transport;

static keel_status_t fuzz_open(const keel_transport_params_t *params, keel_transport_t **transport_p)
{
    *transport_p = &transport;
    return KEEL_OK;
}

static void fuzz_close(keel_transport_t *self)
{
}

static keel_status_t fuzz_address(keel_transport_t *self, const void **address_p, size_t *length_p)
{
    *address_p = "here";
    *length_p = 4;
    return KEEL_OK;
}

static keel_status_t fuzz_connect(keel_transport_t *self, uint32_t peer, const void *address, size_t length,
                                  unsigned *lanes_p)
{
    *lanes_p = KEEL_LANE_SERVED;
    return KEEL_OK;
}

static void fuzz_disconnect(keel_transport_t *self, uint32_t peer)
{
}

static keel_status_t fuzz_mem_alloc(keel_transport_t *self, size_t bytes, void *address, keel_transport_mem_t **mem_p,
                                    void **base_p)
{
    if (bytes > FUZZ_REGION_MAX) {
        return KEEL_ERR_NO_MEMORY; /* a size beyond the memory of the host */
    }
    *base_p = keel_alloc(bytes, "fuzz");
    *mem_p = *base_p;
    return (*base_p == NULL) ? KEEL_ERR_NO_MEMORY : KEEL_OK;
}

static void fuzz_mem_free(keel_transport_t *self, keel_transport_mem_t *mem)
{
    keel_free(mem);
}

static keel_status_t fuzz_mem_pack(keel_transport_t *self, keel_transport_mem_t *mem, void *blob, size_t *length_p)
{
    *length_p = 0;
    return KEEL_OK;
}

static keel_status_t fuzz_send(keel_transport_t *self, uint32_t peer, const void *header, size_t header_len,
                               const void *data, size_t data_len)
{
    if (fuzz_sent != NULL) {
        fuzz_sent(fuzz_sent_arg, peer, header, data, data_len);
    }
    return KEEL_OK;
}

static keel_status_t fuzz_reply_room(keel_transport_t *self, uint32_t peer, size_t data_len, void **room_p)
{
    static unsigned char room[FUZZ_DATA_MAX];

    *room_p = room;
    return (data_len <= sizeof(room)) ? KEEL_OK : KEEL_ERR_INVALID_PARAM;
}

static keel_status_t fuzz_reply(keel_transport_t *self, uint32_t peer, const void *header, size_t header_len,
                                const void *data, size_t data_len)
{
    return KEEL_OK;
}

static unsigned fuzz_progress(keel_transport_t *self)
{
    return 0;
}

static void fuzz_wait(keel_transport_t *self, unsigned round, unsigned timeout_us, int is_reply_due)
{
}

static const keel_transport_ops_t transport_ops = {.name = "fuzz",
                                                   .open = fuzz_open,
                                                   .close = fuzz_close,
                                                   .address = fuzz_address,
                                                   .connect = fuzz_connect,
                                                   .disconnect = fuzz_disconnect,
                                                   .mem_alloc = fuzz_mem_alloc,
                                                   .mem_free = fuzz_mem_free,
                                                   .mem_pack = fuzz_mem_pack,
                                                   .send = fuzz_send,
                                                   .reply_room = fuzz_reply_room,
                                                   .reply = fuzz_reply,
                                                   .progress = fuzz_progress,
                                                   .wait = fuzz_wait,
                                                   .max_data = FUZZ_DATA_MAX};

/* ---- a runtime without a launcher ---- */

static int fuzz_poll(keel_runtime_t *runtime, keel_event_t *event_p)
{
    fuzz_scene_t *scene = (fuzz_scene_t *)((char *)runtime - offsetof(fuzz_scene_t, runtime));

    if (scene->event_next == scene->event_count) {
        scene->event_next = scene->event_count = 0;
        return 0;
    }
    *event_p = scene->event[scene->event_next++];
    return 1;
}

static uint64_t fuzz_now(keel_runtime_t *runtime)
{
    return ((fuzz_scene_t *)((char *)runtime - offsetof(fuzz_scene_t, runtime)))->now += 1000;
}

static keel_status_t fuzz_suspect(keel_runtime_t *runtime, const keel_suspicion_t *suspicion)
{
    return KEEL_ERR_UNSUPPORTED; /* no failure detector */
}

static void fuzz_replace(keel_runtime_t *runtime, uint32_t rank, uint32_t incarnation)
{
}

static const keel_runtime_ops_t runtime_ops = {
    .name = "fuzz", .poll = fuzz_poll, .now_ns = fuzz_now, .suspect = fuzz_suspect, .replace = fuzz_replace};

/* ---- the process ---- */

static void silent(void *arg, keel_message_level_t level, const char *line)
{
    if (level == KEEL_MSG_ERROR) {
        snprintf(fuzz_refused, sizeof(fuzz_refused), "%s", line);
    }
}

static void must(keel_status_t status, const char *what)
{
    if (status != KEEL_OK) {
        fprintf(stderr, "fuzz: %s: %s\n", what, keel_status_string(status));
        abort();
    }
}

static void scene_params(fuzz_scene_t *scene, uint32_t rank, uint32_t incarnation)
{
    scene->config = (keel_config_t){.protect = KEEL_PROTECT_ALL,
                                    .lanes = KEEL_LANES_SERVED,
                                    .oplog_size = FUZZ_OPLOG,
                                    .getlog_size = FUZZ_GETLOG,
                                    .group_size = FUZZ_RANKS,
                                    .parities = 1,
                                    .topo_level = "auto",
                                    .interval_mode = KEEL_INTERVAL_OFF};
    scene->message = (keel_message_t){.level = KEEL_MSG_ERROR, .rank = rank, .sink = silent};
    scene->runtime = (keel_runtime_t){
        .ops = &runtime_ops, .rank = rank, .size = FUZZ_RANKS, .incarnation = incarnation, .node = scene->node};
    for (uint32_t r = 0; r < FUZZ_RANKS; r++) {
        scene->node[r] = r;
    }
}

static void scene_layers(fuzz_scene_t *scene)
{
    const keel_lane_params_t lane = {.message = &scene->message,
                                     .config = &scene->config,
                                     .ops = &transport_ops,
                                     .runtime = &scene->runtime,
                                     .on_served_get = keel_get_log_serve,
                                     .on_served_got = keel_get_log_served,
                                     .on_served_refill = keel_get_log_serve_refill,
                                     .arg = &scene->gets};
    const keel_recovery_params_t recovery = {.lane = &scene->lane,
                                             .puts = &scene->puts,
                                             .gets = &scene->gets,
                                             .ckpt = &scene->ckpt,
                                             .demand = &scene->demand,
                                             .message = &scene->message,
                                             .loop = keel_progress_loop(&scene->progress),
                                             .sync = &scene->sync};

    keel_progress_init(&scene->progress, &scene->lane, &scene->ckpt, &scene->demand, &scene->rec);
    must(keel_lane_init(&scene->lane, &lane), "lane");
    must(keel_segment_pool_init(&scene->pool, scene->config.oplog_size, 0, SIZE_MAX), "pool");
    must(keel_put_log_init(&scene->puts, &scene->lane, &scene->pool), "put log");
    must(keel_get_log_init(&scene->gets, &scene->lane, &scene->pool), "get log");
    must(keel_domains_of_nodes(FUZZ_RANKS, scene->node, &scene->domains), "domains");
    must(keel_ckpt_init(&scene->ckpt, &scene->lane, &scene->domains), "checkpoints");
    must(keel_demand_init(&scene->demand, &scene->ckpt), "demand checkpoints");
    must(keel_sync_init(&scene->sync, &scene->lane, &scene->puts, 1), "ways to synchronise");
    must(keel_recovery_init(&scene->rec, &recovery), "recovery");
}

void fuzz_scene_begin(fuzz_scene_t *scene, uint32_t rank, uint32_t incarnation)
{
    void *base;

    memset(scene, 0, sizeof(*scene));
    scene_params(scene, rank, incarnation);
    scene_layers(scene);
    must(keel_lane_region_make(&scene->lane, FUZZ_WINDOW, FUZZ_BYTES, NULL, &base), "window");
    scene->window = base;
    for (uint32_t r = 0; r < FUZZ_RANKS && incarnation == 0; r++) {
        if (r != rank) {
            must(keel_lane_peer_up(&scene->lane, r, 0, "there", 5), "peer");
            keel_lane_set_mode(&scene->lane, r, KEEL_PEER_LIVE);
        }
    }
}

void fuzz_scene_end(fuzz_scene_t *scene)
{
    keel_recovery_release(&scene->rec);
    keel_sync_release(&scene->sync);
    keel_demand_release(&scene->demand);
    keel_ckpt_release(&scene->ckpt);
    keel_domains_release(&scene->domains);
    keel_lane_release(&scene->lane);
    keel_get_log_release(&scene->gets);
    keel_put_log_release(&scene->puts);
    keel_segment_pool_release(&scene->pool);
}

static int is_reply_type(uint8_t type)
{
    return type >= KEEL_WIRE_ACK;
}

void fuzz_scene_deliver(fuzz_scene_t *scene, const fuzz_message_t *message, const void *data)
{
    const uint32_t source = message->source % FUZZ_RANKS;
    keel_wire_t wire = {.type = message->type,
                        .flags = message->flags,
                        .source = source,
                        .source_incarnation = scene->incarnation[source],
                        .target_incarnation = scene->lane.incarnation,
                        .rollback = scene->lane.rollback};
    /* The copy has exactly the stated length, so that a sanitizer reports a byte read beyond the
     * end. */
    uint8_t *copy = malloc(message->length > 0 ? message->length : 1);

    if (copy == NULL) {
        return;
    }
    if (message->length > 0) {
        memcpy(copy, data, message->length);
    }
    memcpy(wire.body.raw, message->words, sizeof(wire.body.raw));
    if (!is_reply_type(message->type)) {
        wire.sequence = ++scene->sequence[source];
    }
    keel_wire_seal(&wire, copy, message->length);
    if (is_reply_type(message->type)) {
        keel_lane_on_reply(&scene->lane, &wire, sizeof(wire), copy, message->length);
    } else {
        keel_lane_on_request(&scene->lane, &wire, sizeof(wire), copy, message->length);
        (void)keel_lane_on_idle(&scene->lane, 0);
    }
    free(copy);
}

void fuzz_scene_deliver_raw(fuzz_scene_t *scene, int is_reply, const uint8_t *bytes, size_t length)
{
    const size_t header_len = length < sizeof(keel_wire_t) ? length : sizeof(keel_wire_t);
    uint8_t *copy = malloc(length + 1);

    if (copy == NULL) {
        return;
    }
    memcpy(copy, bytes, length);
    if (is_reply) {
        keel_lane_on_reply(&scene->lane, copy, header_len, copy + header_len, length - header_len);
    } else {
        keel_lane_on_request(&scene->lane, copy, header_len, copy + header_len, length - header_len);
    }
    free(copy);
}

void fuzz_scene_event(fuzz_scene_t *scene, keel_event_type_t type, uint32_t rank, uint32_t incarnation)
{
    if (scene->event_count == FUZZ_EVENTS_MAX) {
        return;
    }
    scene->event[scene->event_count++] =
        (keel_event_t){.type = type, .rank = rank, .incarnation = incarnation, .address = "there", .address_len = 5};
    if (type == KEEL_EVENT_JOIN && rank < FUZZ_RANKS && incarnation > scene->incarnation[rank]) {
        scene->incarnation[rank] = incarnation;
        scene->sequence[rank] = 0;
    }
}
