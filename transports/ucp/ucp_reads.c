/* Reads of peers' memory by UCP's get. */
#define _GNU_SOURCE /* open_memstream */
#include "ucp_reads.h"
#include "ucp_transport.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* UCP walks a key by lengths inside it: at most 64 devices of 255 bytes each, behind 9 bytes */
enum { RKEY_WALK_MAX = 9 + 64 * 256 };

/* ---- memory of peers ---- */

keel_ucp_remote_t *keel_ucp_remote_make(uint64_t instance, const void *packed, size_t length)
{
    keel_ucp_remote_t *remote = keel_alloc(sizeof(*remote), "remote key");

    if (remote != NULL) {
        remote->instance = instance;
        remote->users = 1;
        remote->length = length;
        memcpy(remote->packed, packed, length);
    }
    return remote;
}

void keel_ucp_remote_release(keel_ucp_remote_t *remote)
{
    if (--remote->users > 0) {
        return;
    }
    if (remote->rkey != NULL) {
        ucp_rkey_destroy(remote->rkey);
    }
    keel_free(remote);
}

/* UCP reports lanes only as text: a list of sizes for each lane of gets */
static int has_lane(ucp_ep_h ep)
{
    char *text = NULL;
    size_t length;
    FILE *file = open_memstream(&text, &length);
    int is_found;

    if (file == NULL) {
        return 0;
    }
    ucp_ep_print_info(ep, file);
    fclose(file);
    is_found = (text != NULL) && (strstr(text, " get[") != NULL);
    free(text);
    return is_found;
}

static ucp_rkey_h unpack(const keel_ucp_remote_t *remote, ucp_ep_h ep)
{
    unsigned char walked[RKEY_WALK_MAX] = {0};
    ucp_rkey_h rkey;

    memcpy(walked, remote->packed, remote->length);
    return (ucp_ep_rkey_unpack(ep, walked, &rkey) == UCS_OK) ? rkey : NULL;
}

static int is_readable(const keel_ucp_reads_t *reads, keel_ucp_remote_t *remote, ucp_ep_h ep)
{
    if ((remote->rkey == NULL) && !remote->is_refused) {
        remote->rkey = (reads->is_emulated || has_lane(ep)) ? unpack(remote, ep) : NULL;
        remote->is_refused = (remote->rkey == NULL);
    }
    return !remote->is_refused;
}

/* ---- a read ---- */

static int make_pieces(keel_ucp_reads_t *reads)
{
    unsigned i;

    reads->memory = keel_alloc((size_t)KEEL_UCP_READS * KEEL_MESSAGE_DATA_MAX, "reads");
    for (i = 0; (i < KEEL_UCP_READS) && (reads->memory != NULL); i++) {
        reads->reads[i].arrived = reads->memory + (size_t)i * KEEL_MESSAGE_DATA_MAX;
    }
    return reads->memory != NULL;
}

static keel_ucp_read_t *obtain(keel_ucp_reads_t *reads)
{
    unsigned i;

    if ((reads->in_use == KEEL_UCP_READS) || ((reads->memory == NULL) && !make_pieces(reads))) {
        return NULL;
    }
    for (i = 0; reads->reads[i].state != KEEL_UCP_READ_FREE; i++) {
    }
    reads->in_use++;
    return &reads->reads[i];
}

static void release(keel_ucp_reads_t *reads, keel_ucp_read_t *read)
{
    keel_ucp_remote_release(read->remote);
    read->remote = NULL;
    read->cb = NULL;
    read->state = KEEL_UCP_READ_FREE;
    reads->in_use--;
}

static void on_got(void *request, ucs_status_t status, void *user_data)
{
    ((keel_ucp_read_t *)user_data)->state = (status == UCS_OK) ? KEEL_UCP_READ_ARRIVED : KEEL_UCP_READ_FAILED;
    ucp_request_free(request);
}

static int is_usable(const keel_ucp_link_t *link)
{
    return (link->flags & KEEL_UCP_LINK_OPEN) && !(link->flags & (KEEL_UCP_LINK_BROKEN | KEEL_UCP_LINK_CLOSED));
}

/* Issues a get on the link to its peer, outside of UCP's progress. Returns 0 if UCP refuses. */
static int issue(const keel_ucp_reads_t *reads, keel_ucp_read_t *read, keel_ucp_link_t *link)
{
    const ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA, .cb.send = on_got, .user_data = read};
    ucs_status_ptr_t request;

    if (!is_readable(reads, read->remote, link->ep)) {
        return 0;
    }
    request = ucp_get_nbx(link->ep, read->arrived, read->length, read->address, read->remote->rkey, &param);
    if (UCS_PTR_IS_ERR(request)) {
        return 0;
    }
    read->state = (request == NULL) ? KEEL_UCP_READ_ARRIVED : KEEL_UCP_READ_UNDER_WAY;
    return 1;
}

/* The caller was promised a completion. If the get cannot be issued the link has failed, and the
 * caller waits for the decision on the peer. */
static void issue_queued(keel_ucp_t *ucp, keel_ucp_read_t *read)
{
    keel_ucp_link_t *link = ucp->peers[read->rank]->link;

    if (!is_usable(link)) {
        read->state = KEEL_UCP_READ_FAILED;
    } else if (!issue(&ucp->reads, read, link)) {
        read->state = KEEL_UCP_READ_FAILED;
        keel_ucp_link_break(link);
    }
}

static void hand_out(keel_ucp_reads_t *reads, keel_ucp_read_t *read)
{
    memcpy(read->buffer, read->arrived, read->length);
    reads->count++;
    reads->bytes += read->length;
    release(reads, read);
}

static void finish(keel_ucp_reads_t *reads, keel_ucp_read_t *read)
{
    const keel_transport_done_cb_t cb = read->cb;
    void *arg = read->arg;

    if (cb == NULL) {
        release(reads, read);
        return;
    }
    hand_out(reads, read);
    cb(arg, KEEL_OK);
}

/* ---- all reads ---- */

static keel_status_t check(const keel_ucp_t *ucp, const keel_transport_key_t *key, uint64_t offset, size_t length)
{
    const keel_ucp_remote_t *remote = key->remote;
    const keel_ucp_peer_t *peer = ucp->peers[key->peer];

    if ((remote == NULL) || remote->is_refused || (length > KEEL_MESSAGE_DATA_MAX)) {
        return KEEL_ERR_UNSUPPORTED;
    }
    if ((peer == NULL) || (peer->instance != remote->instance) || !is_usable(peer->link)) {
        return KEEL_ERR_UNREACHABLE;
    }
    return ((offset > key->bytes) || (length > key->bytes - offset)) ? KEEL_ERR_RANGE : KEEL_OK;
}

keel_status_t keel_ucp_reads_get(keel_transport_t *transport, keel_transport_key_t *key, uint64_t offset, void *buffer,
                                 size_t length, keel_transport_done_cb_t cb, void *arg)
{
    keel_ucp_t *ucp = keel_ucp_of(transport);
    const keel_status_t status = check(ucp, key, offset, length);
    keel_ucp_read_t *read;

    if ((status != KEEL_OK) || (length == 0)) {
        return status;
    }
    read = obtain(&ucp->reads);
    if (read == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    read->rank = key->peer;
    read->remote = key->remote;
    read->remote->users++;
    read->address = key->remote_base + offset;
    read->buffer = buffer;
    read->length = length;
    read->cb = cb;
    read->arg = arg;
    read->state = KEEL_UCP_READ_QUEUED;
    if (!ucp->main.is_in_progress && !issue(&ucp->reads, read, ucp->peers[key->peer]->link)) {
        release(&ucp->reads, read);
        return KEEL_ERR_UNSUPPORTED;
    }
    if (read->state == KEEL_UCP_READ_ARRIVED) {
        hand_out(&ucp->reads, read);
        return KEEL_OK;
    }
    return KEEL_INPROGRESS;
}

unsigned keel_ucp_reads_progress(keel_ucp_t *ucp)
{
    unsigned i, events = 0;
    keel_ucp_read_t *read;

    for (i = 0; (i < KEEL_UCP_READS) && (ucp->reads.in_use > 0); i++) {
        read = &ucp->reads.reads[i];
        if (read->state == KEEL_UCP_READ_ARRIVED) {
            finish(&ucp->reads, read);
            events++;
        } else if ((read->state == KEEL_UCP_READ_FAILED) && (read->cb == NULL)) {
            release(&ucp->reads, read);
        }
        if (read->state == KEEL_UCP_READ_QUEUED) {
            issue_queued(ucp, read);
            events++;
        }
    }
    return events;
}

int keel_ucp_reads_are_pending(const keel_ucp_reads_t *reads)
{
    unsigned i;

    for (i = 0; (i < KEEL_UCP_READS) && (reads->in_use > 0); i++) {
        if ((reads->reads[i].state == KEEL_UCP_READ_QUEUED) || (reads->reads[i].state == KEEL_UCP_READ_ARRIVED)) {
            return 1;
        }
    }
    return 0;
}

void keel_ucp_reads_disconnect(keel_ucp_t *ucp, uint32_t rank)
{
    keel_transport_done_cb_t cb;
    keel_ucp_read_t *read;
    unsigned i;
    void *arg;

    for (i = 0; (i < KEEL_UCP_READS) && (ucp->reads.in_use > 0); i++) {
        read = &ucp->reads.reads[i];
        if ((read->state == KEEL_UCP_READ_FREE) || (read->rank != rank) || (read->cb == NULL)) {
            continue;
        }
        cb = read->cb;
        arg = read->arg;
        read->cb = NULL;
        if (read->state != KEEL_UCP_READ_UNDER_WAY) {
            release(&ucp->reads, read);
        }
        cb(arg, KEEL_ERR_UNREACHABLE);
    }
}

void keel_ucp_reads_close(keel_ucp_reads_t *reads)
{
    unsigned i;

    for (i = 0; i < KEEL_UCP_READS; i++) {
        if (reads->reads[i].state != KEEL_UCP_READ_FREE) {
            reads->reads[i].remote->rkey = NULL; /* destroyed with the worker */
            release(reads, &reads->reads[i]);
        }
    }
    keel_free(reads->memory);
    reads->memory = NULL;
}
