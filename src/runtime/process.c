/*
 * Examines processes through /proc and kills them through descriptors: a process number may be
 * reused, a descriptor is not.
 */
#define _GNU_SOURCE /* syscall() */
#include "process.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NAME_LENGTH 16 /* the kernel's limit, with the terminating zero */

/* ---- reading /proc ---- */

/* Reads the beginning of a file of the thread. Returns the length, 0 if there is no such file. */
static size_t thread_read(int64_t pid, int64_t thread, const char *file, char *text, size_t size)
{
    char path[80];
    size_t length;
    FILE *stream;

    snprintf(path, sizeof path, "/proc/%lld/task/%lld/%s", (long long)pid, (long long)thread, file);
    stream = fopen(path, "re");
    if (stream == NULL) {
        return 0;
    }
    length = fread(text, 1, size - 1, stream);
    fclose(stream);
    text[length] = '\0';
    return length;
}

/*
 * Start time of the thread in the kernel's ticks, 0 if there is no such thread. *state_p gets the
 * state letter.
 */
static uint64_t thread_start(int64_t pid, int64_t thread, char *state_p)
{
    unsigned long long start = 0;
    const char *rest;
    char text[512];

    if (thread_read(pid, thread, "stat", text, sizeof text) == 0) {
        return 0;
    }
    rest = strrchr(text, ')'); /* the name before may contain any character */
    if (rest == NULL ||
        sscanf(rest + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", state_p,
               &start) != 2) {
        return 0;
    }
    return start;
}

static int thread_is_named(int64_t pid, int64_t thread, const char *name)
{
    char text[NAME_LENGTH + 1];
    /* with an end of line */
    const size_t length = thread_read(pid, thread, "comm", text, sizeof text);

    return length == strlen(name) + 1 && strncmp(text, name, length - 1) == 0;
}

/* Returns 0 if no thread has this name. */
static int64_t thread_find(int64_t pid, const char *name)
{
    const struct dirent *entry;
    int64_t found = 0;
    char path[40];
    DIR *threads;

    snprintf(path, sizeof path, "/proc/%lld/task", (long long)pid);
    threads = opendir(path);
    while (threads != NULL && found == 0 && (entry = readdir(threads)) != NULL) {
        const int64_t thread = strtoll(entry->d_name, NULL, 10);

        found = (thread > 0 && thread_is_named(pid, thread, name)) ? thread : 0;
    }
    if (threads != NULL) {
        closedir(threads);
    }
    return found;
}

static uint64_t ns_since_boot(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

int keel_process_see(int64_t pid, const char *thread, keel_sight_t *sight_p)
{
    const uint64_t tick_ns = 1000000000ull / (uint64_t)sysconf(_SC_CLK_TCK);
    const int64_t named = (thread != NULL) ? thread_find(pid, thread) : 0, seen = (named != 0) ? named : pid;
    unsigned long long ran = 0, waited = 0;
    char text[128], state = '?';
    const uint64_t start = thread_start(pid, seen, &state);

    *sight_p = (keel_sight_t){.state = state};
    if (start == 0) {
        return 0;
    }
    if (thread_read(pid, seen, "schedstat", text, sizeof text) == 0 || sscanf(text, "%llu %llu", &ran, &waited) != 2) {
        ran = waited = 0;
    }
    sight_p->pid = pid;
    sight_p->lived_ns = ns_since_boot() - start * tick_ns;
    sight_p->ran_ns = ran;
    sight_p->waited_ns = waited;
    return named != 0;
}

/* ---- processes ---- */

void keel_process_self(keel_process_t *process)
{
    char state;

    process->start = thread_start(getpid(), getpid(), &state);
    process->pid = process->start != 0 ? getpid() : 0;
}

int keel_process_is_gone(const keel_process_t *process)
{
    char state = 'X';

    return thread_start(process->pid, process->pid, &state) != process->start || state == 'Z' || state == 'X';
}

int keel_process_kill(const keel_process_t *process, int timeout_ms)
{
    struct pollfd poll_fd = {.fd = (int)syscall(SYS_pidfd_open, (pid_t)process->pid, 0), .events = POLLIN};
    /*
     * Checked after the open: the descriptor refers to the right process, or the process is
     * gone.
     */
    int is_gone = keel_process_is_gone(process);

    if (poll_fd.fd < 0) {
        return is_gone;
    }
    if (!is_gone && syscall(SYS_pidfd_send_signal, poll_fd.fd, SIGKILL, NULL, 0) == 0) {
        is_gone = poll(&poll_fd, 1, timeout_ms) == 1;
    }
    close(poll_fd.fd);
    return is_gone;
}
