/*
 * Puts by one-sided operations to a peer with KEEL_LANE_RMA and no mapped memory. The target's
 * service side takes no part in them.
 *
 * The peer is a served peer in all other respects. Requests arrive after all puts issued before
 * them (transport.h), so a message announces puts that are in place. A put may overtake requests
 * without a reply, so none is under way when a put is issued. The service side counts the records
 * that it applies; the first request with records after puts says that all puts before it are
 * complete (KEEL_WIRE_FLAG_PUT).
 */
#ifndef KEEL_PEER_REMOTE_PUT_H_
#define KEEL_PEER_REMOTE_PUT_H_

#include "peer/peer.h"

/*
 * Puts to a region in @a phase. The data stays unchanged until keel_lane_is_flushed(). Returns the
 * number of puts issued, from the first on. The next one has to go by message, for want of a lane
 * or of room in the lane, or for the sake of order. @a is_behind: the puts take effect after all
 * earlier ones.
 */
unsigned keel_remote_put(keel_lane_t *lane, uint32_t rank, uint32_t phase, unsigned region,
                         const keel_transport_put_t *puts, unsigned count, int is_behind);
/* True if one-sided operations reach the region at present, and no request is under way that a
 * put could overtake. */
int keel_remote_is_possible(const keel_lane_t *lane, uint32_t rank, unsigned region);
/*
 * Writes records of gets to the get log of a peer: @a length bytes from @a records to @a offset,
 * then @a word to @a word_offset. The writes come after all gets so far and before later puts and
 * requests. @a records stay unchanged until keel_lane_is_flushed().
 */
void keel_remote_record(keel_lane_t *lane, uint32_t rank, uint64_t offset, const void *records, size_t length,
                        uint64_t word_offset, uint64_t word);
/* In a replacement: sends puts of phases before @a phase by message, because the predecessor may
 * have done them already. So peers do not count all puts of these phases. */
static inline void keel_remote_put_from(keel_lane_t *lane, uint32_t phase)
{
    lane->put_from = phase;
}
/* True if some puts of the phase before arrival @a arrive may have been one-sided, by the
 * process or its predecessor. */
static inline int keel_remote_has_put(const keel_lane_t *lane, uint32_t rank, uint32_t arrive)
{
    const keel_peer_t *peer = &lane->peers[rank];
    const int is_unmapped = (peer->lanes & (KEEL_LANE_RMA | KEEL_LANE_PTR)) == KEEL_LANE_RMA;

    return arrive > 0 && (peer->put_phase >= arrive || (is_unmapped && arrive <= lane->put_from));
}
/* Announces memory that puts are read from; the memory lives as long as the transport. */
void keel_remote_put_lend(keel_lane_t *lane, void *base, size_t bytes);
/* Target, under the lane's lock: the body of a reply to a request. For a recorded get the reply
 * grants the source the room after the record in the get log. */
keel_wire_body_t keel_remote_answer(keel_lane_t *lane, const keel_wire_t *request, keel_wire_type_t type);
/* Target, under the lane's lock: counts all records of @a phase before @a number as complete, if
 * the message says that they were puts. */
void keel_remote_put_count(keel_lane_t *lane, const keel_wire_t *wire, uint32_t phase, uint32_t number);
/* For peer.c: completes puts step by step; drops the puts to a peer that is down. */
void keel_remote_put_progress(keel_lane_t *lane);
void keel_remote_put_drop(keel_peer_t *peer);

#endif
