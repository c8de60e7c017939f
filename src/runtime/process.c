/* Looking at processes by /proc, killing them by descriptor: a number may be used again, a descriptor is not. */
#define _GNU_SOURCE /* syscall() */
#include "process.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* 0 when there is no such process; *state_p its letter */
static uint64_t process_start(int64_t pid, char *state_p)
{
    unsigned long long start = 0;
    char path[40], text[512];
    const char *rest;
    size_t length;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    file = fopen(path, "re");
    if (file == NULL) {
        return 0;
    }
    length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    rest = strrchr(text, ')'); /* the name before may hold anything */
    if (rest == NULL ||
        sscanf(rest + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", state_p,
               &start) != 2) {
        return 0;
    }
    return start;
}

void keel_process_self(keel_process_t *process)
{
    char state;

    process->start = process_start(getpid(), &state);
    process->pid = process->start != 0 ? getpid() : 0;
}

int keel_process_is_gone(const keel_process_t *process)
{
    char state = 'X';

    return process_start(process->pid, &state) != process->start || state == 'Z' || state == 'X';
}

int keel_process_kill(const keel_process_t *process, int timeout_ms)
{
    struct pollfd poll_fd = {.fd = (int)syscall(SYS_pidfd_open, (pid_t)process->pid, 0), .events = POLLIN};
    int is_gone =
        keel_process_is_gone(process); /* after it was opened: the descriptor is of the right one, or it is gone */

    if (poll_fd.fd < 0) {
        return is_gone;
    }
    if (!is_gone && syscall(SYS_pidfd_send_signal, poll_fd.fd, SIGKILL, NULL, 0) == 0) {
        is_gone = poll(&poll_fd, 1, timeout_ms) == 1;
    }
    close(poll_fd.fd);
    return is_gone;
}
