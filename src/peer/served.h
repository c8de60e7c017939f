/* The service side of the served lane: applies and answers requests of peers while the process's
 * own thread computes. */
#ifndef KEEL_PEER_SERVED_H_
#define KEEL_PEER_SERVED_H_

#include "peer/peer.h"

/* Checks a record and applies it to own memory; returns NULL, or the reason of its refusal. */
const char *keel_lane_apply_record(keel_lane_t *lane, const keel_record_t *record, const void *payload);
/* entry points of the transport's service thread */
int keel_lane_on_request(void *arg, const void *header, size_t header_len, const void *data, size_t data_len);
int keel_lane_on_idle(void *arg, int is_late);

/* ---- shared by the files of the service side: under the lane's lock ---- */

/* Sends a reply, which acknowledges its request and all before it. */
void keel_served_reply(keel_lane_t *lane, const keel_wire_t *request, keel_wire_type_t type, const void *data,
                       size_t length);
/* keel_served_reply() with a given body. */
void keel_served_send(keel_lane_t *lane, const keel_wire_t *request, keel_wire_type_t type,
                      const keel_wire_body_t *body, const void *data, size_t length);
/* Refuses a read, so that the source does not wait for a value. */
void keel_served_refuse(keel_lane_t *lane, const keel_wire_t *request);
/* Handles a reply that could not be sent. A live source would wait for ever, so lack of memory
 * ends the process. */
void keel_served_not_sent(keel_lane_t *lane, uint32_t asker, keel_status_t status);
/* Address of an access in own memory; NULL if the access leaves the region. Only a read may name
 * an internal region. */
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
/* Returns 1 if record @a number of @a phase is the next one, 0 if it was applied before, -1 if
 * earlier records are missing. The board counts the records that the source's predecessor did
 * over the direct lane, if the source has moved to another node. */
int keel_served_is_next(const keel_lane_t *lane, uint32_t source, uint32_t phase, uint32_t number);
void keel_served_count(keel_lane_t *lane, uint32_t source, uint32_t phase, uint32_t number);

#endif
