/* Registered buffers of a process for incoming gets, which are then copied to the caller's
 * buffer: a few pieces, allocated at the first use. */
#ifndef KEEL_VERBS_READS_H_
#define KEEL_VERBS_READS_H_

#include "verbs_device.h"

enum { KEEL_VERBS_READS = 8, KEEL_VERBS_READ_MAX = 1 << 16 };

typedef struct keel_verbs_read {
    struct keel_verbs_reads *of;
    struct keel_verbs_read *next_free;
    void *arrived, *buffer;
    size_t length;
    keel_transport_done_cb_t cb;
    void *arg;
} keel_verbs_read_t;

typedef struct keel_verbs_reads {
    char *memory;
    struct ibv_mr *mr;
    int is_refused; /* the buffers cannot be registered */
    keel_verbs_read_t reads[KEEL_VERBS_READS], *free;
    uint64_t count, bytes;
} keel_verbs_reads_t;

/* allocates the buffers; 0: registration failed */
int keel_verbs_reads_prepare(keel_verbs_reads_t *reads, const keel_verbs_device_t *device);
/* Reserves a buffer for @a length bytes that belong in @a buffer. NULL: all are in use, or
 * memory is missing. */
keel_verbs_read_t *keel_verbs_read_begin(keel_verbs_reads_t *reads, const keel_verbs_device_t *device, void *buffer,
                                         size_t length, keel_transport_done_cb_t cb, void *arg);
/* the bytes have arrived, or never will: calls cb */
void keel_verbs_read_end(void *read, keel_status_t status);
void keel_verbs_read_cancel(keel_verbs_read_t *read); /* without a callback */
size_t keel_verbs_reads_bytes(void);                  /* bytes that all buffers lock in memory */
void keel_verbs_reads_close(keel_verbs_reads_t *reads);

#endif
