/* A stop on request. */
#include "stop_request.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <files/set_dir.h>

#include "report.h"

/* Path of the file that asks for a checkpoint; false: no folder is named. */
static bool stop_path(char path[PATH_MAX])
{
    const char *dir = getenv("KEEL_FILE_DIR");

    if (dir == NULL || dir[0] == '\0') {
        return false;
    }
    return snprintf(path, PATH_MAX, "%s/%s", dir, KEEL_FILES_REQUEST) < PATH_MAX;
}

bool stop_request(stop_t *stop, int signal, double within_s)
{
    char path[PATH_MAX];
    int file;

    if ((signal != SIGTERM && signal != SIGUSR1) || stop->signal != 0 || !stop_path(path)) {
        return false;
    }
    (void)mkdir(getenv("KEEL_FILE_DIR"), 0777); /* the job may not have begun */
    file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) {
        report("no checkpoint can be asked for: %s: %s", path, strerror(errno));
        return false;
    }
    close(file);
    stop->signal = signal;
    stop->until_ns = clock_now_ns() + (uint64_t)(within_s * 1e9);
    report("%s: the job ends after a checkpoint, or in %g s; a second signal ends it at once", strsignal(signal),
           within_s);
    return true;
}

bool stop_is_awaited(const stop_t *stop)
{
    return stop->signal != 0;
}

bool stop_is_complete(const stop_t *stop)
{
    char path[PATH_MAX];

    return stop->signal != 0 && stop_path(path) && access(path, F_OK) != 0 && errno == ENOENT &&
           access(getenv("KEEL_FILE_DIR"), F_OK) == 0;
}
