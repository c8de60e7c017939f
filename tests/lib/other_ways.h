/*
 * The same effects by calls that no log has: what a random program does by a put, an atomic or a section, done by one of these, leaves
 * memory as that does. Which one it is follows from a number, so all lives take the same.
 */
#ifndef KEEL_TEST_OTHER_WAYS_H_
#define KEEL_TEST_OTHER_WAYS_H_

#include <keel/keel.h>

/* writes a word of 8 bytes that nobody else writes meanwhile */
keel_status_t other_put(keel_win_h win, uint32_t rank, uint64_t offset, uint64_t value, uint64_t way);

#endif
