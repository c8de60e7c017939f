/*
 * Additional atomics of some programs that mix (mixed.h): ranks race for words, and the result
 * decides the next access and its place. The holder of a ticket puts a value into the queue at the
 * ticket's place; the first rank in a phase, by a compare and swap, puts a value; and words are
 * swapped. Results are kept outside the processes. The results of the last execution of every step
 * must form one history: tickets without a gap, in the order of phases; a single winner, found by
 * all other ranks; and one chain of swaps, each with the value of its predecessor.
 */
#ifndef KEEL_TEST_MIXED_RACED_H_
#define KEEL_TEST_MIXED_RACED_H_

#include "mixed_draw.h"

/* The raced atomics of an additive act of @a step. */
keel_status_t raced_do(mixed_journal_t *journal, keel_win_h win, uint32_t own, uint64_t step, const mixed_act_t *act);
/* Call after all ranks have ended well. Returns NULL, or a text about an error at @a rank. */
const char *raced_judge(const mixed_journal_t *journal, uint32_t rank, char *text, size_t size);

#endif
