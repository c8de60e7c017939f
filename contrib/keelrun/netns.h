/*
 * Network namespaces of the emulated nodes: the janitor enters a namespace with a bridge, and each
 * node enters its own, joined to the bridge by a pair of virtual devices. The namespace of
 * keelrun's start is not changed, and the kernel removes all of them with the last process inside.
 */
#ifndef KEELRUN_NETNS_H_
#define KEELRUN_NETNS_H_

#include <stdint.h>

#define NETNS_DEVICE "eth0" /* device of a node; address 10.77.0.(node + 1)/24 */

int netns_make_bridge(void); /* 0 or errno; called in the janitor */
/*
 * Returns 0 or errno. Called in a node, which starts in the janitor's namespace; *outer_p gets the
 * socket for netns_cut().
 */
int netns_join_bridge(uint32_t node, int *outer_p);
/* takes the pair off the bridge: to the node, a failing switch */
void netns_cut(uint32_t node, int outer);

#endif
