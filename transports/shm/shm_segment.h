/*
 * Memory that processes of one node share. A segment is an anonymous file (memfd) that lives as long as a process has it
 * open or mapped: a process killed at any instruction leaves nothing behind, and neither the size nor the presence of
 * /dev/shm matters. Peers attach it through /proc/<pid>/fd/<fd>.
 */
#ifndef KEEL_SHM_SEGMENT_H_
#define KEEL_SHM_SEGMENT_H_

#include <keel/def.h>
#include <keel/status.h>

typedef struct keel_shm_segment {
    int fd; /* -1: private memory, nobody can attach it */
    void *base;
    size_t bytes;
} keel_shm_segment_t;

/* what a peer needs to attach a segment; travels in blobs */
typedef struct keel_shm_segment_id {
    uint32_t pid, fd; /* pid 0: there is nothing to attach */
    uint64_t dev, ino, bytes;
} keel_shm_segment_id_t;

/* zeroed and faulted in, at @a address when that is not NULL: never over a mapping that exists. @a available_p: SIZE_MAX, or how
 * much memory there was when there was too little. */
keel_status_t keel_shm_segment_make(size_t bytes, void *address, int is_shared, keel_shm_segment_t *segment,
                                    size_t *available_p);
void keel_shm_segment_drop(keel_shm_segment_t *segment);
/* one that nobody has used: as keel_shm_segment_make() would have made it, if it has no fewer bytes. Private memory stays as it
 * is. */
keel_status_t keel_shm_segment_adapt(keel_shm_segment_t *segment, size_t bytes, void *address);
keel_status_t keel_shm_segment_identify(const keel_shm_segment_t *segment, keel_shm_segment_id_t *id);

/* KEEL_ERR_UNREACHABLE when the segment is not there (its process died, or lives elsewhere) */
keel_status_t keel_shm_segment_attach(const keel_shm_segment_id_t *id, void **base_p);
void keel_shm_segment_detach(void *base, size_t bytes);
/* what is attached at @a base is at @a place from now on, where another of @a bytes was: nobody finds nothing there meanwhile */
keel_status_t keel_shm_segment_move_over(void *base, size_t bytes, void *place);

#endif
