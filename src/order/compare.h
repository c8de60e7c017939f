/* Comparison of words in the caller's own windows, for waits and tests. */
#ifndef KEEL_ORDER_COMPARE_H_
#define KEEL_ORDER_COMPARE_H_

#include "engine/context.h"

/*
 * Loads a word of 1, 2, 4 or 8 bytes, widened. Acquire: stores that precede the word's are visible.
 */
uint64_t keel_word_load(const void *word, size_t size);
/* Compares a widened word of @a size bytes with @a value. */
int keel_word_compares(uint64_t word, size_t size, keel_compare_t compare, uint64_t value);

#endif
