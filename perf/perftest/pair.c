/*
 * Two processes without a launcher. PMIx needs a server process for each node, and users of
 * ucx_perftest have no launcher. For a job of two, the table of runtime_ops.h needs little more
 * than a connection: it carries the addresses, and its end without a goodbye is a death, which ends
 * the job, since no process could be restarted.
 */
#include "pair.h"

#include <keel/version.h>

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAGIC          0x4b65656c50657266ull /* of a hello */
#define ADDRESS_MAX    (1u << 20)
#define LOOK_EVERY     1024 /* polls: a look at the socket costs a system call */
#define CONNECT_TRIES  50
#define CONNECT_NAP_MS 100
#define SILENCE_NS     60000000000ull
#define GOODBYE        'b'

typedef struct hello {
    uint64_t magic;
    char version[16];
    char host[256];
    char boot[64]; /* of the running kernel: hosts may share a name */
} hello_t;

static int complain(const char *what)
{
    fprintf(stderr, "keel_perftest: %s\n", what);
    return -1;
}

/* ---- the connection ---- */

int perf_pair_send(perf_pair_t *pair, const void *data, size_t length)
{
    const char *at = data;

    while (length > 0) {
        const ssize_t sent = send(pair->socket, at, length, MSG_NOSIGNAL);

        if (sent < 0 && errno == EINTR) {
            continue;
        }
        if (sent <= 0) {
            return -1;
        }
        at += sent;
        length -= (size_t)sent;
    }
    return 0;
}

int perf_pair_receive(perf_pair_t *pair, void *data, size_t length)
{
    char *at = data;

    while (length > 0) {
        const ssize_t got = recv(pair->socket, at, length, 0);

        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return -1;
        }
        at += got;
        length -= (size_t)got;
    }
    return 0;
}

static int serve(perf_pair_t *pair, unsigned port)
{
    struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
    const int listener = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1, no = 0;

    if (listener < 0) {
        return complain(strerror(errno));
    }
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
    if (bind(listener, (struct sockaddr *)&any, sizeof any) != 0 || listen(listener, 1) != 0) {
        fprintf(stderr, "keel_perftest: port %u: %s\n", port, strerror(errno));
        close(listener);
        return -1;
    }
    printf("Waiting for connection...\n");
    fflush(stdout);
    pair->socket = accept(listener, NULL, NULL);
    close(listener);
    return (pair->socket < 0) ? complain(strerror(errno)) : 0;
}

static int connect_to(perf_pair_t *pair, const struct addrinfo *found)
{
    for (const struct addrinfo *at = found; at != NULL; at = at->ai_next) {
        pair->socket = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
        if (pair->socket >= 0 && connect(pair->socket, at->ai_addr, at->ai_addrlen) == 0) {
            return 0;
        }
        if (pair->socket >= 0) {
            close(pair->socket);
        }
        pair->socket = -1;
    }
    return -1;
}

/* Connects for some seconds: the server may not be there yet. */
static int call(perf_pair_t *pair, const char *host, unsigned port)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    char service[16];
    int error, result = -1;

    snprintf(service, sizeof service, "%u", port);
    error = getaddrinfo(host, service, &hints, &found);
    if (error != 0) {
        fprintf(stderr, "keel_perftest: %s: %s\n", host, gai_strerror(error));
        return -1;
    }
    for (unsigned i = 0; result != 0 && i < CONNECT_TRIES; i++) {
        if (i > 0) {
            poll(NULL, 0, CONNECT_NAP_MS);
        }
        result = connect_to(pair, found);
    }
    if (result != 0) {
        fprintf(stderr, "keel_perftest: nobody answers at %s, port %u: %s\n", host, port, strerror(errno));
    }
    freeaddrinfo(found);
    return result;
}

static void hello_fill(hello_t *hello)
{
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");

    memset(hello, 0, sizeof *hello);
    hello->magic = MAGIC;
    snprintf(hello->version, sizeof hello->version, "%s", KEEL_VERSION_STRING);
    gethostname(hello->host, sizeof hello->host - 1);
    if (file != NULL) {
        if (fgets(hello->boot, sizeof hello->boot, file) == NULL) {
            hello->boot[0] = '\0';
        }
        fclose(file);
    }
}

int perf_pair_meet(perf_pair_t *pair, const char *host, unsigned port)
{
    const int yes = 1, is_client = (host[0] != '\0');
    hello_t own, other;

    memset(pair, 0, sizeof *pair);
    pair->socket = -1;
    if ((is_client ? call(pair, host, port) : serve(pair, port)) != 0) {
        return -1;
    }
    setsockopt(pair->socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    hello_fill(&own);
    if (perf_pair_send(pair, &own, sizeof own) != 0 || perf_pair_receive(pair, &other, sizeof other) != 0 ||
        other.magic != MAGIC || memcmp(other.version, own.version, sizeof own.version) != 0) {
        return complain("the other side is no keel_perftest of the same build");
    }
    other.host[sizeof other.host - 1] = '\0';
    pair->base.ops = &perf_pair_ops;
    keel_auth_set_off(&pair->base.auth); /* two processes without a launcher share no secret */
    pair->base.rank = is_client ? 0 : 1;
    pair->base.size = 2;
    pair->nodes[1] = strcmp(own.host, other.host) != 0 || memcmp(own.boot, other.boot, sizeof own.boot) != 0;
    pair->base.node = pair->nodes;
    memcpy(pair->names[0], is_client ? own.host : other.host, sizeof pair->names[0]);
    memcpy(pair->names[1], is_client ? other.host : own.host, sizeof pair->names[1]);
    pair->hosts[0] = pair->names[0];
    pair->hosts[1] = pair->names[1];
    pair->base.host = pair->hosts;
    return 0;
}

/* ---- the runtime ---- */

static void pair_abort(keel_runtime_t *base, int status, const char *reason)
{
    (void)base;
    fprintf(stderr, "keel_perftest: %s\n", reason);
    _exit(status); /* ends the connection, and thus the other process */
}

static keel_status_t pair_open(void *driver_arg, keel_runtime_t **runtime_p)
{
    *runtime_p = &((perf_pair_t *)driver_arg)->base;
    return KEEL_OK;
}

static void pair_close(keel_runtime_t *base)
{
    perf_pair_t *pair = (perf_pair_t *)base;
    const char goodbye = GOODBYE;

    (void)perf_pair_send(pair, &goodbye, sizeof goodbye);
    close(pair->socket);
    free(pair->address);
    pair->address = NULL;
}

static keel_status_t pair_announce(keel_runtime_t *base, const void *address, size_t length)
{
    perf_pair_t *pair = (perf_pair_t *)base;
    const uint64_t own = length;
    uint64_t other;

    if (perf_pair_send(pair, &own, sizeof own) != 0 || perf_pair_send(pair, address, length) != 0 ||
        perf_pair_receive(pair, &other, sizeof other) != 0 || other == 0 || other > ADDRESS_MAX) {
        return KEEL_ERR_RUNTIME;
    }
    pair->address_len = other;
    pair->address = malloc(other);
    if (pair->address == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    return (perf_pair_receive(pair, pair->address, other) == 0) ? KEEL_OK : KEEL_ERR_RUNTIME;
}

static keel_status_t pair_lookup(keel_runtime_t *base, uint32_t rank, void **address_p, size_t *length_p)
{
    perf_pair_t *pair = (perf_pair_t *)base;

    if (rank != 1 - base->rank || pair->address == NULL) {
        return KEEL_ERR_RANK;
    }
    *address_p = malloc(pair->address_len);
    if (*address_p == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    memcpy(*address_p, pair->address, pair->address_len);
    *length_p = pair->address_len;
    return KEEL_OK;
}

static int pair_poll(keel_runtime_t *base, keel_event_t *event_p)
{
    perf_pair_t *pair = (perf_pair_t *)base;
    ssize_t got;
    char byte;

    if (pair->is_leaving || ++pair->polls % LOOK_EVERY != 0) {
        return 0;
    }
    got = recv(pair->socket, &byte, sizeof byte, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
        return 0;
    }
    if (got != sizeof byte || byte != GOODBYE) {
        pair_abort(base, EXIT_FAILURE, "the other process is gone");
    }
    pair->is_leaving = 1;
    *event_p = (keel_event_t){.type = KEEL_EVENT_EXIT, .rank = 1 - base->rank};
    return 1;
}

static uint64_t pair_now_ns(keel_runtime_t *base)
{
    struct timespec now;

    (void)base;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

/*
 * Handles silence. The connection reports a death; silence without one is a stopped process, and a
 * person is watching.
 */
static keel_status_t pair_suspect(keel_runtime_t *base, const keel_suspicion_t *suspicion)
{
    if (suspicion->silence_ns > SILENCE_NS) {
        pair_abort(base, EXIT_FAILURE, "the other process has been silent for a minute");
    }
    return KEEL_OK;
}

static void pair_replace(keel_runtime_t *base, uint32_t rank, uint32_t incarnation)
{
    (void)rank;
    (void)incarnation;
    pair_abort(base, EXIT_FAILURE, "nobody can start another process");
}

const keel_runtime_ops_t perf_pair_ops = {.name = "pair",
                                          .open = pair_open,
                                          .close = pair_close,
                                          .announce = pair_announce,
                                          .lookup = pair_lookup,
                                          .poll = pair_poll,
                                          .now_ns = pair_now_ns,
                                          .suspect = pair_suspect,
                                          .replace = pair_replace,
                                          .abort = pair_abort};
