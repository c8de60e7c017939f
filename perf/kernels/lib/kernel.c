#include "kernel.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

double kernel_now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* FNV-1a over 64-bit words, with a shift from high bits to low bits; the tail is a padded word. */
uint64_t kernel_hash(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    uint64_t word;

    for (; bytes >= sizeof word; bytes -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        hash = (hash ^ word) * 0x100000001b3ull;
        hash ^= hash >> 32;
    }
    if (bytes > 0) {
        word = 0;
        memcpy(&word, at, bytes);
        hash = (hash ^ word ^ ((uint64_t)bytes << 56)) * 0x100000001b3ull;
        hash ^= hash >> 32;
    }
    return hash;
}

/* State of this process alone: restored memory belongs to a predecessor. */
static struct {
    double started; /* 0: not yet */
    struct rusage begin, end;
    int has_end, has_again;
    uint64_t steps_again;
} life;

void kernel_cpu_begin(void)
{
    if (life.started == 0) {
        life.started = kernel_now_s();
        getrusage(RUSAGE_SELF, &life.begin);
    }
}

void kernel_cpu_end(void)
{
    getrusage(RUSAGE_SELF, &life.end);
    life.has_end = 1;
}

keel_status_t kernel_clock_start(keel_context_h ctx, double *started_p)
{
    if (*started_p != 0) {
        return KEEL_OK;
    }
    /* no image is taken during this gsync: an earlier image would repeat the start */
    KERNEL_TRY(keel_gsync(ctx, 0));
    kernel_cpu_begin();
    *started_p = life.started;
    return KEEL_OK;
}

double kernel_clock_stop(void)
{
    kernel_cpu_end();
    return kernel_now_s();
}

void kernel_touch(void *memory, size_t bytes)
{
    volatile unsigned char *const at = memory;
    size_t offset;

    for (offset = 0; offset < bytes; offset += 4096) {
        at[offset] = at[offset];
    }
}

void kernel_spoil(void *result, size_t bytes)
{
    const char *word = getenv("KERNEL_SPOIL");
    unsigned long number;

    if ((word != NULL) && (kernel_parse_number(word, 0, &number) == 0)) {
        ((uint64_t *)result)[number % (bytes / sizeof(uint64_t))] ^= 1ull << 30;
    }
}

void kernel_report_repeated(const kernel_death_t *death, uint32_t rank, uint32_t incarnation, uint64_t steps,
                            uint64_t executed)
{
    if (incarnation == 0) {
        life.steps_again = executed - steps;
        life.has_again = 1;
    } else if (death->is_set && (death->rank == rank)) {
        life.steps_again = executed - (steps - death->step);
        life.has_again = 1;
    }
}

static double seconds_between(struct timeval begin, struct timeval end)
{
    return (double)(end.tv_sec - begin.tv_sec) + 1e-6 * (double)(end.tv_usec - begin.tv_usec);
}

static void life_report(void)
{
    if (!life.has_end) {
        kernel_cpu_end();
    }
    fprintf(stderr, "kernel: %.6f s of user time\n", seconds_between(life.begin.ru_utime, life.end.ru_utime));
    fprintf(stderr, "kernel: %.6f s of system time\n", seconds_between(life.begin.ru_stime, life.end.ru_stime));
    if (life.has_again) {
        fprintf(stderr, "kernel: %" PRIu64 " steps done again\n", life.steps_again);
    }
}

/*
 * With KERNEL_CPU in the environment, each process reports the CPU time within the clock on stderr
 * at its end; a replacement, since its start. Processes that log for others never reach a kernel's
 * own code, and report, too.
 */
__attribute__((constructor)) static void life_report_at_exit(void)
{
    if (getenv("KERNEL_CPU") != NULL) {
        atexit(life_report);
    }
}

int kernel_is_speaker(void)
{
    const char *rank = getenv("PMIX_RANK");

    return (rank == NULL) || (strcmp(rank, "0") == 0);
}

int kernel_usage_error(const char *program, const char *format, ...)
{
    va_list args;

    if (!kernel_is_speaker()) {
        return KERNEL_EXIT_OK;
    }
    fprintf(stderr, "%s: ", program);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, " (%s --help lists the options)\n", program);
    return KERNEL_EXIT_USAGE;
}

int kernel_keel_error(const char *program, const char *what, keel_status_t status)
{
    fprintf(stderr, "%s: %s: %s\n", program, what, keel_status_string(status));
    return KERNEL_EXIT_KEEL;
}

/* Parses a decimal number at *text_p and advances *text_p. */
static int parse_part(const char **text_p, unsigned long *value_p)
{
    char *end;

    if (!isdigit((unsigned char)**text_p)) {
        return -1;
    }
    errno = 0;
    *value_p = strtoul(*text_p, &end, 10);
    *text_p = end;
    return (errno == 0) ? 0 : -1;
}

int kernel_parse_number(const char *text, unsigned long min, unsigned long *value_p)
{
    unsigned long value;

    if ((parse_part(&text, &value) != 0) || (*text != '\0') || (value < min)) {
        return -1;
    }
    *value_p = value;
    return 0;
}

int kernel_parse_death(const char *text, kernel_death_t *death_p)
{
    kernel_death_t death = {.is_set = 1};

    if ((parse_part(&text, &death.rank) != 0) || (*text++ != '@') || (parse_part(&text, &death.step) != 0) ||
        (*text++ != '.') || (parse_part(&text, &death.phase) != 0)) {
        return -1;
    }
    if (*text == '\0') {
        death.signal = SIGKILL;
    } else if (strcmp(text, ":stop") == 0) {
        death.signal = SIGSTOP;
    } else if (strcmp(text, ":hold") != 0) {
        return -1;
    }
    *death_p = death;
    return 0;
}

static void hold(keel_context_h ctx)
{
    const struct timespec while_ = {.tv_nsec = 1000000};
    keel_stats_t stats = {0};

    while ((stats.deaths == 0) && (keel_progress(ctx) >= 0) && (keel_stats(ctx, &stats, sizeof(stats)) == KEEL_OK)) {
        nanosleep(&while_, NULL);
    }
}

void kernel_die_here(const kernel_death_t *death, keel_context_h ctx, unsigned long step, unsigned long phase)
{
    if (death->is_set && (death->rank == keel_rank(ctx)) && (death->step == step) && (death->phase == phase) &&
        (keel_incarnation(ctx) == 0)) {
        if (death->signal != 0) {
            raise(death->signal);
        } else {
            hold(ctx);
        }
    }
}
