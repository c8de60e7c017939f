/*
 * A 2D five-point Jacobi iteration with both logs: halo rows are put, halo columns are got. With
 * --atomics the change of each sweep is added up at rank 0. Then a death is a rollback if the
 * effect of the dead rank's last atomic is unknown: between the atomic and the gsync, if rank 0 is
 * on the dead rank's node, or is the dead rank itself and fetched the old value. The result is
 * compared bit by bit with a serial computation.
 */
#include "stencil_grid.h"
#include "stencil_options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const stencil_options_t *options;
    keel_context_h ctx;
    stencil_part_t part;
    uint64_t step;     /* protected: 0 start values, then the sweeps, then the result to rank 0 */
    double started;    /* protected: wall clock; 0: not yet */
    keel_win_h fields; /* two fields, see stencil_fill(): sweep k reads number k % 2 */
    keel_win_h edges;  /* own left and right column, packed for the neighbours to get */
    /* at rank 0: the whole inside, the change of each sweep, a hash of each rank's memory */
    keel_win_h results;
    double *columns_got; /* scratch: columns got from left and right */
} stencil_t;

enum { SIDE_LEFT, SIDE_RIGHT, SIDE_COUNT };

static size_t field_cells(const stencil_part_t *part)
{
    return (part->height + 2) * (part->width + 2);
}

static double *own_field(const stencil_t *stencil, uint64_t parity)
{
    return (double *)keel_win_base(stencil->fields) + (parity % 2) * field_cells(&stencil->part);
}

static size_t change_offset(const stencil_t *stencil)
{
    return stencil->part.rows * stencil->part.columns * sizeof(double);
}

static size_t hash_offset(const stencil_t *stencil)
{
    return change_offset(stencil) + stencil->options->sweeps * sizeof(uint64_t);
}

static keel_status_t step_end(stencil_t *stencil)
{
    kernel_die_here(&stencil->options->death, stencil->ctx, stencil->step, 1);
    stencil->step++; /* an image taken here must continue, not repeat */
    if ((stencil->options->ckpt_every != 0) && ((stencil->step - 1) % stencil->options->ckpt_every == 0) &&
        (stencil->step <= stencil->options->sweeps)) {
        return keel_checkpoint(stencil->ctx);
    }
    return keel_gsync(stencil->ctx, KEEL_GSYNC_SAFE);
}

static keel_status_t fill_fields(stencil_t *stencil)
{
    stencil_fill(&stencil->part, own_field(stencil, 0));
    stencil_fill(&stencil->part, own_field(stencil, 1));
    return step_end(stencil);
}

/* Offset in the fields of the neighbour above or below of the halo row that faces this rank. */
static size_t halo_offset(const stencil_t *stencil, uint32_t neighbour, uint64_t parity, int is_above)
{
    const stencil_part_t *own = &stencil->part;
    stencil_part_t other;

    stencil_part_init(&other, own->rows, own->columns, own->p1 * own->p2, neighbour);
    return sizeof(double) *
           ((parity % 2) * field_cells(&other) + (is_above ? (other.height + 1) * (other.width + 2) : 0) + 1);
}

/*
 * Puts the first and last row to the neighbours above and below; packs the outer columns for the
 * neighbours at the sides.
 */
static keel_status_t send_rows(stencil_t *stencil, uint64_t sweep)
{
    const stencil_part_t *part = &stencil->part;
    const size_t line = part->width + 2, bytes = part->width * sizeof(double);
    const uint32_t rank = keel_rank(stencil->ctx), above = rank - part->p1, below = rank + part->p1;
    const double *field = own_field(stencil, sweep);
    double *edges = keel_win_base(stencil->edges);
    keel_req_h req = NULL;
    keel_status_t status;
    size_t r;

    if (part->i2 > 0) {
        status = keel_put_nbx(stencil->fields, above, halo_offset(stencil, above, sweep, 1), field + line + 1, bytes,
                              NULL, &req);
        KERNEL_TRY((status == KEEL_INPROGRESS) ? keel_req_wait(req) : status);
        KERNEL_TRY(keel_flush(stencil->ctx, above));
    }
    if (part->i2 + 1 < part->p2) {
        KERNEL_TRY(keel_put(stencil->fields, below, halo_offset(stencil, below, sweep, 0),
                            field + part->height * line + 1, bytes));
    }
    for (r = 0; r < part->height; r++) {
        edges[SIDE_LEFT * part->height + r] = field[(r + 1) * line + 1];
        edges[SIDE_RIGHT * part->height + r] = field[(r + 1) * line + part->width];
    }
    kernel_die_here(&stencil->options->death, stencil->ctx, stencil->step, 0);
    return keel_gsync(stencil->ctx, 0);
}

/* Gets the neighbours' packed columns into the halo columns. */
static keel_status_t get_columns(stencil_t *stencil, uint64_t sweep)
{
    const stencil_part_t *part = &stencil->part;
    const size_t line = part->width + 2, bytes = part->height * sizeof(double);
    const uint32_t rank = keel_rank(stencil->ctx);
    const int has_left = (part->i1 > 0), has_right = (part->i1 + 1 < part->p1);
    double *left = stencil->columns_got, *right = stencil->columns_got + part->height;
    double *field = own_field(stencil, sweep);
    keel_req_h req = NULL;
    keel_status_t status = KEEL_OK;
    size_t r;

    if (has_left) {
        status = keel_get_nbx(stencil->edges, rank - 1, SIDE_RIGHT * bytes, left, bytes, NULL, &req);
        KERNEL_TRY(status);
    }
    if (has_right) {
        KERNEL_TRY(keel_get(stencil->edges, rank + 1, SIDE_LEFT * bytes, right, bytes));
    }
    if (status == KEEL_INPROGRESS) {
        KERNEL_TRY(keel_req_wait(req));
    }
    for (r = 0; r < part->height; r++) {
        if (has_left) {
            field[(r + 1) * line] = left[r];
        }
        if (has_right) {
            field[(r + 1) * line + part->width + 1] = right[r];
        }
    }
    return KEEL_OK;
}

static keel_status_t add_change(stencil_t *stencil, uint64_t sweep, uint64_t change)
{
    const size_t offset = change_offset(stencil) + sweep * sizeof change;
    uint64_t before;
    keel_status_t status;

    if (sweep % 2 == 0) {
        return keel_atomic(stencil->results, KEEL_ATOMIC_ADD, 0, offset, sizeof change, change, 0, &before);
    }
    status = keel_atomic_nbx(stencil->results, KEEL_ATOMIC_ADD, 0, offset, sizeof change, change, 0, NULL, NULL, NULL);
    return (status == KEEL_INPROGRESS) ? KEEL_OK : status; /* the gsync completes it */
}

static keel_status_t do_sweep(stencil_t *stencil, uint64_t sweep)
{
    uint64_t change;

    KERNEL_TRY(send_rows(stencil, sweep));
    KERNEL_TRY(get_columns(stencil, sweep));
    change = stencil_sweep(&stencil->part, own_field(stencil, sweep), own_field(stencil, sweep + 1));
    if (stencil->options->has_atomics) {
        KERNEL_TRY(add_change(stencil, sweep, change));
    }
    return step_end(stencil);
}

/* Puts the inside of the result, and a hash of the own memory, to rank 0. */
static keel_status_t send_result(stencil_t *stencil)
{
    const stencil_part_t *part = &stencil->part;
    const double *field = own_field(stencil, stencil->options->sweeps);
    const uint32_t rank = keel_rank(stencil->ctx);
    uint64_t hash = kernel_hash(KERNEL_HASH_START, &stencil->step, sizeof stencil->step);
    size_t r;

    hash = kernel_hash(hash, own_field(stencil, 0), 2 * field_cells(part) * sizeof(double));
    hash = kernel_hash(hash, keel_win_base(stencil->edges), keel_win_size(stencil->edges, rank));
    if (rank == 0) {
        hash = kernel_hash(hash, (char *)keel_win_base(stencil->results) + change_offset(stencil),
                           stencil->options->sweeps * sizeof(uint64_t));
    }
    for (r = 0; r < part->height; r++) {
        KERNEL_TRY(keel_put(stencil->results, 0, sizeof(double) * ((part->row + r) * part->columns + part->column),
                            field + (r + 1) * (part->width + 2) + 1, part->width * sizeof(double)));
    }
    KERNEL_TRY(keel_put(stencil->results, 0, hash_offset(stencil) + rank * sizeof hash, &hash, sizeof hash));
    return step_end(stencil);
}

static keel_status_t do_step(stencil_t *stencil)
{
    if (stencil->step == 0) {
        return fill_fields(stencil);
    }
    if (stencil->step <= stencil->options->sweeps) {
        return do_sweep(stencil, stencil->step - 1);
    }
    return send_result(stencil);
}

static void report(const stencil_t *stencil)
{
    const unsigned long sweeps = stencil->options->sweeps, done = stencil->step - 1;

    if (stencil->options->is_verbose && (keel_rank(stencil->ctx) == 0) && (done > 0) && (done <= sweeps) &&
        (done * 10 / sweeps != (done - 1) * 10 / sweeps)) {
        printf("stencil: %8.3f s  sweep %lu of %lu\n", kernel_now_s() - stencil->started, done, sweeps);
        fflush(stdout);
    }
}

typedef struct {
    int is_right;
    uint64_t hash;
    double seconds;
    keel_stats_t stats;
} stencil_outcome_t;

/* At rank 0, with everything done but the end. */
static void judge(const stencil_t *stencil, stencil_outcome_t *outcome)
{
    const stencil_options_t *options = stencil->options;
    char *results = keel_win_base(stencil->results);
    double *expected;

    outcome->hash =
        kernel_hash(KERNEL_HASH_START, results + hash_offset(stencil), keel_size(stencil->ctx) * sizeof(uint64_t));
    outcome->is_right = 1;
    if (options->is_verifying) {
        kernel_spoil(results, change_offset(stencil));
        expected = stencil_serial(options->rows, options->columns, options->sweeps);
        outcome->is_right = (expected != NULL) && (memcmp(expected, results, change_offset(stencil)) == 0);
        free(expected);
    }
    keel_stats(stencil->ctx, &outcome->stats, sizeof(outcome->stats));
}

static void print_outcome(const stencil_options_t *options, uint32_t ranks, const stencil_outcome_t *outcome)
{
    const keel_stats_t *stats = &outcome->stats;
    const char *verdict = !options->is_verifying ? "skipped" : outcome->is_right ? "yes" : "no";

    if (options->format == KERNEL_FORMAT_JSON) {
        printf("{\"kernel\": \"stencil\", \"rows\": %lu, \"columns\": %lu, \"ranks\": %u, \"iterations\": %lu, "
               "\"atomics\": %s, \"seconds\": %.6f, \"verified\": \"%s\", \"memory\": \"%016" PRIx64 "\", "
               "\"checkpoints\": %" PRIu64 ", \"demand_checkpoints\": %" PRIu64 ", \"deaths\": %" PRIu64
               ", \"rollbacks\": %" PRIu64 ", \"rollbacks_in_doubt\": %" PRIu64 "}\n",
               options->rows, options->columns, ranks, options->sweeps, options->has_atomics ? "true" : "false",
               outcome->seconds, verdict, outcome->hash, stats->checkpoints, stats->demand_committed, stats->deaths,
               stats->rollbacks, stats->rollbacks_in_doubt);
        return;
    }
    if (options->format == KERNEL_FORMAT_CSV) {
        printf("kernel,rows,columns,ranks,iterations,atomics,seconds,verified,memory,checkpoints,deaths,rollbacks,"
               "rollbacks_in_doubt\n");
        printf("stencil,%lu,%lu,%u,%lu,%d,%.6f,%s,%016" PRIx64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
               options->rows, options->columns, ranks, options->sweeps, options->has_atomics, outcome->seconds, verdict,
               outcome->hash, stats->checkpoints, stats->deaths, stats->rollbacks, stats->rollbacks_in_doubt);
        return;
    }
    printf("stencil: %lu x %lu, %u ranks, %lu sweeps, %.3f s\n", options->rows, options->columns, ranks,
           options->sweeps, outcome->seconds);
    printf("stencil: memory %016" PRIx64 "\n", outcome->hash);
    printf("stencil: verification %s\n", !options->is_verifying ? "skipped" : outcome->is_right ? "PASSED" : "FAILED");
}

/* Opens windows and protected memory, equal in every life. */
static keel_status_t open_memory(stencil_t *stencil)
{
    const int is_first = (keel_rank(stencil->ctx) == 0);

    KERNEL_TRY(keel_win_alloc(stencil->ctx, 2 * field_cells(&stencil->part) * sizeof(double), NULL, &stencil->fields));
    KERNEL_TRY(keel_win_alloc(stencil->ctx, SIDE_COUNT * stencil->part.height * sizeof(double), NULL, &stencil->edges));
    KERNEL_TRY(keel_win_alloc(stencil->ctx,
                              is_first ? hash_offset(stencil) + keel_size(stencil->ctx) * sizeof(uint64_t) : 0, NULL,
                              &stencil->results));
    KERNEL_TRY(keel_protect(stencil->ctx, 0, &stencil->step, sizeof stencil->step));
    return keel_protect(stencil->ctx, 1, &stencil->started, sizeof stencil->started);
}

/* Runs the remaining steps and the end. Called again after a rollback. */
static keel_status_t run(stencil_t *stencil, stencil_outcome_t *outcome)
{
    if (keel_restarted(stencil->ctx)) {
        KERNEL_TRY(keel_restore(stencil->ctx));
    }
    KERNEL_TRY(kernel_clock_start(stencil->ctx, &stencil->started));
    while (stencil->step < stencil->options->sweeps + 2) {
        KERNEL_TRY(do_step(stencil));
        report(stencil);
    }
    outcome->seconds = kernel_clock_stop() - stencil->started;
    if (keel_rank(stencil->ctx) == 0) {
        judge(stencil, outcome);
    }
    return keel_finalize(stencil->ctx);
}

int main(int argc, char **argv)
{
    stencil_options_t options;
    stencil_outcome_t outcome = {.is_right = 1};
    stencil_t stencil = {.options = &options};
    keel_status_t status;
    uint32_t rank, ranks;
    int exit_status;

    exit_status = stencil_parse(argc, argv, &options);
    if (exit_status >= 0) {
        return exit_status;
    }
    status = keel_init(NULL, &stencil.ctx);
    if (status != KEEL_OK) {
        return kernel_keel_error(STENCIL_PROGRAM, "keel_init", status);
    }
    rank = keel_rank(stencil.ctx);
    ranks = keel_size(stencil.ctx);
    if (stencil_part_init(&stencil.part, options.rows, options.columns, ranks, rank) != 0) {
        keel_finalize(stencil.ctx);
        return kernel_usage_error(STENCIL_PROGRAM, "%lu x %lu is too small for %u ranks", options.rows, options.columns,
                                  ranks);
    }
    stencil.columns_got = malloc(SIDE_COUNT * stencil.part.height * sizeof(double));
    if (stencil.columns_got == NULL) {
        return kernel_keel_error(STENCIL_PROGRAM, "memory of the kernel", KEEL_ERR_NO_MEMORY);
    }
    kernel_touch(stencil.columns_got, SIDE_COUNT * stencil.part.height * sizeof(double));
    status = open_memory(&stencil);
    if (status == KEEL_OK) {
        do {
            status = run(&stencil, &outcome);
        } while (status == KEEL_ERR_ROLLED_BACK);
    }
    if (status != KEEL_OK) {
        return kernel_keel_error(STENCIL_PROGRAM, "run", status);
    }
    if (rank == 0) {
        print_outcome(&options, ranks, &outcome);
    }
    free(stencil.columns_got);
    return outcome.is_right ? KERNEL_EXIT_OK : KERNEL_EXIT_WRONG;
}
