/* Puts by one-sided operations. */
#include "peer/remote_put.h"

#include "check/reached.h"

static int is_possible(const keel_peer_t *peer, const keel_region_t *known)
{
    return (peer->lanes & (KEEL_LANE_RMA | KEEL_LANE_PTR)) == KEEL_LANE_RMA && peer->is_up && !peer->is_broken &&
           known->key != NULL && known->incarnation == peer->incarnation &&
           (peer->acked == peer->sent || KEEL_PLANT(remote_put_passes));
}

int keel_remote_is_possible(const keel_lane_t *lane, uint32_t rank, unsigned region)
{
    const keel_peer_t *peer = &lane->peers[rank];

    return is_possible(peer, &peer->regions[region]);
}

static void put_begins(keel_lane_t *lane, keel_peer_t *peer)
{
    if (peer->put == peer->put_done) {
        ucs_list_add_tail(&lane->putting, &peer->putting);
    }
    peer->put++;
}

void keel_remote_put_lend(keel_lane_t *lane, void *base, size_t bytes)
{
    if (lane->ops->lend != NULL) {
        lane->ops->lend(lane->transport, base, bytes);
    }
}

unsigned keel_remote_put(keel_lane_t *lane, uint32_t rank, uint32_t phase, unsigned region,
                         const keel_transport_put_t *puts, unsigned count, int is_behind)
{
    keel_peer_t *peer = &lane->peers[rank];
    const keel_region_t *known = &peer->regions[region];

    if (!is_possible(peer, known)) {
        return 0;
    }
    if (is_behind && peer->put != peer->put_done && !KEEL_PLANT(remote_put_unfenced)) {
        lane->ops->fence(lane->transport);
    }
    (void)lane->ops->put(lane->transport, known->key, puts,
                         &count); /* puts beyond count go by message, whatever the reason */
    if (count == 0) {
        return 0;
    }
    KEEL_REACHED(put_remote);
    put_begins(lane, peer);
    peer->put_phase = phase + 1;
    peer->is_put_unannounced = 1;
    return count;
}

/* An error means a broken connection: the flush never completes, and the launcher reports the
 * reason. */
void keel_remote_record(keel_lane_t *lane, uint32_t rank, uint64_t offset, const void *records, size_t length,
                        uint64_t word_offset, uint64_t word)
{
    keel_peer_t *peer = &lane->peers[rank];
    keel_transport_key_t *key = peer->regions[KEEL_REGION_GETLOG].key;

    if (!KEEL_PLANT(remote_put_record_unfenced)) {
        lane->ops->fence(lane->transport);
    }
    (void)lane->ops->put_record(lane->transport, key, offset, records, length);
    if (!KEEL_PLANT(remote_put_claim_unfenced)) {
        lane->ops->fence(lane->transport);
    }
    (void)lane->ops->put_record(lane->transport, key, word_offset, &word, sizeof(word));
    lane->ops->fence(lane->transport);
    put_begins(lane, peer);
    KEEL_REACHED(get_remote);
}

static void put_is_done(keel_peer_t *peer, uint64_t done)
{
    if (peer->put_done == peer->put) {
        return; /* the peer is in no list */
    }
    peer->put_done = done;
    if (done == peer->put) {
        ucs_list_del(&peer->putting);
    }
}

/* Also called when the peer is cut off; keel_remote_put_drop() follows. */
static void on_flushed(void *arg, keel_status_t status)
{
    keel_peer_t *peer = arg;

    peer->is_put_flushing = 0;
    if (status == KEEL_OK) {
        put_is_done(peer, peer->put_flushing);
    }
}

void keel_remote_put_progress(keel_lane_t *lane)
{
    keel_peer_t *peer, *next;

    ucs_list_for_each_safe(peer, next, &lane->putting, putting)
    {
        if (peer->is_put_flushing) {
            continue;
        }
        peer->put_flushing = peer->put;
        peer->is_put_flushing = 1;
        if (lane->ops->flush(lane->transport, peer->rank, on_flushed, peer) == KEEL_OK) {
            on_flushed(peer, KEEL_OK);
        }
    }
}

void keel_remote_put_drop(keel_peer_t *peer)
{
    put_is_done(peer, peer->put);
    peer->is_put_flushing = peer->is_put_unannounced = 0;
    peer->put_phase = 0;
}

void keel_remote_put_count(keel_lane_t *lane, const keel_wire_t *wire, uint32_t phase, uint32_t number)
{
    const uint64_t done = keel_phase_word(phase, number);

    if ((wire->flags & KEEL_WIRE_FLAG_PUT) && lane->peers[wire->source].done < done) {
        lane->peers[wire->source].done = done;
        keel_board_done(&lane->board[wire->source], phase, number);
    }
}

keel_wire_body_t keel_remote_answer(keel_lane_t *lane, const keel_wire_t *request, keel_wire_type_t type)
{
    const int is_recorded = type == KEEL_WIRE_VALUE && (request->flags & KEEL_WIRE_FLAG_LOGGED);
    const uint64_t room =
        (is_recorded && lane->on_served_room != NULL) ? lane->on_served_room(lane->arg, request->source) : 0;

    return (keel_wire_body_t){.reply = {.id = request->body.get.id,
                                        .sequence = request->sequence,
                                        .chunk = (uint32_t)(room >> 32),
                                        .used = (uint32_t)room}};
}
