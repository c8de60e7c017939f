/*
 * Coordinated checkpoints as the program sees them. It is stopped for as long as a gsync that takes one lasts, less a gsync that
 * takes none; compared with a plain memcpy of as much by all ranks at once, timed by the same gsync after it, less the same.
 * With nothing less, that gsync is compared with the same memcpy once more.
 * Both read the window as the program left it and write into one of two memories in turn. Before each the program writes its
 * memory and all ranks meet. Every time is that of the rank for which it was longest.
 */
#include "perf_access.h"

#include <stdio.h>
#include <string.h>

#include <base/memory.h>

enum {
    GSYNC,    /* one that takes none */
    TAKEN,    /* one that takes a checkpoint */
    COPIED,   /* memcpy, and one that takes none */
    CALL,     /* keel_checkpoint(): until the checkpoint protects */
    COPY,     /* of TAKEN as the library counts: image, without waiting for other ranks */
    SAFE,     /* from the copy on until it protects, while the program goes on with gsyncs; */
    WORK,     /* of that spent in Keel on comparing and parity; */
    PARITY,   /* of that on parity; all ranks' sum, as */
    MOVED,    /* bytes read and written for it */
    TRANSFER, /* until the images of others had come, and the parity was there */
    BUFFERS,  /* bytes */
    CORE,     /* memcpy by rank 0 while the others sleep */
    SERIES
};

typedef struct ckpt_test {
    perf_run_t *run;
    size_t changed; /* bytes */
    int value;      /* written last */
    char *copies[2];
    double values[SERIES][PERF_ROUNDS_MAX];
} ckpt_test_t;

static keel_status_t program_work(ckpt_test_t *test)
{
    memset(keel_win_base(test->run->data), ++test->value, test->changed);
    return keel_gsync(test->run->ctx, 0);
}

/* with a copy @a to before it unless NULL */
static keel_status_t gsync_time(ckpt_test_t *test, char *to, unsigned flags, double *ns_p)
{
    perf_run_t *run = test->run;
    uint64_t begun;

    PERF_TRY(program_work(test));
    begun = perf_now_ns();
    if (to != NULL) {
        memcpy(to, keel_win_base(run->data), run->test->size);
        __asm__ volatile("" : : "r"(to) : "memory"); /* the copy is wanted */
    }
    PERF_TRY(keel_gsync(run->ctx, flags));
    *ns_p = (double)(perf_now_ns() - begun);
    return KEEL_OK;
}

/* gsyncs until the checkpoint is committed or given up. Rank 0 tells the others, so that all end at the same gsync. */
static keel_status_t safe_await(perf_run_t *run, uint64_t before, keel_stats_t *stats)
{
    const uint64_t *told = keel_win_base(run->data);
    uint64_t is_over;

    for (unsigned turn = 0;; turn = !turn) {
        PERF_TRY(keel_stats(run->ctx, stats, sizeof(*stats)));
        is_over = (stats->checkpoints + stats->checkpoint_aborts > before);
        for (uint32_t r = 1; run->rank == 0 && r < run->size; r++) {
            PERF_TRY(keel_put(run->data, r, turn * sizeof is_over, &is_over, sizeof is_over));
        }
        PERF_TRY(keel_gsync(run->ctx, 0));
        if (run->rank == 0 ? is_over : told[turn]) {
            return keel_stats(run->ctx, stats, sizeof(*stats));
        }
    }
}

/* the job's interval is one safe gsync */
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

/* in turn the copy comes first or the checkpoint, each with a memory that was not the last one's */
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

/* at rank 0: the longest of all ranks, or their sum */
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
    return keel_gsync(run->ctx, 0); /* before the next ones come */
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
        with_gsync[i] =
            values[TAKEN][i] / (values[COPIED][i] > 1 ? values[COPIED][i] : 1); /* below: of no use, no success */
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
