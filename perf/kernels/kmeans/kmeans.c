/*
 * k-means (Lloyd's algorithm) on Keel. The points are in a store: every rank submits its share
 * once and loads its share of the living ranks, a replacement too. In each iteration every rank
 * adds its points to integer sums, and puts the sums to all ranks. All ranks add up the same sums,
 * so the centres have the bits of a serial run whatever the number of ranks.
 */
#include "kmeans_points.h"
#include "../lib/kernel_ends.h"
#include "../lib/kernel_options.h"
#include "../lib/kernel_outcome.h"
#include "../lib/kernel_share.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM "kmeans"

typedef struct {
    uint64_t step;  /* 0: input; then iterations; then the hash */
    double started; /* wall clock, 0: not yet */
} state_t;

typedef struct {
    kmeans_problem_t problem;
    unsigned long iterations, copies;
    int is_unverified;
    kernel_common_t common;
    keel_context_h ctx;
    keel_store_h store; /* the points */
    keel_win_h win;     /* sums of each rank, for iterations of even and odd number */
    keel_win_h ends;    /* at rank 0, for each rank: hash of its memory, seconds in the store */
    kernel_living_t living;
    state_t state;   /* protected */
    double *centres; /* protected: those of the latest iteration */
    double *points;  /* own share */
    int has_points;
    int64_t *sums;     /* own, sent until the next gsync; behind them those of all ranks */
    uint64_t executed; /* steps done by this process */
    uint32_t rank, incarnation;
    double store_s, calls_s; /* in calls of the store, and in puts and gsyncs */
} kmeans_t;

static const char help[] =
    "usage: kmeans [options]       under a launcher, on any number of ranks\n"
    "  -s, --points N            of all ranks (16384)\n"
    "  -d, --dimensions N        1 to 256 (8)\n"
    "  -k, --centres N           1 to 256 (8)\n"
    "  -n, --iterations N        (50)\n"
    "      --seed N              of the points (1)\n"
    "      --copies N            of each point in the store (4)\n"
    "      --ckpt-every K        explicit checkpoint after every K iterations (none)\n"
    "      --no-verify           without the serial computation at the end\n"
    "  -v, --verbose             a line every tenth of the run\n"
    "      --json, --csv         the last line for scripts\n"
    "      --die RANK@STEP.PHASE that rank kills itself there in its first life (step 0: input; phases 0, 1)\n"
    "  -h, --help                this text\n"
    "exit status 0: the centres are those of a serial run, 1: they are not, 2: usage, 3: an error of Keel's\n";

static size_t sum_bytes(const kmeans_t *kmeans)
{
    return kmeans_sum_words(&kmeans->problem) * sizeof(int64_t);
}

static size_t point_bytes(const kmeans_t *kmeans)
{
    return kmeans->problem.dimensions * sizeof(double);
}

static uint64_t slot_offset(const kmeans_t *kmeans, uint64_t step, uint32_t rank)
{
    return (step % 2 * keel_size(kmeans->ctx) + rank) * sum_bytes(kmeans);
}

/* ---- input ---- */

static keel_status_t load_points(kmeans_t *kmeans, kernel_range_t range, double *points)
{
    return kernel_share_load(kmeans->store, kmeans->problem.points, keel_size(kmeans->ctx), range, point_bytes(kmeans),
                             points, &kmeans->store_s);
}

/* Draws the rank's share of the input and submits the share. */
static keel_status_t submit_points(kmeans_t *kmeans)
{
    const kernel_range_t own = kernel_share_at(kmeans->problem.points, keel_rank(kmeans->ctx), keel_size(kmeans->ctx));
    double *const points = malloc(own.count * point_bytes(kmeans) + 1);
    keel_status_t status = KEEL_ERR_NO_MEMORY;
    double begun;
    uint64_t i;

    for (i = 0; (points != NULL) && (i < own.count); i++) {
        kmeans_point(&kmeans->problem, own.first + i, points + i * kmeans->problem.dimensions);
    }
    if (points != NULL) {
        begun = kernel_now_s();
        status = keel_store_submit(kmeans->store, points, own.count);
        kmeans->store_s += kernel_now_s() - begun;
    }
    free(points);
    return status;
}

/* Own share of the points; the centres start at points that are anywhere. */
static keel_status_t begin_share(kmeans_t *kmeans)
{
    const kernel_range_t own = kernel_share_own(kmeans->problem.points, &kmeans->living);
    unsigned long c;

    if (!kmeans->has_points) {
        KERNEL_TRY(load_points(kmeans, own, kmeans->points));
        kmeans->has_points = 1;
    }
    for (c = 0; (kmeans->state.step == 1) && (c < kmeans->problem.centres); c++) {
        const kernel_range_t one = {kmeans_start(&kmeans->problem, c), 1};

        KERNEL_TRY(load_points(kmeans, one, kmeans->centres + c * kmeans->problem.dimensions));
    }
    return KEEL_OK;
}

/* ---- steps ---- */

static keel_status_t step_end(kmeans_t *kmeans, int is_image)
{
    kernel_die_here(&kmeans->common.death, kmeans->ctx, kmeans->state.step, 1);
    kmeans->executed++;
    kmeans->state.step++; /* an image taken here must continue, not repeat */
    return is_image ? keel_checkpoint(kmeans->ctx) : keel_gsync(kmeans->ctx, KEEL_GSYNC_SAFE);
}

/* Adds up the sums of the iteration before and moves the centres. */
static void move_centres(kmeans_t *kmeans, double *error_p)
{
    const size_t words = kmeans_sum_words(&kmeans->problem);
    int64_t *const all = kmeans->sums + words;
    uint32_t i;
    size_t w;

    memset(all, 0, sum_bytes(kmeans));
    for (i = 0; i < kmeans->living.count; i++) {
        const char *base = keel_win_base(kmeans->win);
        const uint64_t at = slot_offset(kmeans, kmeans->state.step - 1, kmeans->living.ranks[i]);
        const int64_t *const share = (const int64_t *)(const void *)(base + at);

        for (w = 0; w < words; w++) {
            all[w] += share[w];
        }
    }
    if (kmeans->state.step > kmeans->iterations) {
        kernel_spoil(all, sum_bytes(kmeans) - sizeof(int64_t)); /* without the error */
    }
    kmeans_move(&kmeans->problem, all, kmeans->centres);
    *error_p = kmeans_error(&kmeans->problem, all);
}

/* The sums go to the slot that no rank reads in this phase. */
static keel_status_t iterate(kmeans_t *kmeans)
{
    const unsigned long every = kmeans->common.ckpt_every;
    const kernel_range_t own = kernel_share_own(kmeans->problem.points, &kmeans->living);
    const uint64_t offset = slot_offset(kmeans, kmeans->state.step, keel_rank(kmeans->ctx));
    double error = 0, begun;
    keel_status_t status;
    uint32_t i;

    if (kmeans->state.step > 1) {
        move_centres(kmeans, &error);
    }
    kernel_die_here(&kmeans->common.death, kmeans->ctx, kmeans->state.step, 0);
    memset(kmeans->sums, 0, sum_bytes(kmeans));
    kmeans_add(&kmeans->problem, kmeans->points, own.count, kmeans->centres, kmeans->sums);
    begun = kernel_now_s();
    for (i = 1; i <= kmeans->living.count; i++) { /* different ranks start at different targets */
        const uint32_t target = kmeans->living.ranks[(kmeans->living.place + i) % kmeans->living.count];

        KERNEL_TRY(keel_put_nbx(kmeans->win, target, offset, kmeans->sums, sum_bytes(kmeans), NULL, NULL));
    }
    kmeans->calls_s += kernel_now_s() - begun;
    if (kmeans->common.is_verbose && (keel_rank(kmeans->ctx) == 0) &&
        (kmeans->state.step % (kmeans->iterations / 10 + 1) == 0)) {
        printf(PROGRAM ": %8.3f s  iteration %lu of %lu  error before %.6e\n", kernel_now_s() - kmeans->state.started,
               (unsigned long)kmeans->state.step, kmeans->iterations, error);
        fflush(stdout);
    }
    begun = kernel_now_s();
    status = step_end(kmeans, (every != 0) && (kmeans->state.step % every == 0));
    kmeans->calls_s += kernel_now_s() - begun;
    return status;
}

/* Last step: sends rank 0 a hash of the centres, and the time in the store. */
static keel_status_t end(kmeans_t *kmeans, double *error_p)
{
    const size_t bytes = kmeans->problem.centres * point_bytes(kmeans);
    uint64_t hash;

    move_centres(kmeans, error_p);
    hash = kernel_hash(KERNEL_HASH_START, &kmeans->state.step, sizeof kmeans->state.step);
    hash = kernel_hash(hash, kmeans->centres, bytes);
    KERNEL_TRY(kernel_ends_put(kmeans->ctx, kmeans->ends, hash, kmeans->store_s));
    return step_end(kmeans, 0);
}

/* ---- the end ---- */

static void judge(const kmeans_t *kmeans, kernel_outcome_t *outcome)
{
    const size_t bytes = kmeans->problem.centres * point_bytes(kmeans);
    double *const serial = malloc(bytes);

    outcome->hash = kernel_ends_hash(kmeans->ctx, kmeans->ends);
    keel_stats(kmeans->ctx, &outcome->stats, sizeof(outcome->stats));
    outcome->is_verified = !kmeans->is_unverified;
    if (outcome->is_verified) {
        outcome->is_right = (serial != NULL) && (kmeans_serial(&kmeans->problem, kmeans->iterations, serial) == 0) &&
                            (memcmp(serial, kmeans->centres, bytes) == 0);
    }
    free(serial);
}

static void print(const kmeans_t *kmeans, const kernel_outcome_t *outcome, double store_s, double error)
{
    const kernel_field_t fields[] = {
        {"points", NULL, (double)kmeans->problem.points},
        {"dimensions", NULL, (double)kmeans->problem.dimensions},
        {"centres", NULL, (double)kmeans->problem.centres},
        {"iterations", NULL, (double)kmeans->iterations},
        {"error", NULL, error},
        {"store_seconds", NULL, store_s},
        {"store_percent", NULL, 100 * store_s / outcome->seconds},
        {"call_seconds", NULL, kmeans->calls_s},
    };

    kernel_print_outcome(outcome, kmeans->common.format, fields, sizeof fields / sizeof *fields);
}

/* ---- life ---- */

static int scratch_init(kmeans_t *kmeans)
{
    const size_t bytes = kernel_share_own(kmeans->problem.points, &kmeans->living).count * point_bytes(kmeans);

    kmeans->rank = keel_rank(kmeans->ctx);
    kmeans->incarnation = keel_incarnation(kmeans->ctx);
    kmeans->points = malloc(bytes + 1);
    kmeans->sums = calloc(2, sum_bytes(kmeans));
    kmeans->centres = calloc(kmeans->problem.centres, point_bytes(kmeans));
    if ((kmeans->points == NULL) || (kmeans->sums == NULL) || (kmeans->centres == NULL)) {
        return -1;
    }
    kernel_touch(kmeans->points, bytes);
    return 0;
}

/* Opens the store, windows and protected memory, equal in every life. */
static keel_status_t open_memory(kmeans_t *kmeans)
{
    const uint32_t size = keel_size(kmeans->ctx);
    const kernel_range_t most = kernel_share_at(kmeans->problem.points, size - 1, size);
    const keel_store_params_t params = {
        .field_mask = KEEL_STORE_PARAM_FIELD_BYTES | KEEL_STORE_PARAM_FIELD_NAME | KEEL_STORE_PARAM_FIELD_COPIES |
                      KEEL_STORE_PARAM_FIELD_BLOCK_BYTES | KEEL_STORE_PARAM_FIELD_FLAGS,
        .bytes = (most.count + 1) * point_bytes(kmeans),
        .name = "points",
        .copies = (uint32_t)((kmeans->copies < size) ? kmeans->copies : size),
        .block_bytes = point_bytes(kmeans),
        .flags = KEEL_STORE_FLAG_STATIC,
    };

    KERNEL_TRY(keel_store_create(kmeans->ctx, &params, &kmeans->store));
    KERNEL_TRY(keel_win_alloc(kmeans->ctx, 2 * size * sum_bytes(kmeans), NULL, &kmeans->win));
    KERNEL_TRY(kernel_ends_alloc(kmeans->ctx, &kmeans->ends));
    KERNEL_TRY(keel_protect(kmeans->ctx, 0, &kmeans->state, sizeof kmeans->state));
    return keel_protect(kmeans->ctx, 1, kmeans->centres, kmeans->problem.centres * point_bytes(kmeans));
}

/* Runs the remaining steps and the end. Called again after a rollback. */
static keel_status_t run(kmeans_t *kmeans, kernel_outcome_t *outcome)
{
    double error = 0, store_s = 0;

    if (keel_restarted(kmeans->ctx)) {
        KERNEL_TRY(keel_restore(kmeans->ctx));
    }
    KERNEL_TRY(kernel_clock_start(kmeans->ctx, &kmeans->state.started));
    if (kmeans->state.step == 0) {
        kernel_die_here(&kmeans->common.death, kmeans->ctx, 0, 0);
        KERNEL_TRY(submit_points(kmeans));
        KERNEL_TRY(step_end(kmeans, 1)); /* no later death asks for the input again */
    }
    KERNEL_TRY(begin_share(kmeans));
    while (kmeans->state.step <= kmeans->iterations) {
        KERNEL_TRY(iterate(kmeans));
    }
    if (kmeans->state.step == kmeans->iterations + 1) {
        KERNEL_TRY(end(kmeans, &error));
    }
    outcome->seconds = kernel_clock_stop() - kmeans->state.started;
    if (keel_rank(kmeans->ctx) == 0) {
        judge(kmeans, outcome);
        store_s = kernel_ends_store_s(kmeans->ctx, kmeans->ends);
    }
    KERNEL_TRY(keel_finalize(kmeans->ctx));
    if (kmeans->living.place == 0) {
        print(kmeans, outcome, store_s, error);
    }
    return KEEL_OK;
}

static int parse(int argc, char **argv, kmeans_t *kmeans)
{
    kmeans_problem_t *const problem = &kmeans->problem;
    const kernel_option_t own[] = {
        {.name = "points", .letter = 's', .number_p = &problem->points, .min = 1},
        {.name = "dimensions", .letter = 'd', .number_p = &problem->dimensions, .min = 1},
        {.name = "centres", .letter = 'k', .number_p = &problem->centres, .min = 1},
        {.name = "iterations", .letter = 'n', .number_p = &kmeans->iterations, .min = 1},
        {.name = "seed", .number_p = &problem->seed, .min = 0},
        {.name = "copies", .number_p = &kmeans->copies, .min = 1},
        {.name = "no-verify", .flag_p = &kmeans->is_unverified},
    };
    const int exit_status =
        kernel_options_parse(PROGRAM, help, argc, argv, own, sizeof own / sizeof *own, &kmeans->common);

    if (exit_status >= 0) {
        return exit_status;
    }
    if ((problem->dimensions > KMEANS_DIMENSIONS_MAX) || (problem->centres > KMEANS_CENTRES_MAX)) {
        return kernel_usage_error(PROGRAM, "more than %d dimensions or %d centres", KMEANS_DIMENSIONS_MAX,
                                  KMEANS_CENTRES_MAX);
    }
    if (problem->points < problem->centres) {
        return kernel_usage_error(PROGRAM, "fewer points than centres");
    }
    return -1;
}

int main(int argc, char **argv)
{
    static kmeans_t kmeans = {
        .problem = {.points = 16384, .dimensions = 8, .centres = 8, .seed = 1}, .iterations = 50, .copies = 4};
    kernel_outcome_t outcome = {.kernel = PROGRAM, .is_right = 1};
    keel_status_t status;
    const int exit_status = parse(argc, argv, &kmeans);

    if (exit_status >= 0) {
        return exit_status;
    }
    status = keel_init(NULL, &kmeans.ctx);
    if (status != KEEL_OK) {
        return kernel_keel_error(PROGRAM, "keel_init", status);
    }
    outcome.ranks = keel_size(kmeans.ctx);
    if ((kernel_living_init(&kmeans.living, kmeans.ctx) != 0) || (scratch_init(&kmeans) != 0)) {
        return kernel_keel_error(PROGRAM, "memory of the kernel", KEEL_ERR_NO_MEMORY);
    }
    status = open_memory(&kmeans);
    if (status == KEEL_OK) {
        do {
            status = run(&kmeans, &outcome);
        } while (status == KEEL_ERR_ROLLED_BACK);
    }
    if (status != KEEL_OK) {
        return kernel_keel_error(PROGRAM, "run", status);
    }
    kernel_report_repeated(&kmeans.common.death, kmeans.rank, kmeans.incarnation, kmeans.state.step, kmeans.executed);
    kernel_living_cleanup(&kmeans.living);
    free(kmeans.points);
    free(kmeans.sums);
    free(kmeans.centres);
    return outcome.is_right ? KERNEL_EXIT_OK : KERNEL_EXIT_WRONG;
}
