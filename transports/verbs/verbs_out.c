/* Sending side of a link. */
#include "verbs_out.h"
#include "verbs_rma.h"

#include <assert.h>
#include <string.h>

enum {
    RECEIVES = KEEL_VERBS_CREDITS + KEEL_VERBS_RESERVE,
    /* numbers of requests within wr_id */
    NUMBERS = 0x7fffffff,
    /* places for frames of credits: more than can be in flight */
    CREDIT_FRAMES = KEEL_VERBS_SLOT / sizeof(keel_verbs_frame_t)
};

_Static_assert((int)CREDIT_FRAMES >= (int)KEEL_VERBS_QUEUE, "none is written over while it is sent");

/* ---- the chain ---- */

void keel_verbs_out_init(keel_verbs_link_t *link)
{
    for (unsigned i = 0; i < KEEL_VERBS_CHAIN; i++) {
        link->chain[i].sg_list = &link->pieces[i];
        link->chain[i].num_sge = 1;
        link->chain[i].next = (i + 1 < KEEL_VERBS_CHAIN) ? &link->chain[i + 1] : NULL;
    }
}

struct ibv_send_wr *keel_verbs_out_add(keel_verbs_link_t *link, unsigned slots)
{
    struct ibv_send_wr *request;

    assert(keel_verbs_out_room(link) > 0);
    if (link->chained == KEEL_VERBS_CHAIN) {
        keel_verbs_out_post(link);
    }
    if (link->chained == 0) {
        ucs_list_add_tail(&link->port->unposted, &link->unposted);
    }
    request = &link->chain[link->chained];
    request->wr_id = (uint64_t)link->number << 32 | (link->built & NUMBERS);
    link->has_slot[link->built % KEEL_VERBS_QUEUE] = (uint8_t)slots;
    link->slots_busy += slots;
    link->chained++;
    link->built++;
    return request;
}

void keel_verbs_out_post(keel_verbs_link_t *link)
{
    struct ibv_send_wr *bad, *last, *following;
    int failed = 0;

    if (link->chained == 0) {
        return;
    }
    if (link->must_ask || link->built - link->asked >= KEEL_VERBS_UNASKED) {
        link->chain[link->chained - 1].send_flags |= IBV_SEND_SIGNALED;
        link->asked = link->built;
        link->must_ask = 0;
    }
    last = &link->chain[link->chained - 1];
    following = last->next;
    last->next = NULL;
    ucs_list_del(&link->unposted);
    link->chained = 0;
    link->may_grow = 0;
    keel_verbs_port_lock(link->port);
    if (link->qp != NULL && !(link->flags & KEEL_VERBS_LINK_BROKEN)) {
        failed = ibv_post_send(link->qp, link->chain, &bad);
        link->port->posts++;
    }
    keel_verbs_port_unlock(link->port);
    last->next = following;
    if (failed) {
        keel_verbs_link_break(link, strerror(failed));
    }
}

void keel_verbs_out_done(keel_verbs_link_t *link, uint32_t number)
{
    const uint32_t count = (number - (uint32_t)link->done + 1) & NUMBERS;

    if (count > link->built - link->done) {
        keel_verbs_link_break(link, "a completion of what was not sent");
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        link->slots_busy -= link->has_slot[link->done++ % KEEL_VERBS_QUEUE];
    }
    keel_verbs_rma_completed(link);
}

/* ---- frames ---- */

static void fill_request(keel_verbs_link_t *link, struct ibv_send_wr *request, const void *bytes, size_t length)
{
    request->opcode = IBV_WR_SEND;
    request->send_flags = (length <= link->inline_max) ? IBV_SEND_INLINE : 0;
    *request->sg_list = (struct ibv_sge){.addr = (uintptr_t)bytes, .length = (uint32_t)length, .lkey = link->mr->lkey};
}

/* each frame returns all pending credits */
static keel_verbs_frame_t frame_of(keel_verbs_link_t *link, size_t total, size_t offset, size_t length)
{
    const keel_verbs_frame_t frame = {.total = (uint32_t)total,
                                      .offset = (uint32_t)offset,
                                      .length = (uint32_t)length,
                                      .credits = (uint16_t)link->credits_pending,
                                      .version = KEEL_VERBS_FRAME_VERSION};

    link->credits_pending = 0;
    return frame;
}

/* copies @a length bytes of a message from @a offset on: of its headers, then of its data */
static void copy_part(unsigned char *to, const keel_service_message_t *message, size_t offset, size_t length)
{
    const size_t headers = sizeof(message->wire) + message->wire.header_len;
    size_t first = 0;

    if (offset < headers) {
        first = (length < headers - offset) ? length : headers - offset;
        memcpy(to, (const unsigned char *)&message->wire + offset, first);
    }
    if (length > first) {
        memcpy(to + first, (const unsigned char *)message->data + (offset + first - headers), length - first);
    }
}

static void send_frame(keel_verbs_link_t *link)
{
    keel_service_message_t *message = ucs_list_head(&link->queue, keel_service_message_t, link);
    const size_t total = sizeof(message->wire) + message->wire.header_len + message->data_len;
    const size_t left = total - link->begun, length = (left < KEEL_VERBS_FRAME_MAX) ? left : KEEL_VERBS_FRAME_MAX;
    unsigned char *slot = link->slots + (size_t)(RECEIVES + link->slot) * KEEL_VERBS_SLOT;
    struct ibv_send_wr *request = keel_verbs_out_add(link, 1);
    keel_verbs_frame_t frame;

    frame = frame_of(link, total, link->begun, length);
    memcpy(slot, &frame, sizeof(frame));
    copy_part(slot + sizeof(frame), message, link->begun, length);
    fill_request(link, request, slot, sizeof(frame) + length);
    link->slot = (link->slot + 1) % KEEL_VERBS_CREDITS;
    link->credits--;
    link->begun += length;
    if (link->begun == total) {
        link->begun = 0;
        ucs_list_del(&message->link);
        keel_service_message_put(message);
    }
}

/* place reserved for the next request until that has completed */
static unsigned char *short_place(const keel_verbs_link_t *link)
{
    return link->slots + (size_t)(RECEIVES + KEEL_VERBS_CREDITS) * KEEL_VERBS_SLOT +
           link->built % CREDIT_FRAMES * sizeof(keel_verbs_frame_t);
}

struct ibv_sge keel_verbs_out_copy(keel_verbs_link_t *link, const void *bytes, size_t length)
{
    unsigned char *place = short_place(link);

    memcpy(place, bytes, length);
    return (struct ibv_sge){.addr = (uintptr_t)place, .length = (uint32_t)length, .lkey = link->mr->lkey};
}

static void send_credits(keel_verbs_link_t *link)
{
    unsigned char *place = short_place(link);
    struct ibv_send_wr *request = keel_verbs_out_add(link, 0);
    keel_verbs_frame_t frame;

    frame = frame_of(link, 0, 0, 0);
    memcpy(place, &frame, sizeof(frame));
    fill_request(link, request, place, sizeof(frame));
}

void keel_verbs_out_pump(keel_verbs_link_t *link)
{
    if ((link->flags & (KEEL_VERBS_LINK_OPEN | KEEL_VERBS_LINK_BROKEN)) != KEEL_VERBS_LINK_OPEN) {
        return;
    }
    while (!ucs_list_is_empty(&link->queue) && link->credits > 0 && link->slots_busy < KEEL_VERBS_CREDITS &&
           keel_verbs_out_room(link) > 1) {
        send_frame(link);
    }
    if (link->credits_pending >= KEEL_VERBS_CREDITS / 2 && keel_verbs_out_room(link) > 1) {
        send_credits(link);
    }
    keel_verbs_out_post(link);
}

void keel_verbs_out_ask(keel_verbs_link_t *link)
{
    if ((link->flags & (KEEL_VERBS_LINK_OPEN | KEEL_VERBS_LINK_BROKEN)) == KEEL_VERBS_LINK_OPEN) {
        link->must_ask = 1;
        send_credits(link);
        keel_verbs_out_post(link);
    }
}

/* ---- messages ---- */

static keel_status_t enqueue(keel_verbs_link_t *link, keel_service_message_t *message, enum keel_service_wire_kind kind,
                             const void *header, size_t header_len)
{
    message->to = link;
    message->wire = link->port->wire;
    message->wire.kind = (uint8_t)kind;
    message->wire.header_len = (uint16_t)header_len;
    if (header_len > 0) {
        memcpy(message->header, header, header_len);
    }
    keel_service_seal_close(&link->seal_out, &message->wire, NULL, 0);
    ucs_list_add_tail(&link->queue, &message->link);
    keel_verbs_out_pump(link);
    return KEEL_OK;
}

static keel_status_t may_send(const keel_verbs_link_t *link, size_t header_len, size_t data_len)
{
    if (header_len > KEEL_TRANSPORT_HEADER_MAX || data_len > KEEL_MESSAGE_DATA_MAX) {
        return KEEL_ERR_INVALID_PARAM;
    }
    return (link->flags & KEEL_VERBS_LINK_BROKEN) ? KEEL_ERR_UNREACHABLE : KEEL_OK;
}

keel_status_t keel_verbs_out_send(keel_verbs_link_t *link, enum keel_service_wire_kind kind, const void *header,
                                  size_t header_len, const void *data, size_t data_len, int is_copied)
{
    const keel_status_t status = may_send(link, header_len, data_len);
    keel_service_message_t *message;

    if (status != KEEL_OK) {
        return status;
    }
    message = keel_service_message_get(&link->port->pools, is_copied ? data_len : 0);
    if (message == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    message->data = (is_copied && data_len > 0) ? memcpy(message->copy, data, data_len) : data;
    message->data_len = data_len;
    return enqueue(link, message, kind, header, header_len);
}

keel_status_t keel_verbs_out_send_made(keel_verbs_link_t *link, keel_service_message_t *message,
                                       enum keel_service_wire_kind kind, const void *header, size_t header_len,
                                       size_t data_len)
{
    const keel_status_t status = may_send(link, header_len, data_len);

    if (status != KEEL_OK) {
        keel_service_message_put(message);
        return status;
    }
    message->data = message->copy;
    message->data_len = data_len;
    return enqueue(link, message, kind, header, header_len);
}
