/*
 * Message logging at extra processes, the paper's baseline [F 7.2]: a kernel linked with this
 * library (see CMakeLists.txt) runs on all ranks but the last ML_LOGGERS. For every access to
 * another rank, a record is sent to a logger before the epoch closes, and a rank keeps the data:
 * the sender for a put, the reader for a get, as in the paper. Keel is only the transport: its own
 * protection is off. No record is ever replayed.
 */
#ifndef KEEL_KERNEL_ML_H_
#define KEEL_KERNEL_ML_H_

#include <keel/keel.h>

/* Data from a rank to its logger: a stream of records. */
typedef enum { ML_PUT, ML_GET, ML_ATOMIC, ML_GSYNC, ML_ALLOC, ML_START, ML_STOP, ML_END } ml_kind_t;

typedef struct {
    uint32_t kind, target;
    /* for ML_END, the offset is ml_sum() of all records before, with ML_CHECK in the environment */
    uint64_t sequence, offset;
    uint64_t length; /* of the data, bytes */
} ml_record_t;

enum { ML_RING_BYTES = 4 << 20 }; /* a whole number of records */

/* At a logger, one for each of its ranks: the count of bytes written, then the ring. */
typedef struct {
    uint64_t written;
    uint64_t reserved[7];
    unsigned char data[ML_RING_BYTES];
} ml_ring_t;

/* The calls redirected by --wrap, and the real calls behind them. */
#define ML_WRAPS(_do)                                                                                                  \
    _do(keel_status_t, keel_init, (const keel_params_t *params, keel_context_h *ctx_p))                                \
        _do(keel_status_t, keel_finalize, (keel_context_h ctx)) _do(uint32_t, keel_size, (keel_context_h ctx))         \
            _do(keel_status_t, keel_win_alloc,                                                                         \
                (keel_context_h ctx, size_t bytes, const keel_win_params_t *params, keel_win_h *win_p))                \
                _do(keel_status_t, keel_put_nbx,                                                                       \
                    (keel_win_h win, uint32_t rank, uint64_t offset, const void *buffer, size_t length,                \
                     const keel_rma_params_t *params, keel_req_h *req_p))                                              \
                    _do(keel_status_t, keel_put,                                                                       \
                        (keel_win_h win, uint32_t rank, uint64_t offset, const void *buffer, size_t length))           \
                        _do(keel_status_t, keel_get_nbx,                                                               \
                            (keel_win_h win, uint32_t rank, uint64_t offset, void *buffer, size_t length,              \
                             const keel_rma_params_t *params, keel_req_h *req_p))                                      \
                            _do(keel_status_t, keel_get,                                                               \
                                (keel_win_h win, uint32_t rank, uint64_t offset, void *buffer, size_t length))         \
                                _do(keel_status_t, keel_atomic_nbx,                                                    \
                                    (keel_win_h win, keel_atomic_op_t op, uint32_t rank, uint64_t offset, size_t size, \
                                     uint64_t operand, uint64_t compare, void *result,                                 \
                                     const keel_rma_params_t *params, keel_req_h *req_p))                              \
                                    _do(keel_status_t, keel_atomic,                                                    \
                                        (keel_win_h win, keel_atomic_op_t op, uint32_t rank, uint64_t offset,          \
                                         size_t size, uint64_t operand, uint64_t compare, void *result))               \
                                        _do(keel_status_t, keel_flush, (keel_context_h ctx, uint32_t rank))            \
                                            _do(keel_status_t, keel_gsync, (keel_context_h ctx, unsigned flags))       \
                                                _do(keel_status_t, keel_checkpoint, (keel_context_h ctx))

#define ML_DECLARE(_type, _name, _args) \
    _type __wrap_##_name _args;         \
    _type __real_##_name _args;
ML_WRAPS(ML_DECLARE)
ML_DECLARE(keel_status_t, kernel_clock_start, (keel_context_h ctx, double *started_p))
ML_DECLARE(double, kernel_clock_stop, (void))
#undef ML_DECLARE

/* Runs a logger: joins the collective calls of its ranks until they end. */
keel_status_t ml_logger_run(keel_context_h ctx, keel_win_h rings, uint32_t loggers);

/* The ring of @a rank at its logger. */
static inline uint64_t ml_ring_offset(uint32_t rank, uint32_t loggers)
{
    return rank / loggers * sizeof(ml_ring_t);
}

#endif
