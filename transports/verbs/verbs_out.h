/* What a link sends: messages in frames, and the chain in which requests are posted. verbs_link.h says what keeps it sound. */
#ifndef KEEL_VERBS_OUT_H_
#define KEEL_VERBS_OUT_H_

#include "verbs_link.h"

/* @a is_copied: data is copied, else it is read in place until the message is in its slots. KEEL_ERR_UNREACHABLE: it broke */
keel_status_t keel_verbs_out_send(keel_verbs_link_t *link, enum keel_service_wire_kind kind, const void *header,
                                  size_t header_len, const void *data, size_t data_len, int is_copied);
/* the same with data that lies in @a message, of the port's pools, already: it is used up */
keel_status_t keel_verbs_out_send_made(keel_verbs_link_t *link, keel_service_message_t *message,
                                       enum keel_service_wire_kind kind, const void *header, size_t header_len,
                                       size_t data_len);
/* what has room goes out: when the link opens, and when slots or credits come back */
void keel_verbs_out_pump(keel_verbs_link_t *link);
/* has a completion come for all that was sent; once, at the end */
void keel_verbs_out_ask(keel_verbs_link_t *link);

/* how many requests more may be under way */
static inline unsigned keel_verbs_out_room(const keel_verbs_link_t *link)
{
    return KEEL_VERBS_QUEUE - (unsigned)(link->built - link->done);
}
void keel_verbs_out_init(keel_verbs_link_t *link); /* of a link that is made */
/* A request at the end of the chain, where there is room, with a piece. Both hold what another had there: opcode and flags are to be
 * set, and all that these use. @a slots: it holds so many */
struct ibv_send_wr *keel_verbs_out_add(keel_verbs_link_t *link, unsigned slots);
/* a copy of up to KEEL_VERBS_WORD bytes for the request that is added next, which stays until that has completed */
struct ibv_sge keel_verbs_out_copy(keel_verbs_link_t *link, const void *bytes, size_t length);
void keel_verbs_out_post(keel_verbs_link_t *link); /* the chain */
/* the request of this number has completed, and with it all before it */
void keel_verbs_out_done(keel_verbs_link_t *link, uint32_t number);

#endif
