/*
 * The kernel lists the sockets of a network namespace with owner and inode, and the files of a
 * process with the inodes of its sockets. Only descendants of this process are searched.
 */
#include "guest.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
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

static bool has_files(long pid)
{
    const struct dirent *entry;
    bool has_one = false;
    char path[64];
    DIR *files;

    snprintf(path, sizeof path, "/proc/%ld/fd", pid);
    files = opendir(path);
    while (files != NULL && !has_one && (entry = readdir(files)) != NULL) {
        has_one = entry->d_name[0] != '.';
    }
    if (files != NULL) {
        closedir(files);
    }
    return has_one;
}

/*
 * True from the moment when the kernel takes away the files of a process that ends, until the
 * process is a zombie. The sockets among the files are closed in between.
 */
static bool is_exiting(long pid)
{
    char path[64], text[512], state = 'Z';
    const char *name_end;
    FILE *stat;

    if (has_files(pid)) {
        return false;
    }
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    stat = fopen(path, "re");
    if (stat != NULL) {
        if (fgets(text, sizeof text, stat) != NULL && (name_end = strrchr(text, ')')) != NULL) {
            sscanf(name_end, ") %c", &state);
        }
        fclose(stat);
    }
    return state != 'Z' && state != 'X';
}

/*
 * Searches the open files of a process. A process that hides its files from its own user (after
 * gaining a capability) counts as the holder.
 */
static guest_owner_t process_holds(long pid, uint64_t inode)
{
    char path[64], wanted[64], target[64];
    const struct dirent *entry;
    bool is_holder = false;
    DIR *files;

    snprintf(path, sizeof path, "/proc/%ld/fd", pid);
    snprintf(wanted, sizeof wanted, "socket:[%" PRIu64 "]", inode);
    files = opendir(path);
    if (files == NULL) {
        return (errno == EACCES || errno == EPERM) ? GUEST_OURS : GUEST_FOREIGN;
    }
    while (!is_holder && (entry = readdir(files)) != NULL) {
        const ssize_t length = readlinkat(dirfd(files), entry->d_name, target, sizeof target - 1);

        is_holder = length > 0 && (size_t)length == strlen(wanted) && memcmp(target, wanted, (size_t)length) == 0;
    }
    closedir(files);
    return is_holder ? GUEST_OURS : is_exiting(pid) ? GUEST_GONE : GUEST_FOREIGN;
}

static guest_owner_t descendants_hold(long pid, uint64_t inode, unsigned depth);

/* Of two answers about different processes: the one that is nearer to "ours". */
static guest_owner_t owner_of(guest_owner_t one, guest_owner_t other)
{
    return (one < other) ? one : other;
}

/* Searches the children of a thread: the kernel lists children by parent thread. */
static guest_owner_t children_hold(long pid, const char *thread, uint64_t inode, unsigned depth)
{
    guest_owner_t owner = GUEST_FOREIGN;
    char path[320];
    FILE *children;
    long child;

    snprintf(path, sizeof path, "/proc/%ld/task/%.255s/children", pid, thread);
    children = fopen(path, "re");
    while (children != NULL && owner != GUEST_OURS && fscanf(children, "%ld", &child) == 1) {
        owner = owner_of(owner, process_holds(child, inode));
        if (owner != GUEST_OURS) {
            owner = owner_of(owner, descendants_hold(child, inode, depth + 1));
        }
    }
    if (children != NULL) {
        fclose(children);
    }
    return owner;
}

static guest_owner_t descendants_hold(long pid, uint64_t inode, unsigned depth)
{
    guest_owner_t owner = GUEST_FOREIGN;
    const struct dirent *thread;
    char path[64];
    DIR *threads;

    if (depth == GUEST_DEPTH_MAX) {
        return GUEST_FOREIGN;
    }
    snprintf(path, sizeof path, "/proc/%ld/task", pid);
    threads = opendir(path);
    while (threads != NULL && owner != GUEST_OURS && (thread = readdir(threads)) != NULL) {
        if (thread->d_name[0] != '.') {
            owner = owner_of(owner, children_hold(pid, thread->d_name, inode, depth));
        }
    }
    if (threads != NULL) {
        closedir(threads);
    }
    return owner;
}

/* True once the other end has closed the connection. */
static bool is_closed(int fd)
{
    struct tcp_info info = {0};
    socklen_t length = sizeof info;

    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0 || info.tcpi_state != TCP_ESTABLISHED;
}

guest_owner_t guest_owner(int fd)
{
    struct sockaddr_in local = {.sin_port = 0}, remote = {.sin_port = 0};
    socklen_t local_length = sizeof local, remote_length = sizeof remote;
    guest_owner_t owner = GUEST_FOREIGN;
    guest_t guest;

    if (getsockname(fd, (struct sockaddr *)&local, &local_length) == 0 &&
        getpeername(fd, (struct sockaddr *)&remote, &remote_length) == 0 && remote.sin_family == AF_INET &&
        guest_find(&local, &remote, &guest) && guest.uid == getuid()) {
        owner = descendants_hold(getpid(), guest.inode, 0);
    }
    /* looked at last: a process that ended during the search has closed its end by now */
    return (owner == GUEST_FOREIGN && is_closed(fd)) ? GUEST_GONE : owner;
}
