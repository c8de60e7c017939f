/* Sockets between connecting processes. */
#define _GNU_SOURCE /* accept4 */
#include "verbs_socket.h"

#include "base/message.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LOOPBACK "lo"

/* prefix of an IPv4 address in a global address */
static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

static int make_socket(int family)
{
    const int one = 1;
    const int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd >= 0) {
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    }
    return fd;
}

static int listen_to(int family, const struct sockaddr *address, socklen_t length)
{
    const int no = 0;
    const int fd = make_socket(family);

    if (fd < 0) {
        return -1;
    }
    if (family == AF_INET6) {
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
    }
    if (bind(fd, address, length) != 0 || listen(fd, SOMAXCONN) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static keel_status_t listen_at(const keel_verbs_host_t *at, int *socket_p, uint16_t *port_p)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_ANY)}};
    union {
        struct sockaddr any;
        struct sockaddr_in four;
        struct sockaddr_in6 six;
    } bound;
    socklen_t length = sizeof(bound);
    int fd = -1;

    if (at != NULL && at->is_long) {
        memcpy(&six.sin6_addr, at->bytes, sizeof(six.sin6_addr));
    } else if (at != NULL) {
        memcpy(&four.sin_addr, at->bytes, sizeof(four.sin_addr));
    }
    if (at == NULL || at->is_long) { /* both families where any address will do */
        fd = listen_to(AF_INET6, (const struct sockaddr *)&six, sizeof(six));
    }
    if (fd < 0 && (at == NULL || !at->is_long)) {
        fd = listen_to(AF_INET, (const struct sockaddr *)&four, sizeof(four));
    }
    if (fd < 0) {
        return KEEL_ERR_IO;
    }
    if (getsockname(fd, &bound.any, &length) != 0) {
        close(fd);
        return KEEL_ERR_IO;
    }
    *port_p = ntohs((bound.any.sa_family == AF_INET6) ? bound.six.sin6_port : bound.four.sin_port);
    *socket_p = fd;
    return KEEL_OK;
}

int keel_verbs_accept(int listener)
{
    int fd;

    do {
        fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    } while (fd < 0 && (errno == EINTR || errno == ECONNABORTED));
    return fd;
}

/* ---- addresses ---- */

static unsigned add_host(keel_verbs_host_t *hosts, unsigned count, unsigned max, const keel_verbs_host_t *host)
{
    for (unsigned i = 0; i < count; i++) {
        if (memcmp(&hosts[i], host, sizeof(*host)) == 0) {
            return count;
        }
    }
    if (count < max) {
        hosts[count++] = *host;
    }
    return count;
}

/* address of an interface that other hosts may reach; 0: none */
static int host_of(const struct ifaddrs *one, keel_verbs_host_t *host)
{
    const struct sockaddr *address = one->ifa_addr;

    *host = (keel_verbs_host_t){.is_long = 0};
    if (address == NULL || !(one->ifa_flags & IFF_UP) || (one->ifa_flags & IFF_LOOPBACK)) {
        return 0;
    }
    if (address->sa_family == AF_INET) {
        memcpy(host->bytes, &((const struct sockaddr_in *)(const void *)address)->sin_addr, 4);
        return 1;
    }
    if (address->sa_family == AF_INET6) {
        const struct in6_addr *six = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;

        memcpy(host->bytes, six, 16);
        host->is_long = 1;
        return !IN6_IS_ADDR_LINKLOCAL(six);
    }
    return 0;
}

static unsigned loopback(keel_verbs_host_t *hosts)
{
    hosts[0] = (keel_verbs_host_t){.bytes = {127, 0, 0, 1}};
    return 1;
}

/* Returns 1 and the first address of an interface, IPv4 if any; 0: the interface has no address. */
static unsigned host_of_interface(const char *name, keel_verbs_host_t *host)
{
    keel_verbs_host_t one_of = {.is_long = 0};
    struct ifaddrs *all;
    unsigned count = 0;

    if (strcmp(name, LOOPBACK) == 0) {
        return loopback(host);
    }
    if (getifaddrs(&all) != 0) {
        return 0;
    }
    for (struct ifaddrs *one = all; one != NULL; one = one->ifa_next) {
        if (strcmp(one->ifa_name, name) == 0 && host_of(one, &one_of) &&
            (count == 0 || (host->is_long && !one_of.is_long))) {
            *host = one_of;
            count = 1;
        }
    }
    freeifaddrs(all);
    return count;
}

keel_status_t keel_verbs_choose_host(const keel_transport_params_t *params, keel_verbs_host_t *host, unsigned *count_p)
{
    *count_p = (params->interface != NULL) ? host_of_interface(params->interface, host)
               : params->is_one_host       ? loopback(host)
                                           : 0;
    if (params->interface == NULL || *count_p > 0) {
        return KEEL_OK;
    }
    if (params->message != NULL) {
        keel_error(params->message,
                   "KEEL_INTERFACE=%s: this host has no such network interface that is up and has an address",
                   params->interface);
    }
    return KEEL_ERR_TRANSPORT;
}

keel_status_t keel_verbs_listen(const keel_transport_params_t *params, int *socket_p, uint16_t *port_p)
{
    keel_verbs_host_t host;
    unsigned count;
    keel_status_t status = keel_verbs_choose_host(params, &host, &count);

    if (status != KEEL_OK) {
        return status;
    }
    status = listen_at((count > 0) ? &host : NULL, socket_p, port_p);
    if (status != KEEL_OK && params->message != NULL) {
        keel_error(params->message, "KEEL_TRANSPORT=verbs: this process cannot listen to others: %s", strerror(errno));
    }
    return status;
}

unsigned keel_verbs_hosts(const uint8_t *first, keel_verbs_host_t *hosts, unsigned max)
{
    keel_verbs_host_t host = {.is_long = 0};
    struct ifaddrs *all;
    unsigned count = 0;

    if (memcmp(first, mapped, sizeof(mapped)) == 0) {
        memcpy(host.bytes, first + sizeof(mapped), 4);
        count = add_host(hosts, count, max, &host);
    }
    if (getifaddrs(&all) == 0) {
        for (struct ifaddrs *one = all; one != NULL; one = one->ifa_next) {
            if (host_of(one, &host)) {
                count = add_host(hosts, count, max, &host);
            }
        }
        freeifaddrs(all);
    }
    return (count > 0) ? count : loopback(hosts);
}

int keel_verbs_dial(const keel_verbs_host_t *host, uint16_t port)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};
    const struct sockaddr *address = host->is_long ? (const void *)&six : (const void *)&four;
    const int fd = make_socket(address->sa_family);

    memcpy(&six.sin6_addr, host->bytes, 16);
    memcpy(&four.sin_addr, host->bytes, 4);
    if (fd >= 0 && connect(fd, address, host->is_long ? sizeof(six) : sizeof(four)) != 0 && errno != EINPROGRESS &&
        errno != EINTR) {
        close(fd);
        return -1;
    }
    return fd;
}

/* ---- greetings ---- */

static int would_block(int error)
{
    return error == EAGAIN || error == EWOULDBLOCK || error == EINTR || error == ENOTCONN || error == EINPROGRESS;
}

keel_status_t keel_verbs_talk_send(keel_verbs_talk_t *talk)
{
    while (talk->sent < sizeof(talk->out)) {
        const ssize_t count =
            send(talk->socket, (const char *)&talk->out + talk->sent, sizeof(talk->out) - talk->sent, MSG_NOSIGNAL);

        if (count <= 0) {
            return (count < 0 && would_block(errno)) ? KEEL_INPROGRESS : KEEL_ERR_UNREACHABLE;
        }
        talk->sent += (size_t)count;
    }
    return KEEL_OK;
}

keel_status_t keel_verbs_talk_receive(keel_verbs_talk_t *talk, uint32_t magic)
{
    while (talk->received < sizeof(talk->in)) {
        const ssize_t count =
            recv(talk->socket, (char *)&talk->in + talk->received, sizeof(talk->in) - talk->received, 0);

        if (count <= 0) {
            return (count < 0 && would_block(errno)) ? KEEL_INPROGRESS : KEEL_ERR_UNREACHABLE;
        }
        talk->received += (size_t)count;
    }
    return (keel_shm_blob_check(&talk->in, sizeof(talk->in), magic, sizeof(talk->in)) == KEEL_OK)
               ? KEEL_OK
               : KEEL_ERR_UNREACHABLE;
}

void keel_verbs_name(int fd, char *text, size_t size)
{
    struct sockaddr_storage address;
    socklen_t length = sizeof(address);
    char host[64], port[16];

    if (getpeername(fd, (struct sockaddr *)&address, &length) != 0 ||
        getnameinfo((struct sockaddr *)&address, length, host, sizeof(host), port, sizeof(port),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
        snprintf(text, size, "an address that is gone");
        return;
    }
    snprintf(text, size, "%s port %s", host, port);
}

int keel_verbs_has_ended(int fd)
{
    char byte;
    ssize_t count;

    do {
        count = recv(fd, &byte, 1, MSG_DONTWAIT);
    } while (count < 0 && errno == EINTR);
    return count >= 0 || !would_block(errno); /* an unexpected byte counts as the end */
}
