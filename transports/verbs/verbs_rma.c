/* Puts, gets and flushes. */
#include "verbs_rma.h"
#include "verbs_out.h"
#include "verbs_requests.h"
#include "verbs_transport.h"

#include "base/memory.h"

enum {
    SPARED = 16,  /* requests of the queue reserved for messages */
    PIECES = 2,   /* maximum pieces of a put or get: a record of a log spans at most two blocks */
    RECORDED = 4, /* requests reserved after each get for its record */
};

/* are gets in flight? */
static int is_getting(const keel_verbs_link_t *link)
{
    return link->got > link->done;
}

/* notification after the completion of requests */
typedef struct waiter {
    ucs_list_link_t link;
    uint64_t until; /* number of completed requests */
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

static void notify(keel_verbs_link_t *link, waiter_t *waiter, keel_status_t status)
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
        notify(link, waiter, KEEL_OK);
    }
}

void keel_verbs_rma_give_up(keel_verbs_link_t *link)
{
    while (!ucs_list_is_empty(&link->waiters)) {
        notify(link, ucs_list_head(&link->waiters, waiter_t, link), KEEL_ERR_UNREACHABLE);
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

/* Finds the pieces of a put or get in lent memory and returns their number. 0: the memory is not
 * lent. */
static unsigned find_pieces(keel_verbs_t *verbs, const char *buffer, size_t length, struct ibv_sge *pieces)
{
    unsigned count;

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

static int is_usable(const keel_verbs_link_t *link)
{
    return link != NULL && (link->flags & (KEEL_VERBS_LINK_OPEN | KEEL_VERBS_LINK_BROKEN)) == KEEL_VERBS_LINK_OPEN;
}

static keel_status_t check(const keel_verbs_link_t *link, const keel_transport_key_t *key, uint64_t offset,
                           size_t length)
{
    if (!is_usable(link)) {
        return KEEL_ERR_UNREACHABLE;
    }
    return (offset > key->bytes || length > key->bytes - offset) ? KEEL_ERR_RANGE : KEEL_OK;
}

/* Inline data is read when the request is posted, so memory that a get in flight may write is
 * not sent inline. Such memory is always lent. */
static unsigned pieces_of(keel_verbs_t *verbs, const keel_verbs_link_t *link, const void *buffer, size_t length,
                          struct ibv_sge *pieces, unsigned *flags_p)
{
    unsigned count = 0;

    *flags_p = 0;
    if (length > link->inline_max || is_getting(link)) {
        count = find_pieces(verbs, buffer, length, pieces);
    }
    if (count == 0 && length <= link->inline_max) {
        *flags_p = IBV_SEND_INLINE;
        pieces[0] = (struct ibv_sge){.addr = (uintptr_t)buffer, .length = (uint32_t)length};
        return 1;
    }
    return count;
}

/* the first request after a fence waits for gets; otherwise the queue's order suffices */
static unsigned fence_flag(const keel_verbs_t *verbs, keel_verbs_link_t *link)
{
    if (!is_getting(link) || link->fenced == verbs->fences) {
        return 0;
    }
    link->fenced = verbs->fences;
    return IBV_SEND_FENCE;
}

static void write_pieces(const keel_verbs_t *verbs, keel_verbs_link_t *link, const keel_transport_key_t *key,
                         uint64_t offset, const struct ibv_sge *pieces, unsigned count, unsigned flags)
{
    const unsigned fence = fence_flag(verbs, link);
    struct ibv_send_wr *request;

    for (unsigned i = 0; i < count; i++) {
        request = keel_verbs_out_add(link, 0);
        request->opcode = IBV_WR_RDMA_WRITE;
        request->send_flags = flags | ((i == 0) ? fence : 0);
        *request->sg_list = pieces[i];
        request->wr.rdma.remote_addr = key->remote_base + offset;
        request->wr.rdma.rkey = key->remote_key;
        offset += pieces[i].length;
    }
    link->must_ask = 1;
    link->put = link->built;
}

static keel_status_t put_one(keel_verbs_t *verbs, keel_verbs_link_t *link, const keel_transport_key_t *key,
                             const keel_transport_put_t *put)
{
    const keel_status_t status = check(link, key, put->offset, put->length);
    struct ibv_sge pieces[PIECES];
    unsigned count, flags;

    if (status != KEEL_OK || put->length == 0) {
        return status;
    }
    count = pieces_of(verbs, link, put->buffer, put->length, pieces, &flags);
    if (count == 0 || keel_verbs_out_room(link) < count + SPARED + RECORDED) {
        return (count == 0) ? KEEL_ERR_UNSUPPORTED : KEEL_ERR_NO_MEMORY;
    }
    write_pieces(verbs, link, key, put->offset, pieces, count, flags);
    link->port->puts++;
    link->port->put_bytes += put->length;
    return KEEL_OK;
}

/* Puts the leading entries that fit inline, if no get is in flight: checks these conditions once
 * for all. Returns the number of puts. */
static unsigned put_short(keel_verbs_link_t *link, const keel_transport_key_t *key, const keel_transport_put_t *puts,
                          unsigned count)
{
    const unsigned room = keel_verbs_out_room(link);
    struct ibv_send_wr *request;
    uint64_t bytes = 0;
    unsigned i;

    if (!is_usable(link) || is_getting(link) || room <= SPARED + RECORDED) {
        return 0;
    }
    count = (count < room - (SPARED + RECORDED)) ? count : room - (SPARED + RECORDED);
    for (i = 0; i < count && puts[i].length - 1 < link->inline_max && puts[i].offset <= key->bytes &&
                puts[i].length <= key->bytes - puts[i].offset;
         i++) {
        request = keel_verbs_out_add(link, 0);
        request->opcode = IBV_WR_RDMA_WRITE;
        request->send_flags = IBV_SEND_INLINE;
        request->sg_list->addr = (uintptr_t)puts[i].buffer;
        request->sg_list->length = (uint32_t)puts[i].length;
        request->wr.rdma.remote_addr = key->remote_base + puts[i].offset;
        request->wr.rdma.rkey = key->remote_key;
        bytes += puts[i].length;
    }
    if (i > 0) {
        link->must_ask = 1;
        link->put = link->built;
        link->port->puts += i;
        link->port->put_bytes += bytes;
    }
    return i;
}

keel_status_t keel_verbs_rma_put(keel_transport_t *transport, keel_transport_key_t *key,
                                 const keel_transport_put_t *puts, unsigned *count_p)
{
    keel_verbs_t *verbs = keel_verbs_of(transport);
    keel_verbs_link_t *link = link_of(verbs, key->peer);
    const unsigned count = *count_p;
    keel_status_t status = KEEL_OK;
    unsigned done = 0;

    while (done < count && status == KEEL_OK) {
        done += put_short(link, key, puts + done, count - done);
        if (done < count) {
            status = put_one(verbs, link, key, &puts[done]);
            done += (status == KEEL_OK);
        }
    }
    *count_p = done;
    return status;
}

keel_status_t keel_verbs_rma_put_record(keel_transport_t *transport, keel_transport_key_t *key, uint64_t offset,
                                        const void *buffer, size_t length)
{
    keel_verbs_t *verbs = keel_verbs_of(transport);
    keel_verbs_link_t *link = link_of(verbs, key->peer);
    const keel_status_t status = check(link, key, offset, length);
    struct ibv_sge pieces[PIECES];
    unsigned count = 1, flags = 0;

    if (status != KEEL_OK) {
        return status;
    }
    if (length > KEEL_VERBS_WORD) {
        count = find_pieces(verbs, buffer, length, pieces);
    } else { /* inline data is read when the chain is posted */
        pieces[0] = keel_verbs_out_copy(link, buffer, length);
        flags = (length <= link->inline_max) ? IBV_SEND_INLINE : 0;
    }
    if (count == 0) {
        return KEEL_ERR_UNSUPPORTED;
    }
    write_pieces(verbs, link, key, offset, pieces, count, flags);
    link->port->records += (length > KEEL_VERBS_WORD);
    return KEEL_INPROGRESS;
}

/* ---- gets ---- */

static void read_piece(keel_verbs_link_t *link, const keel_transport_key_t *key, uint64_t offset,
                       const struct ibv_sge *piece)
{
    struct ibv_send_wr *request = keel_verbs_out_add(link, 0);

    request->opcode = IBV_WR_RDMA_READ;
    request->send_flags = 0;
    *request->sg_list = *piece;
    request->wr.rdma.remote_addr = key->remote_base + offset;
    request->wr.rdma.rkey = key->remote_key;
    link->must_ask = 1;
    link->got = link->built;
}

/* get to memory that is not lent, through a buffer of the transport */
static keel_status_t get_by_way(keel_verbs_t *verbs, keel_verbs_link_t *link, const keel_transport_key_t *key,
                                uint64_t offset, keel_verbs_read_t *read)
{
    const struct ibv_sge piece = {
        .addr = (uintptr_t)read->arrived, .length = (uint32_t)read->length, .lkey = verbs->reads.mr->lkey};
    const keel_status_t status = await(link, link->built + 1, keel_verbs_read_end, read);

    if (status != KEEL_INPROGRESS) {
        keel_verbs_read_cancel(read);
        return status;
    }
    read_piece(link, key, offset, &piece);
    verbs->reads.count++;
    verbs->reads.bytes += read->length;
    return KEEL_INPROGRESS;
}

keel_status_t keel_verbs_rma_get(keel_transport_t *transport, keel_transport_key_t *key, uint64_t offset, void *buffer,
                                 size_t length, keel_transport_done_cb_t cb, void *arg)
{
    keel_verbs_t *verbs = keel_verbs_of(transport);
    keel_verbs_link_t *link = link_of(verbs, key->peer);
    keel_status_t status = check(link, key, offset, length);
    struct ibv_sge pieces[PIECES];
    keel_verbs_read_t *read;
    unsigned count;

    if (status != KEEL_OK || length == 0) {
        return status;
    }
    if (keel_verbs_out_room(link) < PIECES + SPARED + 2 * RECORDED) {
        return KEEL_ERR_NO_MEMORY;
    }
    count = find_pieces(verbs, buffer, length, pieces);
    if (count == 0 && keel_verbs_is_lent(&verbs->loans, buffer)) {
        return KEEL_ERR_UNSUPPORTED; /* a later put may have to read the bytes from this memory */
    }
    if (count == 0) {
        read = keel_verbs_read_begin(&verbs->reads, &verbs->device, buffer, length, cb, arg);
        return (read == NULL) ? KEEL_ERR_NO_MEMORY : get_by_way(verbs, link, key, offset, read);
    }
    status = await(link, link->built + count, cb, arg);
    if (status != KEEL_INPROGRESS) {
        return status;
    }
    for (unsigned i = 0; i < count; i++) {
        read_piece(link, key, offset, &pieces[i]);
        offset += pieces[i].length;
    }
    link->may_grow = 1;
    verbs->reads.count++;
    verbs->reads.bytes += length;
    return KEEL_INPROGRESS;
}

/* ---- atomics ---- */

keel_status_t keel_verbs_rma_atomic(keel_transport_t *transport, keel_transport_key_t *key, uint64_t offset,
                                    const keel_transport_atomic_t *atomic, uint64_t *old, keel_transport_done_cb_t cb,
                                    void *arg)
{
    keel_verbs_t *verbs = keel_verbs_of(transport);
    keel_verbs_link_t *link;
    struct ibv_send_wr *request;
    keel_verbs_read_t *read;
    keel_status_t status = keel_verbs_requests_link(verbs, key->peer, &link);

    if (status == KEEL_OK) {
        status = check(link, key, offset, sizeof(*old));
    }
    if (status != KEEL_OK) {
        return status;
    }
    read = (keel_verbs_out_room(link) < PIECES + SPARED + 2 * RECORDED)
               ? NULL
               : keel_verbs_read_begin(&verbs->reads, &verbs->device, old, sizeof(*old), cb, arg);
    if (read == NULL) {
        return verbs->reads.is_refused ? KEEL_ERR_BUDGET : KEEL_ERR_NO_MEMORY;
    }
    status = await(link, link->built + 1, keel_verbs_read_end, read);
    if (status != KEEL_INPROGRESS) {
        keel_verbs_read_cancel(read);
        return status;
    }
    request = keel_verbs_out_add(link, 0);
    request->opcode = (atomic->op == KEEL_TRANSPORT_CSWAP) ? IBV_WR_ATOMIC_CMP_AND_SWP : IBV_WR_ATOMIC_FETCH_AND_ADD;
    request->send_flags = 0;
    *request->sg_list =
        (struct ibv_sge){.addr = (uintptr_t)read->arrived, .length = sizeof(*old), .lkey = verbs->reads.mr->lkey};
    request->wr.atomic.remote_addr = key->remote_base + offset;
    request->wr.atomic.rkey = key->remote_key;
    request->wr.atomic.compare_add = (atomic->op == KEEL_TRANSPORT_CSWAP) ? atomic->compare : atomic->operand;
    request->wr.atomic.swap = atomic->operand;
    link->must_ask = 1;
    link->got = link->built;
    link->port->atomics++;
    return KEEL_INPROGRESS;
}

/* ---- order ---- */

void keel_verbs_rma_fence(keel_transport_t *transport)
{
    keel_verbs_of(transport)->fences++;
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
