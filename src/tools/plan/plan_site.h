/* Where the ranks of a job are, by the list of their hosts and the job's topology file: what advice takes for a machine. */
#ifndef KEEL_TOOLS_PLAN_SITE_H_
#define KEEL_TOOLS_PLAN_SITE_H_

#include "plan_machine.h"
#include "plan_options.h"

typedef struct keel_plan_site {
    keel_domains_t domains; /* ranks numbered anew, in order of the elements that they are on */
    keel_plan_machine_t machine;
} keel_plan_site_t;

/*
 * @a given: the machine whose failure rates levels of the same name have; NULL: nodes fail by options->mtbf_s, and the other
 * levels never. Sets ranks and ranks_per_node (the most) of @a options. 0, or -1 and one line on standard error.
 * The caller releases in either case.
 */
int keel_plan_site_read(keel_plan_options_t *options, const keel_plan_machine_t *given, keel_plan_site_t *site);
void keel_plan_site_release(keel_plan_site_t *site);

#endif
