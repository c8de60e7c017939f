/*
 * Where the bytes of a datatype lie: runs of them in the order in which the system's MPI packs them. That follows from how it was constructed
 * (mpi_typemap.h), and of what was not from packing it; once for each type, and kept with the type.
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
    size_t size; /* bytes that are packed */
    ptrdiff_t extent, true_low, true_extent;
    MPI_Datatype basic; /* the predefined type that it is made of; of one made of several, one of them */
    size_t basic_size;
    int basic_kind;     /* keel_mpi_kind_t */
    int basic_is_dense; /* is_dense of that type */
    ptrdiff_t basic_extent;
    int is_mixed; /* made of several */
    int is_dense; /* one run as long as the extent: elements follow each other without gaps */
    unsigned run_count;
    keel_mpi_run_t runs[];
} keel_mpi_layout_t;

void keel_mpi_layout_make(void);
void keel_mpi_layout_unmake(void);

/* lately asked for, each where its handle leads; layout NULL: none */
extern struct keel_mpi_layout_found {
    MPI_Datatype type;
    const keel_mpi_layout_t *layout;
} keel_mpi_layout_found[1 << KEEL_MPI_LAYOUT_BITS];

static inline struct keel_mpi_layout_found *keel_mpi_layout_slot(MPI_Datatype type)
{
    return &keel_mpi_layout_found[((uintptr_t)type * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - KEEL_MPI_LAYOUT_BITS)];
}

const keel_mpi_layout_t *keel_mpi_layout_search(MPI_Datatype type);
/* NULL: no type, or one that is not committed; lives as long as the type */
static inline const keel_mpi_layout_t *keel_mpi_layout_of(MPI_Datatype type)
{
    const struct keel_mpi_layout_found *found = keel_mpi_layout_slot(type);

    return (found->type == type && found->layout != NULL) ? found->layout : keel_mpi_layout_search(type);
}

/* the same for a type itself: the program may free its own, and its handle may become another's */
MPI_Datatype keel_mpi_type_hold(MPI_Datatype type, const char *call);
void keel_mpi_type_release(MPI_Datatype type);
/* a copy, for what may outlive the type; free it */
keel_mpi_layout_t *keel_mpi_layout_keep(const keel_mpi_layout_t *layout, const char *call);

/* for each piece of @a count elements, in the order of packing: until one returns 0 */
typedef int (*keel_mpi_chunk_cb_t)(void *user, ptrdiff_t offset, size_t length);
int keel_mpi_layout_each(const keel_mpi_layout_t *layout, size_t count, keel_mpi_chunk_cb_t each, void *user);
/* [low, low + bytes) has all of the elements' bytes */
void keel_mpi_layout_span(const keel_mpi_layout_t *layout, size_t count, ptrdiff_t *low_p, size_t *bytes_p);

/* packed bytes of elements; NULL: they lie in @a buffer as they are, at @a *packed_p. Free it. */
void *keel_mpi_pack(const void *buffer, size_t count, const keel_mpi_layout_t *layout, const void **packed_p,
                    const char *call);
/* the same, to where there is room for all of them */
void keel_mpi_pack_into(const void *buffer, size_t count, const keel_mpi_layout_t *layout, void *packed);
/* the first @a bytes of packed elements to their places */
void keel_mpi_unpack(const void *packed, size_t bytes, void *buffer, size_t count, const keel_mpi_layout_t *layout);

#endif
