/* Directories of a job, the process tree, and the clean-up. */
#include "janitor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "areas.h"
#include "leftover.h"
#include "netns.h"
#include "node.h"
#include "rehearsal.h"
#include "report.h"

#define JANITOR_SWEEP_NS (10 * 1000000000ull) /* a killed process that lives longer stays behind */

/*
 * Makes names only: so the master knows them, too, and no moment of its death leaves a directory
 * without a janitor.
 */
static void janitor_name_directories(janitor_t *janitor)
{
    uint64_t number = clock_now_ns();

    getrandom(&number, sizeof number, 0);
    snprintf(janitor->session, sizeof janitor->session, "%s/keelrun.%d.%016llx", leftover_temporary(), getpid(),
             (unsigned long long)number);
    snprintf(janitor->shm, sizeof janitor->shm, LEFTOVER_SHARED_MEMORY "/keelrun.%d.%016llx", getpid(),
             (unsigned long long)number);
}

static int janitor_make_directories(const janitor_t *janitor, const options_t *options)
{
    if (!leftover_make_directory(janitor->session)) {
        report("cannot make the directory '%s': %s", janitor->session, strerror(errno));
        return -1;
    }
    if (options->rehearse && !rehearsal_prepare(janitor->session)) {
        return -1;
    }
    if (leftover_make_directory(janitor->shm)) {
        setenv("UCX_POSIX_DIR", janitor->shm, 0); /* directory of UCX's files of this job alone */
    }
    return 0;
}

/* Sends SIGKILL to each child, inherited orphans included. Returns the count of children. */
static unsigned janitor_kill_children(void)
{
    char path[64];
    unsigned count = 0;
    FILE *children;
    long pid;

    snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
    children = fopen(path, "re");
    if (children == NULL) {
        return 0;
    }
    while (fscanf(children, "%ld", &pid) == 1) {
        kill(-(pid_t)pid, SIGKILL); /* the child's process group, if it leads one */
        kill((pid_t)pid, SIGKILL);
        count++;
    }
    fclose(children);
    return count;
}

static void janitor_sweep(void)
{
    uint64_t deadline = clock_now_ns() + JANITOR_SWEEP_NS;
    pid_t pid;

    do {
        janitor_kill_children();
        while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
        }
        if (pid == 0) {
            poll(NULL, 0, 1); /* killed, but not ended yet */
        }
    } while (pid == 0 && clock_now_ns() < deadline);
}

/* Reaps orphans of a dead node or rank; their process groups must not outlive the node or rank. */
static void janitor_reap(void)
{
    siginfo_t info;

    for (;;) {
        info.si_pid = 0;
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) {
            return;
        }
        kill(-info.si_pid, SIGKILL);
        waitpid(info.si_pid, NULL, 0);
    }
}

/* Returns whether the master is done; false: it died. */
static bool janitor_wait(int control, int children)
{
    struct pollfd polls[2] = {{.fd = control, .events = POLLIN}, {.fd = children, .events = POLLIN}};

    for (;;) {
        if (poll(polls, 2, -1) < 0) {
            continue;
        }
        if (polls[0].revents != 0) {
            char done;

            return read(control, &done, 1) == 1;
        }
        if (polls[1].revents != 0) {
            struct signalfd_siginfo info;

            if (read(children, &info, sizeof info) > 0) {
                janitor_reap();
            }
        }
    }
}

static void janitor_fork_nodes(const janitor_t *janitor, const options_t *options, const int *node_fds, int control,
                               int netns_error)
{
    for (uint32_t i = 0; i < options->nodes; i++) {
        pid_t pid = fork();

        if (pid == 0) {
            close(control);
            for (uint32_t j = 0; j < options->nodes; j++) {
                if (j != i) {
                    close(node_fds[j]);
                }
            }
            _exit(node_run(options, i, node_fds[i], janitor->session, netns_error));
        }
        /* no process holds the other end of the channel, so the master sees the end */
        if (pid < 0) {
            report_failure("fork", errno);
        }
    }
    for (uint32_t i = 0; i < options->nodes; i++) {
        close(node_fds[i]);
    }
}

static void janitor_run(janitor_t *janitor, const options_t *options, const int *node_fds, int control)
{
    sigset_t signals;
    int children, netns_error = 0;
    bool is_done;

    setsid(); /* the master handles the terminal's signals */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_NAME, "keelrun-janitor");
    sigfillset(&signals);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    children = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    if (children < 0) {
        report_failure("signalfd", errno);
        return;
    }
    if (janitor_make_directories(janitor, options) != 0) {
        return;
    }
    if (options->netns) {
        netns_error = netns_make_bridge();
    }
    janitor_fork_nodes(janitor, options, node_fds, control, netns_error);
    is_done = janitor_wait(control, children);
    janitor_sweep();
    if (!is_done) { /* else the master writes them */
        areas_write();
        areas_remove();
    }
    leftover_remove_directory(janitor->session);
    leftover_remove_directory(janitor->shm);
}

int janitor_start(janitor_t *janitor, const options_t *options, const int *node_fds, const int *master_fds)
{
    int control[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control) != 0) {
        report_failure("socketpair", errno);
        return -1;
    }
    janitor_name_directories(janitor);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    janitor->pid = fork();
    if (janitor->pid < 0) {
        report_failure("fork", errno);
        return -1;
    }
    if (janitor->pid == 0) {
        close(control[0]);
        for (uint32_t i = 0; i < options->nodes; i++) {
            close(master_fds[i]);
        }
        janitor_run(janitor, options, node_fds, control[1]);
        _exit(0);
    }
    close(control[1]);
    janitor->control = control[0];
    return 0;
}

void janitor_finish(janitor_t *janitor)
{
    const char done = 'd';
    int status = 0;

    (void)send(janitor->control, &done, 1, MSG_NOSIGNAL); /* fails if the janitor died */
    close(janitor->control);
    while (waitpid(janitor->pid, &status, 0) < 0 && errno == EINTR) {
    }
    janitor_sweep();
    areas_write();
    leftover_remove_directory(janitor->session);
    leftover_remove_directory(janitor->shm);
}
