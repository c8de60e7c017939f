/*
 * Coordinated checkpoints: what the call takes, how long the program is stopped, how long until the generation protects when
 * the program goes on with gsyncs, what of that it spent in Keel on comparing and parity, how long others' images took to come, and
 * the buffers for them. What it is compared with is a plain memcpy of as much by all ranks at once, into memory that was touched before.
 */
#include "perf_access.h"

#include <stdlib.h>
#include <string.h>

#define WARM_UP 2u /* they fault the memory of both slots in */

typedef struct ckpt_times {
    double call[PERF_ROUNDS_MAX], stopped[PERF_ROUNDS_MAX], safe[PERF_ROUNDS_MAX], work[PERF_ROUNDS_MAX],
        copy[PERF_ROUNDS_MAX], transfer[PERF_ROUNDS_MAX], buffers[PERF_ROUNDS_MAX];
} ckpt_times_t;

/* gsyncs until the checkpoint is committed or given up. Rank 0 tells the others, so that all end at the same gsync. */
static keel_status_t safe_await(perf_run_t *run, uint64_t before, keel_stats_t *stats)
{
    const uint64_t *told = keel_win_base(run->data);
    uint64_t is_over;

    for (unsigned turn = 0;; turn = !turn) {
        PERF_TRY(keel_stats(run->ctx, stats));
        is_over = (stats->checkpoints + stats->checkpoint_aborts > before);
        for (uint32_t r = 1; run->rank == 0 && r < run->size; r++) {
            PERF_TRY(keel_put(run->data, r, turn * sizeof is_over, &is_over, sizeof is_over));
        }
        PERF_TRY(keel_gsync(run->ctx, 0));
        if (run->rank == 0 ? is_over : told[turn]) {
            return keel_stats(run->ctx, stats);
        }
    }
}

static keel_status_t checkpoint_time(perf_run_t *run, unsigned i, ckpt_times_t *times)
{
    uint64_t begun, before;
    keel_stats_t stats;

    PERF_TRY(keel_stats(run->ctx, &stats));
    before = stats.checkpoints + stats.checkpoint_aborts;
    begun = perf_now_ns();
    PERF_TRY(keel_checkpoint(run->ctx));
    times->call[i] = (double)(perf_now_ns() - begun);
    PERF_TRY(safe_await(run, before, &stats));
    times->stopped[i] = (double)stats.checkpoint_copy_ns;
    times->safe[i] = (double)stats.checkpoint_safe_ns;
    times->work[i] = (double)stats.checkpoint_work_ns;
    times->transfer[i] = (double)stats.transfer_ns;
    times->buffers[i] = (double)stats.transfer_peak_bytes;
    return KEEL_OK;
}

static keel_status_t copy_time(perf_run_t *run, char *to, size_t bytes, double *ns_p)
{
    uint64_t begun;

    PERF_TRY(keel_gsync(run->ctx, 0));
    begun = perf_now_ns();
    memcpy(to, keel_win_base(run->data), bytes);
    __asm__ volatile("" : : "r"(to) : "memory"); /* the copy is wanted */
    *ns_p = (double)(perf_now_ns() - begun);
    return keel_gsync(run->ctx, 0);
}

static void side_fill(perf_side_t *side, const double *rounds, double *values, unsigned count, double percentile)
{
    memcpy(side->rounds, rounds, count * sizeof *rounds);
    for (unsigned i = 0; i < count; i++) {
        side->overall += values[i] / count;
    }
    side->average = values[count - 1];
    side->percentile = perf_percentile(values, count, percentile);
}

keel_status_t perf_ckpt_run(perf_run_t *run, const perf_test_t *test, perf_result_t *result)
{
    const size_t changed = test->size / 100 * test->changed;
    const unsigned count = (unsigned)test->rounds;
    ckpt_times_t times = {0};
    char *to = malloc(test->size);

    if (to == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    memset(to, 0, test->size);
    run->test = test;
    run->initiators = run->size;
    run->is_initiator = 1;
    PERF_TRY(keel_win_alloc(run->ctx, test->size, NULL, &run->data));
    memset(keel_win_base(run->data), 0, test->size);
    for (unsigned i = 0; i < WARM_UP + count; i++) {
        memset(keel_win_base(run->data), (int)i + 1, changed);
        if (test->peer == PERF_PEER_MEMCPY) {
            PERF_TRY(copy_time(run, to, test->size, &times.copy[i < WARM_UP ? 0 : i - WARM_UP]));
        }
        PERF_TRY(keel_gsync(run->ctx, 0));
        PERF_TRY(checkpoint_time(run, i < WARM_UP ? 0 : i - WARM_UP, &times));
    }
    result->iterations = count;
    side_fill(&result->keel, times.stopped, times.call, count, test->percentile);
    side_fill(&result->peer, times.copy, times.copy, count, test->percentile);
    perf_part_fill(&result->parts[0], "stopped", times.stopped, count);
    perf_part_fill(&result->parts[1], "safe", times.safe, count);
    perf_part_fill(&result->parts[2], "work", times.work, count);
    perf_part_fill(&result->parts[3], "transfer", times.transfer, count);
    perf_part_fill_bytes(&result->parts[4], "buffers", times.buffers, count);
    free(to);
    return keel_win_free(run->data);
}
