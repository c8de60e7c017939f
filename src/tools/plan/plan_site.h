/*
 * The site of a job, the machine of an advice: places of ranks from a list of hosts and the job's
 * topology file.
 */
#ifndef KEEL_TOOLS_PLAN_SITE_H_
#define KEEL_TOOLS_PLAN_SITE_H_

#include "plan_machine.h"
#include "plan_options.h"

typedef struct keel_plan_site {
    keel_domains_t domains; /* ranks renumbered in order of their elements */
    keel_plan_machine_t machine;
} keel_plan_site_t;

/*
 * @a given: failure rates for levels of the same name; NULL: nodes fail by options->mtbf_s, other
 * levels never fail. Sets ranks and ranks_per_node (the maximum) of @a options. Returns 0, or -1
 * after one line on standard error. The caller releases in either case.
 */
int keel_plan_site_read(keel_plan_options_t *options, const keel_plan_machine_t *given, keel_plan_site_t *site);
void keel_plan_site_release(keel_plan_site_t *site);

#endif
