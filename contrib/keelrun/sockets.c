/* Options and counts of TCP sockets, and the accept() and send() called by PMIx's server. */
#include "sockets.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest.h"
#include "report.h"

typedef struct sockets {
    int listening; /* descriptor, or -1 */
    unsigned connected;
} sockets_t;

static bool socket_option(int fd, int option, int *value_p)
{
    socklen_t length = sizeof *value_p;

    return getsockopt(fd, SOL_SOCKET, option, value_p, &length) == 0;
}

static sockets_t sockets_find(void)
{
    sockets_t found = {.listening = -1};
    DIR *directory = opendir("/proc/self/fd");
    const struct dirent *entry;

    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        int fd = atoi(entry->d_name), domain, type, is_listening;

        if (!socket_option(fd, SO_DOMAIN, &domain) || (domain != AF_INET && domain != AF_INET6) ||
            !socket_option(fd, SO_TYPE, &type) || type != SOCK_STREAM ||
            !socket_option(fd, SO_ACCEPTCONN, &is_listening)) {
            continue;
        }
        if (is_listening) {
            found.listening = fd;
        } else {
            found.connected++;
        }
    }
    if (directory != NULL) {
        closedir(directory);
    }
    return found;
}

void sockets_send_at_once(void)
{
    int listening = sockets_find().listening, one = 1;

    setsockopt(listening, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

bool sockets_are_quiet(unsigned expected)
{
    sockets_t found = sockets_find();
    struct tcp_info info = {0};
    socklen_t length = sizeof info;

    /* of a listening socket, "unacknowledged" is the count of waiting connections */
    if (getsockopt(found.listening, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 && info.tcpi_unacked != 0) {
        return false;
    }
    /* counted after the queue: a connection may just have been accepted */
    return sockets_find().connected <= expected;
}

/*
 * Replaces the C library's send(), which in this program only the handshake of PMIx's server calls
 * without flags. If a client dies between its hello and the answer, PMIx 4.2.2 frees the rank's
 * record twice and then loops over the freed memory. So the answer to a dead client appears sent:
 * PMIx finishes the handshake and finds the connection closed.
 */
__attribute__((visibility("default"))) ssize_t send(int fd, const void *data, size_t length, int flags)
{
    ssize_t count = syscall(SYS_sendto, fd, data, length, flags, NULL, 0);

    return count < 0 && flags == 0 && (errno == EPIPE || errno == ECONNRESET) ? (ssize_t)length : count;
}

/* Reports the first foreign connection: its address is still known. */
static void sockets_report(int fd)
{
    static bool is_reported; /* used by the accepting thread alone */
    struct sockaddr_in address = {.sin_port = 0};
    socklen_t length = sizeof address;
    char text[INET_ADDRSTRLEN];

    if (!is_reported && getpeername(fd, (struct sockaddr *)&address, &length) == 0 &&
        inet_ntop(AF_INET, &address.sin_addr, text, sizeof text) != NULL) {
        is_reported = true;
        report("a connection from %s:%u to the launcher's server is refused: no process of this job holds it", text,
               ntohs(address.sin_port));
    }
}

/*
 * Replaces the C library's accept(), which in this program only PMIx's server calls. The thread
 * that serves all ranks reads the greeting of a connection with a blocking call: a foreign client
 * that sends too little stops the thread, and thus reports of deaths and ends. So a connection that
 * no process of a rank holds is closed here, and the caller gets EAGAIN, as after a connection
 * withdrawn by its client. PMIx's socket does not block. A rank that dies between connect() and
 * accept() has withdrawn its connection: no message is due.
 */
__attribute__((visibility("default"))) int accept(int fd, struct sockaddr *address, socklen_t *length)
{
    const socklen_t room = (length != NULL) ? *length : 0;
    guest_owner_t owner;
    int guest;

    while ((guest = (int)syscall(SYS_accept4, fd, address, length, 0)) >= 0 &&
           (owner = guest_owner(guest)) != GUEST_OURS) {
        if (owner == GUEST_FOREIGN) {
            sockets_report(guest);
        }
        close(guest);
        if (length != NULL) {
            *length = room;
        }
    }
    return guest;
}
