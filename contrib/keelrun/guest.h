/* Tells connections of this node's ranks from those of strangers. */
#ifndef KEELRUN_GUEST_H_
#define KEELRUN_GUEST_H_

#include <stdbool.h>

/*
 * Whether the other end of the TCP connection @a fd is open in a process that descends from this one. The other end must be on this
 * host; a connection of another host, of another user, or of a process that has ended is a stranger's. Any thread.
 */
bool guest_is_ours(int fd);

#endif
