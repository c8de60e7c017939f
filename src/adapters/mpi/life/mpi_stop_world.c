#define _GNU_SOURCE /* SYS_tgkill */
/*
 * The other threads, Keel's service thread included, are found in /proc/self/task and get a signal;
 * the handler waits. The list is read again until no new thread appears. Nothing here allocates
 * memory: a stopped thread may hold the allocator's lock.
 *
 * Safety: a thread counts as stopped by its own number, which its handler enters. The end waits
 * until all handlers are left, so no thread of one stop counts in the next. A thread between its
 * last access here and the end of its handler takes the next signal, because the handler does not
 * block it. A thread for which the program blocks the signal is not stopped. One for which libc
 * does, when just created or amid a spawn, gets the signal as soon as libc is done. The program's
 * handlers run in no thread meanwhile, the caller's included.
 */
#include "life/mpi_stop_world.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_MAX = 256, LOOK_MS = 10 /* between looks for threads that have ended */ };

/* The kernel's first real-time signal is libc's own: only libc blocks it, together with all
 * others, and not for long. */
#define LIBC_SIGNAL 32

/* handlers: entered in the upper half, left in the lower one */
#define ENTERED 0x10000u
#define LEFT    1u

typedef struct {
    uint64_t inode;
    int64_t next;
    unsigned short length;
    unsigned char type;
    char name[];
} entry_t; /* as the kernel writes it */

static atomic_uint is_stopped, handlers;
static atomic_int entered[THREADS_MAX]; /* the threads in handlers, by order */
static __thread int is_in_handler __attribute__((tls_model("initial-exec")));
static sigset_t callers_mask;

int keel_mpi_stop_world_signal(void)
{
    return SIGRTMAX - 3;
}

static pid_t own_thread(void)
{
    return (pid_t)syscall(SYS_gettid);
}

/* Waits while the word has the value, at most so long (NULL: without an end). */
static void word_wait(atomic_uint *word, unsigned value, const struct timespec *most)
{
    (void)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, most, NULL, 0);
}

static void word_wake(atomic_uint *word)
{
    (void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static void stop_handler(int number)
{
    const int kept = errno;
    unsigned place;

    if (is_in_handler || !atomic_load(&is_stopped)) { /* of an earlier stop, delivered late */
        return;
    }
    is_in_handler = 1;
    place = atomic_fetch_add(&handlers, ENTERED) / ENTERED;
    if (place < THREADS_MAX) {
        atomic_store(&entered[place], own_thread());
    }
    word_wake(&handlers);
    while (atomic_load(&is_stopped)) {
        word_wait(&is_stopped, 1, NULL);
    }
    if (place < THREADS_MAX) {
        atomic_store(&entered[place], 0);
    }
    is_in_handler = 0; /* before the thread is counted out: then the next stop may begin */
    atomic_fetch_add(&handlers, LEFT);
    word_wake(&handlers);
    errno = kept;
}

static int has_signal(uint64_t set, int number)
{
    return (int)(set >> (number - 1) & 1);
}

/* True if the thread has ended, or the program blocks the signal there. The status file shows a
 * thread's blocked signals as 16 hexadecimal digits. */
static int is_out_of_reach(pid_t thread)
{
    char path[64], text[4096];
    const char *line;
    uint64_t blocked;
    ssize_t bytes;
    int file;

    snprintf(path, sizeof(path), "/proc/self/task/%d/status", (int)thread);
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return errno == ENOENT || errno == ESRCH;
    }
    bytes = read(file, text, sizeof(text) - 1);
    close(file);
    text[bytes > 0 ? bytes : 0] = '\0';
    line = strstr(text, "SigBlk:");
    if (line == NULL) {
        return bytes <= 0; /* the thread has ended */
    }
    blocked = strtoull(line + strlen("SigBlk:"), NULL, 16);
    return has_signal(blocked, keel_mpi_stop_world_signal()) && !has_signal(blocked, LIBC_SIGNAL);
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

/* Signals the threads not signalled yet. Returns the number of all signalled threads; THREADS_MAX
 * if the threads cannot be listed. */
static int signal_others(pid_t *threads, int count)
{
    char room[4096] __attribute__((aligned(8)));
    const int folder = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const pid_t self = own_thread();
    long bytes;

    if (folder < 0) {
        return THREADS_MAX;
    }
    while ((bytes = syscall(SYS_getdents64, folder, room, sizeof(room))) > 0) {
        for (long at = 0; at < bytes; at += ((const entry_t *)(room + at))->length) {
            const pid_t thread = (pid_t)strtol(((const entry_t *)(room + at))->name, NULL, 10);

            if (thread > 0 && thread != self && count < THREADS_MAX && !is_among(threads, count, thread) &&
                !is_out_of_reach(thread) && syscall(SYS_tgkill, getpid(), thread, keel_mpi_stop_world_signal()) == 0) {
                threads[count++] = thread;
            }
        }
    }
    close(folder);
    return (bytes == 0) ? count : THREADS_MAX;
}

static int has_entered(pid_t thread)
{
    const unsigned count = atomic_load(&handlers) / ENTERED;

    for (unsigned i = 0; i < count && i < THREADS_MAX; i++) {
        if (atomic_load(&entered[i]) == thread) {
            return 1;
        }
    }
    return 0;
}

/* True if each signalled thread is in its handler or out of reach. */
static int are_all_stopped(const pid_t *threads, int count)
{
    for (int i = 0; i < count; i++) {
        if (!has_entered(threads[i]) && !is_out_of_reach(threads[i])) {
            return 0;
        }
    }
    return 1;
}

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static int await_stopped(const pid_t *threads, int count, uint64_t end_ms)
{
    const struct timespec look = {.tv_nsec = LOOK_MS * 1000000L};

    for (;;) {
        const unsigned before = atomic_load(&handlers);

        if (are_all_stopped(threads, count)) {
            return 1;
        }
        if (now_ms() >= end_ms) {
            return 0;
        }
        word_wait(&handlers, before, &look);
    }
}

/* All signals but those of the instruction itself, and the own one. */
static void other_signals(sigset_t *set)
{
    static const int kept[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};

    sigfillset(set);
    sigdelset(set, keel_mpi_stop_world_signal());
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        sigdelset(set, kept[i]);
    }
}

/* The handler stays installed: a thread that blocks the signal may get it much later. */
int keel_mpi_stop_world_begin(unsigned timeout_ms)
{
    const uint64_t end_ms = now_ms() + timeout_ms;
    struct sigaction action = {.sa_handler = stop_handler, .sa_flags = SA_RESTART | SA_NODEFER};
    pid_t threads[THREADS_MAX];
    int count = 0, last, are_stopped;

    other_signals(&action.sa_mask);
    pthread_sigmask(SIG_BLOCK, &action.sa_mask, &callers_mask);
    sigaction(keel_mpi_stop_world_signal(), &action, NULL);
    atomic_store(&is_stopped, 1);
    do {
        last = count;
        count = signal_others(threads, count);
        are_stopped = count < THREADS_MAX && await_stopped(threads, count, end_ms);
    } while (count > last && are_stopped);
    return are_stopped;
}

void keel_mpi_stop_world_end(void)
{
    unsigned now;

    atomic_store(&is_stopped, 0);
    word_wake(&is_stopped);
    /* ends: nothing but the processor holds a thread in the handler now */
    for (;;) {
        now = atomic_load(&handlers);
        if (now / ENTERED != now % ENTERED) {
            word_wait(&handlers, now, NULL);
        } else if (atomic_compare_exchange_strong(&handlers, &now, 0)) {
            break;
        }
    }
    pthread_sigmask(SIG_SETMASK, &callers_mask, NULL);
}
