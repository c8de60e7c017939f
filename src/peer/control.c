/*
 * Control messages to the thread inside Keel of a peer, in the order of sending. A message that is
 * longer than the transport's limit goes in segments.
 *
 * Safety: the segments of a message are sent in one go and arrive in order. So an incomplete
 * message lacks its last segments: the sender died, or had no memory for them. A first segment
 * drops an earlier incomplete message, and any other segment has to be the next one of the same
 * process. So rooms above see only whole messages of one process and one moment, segmented or not.
 */
#include "peer/control.h"
#include "peer/issue.h"
#include "peer/members.h"
#include "peer/peer.h"

#include "base/memory.h"
#include "check/plant.h"
#include "check/reached.h"

#include <assert.h>
#include <string.h>

typedef struct keel_control_out {
    ucs_list_link_t list;
    uint64_t sequence;
    uint8_t payload[];
} keel_control_out_t;

/* Limit of a message with an entry for each rank. */
static size_t control_max(const keel_lane_t *lane)
{
    return lane->ops->max_data + KEEL_CONTROL_HEAD_MAX + (size_t)lane->size * KEEL_CONTROL_RANK_MAX;
}

/* ---- sending ---- */

static keel_status_t control_send(keel_lane_t *lane, uint32_t rank, keel_wire_t *wire, const void *payload,
                                  size_t length)
{
    keel_peer_t *peer = &lane->peers[rank];
    keel_control_out_t *out;
    keel_status_t status;

    out = keel_alloc(sizeof(*out) + length, "control message");
    if (out == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    if (length > 0) {
        memcpy(out->payload, payload, length);
    }
    status = keel_lane_request(lane, rank, wire, out->payload, length);
    if (status != KEEL_OK) {
        keel_free(out);
        return status;
    }
    out->sequence = peer->sent;
    ucs_list_add_tail(&peer->controls, &out->list);
    return KEEL_OK;
}

keel_status_t keel_lane_control_send(keel_lane_t *lane, uint32_t rank, keel_control_type_t type, const void *payload,
                                     size_t length)
{
    const size_t max = lane->ops->max_data;
    keel_status_t status = KEEL_OK;
    size_t offset = 0, piece;

    assert(length <= control_max(lane));
    do {
        keel_wire_t wire = {.type = KEEL_WIRE_CONTROL, .body.control = {.type = type}};

        piece = (length - offset < max) ? length - offset : max;
        if (piece < length) {
            wire.body.control.length = length;
            wire.body.control.before = offset;
        }
        status = control_send(lane, rank, &wire, (offset > 0) ? (const uint8_t *)payload + offset : payload, piece);
        offset += piece;
    } while (status == KEEL_OK && offset < length);
    return status;
}

keel_status_t keel_lane_control_send_all(keel_lane_t *lane, keel_control_type_t type, const void *payload,
                                         size_t length)
{
    keel_status_t status, first = KEEL_OK;

    /* a failure for one rank does not stop the others */
    KEEL_EACH_MEMBER(r, lane) {
        if (lane->peers[r].is_up) {
            status = keel_lane_control_send(lane, r, type, payload, length);
            first = (first == KEEL_OK) ? status : first;
        }
    }
    return first;
}

void keel_lane_controls_acknowledged(keel_peer_t *peer, uint64_t sequence)
{
    keel_control_out_t *out, *tmp;

    ucs_list_for_each_safe(out, tmp, &peer->controls, list)
    {
        if (out->sequence > sequence) {
            break;
        }
        ucs_list_del(&out->list);
        keel_free(out);
    }
}

/* ---- receiving: on the service side, under the lock ---- */

static keel_control_in_t *control_new(const keel_wire_t *wire, size_t length)
{
    keel_control_in_t *in = keel_alloc(sizeof(*in) + length, "control message");

    if (in != NULL) {
        in->source = wire->source;
        in->incarnation = wire->source_incarnation;
        in->type = (keel_control_type_t)wire->body.control.type;
        in->length = length;
    }
    return in;
}

static void control_keep(keel_lane_t *lane, keel_control_in_t *in)
{
    ucs_list_add_tail(&lane->inbox, &in->list);
    __atomic_store_n(&lane->inbox_pending, 1, __ATOMIC_RELEASE);
}

static void control_drop(keel_peer_t *peer)
{
    if (peer->partial != NULL) {
        KEEL_REACHED(control_cut);
        keel_free(peer->partial);
        peer->partial = NULL;
    }
}

/* True if the segment continues the incomplete message. */
static int control_is_next(const keel_peer_t *peer, const keel_wire_t *wire)
{
    const keel_control_in_t *in = peer->partial;

    if (in == NULL || wire->length == 0 || wire->length > in->length - peer->partial_length) {
        return 0;
    }
    return KEEL_PLANT(control_pieces_mixed) ||
           (in->incarnation == wire->source_incarnation && (uint64_t)in->type == wire->body.control.type &&
            in->length == wire->body.control.length && peer->partial_length == wire->body.control.before);
}

static const char *control_piece(keel_lane_t *lane, const keel_wire_t *wire, const void *data)
{
    const uint64_t length = wire->body.control.length;
    keel_peer_t *peer = &lane->peers[wire->source];
    keel_control_in_t *in;

    if (wire->body.control.before == 0 && !(KEEL_PLANT(control_pieces_mixed) && control_is_next(peer, wire))) {
        control_drop(peer);
        if (length > control_max(lane)) {
            return "control message too long";
        }
        peer->partial = control_new(wire, length);
        peer->partial_length = 0;
        if (peer->partial == NULL) {
            return "out of memory";
        }
    }
    if (!control_is_next(peer, wire)) {
        return "piece of a control message out of its order";
    }
    in = peer->partial;
    memcpy(in->payload + peer->partial_length, data, wire->length);
    peer->partial_length += wire->length;
    if (peer->partial_length == in->length) {
        KEEL_REACHED(control_in_pieces);
        peer->partial = NULL;
        control_keep(lane, in);
    }
    return NULL;
}

const char *keel_lane_control_serve(keel_lane_t *lane, const keel_wire_t *wire, const void *data)
{
    keel_control_in_t *in;

    if (wire->body.control.type == 0 || wire->body.control.type >= KEEL_CONTROL_LAST) {
        return "unknown control message";
    }
    if (wire->body.control.length != 0) {
        return control_piece(lane, wire, data);
    }
    if (wire->body.control.type == KEEL_CONTROL_REFILL) {
        lane->on_served_refill(lane->arg, wire->source, data, wire->length);
        return NULL;
    }
    in = control_new(wire, wire->length);
    if (in == NULL) {
        return "out of memory";
    }
    if (wire->length > 0) {
        memcpy(in->payload, data, wire->length);
    }
    control_keep(lane, in);
    return NULL;
}

keel_control_in_t *keel_lane_control_next(keel_lane_t *lane)
{
    keel_control_in_t *in = NULL;

    if (!__atomic_load_n(&lane->inbox_pending, __ATOMIC_ACQUIRE)) {
        return NULL;
    }
    pthread_mutex_lock(&lane->lock);
    if (!ucs_list_is_empty(&lane->inbox)) {
        in = ucs_list_extract_head(&lane->inbox, keel_control_in_t, list);
    }
    __atomic_store_n(&lane->inbox_pending, !ucs_list_is_empty(&lane->inbox), __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lane->lock);
    return in;
}

/* ---- handling: on the thread inside Keel ---- */

void keel_lane_control_handle(keel_lane_t *lane, keel_control_type_t type, keel_control_handler_t handle, void *arg)
{
    lane->handlers[type].handle = handle;
    lane->handlers[type].arg = arg;
}

void keel_lane_control_filter(keel_lane_t *lane, keel_control_filter_t filter, void *arg)
{
    lane->filter = filter;
    lane->filter_arg = arg;
}

int keel_lane_control(keel_lane_t *lane, const keel_control_in_t *in)
{
    const keel_control_handler_t handle = lane->handlers[in->type].handle;

    if (handle == NULL) {
        return 0;
    }
    handle(lane->handlers[in->type].arg, in);
    return 1;
}

void keel_lane_control_dispatch(keel_lane_t *lane)
{
    keel_control_in_t *in;

    while ((in = keel_lane_control_next(lane)) != NULL) {
        if (lane->filter == NULL || lane->filter(lane->filter_arg, in)) {
            (void)keel_lane_control(lane, in);
        }
        keel_free(in);
    }
}
