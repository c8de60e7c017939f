/* The kind of an accumulate's elements, and the matching type of Keel. */
#ifndef KEEL_MPI_KIND_H_
#define KEEL_MPI_KIND_H_

#include <keel/ops.h>
#include <mpi.h>
#include <stddef.h>

/* Integers and words are in the order of their sizes: 1, 2, 4 and 8 bytes. */
typedef enum {
    KEEL_MPI_OTHER,
    KEEL_MPI_INT8,
    KEEL_MPI_INT16,
    KEEL_MPI_INT32,
    KEEL_MPI_INT64,
    KEEL_MPI_UINT8,
    KEEL_MPI_UINT16,
    KEEL_MPI_UINT32,
    KEEL_MPI_UINT64,
    /* bytes, characters and logicals: the system's MPI knows the valid operations */
    KEEL_MPI_WORD8,
    KEEL_MPI_WORD16,
    KEEL_MPI_WORD32,
    KEEL_MPI_WORD64,
    KEEL_MPI_FLOAT,
    KEEL_MPI_DOUBLE,
    KEEL_MPI_LONG_DOUBLE,
    KEEL_MPI_FLOAT_COMPLEX,
    KEEL_MPI_DOUBLE_COMPLEX,
    KEEL_MPI_INT16_INT32, /* pairs of a value and an index, from here on */
    KEEL_MPI_INT32_INT32,
    KEEL_MPI_INT64_INT32,
    KEEL_MPI_FLOAT_INT32,
    KEEL_MPI_DOUBLE_INT32,
    KEEL_MPI_FLOAT_FLOAT,
    KEEL_MPI_DOUBLE_DOUBLE,
    KEEL_MPI_KINDS
} keel_mpi_kind_t;

keel_mpi_kind_t keel_mpi_kind_of(MPI_Datatype basic, size_t size);
/* KEEL_TYPE_LAST: none. */
keel_type_t keel_mpi_kind_type(keel_mpi_kind_t kind);

static inline int keel_mpi_kind_is_integer(keel_mpi_kind_t kind)
{
    return kind >= KEEL_MPI_INT8 && kind <= KEEL_MPI_WORD64;
}
static inline int keel_mpi_kind_is_signed(keel_mpi_kind_t kind)
{
    return kind >= KEEL_MPI_INT8 && kind <= KEEL_MPI_INT64;
}
static inline int keel_mpi_kind_is_floating(keel_mpi_kind_t kind)
{
    return kind >= KEEL_MPI_FLOAT && kind <= KEEL_MPI_DOUBLE_COMPLEX;
}

#endif
