/*
 * Slurm's topology, in the forms that Slurm has for it:
 * - topology.conf of its tree plugin: SwitchName=s1 Nodes=n[001-018], SwitchName=s0 Switches=s[1-4], nested; and of its block
 *   plugin: BlockName=b1 Nodes=... Keys in any case; LinkSpeed and BlockSizes are read over;
 * - what `scontrol show topology` prints of these: a switch above others has the nodes below it too, and Level;
 * - topology.yaml: of several topologies the one that is the cluster's default, or else the first.
 * A switch's level is one above the highest of its switches: "switch" for leaves, then "switch2", "switch3", ... Switches may
 * share what is below them (several spines): such levels are no trees (tree.h).
 */
#ifndef KEEL_TOPO_SLURM_H_
#define KEEL_TOPO_SLURM_H_

#include "topo/tree.h"

/* KEEL_ERR_INVALID_PARAM with the reason in @a error; released by keel_tree_release() only on KEEL_OK */
keel_status_t keel_slurm_parse(const char *text, size_t length, keel_tree_t *tree_p, keel_tree_error_t *error);

/* for slurm_yaml.c: one switch or block */
typedef struct keel_slurm_switch {
    char *name, *nodes, *switches;
    char *level; /* as scontrol shows it: switches need not be there */
} keel_slurm_switch_t;

/* it stands at tree->text.line */
keel_status_t keel_slurm_add(keel_tree_t *tree, const keel_slurm_switch_t *one, keel_tree_error_t *error);
/* when all are there: their levels */
keel_status_t keel_slurm_finish(keel_tree_t *tree, keel_tree_error_t *error);

#endif
