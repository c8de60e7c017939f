/*
 * Slurm's topology, in all of Slurm's forms:
 * - topology.conf of the tree plugin: SwitchName=s1 Nodes=n[001-018], SwitchName=s0
 *   Switches=s[1-4], nested; and of the block plugin: BlockName=b1 Nodes=... Keys in any case;
 *   LinkSpeed and BlockSizes are ignored;
 * - output of `scontrol show topology` for these: a switch above others also lists the nodes below
 *   it, and Level;
 * - topology.yaml: of several topologies the cluster's default, or else the first.
 * The level of a switch is one above the highest of its switches: "switch" for leaves, then
 * "switch2", "switch3", ... Switches may share lower elements (several spines): such levels are no
 * trees (tree.h).
 */
#ifndef KEEL_TOPO_SLURM_H_
#define KEEL_TOPO_SLURM_H_

#include "topo/tree.h"

/* KEEL_ERR_INVALID_PARAM with the reason in @a error; keel_tree_release() is needed only after
 * KEEL_OK */
keel_status_t keel_slurm_parse(const char *text, size_t length, keel_tree_t *tree_p, keel_tree_error_t *error);

/* for slurm_yaml.c: a switch or block */
typedef struct keel_slurm_switch {
    char *name, *nodes, *switches;
    char *level; /* from scontrol: the switches need not be defined */
} keel_slurm_switch_t;

/* adds the switch or block at tree->text.line */
keel_status_t keel_slurm_add(keel_tree_t *tree, const keel_slurm_switch_t *one, keel_tree_error_t *error);
/* computes the levels when all switches are added */
keel_status_t keel_slurm_finish(keel_tree_t *tree, keel_tree_error_t *error);

#endif
