/*
 * A stop on request. A child process does all work in the folder: a file system that does not
 * answer blocks its callers, and this launcher must go on.
 */
#include "stop_request.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <files/asked.h>

#include "report.h"

#define LOOK_US 50000 /* between looks for the checkpoint */

/* The folder; NULL: none is named. */
static const char *stop_path(void)
{
    const char *dir = getenv("KEEL_FILE_DIR");

    return (dir != NULL && dir[0] != '\0') ? dir : NULL;
}

/* ---- the child ---- */

/* The parent of a process; 0: none, or unknown. */
static pid_t parent_of(pid_t pid)
{
    char path[32], text[512], *name_end;
    FILE *file;
    size_t length;
    int parent;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    file = fopen(path, "re");
    if (file == NULL) {
        return 0;
    }
    length = fread(text, 1, sizeof text - 1, file);
    text[length] = '\0';
    fclose(file);
    name_end = strrchr(text, ')'); /* the name of the program may have any character */
    return (name_end != NULL && sscanf(name_end, ") %*c %d", &parent) == 1) ? parent : 0;
}

/* True if a process that the launcher has not started holds the lock of the folder: after a removal
 * of the folder, another job may have made one of the same name. */
static bool is_of_another_job(const char *path, pid_t launcher)
{
    const int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    pid_t pid = 0;

    if (dir >= 0) {
        pid = keel_set_dir_holder(dir);
        close(dir);
    }
    if (pid <= 0 || parent_of(getpid()) != launcher) { /* without /proc all is the own job's */
        return pid < 0;
    }
    while (pid > 1 && pid != launcher) {
        pid = parent_of(pid);
    }
    return pid != launcher;
}

/* Asks for a checkpoint, and waits until the checkpoint is complete. Returns 0 or an errno. A
 * request that is lost is repeated: the job finds or makes the folder again, too. While the folder
 * is another job's, nothing is asked for, and no checkpoint there counts. */
static int child_ask(const char *path, pid_t launcher)
{
    bool is_complete = false;

    for (; !is_complete; usleep(LOOK_US)) {
        keel_asked_state_t state;
        keel_asked_t asked;
        int error;

        (void)mkdir(path, 0777); /* the job may not have begun */
        if (is_of_another_job(path, launcher)) {
            continue;
        }
        error = keel_asked_begin(&asked, path);
        if (error != 0) {
            return error;
        }
        while ((state = keel_asked_look(&asked)) == KEEL_ASKED_AWAITED) {
            usleep(LOOK_US);
        }
        is_complete = state == KEEL_ASKED_COMPLETE && !is_of_another_job(path, launcher);
        keel_asked_end(&asked);
    }
    return 0;
}

/* Closes the descriptors of the launcher, because other processes wait for the ends of pipes. */
static void child_run(const char *path, int news, pid_t parent)
{
    int error;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || dup2(news, 0) != 0 || close_range(1, ~0U, 0) != 0) {
        _exit(1);
    }
    error = child_ask(path, parent);
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
    const char *path = stop_path();
    int error;

    if ((signal != SIGTERM && signal != SIGUSR1) || stop->signal != 0 || path == NULL) {
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
    report("no checkpoint can be asked for: %s: %s", stop_path(), strerror(error));
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
