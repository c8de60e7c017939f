/* Initialisation and release of the lane: transport, peers and their incarnations, board. */
#include "peer/peer.h"
#include "peer/access.h"
#include "peer/control.h"
#include "peer/issue.h"
#include "peer/members.h"
#include "peer/read.h"
#include "peer/region.h"
#include "peer/remote_put.h"
#include "peer/served.h"

#include "base/memory.h"
#include "check/plant.h"

#include <stdlib.h>
#include <string.h>

static const char *const lanes_names[] = {
    [KEEL_LANES_AUTO] = "auto", [KEEL_LANES_DIRECT] = "direct", [KEEL_LANES_SERVED] = "served"};

#define TICK_MIN_US   1000u
#define TICK_MAX_US   50000u
#define UNCONNECTED_S 60 /* no less than ranks may be silent later */
/* bytes that a spare reserves for windows, image and parity, possibly in vain */
#define READY_MAX ((uint64_t)1 << 30)

static void lane_on_suspect(void *arg, uint32_t peer)
{
    keel_lane_t *lane = arg;

    keel_info(lane->message, "lane to rank %u incarnation %u broke; waiting for the launcher's word", peer,
              lane->peers[peer].incarnation);
    if (lane->peers[peer].is_up && !lane->peers[peer].is_broken) {
        lane->peers[peer].is_broken = 1;
        lane->broken++;
    }
}

/* A replacement of the other ranks would not be reached, either. A debugger may hold them. */
static void lane_on_unconnected(void *arg)
{
    keel_lane_t *lane = arg;

    if (lane->config->heartbeat_timeout_s > 0) {
        lane->runtime->ops->abort(lane->runtime, EXIT_FAILURE, "a rank reaches none of the others over the network");
        keel_lane_fail(lane, KEEL_ERR_ISOLATED); /* the runtime did not end the job */
    }
}

/* Possibly no other process notices the loss, and the others can go on after a death: the process
 * reports itself as suspect. */
static void lane_on_lost(void *arg)
{
    keel_lane_t *lane = arg;
    const keel_suspicion_t own = {.rank = lane->rank,
                                  .incarnation = lane->incarnation,
                                  .live = keel_member_count(lane),
                                  .heard = 1,
                                  .silence_ns = 1,
                                  .repeats = KEEL_REPEATS_ENOUGH};

    (void)lane->runtime->ops->suspect(lane->runtime, &own);
}

static void lane_on_notify(void *arg)
{
    keel_lane_t *lane = arg;

    if (lane->news != NULL) {
        __atomic_store_n(lane->news, 1, __ATOMIC_RELEASE);
    }
}

static unsigned lane_unconnected_s(const keel_config_t *config)
{
    return (config->heartbeat_timeout_s > UNCONNECTED_S) ? (unsigned)config->heartbeat_timeout_s : UNCONNECTED_S;
}

/* Progress at this interval is enough to detect silent ranks in time (recovery/detect). */
static unsigned lane_tick_us(const keel_config_t *config)
{
    const double us = config->heartbeat_timeout_s * 1e6 / (2 * KEEL_LOOKS_A_TIMEOUT);

    return (us <= 0 || us > TICK_MAX_US) ? TICK_MAX_US : (us < TICK_MIN_US) ? TICK_MIN_US : (unsigned)us;
}

static keel_status_t lane_peers_init(keel_lane_t *lane)
{
    lane->peers = keel_alloc(lane->size * sizeof(*lane->peers), "peers");
    lane->carrier = keel_alloc(sizeof(*lane->carrier), "values that were fetched");
    if (!keel_rank_set_init(&lane->unacknowledged, lane->size) || lane->peers == NULL || lane->carrier == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    KEEL_EACH_RANK(r, lane) {
        keel_peer_t *peer = &lane->peers[r];

        peer->rank = r;
        peer->mode = KEEL_PEER_BEHIND;
        ucs_list_head_init(&peer->reads);
        ucs_list_head_init(&peer->controls);
        /* first lives know each other; a replacement accepts any rank that greets it */
        peer->is_accepted = (lane->incarnation == 0);
    }
    lane->peers[lane->rank].incarnation = lane->incarnation;
    lane->peers[lane->rank].mode = KEEL_PEER_LIVE;
    lane->not_live = keel_member_count(lane) - 1;
    return keel_lane_regions_reserve(lane, KEEL_REGION_WINDOW0);
}

static void lane_peers_release(keel_lane_t *lane)
{
    KEEL_EACH_RANK_WHILE(r, lane, lane->peers != NULL) {
        keel_free(lane->peers[r].regions);
        keel_free(lane->peers[r].partial);
    }
    keel_free(lane->own);
    keel_free(lane->carrier);
    keel_rank_set_release(&lane->unacknowledged);
    keel_free(lane->peers);
}

static keel_status_t lane_transport_open(keel_lane_t *lane, const keel_lane_params_t *from, uint32_t rank,
                                         keel_transport_t **transport_p)
{
    const char *interface = from->config->interface;
    keel_transport_params_t params = {.rank = rank,
                                      .size = from->runtime->size,
                                      .node = from->runtime->node,
                                      .is_one_host = from->runtime->is_one_host,
                                      .interface = (interface != NULL) ? interface : from->runtime->interface,
                                      .auth = &from->runtime->auth,
                                      .lanes = lanes_names[from->config->lanes],
                                      .tls_served = from->config->tls_served,
                                      .device = from->config->verbs_device,
                                      .spin_us = from->config->spin_us,
                                      .signal = from->config->signal,
                                      .driver_arg = from->driver_arg,
                                      .message = from->message,
                                      .on_request = keel_lane_on_request,
                                      .on_idle = keel_lane_on_idle,
                                      .on_notify = lane_on_notify,
                                      .tick_us = lane_tick_us(from->config),
                                      .on_reply = keel_lane_on_reply,
                                      .on_suspect = lane_on_suspect,
                                      .on_unconnected = lane_on_unconnected,
                                      .on_lost = lane_on_lost,
                                      .unconnected_s = lane_unconnected_s(from->config),
                                      .arg = lane};

    return from->ops->open(&params, transport_p);
}

keel_status_t keel_lane_prepare(keel_lane_t *lane, const keel_lane_params_t *params, const uint64_t *bytes,
                                unsigned count, keel_transport_t **transport_p)
{
    uint64_t ready[1 + KEEL_NEEDS_MAX] = {params->config->getlog_size}, sum = 0;
    unsigned pieces = 1;

    if (params->ops->take_rank == NULL) {
        return KEEL_OK;
    }
    if (*transport_p == NULL) {
        const keel_status_t status = lane_transport_open(lane, params, KEEL_RANK_NONE, transport_p);

        if (status != KEEL_OK) {
            return status;
        }
    }
    for (unsigned i = 0; i < count && i < KEEL_NEEDS_MAX; i++) {
        if (bytes[i] <= READY_MAX - sum) {
            ready[pieces++] = bytes[i];
            sum += bytes[i];
        }
    }
    return params->ops->reserve(*transport_p, ready, pieces);
}

static void lane_on_hello(void *arg, const keel_control_in_t *in)
{
    keel_lane_t *lane = arg;

    if (!lane->peers[in->source].is_up) { /* only a replacement is greeted by unconnected ranks */
        keel_status_t status = keel_lane_peer_up(lane, in->source, in->incarnation, in->payload, in->length);

        if (status != KEEL_OK) {
            keel_lane_fail(lane, status);
        }
    }
}

static void lane_on_region(void *arg, const keel_control_in_t *in)
{
    keel_lane_region_learn(arg, in);
}

keel_status_t keel_lane_init(keel_lane_t *lane, const keel_lane_params_t *params)
{
    keel_status_t status;
    void *base;

    memset(lane, 0, sizeof(*lane));
    lane->message = params->message;
    lane->config = params->config;
    lane->ops = params->ops;
    lane->runtime = params->runtime;
    lane->rank = params->runtime->rank;
    lane->size = params->runtime->size;
    lane->leader = params->runtime->leader;
    lane->incarnation = params->runtime->incarnation;
    lane->programs = lane->size - params->config->checksum_ranks;
    lane->on_served_get = params->on_served_get;
    lane->on_served_got = params->on_served_got;
    lane->on_served_room = params->on_served_room;
    lane->on_served_refill = params->on_served_refill;
    lane->news = params->news;
    lane->arg = params->arg;
    lane->counters = params->counters;
    lane->changes = params->counters.change;
    lane->rollback = params->counters.rollback;
    lane->transport = params->prepared;
    if (params->config->checksum_ranks >= lane->size) {
        keel_error(lane->message, "KEEL_CHECKSUM_RANKS of %u leaves none of the job's %u ranks to the program",
                   params->config->checksum_ranks, lane->size);
        status = KEEL_ERR_GROUPS;
        goto err_close_prepared;
    }
    pthread_mutex_init(&lane->lock, NULL);
    ucs_list_head_init(&lane->inbox);
    keel_lane_control_handle(lane, KEEL_CONTROL_HELLO, lane_on_hello, lane);
    keel_lane_control_handle(lane, KEEL_CONTROL_REGION, lane_on_region, lane);

    status = lane_peers_init(lane);
    if (status != KEEL_OK) {
        goto err_release_peers;
    }
    status = keel_lane_reads_init(lane);
    if (status != KEEL_OK) {
        goto err_release_peers;
    }
    status = (lane->transport == NULL) ? lane_transport_open(lane, params, lane->rank, &lane->transport)
                                       : lane->ops->take_rank(lane->transport, lane->rank);
    if (status != KEEL_OK) {
        goto err_release_issue;
    }
    status = keel_lane_region_make(lane, KEEL_REGION_BOARD, keel_board_size(lane->size), NULL, &base);
    if (status != KEEL_OK) {
        goto err_close;
    }
    lane->board = base;
    status = keel_lane_region_make(lane, KEEL_REGION_LOCKS, keel_lock_area_size(lane->size), NULL, &base);
    if (status != KEEL_OK) {
        goto err_drop;
    }
    keel_lane_locks(lane)->word = keel_lock_word_free(lane->counters.lock);
    return KEEL_OK;

err_drop:
    keel_lane_region_drop(lane, KEEL_REGION_BOARD);
err_close:
    lane->ops->close(lane->transport);
    lane->transport = NULL;
err_release_issue:
    keel_lane_reads_release(lane);
err_release_peers:
    lane_peers_release(lane);
    pthread_mutex_destroy(&lane->lock);
err_close_prepared:
    if (lane->transport != NULL) {
        lane->ops->close(lane->transport);
    }
    return status;
}

void keel_lane_release(keel_lane_t *lane)
{
    keel_control_in_t *in;

    KEEL_EACH_RANK(r, lane) {
        if (lane->peers[r].is_up) {
            keel_lane_peer_down(lane, r, lane->peers[r].incarnation + 1);
        }
    }
    for (unsigned region = 0; region < lane->regions_room; region++) {
        keel_lane_region_drop(lane, region);
    }
    lane->ops->close(lane->transport);
    while ((in = keel_lane_control_next(lane)) != NULL) {
        keel_free(in);
    }
    keel_lane_reads_release(lane);
    lane_peers_release(lane);
    pthread_mutex_destroy(&lane->lock);
}

keel_status_t keel_lane_address(keel_lane_t *lane, const void **address_p, size_t *length_p)
{
    return lane->ops->address(lane->transport, address_p, length_p);
}

void keel_lane_accept(keel_peer_t *peer, uint32_t incarnation)
{
    if (incarnation < peer->accepted || (incarnation == peer->accepted && peer->is_accepted)) {
        return;
    }
    peer->is_accepted = 1;
    peer->accepted = incarnation;
    peer->applied = peer->acknowledged = 0;
    peer->answered = 0;
}

keel_status_t keel_lane_peer_up(keel_lane_t *lane, uint32_t rank, uint32_t incarnation, const void *address,
                                size_t length)
{
    keel_peer_t *peer = &lane->peers[rank];
    keel_status_t status;
    const void *own;
    size_t own_length;

    KEEL_PLANT_CALL(peer_disconnect_late, lane, rank);
    status = lane->ops->connect(lane->transport, rank, address, length, &peer->lanes);
    if (status != KEEL_OK) {
        keel_error(lane->message, "cannot connect to rank %u incarnation %u: %s", rank, incarnation,
                   keel_status_string(status));
        return status;
    }
    pthread_mutex_lock(&lane->lock);
    peer->incarnation = incarnation;
    keel_lane_accept(peer, incarnation);
    pthread_mutex_unlock(&lane->lock);
    peer->sent = peer->acked = 0;
    peer->is_up = peer->was_up = 1;

    status = keel_lane_address(lane, &own, &own_length);
    if (status == KEEL_OK) {
        status = keel_lane_control_send(lane, rank, KEEL_CONTROL_HELLO, own, own_length);
    }
    if (status == KEEL_OK) {
        keel_lane_regions_announce(lane, rank);
    }
    return status;
}

void keel_lane_set_mode(keel_lane_t *lane, uint32_t rank, keel_peer_mode_t mode)
{
    if (lane->peers[rank].mode != mode) {
        lane->not_live += (mode != KEEL_PEER_LIVE) - (lane->peers[rank].mode != KEEL_PEER_LIVE);
        lane->peers[rank].mode = (uint8_t)mode;
        lane->changes++;
    }
}

void keel_lane_peer_answers(keel_lane_t *lane, uint32_t rank)
{
    lane->broken -= lane->peers[rank].is_broken;
    lane->peers[rank].is_broken = 0;
}

/* Drops the claims of a dead rank on locks in own memory and in mapped memory of peers. */
static void lane_drop_claims(keel_lane_t *lane, uint32_t rank)
{
    KEEL_EACH_TOUCHED(r, lane) {
        keel_lock_area_t *area = keel_access_at(lane, r, KEEL_REGION_LOCKS);

        if (area != NULL) {
            const keel_claims_t claims = keel_lock_claims(area, lane->size);

            keel_claim_drop(&claims, rank);
        }
    }
}

void keel_lane_peer_down(keel_lane_t *lane, uint32_t rank, uint32_t next)
{
    keel_peer_t *peer = &lane->peers[rank];
    keel_control_in_t *in, *tmp;

    pthread_mutex_lock(&lane->lock);
    if (keel_access_is_stored(lane, rank)) {
        /* of a process on the other lane: the digest lacks its stores */
        peer->digest = (keel_digest_t){0};
    }
    if (peer->accepted < next) { /* from here on the service side refuses its messages */
        peer->is_accepted = 0;
        peer->accepted = next;
    }
    ucs_list_for_each_safe(in, tmp, &lane->inbox, list)
    {
        if (in->source == rank && in->incarnation < next && !KEEL_PLANT(recover_late_control)) {
            ucs_list_del(&in->list);
            keel_free(in);
        }
    }
    pthread_mutex_unlock(&lane->lock);
    lane_drop_claims(lane, rank);

    if (peer->is_up) {
        peer->was_stored = (uint8_t)keel_access_is_stored(lane, rank);
        keel_lane_regions_close(lane, rank);
        if (!KEEL_PLANT(peer_disconnect_late)) {
            lane->ops->disconnect(lane->transport, rank);
        }
        peer->is_up = 0;
        keel_lane_peer_answers(lane, rank);
    }
    peer->lanes = 0;
    peer->incarnation = next;
    keel_lane_set_mode(lane, rank, KEEL_PEER_BEHIND);
    lane->changes++;
    keel_remote_put_drop(peer);
    peer->room_chunk = 0;
    keel_lane_issue_drop(lane, peer, KEEL_ERR_UNREACHABLE);
}

void keel_lane_peer_gone(keel_lane_t *lane, uint32_t rank)
{
    const uint32_t lives = lane->peers[rank].incarnation;

    keel_lane_peer_down(lane, rank, KEEL_INCARNATION_GONE);
    lane->peers[rank].lives = lives;
    lane->not_live--;
    lane->gone++;
    if (rank == lane->leader && !KEEL_PLANT(peer_leader_kept)) {
        lane->leader = keel_member_after(lane, rank);
    }
}

int keel_lane_open_message(keel_lane_t *lane, const char *what, const void *header, size_t header_len, const void *data,
                           size_t data_len, keel_wire_t *wire)
{
    const char *why = keel_wire_open(wire, header, header_len, data, data_len);

    if (why == NULL && wire->source >= lane->size) {
        why = "unknown rank";
    }
    if (why != NULL) {
        keel_error(lane->message, "%s refused: %s", what, why);
        keel_lane_fail(lane, KEEL_ERR_CORRUPT);
    }
    return why == NULL;
}

unsigned keel_lane_progress(keel_lane_t *lane)
{
    if (!ucs_list_is_empty(&lane->putting)) {
        keel_remote_put_progress(lane);
    }
    return lane->ops->progress(lane->transport);
}

void keel_lane_note_atomics(keel_lane_t *lane, uint32_t source, uint32_t phase)
{
    keel_peer_t *peer = &lane->peers[source];

    keel_board_set(&lane->board[source].atomics, keel_atomics_word(lane->board[source].atomics, phase, 0));
    if (peer->atomics <= phase) {
        __atomic_store_n(&peer->atomics, phase + 1, __ATOMIC_RELEASE);
    }
}

/* ---- a rollback ---- */

void keel_lane_set_rollback(keel_lane_t *lane, uint32_t rollback)
{
    pthread_mutex_lock(&lane->lock);
    lane->rollback = rollback;
    pthread_mutex_unlock(&lane->lock);
}

void keel_lane_forget_done(keel_lane_t *lane, uint32_t rollback)
{
    lane->rollback = rollback;
    KEEL_EACH_RANK(r, lane) {
        lane->board[r] = (keel_board_slot_t){0};
        lane->peers[r].done = 0;
        lane->peers[r].found = 0;
        lane->peers[r].digest = (keel_digest_t){0};
        __atomic_store_n(&lane->peers[r].atomics, 0, __ATOMIC_RELEASE);
    }
}

void keel_lane_forget_announced(keel_lane_t *lane, uint32_t generation)
{
    lane->slot = (keel_board_slot_t){.parity_done = generation, .committed = generation};
    lane->usage = (keel_usage_t){0};
}
