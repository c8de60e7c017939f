#include "datatype/mpi_kind.h"

/* clang-format off */
#define SIGNED(_) \
    _(MPI_CHAR) _(MPI_SIGNED_CHAR) _(MPI_SHORT) _(MPI_INT) _(MPI_LONG) _(MPI_LONG_LONG_INT) \
    _(MPI_INT8_T) _(MPI_INT16_T) _(MPI_INT32_T) _(MPI_INT64_T) _(MPI_AINT) _(MPI_OFFSET) _(MPI_COUNT) \
    _(MPI_INTEGER) _(MPI_INTEGER1) _(MPI_INTEGER2) _(MPI_INTEGER4) _(MPI_INTEGER8)
#define UNSIGNED(_) \
    _(MPI_UNSIGNED_CHAR) _(MPI_UNSIGNED_SHORT) _(MPI_UNSIGNED) _(MPI_UNSIGNED_LONG) _(MPI_UNSIGNED_LONG_LONG) \
    _(MPI_UINT8_T) _(MPI_UINT16_T) _(MPI_UINT32_T) _(MPI_UINT64_T)
#define WORDS(_) _(MPI_BYTE) _(MPI_CHARACTER) _(MPI_WCHAR) _(MPI_C_BOOL) _(MPI_CXX_BOOL) _(MPI_LOGICAL) SIZED_LOGICAL(_)
#ifdef MPI_LOGICAL1
#define SIZED_LOGICAL(_) _(MPI_LOGICAL1) _(MPI_LOGICAL2) _(MPI_LOGICAL4) _(MPI_LOGICAL8)
#else
#define SIZED_LOGICAL(_)
#endif
#define REALS(_) \
    _(MPI_FLOAT) _(MPI_DOUBLE) _(MPI_LONG_DOUBLE) _(MPI_REAL) _(MPI_REAL4) _(MPI_REAL8) _(MPI_DOUBLE_PRECISION)
#define COMPLEX(_) \
    _(MPI_C_COMPLEX) _(MPI_C_FLOAT_COMPLEX) _(MPI_C_DOUBLE_COMPLEX) _(MPI_CXX_FLOAT_COMPLEX) _(MPI_CXX_DOUBLE_COMPLEX) \
    _(MPI_COMPLEX) _(MPI_COMPLEX8) _(MPI_COMPLEX16) _(MPI_DOUBLE_COMPLEX)
/* clang-format on */

/* The combiner of types from MPI_Type_create_f90_integer() and its relatives. */
static int combiner_of(MPI_Datatype basic)
{
    int integers, addresses, types, combiner;

    return (PMPI_Type_get_envelope(basic, &integers, &addresses, &types, &combiner) == MPI_SUCCESS)
               ? combiner
               : MPI_COMBINER_NAMED;
}

static keel_mpi_kind_t word_of(keel_mpi_kind_t first, size_t size)
{
    return (size == 1)   ? first
           : (size == 2) ? (keel_mpi_kind_t)(first + 1)
           : (size == 4) ? (keel_mpi_kind_t)(first + 2)
           : (size == 8) ? (keel_mpi_kind_t)(first + 3)
                         : KEEL_MPI_OTHER;
}

/* Other types have 16 bytes, too: Fortran's. */
static keel_mpi_kind_t real_of(MPI_Datatype basic, size_t size)
{
    return (size == sizeof(float))      ? KEEL_MPI_FLOAT
           : (size == sizeof(double))   ? KEEL_MPI_DOUBLE
           : (basic == MPI_LONG_DOUBLE) ? KEEL_MPI_LONG_DOUBLE
                                        : KEEL_MPI_OTHER;
}

static keel_mpi_kind_t complex_of(size_t size)
{
    return (size == 2 * sizeof(float))    ? KEEL_MPI_FLOAT_COMPLEX
           : (size == 2 * sizeof(double)) ? KEEL_MPI_DOUBLE_COMPLEX
                                          : KEEL_MPI_OTHER;
}

/* No word is wide enough for a long double with an index. */
static keel_mpi_kind_t pair_of(MPI_Datatype basic, size_t size)
{
    return (basic == MPI_SHORT_INT)                         ? KEEL_MPI_INT16_INT32
           : (basic == MPI_2INT)                            ? KEEL_MPI_INT32_INT32
           : (basic == MPI_LONG_INT && size == 12)          ? KEEL_MPI_INT64_INT32
           : (basic == MPI_FLOAT_INT)                       ? KEEL_MPI_FLOAT_INT32
           : (basic == MPI_DOUBLE_INT)                      ? KEEL_MPI_DOUBLE_INT32
           : (basic == MPI_2INTEGER && size == 8)           ? KEEL_MPI_INT32_INT32
           : (basic == MPI_2REAL && size == 8)              ? KEEL_MPI_FLOAT_FLOAT
           : (basic == MPI_2DOUBLE_PRECISION && size == 16) ? KEEL_MPI_DOUBLE_DOUBLE
                                                            : KEEL_MPI_OTHER;
}

keel_mpi_kind_t keel_mpi_kind_of(MPI_Datatype basic, size_t size)
{
    const int combiner = combiner_of(basic);

#define OR_IS(_type) || basic == (_type)
    if (combiner == MPI_COMBINER_F90_INTEGER SIGNED(OR_IS)) {
        return word_of(KEEL_MPI_INT8, size);
    }
    if (0 UNSIGNED(OR_IS)) {
        return word_of(KEEL_MPI_UINT8, size);
    }
    if (0 WORDS(OR_IS)) {
        return word_of(KEEL_MPI_WORD8, size);
    }
    if (combiner == MPI_COMBINER_F90_REAL REALS(OR_IS)) {
        return real_of(basic, size);
    }
    if (combiner == MPI_COMBINER_F90_COMPLEX COMPLEX(OR_IS)) {
        return complex_of(size);
    }
#undef OR_IS
    return pair_of(basic, size);
}

keel_type_t keel_mpi_kind_type(keel_mpi_kind_t kind)
{
    static const keel_type_t types[KEEL_MPI_KINDS] = {
        [KEEL_MPI_OTHER] = KEEL_TYPE_LAST,
        [KEEL_MPI_INT8] = KEEL_TYPE_INT8,
        [KEEL_MPI_INT16] = KEEL_TYPE_INT16,
        [KEEL_MPI_INT32] = KEEL_TYPE_INT32,
        [KEEL_MPI_INT64] = KEEL_TYPE_INT64,
        [KEEL_MPI_UINT8] = KEEL_TYPE_UINT8,
        [KEEL_MPI_UINT16] = KEEL_TYPE_UINT16,
        [KEEL_MPI_UINT32] = KEEL_TYPE_UINT32,
        [KEEL_MPI_UINT64] = KEEL_TYPE_UINT64,
        [KEEL_MPI_WORD8] = KEEL_TYPE_UINT8,
        [KEEL_MPI_WORD16] = KEEL_TYPE_UINT16,
        [KEEL_MPI_WORD32] = KEEL_TYPE_UINT32,
        [KEEL_MPI_WORD64] = KEEL_TYPE_UINT64,
        [KEEL_MPI_FLOAT] = KEEL_TYPE_FLOAT,
        [KEEL_MPI_DOUBLE] = KEEL_TYPE_DOUBLE,
        [KEEL_MPI_FLOAT_COMPLEX] = KEEL_TYPE_FLOAT_COMPLEX,
        [KEEL_MPI_INT16_INT32] = KEEL_TYPE_INT16_INT32,
        [KEEL_MPI_INT32_INT32] = KEEL_TYPE_INT32_INT32,
        [KEEL_MPI_FLOAT_INT32] = KEEL_TYPE_FLOAT_INT32,
        [KEEL_MPI_FLOAT_FLOAT] = KEEL_TYPE_FLOAT_FLOAT,
#ifdef __x86_64__ /* Keel accumulates 16-byte elements only there */
        [KEEL_MPI_LONG_DOUBLE] = KEEL_TYPE_LONG_DOUBLE,
        [KEEL_MPI_DOUBLE_COMPLEX] = KEEL_TYPE_DOUBLE_COMPLEX,
        [KEEL_MPI_INT64_INT32] = KEEL_TYPE_INT64_INT32,
        [KEEL_MPI_DOUBLE_INT32] = KEEL_TYPE_DOUBLE_INT32,
        [KEEL_MPI_DOUBLE_DOUBLE] = KEEL_TYPE_DOUBLE_DOUBLE,
#else
        [KEEL_MPI_LONG_DOUBLE] = KEEL_TYPE_LAST,
        [KEEL_MPI_DOUBLE_COMPLEX] = KEEL_TYPE_LAST,
        [KEEL_MPI_INT64_INT32] = KEEL_TYPE_LAST,
        [KEEL_MPI_DOUBLE_INT32] = KEEL_TYPE_LAST,
        [KEEL_MPI_DOUBLE_DOUBLE] = KEEL_TYPE_LAST,
#endif
    };

    return types[kind];
}
