/* Accesses by Keel. */
#include "perf_block.h"

static inline uint32_t next_target(perf_run_t *run)
{
    const uint32_t target = run->targets[run->next];

    run->next = (run->next + 1 == run->target_count) ? 0 : run->next + 1;
    return target;
}

static inline keel_status_t close_epochs(perf_run_t *run)
{
    return (run->target_count == 1) ? keel_flush(run->ctx, run->targets[0]) : keel_flush_all(run->ctx);
}

static keel_status_t put_lat(perf_run_t *run, unsigned long count)
{
    const size_t size = run->test->size;

    for (unsigned long i = 0; i < count; i++) {
        const uint32_t target = next_target(run);

        PERF_TRY(keel_put(run->data, target, run->offset, run->source, size));
        PERF_TRY(keel_flush(run->ctx, target));
    }
    return KEEL_OK;
}

static keel_status_t get_lat(perf_run_t *run, unsigned long count)
{
    const unsigned long outstanding = run->test->outstanding;
    const size_t size = run->test->size;

    for (unsigned long i = 0; i < count; i += outstanding) {
        for (unsigned long k = 0; k < outstanding; k++) {
            PERF_TRY(keel_get(run->data, next_target(run), run->offset, run->source, size));
        }
        PERF_TRY(close_epochs(run));
    }
    return KEEL_OK;
}

static keel_status_t put_many(perf_run_t *run, unsigned long count)
{
    const unsigned long outstanding = run->test->outstanding;
    const size_t size = run->test->size;

    for (unsigned long i = 0; i < count; i += outstanding) {
        for (unsigned long k = 0; k < outstanding; k++) {
            PERF_TRY(keel_put_nbx(run->data, next_target(run), run->offset, run->source, size, NULL, NULL));
        }
        PERF_TRY(close_epochs(run));
    }
    return KEEL_OK;
}

static keel_status_t get_many(perf_run_t *run, unsigned long count)
{
    const unsigned long outstanding = run->test->outstanding;
    const size_t size = run->test->size;

    for (unsigned long i = 0; i < count; i += outstanding) {
        for (unsigned long k = 0; k < outstanding; k++) {
            PERF_TRY(keel_get_nbx(run->data, next_target(run), run->offset, run->source, size, NULL, NULL));
        }
        PERF_TRY(close_epochs(run));
    }
    return KEEL_OK;
}

static keel_status_t add_many(perf_run_t *run, unsigned long count)
{
    const unsigned long outstanding = run->test->outstanding;
    const size_t size = run->test->size;

    for (unsigned long i = 0; i < count; i += outstanding) {
        for (unsigned long k = 0; k < outstanding; k++) {
            PERF_TRY(keel_atomic_nbx(run->data, KEEL_ATOMIC_ADD, next_target(run), run->offset, size, 1, 0, NULL, NULL,
                                     NULL));
        }
        PERF_TRY(close_epochs(run));
    }
    return KEEL_OK;
}

static keel_status_t fadd(perf_run_t *run, unsigned long count)
{
    const unsigned long outstanding = run->test->outstanding;
    const size_t size = run->test->size;
    uint64_t old = 0;

    for (unsigned long i = 0; i < count; i += outstanding) {
        for (unsigned long k = 0; k < outstanding; k++) {
            PERF_TRY(keel_atomic(run->data, KEEL_ATOMIC_ADD, next_target(run), run->offset, size, 1, 0, &old));
        }
        PERF_TRY(close_epochs(run));
    }
    return KEEL_OK;
}

/* Each compare-and-swap succeeds: it expects the value of the last one. */
static keel_status_t cswap(perf_run_t *run, unsigned long count)
{
    const unsigned long outstanding = run->test->outstanding;
    const size_t size = run->test->size;
    uint64_t old = 0;

    for (unsigned long i = 0; i < count; i += outstanding) {
        for (unsigned long k = 0; k < outstanding; k++) {
            const uint32_t target = next_target(run);
            const uint64_t last = run->swaps[0][target]++;

            PERF_TRY(keel_atomic(run->data, KEEL_ATOMIC_CSWAP, target, run->offset, size, last + 1, last, &old));
        }
        PERF_TRY(close_epochs(run));
    }
    return KEEL_OK;
}

static keel_status_t flush(perf_run_t *run, unsigned long count)
{
    for (unsigned long i = 0; i < count; i++) {
        PERF_TRY(keel_flush(run->ctx, next_target(run)));
    }
    return KEEL_OK;
}

static keel_status_t gsync(perf_run_t *run, unsigned long count)
{
    for (unsigned long i = 0; i < count; i++) {
        PERF_TRY(keel_gsync(run->ctx, 0));
    }
    return KEEL_OK;
}

perf_block_t perf_block_keel(const perf_test_t *test)
{
    static const perf_block_t blocks[PERF_KINDS] = {
        [PERF_PUT_LAT] = put_lat, [PERF_PUT_BW] = put_many, [PERF_PUT_MR] = put_many, [PERF_GET_LAT] = get_lat,
        [PERF_GET_BW] = get_many, [PERF_ADD] = add_many,    [PERF_FADD] = fadd,       [PERF_CSWAP] = cswap,
        [PERF_FLUSH] = flush,     [PERF_GSYNC] = gsync,
    };

    return blocks[test->id];
}
