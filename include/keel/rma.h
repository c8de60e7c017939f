/*
 * Keel: accesses to windows: puts, gets, polls and atomics. Part of <keel/keel.h>; its
 * conventions hold.
 */
#ifndef KEEL_RMA_H_
#define KEEL_RMA_H_

#include <keel/def.h>
#include <keel/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void (*keel_send_cb_t)(void *user, keel_status_t status);

enum keel_rma_params_field { KEEL_RMA_PARAM_FIELD_CB = KEEL_BIT(0) };

typedef struct keel_rma_params {
    uint64_t field_mask;
    /** Completion callback of an access that returned KEEL_INPROGRESS; runs in a later Keel call.
     *  In a callback, collective calls, locks and keel_restore() return KEEL_ERR_STATE. A flush
     *  or gsync that runs the callback also completes the accesses issued in the callback.
     *
     *  Death: the moment of the call differs from life to life, so a program that issues accesses
     *  in a callback is not deterministic (contrib/doc/reexecution.md, "Deterministic programs").
     *  If the job rolls back first, the callback is called with KEEL_ERR_ROLLED_BACK, no later
     *  than in keel_restore(), before memory is restored; @a user must outlive a jump to the
     *  restart point. An access that the jump itself left, without a return value, gets no
     *  callback. After a failure of the job the callback may never run. */
    keel_send_cb_t cb;
    void *user; /**< argument of cb */
} keel_rma_params_t;

/**
 * Writes @a length bytes from @a buffer to @a offset of @a rank's window. The buffer may be
 * reused when the call has returned KEEL_OK or the request is complete. The data is at the target
 * after a flush.
 *
 * Death: the put is logged at the caller first [F 3.2.3, 4.2]. A put to a dead rank is only
 * logged; its replacement receives the put from the log.
 * @param [in]  params  NULL, or a completion callback.
 * @param [out] req_p   NULL, or set to a request if KEEL_INPROGRESS is returned; release the
 *                      request with keel_req_free(). With NULL a flush or gsync completes the put.
 * @return KEEL_OK, KEEL_INPROGRESS, KEEL_ERR_RANGE, KEEL_ERR_RANK, KEEL_ERR_INVALID_PARAM.
 */
KEEL_API keel_status_t keel_put_nbx(keel_win_h win, uint32_t rank, uint64_t offset, const void *buffer, size_t length,
                                    const keel_rma_params_t *params, keel_req_h *req_p);
/** keel_put_nbx(), but the buffer may be reused on return. */
KEEL_API keel_status_t keel_put(keel_win_h win, uint32_t rank, uint64_t offset, const void *buffer, size_t length);

/**
 * Reads @a length bytes at @a offset of @a rank's window into @a buffer, valid when the request
 * is complete. Only a wait for the request, a flush or a fence orders a later put to the same
 * bytes after the get.
 *
 * Programs that wait (contrib/doc/reexecution.md, "Values within a phase"): keel_get_nbx() from
 * another rank returns KEEL_INPROGRESS even if the get is complete, unless KEEL_PARAM_FLAG_POLLS
 * is set. A get from own memory may serve to look for a value.
 *
 * Death: the value is logged at the target when the epoch closes [F 4.1]. A get from a dead rank
 * waits for the replacement.
 * @param [in]  params  NULL, or as for keel_put_nbx().
 * @param [out] req_p   NULL, or as for keel_put_nbx().
 * @return as keel_put_nbx().
 */
KEEL_API keel_status_t keel_get_nbx(keel_win_h win, uint32_t rank, uint64_t offset, void *buffer, size_t length,
                                    const keel_rma_params_t *params, keel_req_h *req_p);
/** Blocking keel_get_nbx(): the bytes are in @a buffer on return. */
KEEL_API keel_status_t keel_get(keel_win_h win, uint32_t rank, uint64_t offset, void *buffer, size_t length);

/**
 * A get with a value that may decide the program's next actions within a phase, at any rank, as
 * keel_wait_until() allows for own memory. Puts found by the poll, and all puts that their source
 * flushed before them, happen before everything after the call. A program may poll in a loop. The
 * caller's own puts are sent by the call, flushed or not.
 *
 * The bytes are in @a buffer on return. Aligned words of 1, 4 and 8 bytes are read as a whole.
 * Stores without a call are visible too but are not ordered: set a polled word with keel_put(),
 * at the owner too.
 *
 * Death: as for keel_wait_until(); a poll of a dead rank waits for the replacement. Logs:
 * contrib/doc/reexecution.md, "Values within a phase".
 * @return KEEL_OK, KEEL_ERR_RANGE, KEEL_ERR_RANK, KEEL_ERR_INVALID_PARAM, KEEL_ERR_ROLLED_BACK.
 */
KEEL_API keel_status_t keel_poll(keel_win_h win, uint32_t rank, uint64_t offset, void *buffer, size_t length);

typedef enum {
    KEEL_ATOMIC_ADD,
    KEEL_ATOMIC_AND,
    KEEL_ATOMIC_OR,
    KEEL_ATOMIC_XOR,
    KEEL_ATOMIC_SWAP,
    KEEL_ATOMIC_CSWAP, /**< writes operand if the old value equals compare */
    KEEL_ATOMIC_FETCH, /**< reads the word, as keel_poll() does, except for 2 bytes */
    KEEL_ATOMIC_SET,   /**< writes operand, as SWAP does */
    KEEL_ATOMIC_MIN,   /**< of unsigned words */
    KEEL_ATOMIC_MAX,
    KEEL_ATOMIC_MIN_SIGNED, /**< of words in two's complement */
    KEEL_ATOMIC_MAX_SIGNED,
    KEEL_ATOMIC_LAST
} keel_atomic_op_t;

/**
 * A combining put [F 2.1]: applies @a op with @a operand to the word of @a size bytes at
 * @a offset of @a rank's window. Each atomic takes effect once. A word is always accessed with one
 * size [F 4.2].
 *
 * Programs that wait: a fetched value is valid when the call returns, and orders as a wait does:
 * puts flushed before the atomics that the value shows happen before everything after the call.
 * In other programs gsyncs alone order.
 *
 * Death: logged, and mostly recovered without a rollback. A fetch from a replacement waits until
 * all ranks have handed over their accesses. The deaths that are rollbacks:
 * contrib/doc/reexecution.md, "Atomics".
 * @param [in]  size     1, 2, 4 or 8 bytes; the word is aligned to its size.
 * @param [in]  compare  used by CSWAP alone.
 * @param [out] result   old value, @a size bytes; NULL: posted, without a result. SWAP and CSWAP
 *                       may be posted, too.
 * @param [in]  params   NULL, or as for keel_put_nbx().
 * @param [out] req_p    NULL, or as for keel_put_nbx(). With NULL a result is valid after a flush
 *                       or gsync.
 * @return as keel_put_nbx(); KEEL_ERR_ALIGNMENT, KEEL_ERR_UNSUPPORTED.
 */
KEEL_API keel_status_t keel_atomic_nbx(keel_win_h win, keel_atomic_op_t op, uint32_t rank, uint64_t offset, size_t size,
                                       uint64_t operand, uint64_t compare, void *result,
                                       const keel_rma_params_t *params, keel_req_h *req_p);
/** Blocking keel_atomic_nbx(): the result is valid on return. */
KEEL_API keel_status_t keel_atomic(keel_win_h win, keel_atomic_op_t op, uint32_t rank, uint64_t offset, size_t size,
                                   uint64_t operand, uint64_t compare, void *result);

/**
 * Tests a request: KEEL_INPROGRESS until the access is complete. Notices deaths, but leaves the
 * progress of communication to keel_progress().
 *
 * Death: in programs that wait, the result for a get of the same phase, outside callbacks, is
 * logged at another rank, and a replacement gets the same results. Other results are not logged:
 * a program may only test again because of them (contrib/doc/reexecution.md, "Values within a
 * phase").
 */
KEEL_API keel_status_t keel_req_test(keel_req_h req);
/** Waits for the access and frees the request. */
KEEL_API keel_status_t keel_req_wait(keel_req_h req);
/** Frees a request; an incomplete request is freed on completion. */
KEEL_API void keel_req_free(keel_req_h req);

#ifdef __cplusplus
}
#endif
#endif
