/* The daemon of one emulated node: starts its ranks, tells the master how they end. */
#ifndef KEELRUN_NODE_H_
#define KEELRUN_NODE_H_

#include "options.h"

/* Runs the node on channel @a fd until the master is done with it; returns the exit status of the process.
 * @a netns_error: errno of what the janitor tried before, told to the master. */
int node_run(const options_t *options, uint32_t index, int fd, const char *session, int netns_error);

#endif
