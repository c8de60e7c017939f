/* Registered memory of a process in which gets arrive, before they are copied to who asked: a few pieces, made when the first comes. */
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
    int is_refused; /* it cannot be registered */
    keel_verbs_read_t reads[KEEL_VERBS_READS], *free;
    uint64_t count, bytes;
} keel_verbs_reads_t;

/* there is memory for them; 0: it cannot be registered */
int keel_verbs_reads_prepare(keel_verbs_reads_t *reads, const keel_verbs_device_t *device);
/* a place for @a length bytes that are to be in @a buffer; NULL: all are in use, or there is no memory for them */
keel_verbs_read_t *keel_verbs_read_begin(keel_verbs_reads_t *reads, const keel_verbs_device_t *device, void *buffer,
                                         size_t length, keel_transport_done_cb_t cb, void *arg);
/* it has arrived, or never will: who asked is told */
void keel_verbs_read_end(void *read, keel_status_t status);
void keel_verbs_read_cancel(keel_verbs_read_t *read); /* nobody is told */
size_t keel_verbs_reads_bytes(void);                  /* that all of them lock in memory */
void keel_verbs_reads_close(keel_verbs_reads_t *reads);

#endif
