/*
 * Random programs under random deaths, by the thousand: a fixed set of seeds, then fresh seeds.
 * Worker processes share the work, so a run that crashes or hangs ends only its own process. The
 * run is reported with its seed like any other flaw.
 */
#include "sim_groups.h"
#include "sim_help.h"

#ifdef KEEL_PLANTED_DEFECTS
#include "planted.h"

#include "check/plant.h"
#endif

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUNS_MANY 5000 /* size of a run set that must see rare outcomes */
/* size of a run set that must see losses of as many members as parities */
#define RUNS_OF_PARITIES 100
#define WORKERS_MAX      8
#define FLAWS_SHOWN      10
#define FLAWS_KEPT       100
#define RUN_TIMEOUT_S    60 /* CPU seconds */
#define MUST_MAX         8

/* Raises SIGPROF when the process has computed for so long; 0: disarms the timer. */
static void limit_run(time_t seconds)
{
    const struct itimerval limit = {.it_value.tv_sec = seconds};

    setitimer(ITIMER_PROF, &limit, NULL);
}

typedef struct options {
    uint64_t seed;
    int has_seed;
    uint64_t runs, fixed;
    uint64_t crashes; /* minimum number of runs with deaths */
    /* minimum percentage of local recoveries among runs without an obstacle to local recovery */
    uint64_t floor;
    unsigned seconds, workers;
    int allow_gaps; /* a small run set need not see every outcome */
    int stop_early;
    /* planted defect that must be noticed: the first flaw ends all runs, and is a success */
    const char *plant;
    int cases; /* every case of check/reached.h must be reached */
    /* cases that must be reached, among those that only a plant or a few drawn runs reach */
    const char *must[MUST_MAX];
    unsigned must_count;
    int is_harmless; /* with a plant: the defect must not be noticed */
    int count_all;   /* with a plant: complete all runs and count the flaws */
    case_limits_t limits;
    char repeat[256]; /* options that reproduce a run */
} options_t;

/* shared by the workers */
typedef struct tally {
    _Atomic uint64_t next, passed, failed;
    _Atomic uint64_t unfounded; /* runs with a defect that are flawed without the defect too */
    _Atomic uint64_t deaths, crashed_runs, recovered, rolled_back, catastrophic, overflowed, checkpoints, aborted,
        atomics, sections, waits, kept_waits, demands, demanded;
    _Atomic uint64_t asked, free, free_local;
    _Atomic uint64_t styles[CASE_STYLES];
    groups_tally_t groups;
    _Atomic uint64_t moved;
    _Atomic uint64_t decoded, spared, sparing, dedicated;
    _Atomic uint64_t hangs, fenced, doubted, splits, isolated;
    _Atomic uint64_t steps;
    _Atomic uint64_t large[CASE_STYLES], wide;
    _Atomic uint64_t seed_of[WORKERS_MAX];
    uint64_t failed_seed[FLAWS_KEPT];
} tally_t;

static uint64_t base_seed;

static uint64_t run_seed(const options_t *options, uint64_t number)
{
    if (options->has_seed) {
        return options->seed + number;
    }
    return (number < options->fixed) ? number + 1 : base_seed + number;
}

/* Returns 1 if the run passes without the defect, so the flaw is due to the defect. */
static int passes_without(const options_t *options, uint64_t seed)
{
#ifdef KEEL_PLANTED_DEFECTS
    const pid_t pid = fork();
    case_result_t result;
    int status;

    if (pid == 0) {
        keel_planted = KEEL_PLANT_NONE;
        limit_run(RUN_TIMEOUT_S);
        case_run(seed, &options->limits, &result);
        fflush(NULL);
        _exit(result.verdict == CASE_PASSED ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    return (pid > 0) && (waitpid(pid, &status, 0) == pid) && WIFEXITED(status) && (WEXITSTATUS(status) == EXIT_SUCCESS);
#else
    (void)options;
    (void)seed;
    return 0;
#endif
}

/* Records a flaw. The seed is printed again at the end. */
static void fail(const options_t *options, tally_t *tally, uint64_t seed, const char *text)
{
    const uint64_t number = atomic_fetch_add(&tally->failed, 1);

    if (number < FLAWS_KEPT) {
        tally->failed_seed[number] = seed;
    }
    if (number < (options->plant != NULL ? 1 : FLAWS_SHOWN)) {
        fprintf(stderr, "FAILED: %s\n  reproduce: sim_gsync --seed %llu%s --trace\n", text, (unsigned long long)seed,
                options->repeat);
    }
    if ((options->plant != NULL) && !passes_without(options, seed)) {
        atomic_fetch_add(&tally->unfounded, 1);
        fprintf(stderr, "FAILED: seed %llu is flawed without %s too\n", (unsigned long long)seed, options->plant);
    }
}

static void count(tally_t *tally, const case_result_t *result)
{
    atomic_fetch_add(&tally->deaths, result->deaths);
    atomic_fetch_add(&tally->crashed_runs, result->deaths > 0);
    atomic_fetch_add(&tally->recovered, (result->recoveries > 0) && !result->is_catastrophic);
    atomic_fetch_add(&tally->rolled_back, (uint64_t)result->is_rolled_back);
    atomic_fetch_add(&tally->catastrophic, (uint64_t)result->is_catastrophic);
    atomic_fetch_add(&tally->overflowed, (uint64_t)result->has_overflowed);
    atomic_fetch_add(&tally->checkpoints, result->checkpoints);
    atomic_fetch_add(&tally->aborted, result->aborted_checkpoints > 0);
    atomic_fetch_add(&tally->atomics, (uint64_t)result->has_kept_atomics);
    groups_count(&tally->groups, result);
    atomic_fetch_add(&tally->styles[result->style],
                     (result->recoveries > 0) && !result->is_catastrophic && (result->groups_hit != 0));
    atomic_fetch_add(&tally->asked, (result->asked > 0) && result->is_rolled_back);
    atomic_fetch_add(&tally->decoded, result->decoded);
    atomic_fetch_add(&tally->dedicated, result->has_checksums && (result->recoveries > 0) && (result->checkpoints > 0));
    atomic_fetch_add(&tally->moved, result->moved);
    atomic_fetch_add(&tally->spared, result->spared);
    atomic_fetch_add(&tally->sparing, result->spared > 0);
    atomic_fetch_add(&tally->sections, (result->style == CASE_LOCKS) && (result->replayed_sections > 0));
    atomic_fetch_add(&tally->waits, (result->style == CASE_WAITS) && result->is_rolled_back);
    atomic_fetch_add(&tally->free, (uint64_t)result->is_free);
    atomic_fetch_add(&tally->free_local, (uint64_t)(result->is_free && !result->is_rolled_back));
    atomic_fetch_add(&tally->kept_waits, (uint64_t)result->has_kept_waits);
    atomic_fetch_add(&tally->demands, result->demand_images);
    atomic_fetch_add(&tally->demanded, result->demand_recoveries > 0);
    atomic_fetch_add(&tally->splits, result->splits);
    atomic_fetch_add(&tally->isolated, result->isolated);
    atomic_fetch_add(&tally->hangs, result->hangs);
    atomic_fetch_add(&tally->fenced, result->fenced);
    atomic_fetch_add(&tally->doubted, result->false_suspicions > 0);
    atomic_fetch_add(&tally->steps, result->steps);
    if (result->recoveries > 0 && result->checkpoints > 0 && !result->is_catastrophic) {
        atomic_fetch_add(&tally->large[result->style], (uint64_t)(result->ranks > 16));
        atomic_fetch_add(&tally->wide, (uint64_t)(result->group > 7));
    }
}

#ifdef KEEL_PLANTED_DEFECTS
/* Returns 1 if all cases that must be reached have been reached. */
static int has_reached_all(const options_t *options)
{
    int has_all = !options->cases || reached_gaps() == 0;

    for (unsigned i = 0; i < options->must_count; ++i) {
        has_all &= reached_count(options->must[i]) > 0;
    }
    return has_all;
}
#endif

static int is_over(const options_t *options, tally_t *tally, uint64_t number, time_t start)
{
#ifdef KEEL_PLANTED_DEFECTS
    if (options->stop_early && (options->cases || (options->must_count > 0)) && has_reached_all(options)) {
        return 1;
    }
#endif
    if ((options->runs > 0) && (number >= options->runs)) {
        return 1;
    }
    if (options->stop_early && (atomic_load(&tally->failed) >= FLAWS_SHOWN)) {
        return 1;
    }
    if ((options->plant != NULL) && !options->count_all && (atomic_load(&tally->failed) > 0)) {
        return 1;
    }
    return (options->seconds > 0) && (time(NULL) - start >= (time_t)options->seconds);
}

static void work(const options_t *options, tally_t *tally, unsigned worker, time_t start)
{
    case_result_t result;
    uint64_t number, seed;

    while (!is_over(options, tally, number = atomic_fetch_add(&tally->next, 1), start)) {
        seed = run_seed(options, number);
        atomic_store(&tally->seed_of[worker], seed);
        limit_run(RUN_TIMEOUT_S);
        case_run(seed, &options->limits, &result);
        limit_run(0);
        count(tally, &result);
        if (result.verdict == CASE_PASSED) {
            atomic_fetch_add(&tally->passed, 1);
        } else {
            fail(options, tally, seed, result.flaw);
        }
    }
}

/* ---- workers ---- */

static pid_t spawn(const options_t *options, tally_t *tally, unsigned worker, time_t start)
{
    const pid_t pid = fork();

    if (pid == 0) {
        work(options, tally, worker, start);
        fflush(NULL);
        _exit(EXIT_SUCCESS);
    }
    return pid;
}

static void run_all(const options_t *options, tally_t *tally)
{
    const time_t start = time(NULL);
    pid_t pid[WORKERS_MAX];
    unsigned worker, living = 0;
    char text[128];
    int status;
    pid_t ended;

    for (worker = 0; worker < options->workers; ++worker) {
        pid[worker] = spawn(options, tally, worker, start);
        living += (pid[worker] > 0);
    }
    while (living > 0) {
        ended = waitpid(-1, &status, 0);
        if (ended < 0) {
            break;
        }
        --living;
        for (worker = 0; (worker < options->workers) && (pid[worker] != ended); ++worker) {
        }
        if ((worker == options->workers) || (WIFEXITED(status) && (WEXITSTATUS(status) == EXIT_SUCCESS))) {
            continue;
        }
        snprintf(text, sizeof(text), "the process ended by %s %d%s", WIFSIGNALED(status) ? "signal" : "status",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
                 (WIFSIGNALED(status) && (WTERMSIG(status) == SIGPROF)) ? ": it hung" : "");
        fail(options, tally, atomic_load(&tally->seed_of[worker]), text);
        pid[worker] = spawn(options, tally, worker, start);
        living += (pid[worker] > 0);
    }
}

/* ---- command line ---- */

enum {
    OPT_SEED = 1, /* in the order of long_options, which names the options to repeat a run */
    OPT_RUNS,
    OPT_SECONDS,
    OPT_FIXED,
    OPT_WORKERS,
    OPT_CRASHES,
    OPT_RANKS,
    OPT_PHASES,
    OPT_DEATHS,
    OPT_ATOMICS,
    OPT_POSTED,
    OPT_GSYNCS,
    OPT_POLLED,
    OPT_MORE,
    OPT_LATE,
    OPT_PARITIES,
    OPT_DEDICATED,
    OPT_UNDECLARED,
    OPT_DEVICE,
    OPT_EXTENTS,
    OPT_LOOKS,
    OPT_GIVEN,
    OPT_SHARES,
    OPT_STYLE,
    OPT_HANGS,
    OPT_SPLITS,
    OPT_LANES,
    OPT_SOFT,
    OPT_TIGHT,
    OPT_DIRECT,
    OPT_HUNT,
    OPT_MOVES,
    OPT_WIDE,
    OPT_NOTICE,
    OPT_MESSAGE,
    OPT_COUNTERS,
    OPT_FLOOR,
    OPT_TRACE,
    OPT_VERBOSE,
    OPT_EACH,
    OPT_STORES,
    OPT_VARIED,
    OPT_HARSH,
    OPT_GAPS,
    OPT_STOP,
    OPT_PLANT,
    OPT_PLANTS,
    OPT_COUNT,
    OPT_HARMLESS,
    OPT_CASES,
    OPT_CASE,
    OPT_STRIDES,
    OPT_LEADER,
    OPT_POINTS,
    OPT_HELP
};

/* The last row is zero. */
static const struct option long_options[OPT_HELP + 2] = {{"seed", 1, NULL, OPT_SEED},
                                                         {"runs", 1, NULL, OPT_RUNS},
                                                         {"seconds", 1, NULL, OPT_SECONDS},
                                                         {"fixed", 1, NULL, OPT_FIXED},
                                                         {"workers", 1, NULL, OPT_WORKERS},
                                                         {"crashes", 1, NULL, OPT_CRASHES},
                                                         {"ranks", 1, NULL, OPT_RANKS},
                                                         {"phases", 1, NULL, OPT_PHASES},
                                                         {"deaths", 1, NULL, OPT_DEATHS},
                                                         {"atomics", 1, NULL, OPT_ATOMICS},
                                                         {"posted", 1, NULL, OPT_POSTED},
                                                         {"gsyncs", 1, NULL, OPT_GSYNCS},
                                                         {"polled", 1, NULL, OPT_POLLED},
                                                         {"more", 1, NULL, OPT_MORE},
                                                         {"late-windows", 1, NULL, OPT_LATE},
                                                         {"parities", 1, NULL, OPT_PARITIES},
                                                         {"dedicated", 1, NULL, OPT_DEDICATED},
                                                         {"undeclared", 1, NULL, OPT_UNDECLARED},
                                                         {"device", 1, NULL, OPT_DEVICE},
                                                         {"extents", 1, NULL, OPT_EXTENTS},
                                                         {"looks", 1, NULL, OPT_LOOKS},
                                                         {"given", 1, NULL, OPT_GIVEN},
                                                         {"shares", 1, NULL, OPT_SHARES},
                                                         {"style", 1, NULL, OPT_STYLE},
                                                         {"hangs", 1, NULL, OPT_HANGS},
                                                         {"splits", 1, NULL, OPT_SPLITS},
                                                         {"lanes", 1, NULL, OPT_LANES},
                                                         {"soft", 1, NULL, OPT_SOFT},
                                                         {"tight", 1, NULL, OPT_TIGHT},
                                                         {"direct", 1, NULL, OPT_DIRECT},
                                                         {"hunt", 1, NULL, OPT_HUNT},
                                                         {"moves", 1, NULL, OPT_MOVES},
                                                         {"wide", 1, NULL, OPT_WIDE},
                                                         {"notice", 1, NULL, OPT_NOTICE},
                                                         {"message", 1, NULL, OPT_MESSAGE},
                                                         {"late-counters", 1, NULL, OPT_COUNTERS},
                                                         {"floor", 1, NULL, OPT_FLOOR},
                                                         {"trace", 0, NULL, OPT_TRACE},
                                                         {"verbose", 0, NULL, OPT_VERBOSE},
                                                         {"each-step", 0, NULL, OPT_EACH},
                                                         {"stores", 1, NULL, OPT_STORES},
                                                         {"varied", 0, NULL, OPT_VARIED},
                                                         {"harsh", 0, NULL, OPT_HARSH},
                                                         {"allow-gaps", 0, NULL, OPT_GAPS},
                                                         {"stop", 0, NULL, OPT_STOP},
                                                         {"plant", 1, NULL, OPT_PLANT},
                                                         {"plants", 0, NULL, OPT_PLANTS},
                                                         {"count", 0, NULL, OPT_COUNT},
                                                         {"harmless", 0, NULL, OPT_HARMLESS},
                                                         {"cases", 0, NULL, OPT_CASES},
                                                         {"case", 1, NULL, OPT_CASE},
                                                         {"strides", 1, NULL, OPT_STRIDES},
                                                         {"leader", 1, NULL, OPT_LEADER},
                                                         {"points", 1, NULL, OPT_POINTS},
                                                         {"safe-points", 1, NULL, OPT_POINTS},
                                                         {"help", 0, NULL, OPT_HELP},
                                                         {NULL, 0, NULL, 0}};

static uint64_t number_of(const char *text)
{
    char *end;
    uint64_t value;

    errno = 0;
    value = strtoull(text, &end, 0);
    if ((errno != 0) || (*end != '\0') || (end == text)) {
        fprintf(stderr, "sim_gsync: '%s' is not a number\n", text);
        exit(EXIT_FAILURE);
    }
    return value;
}

/* Returns the limit of an option that is a number only; NULL: another kind of option. */
static int *limit_of(case_limits_t *limits, int option)
{
    int *const numbers[] = {[OPT_PHASES] = &limits->phases,     [OPT_DEATHS] = &limits->deaths,
                            [OPT_ATOMICS] = &limits->atomics,   [OPT_POSTED] = &limits->posted,
                            [OPT_POLLED] = &limits->polled,     [OPT_MORE] = &limits->more,
                            [OPT_GSYNCS] = &limits->gsyncs,     [OPT_LATE] = &limits->late_windows,
                            [OPT_PARITIES] = &limits->parities, [OPT_DEDICATED] = &limits->dedicated,
                            [OPT_EXTENTS] = &limits->extents,   [OPT_LOOKS] = &limits->looks,
                            [OPT_GIVEN] = &limits->given,       [OPT_UNDECLARED] = &limits->undeclared,
                            [OPT_DEVICE] = &limits->device,     [OPT_MOVES] = &limits->moves,
                            [OPT_WIDE] = &limits->wide,         [OPT_NOTICE] = &limits->notice,
                            [OPT_MESSAGE] = &limits->message,   [OPT_COUNTERS] = &limits->late_counters,
                            [OPT_SPLITS] = &limits->splits,     [OPT_SOFT] = &limits->soft,
                            [OPT_TIGHT] = &limits->tight,       [OPT_HANGS] = &limits->hangs,
                            [OPT_SHARES] = &limits->shares,     [OPT_STRIDES] = &limits->strides,
                            [OPT_VARIED] = &limits->varied,     [OPT_HARSH] = &limits->harsh,
                            [OPT_EACH] = &limits->each_step,    [OPT_POINTS] = &limits->points,
                            [OPT_LEADER] = &limits->leader};

    return ((size_t)option < sizeof(numbers) / sizeof(numbers[0])) ? numbers[option] : NULL;
}

static void read_limit(options_t *options, int option, const char *value)
{
    case_limits_t *limits = &options->limits;
    const size_t used = strlen(options->repeat);
    int *number = limit_of(limits, option);

    snprintf(options->repeat + used, sizeof(options->repeat) - used, " --%s%s%s", long_options[option - 1].name,
             (value != NULL) ? " " : "", (value != NULL) ? value : "");
    if (number != NULL) {
        *number = (value != NULL) ? (int)number_of(value) : 1;
        return;
    }
    switch (option) {
    case OPT_RANKS:
        limits->ranks = (int)number_of(value);
        if ((limits->ranks < 2) || (limits->ranks > CASE_RANKS_MAX)) {
            fprintf(stderr, "sim_gsync: 2 to %d ranks\n", CASE_RANKS_MAX);
            exit(EXIT_FAILURE);
        }
        break;
    case OPT_STYLE:
        limits->style = (strcmp(value, "locks") == 0)   ? CASE_LOCKS
                        : (strcmp(value, "waits") == 0) ? CASE_WAITS
                        : (strcmp(value, "races") == 0) ? CASE_RACES
                        : (strcmp(value, "mixed") == 0) ? CASE_MIXED
                        : (strcmp(value, "even") == 0)  ? CASE_EVEN
                                                        : CASE_GSYNC;
        break;
    case OPT_HUNT:
        limits->hunt = (strcmp(value, "records") == 0)   ? HUNT_RECORDS
                       : (strcmp(value, "drained") == 0) ? HUNT_DRAINED
                       : (strcmp(value, "rebuild") == 0) ? HUNT_REBUILD
                       : (strcmp(value, "uneven") == 0)  ? HUNT_UNEVEN
                       : (strcmp(value, "changes") == 0) ? HUNT_CHANGES
                       : (strcmp(value, "awaited") == 0) ? HUNT_AWAITED
                                                         : HUNT_ROLLBACK;
        break;
    case OPT_LANES:
        limits->lanes = value;
        break;
    case OPT_STORES:
        limits->stores = (strcmp(value, "x86") == 0)   ? CASE_STORES_X86
                         : (strcmp(value, "arm") == 0) ? CASE_STORES_ARM
                                                       : CASE_STORES_ONCE;
        break;
    default:
        limits->direct = (strcmp(value, "rma") == 0)        ? KEEL_SIM_RMA
                         : (strcmp(value, "read") == 0)     ? KEEL_SIM_READ
                         : (strcmp(value, "messages") == 0) ? KEEL_SIM_MESSAGES
                                                            : KEEL_SIM_PTR;
        break;
    }
}

static void read_plant(options_t *options, int option, const char *name)
{
#ifdef KEEL_PLANTED_DEFECTS
    if (option == OPT_PLANTS) {
        planted_list();
        exit(EXIT_SUCCESS);
    }
    if (!planted_set(name)) {
        fprintf(stderr, "sim_planted: there is no defect '%s'; --plants lists them\n", name);
        exit(EXIT_FAILURE);
    }
    options->plant = name;
    options->fixed = options->runs = planted_runs();
#else
    fprintf(stderr, "sim_gsync: no defects are planted here: that is sim_planted\n");
    exit(EXIT_FAILURE);
#endif
}

static void read_options(int argc, char **argv, options_t *options)
{
    int option;

    while ((option = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
        switch (option) {
        case OPT_SEED:
            options->seed = number_of(optarg);
            options->has_seed = 1;
            break;
        case OPT_RUNS:
            options->runs = number_of(optarg);
            break;
        case OPT_SECONDS:
            options->seconds = (unsigned)number_of(optarg);
            break;
        case OPT_FIXED:
            options->fixed = number_of(optarg);
            break;
        case OPT_WORKERS:
            options->workers = (unsigned)number_of(optarg);
            break;
        case OPT_FLOOR:
            options->floor = number_of(optarg);
            break;
        case OPT_CRASHES:
            options->crashes = number_of(optarg);
            break;
        case OPT_TRACE:
            options->limits.trace_lines = 4000;
            break;
        case OPT_VERBOSE:
            options->limits.verbose = 1;
            break;
        case OPT_GAPS:
            options->allow_gaps = 1;
            break;
        case OPT_STOP:
            options->stop_early = 1;
            break;
        case OPT_PLANT:
        case OPT_PLANTS:
            read_plant(options, option, optarg);
            break;
        case OPT_COUNT:
            options->count_all = 1;
            break;
        case OPT_HARMLESS:
            options->is_harmless = 1;
            break;
        case OPT_CASES:
            options->cases = 1;
            break;
        case OPT_CASE:
            if (options->must_count == MUST_MAX) {
                fprintf(stderr, "sim_gsync: more than %d --case\n", MUST_MAX);
                exit(EXIT_FAILURE);
            }
            options->must[options->must_count++] = optarg;
            break;
        case OPT_HELP:
        case 'h':
            sim_help();
            exit(EXIT_SUCCESS);
        case '?':
            exit(EXIT_FAILURE);
        default:
            read_limit(options, option, optarg);
            break;
        }
    }
    if ((options->limits.ranks > CASE_RANKS_DRAWN) && (options->limits.style != CASE_GSYNC) &&
        ((options->limits.style != CASE_MIXED) || (options->limits.ranks > CASE_RANKS_MIXED))) {
        fprintf(stderr, "sim_gsync: more than %d ranks have --style gsync, and up to %d mixed\n", CASE_RANKS_DRAWN,
                CASE_RANKS_MIXED);
        exit(EXIT_FAILURE);
    }
    if (options->runs == 0 && options->seconds == 0) {
        options->runs = options->has_seed ? 1 : 5000;
    }
    options->workers = (options->workers < 1) ? 1 : (options->workers > WORKERS_MAX) ? WORKERS_MAX : options->workers;
}

enum { IN_GSYNC = 1 << CASE_GSYNC, IN_LOCKS = 1 << CASE_LOCKS, IN_WAITS = 1 << CASE_WAITS, IN_RACES = 1 << CASE_RACES };

/* A run set without some outcome that its programs can have proves nothing about the outcome. */
static int has_gaps(const options_t *options, const tally_t *tally)
{
    const unsigned styles = (options->limits.style >= 0 && options->limits.style < CASE_STYLES)
                                ? 1u << options->limits.style
                                : IN_GSYNC | IN_LOCKS | IN_WAITS;
    const struct {
        const char *name;
        uint64_t count;
        unsigned styles; /* bit mask of the programs' styles */
    } outcome[] = {{"recovery", tally->recovered, IN_GSYNC | IN_LOCKS | IN_RACES},
                   {"rollback", tally->rolled_back, IN_GSYNC | IN_LOCKS | IN_WAITS | IN_RACES},
                   {"catastrophic failure", tally->catastrophic, IN_GSYNC | IN_LOCKS | IN_WAITS},
                   {"full log", tally->overflowed, IN_GSYNC | IN_LOCKS},
                   {"image decoded", tally->decoded, IN_GSYNC | IN_LOCKS | IN_WAITS},
                   {"recovery with dedicated parity", tally->dedicated, IN_GSYNC},
                   {"parity computed from differences", tally->sparing, IN_GSYNC},
                   {"checkpoint", tally->checkpoints, IN_GSYNC | IN_LOCKS | IN_WAITS},
                   {"aborted checkpoint", tally->aborted, IN_GSYNC | IN_LOCKS | IN_WAITS},
                   {"local recovery with atomics", tally->atomics, IN_GSYNC | IN_LOCKS},
                   {"replay of critical sections", tally->sections, IN_LOCKS},
                   {"rollback that a program asked for", tally->asked, IN_GSYNC | IN_LOCKS | IN_WAITS},
                   {"recovery from an image with gsyncs", tally->styles[CASE_GSYNC], IN_GSYNC},
                   {"recovery from an image with locks", tally->styles[CASE_LOCKS], IN_LOCKS},
                   {"recovery from an image with waits", tally->styles[CASE_WAITS], IN_WAITS},
                   {"local recovery of a program that waits", tally->kept_waits, IN_WAITS},
                   {"rollback of a program that waits", tally->waits, IN_WAITS},
                   {"recovery of a group of more than 7", tally->wide, IN_GSYNC},
                   {"demand checkpoint", tally->demands, IN_GSYNC},
                   {"recovery from a demand checkpoint", tally->demanded, IN_GSYNC}};
    unsigned i;
    int gaps = 0;

    for (i = 0; i < sizeof(outcome) / sizeof(outcome[0]); ++i) {
        if ((outcome[i].count == 0) && (outcome[i].styles & styles)) {
            fprintf(stderr, "no run had a %s\n", outcome[i].name);
            gaps = 1;
        }
    }
    gaps |= (styles & IN_GSYNC) && groups_have_gaps(&tally->groups, options->runs >= RUNS_MANY);
    for (i = 0; (options->limits.hangs <= 0) && (options->limits.splits <= 0) && (i < CASE_RACES); ++i) {
        const int is_due = (i == CASE_GSYNC) ? 1 : (i == CASE_LOCKS) ? options->runs >= RUNS_MANY : styles == IN_WAITS;

        if ((tally->large[i] == 0) && (styles & (1u << i)) && is_due) {
            fprintf(stderr, "no job of more than 16 ranks recovered, style %u\n", i);
            gaps = 1;
        }
    }
    if ((options->limits.splits <= 0) && (tally->moved == 0)) {
        fprintf(stderr, "no replacement came up on another node\n");
        gaps = 1;
    }
    if ((options->limits.hangs > 0) && ((tally->fenced == 0) || (tally->doubted == 0))) {
        fprintf(stderr, "no rank was killed for its silence, or no suspicion was false\n");
        gaps = 1;
    }
    if ((options->limits.splits > 0) && ((tally->splits == 0) || (tally->isolated == 0))) {
        fprintf(stderr, "no network split, or no rank ended because it was cut off\n");
        gaps = 1;
    }
    return gaps;
}

/* Prints the flawed seeds again: a log may be truncated before this place. */
static void say_failed(const options_t *options, const tally_t *tally)
{
    const uint64_t count = tally->failed < FLAWS_KEPT ? tally->failed : FLAWS_KEPT;

    for (uint64_t i = 0; i < count; ++i) {
        printf("failed: sim_gsync --seed %llu%s --trace\n", (unsigned long long)tally->failed_seed[i], options->repeat);
    }
}

int main(int argc, char **argv)
{
    options_t options = {.fixed = 2000, .workers = 2, .limits = case_limits_none()};
    struct timespec now, end;
    tally_t *tally;
    double seconds;
    int gaps;

    setenv("UCX_HANDLE_ERRORS", "none", 0); /* UCS would catch a crash and sleep */
    read_options(argc, argv, &options);
    clock_gettime(CLOCK_REALTIME, &now);
    base_seed = keel_random_mix((uint64_t)now.tv_nsec ^ ((uint64_t)now.tv_sec << 30)) >> 24;
    tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (tally == MAP_FAILED) {
        return EXIT_FAILURE;
    }
    if (!options.has_seed) {
        printf("fresh seeds are %llu and up\n", (unsigned long long)base_seed);
        fflush(stdout);
    }
#ifdef KEEL_PLANTED_DEFECTS
    if (!reached_begin()) {
        return EXIT_FAILURE;
    }
#endif
    if (options.limits.trace_lines > 0) {
        work(&options, tally, 0, time(NULL));
    } else {
        run_all(&options, tally);
    }
    clock_gettime(CLOCK_REALTIME, &end);
    seconds = (double)(end.tv_sec - now.tv_sec) + (double)(end.tv_nsec - now.tv_nsec) * 1e-9;
    printf(
        "%llu runs with deaths, %llu deaths; runs with local recovery %llu, rollback %llu, catastrophic failure %llu, "
        "full log %llu, rollback asked for %llu, aborted checkpoint %llu, local recovery with atomics %llu, "
        "replay of critical sections %llu, local recovery of a program that waits %llu; %llu ranks hung, %llu were "
        "killed for silence, %llu runs had a false "
        "suspicion; %llu networks split, %llu ranks ended cut off; %llu replacements on other nodes; %llu steps in "
        "%.1f s\n",
        (unsigned long long)tally->crashed_runs, (unsigned long long)tally->deaths,
        (unsigned long long)tally->recovered, (unsigned long long)tally->rolled_back,
        (unsigned long long)tally->catastrophic, (unsigned long long)tally->overflowed,
        (unsigned long long)tally->asked, (unsigned long long)tally->aborted, (unsigned long long)tally->atomics,
        (unsigned long long)tally->sections, (unsigned long long)tally->kept_waits, (unsigned long long)tally->hangs,
        (unsigned long long)tally->fenced, (unsigned long long)tally->doubted, (unsigned long long)tally->splits,
        (unsigned long long)tally->isolated, (unsigned long long)tally->moved, (unsigned long long)tally->steps,
        seconds);
    printf("jobs of more than 16 ranks that recovered from a checkpoint: %llu, with locks %llu, with waits %llu; of "
           "groups of more than 7: %llu; with gsyncs from an image %llu, locks %llu, waits %llu\n",
           (unsigned long long)tally->large[CASE_GSYNC], (unsigned long long)tally->large[CASE_LOCKS],
           (unsigned long long)tally->large[CASE_WAITS], (unsigned long long)tally->wide,
           (unsigned long long)tally->styles[CASE_GSYNC], (unsigned long long)tally->styles[CASE_LOCKS],
           (unsigned long long)tally->styles[CASE_WAITS]);
    groups_print(&tally->groups);
    printf("%llu runs recovered with checksum ranks; "
           "%llu demand checkpoints, %llu runs recovered from one; %llu images decoded; %llu runs computed parity from "
           "differences and did not read %llu bytes\n",
           (unsigned long long)tally->dedicated, (unsigned long long)tally->demands,
           (unsigned long long)tally->demanded, (unsigned long long)tally->decoded, (unsigned long long)tally->sparing,
           (unsigned long long)tally->spared);
#ifdef KEEL_PLANTED_DEFECTS
    for (unsigned i = 0; i < options.must_count; ++i) {
        printf("%s: reached %lld times\n", options.must[i], reached_count(options.must[i]));
    }
    if (options.cases) {
        reached_print();
    }
    if (!has_reached_all(&options)) {
        fprintf(stderr, "sim_planted: not all cases were reached\n");
        return EXIT_FAILURE;
    }
#endif
    if (options.plant != NULL) {
        printf("%s: noticed in %llu of %llu runs\n", options.plant, (unsigned long long)tally->failed,
               (unsigned long long)(tally->passed + tally->failed));
        return (((tally->failed > 0) != options.is_harmless) && (tally->unfounded == 0)) ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    gaps = !options.allow_gaps && !options.has_seed && has_gaps(&options, tally);
    gaps |= (options.runs >= RUNS_OF_PARITIES) && groups_are_unused(&tally->groups, options.limits.parities);
    if (tally->free > 0) {
        printf(
            "of %llu runs with deaths in which nothing but an atomic under way could stand in the way, %llu (%.1f %%) "
            "recovered locally\n",
            (unsigned long long)tally->free, (unsigned long long)tally->free_local,
            100.0 * (double)tally->free_local / (double)tally->free);
    }
    if (options.floor > 0 && (tally->free == 0 || 100 * tally->free_local < options.floor * tally->free)) {
        fprintf(stderr, "%llu %% are wanted\n", (unsigned long long)options.floor);
        gaps = 1;
    }
    if (tally->crashed_runs < options.crashes) {
        fprintf(stderr, "%llu runs had deaths, %llu are wanted\n", (unsigned long long)tally->crashed_runs,
                (unsigned long long)options.crashes);
        gaps = 1;
    }
    say_failed(&options, tally);
    printf("%llu passed, %llu failed\n", (unsigned long long)tally->passed, (unsigned long long)tally->failed);
    return ((tally->failed > 0) || gaps) ? EXIT_FAILURE : EXIT_SUCCESS;
}
