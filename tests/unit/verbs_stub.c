/* A stand-in for libibverbs. */
#include "verbs_stub.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { QPS = 64, MRS = 1024, CQS = 32, HELD = 65536, RECEIVES = 64 };

/* The event of a context: one event at a time. */
typedef struct stub_context {
    struct ibv_context super;
    struct ibv_async_event event;
    int is_dead; /* the device announced its failure: nothing completes any more */
} stub_context_t;

typedef struct stub_cq {
    struct ibv_cq super;
    struct ibv_wc *wcs;
    unsigned head, count;
    int is_armed, is_used;
} stub_cq_t;

typedef struct stub_qp {
    struct ibv_qp super;
    int is_used, is_cut, access;
    uint32_t other;
    unsigned send_max, recv_max, sends; /* sends: posted, without a later completion taken */
    uint64_t posted;
    /* gets without a known completion, and without a later put behind a fence */
    struct ibv_sge got[RECEIVES];
    unsigned got_count;
    struct ibv_recv_wr receives[RECEIVES];
    struct ibv_sge pieces[RECEIVES];
    unsigned head, count;
} stub_qp_t;

typedef struct stub_held {
    stub_cq_t *cq;
    struct ibv_wc wc;
} stub_held_t;

static struct {
    pthread_mutex_t lock;
    struct ibv_device device;
    int is_absent, is_down, is_holding;
    size_t lockable, locked;
    stub_qp_t qps[QPS];
    struct ibv_mr mrs[MRS];
    int access[MRS];
    stub_cq_t cqs[CQS];
    stub_held_t held[HELD];
    unsigned held_count;
    uint32_t next_number;
    stub_counts_t counts;
} stub = {.lock = PTHREAD_MUTEX_INITIALIZER, .lockable = SIZE_MAX, .device = {.name = "stub0"}};

static void enter(void)
{
    pthread_mutex_lock(&stub.lock);
}

static void leave(void)
{
    pthread_mutex_unlock(&stub.lock);
}

/* ---- devices ---- */

#undef ibv_get_device_list
struct ibv_device **ibv_get_device_list(int *count)
{
    struct ibv_device **list = calloc(2, sizeof(struct ibv_device *));

    if (list != NULL && !stub.is_absent) {
        list[0] = &stub.device;
    }
    if (count != NULL) {
        *count = !stub.is_absent;
    }
    return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
    free((void *)list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
    return device->name;
}

int ibv_fork_init(void)
{
    return 0;
}

static int poll_cq(struct ibv_cq *cq, int max, struct ibv_wc *wcs);
static int notify_cq(struct ibv_cq *cq, int solicited);
static int post_send(struct ibv_qp *qp, struct ibv_send_wr *request, struct ibv_send_wr **bad);
static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *request, struct ibv_recv_wr **bad);

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
    stub_context_t *made = calloc(1, sizeof(*made));
    struct ibv_context *context = &made->super;

    if (made != NULL) {
        context->device = device;
        context->async_fd = eventfd(0, EFD_CLOEXEC);
        context->ops = (struct ibv_context_ops){
            .poll_cq = poll_cq, .req_notify_cq = notify_cq, .post_send = post_send, .post_recv = post_recv};
    }
    return context;
}

int ibv_close_device(struct ibv_context *context)
{
    close(context->async_fd);
    free(context);
    return 0;
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
    uint64_t count;

    if (read(context->async_fd, &count, sizeof(count)) != sizeof(count)) {
        return -1;
    }
    enter();
    *event = ((stub_context_t *)context)->event;
    stub.counts.unacknowledged++;
    leave();
    return 0;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
    enter();
    stub.counts.unacknowledged--;
    leave();
}

const char *ibv_event_type_str(enum ibv_event_type type)
{
    return (type == IBV_EVENT_DEVICE_FATAL) ? "local catastrophic error" : "an event of the stand-in";
}

void stub_announce(struct ibv_context *context, enum ibv_event_type type)
{
    const uint64_t one = 1;

    enter();
    ((stub_context_t *)context)->event = (struct ibv_async_event){.event_type = type};
    ((stub_context_t *)context)->is_dead |= (type == IBV_EVENT_DEVICE_FATAL || type == IBV_EVENT_CQ_ERR);
    leave();
    (void)!write(context->async_fd, &one, sizeof(one));
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
    *attr = (struct ibv_device_attr){.phys_port_cnt = 1,
                                     .max_qp_wr = 4096,
                                     .max_qp_rd_atom = 16,
                                     .max_qp_init_rd_atom = 16,
                                     .atomic_cap = IBV_ATOMIC_HCA};
    return 0;
}

#undef ibv_query_port
int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *compat)
{
    struct ibv_port_attr attr = {.state = stub.is_down ? IBV_PORT_DOWN : IBV_PORT_ACTIVE,
                                 .active_mtu = IBV_MTU_1024,
                                 .gid_tbl_len = 2,
                                 .link_layer = IBV_LINK_LAYER_ETHERNET};

    memcpy((void *)compat, &attr, sizeof(attr));
    return 0;
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port, uint32_t index, struct ibv_gid_entry *entry,
                      uint32_t flags, size_t size)
{
    static const uint8_t address[16] = {[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1};

    *entry = (struct ibv_gid_entry){.gid_index = index,
                                    .gid_type = (index == 1) ? IBV_GID_TYPE_ROCE_V2 : IBV_GID_TYPE_ROCE_V1};
    memcpy(entry->gid.raw, address, sizeof(address));
    return 0;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
    struct ibv_pd *pd = calloc(1, sizeof(*pd));

    if (pd != NULL) {
        pd->context = context;
    }
    return pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
    free(pd);
    return 0;
}

const char *ibv_wc_status_str(enum ibv_wc_status status)
{
    return (status == IBV_WC_SUCCESS) ? "success" : "an error of the stand-in";
}

/* ---- memory ---- */

#undef ibv_reg_mr
struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *base, size_t bytes, int access)
{
    struct ibv_mr *made = NULL;

    enter();
    for (uint32_t i = 1; i < MRS && made == NULL && stub.locked + bytes <= stub.lockable; i++) {
        if (stub.mrs[i].length == 0) {
            made = &stub.mrs[i];
            *made = (struct ibv_mr){
                .context = pd->context, .pd = pd, .addr = base, .length = bytes, .lkey = i, .rkey = i + MRS};
            stub.access[i] = access;
            stub.locked += bytes;
            stub.counts.regions++;
        }
    }
    leave();
    errno = (made == NULL) ? ENOMEM : errno;
    return made;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *base, size_t bytes, uint64_t iova, unsigned access)
{
    return ibv_reg_mr(pd, base, bytes, (int)access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
    enter();
    stub.locked -= mr->length;
    stub.counts.regions--;
    mr->length = 0;
    leave();
    return 0;
}

static int is_inside(uint32_t key, struct ibv_pd *pd, uint64_t address, size_t length, int access)
{
    const struct ibv_mr *mr = &stub.mrs[key % MRS];

    return key % MRS != 0 && mr->length > 0 && mr->pd == pd && (stub.access[key % MRS] & access) == access &&
           address >= (uintptr_t)mr->addr && address + length <= (uintptr_t)mr->addr + mr->length;
}

/* ---- completions ---- */

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
    struct ibv_comp_channel *channel = calloc(1, sizeof(*channel));

    if (channel != NULL) {
        channel->context = context;
        channel->fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
    }
    return channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
    close(channel->fd);
    free(channel);
    return 0;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int places, void *arg, struct ibv_comp_channel *channel,
                             int vector)
{
    stub_cq_t *cq = stub.cqs;

    enter();
    while (cq->is_used) {
        cq++;
    }
    *cq = (stub_cq_t){.super = {.context = context, .channel = channel, .cqe = places}, .is_used = 1};
    cq->wcs = calloc((size_t)places, sizeof(*cq->wcs));
    leave();
    return &cq->super;
}

int ibv_resize_cq(struct ibv_cq *super, int places)
{
    stub_cq_t *cq = (stub_cq_t *)super;
    struct ibv_wc *wcs = calloc((size_t)places, sizeof(*wcs));

    enter();
    for (unsigned i = 0; i < cq->count; i++) {
        wcs[i] = cq->wcs[(cq->head + i) % (unsigned)super->cqe];
    }
    free(cq->wcs);
    cq->wcs = wcs;
    cq->head = 0;
    super->cqe = places;
    leave();
    return 0;
}

int ibv_destroy_cq(struct ibv_cq *super)
{
    stub_cq_t *cq = (stub_cq_t *)super;
    unsigned kept = 0;

    enter();
    for (unsigned i = 0; i < stub.held_count; i++) {
        if (stub.held[i].cq != cq) {
            stub.held[kept++] = stub.held[i];
        }
    }
    stub.held_count = kept;
    free(cq->wcs);
    cq->is_used = 0;
    leave();
    return 0;
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **arg)
{
    uint64_t count;

    return (read(channel->fd, &count, sizeof(count)) == sizeof(count)) ? 0 : -1;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned count)
{
}

static int notify_cq(struct ibv_cq *cq, int solicited)
{
    enter();
    ((stub_cq_t *)cq)->is_armed = 1;
    leave();
    return 0;
}

static void put_wc(stub_cq_t *cq, const struct ibv_wc *wc)
{
    const uint64_t one = 1;

    if (cq->count == (unsigned)cq->super.cqe) {
        stub.counts.overflows++;
        return;
    }
    cq->wcs[(cq->head + cq->count++) % (unsigned)cq->super.cqe] = *wc;
    if (cq->is_armed) {
        cq->is_armed = 0;
        (void)!write(cq->super.channel->fd, &one, sizeof(one));
    }
}

/* The number names the place, so that what is counted by instructions does not depend on it. */
static stub_qp_t *find(uint32_t number)
{
    stub_qp_t *qp = &stub.qps[number % QPS];

    return (qp->is_used && qp->super.qp_num == number) ? qp : NULL;
}

static int poll_cq(struct ibv_cq *super, int max, struct ibv_wc *wcs)
{
    stub_cq_t *cq = (stub_cq_t *)super;
    int taken;

    enter();
    for (taken = 0; taken < max && cq->count > 0; taken++) {
        stub_qp_t *qp;

        wcs[taken] = cq->wcs[cq->head];
        cq->head = (cq->head + 1) % (unsigned)super->cqe;
        cq->count--;
        qp = find(wcs[taken].qp_num);
        if (qp != NULL && wcs[taken].opcode != IBV_WC_RECV) {
            /* all sends before are off the queue */
            qp->sends = (unsigned)(qp->posted - wcs[taken].vendor_err - 1);
            qp->got_count = (qp->sends == 0) ? 0 : qp->got_count;
        }
    }
    stub.counts.completions += (unsigned)taken;
    leave();
    return taken;
}

static void complete_send(stub_qp_t *qp, const struct ibv_send_wr *request, enum ibv_wc_status status)
{
    const struct ibv_wc wc = {.wr_id = request->wr_id,
                              .status = status,
                              .opcode = IBV_WC_SEND,
                              .vendor_err = (uint32_t)qp->posted,
                              .qp_num = qp->super.qp_num};

    if (stub.is_holding && stub.held_count < HELD) {
        stub.held[stub.held_count++] = (stub_held_t){(stub_cq_t *)qp->super.send_cq, wc};
    } else {
        put_wc((stub_cq_t *)qp->super.send_cq, &wc);
    }
}

/* ---- queue pairs ---- */

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
    stub_qp_t *qp = stub.qps;

    enter();
    while (qp->is_used) {
        qp++;
    }
    *qp = (stub_qp_t){.super = {.context = pd->context,
                                .pd = pd,
                                .send_cq = init->send_cq,
                                .recv_cq = init->recv_cq,
                                .qp_num = ++stub.next_number * QPS + (uint32_t)(qp - stub.qps),
                                .state = IBV_QPS_RESET},
                      .is_used = 1,
                      .send_max = init->cap.max_send_wr,
                      .recv_max = init->cap.max_recv_wr};
    stub.counts.queue_pairs++;
    leave();
    return &qp->super;
}

int ibv_destroy_qp(struct ibv_qp *super)
{
    enter();
    ((stub_qp_t *)super)->is_used = 0;
    stub.counts.queue_pairs--;
    leave();
    return 0;
}

int ibv_modify_qp(struct ibv_qp *super, struct ibv_qp_attr *attr, int mask)
{
    stub_qp_t *qp = (stub_qp_t *)super;

    enter();
    super->state = attr->qp_state;
    if (mask & IBV_QP_ACCESS_FLAGS) {
        qp->access = (int)attr->qp_access_flags;
    }
    if (mask & IBV_QP_DEST_QPN) {
        qp->other = attr->dest_qp_num;
    }
    leave();
    return 0;
}

static int post_recv(struct ibv_qp *super, struct ibv_recv_wr *request, struct ibv_recv_wr **bad)
{
    stub_qp_t *qp = (stub_qp_t *)super;
    int status = 0;

    enter();
    if (qp->count == qp->recv_max || qp->count == RECEIVES ||
        !is_inside(request->sg_list->lkey, super->pd, request->sg_list->addr, request->sg_list->length,
                   IBV_ACCESS_LOCAL_WRITE)) {
        stub.counts.overflows++;
        status = ENOMEM;
    } else {
        const unsigned place = (qp->head + qp->count++) % RECEIVES;

        qp->receives[place] = *request;
        qp->pieces[place] = *request->sg_list;
    }
    leave();
    return status;
}

static enum ibv_wc_status send_to(stub_qp_t *to, const void *data, uint32_t length)
{
    struct ibv_wc wc = {.opcode = IBV_WC_RECV, .byte_len = length, .qp_num = to->super.qp_num};

    if (to->count == 0 || to->pieces[to->head].length < length) {
        stub.counts.missing++;
        return IBV_WC_RNR_RETRY_EXC_ERR;
    }
    if (length > 0) {
        memcpy((void *)(uintptr_t)to->pieces[to->head].addr, data, length);
    }
    wc.wr_id = to->receives[to->head].wr_id;
    to->head = (to->head + 1) % RECEIVES;
    to->count--;
    put_wc((stub_cq_t *)to->super.recv_cq, &wc);
    return IBV_WC_SUCCESS;
}

static int is_atomic(const struct ibv_send_wr *request)
{
    return request->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || request->opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
}

static enum ibv_wc_status reach_word(stub_qp_t *to, const struct ibv_send_wr *request, uint64_t *local, uint32_t length)
{
    uint64_t *word = (uint64_t *)(uintptr_t)request->wr.atomic.remote_addr;
    const int is_add = (request->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD);

    if (length != sizeof(*word) || request->wr.atomic.remote_addr % sizeof(*word) != 0 ||
        !(to->access & IBV_ACCESS_REMOTE_ATOMIC) ||
        !is_inside(request->wr.atomic.rkey, to->super.pd, request->wr.atomic.remote_addr, length,
                   IBV_ACCESS_REMOTE_ATOMIC)) {
        stub.counts.refused++;
        return IBV_WC_REM_ACCESS_ERR;
    }
    *local = *word;
    if (is_add || *word == request->wr.atomic.compare_add) {
        *word = is_add ? *word + request->wr.atomic.compare_add : request->wr.atomic.swap;
    }
    return IBV_WC_SUCCESS;
}

static enum ibv_wc_status reach(stub_qp_t *to, const struct ibv_send_wr *request, void *local, uint32_t length)
{
    const int access = (request->opcode == IBV_WR_RDMA_READ) ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_WRITE;
    void *remote = (void *)(uintptr_t)request->wr.rdma.remote_addr;

    if (!(to->access & access) ||
        (length > 0 && !is_inside(request->wr.rdma.rkey, to->super.pd, request->wr.rdma.remote_addr, length, access))) {
        stub.counts.refused++;
        return IBV_WC_REM_ACCESS_ERR;
    }
    if (length > 0) {
        memcpy((access == IBV_ACCESS_REMOTE_READ) ? local : remote, (access == IBV_ACCESS_REMOTE_READ) ? remote : local,
               length);
    }
    return IBV_WC_SUCCESS;
}

/* Counts puts of bytes that a device would read before a get has written the bytes. */
static void look_for_gets(stub_qp_t *qp, const struct ibv_send_wr *request)
{
    const struct ibv_sge *piece = request->sg_list;

    if (request->opcode == IBV_WR_RDMA_READ && qp->got_count < RECEIVES) {
        qp->got[qp->got_count++] = *piece;
        return;
    }
    if (request->send_flags & IBV_SEND_FENCE) {
        stub.counts.unfenced += (request->send_flags & IBV_SEND_INLINE) != 0 && qp->got_count > 0;
        qp->got_count = 0;
    }
    for (unsigned i = 0; i < qp->got_count && request->num_sge > 0; i++) {
        stub.counts.unfenced +=
            piece->addr < qp->got[i].addr + qp->got[i].length && qp->got[i].addr < piece->addr + piece->length;
    }
}

static enum ibv_wc_status carry(stub_qp_t *qp, const struct ibv_send_wr *request)
{
    stub_qp_t *to = find(qp->other);
    const int is_read = (request->opcode == IBV_WR_RDMA_READ || is_atomic(request));
    const uint32_t length = (request->num_sge > 0) ? request->sg_list->length : 0;
    void *local = (length > 0) ? (void *)(uintptr_t)request->sg_list->addr : NULL;

    if (length > 0 && !(request->send_flags & IBV_SEND_INLINE) &&
        !is_inside(request->sg_list->lkey, qp->super.pd, request->sg_list->addr, length,
                   is_read ? IBV_ACCESS_LOCAL_WRITE : 0)) {
        return IBV_WC_LOC_PROT_ERR;
    }
    if (qp->is_cut || to == NULL || to->is_cut || to->other != qp->super.qp_num ||
        (to->super.state != IBV_QPS_RTR && to->super.state != IBV_QPS_RTS)) {
        return IBV_WC_RETRY_EXC_ERR;
    }
    if (is_atomic(request)) {
        return reach_word(to, request, local, length);
    }
    return (request->opcode == IBV_WR_SEND) ? send_to(to, local, length) : reach(to, request, local, length);
}

static void flush_receives(stub_qp_t *qp)
{
    for (; qp->count > 0; qp->count--) {
        const struct ibv_wc wc = {.wr_id = qp->receives[qp->head].wr_id,
                                  .status = IBV_WC_WR_FLUSH_ERR,
                                  .opcode = IBV_WC_RECV,
                                  .qp_num = qp->super.qp_num};

        qp->head = (qp->head + 1) % RECEIVES;
        put_wc((stub_cq_t *)qp->super.recv_cq, &wc);
    }
}

static int post_send(struct ibv_qp *super, struct ibv_send_wr *request, struct ibv_send_wr **bad)
{
    stub_qp_t *qp = (stub_qp_t *)super;
    enum ibv_wc_status status;

    enter();
    if (((stub_context_t *)super->context)->is_dead) {
        leave();
        return 0;
    }
    stub.counts.posts++;
    for (; request != NULL; request = request->next, qp->posted++) {
        stub.counts.requests++;
        if (++qp->sends > qp->send_max) {
            stub.counts.overflows++;
            leave();
            *bad = request;
            return ENOMEM;
        }
        look_for_gets(qp, request);
        status = (super->state == IBV_QPS_RTS) ? carry(qp, request) : IBV_WC_WR_FLUSH_ERR;
        if (status != IBV_WC_SUCCESS || (request->send_flags & IBV_SEND_SIGNALED)) {
            complete_send(qp, request, status);
        }
        if (status != IBV_WC_SUCCESS && super->state == IBV_QPS_RTS) {
            super->state = IBV_QPS_ERR;
            flush_receives(qp);
        }
    }
    leave();
    return 0;
}

/* ---- for tests ---- */

void stub_set(int has_device, int is_down, size_t lockable)
{
    stub.is_absent = !has_device;
    stub.is_down = is_down;
    stub.lockable = lockable;
}

stub_counts_t stub_counts(void)
{
    stub_counts_t counts;

    enter();
    counts = stub.counts;
    counts.locked = stub.locked;
    leave();
    return counts;
}

void stub_hold(int is_holding)
{
    enter();
    stub.is_holding = is_holding;
    for (unsigned i = 0; !is_holding && i < stub.held_count; i++) {
        put_wc(stub.held[i].cq, &stub.held[i].wc);
    }
    stub.held_count = is_holding ? stub.held_count : 0;
    leave();
}

void stub_cut(struct ibv_context *context)
{
    enter();
    for (unsigned i = 0; i < QPS; i++) {
        stub.qps[i].is_cut |= (stub.qps[i].is_used && stub.qps[i].super.context == context);
    }
    leave();
}

unsigned stub_receivers(uint32_t number)
{
    unsigned count = 0;

    enter();
    for (unsigned i = 0; i < QPS; i++) {
        count += (stub.qps[i].is_used && stub.qps[i].other == number && stub.qps[i].super.state >= IBV_QPS_RTR &&
                  stub.qps[i].super.state <= IBV_QPS_RTS);
    }
    leave();
    return count;
}
