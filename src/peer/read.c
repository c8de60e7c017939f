/* Pool of pending reads; reads and atomics by one-sided operations. */
#include "peer/read.h"
#include "peer/issue.h"
#include "peer/remote_put.h"

#include "base/memory.h"
#include "check/plant.h"
#include "check/reached.h"

#include <string.h>

#define READS_PER_CHUNK 1024

typedef struct reads_chunk {
    struct reads_chunk *next;
    keel_read_t reads[READS_PER_CHUNK];
} reads_chunk_t;

static keel_status_t reads_grow(keel_lane_t *lane)
{
    reads_chunk_t *chunk = keel_alloc(sizeof(*chunk), "reads");

    if (chunk == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    chunk->next = lane->reads_pool;
    lane->reads_pool = chunk;
    for (unsigned i = 0; i < READS_PER_CHUNK; i++) {
        ucs_list_add_tail(&lane->reads_free, &chunk->reads[i].list);
    }
    return KEEL_OK;
}

keel_status_t keel_lane_reads_init(keel_lane_t *lane)
{
    ucs_list_head_init(&lane->reads_free);
    ucs_list_head_init(&lane->putting);
    ucs_list_head_init(&lane->gets);
    return reads_grow(lane);
}

void keel_lane_reads_release(keel_lane_t *lane)
{
    reads_chunk_t *chunk, *next;

    for (chunk = lane->reads_pool; chunk != NULL; chunk = next) {
        next = chunk->next;
        keel_free(chunk);
    }
    lane->reads_pool = NULL;
}

keel_read_t *keel_lane_read_obtain(keel_lane_t *lane, void *buffer, size_t length, keel_lane_done_cb_t cb, void *arg)
{
    keel_read_t *read;

    if (ucs_list_is_empty(&lane->reads_free) && reads_grow(lane) != KEEL_OK) {
        return NULL;
    }
    read = ucs_list_extract_head(&lane->reads_free, keel_read_t, list);
    read->id = ++lane->next_read;
    read->buffer = buffer;
    read->length = (uint32_t)length;
    read->cb = cb;
    read->arg = arg;
    read->lane = lane;
    read->fetches = 0;
    return read;
}

static void on_got(void *arg, keel_status_t status)
{
    keel_read_t *read = arg;
    keel_lane_t *lane = read->lane;

    lane->getting--;
    ucs_list_add_head(&lane->reads_free, &read->list);
    if (status == KEEL_OK || !KEEL_PLANT(read_unended)) {
        read->cb(read->arg, status);
    }
}

keel_status_t keel_lane_read_get(keel_lane_t *lane, uint32_t rank, unsigned region, uint64_t offset, keel_read_t *read)
{
    const keel_peer_t *peer = &lane->peers[rank];
    const keel_region_t *known = &peer->regions[region];
    keel_status_t status;

    if ((peer->lanes & (KEEL_LANE_READ | KEEL_LANE_PTR)) != KEEL_LANE_READ || region >= KEEL_REGION_LOCKS ||
        !peer->is_up || peer->is_broken || known->key == NULL || known->incarnation != peer->incarnation) {
        return KEEL_ERR_UNSUPPORTED;
    }
    status = lane->ops->get(lane->transport, known->key, offset, read->buffer, read->length, on_got, read);
    if (status == KEEL_INPROGRESS) {
        KEEL_REACHED(image_remote);
        lane->getting++;
    } else if (status == KEEL_OK) {
        ucs_list_add_head(&lane->reads_free, &read->list);
    }
    return (status == KEEL_OK || status == KEEL_INPROGRESS) ? status : KEEL_ERR_UNSUPPORTED;
}

/* Reads of windows are in lane->gets, because keel_lane_mute() may have to end them. */
static void on_window_got(void *arg, keel_status_t status)
{
    keel_read_t *read = arg;
    keel_lane_t *lane = read->lane;

    ucs_list_del(&read->list);
    ucs_list_add_head(&lane->reads_free, &read->list);
    lane->getting--;
    lane->peers[read->rank].getting--;
    read->cb(read->arg, (read->buffer != NULL) ? status : KEEL_ERR_ROLLED_BACK);
}

keel_status_t keel_lane_get(keel_lane_t *lane, uint32_t rank, uint64_t where, void *buffer, size_t length,
                            keel_lane_done_cb_t cb, void *arg)
{
    keel_peer_t *peer = &lane->peers[rank];
    const keel_region_t *known = &peer->regions[keel_where_region(where)];
    keel_read_t *read;
    keel_status_t status;

    if (!keel_remote_is_possible(lane, rank, keel_where_region(where))) {
        return KEEL_ERR_UNSUPPORTED;
    }
    read = keel_lane_read_obtain(lane, buffer, length, cb, arg);
    if (read == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    read->rank = rank;
    if (peer->put != peer->put_done) {
        lane->ops->fence(lane->transport);
    }
    status = lane->ops->get(lane->transport, known->key, keel_where_offset(where), buffer, length, on_window_got, read);
    if (status == KEEL_INPROGRESS) {
        ucs_list_add_tail(&lane->gets, &read->list);
        lane->getting++;
        peer->getting++;
    } else {
        ucs_list_add_head(&lane->reads_free, &read->list);
    }
    return status;
}

static void on_atomic_done(void *arg, keel_status_t status)
{
    keel_read_t *read = arg;

    if (status == KEEL_OK && read->buffer != NULL) {
        memcpy(read->buffer, &read->old, sizeof(read->old));
    }
    if (status == KEEL_OK && read->rank != read->lane->rank) {
        keel_lane_ring(read->lane, read->rank);
    }
    on_window_got(read, status);
}

keel_status_t keel_lane_atomic(keel_lane_t *lane, uint32_t rank, uint64_t where, const keel_transport_atomic_t *atomic,
                               uint64_t *old, keel_lane_done_cb_t cb, void *arg)
{
    const unsigned region = keel_where_region(where);
    keel_peer_t *peer = &lane->peers[rank];
    keel_transport_key_t *key = (rank == lane->rank) ? lane->own[region].key : peer->regions[region].key;
    keel_read_t *read;
    keel_status_t status;

    if (rank != lane->rank && (!peer->is_up || key == NULL || peer->regions[region].incarnation != peer->incarnation ||
                               peer->acked != peer->sent)) {
        return KEEL_ERR_NO_MEMORY;
    }
    read = keel_lane_read_obtain(lane, old, sizeof(*old), cb, arg);
    if (read == NULL) {
        return KEEL_ERR_BUDGET;
    }
    read->rank = rank;
    if (peer->put != peer->put_done && !KEEL_PLANT(read_device_unfenced)) {
        lane->ops->fence(lane->transport);
    }
    ucs_list_add_tail(&lane->gets, &read->list);
    lane->getting++;
    peer->getting++;
    status =
        lane->ops->atomic(lane->transport, key, keel_where_offset(where), atomic, &read->old, on_atomic_done, read);
    if (status == KEEL_OK) {
        on_atomic_done(read, status);
    } else if (status != KEEL_INPROGRESS) {
        ucs_list_del(&read->list);
        ucs_list_add_head(&lane->reads_free, &read->list);
        lane->getting--;
        peer->getting--;
    }
    return (status == KEEL_OK) ? KEEL_INPROGRESS : (status == KEEL_ERR_UNREACHABLE) ? KEEL_ERR_NO_MEMORY : status;
}
