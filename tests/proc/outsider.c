/*
 * A process outside a job that opens connections to the job's processes: outsider
 * list|random|silent|magic PID..., or outsider replay
 *
 *   list    prints "PID ADDRESS PORT" for each TCP socket that listens in a process
 *   random  sends random bytes to each of those ports, of several lengths
 *   silent  connects and sends nothing
 *   magic   sends the first bytes of UCX's tcp transport, then a message of excessive length
 *   replay  captures the packets of the loopback interface (requires root), prints "captures",
 *           reads a line of process numbers, and sends to each of their ports the bytes sent to
 *           that port from the start of a connection, each thrice
 *
 * Except for list, the connections stay open until standard input ends. Prints "connected COUNT"
 * after the last send.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <inttypes.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <netpacket/packet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FILES_MAX = 4096, LISTENS = 0x0a, BYTES = 4096, STREAMS_MAX = 512, STREAM_MAX = 32768, TIMES = 3 };

typedef struct port {
    long pid;
    struct sockaddr_in address;
} port_t;

static port_t ports[FILES_MAX];
static unsigned port_count;
static uint64_t random_state;

static unsigned char random_byte(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned char)(random_state >> 56);
}

static unsigned find_inodes(long pid, uint64_t *inodes)
{
    char path[64], target[64];
    const struct dirent *entry;
    unsigned count = 0;
    DIR *files;

    snprintf(path, sizeof(path), "/proc/%ld/fd", pid);
    files = opendir(path);
    while (files != NULL && count < FILES_MAX && (entry = readdir(files)) != NULL) {
        const ssize_t length = readlinkat(dirfd(files), entry->d_name, target, sizeof(target) - 1);

        if (length > 0) {
            target[length] = '\0';
            count += sscanf(target, "socket:[%" SCNu64 "]", &inodes[count]) == 1;
        }
    }
    if (files != NULL) {
        closedir(files);
    }
    return count;
}

static void find_ports(long pid)
{
    static uint64_t inodes[FILES_MAX];
    const unsigned count = find_inodes(pid, inodes);
    char path[64], line[512];
    FILE *sockets;

    snprintf(path, sizeof(path), "/proc/%ld/net/tcp", pid);
    sockets = fopen(path, "r");
    while (sockets != NULL && port_count < FILES_MAX && fgets(line, sizeof(line), sockets) != NULL) {
        unsigned address, port, state;
        uint64_t inode;

        if (sscanf(line, "%*d: %x:%x %*x:%*x %x %*x:%*x %*x:%*x %*x %*d %*d %" SCNu64, &address, &port, &state,
                   &inode) != 4 ||
            state != LISTENS) {
            continue;
        }
        for (unsigned i = 0; i < count; i++) {
            if (inodes[i] == inode) {
                ports[port_count++] = (port_t){.pid = pid,
                                               .address = {.sin_family = AF_INET,
                                                           .sin_port = htons((uint16_t)port),
                                                           .sin_addr = {.s_addr = address}}};
            }
        }
    }
    if (sockets != NULL) {
        fclose(sockets);
    }
}

/* The bytes before the first message, and the head of a message that no buffer holds: number 1, 4
 * GiB - 1 bytes. */
static size_t compose_magic(unsigned char *bytes)
{
    const uint64_t magic = 0xCAFEBABE12345678u;

    memcpy(bytes, &magic, sizeof(magic));
    bytes[sizeof(magic)] = 1;
    memset(bytes + sizeof(magic) + 1, 0xff, sizeof(uint32_t));
    return sizeof(magic) + 1 + sizeof(uint32_t);
}

static size_t compose(const char *what, unsigned number, unsigned char *bytes)
{
    if (strcmp(what, "magic") == 0) {
        return compose_magic(bytes);
    }
    if (strcmp(what, "random") != 0) {
        return 0;
    }
    for (unsigned i = 0; i < BYTES; i++) {
        bytes[i] = random_byte();
    }
    return BYTES >> (4 * (number % 3));
}

/* ---- replay ---- */

/* One direction of a connection, from its beginning. */
typedef struct stream {
    uint16_t from, to; /* ports, in network byte order */
    uint32_t first;    /* sequence number of the first byte */
    size_t length;
    unsigned char bytes[STREAM_MAX];
} stream_t;

static stream_t *streams;
static unsigned stream_count;

static stream_t *find_stream(const struct tcphdr *tcp)
{
    for (unsigned i = stream_count; i-- > 0;) {
        if (streams[i].from == tcp->source && streams[i].to == tcp->dest) {
            return &streams[i];
        }
    }
    return NULL;
}

static void take_packet(const unsigned char *packet, size_t length)
{
    const struct iphdr *ip = (const void *)packet;
    const struct tcphdr *tcp = (const void *)(packet + ip->ihl * 4u);
    const size_t before = ip->ihl * 4u + ((length >= ip->ihl * 4u + sizeof(*tcp)) ? tcp->doff * 4u : length);
    stream_t *stream;
    size_t offset, bytes;

    if (ip->protocol != IPPROTO_TCP || before > length) {
        return;
    }
    if (tcp->syn && !tcp->ack && stream_count < STREAMS_MAX) {
        streams[stream_count++] = (stream_t){.from = tcp->source, .to = tcp->dest, .first = ntohl(tcp->seq) + 1};
        return;
    }
    stream = find_stream(tcp);
    bytes = ntohs(ip->tot_len) - before;
    if (stream == NULL || ntohs(ip->tot_len) < before || before + bytes > length) {
        return;
    }
    offset = ntohl(tcp->seq) - stream->first;
    if (offset == stream->length &&
        bytes <= STREAM_MAX - stream->length) { /* the stream ends at the last packet that fits */
        memcpy(stream->bytes + offset, packet + before, bytes);
        stream->length += bytes;
    }
}

/* Captures until standard input has the process numbers. */
static int capture(void)
{
    static unsigned char packet[1 << 17];
    struct sockaddr_ll address = {
        .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP), .sll_ifindex = (int)if_nametoindex("lo")};
    const int fd = socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_IP)), room = 64 << 20;
    struct pollfd files[2] = {{.fd = fd, .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
    long pid;

    streams = calloc(STREAMS_MAX, sizeof(*streams));
    if (fd < 0 || streams == NULL || bind(fd, (const struct sockaddr *)&address, sizeof(address)) != 0) {
        perror("capture");
        return -1;
    }
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
    printf("captures\n");
    fflush(stdout);
    while (poll(files, 2, -1) >= 0 && (files[0].revents != 0 || files[1].revents == 0)) {
        struct sockaddr_ll from;
        socklen_t from_len = sizeof(from);
        const ssize_t length = recvfrom(fd, packet, sizeof(packet), MSG_DONTWAIT, (struct sockaddr *)&from, &from_len);

        /* each packet occurs twice */
        if (length > (ssize_t)sizeof(struct iphdr) && from.sll_pkttype != PACKET_OUTGOING) {
            take_packet(packet, (size_t)length);
        }
        if (files[1].revents != 0) {
            break;
        }
    }
    close(fd);
    while (scanf("%ld", &pid) == 1 && pid > 0) { /* 0 ends the list */
        find_ports(pid);
    }
    return 0;
}

static unsigned replay(void)
{
    unsigned count = 0;

    for (unsigned i = 0; i < TIMES * stream_count; i++) {
        const stream_t *stream = &streams[i % stream_count];

        for (unsigned p = 0; p < port_count; p++) {
            const struct sockaddr_in *address = &ports[p].address;
            int fd;

            if (address->sin_port != stream->to || stream->length == 0) {
                continue;
            }
            fd = socket(AF_INET, SOCK_STREAM, 0);
            if (fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0) {
                count++;
                if (send(fd, stream->bytes, stream->length, MSG_NOSIGNAL) < 0) {
                    perror("send");
                }
            }
        }
    }
    return count;
}

/* ---- */

static unsigned attack(const char *what)
{
    unsigned char bytes[BYTES];
    unsigned count = 0;

    for (unsigned i = 0; i < 3 * port_count; i++) {
        const struct sockaddr_in *address = &ports[i % port_count].address;
        const size_t length = compose(what, i / port_count, bytes);
        const int fd = socket(AF_INET, SOCK_STREAM, 0);

        if (fd < 0 || connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0) {
            perror("connect");
            close(fd);
            continue;
        }
        count++;
        if (length > 0 && send(fd, bytes, length, MSG_NOSIGNAL) < 0) {
            perror("send");
        }
    }
    return count;
}

int main(int argc, char **argv)
{
    char text[INET_ADDRSTRLEN], byte;

    if (argc < 3 && (argc < 2 || strcmp(argv[1], "replay") != 0)) {
        fprintf(stderr, "usage: outsider list|random|silent|magic PID...\n       outsider replay\n");
        return 2;
    }
    if (strcmp(argv[1], "replay") == 0) {
        if (capture() != 0) {
            return 1;
        }
        printf("connected %u\n", replay());
        fflush(stdout);
        while (read(STDIN_FILENO, &byte, 1) > 0) {
        }
        return 0;
    }
    for (int i = 2; i < argc; i++) {
        find_ports(atol(argv[i]));
    }
    if (strcmp(argv[1], "list") == 0) {
        for (unsigned i = 0; i < port_count; i++) {
            printf("%ld %s %u\n", ports[i].pid, inet_ntop(AF_INET, &ports[i].address.sin_addr, text, sizeof(text)),
                   ntohs(ports[i].address.sin_port));
        }
        return 0;
    }
    random_state = (uint64_t)getpid();
    fprintf(stderr, "seed %" PRIu64 "\n", random_state);
    printf("connected %u\n", attack(argv[1]));
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0) {
    }
    return 0;
}
