/*
 * Coordinated checkpoints in the view of the program. The program stops for the duration of a gsync
 * with a checkpoint, minus a gsync without one. This is compared with a plain memcpy of the same
 * size by all ranks at once, timed with the same gsync after it, minus the same gsync. Without the
 * subtraction, the gsync is compared with the same memcpy once more. Both read the window as the
 * program left it and write alternately into one of two memories. Before each the program writes
 * its memory and all ranks meet. Every time is that of the slowest rank.
 */
#include "perf_access.h"

#include <stdio.h>
#include <string.h>

#include <base/memory.h>

enum {
    GSYNC,  /* without a checkpoint */
    TAKEN,  /* with a checkpoint */
    COPIED, /* memcpy, and a gsync without a checkpoint */
    CALL,   /* keel_checkpoint(): until the checkpoint protects */
    COPY,   /* part of TAKEN counted by the library: image, without waiting for other ranks */
    /* from the copy until the checkpoint protects, while the program goes on with gsyncs */
    SAFE,
    WORK,     /* part of SAFE spent in Keel on comparison and parity */
    PARITY,   /* part of WORK spent on parity; sum of all ranks */
    MOVED,    /* bytes read and written for parity; sum of all ranks */
    TRANSFER, /* until the images of other ranks had arrived and the parity was complete */
    BUFFERS,  /* bytes */
    CORE,     /* memcpy by rank 0 while the others sleep */
    SERIES
};

typedef struct ckpt_test {
    perf_run_t *run;
    size_t changed; /* bytes */
    int value;      /* last value written */
    char *copies[2];
    double values[SERIES][PERF_ROUNDS_MAX];
} ckpt_test_t;

static keel_status_t program_work(ckpt_test_t *test)
{
    memset(keel_win_base(test->run->data), ++test->value, test->changed);
    return keel_gsync(test->run->ctx, 0);
}

/* Times a gsync, after a copy to @a to unless NULL. */
static keel_status_t gsync_time(ckpt_test_t *test, char *to, unsigned flags, double *ns_p)
{
    perf_run_t *run = test->run;
    uint64_t begun;

    PERF_TRY(program_work(test));
    begun = perf_now_ns();
    if (to != NULL) {
        memcpy(to, keel_win_base(run->data), run->test->size);
        __asm__ volatile("" : : "r"(to) : "memory"); /* keeps the copy */
    }
    PERF_TRY(keel_gsync(run->ctx, flags));
    *ns_p = (double)(perf_now_ns() - begun);
    return KEEL_OK;
}

/*
 * Runs gsyncs until the checkpoint is committed or aborted. Rank 0 notifies the others, so that all
 * end at the same gsync.
 */
static keel_status_t safe_await(perf_run_t *run, uint64_t before, keel_stats_t *stats)
{
    const uint64_t *flags = keel_win_base(run->data);
    uint64_t is_over;

    for (unsigned turn = 0;; turn = !turn) {
        PERF_TRY(keel_stats(run->ctx, stats, sizeof(*stats)));
        is_over = (stats->checkpoints + stats->checkpoint_aborts > before);
        for (uint32_t r = 1; run->rank == 0 && r < run->size; r++) {
            PERF_TRY(keel_put(run->data, r, turn * sizeof is_over, &is_over, sizeof is_over));
        }
        PERF_TRY(keel_gsync(run->ctx, 0));
        if (run->rank == 0 ? is_over : flags[turn]) {
            return keel_stats(run->ctx, stats, sizeof(*stats));
        }
    }
}

/* Times a checkpoint; the job's interval is one safe gsync. */
static keel_status_t checkpoint_time(ckpt_test_t *test, unsigned i)
{
    perf_run_t *run = test->run;
    keel_stats_t stats;
    uint64_t before;

    PERF_TRY(keel_stats(run->ctx, &stats, sizeof(stats)));
    before = stats.checkpoints + stats.checkpoint_aborts;
    PERF_TRY(gsync_time(test, NULL, KEEL_GSYNC_SAFE, &test->values[TAKEN][i]));
    PERF_TRY(keel_stats(run->ctx, &stats, sizeof(stats)));
    if (stats.checkpoint_bytes == 0) {
        fprintf(stderr, "keel_perftest: %s: no checkpoint is taken\n", run->test->name);
        return KEEL_ERR_STATE;
    }
    PERF_TRY(safe_await(run, before, &stats));
    test->values[COPY][i] = (double)stats.checkpoint_copy_ns;
    test->values[SAFE][i] = (double)stats.checkpoint_safe_ns;
    test->values[WORK][i] = (double)stats.checkpoint_work_ns;
    test->values[PARITY][i] = (double)stats.checkpoint_parity_ns;
    test->values[MOVED][i] = (double)stats.checkpoint_parity_bytes;
    test->values[TRANSFER][i] = (double)stats.transfer_ns;
    test->values[BUFFERS][i] = (double)stats.transfer_peak_bytes;
    return KEEL_OK;
}

static keel_status_t call_time(ckpt_test_t *test, double *ns_p)
{
    uint64_t begun;

    PERF_TRY(program_work(test));
    begun = perf_now_ns();
    PERF_TRY(keel_checkpoint(test->run->ctx));
    *ns_p = (double)(perf_now_ns() - begun);
    return KEEL_OK;
}

static keel_status_t core_time(ckpt_test_t *test, char *to, double *ns_p)
{
    perf_run_t *run = test->run;
    uint64_t begun;

    PERF_TRY(program_work(test));
    begun = perf_now_ns();
    if (run->rank == 0) {
        memcpy(to, keel_win_base(run->data), run->test->size);
        __asm__ volatile("" : : "r"(to) : "memory");
        *ns_p = (double)(perf_now_ns() - begun);
    }
    return perf_run_sync(run, 0);
}

/* Alternates the order of copy and checkpoint, each with the memory not used last. */
static keel_status_t iteration_run(ckpt_test_t *test, unsigned long number, unsigned i)
{
    const int is_first = (number % 2 == 0), has_peer = (test->copies[0] != NULL);
    char *to = test->copies[number % 2];

    PERF_TRY(gsync_time(test, NULL, 0, &test->values[GSYNC][i]));
    if (has_peer && is_first) {
        PERF_TRY(gsync_time(test, to, 0, &test->values[COPIED][i]));
    }
    PERF_TRY(checkpoint_time(test, i));
    if (has_peer && !is_first) {
        PERF_TRY(gsync_time(test, to, 0, &test->values[COPIED][i]));
    }
    PERF_TRY(call_time(test, &test->values[CALL][i]));
    return has_peer ? core_time(test, to, &test->values[CORE][i]) : KEEL_OK;
}

/* ---- results ---- */

/* At rank 0: the maximum over all ranks, or their sum. */
static keel_status_t ranks_combine(perf_run_t *run, double *values, unsigned count, int is_sum)
{
    const int is_initiator = run->is_initiator;
    perf_result_t own = {0};
    const perf_result_t *all;

    memcpy(own.keel.rounds, values, count * sizeof *values);
    run->is_initiator = 1;
    PERF_TRY(perf_run_gather(run, &own, &all));
    run->is_initiator = is_initiator;
    for (uint32_t r = 1; all != NULL && r < run->size; r++) {
        for (unsigned i = 0; i < count; i++) {
            const double value = all[r].keel.rounds[i];

            values[i] = is_sum ? values[i] + value : value > values[i] ? value : values[i];
        }
    }
    return keel_gsync(run->ctx, 0); /* before further results come */
}

static void side_fill(perf_side_t *side, double *values, unsigned count, double percentile)
{
    memcpy(side->rounds, values, count * sizeof *values);
    for (unsigned i = 0; i < count; i++) {
        side->overall += values[i] / count;
    }
    side->average = values[count - 1];
    side->percentile = perf_percentile(values, count, percentile);
}

static void result_fill(ckpt_test_t *test, unsigned count, perf_result_t *result)
{
    const double size = (double)test->run->test->size;
    double(*values)[PERF_ROUNDS_MAX] = test->values;
    double with_gsync[PERF_ROUNDS_MAX];
    perf_part_t *part = result->parts;

    for (unsigned i = 0; i < count; i++) {
        values[COPIED][i] -= values[GSYNC][i];
        /* below: no time and no success */
        with_gsync[i] = values[TAKEN][i] / (values[COPIED][i] > 1 ? values[COPIED][i] : 1);
        values[TAKEN][i] -= values[GSYNC][i];
        values[MOVED][i] /= values[PARITY][i] > 0 ? values[PARITY][i] : 1;
        values[CORE][i] = 2 * size / (values[CORE][i] > 0 ? values[CORE][i] : 1);
    }
    result->iterations = count;
    side_fill(&result->keel, values[TAKEN], count, test->run->test->percentile);
    perf_part_fill(part++, "stopped", values[TAKEN], count);
    perf_part_fill(part++, "safe", values[SAFE], count);
    perf_part_fill(part++, "work", values[WORK], count);
    perf_part_fill(part++, "transfer", values[TRANSFER], count);
    perf_part_fill_bytes(part++, "buffers", values[BUFFERS], count);
    perf_part_fill(part++, "copy", values[COPY], count);
    perf_part_fill(part++, "gsync", values[GSYNC], count);
    perf_part_fill(part++, "call", values[CALL], count);
    perf_part_fill_rates(part++, "parity", values[MOVED], count);
    if (test->copies[0] != NULL) {
        side_fill(&result->peer, values[COPIED], count, test->run->test->percentile);
        perf_part_fill_rates(part++, "core", values[CORE], count);
        perf_part_fill_ratios(part++, "with_gsync", with_gsync, count);
    }
}

static keel_status_t copies_make(ckpt_test_t *test)
{
    const size_t size = test->run->test->size;

    for (unsigned c = 0; c < 2; c++) {
        test->copies[c] = keel_arena_alloc(size, size, "copies");
        if (test->copies[c] == NULL) {
            return KEEL_ERR_NO_MEMORY;
        }
    }
    return KEEL_OK;
}

keel_status_t perf_ckpt_run(perf_run_t *run, const perf_test_t *plan, perf_result_t *result)
{
    ckpt_test_t test = {.run = run, .changed = plan->size / 100 * plan->changed};
    const unsigned count = (unsigned)plan->rounds;

    run->test = plan;
    run->initiators = 1; /* rank 0 has the results of all */
    run->is_initiator = (run->rank == 0);
    if (plan->peer == PERF_PEER_MEMCPY) {
        PERF_TRY(copies_make(&test));
    }
    PERF_TRY(keel_win_alloc(run->ctx, plan->size, NULL, &run->data));
    memset(keel_win_base(run->data), 0, plan->size);
    for (unsigned long n = 0; n < plan->warmup + count; n++) {
        PERF_TRY(iteration_run(&test, n, n < plan->warmup ? 0 : (unsigned)(n - plan->warmup)));
    }
    for (unsigned s = 0; s < SERIES; s++) {
        PERF_TRY(ranks_combine(run, test.values[s], count, s == PARITY || s == MOVED));
    }
    result_fill(&test, count, result);
    keel_arena_free(test.copies[0], plan->size);
    keel_arena_free(test.copies[1], plan->size);
    return keel_win_free(run->data);
}
