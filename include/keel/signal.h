/*
 * Keel: a put that tells its target that it is there. Part of <keel/keel.h>, whose conventions hold.
 */
#ifndef KEEL_SIGNAL_H_
#define KEEL_SIGNAL_H_

#include <keel/keel.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { KEEL_SIGNAL_SET, KEEL_SIGNAL_ADD, KEEL_SIGNAL_LAST } keel_signal_op_t;

/** What becomes of a word of 8 bytes at the target when the data is there. */
typedef struct keel_signal {
    keel_win_h win;  /**< NULL: that of the data */
    uint64_t offset; /**< a multiple of 8 */
    keel_signal_op_t op;
    uint64_t value;
} keel_signal_t;

/**
 * Puts as keel_put() does, and then sets the signal's word or adds to it: who sees that, by keel_wait_until() or otherwise, has the
 * data. Both are on their way when the call returns, without a flush, and there after one. With @a length 0 it is a signal alone.
 * The word is set as by a put, and added to as by keel_atomic(): an atomic that adds to it exclude each other, one that sets it does not.
 *
 * Death: that of the put, and that of a put or, with ADD, of an atomic. With SET a log has data and word as one record, so others find both or
 * neither; with ADD as two, the put and the atomic, recovered like them.
 * @return as keel_put() and keel_atomic(), of data and signal, before either; KEEL_ERR_UNSUPPORTED for another operation.
 */
KEEL_API keel_status_t keel_put_signal(keel_win_h win, uint32_t rank, uint64_t offset, const void *buffer,
                                       size_t length, const keel_signal_t *signal);

#ifdef __cplusplus
}
#endif
#endif
