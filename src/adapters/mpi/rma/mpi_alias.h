/* Aliases: pages of the program's own memory that are also pages of the arena, for windows over
 * existing memory. */
#ifndef KEEL_MPI_ALIAS_H_
#define KEEL_MPI_ALIAS_H_

#include "mpi_state.h"

/* Bytes that are contiguous in the arena. A region has several segments if another window already
 * held some of its pages. */
typedef struct keel_mpi_segment {
    uint64_t at; /* offset in the region; in a dynamic window the address */
    uint64_t bytes, offset;
    uint64_t id;   /* of the region */
    uint64_t seal; /* checksum of the fields above; a torn read does not match it */
} keel_mpi_segment_t;

static inline uint64_t keel_mpi_segment_seal(const keel_mpi_segment_t *segment)
{
    return segment->at * UINT64_C(0x9e3779b97f4a7c15) + segment->bytes * UINT64_C(0xbf58476d1ce4e5b9) +
           segment->offset * UINT64_C(0x94d049bb133111eb) + segment->id + 1;
}

/*
 * Makes memory outside the arena part of the arena, with its contents, and returns the id of the
 * region. A replacement without deterministic mode only records, before its restart point, where
 * the region lay; its memory may lie differently in pages and is mapped at the restart point. In
 * deterministic mode the region must have its old place at once, or the job is launched again.
 */
uint64_t keel_mpi_alias_add(void *address, size_t bytes, const char *call);
/* Current segments in the order of addresses, and their number; @a segments NULL: the number alone.
 * 0: not mapped. */
size_t keel_mpi_alias_segments(uint64_t id, keel_mpi_segment_t *segments);
/* Gives the pages back to the program. */
void keel_mpi_alias_remove(uint64_t id);
/* True if a region was made after the restart point. */
int keel_mpi_alias_is_late(void);

/* At a rollback, before the arena is restored: gives all pages back and forgets regions made after
 * the restart point. */
void keel_mpi_alias_unmap(void);
/* At a rollback, after the arena is restored: copies the image's contents to the program's memory
 * and maps the regions at new places in the arena. */
void keel_mpi_alias_map(void);
/* In deterministic mode pages stay in place. drop_late() runs before the arena is restored, for
 * regions made after the restart point. check() runs after, and launches the job again unless all
 * regions of the image are mapped. */
void keel_mpi_alias_drop_late(void);
void keel_mpi_alias_check(const char *call);

#endif
