/* Which limit of the process (ulimit) may be why a call failed. */
#ifndef KEEL_BASE_LIMIT_HINT_H_
#define KEEL_BASE_LIMIT_HINT_H_

#include <stddef.h>

#define KEEL_LIMIT_HINT_MAX 200

/*
 * Text to append to a message: the limits that may be why a call failed with @a error, each with the option of ulimit that shows and sets
 * it; "" if none may be. errno stays.
 * @param error  an errno; 0 if a library tells none: each limit that is low
 * @param text   room for KEEL_LIMIT_HINT_MAX bytes
 * @return @a text
 */
const char *keel_limit_hint(int error, char *text);

#endif
