/*
 * A stop on request. A child process does all work in the folder: a file system that does not
 * answer blocks its callers, and this launcher must go on.
 */
#include "stop_request.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <files/set_dir.h>

#include "report.h"

#define LOOK_US 50000 /* between looks for the checkpoint */

/* Path of the file that asks for a checkpoint; false: no folder is named. */
static bool stop_path(char path[PATH_MAX])
{
    const char *dir = getenv("KEEL_FILE_DIR");

    if (dir == NULL || dir[0] == '\0') {
        return false;
    }
    return snprintf(path, PATH_MAX, "%s/%s", dir, KEEL_FILES_REQUEST) < PATH_MAX;
}

/* ---- the child ---- */

/* Asks for a checkpoint. The request stays open, so that no other file has its number. Returns 0 or
 * an errno. */
static int child_ask(const char *path, struct stat *request_p)
{
    int file;

    (void)mkdir(getenv("KEEL_FILE_DIR"), 0777); /* the job may not have begun */
    file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    return (file < 0 || fstat(file, request_p) != 0) ? errno : 0;
}

static bool child_is_there(const struct stat *request, const char *path)
{
    struct stat now;

    return stat(path, &now) == 0 ? now.st_ino == request->st_ino && now.st_dev == request->st_dev : errno != ENOENT;
}

/* Keel renames the request when rank 0 sees the request, and removes the file when the set that
 * meets the request is complete. */
static bool child_sees_end(const char *path, const struct stat *request)
{
    char taken[PATH_MAX + sizeof KEEL_FILES_TAKEN];

    snprintf(taken, sizeof taken, "%.*s%s", (int)(strlen(path) - strlen(KEEL_FILES_REQUEST)), path, KEEL_FILES_TAKEN);
    /* in this order: a rename between the looks hides the file from none */
    return !child_is_there(request, path) && !child_is_there(request, taken) &&
           access(getenv("KEEL_FILE_DIR"), F_OK) == 0;
}

/* Closes the descriptors of the launcher, because other processes wait for the ends of pipes. */
static void child_run(const char *path, int news, pid_t parent)
{
    struct stat request;
    int error;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || dup2(news, 0) != 0 || close_range(1, ~0U, 0) != 0) {
        _exit(1);
    }
    error = child_ask(path, &request);
    while (error == 0 && !child_sees_end(path, &request)) {
        usleep(LOOK_US);
    }
    _exit(write(0, &error, sizeof error) != sizeof error);
}

/* ---- the launcher ---- */

static int child_start(stop_t *stop, const char *path)
{
    const pid_t parent = getpid();
    int pair[2];

    if (pipe2(pair, O_CLOEXEC | O_NONBLOCK) != 0) {
        return errno;
    }
    stop->child = fork();
    if (stop->child == 0) {
        child_run(path, pair[1], parent);
    }
    close(pair[1]);
    if (stop->child < 0) {
        close(pair[0]);
        return errno;
    }
    stop->news = pair[0];
    return 0;
}

bool stop_request(stop_t *stop, int signal, double within_s)
{
    char path[PATH_MAX];
    int error;

    if ((signal != SIGTERM && signal != SIGUSR1) || stop->signal != 0 || !stop_path(path)) {
        return false;
    }
    error = child_start(stop, path);
    if (error != 0) {
        report("no checkpoint can be asked for: %s: %s", path, strerror(error));
        return false;
    }
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

stop_state_t stop_look(const stop_t *stop)
{
    char path[PATH_MAX];
    int error = EIO; /* the child ended without a word */
    ssize_t got;

    if (stop->signal == 0) {
        return STOP_AWAITED;
    }
    got = read(stop->news, &error, sizeof error);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        return STOP_AWAITED;
    }
    if (got == sizeof error && error == 0) {
        return STOP_COMPLETE;
    }
    (void)stop_path(path);
    report("no checkpoint can be asked for: %s: %s", path, strerror(error));
    return STOP_FAILED;
}

void stop_release(stop_t *stop)
{
    if (stop->signal == 0) {
        return;
    }
    close(stop->news);
    kill(stop->child, SIGKILL);
    (void)waitpid(stop->child, NULL, WNOHANG); /* the child may hang in the kernel */
}
