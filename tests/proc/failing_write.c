/*
 * A library to preload. In the launcher, a process named keelrun, the second and later calls of
 * write() to standard output fail with the number in KEELTEST_WRITE_FAILS, as if a disk broke or a
 * quota were used up.
 */
#define _GNU_SOURCE /* program_invocation_short_name, RTLD_NEXT */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

ssize_t write(int fd, const void *data, size_t length)
{
    static ssize_t (*next)(int, const void *, size_t);
    static int writes;
    const char *error = getenv("KEELTEST_WRITE_FAILS");

    if (next == NULL) {
        *(void **)&next = dlsym(RTLD_NEXT, "write");
    }
    if (fd == STDOUT_FILENO && error != NULL && strcmp(program_invocation_short_name, "keelrun") == 0 && writes++ > 0) {
        errno = atoi(error);
        return -1;
    }
    return next(fd, data, length);
}
