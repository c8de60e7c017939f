/* Tells connections of this node's ranks from foreign connections. */
#ifndef KEELRUN_GUEST_H_
#define KEELRUN_GUEST_H_

#include <stdbool.h>

/*
 * True if a descendant of this process has the other end of the TCP connection @a fd open. A
 * connection of another host, of another user, or of an ended process is foreign. Callable from any
 * thread.
 */
bool guest_is_ours(int fd);

#endif
