/* Connecting to a peer's service side, when the first thing is sent to it. */
#ifndef KEEL_VERBS_DIAL_H_
#define KEEL_VERBS_DIAL_H_

#include "transport.h"

typedef struct keel_verbs keel_verbs_t;
typedef struct keel_verbs_peer keel_verbs_peer_t;

/* makes the link, on which messages queue until it is open. Said: why it cannot be made */
keel_status_t keel_verbs_dial_begin(keel_verbs_t *verbs, keel_verbs_peer_t *peer);
void keel_verbs_dial_end(keel_verbs_peer_t *peer); /* it is open, or given up */
/* of all that are being connected; how many events there were */
unsigned keel_verbs_dial_progress(keel_verbs_t *verbs);
/* looks whether a peer's process has ended */
void keel_verbs_dial_look(keel_verbs_t *verbs);

#endif
