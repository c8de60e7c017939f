/* Buffers of collectives: for each rank a part of a buffer, packed for sending. */
#ifndef KEEL_MPI_PARTS_H_
#define KEEL_MPI_PARTS_H_

#include "coll/mpi_coll.h"
#include "datatype/mpi_layout.h"

typedef struct keel_mpi_parts {
    const void *buffer;
    int count;                 /* elements per part, without counts */
    const int *counts;         /* per part; NULL: count applies to all */
    const int *displs;         /* in elements, or in bytes with types; NULL: parts are contiguous */
    const MPI_Aint *bytes_at;  /* in bytes; NULL: displs applies */
    MPI_Datatype type;         /* of all parts, without types */
    const MPI_Datatype *types; /* per part; NULL: type applies to all */
} keel_mpi_parts_t;

/* Checks counts and types of @a number parts. Returns MPI_SUCCESS or the code of a raised error. */
int keel_mpi_parts_check(const keel_mpi_parts_t *parts, uint32_t number, const keel_mpi_comm_t *comm, const char *call);
/* Checks a root: a rank, or for an intercommunicator MPI_ROOT or MPI_PROC_NULL. */
int keel_mpi_root_check(const keel_mpi_comm_t *comm, int root, const char *call);
/* Checks a rooted collective: @a mine unless MPI_IN_PLACE, and at the root @a all. */
int keel_mpi_parts_check_rooted(const keel_mpi_parts_t *mine, const keel_mpi_parts_t *all, int root,
                                const keel_mpi_comm_t *comm, const char *call);
/* Raises an error for MPI_IN_PLACE on an intercommunicator, where no part is the caller's own. */
int keel_mpi_place_check(const void *buffer, const keel_mpi_comm_t *comm, const char *call);
size_t keel_mpi_part_bytes(const keel_mpi_parts_t *parts, uint32_t i);
void *keel_mpi_part_at(const keel_mpi_parts_t *parts, uint32_t i);
/* Send a part to a rank, and receive one from a rank; blocking. */
void keel_mpi_part_send(const keel_mpi_parts_t *parts, uint32_t i, const keel_mpi_coll_t *coll, uint32_t to);
void keel_mpi_part_receive(const keel_mpi_parts_t *parts, uint32_t i, const keel_mpi_coll_t *coll, uint32_t from);
/* Returns the packed bytes of a part, allocated; and unpacks bytes into a part. */
void *keel_mpi_part_pack(const keel_mpi_parts_t *parts, uint32_t i, const char *call);
void keel_mpi_part_unpack(const keel_mpi_parts_t *parts, uint32_t i, const void *packed, size_t bytes);
/* Copies a part to another one by packing. */
void keel_mpi_part_copy(const keel_mpi_parts_t *from, uint32_t i, const keel_mpi_parts_t *to, uint32_t j,
                        const char *call);

#endif
