/*
 * Keel: a put that signals its arrival at the target. Part of <keel/keel.h>; its conventions
 * hold.
 */
#ifndef KEEL_SIGNAL_H_
#define KEEL_SIGNAL_H_

#include <keel/keel.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { KEEL_SIGNAL_SET, KEEL_SIGNAL_ADD, KEEL_SIGNAL_LAST } keel_signal_op_t;

/** A change of a word of 8 bytes at the target, after the data. */
typedef struct keel_signal {
    keel_win_h win;  /**< NULL: the window of the data */
    uint64_t offset; /**< a multiple of 8 */
    keel_signal_op_t op;
    uint64_t value;
} keel_signal_t;

/**
 * Puts as keel_put() does, then sets the signal's word or adds to the word. A rank that sees the
 * new word, by keel_wait_until() or otherwise, sees the data. The call sends both without a
 * flush; after a flush both are at the target. SET is a put of the word. ADD is a keel_atomic():
 * atomics exclude a signal that adds, but not a signal that sets.
 *
 * Death: as for the put and, with ADD, the atomic. With SET data and word share a log record, so
 * other ranks find both or neither. With ADD they are two records, a put and an atomic.
 * @param [in] length  of the data in bytes; 0: a signal alone.
 * @return as keel_put() and keel_atomic(), of data and signal, before either takes effect;
 *         KEEL_ERR_UNSUPPORTED: another operation.
 */
KEEL_API keel_status_t keel_put_signal(keel_win_h win, uint32_t rank, uint64_t offset, const void *buffer,
                                       size_t length, const keel_signal_t *signal);

#ifdef __cplusplus
}
#endif
#endif
