/*
 * The kernel lists the sockets of a network namespace with owner and inode, and the files of a
 * process with the inodes of its sockets. Only descendants of this process are searched.
 */
#include "guest.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define GUEST_DEPTH_MAX 16 /* levels of processes below this one: nested scripts may start a rank */

typedef struct guest {
    uint32_t uid;
    uint64_t inode;
} guest_t;

/*
 * Finds the guest's socket, with our address as the remote address. The inode is 0 once no process
 * has the socket open.
 */
static bool guest_find(const struct sockaddr_in *local, const struct sockaddr_in *remote, guest_t *guest)
{
    FILE *sockets = fopen("/proc/thread-self/net/tcp", "re");
    char line[512];
    bool is_found = false;

    while (sockets != NULL && !is_found && fgets(line, sizeof line, sockets) != NULL) {
        uint32_t own_address, other_address, own_port, other_port;

        is_found = sscanf(line,
                          "%*d: %" SCNx32 ":%" SCNx32 " %" SCNx32 ":%" SCNx32 " %*x %*x:%*x %*x:%*x %*x %" SCNu32
                          " %*d %" SCNu64,
                          &own_address, &own_port, &other_address, &other_port, &guest->uid, &guest->inode) == 6 &&
                   own_address == remote->sin_addr.s_addr && own_port == ntohs(remote->sin_port) &&
                   other_address == local->sin_addr.s_addr && other_port == ntohs(local->sin_port);
    }
    if (sockets != NULL) {
        fclose(sockets);
    }
    return is_found && guest->inode != 0;
}

/*
 * True if the process holds the inode, or hides its files from its own user (after gaining a
 * capability).
 */
static bool process_holds(long pid, uint64_t inode)
{
    char path[64], wanted[64], target[64];
    const struct dirent *entry;
    bool is_holder = false;
    DIR *files;

    snprintf(path, sizeof path, "/proc/%ld/fd", pid);
    snprintf(wanted, sizeof wanted, "socket:[%" PRIu64 "]", inode);
    files = opendir(path);
    if (files == NULL) {
        return errno == EACCES || errno == EPERM;
    }
    while (!is_holder && (entry = readdir(files)) != NULL) {
        const ssize_t length = readlinkat(dirfd(files), entry->d_name, target, sizeof target - 1);

        is_holder = length > 0 && (size_t)length == strlen(wanted) && memcmp(target, wanted, (size_t)length) == 0;
    }
    closedir(files);
    return is_holder;
}

static bool descendants_hold(long pid, uint64_t inode, unsigned depth);

/* Searches the children of a thread: the kernel lists children by parent thread. */
static bool children_hold(long pid, const char *thread, uint64_t inode, unsigned depth)
{
    char path[320];
    bool is_held = false;
    FILE *children;
    long child;

    snprintf(path, sizeof path, "/proc/%ld/task/%.255s/children", pid, thread);
    children = fopen(path, "re");
    while (children != NULL && !is_held && fscanf(children, "%ld", &child) == 1) {
        is_held = process_holds(child, inode) || descendants_hold(child, inode, depth + 1);
    }
    if (children != NULL) {
        fclose(children);
    }
    return is_held;
}

static bool descendants_hold(long pid, uint64_t inode, unsigned depth)
{
    const struct dirent *thread;
    bool is_held = false;
    char path[64];
    DIR *threads;

    if (depth == GUEST_DEPTH_MAX) {
        return false;
    }
    snprintf(path, sizeof path, "/proc/%ld/task", pid);
    threads = opendir(path);
    while (threads != NULL && !is_held && (thread = readdir(threads)) != NULL) {
        is_held = thread->d_name[0] != '.' && children_hold(pid, thread->d_name, inode, depth);
    }
    if (threads != NULL) {
        closedir(threads);
    }
    return is_held;
}

bool guest_is_ours(int fd)
{
    struct sockaddr_in local = {.sin_port = 0}, remote = {.sin_port = 0};
    socklen_t local_length = sizeof local, remote_length = sizeof remote;
    guest_t guest;

    if (getsockname(fd, (struct sockaddr *)&local, &local_length) != 0 ||
        getpeername(fd, (struct sockaddr *)&remote, &remote_length) != 0 || remote.sin_family != AF_INET) {
        return false;
    }
    return guest_find(&local, &remote, &guest) && guest.uid == getuid() && descendants_hold(getpid(), guest.inode, 0);
}
