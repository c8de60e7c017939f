/* What collectives move: for each rank some elements at some place of a buffer, packed on their way. */
#ifndef KEEL_MPI_PARTS_H_
#define KEEL_MPI_PARTS_H_

#include "datatype/mpi_layout.h"
#include "coll/mpi_coll.h"

typedef struct keel_mpi_parts {
    const void *buffer;
    int count;                 /* of each part; with counts, its own */
    const int *counts;         /* NULL: all as count */
    const int *displs;         /* NULL: one after the other; in elements, or in bytes with types */
    const MPI_Aint *bytes_at;  /* NULL: as displs; else places in bytes */
    MPI_Datatype type;         /* of all */
    const MPI_Datatype *types; /* NULL: of each its own */
} keel_mpi_parts_t;

/* MPI_SUCCESS, or an error that was raised: counts and types of all @a number parts are such */
int keel_mpi_parts_check(const keel_mpi_parts_t *parts, uint32_t number, const keel_mpi_comm_t *comm, const char *call);
/* the same of a root, which is a rank, or for an intercommunicator what stands for one, */
int keel_mpi_root_check(const keel_mpi_comm_t *comm, int root, const char *call);
/* and of what goes from all to it or from it to all: @a mine unless it is MPI_IN_PLACE, at the root @a all */
int keel_mpi_parts_check_rooted(const keel_mpi_parts_t *mine, const keel_mpi_parts_t *all, int root,
                                const keel_mpi_comm_t *comm, const char *call);
/* the same of MPI_IN_PLACE, which is for the own part: none is among what comes from another group */
int keel_mpi_place_check(const void *buffer, const keel_mpi_comm_t *comm, const char *call);
size_t keel_mpi_part_bytes(const keel_mpi_parts_t *parts, uint32_t i);
void *keel_mpi_part_at(const keel_mpi_parts_t *parts, uint32_t i);
/* to a rank, and from one: waits */
void keel_mpi_part_send(const keel_mpi_parts_t *parts, uint32_t i, const keel_mpi_coll_t *coll, uint32_t to);
void keel_mpi_part_receive(const keel_mpi_parts_t *parts, uint32_t i, const keel_mpi_coll_t *coll, uint32_t from);
/* packed bytes, allocated; and back to their place */
void *keel_mpi_part_pack(const keel_mpi_parts_t *parts, uint32_t i, const char *call);
void keel_mpi_part_unpack(const keel_mpi_parts_t *parts, uint32_t i, const void *packed, size_t bytes);
/* own part to own part, by packing */
void keel_mpi_part_copy(const keel_mpi_parts_t *from, uint32_t i, const keel_mpi_parts_t *to, uint32_t j,
                        const char *call);

#endif
