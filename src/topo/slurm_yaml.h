/* Parses Slurm's topology.yaml. */
#ifndef KEEL_TOPO_SLURM_YAML_H_
#define KEEL_TOPO_SLURM_YAML_H_

#include "topo/slurm.h"

keel_status_t keel_slurm_yaml_parse(const char *text, size_t length, keel_tree_t *tree_p, keel_tree_error_t *error);

#endif
