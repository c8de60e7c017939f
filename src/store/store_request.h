/* Loads that go on while their callers do not wait. */
#ifndef KEEL_STORE_STORE_REQUEST_H_
#define KEEL_STORE_STORE_REQUEST_H_

#include "store/store_state.h"

/* In the background: steps of all pending loads of the store. */
void keel_store_requests_progress(keel_store_h store);
/* A call is about to fail: pending loads end with the status of the job. */
void keel_store_requests_mute(keel_store_h store);
/* Frees what pending loads have, without an end. */
void keel_store_requests_release(keel_store_h store);

#endif
