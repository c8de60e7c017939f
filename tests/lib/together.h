/* What a group of ranks does together in random programs, and what it has to find. */
#ifndef KEEL_TEST_TOGETHER_H_
#define KEEL_TEST_TOGETHER_H_

#include <keel/keel.h>

#define TOGETHER_PIECE 64 /* bytes; what is done together is longer */

/* in a window of at least keel_group_bytes(ranks, TOGETHER_PIECE) from @a offset on: a number of calls that @a seed says, of all ranks
 * whose bit is set; KEEL_ERR_CORRUPT where something is not as it should be */
keel_status_t together(keel_win_h win, uint64_t offset, uint32_t rank, uint32_t ranks, uint64_t members, uint64_t seed);

#endif
