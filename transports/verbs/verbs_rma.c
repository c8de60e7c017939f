/* Puts, gets and flushes. */
#include "verbs_rma.h"
#include "verbs_out.h"
#include "verbs_transport.h"

#include "base/memory.h"

enum {
    SPARED = 16, /* requests of the queue that messages keep */
    PIECES = 2   /* of a put: a record of a log lies in so many blocks at most */
};

/* who is to be told when requests have completed */
typedef struct waiter {
    ucs_list_link_t link;
    uint64_t until; /* requests completed */
    keel_transport_done_cb_t cb;
    void *arg;
} waiter_t;

static keel_status_t await(keel_verbs_link_t *link, uint64_t until, keel_transport_done_cb_t cb, void *arg)
{
    keel_verbs_port_t *port = link->port;
    waiter_t *waiter;

    if (!ucs_list_is_empty(&port->waiters_free)) {
        waiter = ucs_list_extract_head(&port->waiters_free, waiter_t, link);
    } else {
        waiter = keel_alloc(sizeof(*waiter), "operations");
    }
    if (waiter == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    waiter->until = until;
    waiter->cb = cb;
    waiter->arg = arg;
    ucs_list_add_tail(&link->waiters, &waiter->link);
    return KEEL_INPROGRESS;
}

static void tell(keel_verbs_link_t *link, waiter_t *waiter, keel_status_t status)
{
    const keel_transport_done_cb_t cb = waiter->cb;
    void *arg = waiter->arg;

    ucs_list_del(&waiter->link);
    ucs_list_add_head(&link->port->waiters_free, &waiter->link);
    cb(arg, status);
}

void keel_verbs_rma_completed(keel_verbs_link_t *link)
{
    waiter_t *waiter;

    while (!ucs_list_is_empty(&link->waiters)) {
        waiter = ucs_list_head(&link->waiters, waiter_t, link);
        if (waiter->until > link->done) {
            return;
        }
        tell(link, waiter, KEEL_OK);
    }
}

void keel_verbs_rma_give_up(keel_verbs_link_t *link)
{
    while (!ucs_list_is_empty(&link->waiters)) {
        tell(link, ucs_list_head(&link->waiters, waiter_t, link), KEEL_ERR_UNREACHABLE);
    }
}

void keel_verbs_rma_release(keel_verbs_port_t *port)
{
    while (!ucs_list_is_empty(&port->waiters_free)) {
        keel_free(ucs_list_extract_head(&port->waiters_free, waiter_t, link));
    }
}

/* ---- puts ---- */

static keel_verbs_link_t *link_of(const keel_verbs_t *verbs, uint32_t rank)
{
    return (rank < verbs->params.size && verbs->peers[rank] != NULL) ? verbs->peers[rank]->link : NULL;
}

/* where the pieces of a put are read from; how many there are, 0: it cannot be put */
static unsigned find_pieces(keel_verbs_t *verbs, const keel_verbs_link_t *link, const char *buffer, size_t length,
                            struct ibv_sge *pieces)
{
    unsigned count;

    if (length <= link->inline_max) {
        pieces[0] = (struct ibv_sge){.addr = (uintptr_t)buffer, .length = (uint32_t)length};
        return 1;
    }
    for (count = 0; length > 0 && count < PIECES; count++) {
        size_t here = length;
        const struct ibv_mr *mr = keel_verbs_lent_at(&verbs->loans, &verbs->device, &verbs->params, buffer, &here);

        if (mr == NULL) {
            return 0;
        }
        pieces[count] = (struct ibv_sge){.addr = (uintptr_t)buffer, .length = (uint32_t)here, .lkey = mr->lkey};
        buffer += here;
        length -= here;
    }
    return (length == 0) ? count : 0;
}

keel_status_t keel_verbs_rma_put(keel_transport_t *transport, keel_transport_key_t *key, uint64_t offset,
                                 const void *buffer, size_t length, keel_transport_done_cb_t cb, void *arg)
{
    keel_verbs_t *verbs = keel_verbs_of(transport);
    keel_verbs_link_t *link = link_of(verbs, key->peer);
    struct ibv_sge pieces[PIECES];
    struct ibv_send_wr *request;
    unsigned count;

    if (link == NULL || (link->flags & (KEEL_VERBS_LINK_OPEN | KEEL_VERBS_LINK_BROKEN)) != KEEL_VERBS_LINK_OPEN) {
        return KEEL_ERR_UNREACHABLE;
    }
    if (offset > key->bytes || length > key->bytes - offset) {
        return KEEL_ERR_RANGE;
    }
    if (length == 0) {
        return KEEL_OK;
    }
    count = find_pieces(verbs, link, buffer, length, pieces);
    if (count == 0 || keel_verbs_out_room(link) < count + SPARED) {
        return (count == 0) ? KEEL_ERR_UNSUPPORTED : KEEL_ERR_NO_MEMORY;
    }
    for (unsigned i = 0; i < count; i++) {
        request = keel_verbs_out_add(link, 0);
        request->opcode = IBV_WR_RDMA_WRITE;
        request->send_flags = (length <= link->inline_max) ? IBV_SEND_INLINE : 0;
        *request->sg_list = pieces[i];
        request->wr.rdma.remote_addr = key->remote_base + offset;
        request->wr.rdma.rkey = key->remote_key;
        offset += pieces[i].length;
    }
    link->port->puts++;
    link->port->put_bytes += length;
    link->must_ask = 1;
    link->put = link->built;
    return (cb == NULL) ? KEEL_INPROGRESS : await(link, link->built, cb, arg);
}

/* ---- gets ---- */

keel_status_t keel_verbs_rma_get(keel_transport_t *transport, keel_transport_key_t *key, uint64_t offset, void *buffer,
                                 size_t length, keel_transport_done_cb_t cb, void *arg)
{
    keel_verbs_t *verbs = keel_verbs_of(transport);
    keel_verbs_link_t *link = link_of(verbs, key->peer);
    struct ibv_send_wr *request;
    keel_verbs_read_t *read;

    if (link == NULL || (link->flags & (KEEL_VERBS_LINK_OPEN | KEEL_VERBS_LINK_BROKEN)) != KEEL_VERBS_LINK_OPEN) {
        return KEEL_ERR_UNREACHABLE;
    }
    if (offset > key->bytes || length > key->bytes - offset) {
        return KEEL_ERR_RANGE;
    }
    if (length == 0) {
        return KEEL_OK;
    }
    if (keel_verbs_out_room(link) <= SPARED) {
        return KEEL_ERR_NO_MEMORY;
    }
    read = keel_verbs_read_begin(&verbs->reads, &verbs->device, buffer, length, cb, arg);
    if (read == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    if (await(link, link->built + 1, keel_verbs_read_end, read) != KEEL_INPROGRESS) {
        keel_verbs_read_cancel(read);
        return KEEL_ERR_NO_MEMORY;
    }
    request = keel_verbs_out_add(link, 0);
    request->opcode = IBV_WR_RDMA_READ;
    *request->sg_list =
        (struct ibv_sge){.addr = (uintptr_t)read->arrived, .length = (uint32_t)length, .lkey = verbs->reads.mr->lkey};
    request->wr.rdma.remote_addr = key->remote_base + offset;
    request->wr.rdma.rkey = key->remote_key;
    link->must_ask = 1;
    return KEEL_INPROGRESS;
}

/* ---- order ---- */

void keel_verbs_rma_fence(keel_transport_t *transport)
{
}

keel_status_t keel_verbs_rma_flush(keel_transport_t *transport, uint32_t rank, keel_transport_done_cb_t cb, void *arg)
{
    keel_verbs_link_t *link = link_of(keel_verbs_of(transport), rank);

    if (link == NULL || link->put <= link->done) {
        return KEEL_OK;
    }
    keel_verbs_out_post(link);
    return await(link, link->put, cb, arg);
}
