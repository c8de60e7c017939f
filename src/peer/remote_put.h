/*
 * Puts by one-sided operations, to a peer that has KEEL_LANE_RMA and no pointer: the target's service side has no part in them.
 *
 * Such a peer is a served one but for this. Requests arrive after all puts issued before them (transport.h), so what is
 * announced by a message is in place. A put may pass requests that are not answered yet, so there are none when it is issued. The
 * service side counts the records that it applies; the first request with records after puts says that all before it
 * are there (KEEL_WIRE_FLAG_PUT).
 */
#ifndef KEEL_PEER_REMOTE_PUT_H_
#define KEEL_PEER_REMOTE_PUT_H_

#include "peer/peer.h"

/*
 * Puts to a region in @a phase, from data that stays there until keel_lane_is_flushed(). Returns how many were, from the first on:
 * the next has to be sent, for want of a lane or of room there, or because order needs it. @a is_behind: they take effect after all
 * before them.
 */
unsigned keel_remote_put(keel_lane_t *lane, uint32_t rank, uint32_t phase, unsigned region,
                         const keel_transport_put_t *puts, unsigned count, int is_behind);
/* the region is reached by operations now, and no request is on its way that one could pass */
int keel_remote_is_possible(const keel_lane_t *lane, uint32_t rank, unsigned region);
/*
 * What gets of this process have brought, or bring, to the get log of a peer: @a length bytes from @a records to @a offset, then @a word to @a
 * word_offset; behind all gets, and before what is put or asked for from now on. @a records stay until keel_lane_is_flushed().
 */
void keel_remote_record(keel_lane_t *lane, uint32_t rank, uint64_t offset, const void *records, size_t length,
                        uint64_t word_offset, uint64_t word);
/* a replacement sends what its predecessor may have put, so of phases before @a phase nothing; of these others do not hold all */
static inline void keel_remote_put_from(keel_lane_t *lane, uint32_t phase)
{
    lane->put_from = phase;
}
/* of the phase that ends with that arrival some may have been put there, by this process or its predecessor */
static inline int keel_remote_has_put(const keel_lane_t *lane, uint32_t rank, uint32_t arrive)
{
    const keel_peer_t *peer = &lane->peers[rank];
    const int is_unmapped = (peer->lanes & (KEEL_LANE_RMA | KEEL_LANE_PTR)) == KEEL_LANE_RMA;

    return arrive > 0 && (peer->put_phase >= arrive || (is_unmapped && arrive <= lane->put_from));
}
/* puts will be read from this memory, which stays for as long as the transport */
void keel_remote_put_lend(keel_lane_t *lane, void *base, size_t bytes);
/* at the target, with the lane's lock: what answers a request. Where its record lies in the get log, the asker may go on by itself. */
keel_wire_body_t keel_remote_answer(keel_lane_t *lane, const keel_wire_t *request, keel_wire_type_t type);
/* the same: of @a phase all records before @a number are there, if the message says that they were put */
void keel_remote_put_told(keel_lane_t *lane, const keel_wire_t *wire, uint32_t phase, uint32_t number);
/* for peer.c: completes what was put, a little at a time; forgets what was put to a peer that is down */
void keel_remote_put_progress(keel_lane_t *lane);
void keel_remote_put_drop(keel_peer_t *peer);

#endif
