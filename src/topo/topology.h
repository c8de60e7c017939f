/*
 * The hierarchy of a job, from several sources. In order of precedence: the user's file, Slurm's
 * topology, the launcher's host names, which give the level "node", and the structure of a host. A
 * level is added if it is nested with the existing levels and has a new name; other levels are left
 * out and reported.
 */
#ifndef KEEL_TOPO_TOPOLOGY_H_
#define KEEL_TOPO_TOPOLOGY_H_

#include "topo/group.h"
#include "topo/tree.h"

#define KEEL_TOPOLOGY_NOTE_MAX 512

typedef struct keel_topology_file {
    const char *path; /* for messages; NULL: no file */
    const char *text;
    size_t length;
} keel_topology_file_t;

typedef struct keel_topology_params {
    uint32_t ranks;
    const char *const *host; /* name of each rank's host */
    /* in Keel's format, or in Slurm's if the first statement is one of Slurm's */
    keel_topology_file_t user;
    keel_topology_file_t slurm; /* topology.conf, topology.yaml, or scontrol's output for them */
    /* levels below the node, over ranks, coarser levels first; NULL: none */
    const keel_domains_t *inside;
    /* receives levels left out, elements counted together, and likely mistakes; NULL: no
     * listener */
    void (*say)(void *arg, int is_warning, const char *text);
    void *arg;
} keel_topology_params_t;

/* @param error  on KEEL_ERR_INVALID_PARAM: the error, with path and line in its text */
keel_status_t keel_topology_make(const keel_topology_params_t *params, keel_domains_t *domains_p,
                                 keel_tree_error_t *error);

#endif
