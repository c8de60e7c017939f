/*
 * Places of the ranks of a job. Reads the files of KEEL_TOPO_FILE, KEEL_TOPO_SLURM and
 * KEEL_TOPO_MACHINE and joins them with the runtime's host names. Every process, also a
 * replacement, derives the hierarchy of the first life: groups never change during a job. So every
 * process also has the same order of spares for each rank. A replacement on another host reports if
 * its group becomes less safe; moves of other replacements are unknown.
 */
#ifndef KEEL_ENGINE_SITE_H_
#define KEEL_ENGINE_SITE_H_

#include "base/config.h"
#include "base/message.h"
#include "runtime_ops.h"
#include "topo/machine.h"
#include "topo/regroup.h"
#include "topo/topology.h"

typedef struct keel_site {
    keel_domains_t domains; /* first places of the ranks */
    /* the same with the own rank at its present place; no levels: the rank did not move */
    keel_domains_t moved;
    keel_domains_t wide;       /* ranks followed by spares; no levels: there are no spares */
    keel_spare_place_t *place; /* of each spare: scratch */
    const keel_groups_t *groups;
    uint32_t parities;
    /* the coarsest level on which the groups have the property; domains.level_count: none */
    uint32_t promised;
    uint32_t rank;
    keel_machine_t *machine; /* NULL: the inside of hosts is unknown */
} keel_site_t;

keel_status_t keel_site_init(keel_site_t *site, const keel_runtime_t *runtime, const keel_config_t *config,
                             const keel_message_t *message);
/* Warns if the process is bound elsewhere than KEEL_TOPO_MACHINE=this assumes. */
void keel_site_check_binding(const keel_site_t *site, const keel_runtime_t *runtime, const keel_message_t *message);
/* Sets the groups once they are formed; @a groups has to outlive @a site. KEEL_ERR_NO_MEMORY */
keel_status_t keel_site_use_groups(keel_site_t *site, const keel_groups_t *groups, uint32_t parities);
/* Warns if losing the element of this replacement would lose more of its group than parity
 * covers. */
void keel_site_check_move(const keel_site_t *site, const keel_message_t *message);
/* A keel_spare_order_cb_t with a keel_site_t as @a arg; cannot fail. */
void keel_site_order_spares(void *arg, uint32_t rank, uint32_t *spare);
void keel_site_release(keel_site_t *site);

#endif
