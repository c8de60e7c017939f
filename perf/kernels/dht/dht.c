/*
 * The key-value store of [F 7.2.2]: every rank inserts random elements into a hash table over all
 * ranks and thinks after each insert, so long that inserts take a twentieth of the time. With
 * --closed there is no think time. Racing inserts end in a different order in every run: the
 * program declares itself not access deterministic, and a death is a rollback. The elements of each
 * rank are the same in every run, and each must be found exactly once, in the right place.
 */
#include "dht_think.h"
#include "dht_volume.h"
#include "../lib/kernel_options.h"
#include "../lib/kernel_outcome.h"

#include <string.h>
#include <time.h>

#define PROGRAM      "dht"
#define SHARE_WANTED 0.05 /* share of the time for inserts */

enum { LATEST = 64 }; /* inserts that determine the think time */

typedef struct {
    uint64_t step;    /* batches of inserts, then the count */
    double started;   /* wall clock; 0: not yet */
    double inserting; /* seconds so far; the time of a lost life is lost */
    double thinking;  /* seconds so far, like inserting */
} state_t;

typedef struct {
    unsigned long inserts, batch, slots, cells, think_ns;
    int is_closed;
    kernel_common_t common;
    dht_t dht;
    keel_win_h results; /* at rank 0: dht_count_t of each rank */
    state_t state;      /* protected */
    double think_s;     /* mean */
    double insert_s;    /* decaying mean over the latest inserts of this life */
} job_t;

static const char help[] =
    "usage: dht [options]        under a launcher, on any number of ranks\n"
    "  -n, --inserts N           of each rank (20000)\n"
    "      --batch N             inserts between two gsyncs (1000)\n"
    "      --slots N             of the table at each rank (16384)\n"
    "      --cells N             of the overflow heap at each rank (twice as many as inserts)\n"
    "      --think-ns MEAN       time after each insert (so that inserts take 5 % of the time)\n"
    "      --closed              without it\n"
    "      --ckpt-every K        explicit checkpoint every K batches (none)\n"
    "  -v, --verbose             ignored\n"
    "      --json, --csv         the last line for scripts\n"
    "      --die RANK@STEP.PHASE that rank kills itself in its first life: amid batch STEP (phase 0), after it (1)\n"
    "  -h, --help                this text\n"
    "protection is chosen by KEEL_PROTECT=none|ckpt|puts|all; exit status 0: every element is there once, 1: not so,\n"
    "2: usage, 3: an error of Keel's\n";

static uint64_t batches(const job_t *job)
{
    return (job->inserts + job->batch - 1) / job->batch;
}

static double steady_now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Thinks busily, like a computing program. */
static void think(const job_t *job, uint64_t index)
{
    const double until = steady_now_s() + job->think_s * dht_think(dht_element(~index));

    while (steady_now_s() < until) {
    }
}

/*
 * Sets the think time from the latest inserts unless given on the command line: first inserts take
 * longer, in new memory.
 */
static void set_think_time(job_t *job, double insert_s)
{
    if (job->is_closed || job->think_ns != 0) {
        return;
    }
    job->insert_s += (insert_s - job->insert_s) / LATEST; /* starts from 0: each time counts once */
    job->think_s = job->insert_s * (1 - SHARE_WANTED) / SHARE_WANTED;
}

static keel_status_t insert_batch(job_t *job)
{
    const uint64_t first = job->state.step * job->batch;
    const uint64_t count = (job->inserts - first < job->batch) ? job->inserts - first : job->batch;
    const uint64_t own = (uint64_t)keel_rank(job->dht.ctx) * job->inserts;
    double spent_s = 0, thought_s = 0, begun, inserted_s;
    uint64_t i;

    for (i = 0; i < count; i++) {
        if (i == count / 2) {
            kernel_die_here(&job->common.death, job->dht.ctx, job->state.step, 0);
        }
        begun = steady_now_s();
        KERNEL_TRY(dht_insert(&job->dht, dht_element(own + first + i)));
        inserted_s = steady_now_s() - begun;
        spent_s += inserted_s;
        set_think_time(job, inserted_s);
        if (job->think_s > 0) {
            begun = steady_now_s();
            think(job, own + first + i);
            thought_s += steady_now_s() - begun;
        }
    }
    job->state.inserting += spent_s;
    job->state.thinking += thought_s;
    return KEEL_OK;
}

static keel_status_t count_volume(job_t *job)
{
    dht_count_t count;

    if (keel_rank(job->dht.ctx) + 1 == job->dht.ranks) {
        kernel_spoil(keel_win_base(job->dht.win), dht_volume_bytes(&job->dht));
    }
    KERNEL_TRY(dht_count(&job->dht, job->inserts * job->dht.ranks, &count));
    return keel_put(job->results, 0, keel_rank(job->dht.ctx) * sizeof count, &count, sizeof count);
}

static keel_status_t do_step(job_t *job)
{
    const int is_last = (job->state.step == batches(job));

    KERNEL_TRY(is_last ? count_volume(job) : insert_batch(job));
    kernel_die_here(&job->common.death, job->dht.ctx, job->state.step, 1);
    job->state.step++; /* an image taken here must continue, not repeat */
    if (!is_last && (job->common.ckpt_every != 0) && (job->state.step % job->common.ckpt_every == 0)) {
        return keel_checkpoint(job->dht.ctx);
    }
    return keel_gsync(job->dht.ctx, KEEL_GSYNC_SAFE);
}

static void judge(const job_t *job, kernel_outcome_t *outcome, dht_count_t *all)
{
    const dht_count_t *counts = keel_win_base(job->results);
    uint32_t rank;

    *all = (dht_count_t){0};
    outcome->hash = KERNEL_HASH_START;
    for (rank = 0; rank < outcome->ranks; rank++) {
        all->elements += counts[rank].elements;
        all->collisions += counts[rank].collisions;
        all->wrong += counts[rank].wrong;
        outcome->hash = kernel_hash(outcome->hash, &counts[rank], sizeof counts[rank]);
    }
    outcome->last = (kernel_field_t){"communication_percent", NULL,
                                     100 * job->state.inserting / (job->state.inserting + job->state.thinking)};
    outcome->is_verified = 1;
    outcome->is_right = (all->wrong == 0) && (all->elements == job->inserts * outcome->ranks);
    keel_stats(job->dht.ctx, &outcome->stats, sizeof(outcome->stats));
}

static void print(const job_t *job, const kernel_outcome_t *outcome, const dht_count_t *all)
{
    const kernel_field_t fields[] = {
        {"inserts", NULL, (double)all->elements},
        {"collisions", NULL, (double)all->collisions},
        {"wrong", NULL, (double)all->wrong},
        {"insert_us", NULL, 1e6 * job->state.inserting / (double)job->inserts},
        {"think_us", NULL, 1e6 * job->state.thinking / (double)job->inserts},
    };

    kernel_print_outcome(outcome, job->common.format, fields, sizeof fields / sizeof *fields);
}

/* Opens windows and protected memory, equal in every life. */
static keel_status_t open_memory(job_t *job)
{
    const size_t bytes = (keel_rank(job->dht.ctx) == 0) ? job->dht.ranks * sizeof(dht_count_t) : 0;

    KERNEL_TRY(keel_win_alloc(job->dht.ctx, dht_volume_bytes(&job->dht), NULL, &job->dht.win));
    KERNEL_TRY(keel_win_alloc(job->dht.ctx, bytes, NULL, &job->results));
    return keel_protect(job->dht.ctx, 0, &job->state, sizeof job->state);
}

/* Runs the remaining steps and the end. Called again after a rollback. */
static keel_status_t run(job_t *job, kernel_outcome_t *outcome, dht_count_t *all)
{
    if (keel_restarted(job->dht.ctx)) {
        KERNEL_TRY(keel_restore(job->dht.ctx));
    }
    KERNEL_TRY(kernel_clock_start(job->dht.ctx, &job->state.started));
    while (job->state.step <= batches(job)) {
        KERNEL_TRY(do_step(job));
    }
    outcome->seconds = kernel_clock_stop() - job->state.started;
    if (keel_rank(job->dht.ctx) == 0) {
        judge(job, outcome, all);
    }
    return keel_finalize(job->dht.ctx);
}

static int parse(int argc, char **argv, job_t *job)
{
    const kernel_option_t own[] = {
        {.name = "inserts", .letter = 'n', .number_p = &job->inserts, .min = 1},
        {.name = "batch", .number_p = &job->batch, .min = 1},
        {.name = "slots", .number_p = &job->slots, .min = 1},
        {.name = "cells", .number_p = &job->cells, .min = 1},
        {.name = "think-ns", .number_p = &job->think_ns, .min = 1},
        {.name = "closed", .flag_p = &job->is_closed},
    };
    const int exit_status =
        kernel_options_parse(PROGRAM, help, argc, argv, own, sizeof own / sizeof *own, &job->common);

    job->dht.slots = job->slots;
    job->dht.cells = 1 + ((job->cells != 0) ? job->cells : 2 * job->inserts);
    job->think_s = 1e-9 * (double)job->think_ns;
    return exit_status;
}

int main(int argc, char **argv)
{
    const keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_FLAGS, .flags = KEEL_PARAM_FLAG_NONDETERMINISTIC};
    job_t job = {.inserts = 20000, .batch = 1000, .slots = 16384};
    kernel_outcome_t outcome = {.kernel = PROGRAM, .is_right = 1};
    dht_count_t all = {0};
    keel_status_t status;
    uint32_t rank;
    int exit_status;

    exit_status = parse(argc, argv, &job);
    if (exit_status >= 0) {
        return exit_status;
    }
    status = keel_init(&params, &job.dht.ctx);
    if (status != KEEL_OK) {
        return kernel_keel_error(PROGRAM, "keel_init", status);
    }
    rank = keel_rank(job.dht.ctx);
    outcome.ranks = job.dht.ranks = keel_size(job.dht.ctx);
    status = open_memory(&job);
    if (status == KEEL_OK) {
        do {
            status = run(&job, &outcome, &all);
        } while (status == KEEL_ERR_ROLLED_BACK);
    }
    if (status != KEEL_OK) {
        return kernel_keel_error(PROGRAM, (status == KEEL_ERR_RANGE) ? "a heap is full, see --cells" : "run", status);
    }
    if (rank == 0) {
        print(&job, &outcome, &all);
    }
    return outcome.is_right ? KERNEL_EXIT_OK : KERNEL_EXIT_WRONG;
}
