#include "rma/mpi_shared.h"

#include "coll/mpi_coll.h"
#include "mpi_arena.h"

#include <stdlib.h>
#include <string.h>

static int all_are_mapped(const keel_mpi_comm_t *comm_ptr, const char *call)
{
    for (uint32_t i = 0; i < comm_ptr->size; i++) {
        if (keel_mpi_arena_mapped(comm_ptr->members[i], call) == NULL) {
            return 0;
        }
    }
    return 1;
}

void keel_mpi_shared_check(const keel_mpi_win_t *win, const char *call)
{
    if (win->flavor == MPI_WIN_FLAVOR_SHARED && !all_are_mapped(win->comm, call)) {
        keel_mpi_relaunch(call, "its replacement is not on the node of a window that it shares");
    }
}

static int is_noncontiguous(MPI_Info info)
{
    char value[8] = "";
    int is_there = 0;

    return info != MPI_INFO_NULL &&
           PMPI_Info_get(info, "alloc_shared_noncontig", (int)sizeof(value) - 1, value, &is_there) == MPI_SUCCESS &&
           is_there && strcmp(value, "true") == 0;
}

/* Bytes of one block with the parts of all members, followed by a guard for each. */
static uint64_t room_of(const keel_mpi_comm_t *comm_ptr, uint64_t bytes, uint64_t *total_p, const char *call)
{
    const keel_mpi_coll_t coll = keel_mpi_coll_begin(comm_ptr, call);
    uint64_t *all = malloc(comm_ptr->size * sizeof(*all)), room;

    if (all == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    keel_mpi_coll_allgather(&coll, &bytes, sizeof(bytes), all);
    *total_p = 0;
    for (uint32_t i = 0; i < comm_ptr->size; i++) {
        *total_p += all[i];
    }
    free(all);
    room = (*total_p + KEEL_MPI_ALIGN - 1) / KEEL_MPI_ALIGN * KEEL_MPI_ALIGN;
    *total_p = room;
    return room + comm_ptr->size * sizeof(keel_mpi_guard_t);
}

/* Sets the place of each member's part in the one block. */
static void places_set(keel_mpi_win_t *win, uint64_t total)
{
    const uint64_t begin = win->places[0].offset;
    uint64_t at = begin;

    for (uint32_t i = 0; i < win->comm->size; i++) {
        keel_mpi_place_t *place = &win->places[i];

        place->home = win->comm->members[0];
        place->offset = at;
        place->guard = begin + total + i * sizeof(keel_mpi_guard_t);
        at += place->bytes;
    }
}

static void *base_of(const keel_mpi_win_t *win, uint32_t member, const char *call)
{
    const keel_mpi_place_t *place = &win->places[member];
    char *arena = keel_mpi_arena_mapped((uint32_t)place->home, call);

    /* an empty part may have no place */
    return (arena != NULL && place->offset != 0) ? arena + place->offset : NULL;
}

int MPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win)
{
    static const char call[] = "MPI_Win_allocate_shared";
    keel_mpi_win_t like = {.home = keel_mpi.rank,
                           .flavor = MPI_WIN_FLAVOR_SHARED,
                           .model = MPI_WIN_UNIFIED,
                           .size = size,
                           .unit = disp_unit};
    uint64_t room = (uint64_t)size, total = 0;
    keel_mpi_win_t *made;
    int code;
    KEEL_MPI_INTRA(comm_ptr, comm, "MPI_Win_allocate_shared")

    if (keel_mpi_win_wrong_size(size, disp_unit) != NULL) {
        return keel_mpi_raise(comm, size < 0 ? MPI_ERR_SIZE : MPI_ERR_DISP, call,
                              keel_mpi_win_wrong_size(size, disp_unit));
    }
    if (!all_are_mapped(comm_ptr, call)) {
        if (keel_mpi.phase == KEEL_MPI_REPLAYS) {
            keel_mpi_relaunch(call, "its replacement is not on the node of a window that it shares");
        }
        return keel_mpi_raise(comm, MPI_ERR_RMA_SHARED, call,
                              "ranks that do not share memory: see MPI_Comm_split_type");
    }
    if (!is_noncontiguous(info)) {
        room = room_of(comm_ptr, (uint64_t)size, &total, call);
        room = (comm_ptr->rank == 0) ? room : 0;
    }
    if (room > 0) {
        like.block = keel_mpi_arena_alloc(room, KEEL_MPI_ALIGN, call);
        memset(keel_mpi_arena_at(like.block), 0, room);
    }
    code = keel_mpi_win_make(comm_ptr, &like, like.block, info, win, call);
    if (code != MPI_SUCCESS) {
        return code;
    }
    made = keel_mpi_win_of(*win);
    if (!is_noncontiguous(info)) {
        places_set(made, total);
    }
    made->base = base_of(made, comm_ptr->rank, call);
    *(void **)baseptr = made->base;
    return MPI_SUCCESS;
}

/* MPI_PROC_NULL stands for the first member with memory. */
int MPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint *size, int *disp_unit, void *baseptr)
{
    uint32_t member = (uint32_t)rank;
    KEEL_MPI_WIN(win_ptr, win, "MPI_Win_shared_query")

    if (win_ptr->flavor != MPI_WIN_FLAVOR_SHARED) {
        return keel_mpi_raise_win(win, MPI_ERR_RMA_FLAVOR, "MPI_Win_shared_query", "not a shared window");
    }
    if (rank == MPI_PROC_NULL) {
        for (member = 0; member + 1 < win_ptr->comm->size && win_ptr->places[member].bytes == 0;) {
            member++;
        }
    } else if (rank < 0 || member >= win_ptr->comm->size) {
        return keel_mpi_raise_win(win, MPI_ERR_RANK, "MPI_Win_shared_query", "no rank of the window");
    }
    *size = (MPI_Aint)win_ptr->places[member].bytes;
    *disp_unit = (int)win_ptr->places[member].unit;
    *(void **)baseptr = base_of(win_ptr, member, "MPI_Win_shared_query");
    return MPI_SUCCESS;
}
