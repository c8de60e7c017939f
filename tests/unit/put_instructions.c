/*
 * Puts of 8 bytes over Keel's own transport and over verbs alone, for a tool that counts
 * instructions (put_instructions.sh): two ranks in this process, on a stand-in for libibverbs.
 * Instructions of the stand-in count in neither.
 *   keel_puts()   64 puts and a flush, repeated as given
 *   raw_puts()    64 requests in two chains, and both completions, as Keel posts them
 *   single_puts() the same with a post for each request
 *   safe_points() 64 calls of keel_safe_point() of rank 0, none of which begins a stop
 */
#include "transports/verbs/verbs.h"
#include "verbs_stub.h"

#include "engine/context.h"
#include "job/init.h"

#include <keel/keel.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { RANKS = 2, PUTS = 64, CHAIN = 32 };

/* ---- a runtime of two ranks that never die ---- */

typedef struct fake {
    keel_runtime_t super;
    uint32_t node[RANKS];
    unsigned told; /* bits of the ranks with a reported exit */
} fake_t;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned char address[RANKS][4096];
    size_t length[RANKS];
    unsigned announced, left; /* left: bits of the ranks that left */
} job = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static keel_status_t fake_open(void *arg, keel_runtime_t **runtime_p);

static void fake_close(keel_runtime_t *runtime)
{
    pthread_mutex_lock(&job.lock);
    job.left |= 1u << runtime->rank;
    pthread_mutex_unlock(&job.lock);
    free(runtime);
}

static keel_status_t fake_announce(keel_runtime_t *runtime, const void *address, size_t length)
{
    pthread_mutex_lock(&job.lock);
    memcpy(job.address[runtime->rank], address, length);
    job.length[runtime->rank] = length;
    job.announced++;
    pthread_cond_broadcast(&job.changed);
    while (job.announced < RANKS) {
        pthread_cond_wait(&job.changed, &job.lock);
    }
    pthread_mutex_unlock(&job.lock);
    return KEEL_OK;
}

static keel_status_t fake_lookup(keel_runtime_t *runtime, uint32_t rank, void **address_p, size_t *length_p)
{
    *address_p = malloc(job.length[rank]);
    *length_p = job.length[rank];
    memcpy(*address_p, job.address[rank], job.length[rank]);
    return KEEL_OK;
}

/* Before a rank leaves, the other rank must have received its last message or left. */
static int fake_poll(keel_runtime_t *runtime, keel_event_t *event)
{
    fake_t *fake = (fake_t *)runtime;
    unsigned news;

    pthread_mutex_lock(&job.lock);
    news = job.left & ~fake->told;
    pthread_mutex_unlock(&job.lock);
    if (news == 0) {
        return 0;
    }
    *event = (keel_event_t){.type = KEEL_EVENT_EXIT, .rank = (news & 1) ? 0 : 1};
    fake->told |= 1u << event->rank;
    return 1;
}

static uint64_t fake_now(keel_runtime_t *runtime)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000ull + (uint64_t)time.tv_nsec;
}

static keel_status_t fake_suspect(keel_runtime_t *runtime, const keel_suspicion_t *suspicion)
{
    return KEEL_OK;
}

static void fake_replace(keel_runtime_t *runtime, uint32_t rank, uint32_t incarnation)
{
}

static void fake_abort(keel_runtime_t *runtime, int status, const char *reason)
{
    fprintf(stderr, "put_instructions: %s\n", reason);
    _exit(1);
}

static const keel_runtime_ops_t fake_ops = {.name = "fake",
                                            .open = fake_open,
                                            .close = fake_close,
                                            .announce = fake_announce,
                                            .lookup = fake_lookup,
                                            .poll = fake_poll,
                                            .now_ns = fake_now,
                                            .suspect = fake_suspect,
                                            .replace = fake_replace,
                                            .abort = fake_abort};

static keel_status_t fake_open(void *arg, keel_runtime_t **runtime_p)
{
    fake_t *fake = calloc(1, sizeof(*fake));

    if (fake == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    fake->super = (keel_runtime_t){.ops = &fake_ops, .rank = *(uint32_t *)arg, .size = RANKS, .node = fake->node};
    fake->node[1] = 1;
    keel_auth_set_off(&fake->super.auth);
    *runtime_p = &fake->super;
    return KEEL_OK;
}

/* ---- puts ---- */

static unsigned long rounds;
static keel_transport_ops_t ops;

static void demand(int is_true, const char *what)
{
    if (!is_true) {
        fprintf(stderr, "put_instructions: %s\n", what);
        _exit(1);
    }
}

static inline void put_and_flush(keel_context_h ctx, keel_win_h win, uint64_t begin)
{
    keel_status_t status = KEEL_OK;

    for (uint64_t i = 0; i < PUTS; i++) {
        const uint64_t value = begin + i;

        status |= keel_put(win, 1, i * sizeof(value), &value, sizeof(value));
    }
    status |= keel_flush(ctx, 1);
    demand(status == KEEL_OK, "a put failed");
}

static __attribute__((noinline)) void first_puts(keel_context_h ctx, keel_win_h win)
{
    put_and_flush(ctx, win, 0);
}

static __attribute__((noinline)) void keel_puts(keel_context_h ctx, keel_win_h win, uint64_t begin)
{
    put_and_flush(ctx, win, begin);
}

static __attribute__((noinline)) void safe_points(keel_context_h ctx)
{
    keel_status_t status = KEEL_OK;

    for (unsigned i = 0; i < PUTS; i++) {
        status |= keel_safe_point(ctx);
    }
    demand(status == KEEL_OK, "a safe point failed");
}

/* Objects made by the transport below Keel, used without Keel. */
typedef struct raw {
    struct ibv_qp *qp;
    struct ibv_mr *from, *to;
    uint64_t values[PUTS], arrive[PUTS];
    struct ibv_send_wr chain[CHAIN];
    struct ibv_sge pieces[CHAIN];
} raw_t;

static void fill(raw_t *raw, unsigned place, unsigned i, uint64_t value)
{
    raw->values[i] = value;
    raw->pieces[place] =
        (struct ibv_sge){.addr = (uintptr_t)&raw->values[i], .length = sizeof(value), .lkey = raw->from->lkey};
    raw->chain[place] =
        (struct ibv_send_wr){.wr_id = i, .sg_list = &raw->pieces[place], .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE};
    raw->chain[place].wr.rdma.remote_addr = (uintptr_t)&raw->arrive[i];
    raw->chain[place].wr.rdma.rkey = raw->to->rkey;
}

static void await(struct ibv_cq *cq, unsigned count)
{
    struct ibv_wc wc;

    while (count > 0) {
        const int got = ibv_poll_cq(cq, 1, &wc);

        demand(got == 0 || (got == 1 && wc.status == IBV_WC_SUCCESS), "a raw put failed");
        count -= (unsigned)got;
    }
}

static __attribute__((noinline)) void raw_puts(raw_t *raw, uint64_t begin)
{
    struct ibv_send_wr *bad;
    int failed = 0;

    for (unsigned i = 0; i < PUTS; i++) {
        fill(raw, i % CHAIN, i, begin + i);
        if (i % CHAIN < CHAIN - 1) {
            raw->chain[i % CHAIN].next = &raw->chain[i % CHAIN + 1];
        } else {
            raw->chain[i % CHAIN].send_flags = IBV_SEND_SIGNALED;
            failed |= ibv_post_send(raw->qp, raw->chain, &bad);
        }
    }
    demand(!failed, "a raw put was not posted");
    await(raw->qp->send_cq, PUTS / CHAIN);
}

static __attribute__((noinline)) void single_puts(raw_t *raw, uint64_t begin)
{
    struct ibv_send_wr *bad;
    int failed = 0;

    for (unsigned i = 0; i < PUTS; i++) {
        fill(raw, 0, i, begin + i);
        raw->chain[0].send_flags = (i % CHAIN == CHAIN - 1) ? IBV_SEND_SIGNALED : 0;
        failed |= ibv_post_send(raw->qp, raw->chain, &bad);
    }
    demand(!failed, "a raw put was not posted");
    await(raw->qp->send_cq, PUTS / CHAIN);
}

static void raw_side(struct ibv_pd *pd, struct ibv_cq *cq, struct ibv_qp **qp_p)
{
    struct ibv_qp_init_attr init = {.send_cq = cq,
                                    .recv_cq = cq,
                                    .qp_type = IBV_QPT_RC,
                                    .cap = {.max_send_wr = 256, .max_recv_wr = 1, .max_send_sge = 1}};

    *qp_p = ibv_create_qp(pd, &init);
}

static void raw_rounds(void)
{
    const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
    struct ibv_device **list = ibv_get_device_list(NULL);
    struct ibv_context *context = ibv_open_device(list[0]);
    struct ibv_pd *pd = ibv_alloc_pd(context);
    struct ibv_comp_channel *channel = ibv_create_comp_channel(context);
    struct ibv_cq *cq = ibv_create_cq(context, 512, NULL, channel, 0);
    raw_t *raw = calloc(1, sizeof(*raw));
    struct ibv_qp *other;
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};

    raw_side(pd, cq, &raw->qp);
    raw_side(pd, cq, &other);
    attr.dest_qp_num = other->qp_num;
    ibv_modify_qp(raw->qp, &attr, IBV_QP_STATE | IBV_QP_DEST_QPN | IBV_QP_ACCESS_FLAGS);
    attr.dest_qp_num = raw->qp->qp_num;
    ibv_modify_qp(other, &attr, IBV_QP_STATE | IBV_QP_DEST_QPN | IBV_QP_ACCESS_FLAGS);
    raw->from = ibv_reg_mr(pd, raw->values, sizeof(raw->values), access);
    raw->to = ibv_reg_mr(pd, raw->arrive, sizeof(raw->arrive), access);
    for (unsigned long i = 0; i < rounds; i++) {
        raw_puts(raw, i * PUTS);
        demand(raw->arrive[PUTS - 1] == (i + 1) * PUTS - 1, "raw puts have not arrived");
        single_puts(raw, i * PUTS + 1);
        demand(raw->arrive[PUTS - 1] == (i + 1) * PUTS, "raw puts have not arrived one by one");
    }
}

/* ---- ranks ---- */

/* Windows lie at the same address in all ranks. Two ranks in one process cannot, so any address is
 * taken. */
static keel_status_t alloc_anywhere(keel_transport_t *transport, size_t bytes, void *address,
                                    keel_transport_mem_t **mem_p, void **base_p)
{
    return keel_transport_verbs_ops.mem_alloc(transport, bytes, NULL, mem_p, base_p);
}

static void *run_rank(void *arg)
{
    const keel_drivers_t drivers = {.transport = &ops, .runtime = &fake_ops, .runtime_arg = arg, .transport_arg = arg};
    const uint32_t rank = *(uint32_t *)arg;
    keel_context_h ctx;
    keel_win_h win;

    demand(keel_init_on(&drivers, NULL, &ctx) == KEEL_OK && keel_win_alloc(ctx, 4096, NULL, &win) == KEEL_OK, "no job");
    for (unsigned i = 0; i < 2; i++) { /* the first round pays the costs of first use */
        if (rank == 0) {
            first_puts(ctx, win);
        }
        demand(keel_gsync(ctx, KEEL_GSYNC_SAFE) == KEEL_OK, "no gsync");
    }
    for (unsigned long i = 0; rank == 0 && i < rounds; i++) {
        keel_puts(ctx, win, i * PUTS);
    }
    for (unsigned long i = 0; rank == 0 && i < rounds; i++) {
        safe_points(ctx);
    }
    demand(keel_gsync(ctx, KEEL_GSYNC_SAFE) == KEEL_OK, "no gsync");
    demand(rank == 0 || ((uint64_t *)keel_win_base(win))[PUTS - 1] == rounds * PUTS - 1, "puts have not arrived");
    demand(keel_finalize(ctx) == KEEL_OK, "no end");
    return NULL;
}

int main(int argc, char **argv)
{
    uint32_t ranks[RANKS] = {0, 1};
    pthread_t thread;

    ops = keel_transport_verbs_ops;
    ops.mem_alloc = alloc_anywhere;
    rounds = (argc == 2) ? strtoul(argv[1], NULL, 10) : 100;
    raw_rounds();
    demand(pthread_create(&thread, NULL, run_rank, &ranks[1]) == 0, "no thread");
    (void)run_rank(&ranks[0]);
    pthread_join(thread, NULL);
    printf("%lu rounds of %d puts\n", rounds, PUTS);
    return 0;
}
