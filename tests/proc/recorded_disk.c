/*
 * A library to preload into ranks: records what reaches the folder KEEL_FILE_DIR, in the file
 * KEELTEST_RECORD, for power_cut.py. Each record is one line, written by one call:
 *
 *   C dir name file   a file is created, or cut to no bytes
 *   M dir name dir    a folder is made
 *   W file bytes      data are appended; so many bytes and a newline follow
 *   R dir old new     a name changes within a folder
 *   U dir name        a name is removed
 *   b number any      fsync() of a file or folder begins; numbers are unique
 *   F number any      that fsync() has succeeded
 *
 * Files and folders are given by their inodes. A lock of the record makes a call and its line one
 * step, so lines of several processes have the order of the calls.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

static unsigned long inode_of(int fd)
{
    struct stat about;

    return (fstat(fd, &about) == 0) ? (unsigned long)about.st_ino : 0;
}

/* True for the folder and what is beneath. */
static int is_ours(int fd)
{
    const char *folder = getenv("KEEL_FILE_DIR");
    char link[64], path[PATH_MAX];
    ssize_t length;

    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    length = readlink(link, path, sizeof(path) - 1);
    path[length > 0 ? length : 0] = '\0';
    return folder != NULL && strncmp(path, folder, strlen(folder)) == 0;
}

/* Appends a record, by system calls that this library does not see. */
static void record(const void *data, size_t bytes, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void record(const void *data, size_t bytes, const char *format, ...)
{
    const char *path = getenv("KEELTEST_RECORD");
    const int error = errno;
    const int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    char *text = malloc(bytes + 512);
    va_list arguments;
    size_t length;

    if (file < 0 || text == NULL) {
        abort();
    }
    va_start(arguments, format);
    length = (size_t)vsnprintf(text, 500, format, arguments);
    va_end(arguments);
    text[length++] = '\n';
    if (bytes > 0) {
        memcpy(text + length, data, bytes);
        length += bytes;
        text[length++] = '\n';
    }
    if (syscall(SYS_write, file, text, length) != (long)length) {
        abort();
    }
    free(text);
    syscall(SYS_close, file);
    errno = error;
}

static int turn_begin(void)
{
    const int file =
        (int)syscall(SYS_openat, AT_FDCWD, getenv("KEELTEST_RECORD"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

    if (file < 0 || flock(file, LOCK_EX) != 0) {
        abort();
    }
    return file;
}

static void turn_end(int turn)
{
    const int error = errno;

    syscall(SYS_close, turn);
    errno = error;
}

int mkdir(const char *path, mode_t mode)
{
    int (*call)(const char *, mode_t) = (int (*)(const char *, mode_t))next("mkdir");
    const int turn = turn_begin(), result = call(path, mode);
    const char *folder = getenv("KEEL_FILE_DIR");

    if (result == 0 && folder != NULL && strcmp(path, folder) == 0) {
        const int made = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        struct stat about;

        if (fstatat(made, "..", &about, 0) == 0) {
            record(NULL, 0, "M %lu folder %lu", (unsigned long)about.st_ino, inode_of(made));
        }
        close(made);
    }
    turn_end(turn);
    return result;
}

int mkdirat(int dir, const char *path, mode_t mode)
{
    int (*call)(int, const char *, mode_t) = (int (*)(int, const char *, mode_t))next("mkdirat");
    const int turn = turn_begin(), result = call(dir, path, mode);
    struct stat about;

    if (result == 0 && is_ours(dir) && fstatat(dir, path, &about, 0) == 0) {
        record(NULL, 0, "M %lu %s %lu", inode_of(dir), path, (unsigned long)about.st_ino);
    }
    turn_end(turn);
    return result;
}

int openat(int dir, const char *path, int flags, ...)
{
    int (*call)(int, const char *, int, ...) = (int (*)(int, const char *, int, ...))next("openat");
    unsigned mode;
    va_list arguments;
    int file, turn;

    va_start(arguments, flags);
    mode = (flags & O_CREAT) ? va_arg(arguments, unsigned) : 0;
    va_end(arguments);
    turn = turn_begin();
    file = call(dir, path, flags, mode);
    if (file >= 0 && (flags & O_CREAT) && is_ours(dir)) {
        record(NULL, 0, "C %lu %s %lu", inode_of(dir), path, inode_of(file));
    }
    turn_end(turn);
    return file;
}

ssize_t write(int fd, const void *data, size_t length)
{
    ssize_t (*call)(int, const void *, size_t) = (ssize_t(*)(int, const void *, size_t))next("write");
    const int is_recorded = is_ours(fd), turn = is_recorded ? turn_begin() : -1;
    const ssize_t written = call(fd, data, length);

    if (is_recorded) {
        if (written > 0) {
            record(data, (size_t)written, "W %lu %zd", inode_of(fd), written);
        }
        turn_end(turn);
    }
    return written;
}

int fsync(int fd)
{
    static unsigned calls;
    int (*call)(int) = (int (*)(int))next("fsync");
    const unsigned long number = (unsigned long)getpid() * 100000 + __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    int result;

    record(NULL, 0, "b %lu %lu", number, inode_of(fd));
    result = call(fd);
    if (result == 0) {
        record(NULL, 0, "F %lu %lu", number, inode_of(fd));
    }
    return result;
}

int renameat(int from, const char *old, int to, const char *new)
{
    int (*call)(int, const char *, int, const char *) = (int (*)(int, const char *, int, const char *))next("renameat");
    const int turn = turn_begin(), result = call(from, old, to, new);

    if (result == 0 && is_ours(from)) {
        record(NULL, 0, "R %lu %s %s", inode_of(from), old, new);
    }
    turn_end(turn);
    return result;
}

int unlinkat(int dir, const char *path, int flags)
{
    int (*call)(int, const char *, int) = (int (*)(int, const char *, int))next("unlinkat");
    const int turn = turn_begin(), result = call(dir, path, flags);

    if (result == 0 && is_ours(dir)) {
        record(NULL, 0, "U %lu %s", inode_of(dir), path);
    }
    turn_end(turn);
    return result;
}
