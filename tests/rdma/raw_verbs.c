/*
 * The operations of one_sided without Keel, by verbs only: two processes with a device each and a
 * pair of queues between them. Requests are posted in chains of 32, and the last of a chain
 * requests a completion. A round ends when all completions have arrived: the puts are then complete
 * at the other end. Prints counts of both processes for comparison.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    OPERATIONS = 64,
    CHAIN = 32,
    REQUESTS = 256,
    RECEIVES = 8,
    MESSAGE = 64,     /* bytes of a barrier's message */
    PIECE = 64 << 10, /* bytes of a chunk of an image */
    MEMORY = 8 << 20,
    PORT = 1
};

typedef struct {
    uint8_t gid[16];
    uint32_t number, key;
    uint64_t address;
} end_t;

typedef struct {
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_cq *cq;
    struct ibv_qp *qp;
    struct ibv_mr *mr;
    char *memory;
    end_t own, other;
    uint8_t gid_index;
    uint64_t posts, completions;
} side_t;

static const char help[] = "usage: raw_verbs DEVICE DEVICE puts|gets|barriers|images ROUNDS BYTES\n"
                           "  puts, gets  64 of so many bytes a round, and all of them have to be done\n"
                           "  barriers    a message there and one back\n"
                           "  images      so many bytes are read, in pieces of 64 KiB\n";

#define DEMAND(_what)                                                                                   \
    do {                                                                                                \
        if (!(_what)) {                                                                                 \
            fprintf(stderr, "raw_verbs: line %d: %s failed (%s)\n", __LINE__, #_what, strerror(errno)); \
            _exit(1);                                                                                   \
        }                                                                                               \
    } while (0)

/* ---- a pair of queues ---- */

static struct ibv_context *open_device(const char *name)
{
    struct ibv_device **list = ibv_get_device_list(NULL);
    struct ibv_context *context = NULL;

    for (unsigned i = 0; list != NULL && list[i] != NULL && context == NULL; i++) {
        if (strcmp(ibv_get_device_name(list[i]), name) == 0) {
            context = ibv_open_device(list[i]);
        }
    }
    ibv_free_device_list(list);
    return context;
}

/* Finds the GID of the device's IPv4 address. */
static void find_gid(side_t *side)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    struct ibv_gid_entry gid;

    for (uint8_t i = 0; i < 16; i++) {
        if (ibv_query_gid_ex(side->context, PORT, i, &gid, 0) == 0 && gid.gid_type == IBV_GID_TYPE_ROCE_V2 &&
            memcmp(gid.gid.raw, mapped, sizeof(mapped)) == 0) {
            side->gid_index = i;
            memcpy(side->own.gid, gid.gid.raw, sizeof(side->own.gid));
            return;
        }
    }
    DEMAND(!"an address of RoCE v2");
}

static void open_side(side_t *side, const char *name)
{
    const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
    struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC,
                                    .cap = {.max_send_wr = REQUESTS,
                                            .max_recv_wr = RECEIVES,
                                            .max_send_sge = 1,
                                            .max_recv_sge = 1,
                                            .max_inline_data = MESSAGE}};
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = PORT, .qp_access_flags = (unsigned)access};

    DEMAND((side->context = open_device(name)) != NULL);
    DEMAND((side->pd = ibv_alloc_pd(side->context)) != NULL);
    DEMAND((side->cq = ibv_create_cq(side->context, REQUESTS + RECEIVES, NULL, NULL, 0)) != NULL);
    side->memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    DEMAND(side->memory != MAP_FAILED);
    memset(side->memory, 1, MEMORY);
    DEMAND((side->mr = ibv_reg_mr(side->pd, side->memory, MEMORY, access)) != NULL);
    init.send_cq = init.recv_cq = side->cq;
    DEMAND((side->qp = ibv_create_qp(side->pd, &init)) != NULL);
    DEMAND(ibv_modify_qp(side->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0);
    find_gid(side);
    side->own.number = side->qp->qp_num;
    side->own.key = side->mr->rkey;
    side->own.address = (uintptr_t)side->memory;
}

static void connect_side(side_t *side, int socket)
{
    struct ibv_port_attr port;
    struct ibv_qp_attr receive = {
        .qp_state = IBV_QPS_RTR,
        .max_dest_rd_atomic = 16,
        .min_rnr_timer = 12,
        .ah_attr = {.is_global = 1, .port_num = PORT, .grh = {.sgid_index = side->gid_index, .hop_limit = 64}}};
    struct ibv_qp_attr send = {
        .qp_state = IBV_QPS_RTS, .timeout = 17, .retry_cnt = 6, .rnr_retry = 6, .max_rd_atomic = 16};

    DEMAND(write(socket, &side->own, sizeof(end_t)) == sizeof(end_t));
    DEMAND(read(socket, &side->other, sizeof(end_t)) == sizeof(end_t));
    DEMAND(ibv_query_port(side->context, PORT, &port) == 0);
    receive.path_mtu = port.active_mtu;
    receive.dest_qp_num = side->other.number;
    memcpy(receive.ah_attr.grh.dgid.raw, side->other.gid, sizeof(side->other.gid));
    DEMAND(ibv_modify_qp(side->qp, &receive,
                         IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                             IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0);
    DEMAND(ibv_modify_qp(side->qp, &send,
                         IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                             IBV_QP_MAX_QP_RD_ATOMIC) == 0);
}

/* ---- requests ---- */

static void wait_for(side_t *side, unsigned completions)
{
    struct ibv_wc wc;

    while (completions > 0) {
        const int count = ibv_poll_cq(side->cq, 1, &wc);

        DEMAND(count >= 0 && (count == 0 || wc.status == IBV_WC_SUCCESS));
        side->completions += (unsigned)count;
        completions -= (unsigned)count;
    }
}

/* Posts @a count operations of @a bytes, contiguous in both memories. Returns the number of
 * completions to wait for. */
static unsigned post(side_t *side, enum ibv_wr_opcode opcode, unsigned count, uint32_t bytes)
{
    struct ibv_send_wr chain[CHAIN], *bad;
    struct ibv_sge pieces[CHAIN];
    unsigned asked = 0;

    for (unsigned begin = 0; begin < count; begin += CHAIN, asked++) {
        const unsigned end = (count - begin < CHAIN) ? count : begin + CHAIN;

        for (unsigned i = begin; i < end; i++) {
            struct ibv_send_wr *request = &chain[i - begin];

            pieces[i - begin] = (struct ibv_sge){
                .addr = (uintptr_t)side->memory + (uint64_t)i * bytes, .length = bytes, .lkey = side->mr->lkey};
            *request = (struct ibv_send_wr){.sg_list = &pieces[i - begin], .num_sge = 1, .opcode = opcode};
            request->wr.rdma.remote_addr = side->other.address + (uint64_t)i * bytes;
            request->wr.rdma.rkey = side->other.key;
            request->next = (i + 1 < end) ? request + 1 : NULL;
            request->send_flags = (i + 1 < end) ? 0 : IBV_SEND_SIGNALED;
        }
        DEMAND(ibv_post_send(side->qp, chain, &bad) == 0);
        side->posts++;
    }
    return asked;
}

static void post_receive(side_t *side)
{
    struct ibv_sge piece = {.addr = (uintptr_t)side->memory, .length = MESSAGE, .lkey = side->mr->lkey};
    struct ibv_recv_wr request = {.sg_list = &piece, .num_sge = 1}, *bad;

    DEMAND(ibv_post_recv(side->qp, &request, &bad) == 0);
}

/* Sends a message and receives one, in either order, as in a barrier of two. */
static void barrier(side_t *side)
{
    post_receive(side);
    wait_for(side, 1 + post(side, IBV_WR_SEND, 1, MESSAGE));
}

static void do_rounds(side_t *side, const char *what, unsigned long rounds, uint32_t bytes)
{
    for (unsigned long i = 0; i < rounds; i++) {
        if (strcmp(what, "puts") == 0) {
            wait_for(side, post(side, IBV_WR_RDMA_WRITE, OPERATIONS, bytes));
        } else if (strcmp(what, "gets") == 0) {
            wait_for(side, post(side, IBV_WR_RDMA_READ, OPERATIONS, bytes));
        } else if (strcmp(what, "images") == 0) {
            wait_for(side, post(side, IBV_WR_RDMA_READ, (bytes + PIECE - 1) / PIECE, PIECE));
        } else {
            barrier(side);
        }
    }
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* The other end takes part in barriers only. */
static int serve(side_t *side, int socket, const char *what, unsigned long rounds)
{
    uint64_t counts[2];
    char word;

    post_receive(side); /* posted before the other end's first message */
    DEMAND(write(socket, "r", 1) == 1);
    for (unsigned long i = 0; strcmp(what, "barriers") == 0 && i < rounds; i++) {
        barrier(side);
    }
    DEMAND(read(socket, &word, 1) == 1);
    counts[0] = side->posts;
    counts[1] = side->completions;
    DEMAND(write(socket, counts, sizeof(counts)) == sizeof(counts));
    return 0;
}

int main(int argc, char **argv)
{
    const unsigned long rounds = (argc == 6) ? strtoul(argv[4], NULL, 10) : 0;
    const unsigned long bytes = (argc == 6) ? strtoul(argv[5], NULL, 10) : 0;
    uint64_t counts[2];
    side_t side = {.qp = NULL};
    int sockets[2], status;
    double begin;
    char word;

    if (argc != 6 || OPERATIONS * bytes > MEMORY + (strcmp(argv[3], "images") == 0) * OPERATIONS * (uint64_t)MEMORY) {
        fputs(help, stderr);
        return 2;
    }
    DEMAND(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
    if (fork() == 0) {
        open_side(&side, argv[2]);
        connect_side(&side, sockets[1]);
        return serve(&side, sockets[1], argv[3], rounds);
    }
    open_side(&side, argv[1]);
    connect_side(&side, sockets[0]);
    post_receive(&side);
    DEMAND(read(sockets[0], &word, 1) == 1);
    begin = now();
    do_rounds(&side, argv[3], rounds, (uint32_t)bytes);
    begin = now() - begin;
    DEMAND(write(sockets[0], "e", 1) == 1);
    DEMAND(read(sockets[0], counts, sizeof(counts)) == sizeof(counts));
    DEMAND(wait(&status) > 0 && status == 0);
    printf("raw_verbs: %llu posts, %llu completions, %.6f s\n", (unsigned long long)(side.posts + counts[0]),
           (unsigned long long)(side.completions + counts[1]), begin);
    return 0;
}
