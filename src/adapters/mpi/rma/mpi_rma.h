/* Target and origin of puts, gets and accumulates. */
#ifndef KEEL_MPI_RMA_H_
#define KEEL_MPI_RMA_H_

#include "datatype/mpi_layout.h"
#include "rma/mpi_window.h"

/* The target side of an access. */
typedef struct keel_mpi_target {
    keel_mpi_win_t *win;
    uint32_t index, rank; /* rank in the window, and rank of the job with the memory */
    size_t count;
    MPI_Datatype type;
    const keel_mpi_layout_t *layout;
    /* in the arena, of the first element's origin; possibly before the window's begin */
    uint64_t offset;
    /* the same in the window, if segments are to be searched; the offset is 0 then */
    ptrdiff_t at;
    const struct keel_mpi_segment *segments; /* NULL: no search is needed */
    size_t segment_count;
    char *memory;  /* the target's arena if mapped here; NULL: go through Keel (mpi_direct.h) */
    int is_polled; /* the program may branch on the value read */
    int code;      /* MPI_SUCCESS, or the code of the raised error */
    const char *call;
} keel_mpi_target_t;

/* The origin side of an access. */
typedef struct keel_mpi_origin {
    const void *buffer;
    int count;
    MPI_Datatype type;
} keel_mpi_origin_t;

/* Fills in the target. False: there is nothing to do, and the call returns target->code. */
int keel_mpi_target_find(keel_mpi_target_t *target, int rank, MPI_Aint disp, int count, MPI_Datatype type, MPI_Win win,
                         const char *call);
/* Checks that origin and target have the same number of bytes; false: an error was raised. */
int keel_mpi_origin_check(const keel_mpi_origin_t *origin, keel_mpi_target_t *target);

/* As keel_mpi_layout_each(), from target->offset on, for each chunk that is contiguous in the
 * arena. Returns 0 also if a chunk lies outside the window. */
int keel_mpi_target_each(const keel_mpi_target_t *target, keel_mpi_chunk_cb_t each, void *user);

/* Write packed bytes to the target's elements, and read packed bytes from them. */
void keel_mpi_target_put(const keel_mpi_target_t *target, const void *packed);
void keel_mpi_target_get(const keel_mpi_target_t *target, void *packed);

/* mpi_fast.c: The common case: equally many elements without gaps on both sides (of a predefined
 * type if @a result is given), in a window that all members have mapped, or one integer. False:
 * nothing is done, and the caller takes the general path. */
int keel_mpi_accumulate_fast(const keel_mpi_origin_t *origin, void *result, int rank, MPI_Aint disp, int count,
                             MPI_Datatype type, MPI_Op op, MPI_Win handle, const char *call);
/* MPI_Accumulate and its variants; @a result NULL: nothing is fetched. */
int keel_mpi_accumulate(const keel_mpi_origin_t *origin, const keel_mpi_origin_t *result, keel_mpi_target_t *target,
                        MPI_Op op);

#endif
