/* The gate: one word sends accesses to the fast or the generic path. The functions are in
 * engine/context.h. */
#ifndef KEEL_ENGINE_GATE_H_
#define KEEL_ENGINE_GATE_H_

#include <stdint.h>

/*
 * Test of the fast path of an access: 0, and nothing is in the way. The first byte belongs to the
 * thread inside Keel. Any thread sets the second byte to ask for progress, and the thread inside
 * Keel clears the byte before making progress.
 */
typedef union keel_gate_word {
    uint32_t all;
    struct {
        uint8_t bits; /* keel_gate */
        uint8_t news;
    } part;
} keel_gate_word_t;
_Static_assert(sizeof(keel_gate_word_t) == sizeof(uint32_t), "looked at in one load");

enum keel_gate {
    /* the program has not begun to communicate, or a restore is pending */
    KEEL_GATE_CLOSED = 1,
    /* direct lane: some get record is not at its target yet; the record has to arrive before a put
     * to the target, which may overwrite the data read */
    KEEL_GATE_GETS = 2,
    KEEL_GATE_LOCKS = 4, /* the program locks: accesses are checked for a lock */
    KEEL_GATE_WAITS = 8, /* the program waits inside phases: puts are numbered */
    /* a replacement before the front: the predecessor may have done its puts and the atomics after
     * the puts */
    KEEL_GATE_REEXECUTES = 16,
    /* some window uses a device for atomics: only atomics are affected */
    KEEL_GATE_DEVICE = 32,
    /* determinants of waits, tests or polls may have to be made stable first (order/determinant) */
    KEEL_GATE_DETERMINANTS = 64,
    /* as GETS, in a program that waits: at context->read_rank, and before any effect of the
     * process becomes visible */
    KEEL_GATE_READ = 128
};

#endif
