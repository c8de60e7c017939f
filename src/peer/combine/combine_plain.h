/* Accumulates by plain loads and stores, while no other rank changes the elements. */
#ifndef KEEL_PEER_COMBINE_PLAIN_H_
#define KEEL_PEER_COMBINE_PLAIN_H_

#include "wire/record.h"

/* keel_combine() for common operations on numbers of up to 8 bytes. Returns 0 if the loop does not
 * exist for the operation and type. @a values are there. */
int keel_combine_plain(const keel_record_accumulate_t *head, char *target, const char *values, char *result);

#endif
