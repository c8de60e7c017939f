/* Links: their life. */
#include "verbs_link.h"
#include "verbs_out.h"
#include "verbs_rma.h"

#include "base/memory.h"
#include "base/message.h"
#include "shm/shm_segment.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>

enum {
    RECEIVES = KEEL_VERBS_CREDITS + KEEL_VERBS_RESERVE,
    /* entries in the completion queue */
    PLACES = KEEL_VERBS_QUEUE + RECEIVES,
    /* the last slot is for frames that only return credits */
    BYTES = (RECEIVES + KEEL_VERBS_CREDITS + 1) * KEEL_VERBS_SLOT,
    INLINE = 256, /* holds a message with only Keel's header, if the device supports that */
    /* Upper bounds of a device's queue for a request, with inline data, and for a completion,
     * also while the queue grows. Soft-RoCE's queues do not count as locked. */
    RING_REQUEST = 512,
    RING_COMPLETION = 128,
    /* a peer is given up after 7 times 0.54 s and delays of the device; 7 retries may mean
     * endless retries (Soft-RoCE) */
    TIMEOUT = 17,
    RETRIES = 6,
    RECEIVER_RETRIES = 6, /* never needed: each frame has a receive */
    RECEIVER_TIMER = 12,
    HOPS = 64
};

#define say(_port, ...)                                        \
    do {                                                       \
        if ((_port)->params->message != NULL) {                \
            keel_error((_port)->params->message, __VA_ARGS__); \
        }                                                      \
    } while (0)

/* ---- creation ---- */

static keel_status_t make_qp(keel_verbs_link_t *link, int is_written_to)
{
    keel_verbs_port_t *port = link->port;
    struct ibv_qp_init_attr init = {.send_cq = port->cq,
                                    .recv_cq = port->cq,
                                    .qp_type = IBV_QPT_RC,
                                    .cap = {.max_send_wr = KEEL_VERBS_QUEUE,
                                            .max_recv_wr = RECEIVES,
                                            .max_send_sge = 1,
                                            .max_recv_sge = 1,
                                            .max_inline_data = INLINE}};
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
                               .port_num = port->device->port,
                               .qp_access_flags = is_written_to ? IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ : 0};

    if (is_written_to && port->device->has_atomics) {
        attr.qp_access_flags |= IBV_ACCESS_REMOTE_ATOMIC;
    }
    link->qp = ibv_create_qp(port->device->pd, &init);
    if (link->qp == NULL) { /* the device has less room for inline data */
        init.cap.max_inline_data = 0;
        link->qp = ibv_create_qp(port->device->pd, &init);
    }
    if (link->qp == NULL) {
        say(port, "%s gives no queue pair for rank %u: %s", port->device->name, link->peer, strerror(errno));
        return KEEL_ERR_TRANSPORT;
    }
    link->inline_max = init.cap.max_inline_data;
    if (ibv_modify_qp(link->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) != 0) {
        say(port, "%s does not prepare a queue pair for rank %u: %s", port->device->name, link->peer, strerror(errno));
        ibv_destroy_qp(link->qp);
        link->qp = NULL;
        return KEEL_ERR_TRANSPORT;
    }
    return KEEL_OK;
}

/* returns a frame's slot to the device; without a queue pair nothing arrives any more */
static void post_receive(keel_verbs_link_t *link, unsigned slot)
{
    struct ibv_sge piece = {.addr = (uintptr_t)(link->slots + (size_t)slot * KEEL_VERBS_SLOT),
                            .length = KEEL_VERBS_SLOT,
                            .lkey = link->mr->lkey};
    struct ibv_recv_wr request = {
        .wr_id = (uint64_t)link->number << 32 | 1u << 31 | slot, .sg_list = &piece, .num_sge = 1};
    struct ibv_recv_wr *bad;
    int failed = 0;

    keel_verbs_port_lock(link->port);
    if (link->qp != NULL) {
        failed = ibv_post_recv(link->qp, &request, &bad);
    }
    keel_verbs_port_unlock(link->port);
    if (failed) {
        keel_verbs_link_break(link, strerror(failed));
    }
}

static keel_status_t make_slots(keel_verbs_link_t *link)
{
    keel_shm_segment_t memory;
    size_t available;
    keel_status_t status = keel_shm_segment_make(BYTES, NULL, 0, &memory, &available);

    if (status != KEEL_OK) {
        return status;
    }
    link->slots = memory.base;
    link->mr = keel_verbs_register(link->port->device, link->port->params, link->slots, BYTES, 0);
    if (link->mr == NULL) {
        keel_shm_segment_detach(link->slots, BYTES);
        return KEEL_ERR_BUDGET;
    }
    return KEEL_OK;
}

keel_status_t keel_verbs_link_make(keel_verbs_port_t *port, uint32_t peer, uint64_t instance, void *owner,
                                   int is_written_to, keel_verbs_link_t **link_p)
{
    const keel_service_end_t other = {.instance = instance, .rank = peer};
    keel_verbs_link_t *link = keel_alloc(sizeof(*link), "link");
    keel_status_t status;

    if (link == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    link->port = port;
    link->peer = peer;
    link->instance = instance;
    link->owner = owner;
    link->socket = -1;
    keel_verbs_seals(port, &other, &link->seal_out, &link->seal_in);
    link->credits = KEEL_VERBS_CREDITS;
    ucs_list_head_init(&link->queue);
    ucs_list_head_init(&link->waiters);
    keel_verbs_out_init(link);
    status = keel_verbs_port_add(port, link, PLACES);
    if (status != KEEL_OK) {
        goto err_free;
    }
    status = make_slots(link);
    if (status != KEEL_OK) {
        goto err_port;
    }
    status = make_qp(link, is_written_to);
    if (status != KEEL_OK) {
        goto err_slots;
    }
    /* packets of an earlier queue pair with this number are too old */
    if (getrandom(&link->first_packet, sizeof(link->first_packet), 0) != sizeof(link->first_packet)) {
        link->first_packet = (uint32_t)instance;
    }
    link->first_packet &= 0xffffff;
    for (unsigned slot = 0; slot < RECEIVES; slot++) {
        post_receive(link, slot);
    }
    *link_p = link;
    return KEEL_OK;

err_slots:
    ibv_dereg_mr(link->mr);
    keel_shm_segment_detach(link->slots, BYTES);
err_port:
    keel_verbs_port_remove(port, link, PLACES);
err_free:
    keel_free(link);
    return status;
}

size_t keel_verbs_link_bytes(void)
{
    return BYTES;
}

size_t keel_verbs_link_room(void)
{
    return BYTES + KEEL_VERBS_QUEUE * RING_REQUEST + PLACES * RING_COMPLETION;
}

/* ---- connecting ---- */

void keel_verbs_seals(const keel_verbs_port_t *port, const keel_service_end_t *other, keel_service_seal_t *out,
                      keel_service_seal_t *in)
{
    const keel_service_end_t own = {.instance = port->wire.instance, .rank = port->wire.rank};
    const keel_service_lane_t back =
        (port->lane == KEEL_SERVICE_REQUESTS) ? KEEL_SERVICE_REPLIES : KEEL_SERVICE_REQUESTS;

    keel_service_seal_init(out, port->params->auth, port->lane, &own, other);
    keel_service_seal_init(in, port->params->auth, back, other, &own);
}

void keel_verbs_link_end(const keel_verbs_link_t *link, keel_verbs_end_t *end)
{
    const keel_verbs_device_t *device = link->port->device;

    *end = (keel_verbs_end_t){.number = link->qp->qp_num,
                              .first_packet = link->first_packet,
                              .lid = device->lid,
                              .mtu = (uint16_t)device->mtu,
                              .reads = device->reads_in};
    memcpy(end->gid, device->gid.raw, sizeof(end->gid));
}

static int ready_to_receive(keel_verbs_link_t *link, const keel_verbs_end_t *other)
{
    const keel_verbs_device_t *device = link->port->device;
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
                               .path_mtu =
                                   (other->mtu < (uint16_t)device->mtu) ? (enum ibv_mtu)other->mtu : device->mtu,
                               .dest_qp_num = other->number,
                               .rq_psn = other->first_packet,
                               .max_dest_rd_atomic = (uint8_t)device->reads_in,
                               .min_rnr_timer = RECEIVER_TIMER,
                               .ah_attr = {.is_global = (uint8_t)device->is_ethernet,
                                           .dlid = other->lid,
                                           .port_num = device->port,
                                           .grh = {.sgid_index = (uint8_t)device->gid_index, .hop_limit = HOPS}}};

    memcpy(attr.ah_attr.grh.dgid.raw, other->gid, sizeof(other->gid));
    return ibv_modify_qp(link->qp, &attr,
                         IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                             IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

static int ready_to_send(keel_verbs_link_t *link, const keel_verbs_end_t *other)
{
    const unsigned reads = link->port->device->reads_out;
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS,
                               .timeout = TIMEOUT,
                               .retry_cnt = RETRIES,
                               .rnr_retry = RECEIVER_RETRIES,
                               .sq_psn = link->first_packet,
                               .max_rd_atomic = (uint8_t)((other->reads < reads) ? other->reads : reads)};

    return ibv_modify_qp(link->qp, &attr,
                         IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                             IBV_QP_MAX_QP_RD_ATOMIC);
}

keel_status_t keel_verbs_link_connect(keel_verbs_link_t *link, const keel_verbs_end_t *other)
{
    if (ready_to_receive(link, other) != 0 || ready_to_send(link, other) != 0) {
        say(link->port, "%s does not connect to rank %u: %s", link->port->device->name, link->peer, strerror(errno));
        return KEEL_ERR_TRANSPORT;
    }
    link->flags |= KEEL_VERBS_LINK_OPEN;
    keel_verbs_out_pump(link);
    return KEEL_OK;
}

/* ---- the end ---- */

void keel_verbs_link_fence(keel_verbs_link_t *link)
{
    if (link->qp != NULL) {
        ibv_destroy_qp(link->qp);
        link->qp = NULL;
    }
}

/* notifies waiters when nothing of their memory is read or written any more */
void keel_verbs_link_free(keel_verbs_link_t *link)
{
    keel_verbs_port_lock(link->port);
    keel_verbs_link_fence(link);
    keel_verbs_port_unlock(link->port);
    keel_verbs_rma_give_up(link);
    if (link->socket >= 0) {
        close(link->socket); /* also removes the epoll file's entry */
    }
    if (link->chained > 0) {
        ucs_list_del(&link->unposted);
    }
    while (!ucs_list_is_empty(&link->queue)) {
        keel_service_message_put(ucs_list_extract_head(&link->queue, keel_service_message_t, link));
    }
    keel_verbs_port_remove(link->port, link, PLACES);
    ibv_dereg_mr(link->mr);
    keel_shm_segment_detach(link->slots, BYTES);
    keel_free(link->partial);
    keel_free(link);
}

void keel_verbs_link_break(keel_verbs_link_t *link, const char *why)
{
    if (link->flags & KEEL_VERBS_LINK_BROKEN) {
        return;
    }
    link->flags |= KEEL_VERBS_LINK_BROKEN;
    if (link->port->params->message != NULL) {
        keel_info(link->port->params->message, "connection to rank %u: %s", link->peer, why);
    }
    link->port->on_broken(link->port->arg, link);
}

/* ---- receiving ---- */

static void deliver(keel_verbs_link_t *link, const unsigned char *message, size_t length)
{
    keel_service_wire_t wire = {.version = 0};
    keel_verbs_port_t *port = link->port;
    keel_service_received_t received;
    const char *why;
    char from[64];
    size_t before;

    memcpy(&wire, message, (length < sizeof(wire)) ? length : sizeof(wire));
    before = sizeof(wire) + wire.header_len;
    if (before > length || wire.rank != link->peer || wire.instance != link->instance ||
        keel_service_wire_check(message, before, UINT32_MAX, &received) != KEEL_OK) {
        keel_verbs_link_break(link, "a message that is none");
        return;
    }
    why = keel_service_seal_open(&link->seal_in, &received, message + before, length - before);
    if (why != NULL) {
        snprintf(from, sizeof(from), "the connection to rank %u", link->peer);
        keel_service_refuse(port->refused, port->params, from, why);
        return;
    }
    port->on_message(port->arg, link, &received.wire, received.header, message + before, length - before);
}

/* returns 1 if the frame continues the message */
static int take_frame(keel_verbs_link_t *link, const keel_verbs_frame_t *frame, const unsigned char *bytes)
{
    if (frame->total > KEEL_VERBS_MESSAGE_MAX || frame->length > frame->total ||
        frame->offset > frame->total - frame->length || frame->offset != link->partial_len) {
        return 0;
    }
    if (frame->length == frame->total) {
        deliver(link, bytes, frame->length);
        return 1;
    }
    if (link->partial == NULL) {
        link->partial = keel_alloc(KEEL_VERBS_MESSAGE_MAX, "message of several frames");
    }
    if (link->partial == NULL) {
        return 0;
    }
    memcpy(link->partial + frame->offset, bytes, frame->length);
    link->partial_len += frame->length;
    if (link->partial_len == frame->total) {
        link->partial_len = 0;
        deliver(link, link->partial, frame->total);
    }
    return 1;
}

static void on_received(keel_verbs_link_t *link, unsigned slot, size_t length)
{
    const unsigned char *bytes = link->slots + (size_t)slot * KEEL_VERBS_SLOT;
    keel_verbs_frame_t frame;

    if (length < sizeof(frame)) {
        keel_verbs_link_break(link, "a frame that is too short");
        return;
    }
    memcpy(&frame, bytes, sizeof(frame));
    if (frame.version != KEEL_VERBS_FRAME_VERSION || frame.length != length - sizeof(frame) ||
        frame.credits > KEEL_VERBS_CREDITS - link->credits) {
        keel_verbs_link_break(link, "a frame that is none");
        return;
    }
    link->credits += frame.credits;
    if (frame.total > 0 && !take_frame(link, &frame, bytes + sizeof(frame))) {
        keel_verbs_link_break(link, "a frame out of order, or no memory for it");
        return;
    }
    post_receive(link, slot);
    link->credits_pending += (frame.total > 0);
    keel_verbs_out_pump(link);
}

void keel_verbs_link_completed(keel_verbs_link_t *link, const struct ibv_wc *wc)
{
    const uint32_t what = (uint32_t)wc->wr_id;

    if (wc->status != IBV_WC_SUCCESS) {
        keel_verbs_link_break(link, ibv_wc_status_str(wc->status));
    } else if (!(link->flags & KEEL_VERBS_LINK_BROKEN)) {
        if (what & 1u << 31) {
            on_received(link, what & ~(1u << 31), wc->byte_len);
        } else {
            keel_verbs_out_done(link, what);
            keel_verbs_out_pump(link);
        }
    }
}
