/*
 * FT, the 3D Fourier transform kernel of the NAS Parallel Benchmarks, on Keel's puts: options, the
 * restart loop, and verification against the published checksum of every iteration.
 */
#include "ft_warmup.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM "ft"

typedef struct {
    /* protected: wall clock at the start (0: not yet), and after the first transform */
    double started, ready;
    ft_warmup_t warmup;
} ft_clock_t;

typedef struct {
    unsigned long right, wrong, unpublished; /* checksums */
    uint64_t hash;                           /* of the hashes of all ranks' memory */
    double seconds, iteration_s;
    keel_stats_t stats;   /* of rank 0 */
    keel_stats_t before;  /* when the clock started; in a replacement zero */
    uint64_t memory_made; /* bytes of memory made for images while the clock ran */
    uint64_t log_held;    /* most bytes of puts held by the log after a step */
} ft_outcome_t;

static const char ft_help[] =
    "usage: ft [options]         under a launcher, on a power of two of ranks\n"
    "  -c, --class S|W|A|B       problem size (S)\n"
    "  -n, --iterations N        instead of the class's own number; those past it are not verified\n"
    "      --repeat N            the whole problem N times (1)\n"
    "      --warmup              once more before the clock starts; with protection also images, until there is\n"
    "                            memory for all that a rank may hold, and logs that begin empty\n"
    "      --ckpt-every K        explicit checkpoint after the first transform and every K iterations (none)\n"
    "  -v, --verbose             a line for every iteration\n"
    "      --json, --csv         the last line for scripts\n"
    "      --die RANK@STEP.PHASE that rank kills itself there in its first life (steps from 0, phases 0 to 3)\n"
    "  -h, --help                this text\n"
    "protection is chosen by KEEL_PROTECT=none|ckpt|puts|all; exit status 0: all verified, 1: a checksum is wrong,\n"
    "2: usage, 3: an error of Keel's\n";

/* Returns -1 to go on, else the exit status. */
static int ft_parse(int argc, char **argv, ft_t *ft, int *is_verbose, kernel_format_t *format)
{
    enum { OPT_REPEAT = 256, OPT_WARMUP, OPT_CKPT, OPT_JSON, OPT_CSV, OPT_DIE };
    static const struct option table[] = {
        {"class", required_argument, NULL, 'c'},
        {"iterations", required_argument, NULL, 'n'},
        {"repeat", required_argument, NULL, OPT_REPEAT},
        {"warmup", no_argument, NULL, OPT_WARMUP},
        {"ckpt-every", required_argument, NULL, OPT_CKPT},
        {"verbose", no_argument, NULL, 'v'},
        {"json", no_argument, NULL, OPT_JSON},
        {"csv", no_argument, NULL, OPT_CSV},
        {"die", required_argument, NULL, OPT_DIE},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int option, bad = 0;

    ft->klass = ft_class_find("S");
    ft->repeats = 1;
    opterr = 0;
    while (!bad && ((option = getopt_long(argc, argv, "c:n:vh", table, NULL)) != -1)) {
        switch (option) {
        case 'c':
            ft->klass = ft_class_find(optarg);
            bad = (ft->klass == NULL);
            break;
        case 'n':
            bad = kernel_parse_number(optarg, 1, &ft->iterations);
            break;
        case OPT_REPEAT:
            bad = kernel_parse_number(optarg, 1, &ft->repeats);
            break;
        case OPT_WARMUP:
            ft->warmups = 1;
            break;
        case OPT_CKPT:
            bad = kernel_parse_number(optarg, 1, &ft->ckpt_every);
            break;
        case OPT_DIE:
            bad = kernel_parse_death(optarg, &ft->death);
            break;
        case 'v':
            *is_verbose = 1;
            break;
        case OPT_JSON:
            *format = KERNEL_FORMAT_JSON;
            break;
        case OPT_CSV:
            *format = KERNEL_FORMAT_CSV;
            break;
        case 'h':
            fputs(kernel_is_speaker() ? ft_help : "", stdout);
            return KERNEL_EXIT_OK;
        default:
            bad = 1;
        }
    }
    if (bad || (optind != argc)) {
        return kernel_usage_error(PROGRAM, "bad argument %s", argv[bad ? optind - 1 : optind]);
    }
    if (ft->iterations == 0) {
        ft->iterations = ft->klass->iterations;
    }
    ft->repeats += ft->warmups;
    return -1;
}

static const char *ft_verdict(const ft_t *ft, unsigned long iteration, ft_complex_t sum)
{
    if (iteration > ft->klass->iterations) {
        return "unpublished";
    }
    return ft_checksum_is_published(ft->klass, iteration, sum) ? "ok" : "WRONG";
}

/* Progress, at rank 0: the result of the last step. */
static void ft_report(const ft_t *ft, const ft_clock_t *clock)
{
    const uint64_t done = ft->step - 1;
    const unsigned long iter = done % ft_steps_per_repeat(ft);
    const double now = kernel_now_s();
    ft_complex_t sum;

    if (ft->step == ft_steps(ft)) {
        return;
    }
    printf("ft: %8.3f s  ", (clock->started != 0) ? now - clock->started : 0); /* 0: warming up */
    if (iter == 0) {
        printf("first transform\n");
    } else {
        sum = ft_checksum(ft, done / ft_steps_per_repeat(ft), iter);
        printf("iteration %lu of %lu  %.12e %.12e  %s\n", iter, ft->iterations, sum.re, sum.im,
               ft_verdict(ft, iter, sum));
    }
    fflush(stdout);
}

static void ft_judge(const ft_t *ft, const ft_clock_t *clock, double stopped, ft_outcome_t *outcome)
{
    unsigned long repeat, iteration;
    uint32_t rank;

    *outcome = (ft_outcome_t){.before = outcome->before, .log_held = outcome->log_held};
    kernel_spoil(keel_win_base(ft->results), ft_results_bytes(ft) - keel_size(ft->ctx) * sizeof(uint64_t));
    for (repeat = 0; repeat < ft->repeats; repeat++) {
        for (iteration = 1; iteration <= ft->iterations; iteration++) {
            switch (*ft_verdict(ft, iteration, ft_checksum(ft, repeat, iteration))) {
            case 'o':
                outcome->right++;
                break;
            case 'u':
                outcome->unpublished++;
                break;
            default:
                outcome->wrong++;
            }
        }
    }
    outcome->hash = KERNEL_HASH_START;
    for (rank = 0; rank < keel_size(ft->ctx); rank++) {
        const uint64_t hash = ft_memory_hash(ft, rank);

        outcome->hash = kernel_hash(outcome->hash, &hash, sizeof hash);
    }
    outcome->seconds = stopped - clock->started;
    outcome->iteration_s = (stopped - clock->ready) / (double)(ft_steps(ft) - ft_steps_of_warmup(ft) - 2);
    keel_stats(ft->ctx, &outcome->stats, sizeof(outcome->stats));
    outcome->stats.put_bytes -= outcome->before.put_bytes;
    outcome->stats.checkpoints -= outcome->before.checkpoints;
    outcome->stats.demand_checkpoints -= outcome->before.demand_checkpoints;
    outcome->stats.put_log_peak = outcome->log_held;
    outcome->memory_made = outcome->stats.checkpoint_memory - outcome->before.checkpoint_memory;
}

static void ft_print(const ft_t *ft, uint32_t ranks, const ft_outcome_t *outcome, kernel_format_t format)
{
    const keel_stats_t *stats = &outcome->stats;
    const char *verdict = (outcome->wrong == 0) ? "yes" : "no";

    if (format == KERNEL_FORMAT_JSON) {
        printf("{\"kernel\": \"ft\", \"class\": \"%c\", \"ranks\": %u, \"iterations\": %lu, \"repeats\": %lu, "
               "\"seconds\": %.6f, \"iteration_s\": %.6f, \"verified\": %s, \"memory\": \"%016" PRIx64 "\", "
               "\"put_bytes\": %" PRIu64 ", \"checkpoints\": %" PRIu64 ", \"checkpoint_bytes\": %" PRIu64
               ", \"deaths\": %" PRIu64 ", \"rollbacks\": %" PRIu64 ", \"demand_checkpoints\": %" PRIu64
               ", \"put_log_peak\": %" PRIu64 ", \"memory_made\": %" PRIu64 "}\n",
               ft->klass->name, ranks, ft->iterations, ft->repeats, outcome->seconds, outcome->iteration_s,
               (outcome->wrong == 0) ? "true" : "false", outcome->hash, stats->put_bytes, stats->checkpoints,
               stats->checkpoint_bytes, stats->deaths, stats->rollbacks, stats->demand_checkpoints, stats->put_log_peak,
               outcome->memory_made);
        return;
    }
    if (format == KERNEL_FORMAT_CSV) {
        printf("kernel,class,ranks,iterations,repeats,seconds,iteration_s,verified,memory,put_bytes,checkpoints,"
               "checkpoint_bytes,deaths,rollbacks,demand_checkpoints,put_log_peak,memory_made,checkpoint_copy_s,"
               "checkpoint_work_s\n");
        printf("ft,%c,%u,%lu,%lu,%.6f,%.6f,%s,%016" PRIx64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
               ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.9f,%.9f\n",
               ft->klass->name, ranks, ft->iterations, ft->repeats, outcome->seconds, outcome->iteration_s, verdict,
               outcome->hash, stats->put_bytes, stats->checkpoints, stats->checkpoint_bytes, stats->deaths,
               stats->rollbacks, stats->demand_checkpoints, stats->put_log_peak, outcome->memory_made,
               (double)stats->checkpoint_copy_ns * 1e-9, (double)stats->checkpoint_work_ns * 1e-9);
        return;
    }
    printf("ft: class %c, %u ranks as %u x %u pencils, %.3f s, %.4f s an iteration\n", ft->klass->name, ranks, ft->p1,
           ft->p2, outcome->seconds, outcome->iteration_s);
    printf("ft: checksums: %lu right, %lu wrong, %lu without a published value\n", outcome->right, outcome->wrong,
           outcome->unpublished);
    printf("ft: memory %016" PRIx64 "\n", outcome->hash);
    printf("ft: verification %s\n", (outcome->wrong == 0) ? "PASSED" : "FAILED");
}

/* Opens windows and protected memory, equal in every life. */
static keel_status_t ft_open(ft_t *ft, ft_clock_t *clock)
{
    const size_t bytes = ft->local * sizeof *ft->spectrum;

    KERNEL_TRY(keel_win_alloc(ft->ctx, bytes, NULL, &ft->exchange));
    KERNEL_TRY(keel_win_alloc(ft->ctx, (keel_rank(ft->ctx) == 0) ? ft_results_bytes(ft) : 0, NULL, &ft->results));
    KERNEL_TRY(keel_protect(ft->ctx, 0, &ft->step, sizeof ft->step));
    KERNEL_TRY(keel_protect(ft->ctx, 1, ft->spectrum, bytes));
    return keel_protect(ft->ctx, 2, clock, sizeof *clock);
}

static keel_status_t ft_clock_start(const ft_t *ft, ft_clock_t *clock, keel_stats_t *before)
{
    if ((clock->started != 0) || (ft->step != ft_steps_of_warmup(ft))) {
        return KEEL_OK;
    }
    if (ft->warmups != 0) {
        KERNEL_TRY(ft_warmup_end(ft, &clock->warmup));
    }
    KERNEL_TRY(kernel_clock_start(ft->ctx, &clock->started));
    return keel_stats(ft->ctx, before, sizeof(*before));
}

static keel_status_t ft_note_log(const ft_t *ft, const ft_clock_t *clock, ft_outcome_t *outcome)
{
    keel_stats_t stats;

    KERNEL_TRY(keel_stats(ft->ctx, &stats, sizeof(stats)));
    if ((clock->started != 0) && (stats.put_log_bytes > outcome->log_held)) {
        outcome->log_held = stats.put_log_bytes;
    }
    return KEEL_OK;
}

/* Runs the remaining steps and the end. Called again after a rollback. */
static keel_status_t ft_run(ft_t *ft, ft_clock_t *clock, int is_verbose, ft_outcome_t *outcome)
{
    const int is_first = (keel_rank(ft->ctx) == 0);
    double stopped;

    if (keel_restarted(ft->ctx)) {
        KERNEL_TRY(keel_restore(ft->ctx));
    }
    while (ft->step < ft_steps(ft)) {
        KERNEL_TRY(ft_clock_start(ft, clock, &outcome->before));
        if (ft->step == ft_steps_of_warmup(ft) + 1) {
            clock->ready = kernel_now_s();
        }
        KERNEL_TRY(ft_step(ft));
        KERNEL_TRY(ft_note_log(ft, clock, outcome));
        if (is_verbose && is_first) {
            ft_report(ft, clock);
        }
    }
    stopped = kernel_clock_stop();
    if (is_first) {
        ft_judge(ft, clock, stopped, outcome);
    }
    return keel_finalize(ft->ctx);
}

int main(int argc, char **argv)
{
    ft_t ft = {0};
    ft_clock_t clock = {0};
    ft_outcome_t outcome = {0};
    kernel_format_t format = KERNEL_FORMAT_TEXT;
    int is_verbose = 0;
    keel_status_t status;
    const char *problem;
    uint32_t rank, ranks;
    int exit_status;

    exit_status = ft_parse(argc, argv, &ft, &is_verbose, &format);
    if (exit_status >= 0) {
        return exit_status;
    }
    status = keel_init(NULL, &ft.ctx);
    if (status != KEEL_OK) {
        return kernel_keel_error(PROGRAM, "keel_init", status);
    }
    rank = keel_rank(ft.ctx);
    ranks = keel_size(ft.ctx);
    problem = ft_grid_choose(&ft, ranks);
    if (problem != NULL) {
        keel_finalize(ft.ctx);
        return kernel_usage_error(PROGRAM, "class %c on %u ranks: %s", ft.klass->name, ranks, problem);
    }
    ft.spectrum = calloc(ft.local, sizeof *ft.spectrum);
    if ((ft.spectrum == NULL) || (ft_scratch_alloc(&ft) != 0)) {
        return kernel_keel_error(PROGRAM, "memory of the kernel", KEEL_ERR_NO_MEMORY);
    }
    kernel_touch(ft.spectrum, ft.local * sizeof *ft.spectrum);
    kernel_touch(ft.work, ft.local * sizeof *ft.work);
    status = ft_open(&ft, &clock);
    if (status == KEEL_OK) {
        do {
            status = ft_run(&ft, &clock, is_verbose, &outcome);
        } while (status == KEEL_ERR_ROLLED_BACK);
    }
    if (status != KEEL_OK) {
        return kernel_keel_error(PROGRAM, "run", status);
    }
    if (rank == 0) {
        ft_print(&ft, ranks, &outcome, format);
    }
    ft_scratch_free(&ft);
    free(ft.spectrum);
    return (outcome.wrong == 0) ? KERNEL_EXIT_OK : KERNEL_EXIT_WRONG;
}
