/*
 * Memory shared by processes of one node. A segment is an anonymous file (memfd) that lives while a
 * process has it open or mapped: a process killed at any instruction leaves nothing behind, and
 * neither size nor presence of /dev/shm matters. Peers attach the segment through
 * /proc/<pid>/fd/<fd>.
 */
#ifndef KEEL_SHM_SEGMENT_H_
#define KEEL_SHM_SEGMENT_H_

#include <keel/def.h>
#include <keel/status.h>

typedef struct keel_shm_segment {
    int fd; /* -1: private memory that no process can attach */
    void *base;
    size_t bytes;
} keel_shm_segment_t;

/* identity by which a peer attaches a segment; part of blobs */
typedef struct keel_shm_segment_id {
    uint32_t pid, fd; /* pid 0: there is nothing to attach */
    uint64_t dev, ino, bytes;
} keel_shm_segment_id_t;

/* Zeroed and faulted in, at @a address if not NULL, never over an existing mapping.
 * *available_p: SIZE_MAX, or the available memory if it was too little. */
keel_status_t keel_shm_segment_make(size_t bytes, void *address, int is_shared, keel_shm_segment_t *segment,
                                    size_t *available_p);
void keel_shm_segment_drop(keel_shm_segment_t *segment);
/* Changes an unused segment of at least @a bytes to the result that keel_shm_segment_make()
 * would have given. Private memory cannot be changed. */
keel_status_t keel_shm_segment_adapt(keel_shm_segment_t *segment, size_t bytes, void *address);
keel_status_t keel_shm_segment_identify(const keel_shm_segment_t *segment, keel_shm_segment_id_t *id);

/* KEEL_ERR_UNREACHABLE if the segment does not exist here (its process died, or lives on another
 * node) */
keel_status_t keel_shm_segment_attach(const keel_shm_segment_id_t *id, void **base_p);
void keel_shm_segment_detach(void *base, size_t bytes);
/* Moves the mapping at @a base to @a place, over another of @a bytes, without a moment in which
 * nothing is mapped there. */
keel_status_t keel_shm_segment_move_over(void *base, size_t bytes, void *place);

#endif
