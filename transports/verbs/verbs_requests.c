/* Requests out, replies in, on the caller's thread. */
#include "verbs_requests.h"
#include "verbs_transport.h"
#include "verbs_dial.h"
#include "verbs_out.h"
#include "verbs_service.h"

#include "base/memory.h"
#include "base/message.h"

#include <sched.h>
#include <string.h>
#include <time.h>

#define LOST_NS 1000000000ull /* interval of reports that the device of this process is lost */

enum {
    DRAIN_MS = 2000,
    CHECK_EVERY = 256, /* calls of progress() between two checks if no thread sleeps */
    CHECK_ROUND = 50   /* rounds of a wait before each call checks */
};

/* ---- replies in ---- */

static void on_message(void *arg, keel_verbs_link_t *link, const keel_service_wire_t *wire, const void *header,
                       const void *data, size_t data_len)
{
    keel_verbs_t *verbs = arg;

    if (wire->kind == KEEL_SERVICE_WIRE_REPLY) {
        verbs->params.on_reply(verbs->params.arg, header, wire->header_len, data, data_len);
    } else if (wire->kind == KEEL_SERVICE_WIRE_FAREWELL) {
        link->flags &= ~KEEL_VERBS_LINK_LEAVING;
    }
}

static void on_broken(void *arg, keel_verbs_link_t *link)
{
    keel_verbs_peer_t *peer = link->owner;

    peer->is_suspect = 1;
    ((keel_verbs_t *)arg)->suspects++;
}

static void report_own_broken(const keel_verbs_t *verbs)
{
    if (verbs->params.message != NULL && !keel_verbs_device_is_lost(&verbs->device)) {
        keel_error(verbs->params.message,
                   "the connection of this process to itself by %s, for atomics of the device, has failed; this "
                   "process is of no "
                   "use any more",
                   verbs->device.name);
    }
}

static void report_suspects(keel_verbs_t *verbs)
{
    verbs->suspects = 0;
    for (uint32_t rank = 0; rank < verbs->params.size; rank++) {
        if (verbs->peers[rank] != NULL && verbs->peers[rank]->is_suspect) {
            verbs->peers[rank]->is_suspect = 0;
            if (rank != verbs->params.rank) {
                verbs->params.on_suspect(verbs->params.arg, rank);
            } else { /* no other process will notice the failure */
                report_own_broken(verbs);
                keel_verbs_device_mark_lost(&verbs->device);
            }
        }
    }
}

/* Other ranks can continue only when this process is dead: repeats the report until then. */
static void give_up(keel_verbs_t *verbs)
{
    const uint64_t now_ns = keel_shm_now_ns();

    if (verbs->lost_ns == 0) {
        for (uint32_t rank = 0; rank < verbs->params.size; rank++) {
            if (verbs->peers[rank] != NULL && verbs->peers[rank]->link != NULL) {
                keel_verbs_link_break(verbs->peers[rank]->link, "the device has failed");
            }
        }
    }
    if (now_ns - verbs->lost_ns >= LOST_NS) {
        verbs->lost_ns = now_ns;
        if (verbs->params.on_lost != NULL) {
            verbs->params.on_lost(verbs->params.arg);
        }
    }
}

static void check_silence(keel_verbs_t *verbs)
{
    uint32_t rank;

    if (!keel_service_silence_is_too_long(&verbs->silence, verbs->params.unconnected_s)) {
        return;
    }
    for (rank = 0; rank < verbs->params.size && (verbs->peers[rank] == NULL || rank == verbs->params.rank); rank++) {
    }
    if (rank == verbs->params.size) {
        return; /* all peers are dead, and the next connection restarts the time */
    }
    if (verbs->params.message != NULL) {
        keel_error(verbs->params.message, "KEEL_TRANSPORT=verbs, device %s: no rank has answered in %u s",
                   verbs->device.name, verbs->params.unconnected_s);
    }
    if (verbs->params.on_unconnected != NULL) {
        verbs->params.on_unconnected(verbs->params.arg);
    }
}

unsigned keel_verbs_requests_progress(keel_transport_t *transport)
{
    keel_verbs_t *verbs = keel_verbs_of(transport);
    unsigned events = keel_verbs_port_progress(&verbs->main);

    if (++verbs->unchecked >= CHECK_EVERY) {
        verbs->unchecked = 0;
        keel_verbs_dial_check(verbs);
    }
    if (!ucs_list_is_empty(&verbs->dialling)) {
        events += keel_verbs_dial_progress(verbs);
    }
    if (keel_verbs_device_is_lost(&verbs->device)) {
        give_up(verbs);
    }
    if (verbs->suspects > 0) {
        report_suspects(verbs);
        events++;
    }
    if (verbs->silence.is_counting) {
        check_silence(verbs);
    }
    return events + keel_shm_wait_progressed(&verbs->wait, events);
}

/* ---- waiting ---- */

static int is_busy(void *arg)
{
    return 0;
}

static void sleep_on_files(void *arg, int bell, unsigned timeout_us)
{
    const struct timespec timeout = {.tv_sec = timeout_us / 1000000, .tv_nsec = (timeout_us % 1000000) * 1000l};

    keel_verbs_port_sleep(&((keel_verbs_t *)arg)->main, bell, &timeout);
}

static const keel_shm_wait_ops_t wait_ops = {.is_busy = is_busy, .sleep = sleep_on_files};

void keel_verbs_requests_wait(keel_transport_t *transport, unsigned round, unsigned timeout_us, int is_reply_due)
{
    keel_verbs_t *verbs = keel_verbs_of(transport);

    if (round > CHECK_ROUND) {
        verbs->unchecked = CHECK_EVERY;
    }
    keel_verbs_port_post(&verbs->main);
    keel_shm_wait(&verbs->wait, round, timeout_us, is_reply_due);
}

void keel_verbs_requests_ring(keel_transport_t *transport, uint32_t rank)
{
    const keel_verbs_peer_t *peer = keel_verbs_of(transport)->peers[rank];

    if (peer != NULL && peer->card != NULL) {
        keel_shm_sleeper_wake(&peer->card->sleeper);
    }
}

/* ---- open, connect, send ---- */

keel_status_t keel_verbs_requests_open(keel_verbs_t *verbs)
{
    keel_status_t status = keel_verbs_port_open(&verbs->main, &verbs->device, &verbs->params, 0, 0);

    if (status != KEEL_OK) {
        return status;
    }
    ucs_list_head_init(&verbs->dialling);
    verbs->main.lane = KEEL_SERVICE_REQUESTS;
    verbs->main.refused = &verbs->refused;
    verbs->main.on_message = on_message;
    verbs->main.on_broken = on_broken;
    verbs->main.arg = verbs;
    status = keel_shm_wait_open(&verbs->wait, &wait_ops, verbs, verbs->shm.card);
    if (status != KEEL_OK) {
        keel_verbs_port_close(&verbs->main);
    }
    return status;
}

static void peer_free(keel_verbs_peer_t *peer)
{
    if (peer == NULL) {
        return;
    }
    keel_verbs_dial_end(peer);
    if (peer->link != NULL) {
        keel_verbs_link_free(peer->link);
    }
    if (peer->card != NULL) {
        keel_shm_segment_detach(peer->card, peer->address.card.bytes);
    }
    keel_free(peer);
}

void keel_verbs_requests_close(keel_verbs_t *verbs)
{
    for (uint32_t rank = 0; rank < verbs->params.size; rank++) {
        peer_free(verbs->peers[rank]);
    }
    keel_verbs_port_close(&verbs->main);
    keel_shm_wait_close(&verbs->wait);
}

keel_status_t keel_verbs_requests_connect(keel_verbs_t *verbs, const keel_verbs_address_t *address, unsigned *lanes_p)
{
    keel_verbs_peer_t *peer = keel_alloc(sizeof(*peer), "peer");
    keel_status_t status;

    if (peer == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    peer->address = *address;
    peer->rank = address->rank;
    status = keel_shm_attach(&verbs->shm, peer->rank, address->head.instance, &address->card, &peer->card);
    if (status != KEEL_OK) {
        keel_free(peer);
        return status;
    }
    peer->lanes = KEEL_LANE_SERVED | ((peer->card != NULL) ? KEEL_LANE_PTR : KEEL_LANE_RMA | KEEL_LANE_READ);
    verbs->peers[peer->rank] = peer;
    if (verbs->params.unconnected_s > 0 && peer->rank != verbs->params.rank) {
        keel_service_silence_begin(&verbs->silence);
    }
    atomic_store(&verbs->current[peer->rank], address->head.instance);
    keel_verbs_service_wake(verbs);
    *lanes_p = peer->lanes;
    return KEEL_OK;
}

/* Both queue pairs to the peer are gone before the return: nothing that the peer has sent is
 * written from then on. */
void keel_verbs_requests_disconnect(keel_transport_t *transport, uint32_t rank)
{
    keel_verbs_t *verbs = keel_verbs_of(transport);
    keel_verbs_peer_t *peer = (rank < verbs->params.size) ? verbs->peers[rank] : NULL;

    if (peer == NULL) {
        return;
    }
    verbs->peers[rank] = NULL;
    atomic_store(&verbs->dead[rank], peer->address.head.instance);
    atomic_store(&verbs->current[rank], 0);
    keel_verbs_service_fence(verbs, rank, peer->address.head.instance);
    keel_verbs_service_wake(verbs);
    peer_free(peer);
}

keel_status_t keel_verbs_requests_send(keel_transport_t *transport, uint32_t rank, const void *header,
                                       size_t header_len, const void *data, size_t data_len)
{
    keel_verbs_t *verbs = keel_verbs_of(transport);
    keel_verbs_peer_t *peer = (rank < verbs->params.size) ? verbs->peers[rank] : NULL;
    keel_status_t status;

    if (peer == NULL || keel_verbs_device_is_lost(&verbs->device)) {
        return KEEL_ERR_UNREACHABLE;
    }
    if (peer->link == NULL) {
        status = keel_verbs_dial_begin(verbs, peer);
        if (status != KEEL_OK) {
            return status;
        }
    }
    return keel_verbs_out_send(peer->link, KEEL_SERVICE_WIRE_REQUEST, header, header_len, data, data_len, 0);
}

/* a process reaches its own memory through the device like a peer does */
keel_status_t keel_verbs_requests_link(keel_verbs_t *verbs, uint32_t rank, keel_verbs_link_t **link_p)
{
    keel_status_t status = KEEL_OK;
    unsigned lanes;

    if (rank == verbs->params.rank && verbs->peers[rank] == NULL) {
        status = keel_verbs_requests_connect(verbs, &verbs->address, &lanes);
    }
    if (status == KEEL_OK && (verbs->peers[rank] == NULL || keel_verbs_device_is_lost(&verbs->device))) {
        status = KEEL_ERR_UNREACHABLE;
    }
    if (status == KEEL_OK && verbs->peers[rank]->link == NULL) {
        status = keel_verbs_dial_begin(verbs, verbs->peers[rank]);
    }
    if (status != KEEL_OK) {
        return status;
    }
    *link_p = verbs->peers[rank]->link;
    return ((*link_p)->flags & (KEEL_VERBS_LINK_OPEN | KEEL_VERBS_LINK_BROKEN)) ? KEEL_OK : KEEL_ERR_NO_MEMORY;
}

/* ---- the end ---- */

/* a BYE is answered by the peer's service thread, which runs until the end of the peer's own
 * drain */
static int is_leaving(const keel_verbs_t *verbs, uint32_t rank)
{
    const keel_verbs_link_t *link = (verbs->peers[rank] != NULL) ? verbs->peers[rank]->link : NULL;

    return link != NULL && (link->flags & KEEL_VERBS_LINK_LEAVING) && !(link->flags & KEEL_VERBS_LINK_BROKEN);
}

void keel_verbs_requests_drain(keel_verbs_t *verbs)
{
    const uint64_t deadline_ns = keel_shm_now_ns() + DRAIN_MS * 1000000ull;
    keel_verbs_link_t *link;
    uint32_t rank;

    for (rank = 0; rank < verbs->params.size; rank++) {
        link = (verbs->peers[rank] != NULL) ? verbs->peers[rank]->link : NULL;
        if (link != NULL && keel_verbs_out_send(link, KEEL_SERVICE_WIRE_BYE, NULL, 0, NULL, 0, 0) == KEEL_OK) {
            link->flags |= KEEL_VERBS_LINK_LEAVING;
        }
    }
    /* waits for one rank after the other: when one has left, the next may have left, too */
    for (rank = 0; rank < verbs->params.size; rank++) {
        while (is_leaving(verbs, rank) && keel_shm_now_ns() < deadline_ns) {
            verbs->unchecked = CHECK_EVERY;
            if (keel_verbs_requests_progress(&verbs->super) == 0) {
                sched_yield();
            }
        }
    }
}
