/* A lane over a transport without a network. */
#include "lane_scene.h"

#include "base/memory.h"
#include "peer/region.h"
#include "peer/served.h"

#include <check.h>
#include <string.h>

/* ---- a transport without a network ---- */

fake_t fake;

static keel_status_t fake_open(const keel_transport_params_t *params, keel_transport_t **transport_p)
{
    *transport_p = &fake.super;
    return KEEL_OK;
}

static void fake_close(keel_transport_t *transport)
{
}

static keel_status_t fake_address(keel_transport_t *transport, const void **address_p, size_t *length_p)
{
    *address_p = "here";
    *length_p = 4;
    return KEEL_OK;
}

static keel_status_t fake_connect(keel_transport_t *transport, uint32_t peer, const void *address, size_t length,
                                  unsigned *lanes_p)
{
    *lanes_p = KEEL_LANE_SERVED;
    return KEEL_OK;
}

static void fake_disconnect(keel_transport_t *transport, uint32_t peer)
{
}

static keel_status_t fake_mem_alloc(keel_transport_t *transport, size_t bytes, void *address,
                                    keel_transport_mem_t **mem_p, void **base_p)
{
    *base_p = keel_alloc(bytes, "fake");
    *mem_p = *base_p;
    return KEEL_OK;
}

static void fake_mem_free(keel_transport_t *transport, keel_transport_mem_t *mem)
{
    keel_free(mem);
}

static keel_status_t fake_mem_pack(keel_transport_t *transport, keel_transport_mem_t *mem, void *blob, size_t *length_p)
{
    *length_p = 0;
    return KEEL_OK;
}

static keel_status_t fake_send(keel_transport_t *transport, uint32_t peer, const void *header, size_t header_len,
                               const void *data, size_t data_len)
{
    return KEEL_OK;
}

static keel_status_t fake_reply_room(keel_transport_t *transport, uint32_t peer, size_t data_len, void **room_p)
{
    *room_p = fake.room;
    return (data_len <= sizeof(fake.room)) ? fake.room_status : KEEL_ERR_INVALID_PARAM;
}

static keel_status_t fake_reply(keel_transport_t *transport, uint32_t peer, const void *header, size_t header_len,
                                const void *data, size_t data_len)
{
    if (fake.reply_status != KEEL_OK) {
        return fake.reply_status;
    }
    fake.replies++;
    memcpy(&fake.last_reply, header, sizeof(fake.last_reply));
    if (data_len == sizeof(fake.last_word)) {
        memcpy(&fake.last_word, data, data_len);
    }
    return KEEL_OK;
}

static const keel_transport_ops_t fake_ops = {.open = fake_open,
                                              .close = fake_close,
                                              .address = fake_address,
                                              .connect = fake_connect,
                                              .disconnect = fake_disconnect,
                                              .mem_alloc = fake_mem_alloc,
                                              .mem_free = fake_mem_free,
                                              .mem_pack = fake_mem_pack,
                                              .send = fake_send,
                                              .reply_room = fake_reply_room,
                                              .reply = fake_reply,
                                              .max_data = 4096};

/* ---- fixture ---- */

static void *scene_note_get(void *arg, uint32_t source, const keel_get_record_t *record)
{
    scene_t *scene = arg;

    return scene->is_log_full ? NULL : scene->log;
}

static void scene_noted(void *arg, const keel_get_record_t *record)
{
    scene_t *scene = arg;

    scene->noted++;
    memset(scene->window, 0xa5, BYTES); /* another rank writes there at this moment */
}

static void scene_refill(void *arg, uint32_t source, const void *data, size_t length)
{
}

void scene_begin(scene_t *scene, uint32_t incarnation)
{
    keel_lane_params_t params = {.message = &scene->message,
                                 .config = &scene->config,
                                 .ops = &fake_ops,
                                 .runtime = &scene->runtime,
                                 .on_served_get = scene_note_get,
                                 .on_served_got = scene_noted,
                                 .on_served_refill = scene_refill,
                                 .arg = scene};
    void *base;

    memset(scene, 0, sizeof(*scene));
    memset(&fake, 0, sizeof(fake));
    fake.super.ops = &fake_ops;
    scene->runtime.size = RANKS;
    scene->runtime.incarnation = incarnation;
    ck_assert_int_eq(keel_lane_init(&scene->lane, &params), KEEL_OK);
    ck_assert_int_eq(keel_lane_region_make(&scene->lane, WINDOW, BYTES, NULL, &base), KEEL_OK);
    scene->window = base;
}

void scene_end(scene_t *scene)
{
    keel_lane_release(&scene->lane);
}

keel_wire_t scene_wire(scene_t *scene, uint32_t source, keel_wire_type_t type)
{
    return (keel_wire_t){.type = type,
                         .source = source,
                         .target_incarnation = scene->runtime.incarnation,
                         .sequence = scene->sequence[source] + 1};
}

int scene_deliver(scene_t *scene, keel_wire_t *wire, const void *data, size_t length)
{
    keel_wire_seal(wire, data, length);
    scene->sequence[wire->source]++;
    return keel_lane_on_request(&scene->lane, wire, sizeof(*wire), data, length);
}

void scene_greet(scene_t *scene, uint32_t source, uint32_t incarnation)
{
    keel_wire_t wire = scene_wire(scene, source, KEEL_WIRE_CONTROL);

    wire.source_incarnation = incarnation;
    wire.sequence = 1;
    wire.body.control.type = KEEL_CONTROL_HELLO;
    scene->sequence[source] = 0;
    scene_deliver(scene, &wire, "here", 4);
}
