/* Collective operations of a group of ranks in random programs, and the check of their results. */
#ifndef KEEL_TEST_TOGETHER_H_
#define KEEL_TEST_TOGETHER_H_

#include <keel/keel.h>

#define TOGETHER_PIECE 64 /* bytes of a chunk; operations are longer */

/* Makes a number of collective calls drawn from @a seed, by all ranks with a bit set in @a members.
 * The window needs keel_group_bytes(ranks, TOGETHER_PIECE) bytes from @a offset on. Returns
 * KEEL_ERR_CORRUPT on a wrong result. */
keel_status_t together(keel_win_h win, uint64_t offset, uint32_t rank, uint32_t ranks, uint64_t members, uint64_t seed);

#endif
