/*
 * Accesses, flushes and gsyncs. A round consists of some pairs of blocks, one by Keel and one by
 * its peer, and gives one ratio, of the medians of its blocks. Untimed checkpoints between blocks
 * empty the logs.
 */
#include "perf_access.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <base/memory.h>

#include "perf_block.h"
#include "perf_check.h"
#include "perf_report.h"

#define SAMPLE_NS    5000.0 /* target duration of a sample: reading the clock takes 25 ns */
#define WAKING_MAX   65536u /* bytes of an untimed access */
#define RANDOM_COUNT 1024u  /* drawn targets */

/* ---- pairs of ranks ---- */

static uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void targets_all(perf_run_t *run)
{
    for (uint32_t i = 1; i < run->size; i++) {
        run->targets[run->target_count++] = (run->rank + i) % run->size;
    }
}

static void targets_random(perf_run_t *run)
{
    uint64_t state = (run->test->seed + 1) * 0x9e3779b97f4a7c15ull + run->rank;

    for (unsigned i = 0; i < RANDOM_COUNT; i++) {
        run->targets[run->target_count++] =
            (uint32_t)((run->rank + 1 + random_next(&state) % (run->size - 1)) % run->size);
    }
}

static keel_status_t targets_choose(perf_run_t *run)
{
    const perf_pattern_t pattern = run->test->pattern;
    const int is_collective = (perf_kind(run->test)->flags & PERF_IS_COLLECTIVE) != 0;

    run->initiators = (is_collective || pattern >= PERF_ALL) ? run->size : 1;
    run->is_initiator = (run->rank < run->initiators);
    run->target_count = run->next = run->cursors[0] = run->cursors[1] = 0;
    if (run->size < 2) {
        fprintf(stderr, "keel_perftest: %s needs two ranks\n", run->test->name);
        return KEEL_ERR_INVALID_PARAM;
    }
    run->targets = malloc((run->size + RANDOM_COUNT) * sizeof *run->targets);
    if (run->targets == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    switch (pattern) {
    case PERF_RANDOM:
        targets_random(run);
        break;
    case PERF_NEIGHBOURS:
        run->targets[run->target_count++] = (run->rank + 1) % run->size;
        if (run->size > 2) {
            run->targets[run->target_count++] = (run->rank + run->size - 1) % run->size;
        }
        break;
    case PERF_ONE:
        run->targets[run->target_count++] = (run->rank + 1) % run->size;
        break;
    default:
        targets_all(run);
    }
    return KEEL_OK;
}

/* ---- a block ---- */

static void sample_add(perf_run_t *run, unsigned side, double ns)
{
    run->samples[side][run->sampled[side]++ % PERF_SAMPLES_MAX] = ns;
}

static uint64_t grown(uint64_t before, uint64_t after)
{
    return after > before ? after - before : 0;
}

static void counts_add(const perf_run_t *run, const keel_stats_t *before, const keel_stats_t *after,
                       perf_counts_t *counts)
{
    counts->accesses += (run->test->id == PERF_GSYNC) ? after->gsyncs - before->gsyncs
                                                      : after->puts + after->gets + after->atomics - before->puts -
                                                            before->gets - before->atomics;
    counts->put_log += grown(before->put_log_bytes, after->put_log_bytes);
    counts->get_log += grown(before->get_log_bytes, after->get_log_bytes);
}

/*
 * Runs a block in an initiator; @a ns_p: of an access. Untimed accesses before the block wake the
 * target.
 */
static keel_status_t block_time(perf_run_t *run, unsigned side, perf_block_t block, unsigned long count, double *ns_p)
{
    const unsigned long chunk = (run->chunk[side] < count) ? run->chunk[side] : count;
    uint64_t begun, last, now;

    if (run->test->size <= WAKING_MAX) {
        PERF_TRY(block(run, run->test->outstanding));
        run->counts.untimed += (side == 0) ? run->test->outstanding : 0;
    }
    begun = last = perf_now_ns();
    for (unsigned long done = 0; done < count; done += chunk) {
        const unsigned long some = (count - done < chunk) ? count - done : chunk;

        PERF_TRY(block(run, some));
        now = perf_now_ns();
        if (some == chunk) {
            sample_add(run, side, (double)(now - last) / (double)chunk);
        }
        last = now;
    }
    *ns_p = (double)(last - begun) / (double)count;
    return KEEL_OK;
}

/* Runs a block in all ranks; the others wait while initiators work. */
static keel_status_t block_run(perf_run_t *run, unsigned side, perf_block_t block, unsigned long count, double *ns_p)
{
    const int is_raw = (side == 1 && run->test->peer == PERF_PEER_UCX);
    keel_stats_t before, after;

    run->counts.turns += (run->side != side);
    run->side = side;
    if (run->is_initiator) {
        run->next = run->cursors[side]; /* both sides access the same targets in the same order */
        PERF_TRY(perf_run_await_targets(run, is_raw));
        PERF_TRY(keel_stats(run->ctx, &before, sizeof(before)));
        PERF_TRY(block_time(run, side, block, count, ns_p));
        PERF_TRY(keel_stats(run->ctx, &after, sizeof(after)));
        counts_add(run, &before, &after, &run->counts);
        run->cursors[side] = run->next;
    }
    return perf_run_sync(run, is_raw);
}

/*
 * Empties the logs by a checkpoint; by the gsync after it all ranks have left the checkpoint and
 * have trimmed other ranks' logs.
 */
static keel_status_t logs_empty(perf_run_t *run)
{
    PERF_TRY(keel_checkpoint(run->ctx));
    return keel_gsync(run->ctx, 0);
}

static keel_status_t warm_up(perf_run_t *run, unsigned side, perf_block_t block)
{
    const unsigned long outstanding = run->test->outstanding;
    unsigned long some;
    double ns = 0;

    run->chunk[side] = outstanding;
    for (unsigned long left = run->test->warmup; left > 0; left -= some) {
        some = left < run->schedule.most ? left : run->schedule.most;
        PERF_TRY(block_run(run, side, block, some, &ns));
        PERF_TRY(logs_empty(run));
    }
    PERF_TRY(block_run(run, side, block, outstanding, &ns));
    if (ns > 0 && ns * (double)outstanding < SAMPLE_NS) {
        run->chunk[side] = outstanding * (unsigned long)(SAMPLE_NS / (ns * (double)outstanding) + 1);
    }
    run->sampled[side] = 0;
    run->counts.untimed += (side == 0 && run->is_initiator) ? run->test->warmup + outstanding : 0;
    return logs_empty(run);
}

/* ---- rounds ---- */

static void side_add(perf_side_t *side, unsigned long round, double *blocks, unsigned long count)
{
    double sum = 0;

    for (unsigned long i = 0; i < count; i++) {
        sum += blocks[i];
    }
    side->average = sum / (double)count;
    side->overall += side->average;
    side->rounds[round] = perf_percentile(blocks, count, 50);
}

static keel_status_t rounds_run(perf_run_t *run, const perf_block_t *blocks, perf_result_t *result)
{
    const perf_schedule_t *schedule = &run->schedule;
    unsigned long since = 0;

    for (unsigned long round = 0; round < run->test->rounds; round++) {
        if (round == run->test->rounds - 1 && run->is_initiator) {
            perf_check_renew(run);
            run->last_from = run->cursors[0];
            run->last_issued = result->iterations + run->counts.untimed;
        }
        for (unsigned long p = 0; p < schedule->pairs; p++, since++) {
            if (since == schedule->ckpt_every) {
                PERF_TRY(logs_empty(run));
                since = 0;
            }
            PERF_TRY(block_run(run, 0, blocks[0], schedule->block, &run->times[0][p]));
            if (blocks[1] != NULL) {
                PERF_TRY(block_run(run, 1, blocks[1], schedule->block, &run->times[1][p]));
            }
        }
        side_add(&result->keel, round, run->times[0], schedule->pairs);
        side_add(&result->peer, round, run->times[1], schedule->pairs);
        result->iterations += schedule->pairs * schedule->block;
        perf_report_stage(run, result, round);
    }
    result->keel.overall /= (double)run->test->rounds;
    result->peer.overall /= (double)run->test->rounds;
    return KEEL_OK;
}

/* ---- checks of the accesses ---- */

/* The count of distinct targets of @a issued accesses, from the next target on. */
static uint64_t targets_distinct(const perf_run_t *run, unsigned from, uint64_t issued)
{
    const uint64_t count = issued < run->target_count ? issued : run->target_count;
    uint64_t distinct = 0;

    for (uint32_t r = 0; r < run->size; r++) {
        uint64_t at = 0;

        while (at < count && run->targets[(from + at) % run->target_count] != r) {
            at++;
        }
        distinct += (at < count);
    }
    return distinct;
}

/* Checks some more gets, into cleared memory. */
static keel_status_t gets_check(perf_run_t *run, unsigned side, perf_block_t block)
{
    double ns;

    PERF_TRY(logs_empty(run));
    memset(run->source, 0, run->test->size);
    PERF_TRY(block_run(run, side, block, run->test->outstanding, &ns));
    return run->is_initiator ? perf_check_source(run, side) : KEEL_OK;
}

static keel_status_t result_check(perf_run_t *run, const perf_block_t *blocks, perf_result_t *result)
{
    const uint64_t issued = result->iterations + run->counts.untimed;
    perf_counts_t *counts = &result->counts;

    *counts = run->counts;
    counts->peer_accesses = run->raw.accesses;
    if (run->is_initiator) {
        counts->expected = targets_distinct(run, 0, issued);
        counts->expected_last = targets_distinct(run, run->last_from, issued - run->last_issued);
    }
    for (unsigned side = 0; side < 2 && blocks[side] != NULL && (perf_kind(run->test)->flags & PERF_IS_GET); side++) {
        PERF_TRY(gets_check(run, side, blocks[side]));
    }
    return perf_check_memory(run, counts);
}

static keel_status_t measure(perf_run_t *run, perf_result_t *result)
{
    const perf_block_t blocks[2] = {perf_block_keel(run->test), perf_block_peer(run->test)};

    memset(&run->counts, 0, sizeof run->counts);
    for (unsigned side = 0; side < 2 && blocks[side] != NULL; side++) {
        PERF_TRY(warm_up(run, side, blocks[side]));
    }
    run->counts.turns = 0;
    PERF_TRY(rounds_run(run, blocks, result));
    for (unsigned side = 0; side < 2; side++) {
        const size_t count = run->sampled[side] < PERF_SAMPLES_MAX ? run->sampled[side] : PERF_SAMPLES_MAX;

        (side == 0 ? &result->keel : &result->peer)->percentile =
            perf_percentile(run->samples[side], count, run->test->percentile);
    }
    return result_check(run, blocks, result);
}

/* ---- memory of a test ---- */

static keel_status_t memory_make(perf_run_t *run, size_t stride)
{
    run->source = aligned_alloc(64, stride);
    run->samples[0] = malloc(PERF_SAMPLES_MAX * sizeof(double));
    run->samples[1] = malloc(PERF_SAMPLES_MAX * sizeof(double));
    for (unsigned side = 0; side < 2; side++) {
        run->times[side] = calloc(run->schedule.pairs, sizeof *run->times[side]);
        run->swaps[side] = calloc(run->size, sizeof *run->swaps[side]);
        if (run->samples[side] == NULL || run->times[side] == NULL || run->swaps[side] == NULL) {
            return KEEL_ERR_NO_MEMORY;
        }
    }
    if (run->source == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    memset(run->source, 1, stride);
    /* faulted in before any timing */
    memset(run->samples[0], 0, PERF_SAMPLES_MAX * sizeof(double));
    memset(run->samples[1], 0, PERF_SAMPLES_MAX * sizeof(double));
    if (run->test->peer == PERF_PEER_STORES) {
        run->store_at = 0;
        run->store_bytes = run->plan->log_bytes > stride ? run->plan->log_bytes & ~(size_t)63 : stride;
        run->store = keel_arena_alloc(run->store_bytes, run->store_bytes, "stores");
        if (run->store == NULL) {
            return KEEL_ERR_NO_MEMORY;
        }
    }
    return KEEL_OK;
}

static void memory_release(perf_run_t *run)
{
    free(run->source);
    for (unsigned side = 0; side < 2; side++) {
        free(run->samples[side]);
        free(run->times[side]);
        free(run->swaps[side]);
    }
    keel_arena_free(run->store, run->store_bytes);
    free(run->targets);
    run->source = run->store = NULL;
    run->targets = NULL;
}

static keel_status_t overflows_check(perf_run_t *run)
{
    keel_stats_t stats;

    PERF_TRY(keel_stats(run->ctx, &stats, sizeof(stats)));
    if (stats.log_overflows > run->overflows) {
        fprintf(stderr,
                "keel_perftest: %s: a log was full: a smaller --log-bytes, or larger KEEL_OPLOG_SIZE and "
                "KEEL_GETLOG_SIZE\n",
                run->test->name);
        return KEEL_ERR_BUDGET;
    }
    return KEEL_OK;
}

keel_status_t perf_access_run(perf_run_t *run, const perf_test_t *test, perf_result_t *result)
{
    const size_t stride = perf_stride(test);

    run->test = test;
    PERF_TRY(targets_choose(run));
    PERF_TRY(memory_make(run, stride));
    run->offset = (run->initiators > 1) ? run->rank * stride : 0;
    PERF_TRY(keel_win_alloc(run->ctx, stride * run->initiators, NULL, &run->data));
    if (test->peer == PERF_PEER_UCX) {
        PERF_TRY(perf_run_raw_open(run, stride * run->initiators));
    }
    PERF_TRY(perf_check_fill(run));
    PERF_TRY(measure(run, result));
    PERF_TRY(overflows_check(run));
    if (test->peer == PERF_PEER_UCX) {
        PERF_TRY(perf_run_raw_close(run));
    }
    PERF_TRY(keel_win_free(run->data));
    memory_release(run);
    return KEEL_OK;
}
