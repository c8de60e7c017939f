/*
 * Loss of replicated data in sets of more ranks than copies, as a store places them where the
 * copies do not divide the ranks (store/store_place): the ranks of a set form a ring, and the
 * copies of a range lie at consecutive ranks. Data is lost if so many consecutive ranks of a ring
 * have failed. Counts without subtractions; for few ranks.
 */
#ifndef KEEL_TOOLS_TOPO_REPLICA_SETS_H_
#define KEEL_TOOLS_TOPO_REPLICA_SETS_H_

#include <keel/status.h>

#include <stdint.h>

#define KEEL_REPLICA_SETS_RANKS_MAX 4096u
#define KEEL_REPLICA_SETS_COPIES    16u

/*
 * @param ranks   at most KEEL_REPLICA_SETS_RANKS_MAX
 * @param sets    number of sets; the sizes differ by at most one and are below twice the copies
 * @param copies  at most KEEL_REPLICA_SETS_COPIES
 * @param lost    by number of failed ranks, 0 to ranks: probability that data is lost
 * @param kept    the complement, with its own digits
 * @return KEEL_ERR_NO_MEMORY
 */
keel_status_t keel_replica_sets_table(uint64_t ranks, uint64_t sets, uint64_t copies, double *lost, double *kept);

#endif
