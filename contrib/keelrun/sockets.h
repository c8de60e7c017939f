/*
 * The TCP sockets that PMIx's library keeps in a node, seen from outside the library: what it needs to survive clients
 * that die at any moment, and does not offer itself.
 */
#ifndef KEELRUN_SOCKETS_H_
#define KEELRUN_SOCKETS_H_

#include <stdbool.h>

/*
 * Turns Nagle's algorithm off, which now and then holds an answer back for the 40 ms of a delayed acknowledgement: five
 * times what a replacement takes to join. Accepted sockets inherit it from the one that listens.
 */
void sockets_send_at_once(void);

/*
 * No client is between connecting and being connected: nobody waits to be accepted, and no more sockets are open than
 * the @a expected connections that PMIx has told of.
 */
bool sockets_are_quiet(unsigned expected);

#endif
