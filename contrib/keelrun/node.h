/* The daemon of an emulated node: starts ranks and reports their ends to the master. */
#ifndef KEELRUN_NODE_H_
#define KEELRUN_NODE_H_

#include "options.h"

/*
 * Runs the node on channel @a fd until the master is done with it. Returns the exit status of the
 * process. @a netns_error: errno of the janitor's attempt, for the master.
 */
int node_run(const options_t *options, uint32_t index, int fd, const char *session, int netns_error);

#endif
