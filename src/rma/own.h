/* Own memory that is read by a call. */
#ifndef KEEL_RMA_OWN_H_
#define KEEL_RMA_OWN_H_

#include "engine/context.h"

/* words as a whole where they are aligned; of memory that is no program's to change meanwhile a copy */
void keel_own_load(void *buffer, const char *from, size_t length);
/* as an answer: what others put there comes in an order that nobody else knows. Many words are several. */
keel_status_t keel_own_ask(keel_win_h win, const keel_gather_t *gather);
/* by any get: an answer where this process may go on by what others put, else a copy */
keel_status_t keel_own_get(keel_win_h win, const keel_gather_t *gather);

#endif
