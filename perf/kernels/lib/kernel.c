#include "kernel.h"

#include <ctype.h>
#include <errno.h>
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

/* FNV-1a over 64-bit words, with a shift that lets high bits reach low ones; the tail is one padded word. */
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

static void cpu_tell(void)
{
    struct rusage used;

    if (getrusage(RUSAGE_SELF, &used) == 0) {
        fprintf(stderr, "kernel: %ld.%06ld s of user time\n", (long)used.ru_utime.tv_sec, (long)used.ru_utime.tv_usec);
    }
}

/* With KERNEL_CPU in the environment: what this process computed is told on stderr when it ends, system calls and faults
 * not included. Processes that log for others never come to a kernel's own code, and tell it too. */
__attribute__((constructor)) static void cpu_watch(void)
{
    if (getenv("KERNEL_CPU") != NULL) {
        atexit(cpu_tell);
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

/* A decimal number at *text_p, which is moved behind it. */
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
    death.signal = (strcmp(text, ":stop") == 0) ? SIGSTOP : SIGKILL;
    if ((*text != '\0') && (death.signal == SIGKILL)) {
        return -1;
    }
    *death_p = death;
    return 0;
}

void kernel_die_here(const kernel_death_t *death, keel_context_h ctx, unsigned long step, unsigned long phase)
{
    if (death->is_set && (death->rank == keel_rank(ctx)) && (death->step == step) && (death->phase == phase) &&
        (keel_incarnation(ctx) == 0)) {
        raise(death->signal);
    }
}
