/*
 * The side of a rank. Data goes into the rank's own log, and records go into the ring at the
 * logger. The count of written bytes follows after a fence, once for many records and before an
 * epoch closes. With a full ring the rank waits for the logger, which puts its count of taken bytes
 * into the rank's window. Before a collective call the rank sends a marker: the logger takes part
 * once all its ranks have sent theirs, and serves nothing else meanwhile.
 */
#include "ml.h"
#include "ml_log.h"

#include "../lib/kernel.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PUBLISH_BYTES = 64 << 10 };

/* State of a process, one rank of one job: --wrap leaves no place for a handle. */
static struct {
    keel_context_h ctx;
    keel_win_h rings;
    uint32_t loggers, logger; /* count of loggers, and the rank's logger */
    uint64_t ring;            /* offset of the rank's ring at the logger */
    /* bytes: put; announced to the logger; certainly arrived */
    uint64_t written, published, flushed;
    uint64_t sequence, sum; /* of records */
    ml_log_t log;
    uint64_t given, kept; /* with ML_CHECK: sums of the data, and of the log's contents */
} ml;

static uint64_t taken(void)
{
    return __atomic_load_n((const uint64_t *)keel_win_base(ml.rings), __ATOMIC_ACQUIRE);
}

static keel_status_t publish(void)
{
    if (ml.published == ml.written) {
        return KEEL_OK;
    }
    ml.published = ml.written;
    KERNEL_TRY(keel_fence(ml.ctx));
    return __real_keel_put(ml.rings, ml.logger, ml.ring + offsetof(ml_ring_t, written), &ml.written, sizeof ml.written);
}

/* Makes the log complete, so that an epoch may close. */
static keel_status_t complete_log(void)
{
    if (ml.flushed == ml.written) {
        return KEEL_OK;
    }
    KERNEL_TRY(publish());
    ml.flushed = ml.written;
    return __real_keel_flush(ml.ctx, ml.logger);
}

/* Waits until the ring has room for one more record. */
static keel_status_t await_room(void)
{
    while (ml.written - taken() > ML_RING_BYTES - sizeof(ml_record_t)) {
        KERNEL_TRY(complete_log());
        KERNEL_TRY(keel_progress(ml.ctx));
        sched_yield();
    }
    return KEEL_OK;
}

static keel_status_t record(ml_kind_t kind, uint32_t target, uint64_t offset, size_t length)
{
    const ml_record_t head = {
        .kind = kind, .target = target, .sequence = ml.sequence++, .offset = offset, .length = length};

    if (ml.log.is_checked) {
        ml.sum = ml_sum(ml.sum, (const unsigned char *)&head, sizeof head);
    }
    KERNEL_TRY(await_room());
    KERNEL_TRY(__real_keel_put(ml.rings, ml.logger, ml.ring + offsetof(ml_ring_t, data) + ml.written % ML_RING_BYTES,
                               &head, sizeof head));
    ml.written += sizeof head;
    return (ml.written - ml.published >= PUBLISH_BYTES) ? publish() : KEEL_OK;
}

/* Records an access like Keel: accesses to the rank itself and empty accesses are not logged. */
static keel_status_t record_access(ml_kind_t kind, uint32_t target, uint64_t offset, const void *data, size_t length)
{
    if ((target == keel_rank(ml.ctx)) || (length == 0)) {
        return KEEL_OK;
    }
    if (ml.log.is_checked) {
        ml.given = ml_sum(ml.given, data, length);
    }
    ml_log_append(&ml.log, data, length, &ml.kept);
    return record(kind, target, offset, length);
}

static keel_status_t mark(ml_kind_t kind)
{
    KERNEL_TRY(record(kind, 0, (kind == ML_END) ? ml.sum : 0, 0));
    return complete_log();
}

/* ---- the calls ---- */

static uint32_t loggers_wanted(uint32_t size)
{
    const char *text = getenv("ML_LOGGERS");
    unsigned long loggers = 1;

    if (((text != NULL) && (kernel_parse_number(text, 1, &loggers) != 0)) || (2 * loggers > size)) {
        fprintf(stderr, "ml: ML_LOGGERS is to be 1 to half the ranks\n");
        exit(KERNEL_EXIT_USAGE);
    }
    return (uint32_t)loggers;
}

keel_status_t __wrap_keel_init(const keel_params_t *params, keel_context_h *ctx_p)
{
    static const char *const env[] = {"KEEL_PROTECT=none", NULL};
    keel_params_t own = {.field_mask = KEEL_PARAM_FIELD_ENV, .env = env};
    uint32_t rank, size;
    keel_status_t status;
    size_t bytes;

    if ((params != NULL) && (params->field_mask & KEEL_PARAM_FIELD_FLAGS)) {
        own.field_mask |= KEEL_PARAM_FIELD_FLAGS;
        own.flags = params->flags;
    }
    KERNEL_TRY(__real_keel_init(&own, ctx_p));
    ml.ctx = *ctx_p;
    rank = keel_rank(ml.ctx);
    size = __real_keel_size(ml.ctx);
    ml.loggers = loggers_wanted(size);
    ml.logger = size - ml.loggers + rank % ml.loggers;
    ml.ring = ml_ring_offset(rank, ml.loggers);
    bytes = (rank < size - ml.loggers) ? sizeof(uint64_t) : ml_ring_offset(size - 1, ml.loggers) + sizeof(ml_ring_t);
    KERNEL_TRY(__real_keel_win_alloc(ml.ctx, bytes, NULL, &ml.rings));
    if (rank < size - ml.loggers) {
        ml.log = ml_log_make("ML_SPOIL_DATA");
        return (ml.log.data != NULL) ? KEEL_OK : KEEL_ERR_NO_MEMORY;
    }
    status = ml_logger_run(ml.ctx, ml.rings, ml.loggers);
    exit((status == KEEL_OK) ? KERNEL_EXIT_OK : kernel_keel_error("ml", "logger", status));
}

/* Reports on stderr if ML_VERBOSE is set: the kernel's own output is for scripts. */
static void report_kept(void)
{
    if (getenv("ML_VERBOSE") != NULL) {
        fprintf(stderr, "ml: rank %u kept %" PRIu64 " bytes%s\n", keel_rank(ml.ctx), ml.log.logged,
                ml.log.is_checked ? ", checked" : "");
    }
}

keel_status_t __wrap_keel_finalize(keel_context_h ctx)
{
    if (ml.kept != ml.given) {
        fprintf(stderr, "ml: the data that rank %u kept are not those that it was given\n", keel_rank(ctx));
        return KEEL_ERR_CORRUPT;
    }
    report_kept();
    ml_log_free(&ml.log);
    KERNEL_TRY(mark(ML_END));
    return __real_keel_finalize(ctx);
}

uint32_t __wrap_keel_size(keel_context_h ctx)
{
    return __real_keel_size(ctx) - ml.loggers;
}

keel_status_t __wrap_keel_win_alloc(keel_context_h ctx, size_t bytes, const keel_win_params_t *params,
                                    keel_win_h *win_p)
{
    KERNEL_TRY(mark(ML_ALLOC));
    return __real_keel_win_alloc(ctx, bytes, params, win_p);
}

keel_status_t __wrap_keel_put_nbx(keel_win_h win, uint32_t rank, uint64_t offset, const void *buffer, size_t length,
                                  const keel_rma_params_t *params, keel_req_h *req_p)
{
    KERNEL_TRY(record_access(ML_PUT, rank, offset, buffer, length));
    return __real_keel_put_nbx(win, rank, offset, buffer, length, params, req_p);
}

keel_status_t __wrap_keel_put(keel_win_h win, uint32_t rank, uint64_t offset, const void *buffer, size_t length)
{
    KERNEL_TRY(record_access(ML_PUT, rank, offset, buffer, length));
    return __real_keel_put(win, rank, offset, buffer, length);
}

keel_status_t __wrap_keel_get(keel_win_h win, uint32_t rank, uint64_t offset, void *buffer, size_t length)
{
    KERNEL_TRY(__real_keel_get(win, rank, offset, buffer, length));
    return record_access(ML_GET, rank, offset, buffer, length);
}

/* Blocking: data can be recorded only after it was read. */
keel_status_t __wrap_keel_get_nbx(keel_win_h win, uint32_t rank, uint64_t offset, void *buffer, size_t length,
                                  const keel_rma_params_t *params, keel_req_h *req_p)
{
    (void)params; /* callbacks are for accesses that do not complete at once */
    if (req_p != NULL) {
        *req_p = NULL;
    }
    return __wrap_keel_get(win, rank, offset, buffer, length);
}

keel_status_t __wrap_keel_atomic(keel_win_h win, keel_atomic_op_t op, uint32_t rank, uint64_t offset, size_t size,
                                 uint64_t operand, uint64_t compare, void *result)
{
    uint64_t values[3] = {operand, compare, 0};

    KERNEL_TRY(__real_keel_atomic(win, op, rank, offset, size, operand, compare, result));
    if (result != NULL) {
        memcpy(&values[2], result, size);
    }
    return record_access(ML_ATOMIC, rank, offset, values, sizeof values);
}

keel_status_t __wrap_keel_atomic_nbx(keel_win_h win, keel_atomic_op_t op, uint32_t rank, uint64_t offset, size_t size,
                                     uint64_t operand, uint64_t compare, void *result, const keel_rma_params_t *params,
                                     keel_req_h *req_p)
{
    const uint64_t values[3] = {operand, compare, 0};

    if (result != NULL) {
        if (req_p != NULL) {
            *req_p = NULL;
        }
        return __wrap_keel_atomic(win, op, rank, offset, size, operand, compare, result);
    }
    KERNEL_TRY(record_access(ML_ATOMIC, rank, offset, values, sizeof values));
    return __real_keel_atomic_nbx(win, op, rank, offset, size, operand, compare, result, params, req_p);
}

keel_status_t __wrap_keel_flush(keel_context_h ctx, uint32_t rank)
{
    KERNEL_TRY(complete_log());
    return __real_keel_flush(ctx, rank);
}

/*
 * All ranks must agree whether the gsync is safe, and the loggers do not know; without protection
 * no image is taken.
 */
keel_status_t __wrap_keel_gsync(keel_context_h ctx, unsigned flags)
{
    KERNEL_TRY(mark(ML_GSYNC));
    return __real_keel_gsync(ctx, flags | KEEL_GSYNC_SAFE);
}

/* Without protection there are no checkpoints; the call becomes a gsync. */
keel_status_t __wrap_keel_checkpoint(keel_context_h ctx)
{
    return __wrap_keel_gsync(ctx, KEEL_GSYNC_SAFE);
}

/* The loggers also start and stop their CPU time at these marks. */
keel_status_t __wrap_kernel_clock_start(keel_context_h ctx, double *started_p)
{
    KERNEL_TRY(mark(ML_START));
    return __real_kernel_clock_start(ctx, started_p);
}

double __wrap_kernel_clock_stop(void)
{
    const double stopped = __real_kernel_clock_stop();
    const keel_status_t status = mark(ML_STOP);

    if (status != KEEL_OK) { /* no way to report to the kernel */
        exit(kernel_keel_error("ml", "end of the clock", status));
    }
    return stopped;
}
