/*
 * The hierarchy of a job out of several sources. First in precedence stands the user's file, then Slurm's
 * topology, then the launcher's host names, which give the level "node", then what is inside a host. A level
 * enters when it is nested with those that are there already and has none of their names: what a source of lower
 * precedence says against one of higher precedence is left out, and told.
 */
#ifndef KEEL_TOPO_TOPOLOGY_H_
#define KEEL_TOPO_TOPOLOGY_H_

#include "topo/group.h"
#include "topo/tree.h"

#define KEEL_TOPOLOGY_NOTE_MAX 512

typedef struct keel_topology_file {
    const char *path; /* for messages; NULL: there is none */
    const char *text;
    size_t length;
} keel_topology_file_t;

typedef struct keel_topology_params {
    uint32_t ranks;
    const char *const *host;      /* name of each rank's host */
    keel_topology_file_t user;    /* Keel's format, or Slurm's when its first statement is one of Slurm's */
    keel_topology_file_t slurm;   /* topology.conf, topology.yaml, or what scontrol shows of them */
    const keel_domains_t *inside; /* levels below the node, over ranks, the coarser first; NULL: none */
    /* what was left out or counted together, and what looks like a mistake; NULL: nobody listens */
    void (*say)(void *arg, int is_warning, const char *text);
    void *arg;
} keel_topology_params_t;

/* @param error  on KEEL_ERR_INVALID_PARAM: what is wrong, with path and line in its text */
keel_status_t keel_topology_make(const keel_topology_params_t *params, keel_domains_t *domains_p,
                                 keel_tree_error_t *error);

#endif
