/*
 * A small self-checking job, for deaths at moments that a kernel does not reach at will: while the
 * job starts, while a replacement starts, while the job leaves, and many in one job. In each step
 * every rank puts a number at its right neighbour, and gets a number from its left neighbour in the
 * next phase; both are added to a sum of its own.
 *
 *   moments plain STEPS             without deaths of its own; rank 0 prints a line at step 100,
 *                                   after checkpoints were taken
 *   moments awaited STEPS           the same, and in its first incarnation rank 0 waits behind that
 *                                   line until it is killed
 *   moments init RANK DELAY_US      RANK dies this long after keel_init() in its first incarnation
 *   moments reinit RANK DELAY_US    RANK dies in a step, and again this long after its
 *                                   replacement called keel_init()
 *   moments finalize RANK DELAY_US  RANK dies this long after keel_finalize() in its first
 *                                   incarnation
 *   moments many DEATHS [LEAK]      DEATHS deaths one after another; files and mappings of the
 *                                   survivor are counted. LEAK is file or mapping: the survivor
 *                                   leaks one with each death, and the count must show the leak
 *   moments lives RANK.LIFE@STEP[:FILE],...
 *                                   that incarnation of RANK dies in STEP; first it kills the
 *                                   process with the number in FILE
 *   moments compute RANK MS         RANK computes MS in a step without calls; others wait for it
 *   moments doubted STEPS           prints a line when a live rank was suspected
 */
#include "try.h"

#include <keel/keel.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum {
    STEPS = 24,
    CKPT_EVERY = 5,
    DEATH_STEP = 13,
    PER_DEATH = 6,
    SETTLED = 3,
    PRINTED_STEP = 100,
    DEATHS_MIN = SETTLED + 3,
    DEATHS_MAX = 64,
    EXIT_KEEL = 3,
    EXIT_WRONG = 1
};

typedef struct {
    const char *mode;
    unsigned long victim, delay_us, deaths, steps;
    keel_context_h ctx;
    /* a word put by the right neighbour, and a word that the right neighbour gets */
    keel_win_h win;
    uint64_t step, sum;                           /* protected */
    const char *leak;                             /* "file", "mapping" or NULL */
    const char *plan;                             /* of mode lives */
    unsigned files[DEATHS_MAX], maps[DEATHS_MAX]; /* of this process, after each death */
} job_t;

static int is_mode(const job_t *job, const char *mode)
{
    return strcmp(job->mode, mode) == 0;
}

static void die_after(unsigned long delay_us)
{
    const struct itimerval timer = {
        .it_value = {.tv_sec = (time_t)(delay_us / 1000000), .tv_usec = (suseconds_t)(delay_us % 1000000 + 1)}};

    /* SIGALRM is not handled: it kills the process at any point */
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* Before keel_init() only the launcher's variables identify the rank. */
static void plan_early_death(const job_t *job)
{
    const char *rank = getenv("PMIX_RANK"), *incarnation = getenv("KEEL_INCARNATION"),
               *job_number = getenv("KEELRUN_JOB");
    const int life = (incarnation != NULL) ? atoi(incarnation) : 0;

    if (job_number != NULL && strcmp(job_number, "0") != 0) {
        return;
    }
    if (rank != NULL && strtoul(rank, NULL, 10) == job->victim &&
        ((is_mode(job, "init") && life == 0) || (is_mode(job, "reinit") && life == 1))) {
        die_after(job->delay_us);
    }
}

static void kill_process(const char *path)
{
    FILE *file = fopen(path, "re");
    int pid = 0;

    if (file == NULL || fscanf(file, "%d", &pid) != 1 || pid <= 1 || kill(pid, SIGKILL) != 0) {
        fprintf(stderr, "moments: nothing to kill in %s\n", path);
    }
    if (file != NULL) {
        fclose(file);
    }
}

static int is_end_of_life(const job_t *job)
{
    for (const char *plan = job->plan; plan != NULL; plan = strchr(plan, ',') ? strchr(plan, ',') + 1 : NULL) {
        unsigned rank, life, step;
        char path[256] = "";

        if (sscanf(plan, "%u.%u@%u:%255[^,]", &rank, &life, &step, path) >= 3 && rank == keel_rank(job->ctx) &&
            life == keel_incarnation(job->ctx) && step == job->step) {
            if (path[0] != '\0') {
                kill_process(path);
            }
            return 1;
        }
    }
    return 0;
}

/* Death number d is of rank 1 + d % (ranks - 1), so rank 0 survives all deaths. */
static int is_time_to_die(const job_t *job)
{
    const uint64_t d = job->step / PER_DEATH, others = keel_size(job->ctx) - 1;

    if (is_mode(job, "reinit")) {
        return job->step == DEATH_STEP && keel_rank(job->ctx) == job->victim && keel_incarnation(job->ctx) == 0;
    }
    if (is_mode(job, "lives")) {
        return is_end_of_life(job);
    }
    return is_mode(job, "many") && d < job->deaths && job->step % PER_DEATH == 1 &&
           keel_rank(job->ctx) == 1 + d % others && keel_incarnation(job->ctx) == d / others;
}

static unsigned count_files(void)
{
    DIR *directory = opendir("/proc/self/fd");
    unsigned count = 0;

    while (directory != NULL && readdir(directory) != NULL) {
        count++;
    }
    closedir(directory);
    return count;
}

static unsigned count_maps(void)
{
    FILE *file = fopen("/proc/self/maps", "re");
    unsigned count = 0;
    int c;

    while ((c = getc(file)) != EOF) {
        count += (c == '\n');
    }
    fclose(file);
    return count;
}

/* MAP_SHARED: each call makes a separate mapping, like those of other processes' memory. */
static void leak_one(const job_t *job)
{
    if (job->leak != NULL && strcmp(job->leak, "file") == 0) {
        (void)!open("/dev/null", O_RDONLY | O_CLOEXEC);
    } else if (job->leak != NULL && strcmp(job->leak, "mapping") == 0) {
        (void)mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    }
}

/* Counts at the end of each death's steps. */
static void count_resources(job_t *job)
{
    const uint64_t d = job->step / PER_DEATH;

    if (!is_mode(job, "many") || keel_rank(job->ctx) != 0 || job->step % PER_DEATH != PER_DEATH - 1 ||
        d >= job->deaths) {
        return;
    }
    leak_one(job);
    job->files[d] = count_files();
    job->maps[d] = count_maps();
    printf("moments: after %lu deaths %u files, %u mappings\n", (unsigned long)d + 1, job->files[d], job->maps[d]);
    fflush(stdout);
}

static unsigned least(const unsigned *value, size_t count)
{
    unsigned least = value[0];

    for (size_t i = 1; i < count; i++) {
        least = value[i] < least ? value[i] : least;
    }
    return least;
}

/*
 * The increase from the first third of the deaths to the last, by the least count of each third. A
 * single count is unreliable: two processes that connect to each other at the same moment may keep
 * a socket for either direction while both live, and a count may include a file that is open for a
 * short time. A leak by every death, or by every second death, also raises the least count.
 */
static unsigned growth(const unsigned *value, size_t deaths)
{
    const size_t third = (deaths - SETTLED) / 3;
    const unsigned first = least(value + SETTLED, third), last = least(value + deaths - third, third);

    return last > first ? last - first : 0;
}

static int has_leaked(const job_t *job)
{
    if (!is_mode(job, "many") || keel_rank(job->ctx) != 0) {
        return 0;
    }
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return growth(job->files, job->deaths) > 0; /* mappings include the sanitizer's own */
#else
    /* the C library's heap may grow by a mapping */
    return growth(job->files, job->deaths) > 0 || growth(job->maps, job->deaths) > 1;
#endif
}

/* Computes without a system call: only the service thread can show that the process is alive. */
static void compute(unsigned long ms)
{
    const clock_t end = clock() + (clock_t)ms * (CLOCKS_PER_SEC / 1000);

    while (clock() < end) {
    }
}

/* True if a rank was suspected. A neighbour that computes, or shares its core, must reply in
 * time. */
static int is_anybody_suspected(const job_t *job)
{
    keel_stats_t stats;

    if (!is_mode(job, "compute") || keel_stats(job->ctx, &stats, sizeof(stats)) != KEEL_OK) {
        return 0;
    }
    return stats.suspicions > 0 || stats.deaths > 0;
}

static void print_false_alarm(const job_t *job)
{
    keel_stats_t stats;

    if (is_mode(job, "doubted") && keel_stats(job->ctx, &stats, sizeof(stats)) == KEEL_OK &&
        stats.false_suspicions == 1) {
        puts("moments: false alarm");
        fflush(stdout);
    }
}

static void print_step(const job_t *job)
{
    const int is_awaited = is_mode(job, "awaited");

    if ((is_awaited || is_mode(job, "plain")) && keel_rank(job->ctx) == 0 && job->step == PRINTED_STEP) {
        puts("moments: step 100");
        fflush(stdout);
        while (is_awaited && keel_incarnation(job->ctx) == 0) {
            pause();
        }
    }
}

static keel_status_t do_step(job_t *job)
{
    const uint32_t rank = keel_rank(job->ctx), size = keel_size(job->ctx);
    const uint64_t *own = keel_win_base(job->win);
    const uint64_t said = job->step * size + rank;
    uint64_t seen;

    TRY(keel_put(job->win, (rank + 1) % size, 0, &said, sizeof said));
    TRY(keel_gsync(job->ctx, 0));
    if (is_time_to_die(job)) {
        raise(SIGKILL);
    }
    if (is_mode(job, "compute") && job->step == DEATH_STEP && rank == job->victim) {
        compute(job->delay_us);
    }
    job->sum += own[0];
    TRY(keel_get(job->win, (rank + size - 1) % size, 0, &seen, sizeof seen));
    job->sum = job->sum * 31 + seen;
    job->step++;
    if (job->step % CKPT_EVERY == 0 || (is_mode(job, "many") && job->step % PER_DEATH == SETTLED)) {
        return keel_checkpoint(job->ctx);
    }
    return keel_gsync(job->ctx, KEEL_GSYNC_SAFE);
}

/* The expected sum, computed locally. */
static uint64_t expected_sum(const job_t *job)
{
    const uint64_t size = keel_size(job->ctx), rank = keel_rank(job->ctx);
    uint64_t sum = 0;

    for (uint64_t step = 0; step < job->steps; step++) {
        sum += step * size + (rank + size - 1) % size;
        sum = sum * 31 + step * size + (rank + size - 2 + (size == 1)) % size;
    }
    return sum;
}

static keel_status_t run(job_t *job, int *is_wrong)
{
    if (keel_restarted(job->ctx)) {
        TRY(keel_restore(job->ctx));
    }
    while (job->step < job->steps) {
        TRY(do_step(job));
        count_resources(job);
        print_false_alarm(job);
        print_step(job);
    }
    *is_wrong |= has_leaked(job) | is_anybody_suspected(job) | (job->sum != expected_sum(job));
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL); /* an early death must not happen late */
    if (is_mode(job, "finalize") && keel_rank(job->ctx) == job->victim && keel_incarnation(job->ctx) == 0) {
        die_after(job->delay_us);
    }
    return keel_finalize(job->ctx);
}

static keel_status_t open_memory(job_t *job)
{
    TRY(keel_win_alloc(job->ctx, 2 * sizeof(uint64_t), NULL, &job->win));
    TRY(keel_protect(job->ctx, 0, &job->step, sizeof job->step));
    return keel_protect(job->ctx, 1, &job->sum, sizeof job->sum);
}

int main(int argc, char **argv)
{
    job_t job = {.mode = argc > 1 ? argv[1] : "plain", .steps = STEPS};
    const unsigned long number = argc > 2 ? strtoul(argv[2], NULL, 10) : STEPS;
    int is_wrong = 0;
    keel_status_t status;

    job.victim = number;
    job.delay_us = argc > 3 ? strtoul(argv[3], NULL, 10) : 0; /* not a number: unused */
    if (is_mode(&job, "plain") || is_mode(&job, "awaited") || is_mode(&job, "doubted")) {
        job.steps = number;
    } else if (is_mode(&job, "many")) {
        job.deaths = (number < DEATHS_MIN) ? DEATHS_MIN : (number > DEATHS_MAX) ? DEATHS_MAX : number;
        job.leak = argc > 3 ? argv[3] : NULL;
        job.steps = (job.deaths + 1) * PER_DEATH;
    }
    job.plan = is_mode(&job, "lives") && argc > 2 ? argv[2] : NULL;
    plan_early_death(&job);
    status = keel_init(NULL, &job.ctx);
    if (status != KEEL_OK) {
        fprintf(stderr, "moments: keel_init: %s\n", keel_status_string(status));
        return EXIT_KEEL;
    }
    status = open_memory(&job);
    if (status == KEEL_OK) {
        do {
            status = run(&job, &is_wrong);
        } while (status == KEEL_ERR_ROLLED_BACK);
    }
    if (status != KEEL_OK) {
        fprintf(stderr, "moments: %s\n", keel_status_string(status));
        return EXIT_KEEL;
    }
    if (is_wrong) {
        fprintf(stderr, "moments: wrong sum, somebody suspected, or more files or mappings than before\n");
    }
    return is_wrong ? EXIT_WRONG : 0;
}
