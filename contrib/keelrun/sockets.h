/*
 * Outside control of the TCP sockets of PMIx's library in a node: needed to survive clients that
 * die at any moment, and not offered by the library.
 */
#ifndef KEELRUN_SOCKETS_H_
#define KEELRUN_SOCKETS_H_

#include <stdbool.h>

/*
 * Turns off Nagle's algorithm, which sometimes delays an answer by the 40 ms of a delayed
 * acknowledgement: five times the join of a replacement. Accepted sockets inherit the option from
 * the listening socket.
 */
void sockets_send_at_once(void);

/*
 * True if no client is in the middle of connecting: no connection waits for acceptance, and no more
 * sockets are open than the @a expected connections reported by PMIx.
 */
bool sockets_are_quiet(unsigned expected);

#endif
