/* Words of the caller's own windows, compared as waits and tests do. */
#ifndef KEEL_ORDER_COMPARE_H_
#define KEEL_ORDER_COMPARE_H_

#include "engine/context.h"

/* the word of 1, 2, 4 or 8 bytes, widened; what was stored before it is seen after this */
uint64_t keel_word_load(const void *word, size_t size);
/* the widened word of so many bytes, and the value */
int keel_word_compares(uint64_t word, size_t size, keel_compare_t compare, uint64_t value);

#endif
