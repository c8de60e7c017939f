/* fork, gate, exec. Only async-signal-safe calls after fork, since the parent has threads. */
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

static void spawn_child(const char *path, char *const *argv, char *const *env, int out, int err, int gate, pid_t parent)
{
    struct sigaction action;
    sigset_t none;
    char go;
    int error, input;

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(1); /* the parent died before the line above */
    }
    memset(&action, 0, sizeof action);
    action.sa_handler = SIG_DFL;
    for (int signal_number = 1; signal_number < NSIG; signal_number++) {
        sigaction(signal_number, &action, NULL);
    }
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    input = open("/dev/null", O_RDONLY);
    if (input < 0 || dup2(input, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0 ||
        read(gate, &go, 1) != 1) {
        _exit(1);
    }
    close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC);
    execve(path, argv, env);
    error = errno;
    if (write(gate, &error, sizeof error) != sizeof error) {
        _exit(1);
    }
    _exit(1);
}

pid_t spawn_prepare(const char *path, char *const *argv, char *const *env, int out, int err, int *gate_p)
{
    pid_t parent = getpid();
    int gate[2];
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, gate) != 0) {
        return -1;
    }
    pid = fork();
    if (pid == 0) {
        close(gate[0]);
        spawn_child(path, argv, env, out, err, gate[1], parent);
    }
    close(gate[1]);
    if (pid < 0) {
        close(gate[0]);
        return -1;
    }
    setpgid(pid, pid); /* the child does the same: the first call wins */
    *gate_p = gate[0];
    return pid;
}

int spawn_release(int gate)
{
    char go = 1;
    int error = 0;

    /* a child killed at the gate shows as an exit, not here */
    if (send(gate, &go, 1, MSG_NOSIGNAL) != 1 || read(gate, &error, sizeof error) != sizeof error) {
        error = 0;
    }
    close(gate);
    return error;
}
