/* What puts, gets and accumulates have in common: where they lead. */
#ifndef KEEL_MPI_RMA_H_
#define KEEL_MPI_RMA_H_

#include "datatype/mpi_layout.h"
#include "rma/mpi_window.h"

/* an access's other end */
typedef struct keel_mpi_target {
    keel_mpi_win_t *win;
    uint32_t index, rank; /* in the window; and in the job, of who has its memory */
    size_t count;
    MPI_Datatype type;
    const keel_mpi_layout_t *layout;
    uint64_t offset; /* of the first element's origin in the arena; that may be less than the window's begin */
    ptrdiff_t at;    /* the same in the window, where segments are to be looked at; the offset is 0 then */
    const struct keel_mpi_segment *segments; /* NULL: they need not be */
    size_t segment_count;
    char *memory;  /* where that arena is mapped here; NULL: it has to be asked of Keel (mpi_direct.h) */
    int is_polled; /* what is read there may be what the program goes on by */
    int code;      /* MPI_SUCCESS, or the error that was raised */
    const char *call;
} keel_mpi_target_t;

/* an access's own end */
typedef struct keel_mpi_origin {
    const void *buffer;
    int count;
    MPI_Datatype type;
} keel_mpi_origin_t;

/* false: nothing is to be done, and the call returns the code */
int keel_mpi_target_find(keel_mpi_target_t *target, int rank, MPI_Aint disp, int count, MPI_Datatype type, MPI_Win win,
                         const char *call);
/* the own end is of as many bytes as the other; false: an error was raised */
int keel_mpi_origin_check(const keel_mpi_origin_t *origin, keel_mpi_target_t *target);

/* as keel_mpi_layout_each(), of target->offset: for each piece that is one in the arena; false, too, where a piece is not in the window */
int keel_mpi_target_each(const keel_mpi_target_t *target, keel_mpi_chunk_cb_t each, void *user);

/* packed bytes, to the places of the target's elements and from there */
void keel_mpi_target_put(const keel_mpi_target_t *target, const void *packed);
void keel_mpi_target_get(const keel_mpi_target_t *target, void *packed);

/* the usual one of these, of as many elements without gaps on both sides (where something is fetched, of a predefined type), in a window that
 * all have mapped; false: nothing is done, and the general way is to be gone */
int keel_mpi_accumulate_fast(const keel_mpi_origin_t *origin, void *result, int rank, MPI_Aint disp, int count,
                             MPI_Datatype type, MPI_Op op, MPI_Win handle, const char *call);
/* MPI_Accumulate and all like it; @a result NULL: nothing is fetched */
int keel_mpi_accumulate(const keel_mpi_origin_t *origin, const keel_mpi_origin_t *result, keel_mpi_target_t *target,
                        MPI_Op op);

#endif
