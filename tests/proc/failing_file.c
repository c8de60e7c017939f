/*
 * A library to preload into ranks: one file operation of the writer of checkpoints fails.
 *
 *   KEELTEST_FILE_FAILS=CALL:ERRNO  the first CALL fails: open, write, short, fsync, rename, mkdir;
 *                                   short: write() takes one byte
 *   KEELTEST_FILE_DIES=RANK:N       the rank dies at the N-th operation of the first life
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

static void count(void)
{
    const char *plan = getenv("KEELTEST_FILE_DIES"), *rank = getenv("PMIX_RANK"), *life = getenv("KEEL_INCARNATION");
    static int operations;
    unsigned of, number;

    operations++;
    if (plan != NULL && rank != NULL && (life == NULL || strcmp(life, "0") == 0) &&
        sscanf(plan, "%u:%u", &of, &number) == 2 && strtoul(rank, NULL, 10) == of && operations == (int)number) {
        raise(SIGKILL);
    }
}

/* Returns the errno of the failure; 0: the operation succeeds. */
static int fails(const char *call)
{
    const char *plan = getenv("KEELTEST_FILE_FAILS");
    static int is_done;

    if (!is_writer()) {
        return 0;
    }
    count();
    if (plan == NULL || is_done || strncmp(plan, call, strlen(call)) != 0 || plan[strlen(call)] != ':') {
        return 0;
    }
    is_done = 1;
    return atoi(plan + strlen(call) + 1);
}

static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

int openat(int dir, const char *path, int flags, ...)
{
    int (*call)(int, const char *, int, ...) = (int (*)(int, const char *, int, ...))next("openat");
    unsigned mode;
    va_list arguments;
    int error = (flags & O_CREAT) ? fails("open") : 0;

    va_start(arguments, flags);
    mode = (flags & O_CREAT) ? va_arg(arguments, unsigned) : 0;
    va_end(arguments);
    if (error != 0) {
        errno = error;
        return -1;
    }
    return call(dir, path, flags, mode);
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
