#include "rma/mpi_window.h"

#include "coll/mpi_coll.h"
#include "life/mpi_deterministic.h"
#include "life/mpi_startup.h"
#include "mpi_arena.h"
#include "mpi_error.h"
#include "rma/mpi_alias.h"
#include "rma/mpi_direct.h"
#include "rma/mpi_dynamic.h"
#include "rma/mpi_lock_word.h"
#include "rma/mpi_shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

keel_mpi_table_t keel_mpi_wins;
static const MPI_Win none = MPI_WIN_NULL;

enum { BARRIER = KEEL_MPI_ALIGN, ACCESS = BARRIER + sizeof(keel_mpi_barrier_t) };

/* Allocates the own guard, followed by the barrier and the state of the own epochs. */
static uint64_t guard_make(uint32_t size, const char *call)
{
    const size_t bytes = ACCESS + sizeof(keel_mpi_access_t) + size;
    const uint64_t guard = keel_mpi_arena_alloc(bytes, KEEL_MPI_ALIGN, call);

    memset(keel_mpi_arena_at(guard), 0, bytes);
    return guard;
}

static uint64_t own_guard(const keel_mpi_win_t *win)
{
    return win->access - ACCESS;
}

/* Reads a member's segments once; a replacement reads them at the same point. */
static void segments_get(keel_mpi_win_t *win, uint32_t member, const char *call)
{
    const keel_mpi_place_t *place = &win->places[member];
    const size_t bytes = place->segments * sizeof(**win->segments);

    if (win->segments == NULL) {
        win->segments = calloc(win->comm->size, sizeof(*win->segments));
    }
    if (win->segments == NULL || (win->segments[member] = malloc(bytes)) == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    keel_mpi_get((uint32_t)place->home, place->attached, win->segments[member], bytes, call);
}

static void segments_free(keel_mpi_win_t *win)
{
    for (uint32_t i = 0; win->segments != NULL && i < win->comm->size; i++) {
        free(win->segments[i]);
    }
    free(win->segments);
    win->segments = NULL;
}

/* Collective: exchanges the places of all members. The startup record keeps is_mapped, since the
 * records of later calls depend on it. */
static void places_get(keel_mpi_win_t *win, keel_mpi_place_t mine, const char *call)
{
    const keel_mpi_coll_t coll = keel_mpi_coll_begin(win->comm, call);

    mine.has_all = (uint64_t)keel_mpi_direct_refresh(win->comm, call);
    keel_mpi_coll_allgather(&coll, &mine, sizeof(mine), win->places);
    win->is_mapped = 1;
    for (uint32_t i = 0; i < win->comm->size; i++) {
        win->is_mapped &= win->places[i].has_all != 0;
    }
    keel_mpi_startup_result(&win->is_mapped, sizeof(win->is_mapped));
    segments_free(win);
    for (uint32_t i = 0; i < win->comm->size; i++) {
        if (win->places[i].segments > 1) {
            segments_get(win, i, call);
        }
    }
    win->is_searched = win->flavor == MPI_WIN_FLAVOR_DYNAMIC || win->segments != NULL;
}

/* Frees the table of segments, if any. */
static void place_free_table(const keel_mpi_place_t *place)
{
    if (place->attached != 0) {
        keel_mpi_arena_free(place->attached);
    }
}

/* Sets the place to the current segments of the program's own memory. */
static void place_own(const keel_mpi_win_t *win, keel_mpi_place_t *mine, const char *call)
{
    const uint64_t count = keel_mpi_alias_segments(win->alias, NULL);
    keel_mpi_segment_t *segments = calloc(count + 1, sizeof(*segments));

    if (segments == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    (void)keel_mpi_alias_segments(win->alias, segments);
    if (count > 1) {
        if (mine->attached == 0 || keel_mpi_arena_block(mine->attached, count * sizeof(*segments)) == NULL) {
            place_free_table(mine);
            mine->attached = keel_mpi_arena_alloc(count * sizeof(*segments), KEEL_MPI_ALIGN, call);
        }
        memcpy(keel_mpi_arena_at(mine->attached), segments, count * sizeof(*segments));
    }
    mine->segments = count;
    mine->offset = segments[0].offset;
    free(segments);
}

/* Collective: makes the window and exchanges the places. */
static keel_mpi_win_t *win_make(const keel_mpi_comm_t *comm_ptr, const keel_mpi_win_t *like, uint64_t offset,
                                const char *call)
{
    const uint64_t context = keel_mpi_comm_context(comm_ptr, call);
    keel_mpi_win_t *win = malloc(sizeof(*win));
    keel_mpi_place_t mine = {.offset = offset, .bytes = (uint64_t)like->size, .home = like->home, .unit = like->unit};

    if (win == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    *win = *like;
    win->is_late = keel_mpi.phase == KEEL_MPI_RUNS;
    win->comm = keel_mpi_comm_add(MPI_COMM_NULL, comm_ptr->size,
                                  keel_mpi_members_copy(comm_ptr->size, comm_ptr->members, call), context, call);
    win->places = malloc(comm_ptr->size * sizeof(*win->places));
    if (win->places == NULL) {
        keel_mpi_fatal(call, "no memory");
    }
    mine.guard = guard_make(comm_ptr->size, call);
    mine.barrier = mine.guard + BARRIER;
    win->access = mine.guard + ACCESS;
    if (like->flavor == MPI_WIN_FLAVOR_DYNAMIC) {
        mine.attached = keel_mpi_dynamic_make(call);
    } else if (like->alias != 0) {
        place_own(win, &mine, call);
    }
    places_get(win, mine, call);
    return win;
}

/* The system's MPI gets no memory and takes no part in accesses. */
int keel_mpi_win_make(const keel_mpi_comm_t *comm_ptr, keel_mpi_win_t *like, uint64_t offset, MPI_Info info,
                      MPI_Win *handle_p, const char *call)
{
    keel_mpi_win_t *win;
    int code;

    if (comm_ptr->size >> KEEL_MPI_LOCK_BITS != 0) {
        keel_mpi_fatal(call, "a window of more ranks than the word of a lock counts");
    }
    code = PMPI_Win_create(NULL, 0, 1, info, MPI_COMM_SELF, &like->handle);
    if (code != MPI_SUCCESS) {
        return code;
    }
    keel_mpi_error_win(like->handle);
    win = win_make(comm_ptr, like, offset, call);
    if (!keel_mpi_table_add(&keel_mpi_wins, (uintptr_t)win->handle, win)) {
        keel_mpi_fatal(call, "no memory");
    }
    *handle_p = win->handle;
    win->variables.made_by = handle_p;
    keel_mpi_deterministic_apply_info(info, win->comm, call);
    return MPI_SUCCESS;
}

const char *keel_mpi_win_wrong_size(MPI_Aint size, int unit)
{
    return (size < 0) ? "a negative size" : (unit <= 0) ? "a displacement unit that is not positive" : NULL;
}

int MPI_Win_create(void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    keel_mpi_win_t like = {
        .flavor = MPI_WIN_FLAVOR_CREATE, .model = MPI_WIN_UNIFIED, .size = size, .unit = disp_unit, .base = base};
    uint64_t offset = 0;
    keel_mpi_coll_t coll;
    KEEL_MPI_INTRA(comm_ptr, comm, "MPI_Win_create")

    if (keel_mpi_win_wrong_size(size, disp_unit) != NULL) {
        return keel_mpi_raise(comm, size < 0 ? MPI_ERR_SIZE : MPI_ERR_DISP, "MPI_Win_create",
                              keel_mpi_win_wrong_size(size, disp_unit));
    }
    coll = keel_mpi_coll_begin(comm_ptr, "MPI_Win_create");
    /* all ranks are in the call when mpi_alias.c stops their threads */
    keel_mpi_coll_barrier(&coll);
    like.home = keel_mpi.rank;
    if (size > 0 && keel_mpi_arena_contains(base, (size_t)size)) {
        offset = keel_mpi_arena_offset(base);
    } else if (size > 0 && !keel_mpi_direct_find(base, (size_t)size, &like.home, &offset, "MPI_Win_create")) {
        like.alias = keel_mpi_alias_add(base, (size_t)size, "MPI_Win_create");
    }
    return keel_mpi_win_make(comm_ptr, &like, offset, info, win, "MPI_Win_create");
}

static int allocate(keel_mpi_win_t *like, MPI_Info info, const keel_mpi_comm_t *comm, void *baseptr, MPI_Win *win,
                    const char *call)
{
    uint64_t offset;

    if (keel_mpi_win_wrong_size(like->size, like->unit) != NULL) {
        return keel_mpi_raise(comm->handle, like->size < 0 ? MPI_ERR_SIZE : MPI_ERR_DISP, call,
                              keel_mpi_win_wrong_size(like->size, like->unit));
    }
    offset = keel_mpi_arena_alloc((size_t)like->size, KEEL_MPI_ALIGN, call);
    like->base = keel_mpi_arena_at(offset);
    like->block = offset;
    *(void **)baseptr = like->base;
    return keel_mpi_win_make(comm, like, offset, info, win, call);
}

int MPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win)
{
    keel_mpi_win_t like = {.home = keel_mpi.rank,
                           .flavor = MPI_WIN_FLAVOR_ALLOCATE,
                           .model = MPI_WIN_UNIFIED,
                           .size = size,
                           .unit = disp_unit};
    KEEL_MPI_INTRA(comm_ptr, comm, "MPI_Win_allocate")

    return allocate(&like, info, comm_ptr, baseptr, win, "MPI_Win_allocate");
}

int MPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    keel_mpi_win_t like = {
        .home = keel_mpi.rank, .flavor = MPI_WIN_FLAVOR_DYNAMIC, .model = MPI_WIN_UNIFIED, .unit = 1};
    KEEL_MPI_INTRA(comm_ptr, comm, "MPI_Win_create_dynamic")

    return keel_mpi_win_make(comm_ptr, &like, 0, info, win, "MPI_Win_create_dynamic");
}

/* Frees the window's memory in the arena; a rollback restores it. */
static void win_free_memory(const keel_mpi_win_t *win)
{
    if (win->block != 0) {
        keel_mpi_arena_free(win->block);
    } else if (win->alias != 0) {
        keel_mpi_alias_remove(win->alias);
        place_free_table(&win->places[win->comm->rank]);
    } else if (win->flavor == MPI_WIN_FLAVOR_DYNAMIC) {
        keel_mpi_dynamic_remove(win);
    }
}

static void win_destroy(keel_mpi_win_t *win)
{
    segments_free(win);
    keel_mpi_comm_remove(win->comm);
    keel_mpi_table_remove(&keel_mpi_wins, (uintptr_t)win->handle);
    free(win->places);
    free(win);
}

/* The predecessor had freed the window. */
static int was_freed(MPI_Win handle)
{
    const keel_mpi_win_t *win = keel_mpi_table_find(&keel_mpi_wins, (uintptr_t)handle);

    return win != NULL && win->variables.freed_by != NULL && win->variables.was_freed;
}

static int win_free(MPI_Win *win)
{
    keel_mpi_coll_t coll;
    int code;
    KEEL_MPI_WIN(win_ptr, *win, "MPI_Win_free")

    if (keel_mpi_win_access(win_ptr)->locks > 0 || keel_mpi_win_access(win_ptr)->is_all || win_ptr->started != NULL ||
        win_ptr->posted != NULL) {
        return keel_mpi_raise_win(*win, MPI_ERR_RMA_SYNC, "MPI_Win_free", "amid an epoch");
    }
    keel_mpi_flush_all("MPI_Win_free");
    coll = keel_mpi_coll_begin(win_ptr->comm, "MPI_Win_free");
    keel_mpi_coll_barrier(&coll);
    if (keel_mpi.phase == KEEL_MPI_RUNS && !win_ptr->is_late) {
        win_free_memory(win_ptr);
        keel_mpi_win_access(win_ptr)->is_freed = 1;
        win_ptr->variables.freed_by = win;
        *win = MPI_WIN_NULL;
        return MPI_SUCCESS;
    }
    code = PMPI_Win_free(win); /* the callbacks of attributes still look the window up */
    win_free_memory(win_ptr);
    keel_mpi_arena_free(own_guard(win_ptr));
    win_destroy(win_ptr);
    return code;
}

int MPI_Win_free(MPI_Win *win)
{
    if (keel_mpi.ctx != NULL && was_freed(*win)) {
        *win = MPI_WIN_NULL;
        return MPI_SUCCESS;
    }
    return win_free(win);
}

void keel_mpi_win_end_freed(void)
{
    for (size_t i = 0; i < keel_mpi_wins.size; i++) {
        keel_mpi_win_t *win = keel_mpi_wins.entries[i].object;

        if (win != NULL && win->variables.freed_by != NULL) {
            MPI_Win handle = win->handle;

            win->variables.freed_by = NULL;
            PMPI_Win_free(&handle);
            win->handle = MPI_WIN_NULL;
        }
    }
}

void keel_mpi_win_unmake(void)
{
    for (size_t i = 0; i < keel_mpi_wins.size; i++) {
        keel_mpi_win_t *win = keel_mpi_wins.entries[i].object;

        if (win != NULL) {
            if (win->handle != MPI_WIN_NULL) {
                PMPI_Win_free(&win->handle);
            }
            segments_free(win);
            free(win->comm->members);
            free(win->comm);
            free(win->places);
            free(win);
        }
    }
    free(keel_mpi_wins.entries);
    keel_mpi_wins = (keel_mpi_table_t){0};
}

/* ---- checkpoints and rollbacks ---- */

const char *keel_mpi_win_checkpoint_obstacle(void)
{
    for (size_t i = 0; i < keel_mpi_wins.size; i++) {
        const keel_mpi_win_t *win = keel_mpi_wins.entries[i].object;

        if (win != NULL && win->is_late) {
            return "a window that was made after the restart point is still there";
        }
        if (win != NULL && (win->posted != NULL || win->started != NULL)) {
            return "amid an epoch of MPI_Win_post or MPI_Win_start";
        }
    }
    return keel_mpi_alias_is_late() ? "memory that was attached to a window after the restart point is still there"
                                    : NULL;
}

static keel_mpi_win_t *win_late(void)
{
    for (size_t i = 0; i < keel_mpi_wins.size; i++) {
        keel_mpi_win_t *win = keel_mpi_wins.entries[i].object;

        if (win != NULL && win->is_late) {
            return win;
        }
    }
    return NULL;
}

void keel_mpi_win_drop_late(void)
{
    keel_mpi_win_t *win;

    while ((win = win_late()) != NULL) {
        MPI_Win handle = win->handle;

        keel_mpi_handle_vars_forget(&win->variables, &handle, &none, sizeof(none));
        PMPI_Win_free(&handle);
        win_destroy(win);
    }
}

void keel_mpi_win_check_restorable(const char *call)
{
    for (size_t i = 0; i < keel_mpi_wins.size; i++) {
        const keel_mpi_win_t *win = keel_mpi_wins.entries[i].object;

        if (win != NULL && win->variables.freed_by == NULL && win->flavor == MPI_WIN_FLAVOR_DYNAMIC &&
            keel_mpi_dynamic_has_own(win)) {
            keel_mpi_fatal(call, "memory of the program's own is attached to a dynamic window, and may have another "
                                 "address in a replacement: attach memory of MPI_Alloc_mem");
        }
    }
}

void keel_mpi_win_revive(void)
{
    for (size_t i = 0; i < keel_mpi_wins.size; i++) {
        keel_mpi_win_t *win = keel_mpi_wins.entries[i].object;

        if (win == NULL) {
            continue;
        }
        free((void *)win->posted);
        free((void *)win->started);
        win->posted = win->started = NULL;
        keel_mpi_handle_vars_revive(&win->variables, keel_mpi_win_access(win)->is_freed, &win->handle, &none,
                                    sizeof(none));
    }
}

static void places_exchange(keel_mpi_win_t *win, const char *call)
{
    keel_mpi_place_t mine = win->places[win->comm->rank];

    if (win->alias != 0) {
        place_own(win, &mine, call);
    }
    places_get(win, mine, call);
}

/* In the order of contexts, which is the same for all ranks that share two windows. */
void keel_mpi_win_update_places(const char *call)
{
    uint64_t last = 0;
    keel_mpi_win_t *next;

    do {
        next = NULL;
        for (size_t i = 0; i < keel_mpi_wins.size; i++) {
            keel_mpi_win_t *win = keel_mpi_wins.entries[i].object;

            if (win != NULL && win->variables.freed_by == NULL && win->comm->context > last &&
                (next == NULL || win->comm->context < next->comm->context)) {
                next = win;
            }
        }
        if (next != NULL) {
            last = next->comm->context;
            places_exchange(next, call);
            keel_mpi_shared_check(next, call);
        }
    } while (next != NULL);
}

int MPI_Win_get_attr(MPI_Win win, int win_keyval, void *attribute_val, int *flag)
{
    KEEL_MPI_WIN(win_ptr, win, "MPI_Win_get_attr")

    *flag = 1;
    if (win_keyval == MPI_WIN_BASE) {
        *(void **)attribute_val = win_ptr->base;
    } else if (win_keyval == MPI_WIN_SIZE) {
        *(MPI_Aint **)attribute_val = &win_ptr->size;
    } else if (win_keyval == MPI_WIN_DISP_UNIT) {
        *(int **)attribute_val = &win_ptr->unit;
    } else if (win_keyval == MPI_WIN_CREATE_FLAVOR) {
        *(int **)attribute_val = &win_ptr->flavor;
    } else if (win_keyval == MPI_WIN_MODEL) {
        *(int **)attribute_val = &win_ptr->model;
    } else {
        return PMPI_Win_get_attr(win, win_keyval, attribute_val, flag);
    }
    return MPI_SUCCESS;
}
