/* Buffers for incoming gets. */
#include "verbs_reads.h"

#include "shm/shm_segment.h"

#include <string.h>

enum { BYTES = KEEL_VERBS_READS * KEEL_VERBS_READ_MAX };

static int make(keel_verbs_reads_t *reads, const keel_verbs_device_t *device)
{
    keel_shm_segment_t segment;
    size_t available;

    reads->is_refused = 1;
    if (keel_shm_segment_make(BYTES, NULL, 0, &segment, &available) != KEEL_OK) {
        return 0;
    }
    reads->mr = ibv_reg_mr(device->pd, segment.base, BYTES, IBV_ACCESS_LOCAL_WRITE);
    if (reads->mr == NULL) {
        keel_shm_segment_drop(&segment);
        return 0;
    }
    reads->is_refused = 0;
    reads->memory = segment.base;
    for (unsigned i = 0; i < KEEL_VERBS_READS; i++) {
        reads->reads[i] = (keel_verbs_read_t){
            .of = reads, .next_free = reads->free, .arrived = reads->memory + (size_t)i * KEEL_VERBS_READ_MAX};
        reads->free = &reads->reads[i];
    }
    return 1;
}

int keel_verbs_reads_prepare(keel_verbs_reads_t *reads, const keel_verbs_device_t *device)
{
    return reads->memory != NULL || (!reads->is_refused && make(reads, device));
}

keel_verbs_read_t *keel_verbs_read_begin(keel_verbs_reads_t *reads, const keel_verbs_device_t *device, void *buffer,
                                         size_t length, keel_transport_done_cb_t cb, void *arg)
{
    keel_verbs_read_t *read;

    if (length > KEEL_VERBS_READ_MAX || !keel_verbs_reads_prepare(reads, device) || reads->free == NULL) {
        return NULL;
    }
    read = reads->free;
    reads->free = read->next_free;
    read->buffer = buffer;
    read->length = length;
    read->cb = cb;
    read->arg = arg;
    return read;
}

void keel_verbs_read_cancel(keel_verbs_read_t *read)
{
    read->next_free = read->of->free;
    read->of->free = read;
}

void keel_verbs_read_end(void *arg, keel_status_t status)
{
    keel_verbs_read_t *read = arg;
    const keel_transport_done_cb_t cb = read->cb;
    void *cb_arg = read->arg;

    if (status == KEEL_OK) {
        memcpy(read->buffer, read->arrived, read->length);
    }
    keel_verbs_read_cancel(read);
    cb(cb_arg, status);
}

size_t keel_verbs_reads_bytes(void)
{
    return BYTES;
}

void keel_verbs_reads_close(keel_verbs_reads_t *reads)
{
    if (reads->memory != NULL) {
        ibv_dereg_mr(reads->mr);
        keel_shm_segment_detach(reads->memory, BYTES);
        reads->memory = NULL;
    }
}
