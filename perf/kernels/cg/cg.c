/*
 * CG, the conjugate gradient kernel of the NAS Parallel Benchmarks, on Keel's puts: the smallest
 * eigenvalue of a sparse random matrix by inverse iteration; each iteration solves a system with 25
 * steps of conjugate gradients. Every rank owns some rows. Vectors to multiply are put to all
 * ranks. Sums consist of shares put to all ranks and added in the order of ranks, so all ranks get
 * the same bits.
 */
#include "cg_matrix.h"
#include "../lib/kernel_options.h"
#include "../lib/kernel_outcome.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PROGRAM "cg"

enum { CG_STEPS = 25, STEPS_PER_ITERATION = CG_STEPS + 2 };

/* The sums; each has a share of every rank in every rank's window. */
typedef enum { SUM_RHO, SUM_PQ, SUM_XZ, SUM_ZZ, SUM_RESIDUAL, SUM_COUNT } sum_t;

typedef struct {
    uint64_t step;
    double started, rho_before, zeta, residual; /* started: wall clock, 0: not yet */
} state_t;

typedef struct {
    const cg_class_t *klass;
    unsigned long iterations;
    kernel_common_t common;
    keel_context_h ctx;
    cg_matrix_t matrix; /* own rows; built again in each life */
    keel_win_h whole;   /* the vector to multiply, then shares of sums [SUM_COUNT][ranks] */
    keel_win_h hashes;  /* at rank 0: hash of each rank's memory */
    state_t state;      /* protected */
    uint64_t executed;  /* steps done by this process */
    double *x, *z, *r;  /* protected: own parts, one after another */
    /* p is protected: own part of the vector in the window; the rest is scratch */
    double *p, *product;
} cg_t;

static const char help[] =
    "usage: cg [options]         under a launcher, on any number of ranks\n"
    "  -c, --class S|W|A|B       problem size (S)\n"
    "  -n, --iterations N        instead of the class's own number; then not verified\n"
    "      --ckpt-every K        explicit checkpoint after every K iterations (none)\n"
    "  -v, --verbose             a line for every iteration\n"
    "      --json, --csv         the last line for scripts\n"
    "      --die RANK@STEP.PHASE that rank kills itself there in its first life (27 steps an iteration, phases 0 to "
    "2)\n"
    "  -h, --help                this text\n"
    "protection is chosen by KEEL_PROTECT=none|ckpt|puts|all; exit status 0: zeta is the published one, 1: it is not,\n"
    "2: usage, 3: an error of Keel's\n";

static uint64_t first_row(const cg_t *cg, uint32_t rank)
{
    return (uint64_t)cg->klass->n * rank / keel_size(cg->ctx);
}

static double *whole_vector(const cg_t *cg)
{
    return keel_win_base(cg->whole);
}

static double dot(const double *a, const double *b, size_t count)
{
    double sum = 0;
    size_t i;

    for (i = 0; i < count; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

/* ---- communication ---- */

static keel_status_t put_to_all(cg_t *cg, uint64_t offset, const void *from, size_t bytes)
{
    const uint32_t size = keel_size(cg->ctx), own = keel_rank(cg->ctx);
    keel_status_t status;
    uint32_t i;

    for (i = 1; i <= size; i++) { /* own copy last; different ranks start at different targets */
        status = keel_put_nbx(cg->whole, (own + i) % size, offset, from, bytes, NULL, NULL);
        KERNEL_TRY(status);
    }
    return KEEL_OK; /* from must not change until the next gsync */
}

static keel_status_t spread_vector(cg_t *cg, const double *own)
{
    return put_to_all(cg, cg->matrix.first * sizeof *own, own, cg->matrix.count * sizeof *own);
}

static double *share_of(const cg_t *cg, sum_t sum, uint32_t rank)
{
    return whole_vector(cg) + cg->klass->n + (size_t)sum * keel_size(cg->ctx) + rank;
}

/* Puts a small share to all ranks; the call keeps no pointer to it. */
static keel_status_t spread_share(cg_t *cg, sum_t sum, double share)
{
    const uint32_t own = keel_rank(cg->ctx);
    const uint64_t offset = (uint64_t)((char *)share_of(cg, sum, own) - (char *)whole_vector(cg));
    uint32_t rank;

    for (rank = 0; rank < keel_size(cg->ctx); rank++) {
        KERNEL_TRY(keel_put(cg->whole, rank, offset, &share, sizeof share));
    }
    return KEEL_OK;
}

static double sum_of(const cg_t *cg, sum_t sum)
{
    double total = 0;
    uint32_t rank;

    for (rank = 0; rank < keel_size(cg->ctx); rank++) {
        total += *share_of(cg, sum, rank);
    }
    return total;
}

static keel_status_t phase_end(cg_t *cg, unsigned long phase)
{
    kernel_die_here(&cg->common.death, cg->ctx, cg->state.step, phase);
    return keel_gsync(cg->ctx, 0);
}

static keel_status_t step_end(cg_t *cg, unsigned long phase)
{
    const unsigned long every = cg->common.ckpt_every;

    kernel_die_here(&cg->common.death, cg->ctx, cg->state.step, phase);
    cg->executed++;
    cg->state.step++; /* an image taken here must continue, not repeat */
    if ((every != 0) && (cg->state.step % (every * STEPS_PER_ITERATION) == 0)) {
        return keel_checkpoint(cg->ctx);
    }
    return keel_gsync(cg->ctx, KEEL_GSYNC_SAFE);
}

/* ---- steps ---- */

static keel_status_t begin_system(cg_t *cg)
{
    const size_t count = cg->matrix.count;
    size_t i;

    for (i = 0; i < count; i++) {
        cg->z[i] = 0;
        cg->r[i] = cg->x[i];
    }
    cg->state.rho_before = 0;
    KERNEL_TRY(spread_share(cg, SUM_RHO, dot(cg->r, cg->r, count)));
    return step_end(cg, 0);
}

static keel_status_t refine_system(cg_t *cg)
{
    const size_t count = cg->matrix.count;
    const double rho = sum_of(cg, SUM_RHO);
    const double beta = (cg->state.rho_before == 0) ? 0 : rho / cg->state.rho_before;
    const double *own = whole_vector(cg) + cg->matrix.first;
    double alpha;
    size_t i;

    for (i = 0; i < count; i++) {
        cg->p[i] = cg->r[i] + ((beta == 0) ? 0 : beta * own[i]);
    }
    KERNEL_TRY(spread_vector(cg, cg->p));
    KERNEL_TRY(phase_end(cg, 0));
    cg_matrix_multiply(&cg->matrix, whole_vector(cg), cg->product);
    KERNEL_TRY(spread_share(cg, SUM_PQ, dot(cg->p, cg->product, count)));
    KERNEL_TRY(phase_end(cg, 1));
    alpha = rho / sum_of(cg, SUM_PQ);
    for (i = 0; i < count; i++) {
        cg->z[i] += alpha * cg->p[i];
        cg->r[i] -= alpha * cg->product[i];
    }
    cg->state.rho_before = rho;
    KERNEL_TRY(spread_share(cg, SUM_RHO, dot(cg->r, cg->r, count)));
    return step_end(cg, 2);
}

/* Computes |x - A z|, zeta, and the next x. */
static keel_status_t end_system(cg_t *cg)
{
    const size_t count = cg->matrix.count;
    double residual = 0, scale;
    size_t i;

    KERNEL_TRY(spread_vector(cg, cg->z));
    KERNEL_TRY(phase_end(cg, 0));
    cg_matrix_multiply(&cg->matrix, whole_vector(cg), cg->product);
    for (i = 0; i < count; i++) {
        residual += (cg->x[i] - cg->product[i]) * (cg->x[i] - cg->product[i]);
    }
    KERNEL_TRY(spread_share(cg, SUM_RESIDUAL, residual));
    KERNEL_TRY(spread_share(cg, SUM_XZ, dot(cg->x, cg->z, count)));
    KERNEL_TRY(spread_share(cg, SUM_ZZ, dot(cg->z, cg->z, count)));
    KERNEL_TRY(phase_end(cg, 1));
    cg->state.residual = sqrt(sum_of(cg, SUM_RESIDUAL));
    cg->state.zeta = cg->klass->shift + 1 / sum_of(cg, SUM_XZ);
    scale = 1 / sqrt(sum_of(cg, SUM_ZZ));
    for (i = 0; i < count; i++) {
        cg->x[i] = scale * cg->z[i];
    }
    return step_end(cg, 2);
}

/* Last step: sends rank 0 a hash of all memory that a restart would restore. */
static keel_status_t hash_memory(cg_t *cg)
{
    uint64_t hash = kernel_hash(KERNEL_HASH_START, &cg->state.step, sizeof cg->state.step);

    hash = kernel_hash(hash, cg->x, 3 * (size_t)cg->matrix.count * sizeof *cg->x);
    hash = kernel_hash(hash, whole_vector(cg), keel_win_size(cg->whole, keel_rank(cg->ctx)));
    KERNEL_TRY(keel_put(cg->hashes, 0, keel_rank(cg->ctx) * sizeof hash, &hash, sizeof hash));
    return step_end(cg, 0);
}

static keel_status_t do_step(cg_t *cg)
{
    if (cg->state.step == cg->iterations * STEPS_PER_ITERATION) {
        return hash_memory(cg);
    }
    switch (cg->state.step % STEPS_PER_ITERATION) {
    case 0:
        return begin_system(cg);
    case STEPS_PER_ITERATION - 1:
        return end_system(cg);
    default:
        return refine_system(cg);
    }
}

/* ---- the end ---- */

/* Steps of the program: all iterations, and one step that hashes the memory. */
static uint64_t steps(const cg_t *cg)
{
    return cg->iterations * STEPS_PER_ITERATION + 1;
}

static void report(const cg_t *cg)
{
    if (cg->common.is_verbose && (keel_rank(cg->ctx) == 0) && (cg->state.step % STEPS_PER_ITERATION == 0)) {
        printf("cg: %8.3f s  iteration %lu of %lu  residual %.6e  zeta %.13f\n", kernel_now_s() - cg->state.started,
               (unsigned long)(cg->state.step / STEPS_PER_ITERATION), cg->iterations, cg->state.residual,
               cg->state.zeta);
        fflush(stdout);
    }
}

static void judge(cg_t *cg, kernel_outcome_t *outcome)
{
    outcome->hash = kernel_hash(KERNEL_HASH_START, keel_win_base(cg->hashes), outcome->ranks * sizeof(uint64_t));
    outcome->is_verified = (cg->iterations == cg->klass->iterations);
    kernel_spoil(&cg->state.zeta, sizeof cg->state.zeta);
    outcome->is_right = !outcome->is_verified || cg_zeta_is_published(cg->klass, cg->state.zeta);
    keel_stats(cg->ctx, &outcome->stats, sizeof(outcome->stats));
}

static void print(const cg_t *cg, const kernel_outcome_t *outcome)
{
    const char name[2] = {cg->klass->name, '\0'};
    char zeta[32];
    const kernel_field_t fields[] = {
        {"class", name, 0},
        {"iterations", NULL, (double)cg->iterations},
        {"zeta", zeta, 0},
    };

    snprintf(zeta, sizeof zeta, "%.13f", cg->state.zeta);
    kernel_print_outcome(outcome, cg->common.format, fields, sizeof fields / sizeof *fields);
}

/* ---- life ---- */

static int scratch_init(cg_t *cg)
{
    const uint32_t rank = keel_rank(cg->ctx);
    const uint64_t first = first_row(cg, rank), count = first_row(cg, rank + 1) - first;
    size_t i;

    cg->x = calloc(5 * count + 1, sizeof *cg->x);
    if ((cg->x == NULL) || (cg_matrix_init(&cg->matrix, cg->klass, (uint32_t)first, (uint32_t)count) != 0)) {
        return -1;
    }
    cg->z = cg->x + count;
    cg->r = cg->z + count;
    cg->p = cg->r + count;
    cg->product = cg->p + count;
    kernel_touch(cg->x, 5 * count * sizeof *cg->x);
    for (i = 0; i < count; i++) {
        cg->x[i] = 1;
    }
    return 0;
}

/* Opens windows and protected memory, equal in every life. */
static keel_status_t open_memory(cg_t *cg)
{
    const uint32_t size = keel_size(cg->ctx);

    KERNEL_TRY(keel_win_alloc(cg->ctx, (cg->klass->n + SUM_COUNT * (size_t)size) * sizeof(double), NULL, &cg->whole));
    KERNEL_TRY(keel_win_alloc(cg->ctx, (keel_rank(cg->ctx) == 0) ? size * sizeof(uint64_t) : 0, NULL, &cg->hashes));
    KERNEL_TRY(keel_protect(cg->ctx, 0, &cg->state, sizeof cg->state));
    return keel_protect(cg->ctx, 1, cg->x, 3 * (size_t)cg->matrix.count * sizeof *cg->x);
}

/* Runs the remaining steps and the end. Called again after a rollback. */
static keel_status_t run(cg_t *cg, kernel_outcome_t *outcome)
{
    if (keel_restarted(cg->ctx)) {
        KERNEL_TRY(keel_restore(cg->ctx));
    }
    KERNEL_TRY(kernel_clock_start(cg->ctx, &cg->state.started));
    while (cg->state.step < steps(cg)) {
        KERNEL_TRY(do_step(cg));
        report(cg);
    }
    outcome->seconds = kernel_clock_stop() - cg->state.started;
    if (keel_rank(cg->ctx) == 0) {
        judge(cg, outcome);
    }
    return keel_finalize(cg->ctx);
}

static int parse_class(const char *text, void *klass)
{
    const cg_class_t *found = cg_class_find(text);

    *(const cg_class_t **)klass = found;
    return (found != NULL) ? 0 : -1;
}

static int parse(int argc, char **argv, cg_t *cg)
{
    const kernel_option_t own[] = {
        {.name = "class", .letter = 'c', .parse = parse_class, .value = &cg->klass},
        {.name = "iterations", .letter = 'n', .number_p = &cg->iterations, .min = 1},
    };
    int exit_status;

    cg->klass = cg_class_find("S");
    exit_status = kernel_options_parse(PROGRAM, help, argc, argv, own, sizeof own / sizeof *own, &cg->common);
    if ((exit_status < 0) && (cg->iterations == 0)) {
        cg->iterations = cg->klass->iterations;
    }
    return exit_status;
}

int main(int argc, char **argv)
{
    cg_t cg = {0};
    kernel_outcome_t outcome = {.kernel = PROGRAM, .is_right = 1};
    keel_status_t status;
    uint32_t rank, incarnation;
    int exit_status;

    exit_status = parse(argc, argv, &cg);
    if (exit_status >= 0) {
        return exit_status;
    }
    status = keel_init(NULL, &cg.ctx);
    if (status != KEEL_OK) {
        return kernel_keel_error(PROGRAM, "keel_init", status);
    }
    rank = keel_rank(cg.ctx);
    incarnation = keel_incarnation(cg.ctx);
    outcome.ranks = keel_size(cg.ctx);
    if (scratch_init(&cg) != 0) {
        return kernel_keel_error(PROGRAM, "memory of the kernel", KEEL_ERR_NO_MEMORY);
    }
    status = open_memory(&cg);
    if (status == KEEL_OK) {
        do {
            status = run(&cg, &outcome);
        } while (status == KEEL_ERR_ROLLED_BACK);
    }
    if (status != KEEL_OK) {
        return kernel_keel_error(PROGRAM, "run", status);
    }
    if (rank == 0) {
        print(&cg, &outcome);
    }
    kernel_report_repeated(&cg.common.death, rank, incarnation, steps(&cg), cg.executed);
    cg_matrix_cleanup(&cg.matrix);
    free(cg.x);
    return outcome.is_right ? KERNEL_EXIT_OK : KERNEL_EXIT_WRONG;
}
