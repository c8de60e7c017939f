/* The same accesses by raw UCX, and the stores of one core, which bound the log of large puts. */
#include "perf_block.h"

#include <base/copy.h>

static inline uint32_t next_target(perf_run_t *run)
{
    const uint32_t target = run->targets[run->next];

    run->next = (run->next + 1 == run->target_count) ? 0 : run->next + 1;
    return target;
}

static inline int raw_close_epochs(perf_run_t *run)
{
    return (run->target_count == 1) ? raw_ucp_flush(&run->raw, run->targets[0]) : raw_ucp_flush_all(&run->raw);
}

static keel_status_t verdict(int failed)
{
    return failed ? KEEL_ERR_TRANSPORT : KEEL_OK;
}

static keel_status_t put_lat(perf_run_t *run, unsigned long count)
{
    const size_t size = run->test->size;
    int failed = 0;

    for (unsigned long i = 0; i < count; i++) {
        const uint32_t target = next_target(run);

        failed |= raw_ucp_put_nbx(&run->raw, target, run->source, size, run->offset);
        failed |= raw_ucp_flush(&run->raw, target);
    }
    return verdict(failed);
}

static keel_status_t get_lat(perf_run_t *run, unsigned long count)
{
    const size_t size = run->test->size;
    int failed = 0;

    for (unsigned long i = 0; i < count; i++) {
        failed |= raw_ucp_get(&run->raw, next_target(run), run->source, size, run->offset);
    }
    return verdict(failed);
}

static keel_status_t put_many(perf_run_t *run, unsigned long count)
{
    const unsigned long outstanding = run->test->outstanding;
    const size_t size = run->test->size;
    int failed = 0;

    for (unsigned long i = 0; i < count; i += outstanding) {
        for (unsigned long k = 0; k < outstanding; k++) {
            failed |= raw_ucp_put_nbx(&run->raw, next_target(run), run->source, size, run->offset);
        }
        failed |= raw_close_epochs(run);
    }
    return verdict(failed);
}

static keel_status_t get_many(perf_run_t *run, unsigned long count)
{
    const unsigned long outstanding = run->test->outstanding;
    const size_t size = run->test->size;
    int failed = 0;

    for (unsigned long i = 0; i < count; i += outstanding) {
        for (unsigned long k = 0; k < outstanding; k++) {
            failed |= raw_ucp_get_nbx(&run->raw, next_target(run), run->source, size, run->offset);
        }
        failed |= raw_close_epochs(run);
    }
    return verdict(failed);
}

static keel_status_t add_many(perf_run_t *run, unsigned long count)
{
    const unsigned long outstanding = run->test->outstanding;
    const size_t size = run->test->size;
    const uint64_t one = 1;
    int failed = 0;

    for (unsigned long i = 0; i < count; i += outstanding) {
        for (unsigned long k = 0; k < outstanding; k++) {
            failed |= raw_ucp_add_nbx(&run->raw, next_target(run), &one, size, run->offset);
        }
        failed |= raw_close_epochs(run);
    }
    return verdict(failed);
}

static keel_status_t fadd(perf_run_t *run, unsigned long count)
{
    const size_t size = run->test->size;
    const uint64_t one = 1;
    uint64_t old = 0;
    int failed = 0;

    for (unsigned long i = 0; i < count; i++) {
        failed |= raw_ucp_fetch(&run->raw, next_target(run), UCP_ATOMIC_OP_ADD, &one, &old, size, run->offset);
    }
    return verdict(failed);
}

static keel_status_t cswap(perf_run_t *run, unsigned long count)
{
    const size_t size = run->test->size;
    int failed = 0;

    for (unsigned long i = 0; i < count; i++) {
        const uint32_t target = next_target(run);
        const uint64_t last = run->swaps[1][target]++;
        uint64_t swapped = last + 1;

        failed |= raw_ucp_fetch(&run->raw, target, UCP_ATOMIC_OP_CSWAP, &last, &swapped, size, run->offset);
    }
    return verdict(failed);
}

static keel_status_t flush(perf_run_t *run, unsigned long count)
{
    int failed = 0;

    for (unsigned long i = 0; i < count; i++) {
        failed |= raw_ucp_flush(&run->raw, next_target(run));
    }
    return verdict(failed);
}

/* ---- stores ---- */

/*
 * Stores whole lines with the machine's widest stores, into memory like Keel's log between two
 * checkpoints.
 */
static keel_status_t stores(perf_run_t *run, unsigned long count)
{
    const size_t step = (run->test->size + KEEL_COPY_LINE - 1) & ~(size_t)(KEEL_COPY_LINE - 1);

    for (unsigned long i = 0; i < count; i++) {
        if (run->store_at + step > run->store_bytes) {
            run->store_at = 0;
        }
        keel_copy_lines(run->store + run->store_at, run->source, step);
        run->store_at += step;
    }
    keel_copy_lines_done();
    return KEEL_OK;
}

perf_block_t perf_block_peer(const perf_test_t *test)
{
    static const perf_block_t blocks[PERF_KINDS] = {
        [PERF_PUT_LAT] = put_lat, [PERF_PUT_BW] = put_many, [PERF_PUT_MR] = put_many,
        [PERF_GET_LAT] = get_lat, [PERF_GET_BW] = get_many, [PERF_ADD] = add_many,
        [PERF_FADD] = fadd,       [PERF_CSWAP] = cswap,     [PERF_FLUSH] = flush,
    };

    switch (test->peer) {
    case PERF_PEER_UCX:
        return blocks[test->id];
    case PERF_PEER_STORES:
        return stores;
    default:
        return NULL;
    }
}
