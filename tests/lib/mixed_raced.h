/*
 * What some programs that mix do besides with their atomics (mixed.h): words are raced for, and what the answer is decides what is done
 * and where. Who takes a ticket puts something into the place of a queue that has its number; who comes first in a phase, by comparing
 * and swapping, says so; and words are swapped. Answers are kept outside of the processes. Those of the last execution of every step have
 * to tell one history: tickets without a gap, those of a phase before those of the next one; one that came first, whom all others found;
 * and one chain of swaps, each of which found what the one before it left.
 */
#ifndef KEEL_TEST_MIXED_RACED_H_
#define KEEL_TEST_MIXED_RACED_H_

#include "mixed_draw.h"

/* an act of @a step that adds */
keel_status_t raced_do(mixed_journal_t *journal, keel_win_h win, uint32_t own, uint64_t step, const mixed_act_t *act);
/* NULL, or what is wrong at @a rank: when all ranks have ended well */
const char *raced_judge(const mixed_journal_t *journal, uint32_t rank, char *text, size_t size);

#endif
