/*
 * Structure of a host, from hwloc: packages and NUMA nodes as levels below the node, locations of
 * network devices, and distances of NUMA nodes. All hosts are assumed to be alike, and the i-th
 * rank of a host to run on core i modulo its cores, where launchers that bind to cores in order put
 * it. So every process computes the same result without communication. The assumption can be
 * checked for the calling process.
 */
#ifndef KEEL_TOPO_MACHINE_H_
#define KEEL_TOPO_MACHINE_H_

#include "topo/domain.h"
#include "topo/tree.h"

typedef struct keel_machine keel_machine_t;

/*
 * @param what "this" for the machine of the caller, a synthetic description for hwloc ("pack:2
 *         numa:2 core:4 pu:2"), or the path of an XML file written by hwloc's lstopo.
 * @param error description of KEEL_ERR_INVALID_PARAM
 */
keel_status_t keel_machine_load(const char *what, keel_machine_t **machine_p, keel_tree_error_t *error);
void keel_machine_release(keel_machine_t *machine);

/*
 * Levels "package" and "numa" of the ranks. They need not be nested, since either may hold several
 * of the other. @a node as in keel_domains_of_nodes(). Elements are named by hwloc's numbers.
 */
keel_status_t keel_machine_levels(const keel_machine_t *machine, uint32_t ranks, const uint32_t *node,
                                  keel_domains_t *domains_p);

typedef enum {
    /* inside the package expected from its number among the ranks of its host */
    KEEL_BINDING_AS_ASSUMED,
    KEEL_BINDING_ELSEWHERE,
    KEEL_BINDING_NONE,   /* may run anywhere */
    KEEL_BINDING_UNKNOWN /* @a machine is another machine, or the system gives no answer */
} keel_binding_t;

/* Is the calling process, the @a local-th rank of its host, bound to the expected package? */
keel_binding_t keel_machine_binding(const keel_machine_t *machine, uint32_t local);

/* prints lines: counts, network devices with bridge and location, distances */
typedef void (*keel_machine_line_cb_t)(void *arg, const char *line);
void keel_machine_describe(const keel_machine_t *machine, keel_machine_line_cb_t line, void *arg);

#endif
