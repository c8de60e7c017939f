/* The service side of the served lane: applies and answers what others ask of this process, while its own thread computes. */
#ifndef KEEL_PEER_SERVED_H_
#define KEEL_PEER_SERVED_H_

#include "peer/peer.h"

/* a record into own memory, checked; NULL or what is wrong with it */
const char *keel_lane_apply_record(keel_lane_t *lane, const keel_record_t *record, const void *payload);
/* served.c: the service side */
int keel_lane_on_request(void *arg, const void *header, size_t header_len, const void *data, size_t data_len);
int keel_lane_on_idle(void *arg, int is_late);

#endif
