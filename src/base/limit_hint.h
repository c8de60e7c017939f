/* Finds the limits of the process (ulimit) that may explain a failed call. */
#ifndef KEEL_BASE_LIMIT_HINT_H_
#define KEEL_BASE_LIMIT_HINT_H_

#include <stddef.h>

#define KEEL_LIMIT_HINT_MAX 200

/*
 * Text to append to a message: the limits that may have caused failure @a error, each with the
 * option of ulimit that shows and sets it; "" if there are none. Preserves errno.
 * @param error an errno; 0 if a library reports none: lists each low limit
 * @param text room for KEEL_LIMIT_HINT_MAX bytes
 * @return @a text
 */
const char *keel_limit_hint(int error, char *text);

#endif
