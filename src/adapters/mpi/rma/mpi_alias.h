/* Pages of the program's own memory that are pages of the arena, too: for windows over memory that the program has. */
#ifndef KEEL_MPI_ALIAS_H_
#define KEEL_MPI_ALIAS_H_

#include "mpi_state.h"

/* bytes of memory that lie in the arena one after the other, as the whole does not where a page of it was in another window before */
typedef struct keel_mpi_segment {
    uint64_t at; /* from the whole's begin; of what is attached to a dynamic window the address */
    uint64_t bytes, offset;
    uint64_t id;   /* of the whole */
    uint64_t seal; /* of these: what is read while it is changed has another one */
} keel_mpi_segment_t;

static inline uint64_t keel_mpi_segment_seal(const keel_mpi_segment_t *segment)
{
    return segment->at * UINT64_C(0x9e3779b97f4a7c15) + segment->bytes * UINT64_C(0xbf58476d1ce4e5b9) +
           segment->offset * UINT64_C(0x94d049bb133111eb) + segment->id + 1;
}

/*
 * That memory, none of the arena's, becomes part of it, with its contents: an id. In a replacement, before its restart point, it is
 * told to lie where it lay, and nothing is done: its memory may lie otherwise, and gets its place at the restart point. With the
 * promise it has that place at once, or the job is started anew.
 */
uint64_t keel_mpi_alias_add(void *address, size_t bytes, const char *call);
/* where it lies now, in the order of addresses; @a segments NULL: how many there are; 0: it is not mapped */
size_t keel_mpi_alias_segments(uint64_t id, keel_mpi_segment_t *segments);
/* the pages come back */
void keel_mpi_alias_remove(uint64_t id);
/* whether there is one that was made after the restart point */
int keel_mpi_alias_is_late(void);

/* at a rollback, before the arena's return: all pages come back, and what was made after the restart point is forgotten */
void keel_mpi_alias_unmap(void);
/* and after it: what belongs to the image is put to the program's memory, and that to a new place in the arena */
void keel_mpi_alias_map(void);
/* with the promise, where pages stay where they are: of what was made after the restart point, before the return; and after it, whether all is mapped */
void keel_mpi_alias_drop_late(void);
void keel_mpi_alias_check(const char *call);

#endif
