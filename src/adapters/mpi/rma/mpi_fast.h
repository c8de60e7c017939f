/*
 * Accesses of the common case: equally many elements without gaps on both sides, in a window
 * without segments, under a held lock or in a fence epoch. Such an access needs no description of
 * its target (mpi_rma.h).
 */
#ifndef KEEL_MPI_FAST_H_
#define KEEL_MPI_FAST_H_

#include "rma/mpi_direct.h"
#include "rma/mpi_rma.h"

typedef struct keel_mpi_fast {
    const keel_mpi_win_t *win;
    const keel_mpi_layout_t *layout;
    char *direct;    /* the target's arena, mapped here; NULL: access by Keel's calls */
    uint64_t offset; /* in the target's arena */
    size_t bytes;
    uint32_t home;
    uint8_t held; /* keel_mpi_held_t */
} keel_mpi_fast_t;

/* True if a get under this lock polls: other ranks may put at the same time, and the program may
 * act on the value. */
static inline int keel_mpi_is_polled(uint8_t held)
{
    return keel_mpi.is_deterministic_mode && held != KEEL_MPI_HELD_NONE && held != KEEL_MPI_HELD_EXCLUSIVE;
}

/* True if [displacement + low, + bytes) lies in the member's part; *@a at_p is the displacement in
 * bytes. */
static inline int keel_mpi_place_has(const keel_mpi_place_t *place, MPI_Aint disp, ptrdiff_t low, size_t bytes,
                                     ptrdiff_t *at_p)
{
    ptrdiff_t begin;

    return (!__builtin_mul_overflow(disp, place->unit, at_p) && !__builtin_add_overflow(*at_p, low, &begin) &&
            disp >= 0 && begin >= 0 && (uint64_t)begin <= place->bytes && bytes <= place->bytes - (uint64_t)begin) ||
           bytes == 0;
}

/* False: take the general path, which also reports errors. */
static inline __attribute__((always_inline)) int keel_mpi_fast_find(keel_mpi_fast_t *fast, MPI_Datatype origin_type,
                                                                    int origin_count, int rank, MPI_Aint disp,
                                                                    int count, MPI_Datatype type, MPI_Win handle)
{
    const keel_mpi_win_t *win = (keel_mpi.ctx != NULL) ? keel_mpi_win_of(handle) : NULL;
    const keel_mpi_layout_t *layout;
    const keel_mpi_access_t *access;
    const keel_mpi_place_t *place;
    ptrdiff_t at;
    uint8_t held;

    if (win == NULL || (uint32_t)rank >= win->comm->size || origin_type != type || origin_count != count ||
        count <= 0 || win->is_searched) {
        return 0;
    }
    layout = keel_mpi_layout_of(type);
    access = keel_mpi_win_access(win);
    place = &win->places[rank];
    held = access->held[rank];
    if (layout == NULL || !layout->is_dense || held == KEEL_MPI_HELD_LAZY ||
        (held == KEEL_MPI_HELD_NONE && access->fence != KEEL_MPI_FENCED_USED)) {
        return 0;
    }
    fast->win = win;
    fast->layout = layout;
    fast->home = (uint32_t)place->home;
    fast->direct = keel_mpi_direct(fast->home);
    fast->bytes = (size_t)count * layout->size;
    fast->held = held;
    if (!keel_mpi_place_has(place, disp, layout->true_low, fast->bytes, &at)) {
        return 0;
    }
    fast->offset = place->offset + (uint64_t)(at + layout->true_low);
    return 1;
}

#endif
