#define _GNU_SOURCE /* SYS_tgkill */
/*
 * The other threads, Keel's service thread included, are found in /proc/self/task and get a signal;
 * the handler waits. The list is read again until no new thread appears. A thread that blocks the
 * signal cannot be stopped. Nothing here allocates memory: a stopped thread may hold the
 * allocator's lock.
 */
#include "life/mpi_stop_world.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_MAX = 256, ROUNDS_MAX = 100000 /* for threads to leave the handler */ };

typedef struct {
    uint64_t inode;
    int64_t next;
    unsigned short length;
    unsigned char type;
    char name[];
} entry_t; /* as the kernel writes it */

static atomic_int is_stopped, stopped_count;

int keel_mpi_stop_world_signal(void)
{
    return SIGRTMAX - 3;
}

static void stop_handler(int number)
{
    atomic_fetch_add(&stopped_count, 1);
    while (atomic_load(&is_stopped)) {
        syscall(SYS_sched_yield);
    }
    atomic_fetch_sub(&stopped_count, 1);
}

/* The status file shows a thread's blocked signals as 16 hexadecimal digits. */
static int is_blocked(pid_t thread)
{
    char path[64], text[4096];
    const char *line;
    ssize_t bytes = 0;
    int file;

    snprintf(path, sizeof(path), "/proc/self/task/%d/status", (int)thread);
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        bytes = read(file, text, sizeof(text) - 1);
        close(file);
    }
    text[bytes > 0 ? bytes : 0] = '\0';
    line = strstr(text, "SigBlk:");
    return line == NULL ||
           (strtoull(line + strlen("SigBlk:"), NULL, 16) >> (keel_mpi_stop_world_signal() - 1) & 1) != 0;
}

static int is_among(const pid_t *threads, int count, pid_t thread)
{
    for (int i = 0; i < count; i++) {
        if (threads[i] == thread) {
            return 1;
        }
    }
    return 0;
}

/* Signals the threads not signalled yet; returns the number of all signalled threads. */
static int signal_others(pid_t *threads, int count)
{
    char room[4096] __attribute__((aligned(8)));
    const int folder = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const pid_t self = (pid_t)syscall(SYS_gettid);
    long bytes;

    while (folder >= 0 && (bytes = syscall(SYS_getdents64, folder, room, sizeof(room))) > 0) {
        for (long at = 0; at < bytes; at += ((const entry_t *)(room + at))->length) {
            const pid_t thread = (pid_t)strtol(((const entry_t *)(room + at))->name, NULL, 10);

            if (thread > 0 && thread != self && count < THREADS_MAX && !is_among(threads, count, thread) &&
                !is_blocked(thread) && syscall(SYS_tgkill, getpid(), thread, keel_mpi_stop_world_signal()) == 0) {
                threads[count++] = thread;
            }
        }
    }
    if (folder >= 0) {
        close(folder);
    }
    return count;
}

/* Number of signalled threads that have not ended. */
static int count_alive(const pid_t *threads, int count)
{
    int number = 0;

    for (int i = 0; i < count; i++) {
        number += syscall(SYS_tgkill, getpid(), threads[i], 0) == 0;
    }
    return number;
}

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* The handler stays installed: a thread that blocks the signal may get it much later. */
int keel_mpi_stop_world_begin(unsigned timeout_ms)
{
    const uint64_t end = now_ms() + timeout_ms;
    const struct sigaction action = {.sa_handler = stop_handler, .sa_flags = SA_RESTART};
    pid_t threads[THREADS_MAX];
    int count = 0, last, are_stopped;

    sigaction(keel_mpi_stop_world_signal(), &action, NULL);
    atomic_store(&is_stopped, 1);
    do {
        last = count;
        count = signal_others(threads, count);
        while (!(are_stopped = atomic_load(&stopped_count) >= count_alive(threads, count)) && now_ms() < end) {
            sched_yield();
        }
    } while (count > last && are_stopped);
    return are_stopped && count < THREADS_MAX;
}

void keel_mpi_stop_world_end(void)
{
    atomic_store(&is_stopped, 0);
    for (int i = 0; i < ROUNDS_MAX && atomic_load(&stopped_count) > 0; i++) {
        sched_yield();
    }
}
