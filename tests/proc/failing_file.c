/*
 * A library to preload into ranks: one file operation of the writer of checkpoints fails, or of the
 * start of a job.
 *
 *   KEELTEST_FILE_FAILS=CALL:ERRNO  the first CALL fails: open, write, short, fsync, rename, mkdir,
 *                                   look (open without a new file), unlink, stat, access; short:
 *                                   write() takes one byte
 *   KEELTEST_START_FAILS=CALL:ERRNO the first look, read or short (read() gives one byte) of a
 *                                   file of a rank fails while the job begins
 *   KEELTEST_FILE_DIES=RANK:N       the rank dies at the N-th operation of the first life
 *   KEELTEST_START_DIES=RANK:N      the rank dies at the N-th look, read or access in the folder,
 *                                   in the first life of the first job
 *
 * The writer is the thread with the lowest priority.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WRITER_NICENESS 19

static int is_writer(void)
{
    const int error = errno, niceness = getpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid));

    errno = error;
    return niceness == WRITER_NICENESS;
}

/* Dies if the plan RANK:N names this operation. */
static void count(const char *variable, int operation)
{
    const char *plan = getenv(variable), *rank = getenv("PMIX_RANK"), *life = getenv("KEEL_INCARNATION");
    unsigned of, number;

    if (plan != NULL && rank != NULL && (life == NULL || strcmp(life, "0") == 0) &&
        sscanf(plan, "%u:%u", &of, &number) == 2 && strtoul(rank, NULL, 10) == of && operation == (int)number) {
        raise(SIGKILL);
    }
}

/* Returns the errno that the plan CALL:ERRNO has for this call, once. */
static int planned(const char *variable, const char *call, int *is_done)
{
    const char *plan = getenv(variable);

    if (plan == NULL || *is_done || strncmp(plan, call, strlen(call)) != 0 || plan[strlen(call)] != ':') {
        return 0;
    }
    *is_done = 1;
    return atoi(plan + strlen(call) + 1);
}

/* The same for an operation of the start, by the thread that runs the program. */
static int start_fails(const char *call)
{
    const char *job = getenv("KEELRUN_JOB");
    static int is_done, operations;

    if (is_writer() || job == NULL || strcmp(job, "0") != 0) {
        return 0;
    }
    if (strcmp(call, "short") != 0) {
        count("KEELTEST_START_DIES", ++operations);
    }
    return planned("KEELTEST_START_FAILS", call, &is_done);
}

/* Returns the errno of the failure; 0: the operation succeeds. */
static int fails(const char *call)
{
    static int is_done, operations;

    if (!is_writer()) {
        return 0;
    }
    /* looks are not counted: their number depends on the time */
    if (strcmp(call, "look") != 0 && strcmp(call, "stat") != 0 && strcmp(call, "access") != 0) {
        count("KEELTEST_FILE_DIES", ++operations);
    }
    return planned("KEELTEST_FILE_FAILS", call, &is_done);
}

static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

static int reading = -1; /* descriptor of the file of a rank */

int openat(int dir, const char *path, int flags, ...)
{
    int (*call)(int, const char *, int, ...) = (int (*)(int, const char *, int, ...))next("openat");
    unsigned mode;
    va_list arguments;
    int error = (dir == AT_FDCWD) ? 0 : fails((flags & O_CREAT) ? "open" : "look");
    int file;

    if (error == 0 && dir != AT_FDCWD && strncmp(path, "rank-", 5) == 0) {
        error = start_fails("look");
    }

    va_start(arguments, flags);
    mode = (flags & O_CREAT) ? va_arg(arguments, unsigned) : 0;
    va_end(arguments);
    if (error != 0) {
        errno = error;
        return -1;
    }
    file = call(dir, path, flags, mode);
    reading = (dir != AT_FDCWD && strncmp(path, "rank-", 5) == 0 && !is_writer()) ? file : reading;
    return file;
}

ssize_t read(int fd, void *data, size_t length)
{
    ssize_t (*call)(int, void *, size_t) = (ssize_t(*)(int, void *, size_t))next("read");
    const int is_ours = fd >= 0 && fd == reading, error = is_ours ? start_fails("read") : 0;

    if (error != 0) {
        errno = error;
        return -1;
    }
    return call(fd, data, (is_ours && start_fails("short") != 0) ? 1 : length);
}

int close(int fd)
{
    int (*call)(int) = (int (*)(int))next("close");

    reading = (fd == reading) ? -1 : reading;
    return call(fd);
}

int unlinkat(int dir, const char *path, int flags)
{
    int (*call)(int, const char *, int) = (int (*)(int, const char *, int))next("unlinkat");
    const int error = fails("unlink");

    if (error != 0) {
        errno = error;
        return -1;
    }
    return call(dir, path, flags);
}

int fstatat(int dir, const char *restrict path, struct stat *restrict about, int flags)
{
    int (*call)(int, const char *, struct stat *, int) =
        (int (*)(int, const char *, struct stat *, int))next("fstatat");
    const int error = fails("stat");

    if (error != 0) {
        errno = error;
        return -1;
    }
    return call(dir, path, about, flags);
}

int faccessat(int dir, const char *path, int mode, int flags)
{
    int (*call)(int, const char *, int, int) = (int (*)(int, const char *, int, int))next("faccessat");
    const int error = strcmp(path, "request") != 0 ? fails("access") : 0;

    if (error != 0) {
        errno = error;
        return -1;
    }
    if (!is_writer() && strstr(path, "/manifest") != NULL) {
        (void)start_fails("access");
    }
    return call(dir, path, mode, flags);
}

ssize_t write(int fd, const void *data, size_t length)
{
    ssize_t (*call)(int, const void *, size_t) = (ssize_t(*)(int, const void *, size_t))next("write");
    const int error = fails("write"), is_short = error == 0 && fails("short") != 0;

    if (error != 0) {
        errno = error;
        return -1;
    }
    return call(fd, data, is_short ? 1 : length);
}

int fsync(int fd)
{
    int (*call)(int) = (int (*)(int))next("fsync");
    const int error = fails("fsync");

    if (error != 0) {
        errno = error;
        return -1;
    }
    return call(fd);
}

int renameat(int from, const char *old, int to, const char *new)
{
    int (*call)(int, const char *, int, const char *) = (int (*)(int, const char *, int, const char *))next("renameat");
    const int error = fails("rename");

    if (error != 0) {
        errno = error;
        return -1;
    }
    return call(from, old, to, new);
}

int mkdirat(int dir, const char *path, mode_t mode)
{
    int (*call)(int, const char *, mode_t) = (int (*)(int, const char *, mode_t))next("mkdirat");
    const int error = fails("mkdir");

    if (error != 0) {
        errno = error;
        return -1;
    }
    return call(dir, path, mode);
}
