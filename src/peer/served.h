/* The service side of the served lane: applies and answers what others ask of this process, while its own thread computes. */
#ifndef KEEL_PEER_SERVED_H_
#define KEEL_PEER_SERVED_H_

#include "peer/peer.h"

/* a record into own memory, checked; NULL or what is wrong with it */
const char *keel_lane_apply_record(keel_lane_t *lane, const keel_record_t *record, const void *payload);
/* served.c: the service side */
int keel_lane_on_request(void *arg, const void *header, size_t header_len, const void *data, size_t data_len);
int keel_lane_on_idle(void *arg, int is_late);

/* ---- what its parts share: under the lane's lock ---- */

/* an answer acknowledges what it answers, and so all before it */
void keel_served_reply(keel_lane_t *lane, const keel_wire_t *request, keel_wire_type_t type, const void *data,
                       size_t length);
/* the same with what keel_remote_answer() says, or more */
void keel_served_send(keel_lane_t *lane, const keel_wire_t *request, keel_wire_type_t type,
                      const keel_wire_body_t *body, const void *data, size_t length);
/* answers a read that cannot be answered, so that nobody waits for it */
void keel_served_refuse(keel_lane_t *lane, const keel_wire_t *request);
/* an answer cannot be sent; who lives waits for it for ever, so a lack of memory is this process's end */
void keel_served_not_sent(keel_lane_t *lane, uint32_t asker, keel_status_t status);
/* where the access goes in own memory, or NULL when it leaves the region; windows only, unless it reads */
static inline void *keel_served_target(keel_lane_t *lane, uint64_t where, uint64_t length, int is_read)
{
    unsigned region = keel_where_region(where);
    uint64_t offset = keel_where_offset(where);
    const keel_own_region_t *r = &lane->own[region];

    if (region >= lane->regions_room || r->base == NULL || (!is_read && region < KEEL_REGION_WINDOW0) ||
        length > r->size || offset > r->size - length) {
        return NULL;
    }
    return (char *)r->base + offset;
}
/* whether record @a number of @a phase is the next one; 0: it was applied before; -1: some before it are missing. On the
 * board stands what the source did over the direct lane, before it was replaced by a process elsewhere. */
int keel_served_is_next(const keel_lane_t *lane, uint32_t source, uint32_t phase, uint32_t number);
void keel_served_count(keel_lane_t *lane, uint32_t source, uint32_t phase, uint32_t number);

#endif
