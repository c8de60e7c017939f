/* Sending side of a link: messages in frames, and the chain of requests to post. See
 * verbs_link.h for the safety argument. */
#ifndef KEEL_VERBS_OUT_H_
#define KEEL_VERBS_OUT_H_

#include "verbs_link.h"

/* @a is_copied: data is copied, otherwise read in place until the message is in its slots.
 * KEEL_ERR_UNREACHABLE: the link is broken. */
keel_status_t keel_verbs_out_send(keel_verbs_link_t *link, enum keel_service_wire_kind kind, const void *header,
                                  size_t header_len, const void *data, size_t data_len, int is_copied);
/* The same with data inside @a message, from the port's pools. The call consumes the message. */
keel_status_t keel_verbs_out_send_made(keel_verbs_link_t *link, keel_service_message_t *message,
                                       enum keel_service_wire_kind kind, const void *header, size_t header_len,
                                       size_t data_len);
/* sends everything that has room; called when the link opens, and when slots or credits return */
void keel_verbs_out_pump(keel_verbs_link_t *link);
/* requests a completion for everything sent; once, at the end */
void keel_verbs_out_ask(keel_verbs_link_t *link);

/* number of further requests that may be in flight */
static inline unsigned keel_verbs_out_room(const keel_verbs_link_t *link)
{
    return KEEL_VERBS_QUEUE - (unsigned)(link->built - link->done);
}
void keel_verbs_out_init(keel_verbs_link_t *link); /* initializes a new link */
/* Adds a request and its piece to the chain, which must have room. Both contain old values: set
 * opcode, flags, and all fields that the opcode uses. @a slots: number of slots held by the
 * request. */
struct ibv_send_wr *keel_verbs_out_add(keel_verbs_link_t *link, unsigned slots);
/* copies up to KEEL_VERBS_WORD bytes for the next request; the copy stays until the request has
 * completed */
struct ibv_sge keel_verbs_out_copy(keel_verbs_link_t *link, const void *bytes, size_t length);
void keel_verbs_out_post(keel_verbs_link_t *link); /* posts the chain */
/* the request with this number and all earlier requests have completed */
void keel_verbs_out_done(keel_verbs_link_t *link, uint32_t number);

#endif
