/*
 * A process outside a job that opens connections to the job's processes: outsider list|random|silent|magic PID...
 *
 *   list    prints "PID ADDRESS PORT" for each TCP socket that listens in a process
 *   random  sends random bytes to each of those ports, of several lengths
 *   silent  connects and sends nothing
 *   magic   sends what UCX's tcp transport begins with, then a message that is longer than any
 *
 * But for list, the connections stay open until standard input ends. Prints "connected COUNT" when all is sent.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FILES_MAX = 4096, LISTENS = 0x0a, BYTES = 4096 };

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

/* what comes before the first message, and the head of a message that no buffer holds: number 1, 4 GiB - 1 bytes */
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

    if (argc < 3) {
        fprintf(stderr, "usage: outsider list|random|silent|magic PID...\n");
        return 2;
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
