/*
 * Network namespaces of the emulated nodes: the janitor enters one of its own that holds a bridge, each node enters
 * one of its own joined to the bridge by a pair of virtual devices. Nothing in the namespace keelrun was started in is
 * touched, and the kernel removes all of it with the last process inside.
 */
#ifndef KEELRUN_NETNS_H_
#define KEELRUN_NETNS_H_

#include <stdint.h>

#define NETNS_DEVICE "eth0" /* a node's device; its address is 10.77.0.(node + 1)/24 */

int netns_make_bridge(void); /* 0 or errno; called in the janitor */
/* 0 or errno; called in a node, which starts in the janitor's namespace; *outer_p gets what netns_cut() needs */
int netns_join_bridge(uint32_t node, int *outer_p);
void netns_cut(uint32_t node, int outer); /* takes the pair off the bridge: to the node, a switch that fails */

#endif
