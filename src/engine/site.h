/*
 * Where the ranks of a job run: reads what KEEL_TOPO_FILE, KEEL_TOPO_SLURM and KEEL_TOPO_MACHINE name and joins it with
 * the runtime's host names. Every process comes to the same hierarchy, that of the first life, also a replacement: groups never change
 * while a job lasts. From it every process also has the same order of spares for each rank. A replacement on another host says so when its group is less safe for it; it knows its own move
 * alone, not those of other replacements.
 */
#ifndef KEEL_ENGINE_SITE_H_
#define KEEL_ENGINE_SITE_H_

#include "base/config.h"
#include "base/message.h"
#include "runtime.h"
#include "topo/machine.h"
#include "topo/regroup.h"
#include "topo/topology.h"

typedef struct keel_site {
    keel_domains_t domains;    /* where ranks first ran */
    keel_domains_t moved;      /* the same with this rank where it runs now; no levels: it did not move */
    keel_domains_t wide;       /* of ranks and, behind them, spares; no levels: there are no spares */
    keel_spare_place_t *place; /* of each spare: scratch */
    const keel_groups_t *groups;
    uint32_t parities;
    uint32_t promised; /* the coarsest level on which the groups have the property; domains.level_count: none */
    uint32_t rank;
    keel_machine_t *machine; /* NULL: nothing is known of what is inside a host */
} keel_site_t;

keel_status_t keel_site_init(keel_site_t *site, const keel_runtime_t *runtime, const keel_config_t *config,
                             const keel_message_t *message);
/* says so when this process is not bound where KEEL_TOPO_MACHINE=this takes it to be */
void keel_site_check_binding(const keel_site_t *site, const keel_runtime_t *runtime, const keel_message_t *message);
/* once they are formed; @a groups has to live as long as @a site is asked of it. KEEL_ERR_NO_MEMORY */
keel_status_t keel_site_use_groups(keel_site_t *site, const keel_groups_t *groups, uint32_t parities);
/* says what losing the element where this replacement runs would do to its group */
void keel_site_check_move(const keel_site_t *site, const keel_message_t *message);
/* a keel_spare_order_cb_t, of a keel_site_t; cannot fail */
void keel_site_order_spares(void *arg, uint32_t rank, uint32_t *spare);
void keel_site_release(keel_site_t *site);

#endif
