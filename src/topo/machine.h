/*
 * What is inside a host, by hwloc: packages and NUMA nodes as levels below the node, where its network devices sit, and
 * how far NUMA nodes are apart. All hosts are taken to be alike, and the i-th rank of a host to be on core i modulo its
 * cores, where launchers put it that bind to cores in order: so every process comes to the same result without asking
 * the others. Whether that is so for the calling process can be asked.
 */
#ifndef KEEL_TOPO_MACHINE_H_
#define KEEL_TOPO_MACHINE_H_

#include "topo/domain.h"
#include "topo/tree.h"

typedef struct keel_machine keel_machine_t;

/*
 * @param what  "this" for the machine that runs this, a synthetic description of hwloc ("pack:2 numa:2 core:4 pu:2"), or
 *              the path of an XML file that hwloc's lstopo wrote.
 * @param error why it failed: KEEL_ERR_INVALID_PARAM.
 */
keel_status_t keel_machine_load(const char *what, keel_machine_t **machine_p, keel_tree_error_t *error);
void keel_machine_release(keel_machine_t *machine);

/*
 * The levels "package" and "numa" of ranks, which need not be nested (either can hold several of the other); @a node as in
 * keel_domains_of_nodes(). Elements are named by hwloc's numbers.
 */
keel_status_t keel_machine_levels(const keel_machine_t *machine, uint32_t ranks, const uint32_t *node,
                                  keel_domains_t *domains_p);

typedef enum {
    KEEL_BINDING_AS_TAKEN, /* inside the package that its place among the ranks of its host says */
    KEEL_BINDING_ELSEWHERE,
    KEEL_BINDING_NONE,   /* it may run anywhere */
    KEEL_BINDING_UNKNOWN /* @a machine is not this one, or the system does not tell */
} keel_binding_t;

/* is the calling process, the @a local-th rank of its host, where it is taken to be? */
keel_binding_t keel_machine_binding(const keel_machine_t *machine, uint32_t local);

/* lines for people: counts, network devices with their bridge and what is near them, distances */
typedef void (*keel_machine_line_cb_t)(void *arg, const char *line);
void keel_machine_describe(const keel_machine_t *machine, keel_machine_line_cb_t line, void *arg);

#endif
