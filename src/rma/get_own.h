/* Gets from own memory. */
#ifndef KEEL_RMA_GET_OWN_H_
#define KEEL_RMA_GET_OWN_H_

#include "engine/context.h"

/* Copies memory that others may write: aligned words are loaded as a whole. */
void keel_load_words(void *buffer, const char *from, size_t length);
/* Reads as determinants: only this process observes the order of the puts there. Many words take
 * several. */
keel_status_t keel_get_own_determinants(keel_win_h win, const keel_gather_t *gather);
/* Any get from the own rank: determinants where the program may act on others' puts, else a
 * copy. */
keel_status_t keel_get_own(keel_win_h win, const keel_gather_t *gather);

#endif
