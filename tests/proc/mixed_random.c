/*
 * The programs of tests/lib/mixed.h in real processes. The seed draws all their ways to
 * synchronise, and also the deaths: each at a moment after the beginning of a step. All results are
 * in a file that survives the processes, and the judge reads this file.
 */
#include "mixed_draw.h"
#include "mixed_rounds.h"
#include "sim/random.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#define PROGRAM   "mixed_random"
#define DEATH_MAX 3
#define DELAY_MAX 3000 /* us: about the length of a step */

enum { STATUS_FLAW = 3 };

static const char help[] =
    "usage: mixed_random SEED RANKS STEPS DEATHS FILE   under a launcher, with so many ranks\n"
    "       mixed_random --judge FILE                   what is in it, when all have ended well\n"
    "Runs the program that the seed says. Up to so many (3) die, each at a moment of its own.\n"
    "  -h, --help   this text\n";

/* The contents of the file. */
typedef struct {
    mixed_journal_t journal;
    unsigned recoveries, rollbacks;
} results_t;

typedef struct {
    uint64_t seed;
    unsigned deaths;
    results_t *results;
} job_t;

/* Starts the timer of this rank's death in the drawn step. A second death of a rank is skipped. */
static void on_step(play_host_t *host, uint32_t step)
{
    static int has_been;
    const job_t *job = host->arg;
    keel_random_t random = {keel_random_mix(job->seed ^ 0x6465617468)};

    /* no death is recovered while the job is leaving */
    if (step == job->results->journal.options.steps) {
        (void)setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    }
    for (unsigned i = 0; i < job->deaths; i++) {
        const uint32_t rank = keel_random_below(&random, job->results->journal.options.ranks);
        const uint32_t at = keel_random_below(&random, job->results->journal.options.steps);
        const struct itimerval when = {.it_value.tv_usec = 1 + keel_random_below(&random, DELAY_MAX)};

        if (rank == host->rank && at == step && host->incarnation == 0 && !has_been) {
            has_been = 1;
            (void)setitimer(ITIMER_REAL, &when, NULL);
        }
    }
}

static void on_time(int number)
{
    (void)kill(getpid(), SIGKILL);
}

static void on_stats(play_host_t *host, const keel_stats_t *stats)
{
    results_t *results = ((const job_t *)host->arg)->results;

    if (host->rank == 0) {
        results->recoveries = (unsigned)stats->recoveries;
        results->rollbacks = (unsigned)stats->rollbacks;
    }
}

static void on_flaw(play_host_t *host, const char *text)
{
    fprintf(stderr, PROGRAM ": %s\n", text);
    exit(STATUS_FLAW);
}

static void on_compute(play_host_t *host, uint64_t ns)
{
    (void)sched_yield();
}

static void *get_memory(size_t bytes, const char *name)
{
    return calloc(1, bytes);
}

/* With O_CREAT in @a flags, the file exists afterwards. */
static results_t *map_results(const char *path, int flags)
{
    const int fd = open(path, O_RDWR | flags, 0600);
    void *memory = MAP_FAILED;

    if (fd >= 0 && ftruncate(fd, sizeof(results_t)) == 0) {
        memory = mmap(NULL, sizeof(results_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    if (memory == MAP_FAILED) {
        fprintf(stderr, PROGRAM ": %s: %s\n", path, strerror(errno));
        exit(EXIT_FAILURE);
    }
    (void)close(fd);
    return memory;
}

static uint64_t number_of(const char *text, uint64_t least, uint64_t most)
{
    char *end;
    const uint64_t number = strtoull(text, &end, 0);

    if (*end != '\0' || end == text || number < least || number > most) {
        fprintf(stderr, PROGRAM ": '%s' is not a number from %llu to %llu\n", text, (unsigned long long)least,
                (unsigned long long)most);
        exit(EXIT_FAILURE);
    }
    return number;
}

/* Draws the same program as the simulator with --more 2. */
static mixed_options_t draw_program(uint64_t seed, uint32_t ranks, uint32_t steps, keel_params_t *params)
{
    keel_random_t random = {keel_random_mix(seed ^ 0x6d69786564)};
    mixed_options_t options = {.seed = keel_random_next(&random), .ranks = ranks, .steps = steps};

    options.ways = keel_random_chance(&random, 400) ? MIXED_ALL : keel_random_below(&random, MIXED_ALL + 1);
    options.checkpoints = keel_random_chance(&random, 500) ? 200 : 0;
    options.is_divided = keel_random_chance(&random, 200);
    options.ways |= keel_random_chance(&random, 512) ? MIXED_TESTS : 0;
    options.ways |= keel_random_chance(&random, 256) ? MIXED_UNLOGGED : 0;
    options.ways |= mixed_draw_besides(options.seed);
    params->field_mask = KEEL_PARAM_FIELD_FLAGS;
    params->flags = (options.ways & MIXED_POLLS) && mixed_gets_poll(options.seed) ? KEEL_PARAM_FLAG_POLLS : 0;
    if (options.ways & MIXED_KEPT) {
        mixed_keep(&options, params);
    } else {
        options.ways &= ~(unsigned)MIXED_ROUNDS;
        params->flags |= KEEL_PARAM_FLAG_NONDETERMINISTIC;
    }
    return options;
}

static int judge(const char *path)
{
    const results_t *results = map_results(path, 0);
    char text[256];
    const char *flaw;

    if (results->journal.options.ranks == 0) {
        fprintf(stderr, PROGRAM ": %s: no job has written to it\n", path);
        return EXIT_FAILURE;
    }
    flaw = mixed_judge(&results->journal, text, sizeof(text));
    printf(PROGRAM ": %s; recoveries %u, rollbacks %u, promised %s\n", (flaw != NULL) ? flaw : "right",
           results->recoveries, results->rollbacks, (results->journal.options.ways & MIXED_KEPT) ? "yes" : "no");
    return (flaw != NULL) ? STATUS_FLAW : EXIT_SUCCESS;
}

static keel_status_t on_init(play_host_t *host, keel_context_h *ctx_p)
{
    const keel_status_t status = keel_init(host->params, ctx_p);

    if (status != KEEL_OK) {
        return status;
    }
    if (keel_size(*ctx_p) != host->mixed->options.ranks) {
        on_flaw(host, "the job does not have the requested number of ranks");
    }
    host->rank = keel_rank(*ctx_p);
    return KEEL_OK;
}

int main(int argc, char **argv)
{
    static job_t job;
    keel_params_t params = {0};
    play_host_t host = {.params = &params,
                        .init = on_init,
                        .alloc = get_memory,
                        .release = free,
                        .compute = on_compute,
                        .at = on_step,
                        .stats = on_stats,
                        .flaw = on_flaw,
                        .arg = &job};
    keel_status_t status;

    if (argc == 2 && (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0)) {
        fputs(help, stdout);
        return EXIT_SUCCESS;
    }
    if (argc == 3 && strcmp(argv[1], "--judge") == 0) {
        return judge(argv[2]);
    }
    if (argc != 6) {
        fputs(help, stderr);
        return EXIT_FAILURE;
    }
    job.seed = number_of(argv[1], 0, UINT64_MAX);
    job.deaths = (unsigned)number_of(argv[4], 0, DEATH_MAX);
    if (getenv("KEELRUN_JOB") != NULL && strcmp(getenv("KEELRUN_JOB"), "0") != 0) {
        job.deaths = 0; /* the job was restarted: no rank dies in a restarted job */
    }
    job.results = map_results(argv[5], O_CREAT);
    job.results->journal.options = draw_program(job.seed, (uint32_t)number_of(argv[2], 2, GATHER_RANKS),
                                                (uint32_t)number_of(argv[3], 1, MIXED_STEPS_MAX), &params);
    host.mixed = &job.results->journal;
    host.has_restart_point = (int)(job.seed & 1);
    (void)signal(SIGALRM, on_time);
    status = mixed_program(&host);
    if (status != KEEL_OK && !(status == KEEL_ERR_STATE && host.incarnation > 0)) {
        fprintf(stderr, PROGRAM ": rank %u: %s\n", host.rank, keel_status_string(status));
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
