/*
 * The same effects by calls without log records: each function leaves memory as the put, atomic or
 * critical section of a random program does. A number selects the call, so all incarnations make
 * the same call.
 */
#ifndef KEEL_TEST_OTHER_WAYS_H_
#define KEEL_TEST_OTHER_WAYS_H_

#include <keel/keel.h>

/* Writes a word of 8 bytes. No other rank writes the word meanwhile. */
keel_status_t other_put(keel_win_h win, uint32_t rank, uint64_t offset, uint64_t value, uint64_t way);
/* Adds to a word shared with other ranks. *found_p: the old value; found_p may be NULL. */
keel_status_t other_add(keel_win_h win, uint32_t rank, uint64_t offset, uint64_t value, uint64_t *found_p,
                        uint64_t way);

/* Takes the lock of the window: waits for the lock, or tries until the lock is held. */
keel_status_t other_lock(keel_win_h win, uint32_t rank, keel_lock_how_t how, uint64_t way);

/* Words of all sizes in a rank's memory, which other ranks combine values with. */
typedef struct other_words {
    uint64_t most;
    int32_t least;
    uint16_t sum;
    uint8_t bits, reserved;
    double parts; /* multiples of a half: their sums are exact */
} other_words_t;

/* Combines parts of @a value with all the words at @a offset. */
keel_status_t other_combine(keel_win_h win, uint32_t rank, uint64_t offset, uint64_t value, uint64_t way);
/* Computes the same locally, for the judge. */
void other_combine_here(other_words_t *words, uint64_t value);
/* Returns NULL, or the name of the first different word. */
const char *other_differs(const other_words_t *is, const other_words_t *want);

#endif
