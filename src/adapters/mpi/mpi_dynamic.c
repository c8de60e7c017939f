#include "mpi_dynamic.h"

#include "mpi_alias.h"
#include "mpi_arena.h"
#include "mpi_direct.h"

#include <stdlib.h>
#include <string.h>

enum { ATTACHED_MAX = 4096 };

typedef struct {
    uint64_t address, bytes, offset;
} attached_t;

typedef struct {
    uint64_t count;
    attached_t pieces[ATTACHED_MAX];
} table_t;

static table_t *table_of(const keel_mpi_win_t *win)
{
    return keel_mpi_arena_at(win->places[win->comm->rank].attached);
}

uint64_t keel_mpi_dynamic_make(const char *call)
{
    const uint64_t offset = keel_mpi_arena_take(sizeof(table_t), KEEL_MPI_ALIGN, call);

    ((table_t *)keel_mpi_arena_at(offset))->count = 0;
    return offset;
}

static void piece_remove(table_t *table, uint64_t i)
{
    keel_mpi_alias_remove((void *)(uintptr_t)table->pieces[i].address, table->pieces[i].bytes);
    table->pieces[i] = table->pieces[--table->count];
}

void keel_mpi_dynamic_remove(const keel_mpi_win_t *win)
{
    table_t *table = table_of(win);

    while (table->count > 0) {
        piece_remove(table, table->count - 1);
    }
    keel_mpi_arena_give(win->places[win->comm->rank].attached);
}

static int pieces_find(const attached_t *pieces, uint64_t count, uint64_t at, size_t bytes, uint64_t *offset_p)
{
    for (uint64_t i = 0; i < count; i++) {
        const attached_t *piece = &pieces[i];

        if (at >= piece->address && bytes <= piece->bytes && at - piece->address <= piece->bytes - bytes) {
            *offset_p = piece->offset + (at - piece->address);
            return 1;
        }
    }
    return 0;
}

/* where it is mapped the table is looked at where it lies; before the restart point the record has what was read */
int keel_mpi_dynamic_find(const keel_mpi_win_t *win, uint32_t target, MPI_Aint address, size_t bytes,
                          uint64_t *offset_p, const char *call)
{
    const uint64_t attached = win->places[target].attached;
    const uint32_t rank = win->comm->members[target];
    const char *mapped = (keel_mpi.phase == KEEL_MPI_RUNS) ? keel_mpi_direct(rank) : NULL;
    attached_t *pieces;
    uint64_t count = 0;
    int is;

    if (mapped != NULL) {
        const table_t *table = (const table_t *)(mapped + attached);

        count = __atomic_load_n(&table->count, __ATOMIC_ACQUIRE);
        return count <= ATTACHED_MAX && pieces_find(table->pieces, count, (uint64_t)address, bytes, offset_p);
    }
    keel_mpi_get(rank, attached, &count, sizeof(count), call);
    if (count > ATTACHED_MAX) {
        return 0;
    }
    pieces = malloc((count + 1) * sizeof(*pieces));
    if (pieces == NULL) {
        keel_mpi_refuse(call, "no memory");
    }
    keel_mpi_get(rank, attached + offsetof(table_t, pieces), pieces, count * sizeof(pieces[0]), call);
    is = pieces_find(pieces, count, (uint64_t)address, bytes, offset_p);
    free(pieces);
    return is;
}

int keel_mpi_dynamic_has_own(const keel_mpi_win_t *win)
{
    const table_t *table = table_of(win);

    for (uint64_t i = 0; i < table->count; i++) {
        if (!keel_mpi_arena_has((const void *)(uintptr_t)table->pieces[i].address, table->pieces[i].bytes)) {
            return 1;
        }
    }
    return 0;
}

/* ---- calls ---- */

int MPI_Win_attach(MPI_Win win, void *base, MPI_Aint size)
{
    table_t *table;
    KEEL_MPI_WIN(of, win, "MPI_Win_attach")

    if (of->flavor != MPI_WIN_FLAVOR_DYNAMIC) {
        return keel_mpi_raise_win(win, MPI_ERR_RMA_FLAVOR, "MPI_Win_attach", "not a dynamic window");
    }
    if (size < 0) {
        return keel_mpi_raise_win(win, MPI_ERR_SIZE, "MPI_Win_attach", "a negative size");
    }
    table = table_of(of);
    if (table->count == ATTACHED_MAX) {
        return keel_mpi_raise_win(win, MPI_ERR_RMA_ATTACH, "MPI_Win_attach", "4096 pieces are attached already");
    }
    if (size > 0) {
        const uint64_t offset = keel_mpi_alias_add(base, (size_t)size, "MPI_Win_attach");

        table->pieces[table->count++] = (attached_t){(uintptr_t)base, (uint64_t)size, offset};
    }
    return MPI_SUCCESS;
}

int MPI_Win_detach(MPI_Win win, const void *base)
{
    table_t *table;
    KEEL_MPI_WIN(of, win, "MPI_Win_detach")

    if (of->flavor != MPI_WIN_FLAVOR_DYNAMIC) {
        return keel_mpi_raise_win(win, MPI_ERR_RMA_FLAVOR, "MPI_Win_detach", "not a dynamic window");
    }
    table = table_of(of);
    for (uint64_t i = 0; i < table->count; i++) {
        if (table->pieces[i].address == (uintptr_t)base) {
            piece_remove(table, i);
            return MPI_SUCCESS;
        }
    }
    return keel_mpi_raise_win(win, MPI_ERR_RMA_ATTACH, "MPI_Win_detach", "memory that is not attached");
}
