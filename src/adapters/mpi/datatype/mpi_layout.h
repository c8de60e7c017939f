/*
 * Layout of a datatype: runs of bytes in the order in which the system's MPI packs them. Runs
 * follow from the type's constructor (mpi_typemap.h), or from test packings if the constructor is
 * unknown. They are computed once per type and cached as its attribute.
 */
#ifndef KEEL_MPI_LAYOUT_H_
#define KEEL_MPI_LAYOUT_H_

#include "mpi_state.h"

enum { KEEL_MPI_LAYOUT_BITS = 6 };

typedef struct keel_mpi_run {
    ptrdiff_t offset;
    size_t length;
} keel_mpi_run_t;

typedef struct keel_mpi_layout {
    size_t size; /* bytes when packed */
    ptrdiff_t extent, true_low, true_extent;
    MPI_Datatype basic; /* the predefined type that the type consists of; one of several if mixed */
    size_t basic_size;
    int basic_kind;     /* keel_mpi_kind_t */
    int basic_is_dense; /* is_dense of the basic type */
    ptrdiff_t basic_extent;
    int is_mixed; /* consists of several predefined types */
    int is_dense; /* a single run as long as the extent: elements follow one another without gaps */
    unsigned run_count;
    keel_mpi_run_t runs[];
} keel_mpi_layout_t;

void keel_mpi_layout_make(void);
void keel_mpi_layout_unmake(void);

/* Cache of recent layouts, indexed by a hash of the handle; layout NULL: empty. */
extern struct keel_mpi_layout_found {
    MPI_Datatype type;
    const keel_mpi_layout_t *layout;
} keel_mpi_layout_found[1 << KEEL_MPI_LAYOUT_BITS];

static inline struct keel_mpi_layout_found *keel_mpi_layout_slot(MPI_Datatype type)
{
    return &keel_mpi_layout_found[((uintptr_t)type * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - KEEL_MPI_LAYOUT_BITS)];
}

const keel_mpi_layout_t *keel_mpi_layout_search(MPI_Datatype type);
/* NULL: not a type, or not committed. Valid as long as the type. */
static inline const keel_mpi_layout_t *keel_mpi_layout_of(MPI_Datatype type)
{
    const struct keel_mpi_layout_found *found = keel_mpi_layout_slot(type);

    return (found->type == type && found->layout != NULL) ? found->layout : keel_mpi_layout_search(type);
}

/* Hold a type, since the program may free its own handle and reuse the value; and release it. */
MPI_Datatype keel_mpi_type_hold(MPI_Datatype type, const char *call);
void keel_mpi_type_release(MPI_Datatype type);
/* A copy of a layout that may outlive the type; the caller frees it. */
keel_mpi_layout_t *keel_mpi_layout_keep(const keel_mpi_layout_t *layout, const char *call);

/* Called for each chunk of @a count elements, in the order of packing, until a call returns 0. */
typedef int (*keel_mpi_chunk_cb_t)(void *user, ptrdiff_t offset, size_t length);
int keel_mpi_layout_each(const keel_mpi_layout_t *layout, size_t count, keel_mpi_chunk_cb_t each, void *user);
/* [low, low + bytes) covers all bytes of the elements. */
void keel_mpi_layout_span(const keel_mpi_layout_t *layout, size_t count, ptrdiff_t *low_p, size_t *bytes_p);

/* Packs elements; the caller frees the result. NULL: the elements are dense and lie at
 * *@a packed_p. */
void *keel_mpi_pack(const void *buffer, size_t count, const keel_mpi_layout_t *layout, const void **packed_p,
                    const char *call);
/* Packs elements into a buffer with room for all of them. */
void keel_mpi_pack_into(const void *buffer, size_t count, const keel_mpi_layout_t *layout, void *packed);
/* Unpacks the first @a bytes bytes of packed elements. */
void keel_mpi_unpack(const void *packed, size_t bytes, void *buffer, size_t count, const keel_mpi_layout_t *layout);

#endif
