/* Connecting to a peer's service side, at the first message or access. */
#ifndef KEEL_VERBS_DIAL_H_
#define KEEL_VERBS_DIAL_H_

#include "transport.h"

typedef struct keel_verbs keel_verbs_t;
typedef struct keel_verbs_peer keel_verbs_peer_t;

/* Creates the link; messages queue until it is open. A failure is reported by a message. */
keel_status_t keel_verbs_dial_begin(keel_verbs_t *verbs, keel_verbs_peer_t *peer);
void keel_verbs_dial_end(keel_verbs_peer_t *peer); /* the link is open, or given up */
/* progress of all connection attempts; returns the number of events */
unsigned keel_verbs_dial_progress(keel_verbs_t *verbs);
/* checks whether any peer's process has ended */
void keel_verbs_dial_check(keel_verbs_t *verbs);

#endif
