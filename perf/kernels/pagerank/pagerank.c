/*
 * PageRank on Keel. The graph is in a store, a block for each vertex: every rank submits the
 * blocks of its share once and loads its share of the living ranks, a replacement too. In each
 * iteration every rank gets the other ranks' values, and adds up those of each vertex's sources in
 * the order of the block, so the values have the bits of a serial run whatever the number of
 * ranks.
 */
#include "pagerank_graph.h"
#include "../lib/kernel_ends.h"
#include "../lib/kernel_options.h"
#include "../lib/kernel_outcome.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM "pagerank"

typedef struct {
    uint64_t step;  /* 0: input; then iterations; then the hash */
    double started; /* wall clock, 0: not yet */
} state_t;

typedef struct {
    pagerank_problem_t problem;
    unsigned long iterations, copies;
    int is_unverified;
    kernel_common_t common;
    keel_context_h ctx;
    keel_store_h store; /* the graph */
    keel_win_h win;     /* two slots: parts of the rank's vertices, and the change */
    keel_win_h ends;    /* at rank 0, for each rank: hash of its memory, seconds in the store */
    kernel_living_t living;
    pagerank_graph_t graph; /* own share */
    state_t state;          /* protected */
    double *values;         /* protected: own vertices; behind them the change of all ranks */
    double *all;            /* parts of all vertices */
    double store_s;
} pagerank_t;

static const char help[] =
    "usage: pagerank [options]     under a launcher, on any number of ranks\n"
    "  -s, --vertices N          of all ranks (4096)\n"
    "  -d, --degree N            mean number of edges to a vertex (8)\n"
    "  -n, --iterations N        (30)\n"
    "      --seed N              of the graph (1)\n"
    "      --copies N            of each vertex in the store (4)\n"
    "      --ckpt-every K        explicit checkpoint after every K iterations (none)\n"
    "      --no-verify           without the serial computation at the end\n"
    "  -v, --verbose             a line every tenth of the run\n"
    "      --json, --csv         the last line for scripts\n"
    "      --die RANK@STEP.PHASE that rank kills itself there in its first life (step 0: input; phases 0, 1)\n"
    "  -h, --help                this text\n"
    "exit status 0: the values are those of a serial run, 1: they are not, 2: usage, 3: an error of Keel's\n";

/* Vertices of the largest share, and a word for the change. */
static uint64_t slot_words(const pagerank_t *pagerank)
{
    return kernel_share_at(pagerank->problem.vertices, pagerank->living.count - 1, pagerank->living.count).count + 2;
}

static uint64_t slot_offset(const pagerank_t *pagerank, uint64_t step)
{
    return step % 2 * slot_words(pagerank) * sizeof(double);
}

static uint64_t change_offset(const pagerank_t *pagerank, uint64_t step)
{
    return slot_offset(pagerank, step) + (slot_words(pagerank) - 1) * sizeof(double);
}

static void *own_at(const pagerank_t *pagerank, uint64_t offset)
{
    return (char *)keel_win_base(pagerank->win) + offset;
}

/* ---- input ---- */

/* Draws the rank's share of the graph and submits the share, a block for each vertex. */
static keel_status_t submit_graph(pagerank_t *pagerank)
{
    const kernel_range_t own =
        kernel_share_at(pagerank->problem.vertices, keel_rank(pagerank->ctx), keel_size(pagerank->ctx));
    keel_store_block_t *const blocks = calloc(own.count + 1, sizeof *blocks);
    keel_status_t status = KEEL_ERR_NO_MEMORY;
    pagerank_graph_t graph;
    double begun;
    uint64_t i;

    if ((pagerank_graph_draw(&graph, &pagerank->problem, own) == 0) && (blocks != NULL)) {
        for (i = 0; i < own.count; i++) {
            blocks[i].buffer = graph.words + graph.starts[i];
            blocks[i].bytes = (graph.starts[i + 1] - graph.starts[i]) * sizeof *graph.words;
        }
        begun = kernel_now_s();
        status = keel_store_submitv(pagerank->store, blocks, own.count);
        pagerank->store_s += kernel_now_s() - begun;
    }
    free(blocks);
    pagerank_graph_cleanup(&graph);
    return status;
}

/* Sizes of the blocks of all parts, then the blocks one behind the other. */
static keel_status_t load_parts(const pagerank_t *pagerank, keel_store_part_t *parts, unsigned count,
                                pagerank_graph_t *graph)
{
    uint64_t i, at = 0, *const ends = graph->starts + 1;
    unsigned p;

    for (p = 0; p < count; p++) {
        KERNEL_TRY(keel_store_sizes(pagerank->store, parts[p].rank, parts[p].first, parts[p].count, ends + at));
        at += parts[p].count;
    }
    for (i = 0; i < graph->range.count; i++) {
        ends[i] = graph->starts[i] + ends[i] / sizeof *graph->words;
    }
    graph->words = malloc((graph->starts[graph->range.count] + 1) * sizeof *graph->words);
    if (graph->words == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    for (at = 0, p = 0; p < count; at += parts[p].count, p++) {
        parts[p].buffer = graph->words + graph->starts[at];
    }
    return keel_store_load(pagerank->store, parts, count);
}

/* Own share of the graph, once in each life. */
static keel_status_t load_graph(pagerank_t *pagerank)
{
    const kernel_range_t own = kernel_share_own(pagerank->problem.vertices, &pagerank->living);
    pagerank_graph_t graph = {.range = own, .starts = calloc(own.count + 1, sizeof *graph.starts)};
    const double begun = kernel_now_s();
    keel_status_t status = KEEL_ERR_NO_MEMORY;
    keel_store_part_t *parts;
    unsigned count;

    if (pagerank->graph.words != NULL) {
        free(graph.starts);
        return KEEL_OK;
    }
    count = kernel_share_parts(pagerank->problem.vertices, keel_size(pagerank->ctx), own, &parts);
    if ((parts != NULL) && (graph.starts != NULL)) {
        status = load_parts(pagerank, parts, count, &graph);
    }
    free(parts);
    pagerank->store_s += kernel_now_s() - begun;
    if (status == KEEL_OK) {
        pagerank->graph = graph;
    } else {
        pagerank_graph_cleanup(&graph);
    }
    return status;
}

/* ---- steps ---- */

static keel_status_t step_end(pagerank_t *pagerank, int is_image)
{
    kernel_die_here(&pagerank->common.death, pagerank->ctx, pagerank->state.step, 1);
    pagerank->state.step++; /* an image taken here must continue, not repeat */
    return is_image ? keel_checkpoint(pagerank->ctx) : keel_gsync(pagerank->ctx, KEEL_GSYNC_SAFE);
}

static keel_status_t input(pagerank_t *pagerank)
{
    kernel_die_here(&pagerank->common.death, pagerank->ctx, 0, 0);
    KERNEL_TRY(submit_graph(pagerank));
    KERNEL_TRY(load_graph(pagerank));
    pagerank_begin(&pagerank->problem, &pagerank->graph, pagerank->values, own_at(pagerank, slot_offset(pagerank, 0)));
    return step_end(pagerank, 1); /* no later death asks for the input again */
}

/* Gets the slots of the iteration before from all other ranks, the next rank first. */
static keel_status_t pull(pagerank_t *pagerank)
{
    const kernel_living_t *const living = &pagerank->living;
    const uint64_t offset = slot_offset(pagerank, pagerank->state.step - 1);
    const kernel_range_t own = pagerank->graph.range;
    uint32_t i;

    for (i = 1; i < living->count; i++) {
        const uint32_t place = (living->place + i) % living->count;
        const kernel_range_t range = kernel_share_at(pagerank->problem.vertices, place, living->count);

        if (range.count > 0) {
            KERNEL_TRY(keel_get_nbx(pagerank->win, living->ranks[place], offset, pagerank->all + range.first,
                                    range.count * sizeof(double), NULL, NULL));
        }
    }
    memcpy(pagerank->all + own.first, own_at(pagerank, offset), own.count * sizeof(double));
    return keel_flush_all(pagerank->ctx);
}

/* Sum of the changes of all ranks in the latest iteration. */
static keel_status_t pull_change(const pagerank_t *pagerank, int64_t *change_p)
{
    uint32_t i;

    *change_p = 0;
    for (i = 0; i < pagerank->living.count; i++) {
        int64_t change;

        KERNEL_TRY(keel_get(pagerank->win, pagerank->living.ranks[i], change_offset(pagerank, pagerank->state.step - 1),
                            &change, sizeof change));
        *change_p += change;
    }
    return KEEL_OK;
}

/* Reads the slots that no rank writes in this phase. */
static keel_status_t iterate(pagerank_t *pagerank)
{
    const unsigned long every = pagerank->common.ckpt_every;
    int64_t change;

    KERNEL_TRY(pull(pagerank));
    kernel_die_here(&pagerank->common.death, pagerank->ctx, pagerank->state.step, 0);
    change = pagerank_sweep(&pagerank->problem, &pagerank->graph, pagerank->all, pagerank->values,
                            own_at(pagerank, slot_offset(pagerank, pagerank->state.step)));
    memcpy(own_at(pagerank, change_offset(pagerank, pagerank->state.step)), &change, sizeof change);
    if (pagerank->common.is_verbose && (keel_rank(pagerank->ctx) == 0) &&
        (pagerank->state.step % (pagerank->iterations / 10 + 1) == 0)) {
        printf(PROGRAM ": %8.3f s  iteration %lu of %lu\n", kernel_now_s() - pagerank->state.started,
               (unsigned long)pagerank->state.step, pagerank->iterations);
        fflush(stdout);
    }
    return step_end(pagerank, (every != 0) && (pagerank->state.step % every == 0));
}

static uint64_t hash_of(const double *values, uint64_t count, int64_t change)
{
    return kernel_hash(kernel_hash(KERNEL_HASH_START, values, count * sizeof *values), &change, sizeof change);
}

/* Last step: sends rank 0 a hash of the values and of the change, and the time in the store. */
static keel_status_t end(pagerank_t *pagerank)
{
    const uint64_t own = pagerank->graph.range.count;
    int64_t change;
    uint64_t hash;

    KERNEL_TRY(pull_change(pagerank, &change));
    memcpy(pagerank->values + own, &change, sizeof change);
    kernel_spoil(pagerank->values, (own + 1) * sizeof *pagerank->values);
    memcpy(&change, pagerank->values + own, sizeof change);
    hash = hash_of(pagerank->values, own, change);
    KERNEL_TRY(kernel_ends_put(pagerank->ctx, pagerank->ends, hash, pagerank->store_s));
    return step_end(pagerank, 0);
}

/* ---- the end ---- */

/* Compares the hash of each rank with the hash of the same vertices in a serial run. */
static int is_serial(const pagerank_t *pagerank)
{
    const kernel_living_t *const living = &pagerank->living;
    const uint64_t *const hashes = keel_win_base(pagerank->ends);
    double *const serial = calloc(pagerank->problem.vertices, sizeof *serial);
    int64_t change = 0;
    int is_right =
        (serial != NULL) && (pagerank_serial(&pagerank->problem, pagerank->iterations, serial, &change) == 0);
    uint32_t i;

    for (i = 0; is_right && (i < living->count); i++) {
        const kernel_range_t range = kernel_share_at(pagerank->problem.vertices, i, living->count);

        is_right = hashes[living->ranks[i]] == hash_of(serial + range.first, range.count, change);
    }
    free(serial);
    return is_right;
}

static void judge(pagerank_t *pagerank, kernel_outcome_t *outcome)
{
    outcome->hash = kernel_ends_hash(pagerank->ctx, pagerank->ends);
    keel_stats(pagerank->ctx, &outcome->stats, sizeof(outcome->stats));
    outcome->is_verified = !pagerank->is_unverified;
    outcome->is_right = !outcome->is_verified || is_serial(pagerank);
}

static void print(const pagerank_t *pagerank, const kernel_outcome_t *outcome, double store_s)
{
    char text[32];
    int64_t change;
    const kernel_field_t fields[] = {
        {"vertices", NULL, (double)pagerank->problem.vertices},
        {"degree", NULL, (double)pagerank->problem.degree},
        {"iterations", NULL, (double)pagerank->iterations},
        {"change", text, 0},
        {"store_seconds", NULL, store_s},
        {"store_percent", NULL, 100 * store_s / outcome->seconds},
    };

    memcpy(&change, pagerank->values + pagerank->graph.range.count, sizeof change);
    snprintf(text, sizeof text, "%.6e", (double)change * 0x1p-60);
    kernel_print_outcome(outcome, pagerank->common.format, fields, sizeof fields / sizeof *fields);
}

/* ---- life ---- */

/* Opens the store, windows and protected memory, equal in every life. */
static keel_status_t open_memory(pagerank_t *pagerank)
{
    const uint32_t size = keel_size(pagerank->ctx);
    const uint64_t words = slot_words(pagerank), block = pagerank_words_max(&pagerank->problem) * sizeof(uint32_t);
    const keel_store_params_t params = {
        .field_mask = KEEL_STORE_PARAM_FIELD_BYTES | KEEL_STORE_PARAM_FIELD_NAME | KEEL_STORE_PARAM_FIELD_COPIES |
                      KEEL_STORE_PARAM_FIELD_BLOCK_BYTES | KEEL_STORE_PARAM_FIELD_FLAGS,
        .bytes = words * (block + sizeof(uint64_t)) + sizeof(uint64_t),
        .name = "graph",
        .copies = (uint32_t)((pagerank->copies < size) ? pagerank->copies : size),
        .block_bytes = 0,
        .flags = KEEL_STORE_FLAG_STATIC,
    };

    KERNEL_TRY(keel_store_create(pagerank->ctx, &params, &pagerank->store));
    KERNEL_TRY(keel_win_alloc(pagerank->ctx, 2 * words * sizeof(double), NULL, &pagerank->win));
    KERNEL_TRY(kernel_ends_alloc(pagerank->ctx, &pagerank->ends));
    KERNEL_TRY(keel_protect(pagerank->ctx, 0, &pagerank->state, sizeof pagerank->state));
    return keel_protect(pagerank->ctx, 1, pagerank->values, words * sizeof *pagerank->values);
}

/* Runs the remaining steps and the end. Called again after a rollback. */
static keel_status_t run(pagerank_t *pagerank, kernel_outcome_t *outcome)
{
    double store_s = 0;

    if (keel_restarted(pagerank->ctx)) {
        KERNEL_TRY(keel_restore(pagerank->ctx));
    }
    KERNEL_TRY(kernel_clock_start(pagerank->ctx, &pagerank->state.started));
    if (pagerank->state.step == 0) {
        KERNEL_TRY(input(pagerank));
    }
    KERNEL_TRY(load_graph(pagerank));
    while (pagerank->state.step <= pagerank->iterations) {
        KERNEL_TRY(iterate(pagerank));
    }
    if (pagerank->state.step == pagerank->iterations + 1) {
        KERNEL_TRY(end(pagerank));
    }
    outcome->seconds = kernel_clock_stop() - pagerank->state.started;
    if (keel_rank(pagerank->ctx) == 0) {
        judge(pagerank, outcome);
        store_s = kernel_ends_store_s(pagerank->ctx, pagerank->ends);
    }
    KERNEL_TRY(keel_finalize(pagerank->ctx));
    if (pagerank->living.place == 0) {
        print(pagerank, outcome, store_s);
    }
    return KEEL_OK;
}

static int parse(int argc, char **argv, pagerank_t *pagerank)
{
    pagerank_problem_t *const problem = &pagerank->problem;
    const kernel_option_t own[] = {
        {.name = "vertices", .letter = 's', .number_p = &problem->vertices, .min = 1},
        {.name = "degree", .letter = 'd', .number_p = &problem->degree, .min = 1},
        {.name = "iterations", .letter = 'n', .number_p = &pagerank->iterations, .min = 1},
        {.name = "seed", .number_p = &problem->seed, .min = 0},
        {.name = "copies", .number_p = &pagerank->copies, .min = 1},
        {.name = "no-verify", .flag_p = &pagerank->is_unverified},
    };
    const int exit_status =
        kernel_options_parse(PROGRAM, help, argc, argv, own, sizeof own / sizeof *own, &pagerank->common);

    if (exit_status >= 0) {
        return exit_status;
    }
    if ((problem->vertices > UINT32_MAX) || (problem->degree > UINT16_MAX)) {
        return kernel_usage_error(PROGRAM, "more than 2^32 - 1 vertices or a degree above 65535");
    }
    return -1;
}

int main(int argc, char **argv)
{
    static pagerank_t pagerank = {.problem = {.vertices = 4096, .degree = 8, .seed = 1}, .iterations = 30, .copies = 4};
    kernel_outcome_t outcome = {.kernel = PROGRAM, .is_right = 1};
    keel_status_t status;
    const int exit_status = parse(argc, argv, &pagerank);

    if (exit_status >= 0) {
        return exit_status;
    }
    status = keel_init(NULL, &pagerank.ctx);
    if (status != KEEL_OK) {
        return kernel_keel_error(PROGRAM, "keel_init", status);
    }
    outcome.ranks = keel_size(pagerank.ctx);
    pagerank.all = malloc(pagerank.problem.vertices * sizeof *pagerank.all);
    if ((kernel_living_init(&pagerank.living, pagerank.ctx) != 0) || (pagerank.all == NULL)) {
        return kernel_keel_error(PROGRAM, "memory of the kernel", KEEL_ERR_NO_MEMORY);
    }
    kernel_touch(pagerank.all, pagerank.problem.vertices * sizeof *pagerank.all);
    pagerank.values = calloc(slot_words(&pagerank), sizeof *pagerank.values);
    if (pagerank.values == NULL) {
        return kernel_keel_error(PROGRAM, "memory of the kernel", KEEL_ERR_NO_MEMORY);
    }
    status = open_memory(&pagerank);
    if (status == KEEL_OK) {
        do {
            status = run(&pagerank, &outcome);
        } while (status == KEEL_ERR_ROLLED_BACK);
    }
    if (status != KEEL_OK) {
        return kernel_keel_error(PROGRAM, "run", status);
    }
    kernel_living_cleanup(&pagerank.living);
    pagerank_graph_cleanup(&pagerank.graph);
    free(pagerank.values);
    free(pagerank.all);
    return outcome.is_right ? KERNEL_EXIT_OK : KERNEL_EXIT_WRONG;
}
