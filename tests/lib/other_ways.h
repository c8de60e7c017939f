/*
 * The same effects by calls that no log has: what a random program does by a put, an atomic or a section, done by one of these, leaves
 * memory as that does. Which one it is follows from a number, so all lives take the same.
 */
#ifndef KEEL_TEST_OTHER_WAYS_H_
#define KEEL_TEST_OTHER_WAYS_H_

#include <keel/keel.h>

/* writes a word of 8 bytes that nobody else writes meanwhile */
keel_status_t other_put(keel_win_h win, uint32_t rank, uint64_t offset, uint64_t value, uint64_t way);
/* adds to one that others add to; *found_p: what it was, or NULL */
keel_status_t other_add(keel_win_h win, uint32_t rank, uint64_t offset, uint64_t value, uint64_t *found_p,
                        uint64_t way);

/* the lock of the window, by waiting or by trying until it is there */
keel_status_t other_lock(keel_win_h win, uint32_t rank, keel_lock_how_t how, uint64_t way);

/* of a rank's memory: words of all sizes that others combine something with */
typedef struct other_words {
    uint64_t most;
    int32_t least;
    uint16_t sum;
    uint8_t bits, reserved;
    double parts; /* of halves: sums of these are right to the last bit */
} other_words_t;

/* combines parts of @a value with all of them, which lie at @a offset */
keel_status_t other_combine(keel_win_h win, uint32_t rank, uint64_t offset, uint64_t value, uint64_t way);
/* the same as the judge does it */
void other_combine_here(other_words_t *words, uint64_t value);
/* NULL, or what differs */
const char *other_differs(const other_words_t *is, const other_words_t *want);

#endif
