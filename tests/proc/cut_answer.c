/*
 * A rank dies after half of a reply to it was sent. The replying rank discovers the death while it
 * sends the second half, and goes on. The program intercepts its own calls of send() and sendmsg(),
 * passes on half of the first long message, and kills the requesting rank before the rest.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <keel/keel.h>

#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BYTES = 1 << 20, LONG = 16 << 10, PARTS_MAX = 16, ANSWERING = 0, ASKING = 1 };

typedef ssize_t (*send_t)(int, const void *, size_t, int);
typedef ssize_t (*sendmsg_t)(int, const struct msghdr *, int);

static atomic_int asker; /* process to be killed; 0: none */
static atomic_int cut_fd = -1;
static unsigned char got[BYTES];

/* True once the process has died: its connections are closed then. */
static int is_gone(int pid)
{
    char path[64], line[512] = "";
    const char *state;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    file = fopen(path, "re");
    if (file == NULL) {
        return 1;
    }
    (void)!fgets(line, sizeof line, file);
    fclose(file);
    state = strrchr(line, ')');
    return state == NULL || state[2] == 'Z' || state[2] == 'X';
}

/* Returns 1 if half of the message is to be sent; the next call sends the rest. */
static int is_to_be_cut(int fd, size_t length)
{
    const int pid = atomic_load(&asker);

    if (pid == 0) {
        return 0;
    }
    if (fd == atomic_load(&cut_fd)) {
        atomic_store(&asker, 0);
        kill(pid, SIGKILL);
        while (!is_gone(pid)) {
            sched_yield();
        }
        return 0;
    }
    if (length < LONG) {
        return 0;
    }
    atomic_store(&cut_fd, fd);
    return 1;
}

KEEL_API ssize_t send(int fd, const void *buffer, size_t length, int flags)
{
    const send_t next = (send_t)(uintptr_t)dlsym(RTLD_NEXT, "send");

    return next(fd, buffer, is_to_be_cut(fd, length) ? length / 2 : length, flags);
}

KEEL_API ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    const sendmsg_t next = (sendmsg_t)(uintptr_t)dlsym(RTLD_NEXT, "sendmsg");
    struct iovec parts[PARTS_MAX];
    struct msghdr half = *message;
    size_t length = 0;

    for (size_t i = 0; i < message->msg_iovlen; i++) {
        length += message->msg_iov[i].iov_len;
    }
    if (message->msg_iovlen > PARTS_MAX || !is_to_be_cut(fd, length)) {
        return next(fd, message, flags);
    }
    memcpy(parts, message->msg_iov, message->msg_iovlen * sizeof parts[0]);
    parts[message->msg_iovlen - 1].iov_len /= 2;
    half.msg_iov = parts;
    return next(fd, &half, flags);
}

static keel_status_t run(keel_context_h ctx, keel_win_h win)
{
    const uint64_t pid = (uint64_t)getpid();
    uint64_t *own = keel_win_base(win);
    keel_status_t status = keel_restarted(ctx) ? keel_restore(ctx) : KEEL_OK;

    if (status == KEEL_OK && keel_rank(ctx) == ASKING) {
        status = keel_put(win, ANSWERING, 0, &pid, sizeof pid);
    }
    if (status == KEEL_OK) {
        status = keel_gsync(ctx, 0);
    }
    if (status == KEEL_OK && keel_rank(ctx) == ANSWERING) {
        memset(own + 1, 'k', BYTES - sizeof *own);
        atomic_store(&asker, atomic_load(&cut_fd) < 0 ? (int)own[0] : 0);
    }
    if (status == KEEL_OK) {
        status = keel_gsync(ctx, 0);
    }
    if (status == KEEL_OK && keel_rank(ctx) == ASKING) {
        status = keel_get(win, ANSWERING, 0, got, BYTES);
    }
    return (status == KEEL_OK) ? keel_gsync(ctx, 0) : status;
}

int main(void)
{
    const keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_FLAGS, .flags = KEEL_PARAM_FLAG_NONDETERMINISTIC};
    keel_status_t status;
    keel_context_h ctx;
    keel_win_h win;
    int is_right;

    if (keel_init(&params, &ctx) != KEEL_OK || keel_win_alloc(ctx, BYTES, NULL, &win) != KEEL_OK) {
        return EXIT_FAILURE;
    }
    do {
        status = run(ctx, win);
    } while (status == KEEL_ERR_ROLLED_BACK);
    /* the requester's second incarnation has all bytes; the other rank is in its first, and has cut
     * a reply */
    is_right = (keel_rank(ctx) == ASKING) ? keel_incarnation(ctx) == 1 && got[BYTES - 1] == 'k'
                                          : keel_incarnation(ctx) == 0 && atomic_load(&cut_fd) >= 0;
    if (status != KEEL_OK || !is_right) {
        fprintf(stderr, "rank %u, life %u: %s\n", keel_rank(ctx), keel_incarnation(ctx), keel_status_string(status));
        return EXIT_FAILURE;
    }
    return (keel_finalize(ctx) == KEEL_OK) ? EXIT_SUCCESS : EXIT_FAILURE;
}
