#include "rma/mpi_dynamic.h"

#include "mpi_arena.h"
#include "rma/mpi_alias.h"
#include "rma/mpi_direct.h"

#include <stdlib.h>
#include <string.h>

enum { ATTACHED_MAX = 4096 };

/* ids of entries; every other id is a region of the program's own memory */
#define NOTHING  UINT64_C(0)
#define OF_ARENA UINT64_MAX

/* Entries keep their places, since other ranks may read the table at any time. */
typedef struct {
    uint64_t count;
    keel_mpi_segment_t entries[ATTACHED_MAX];
} table_t;

static table_t *table_of(const keel_mpi_win_t *win)
{
    return keel_mpi_arena_at(win->places[win->comm->rank].attached);
}

uint64_t keel_mpi_dynamic_make(const char *call)
{
    const uint64_t offset = keel_mpi_arena_alloc(sizeof(table_t), KEEL_MPI_ALIGN, call);

    ((table_t *)keel_mpi_arena_at(offset))->count = 0;
    return offset;
}

/* NULL: no room. */
static keel_mpi_segment_t *entry_find(table_t *table)
{
    for (uint64_t i = 0; i < table->count; i++) {
        if (table->entries[i].id == NOTHING) {
            return &table->entries[i];
        }
    }
    return (table->count < ATTACHED_MAX) ? &table->entries[table->count] : NULL;
}

static void entry_store(keel_mpi_segment_t *entry, const keel_mpi_segment_t *segment)
{
    __atomic_store_n(&entry->at, segment->at, __ATOMIC_RELAXED);
    __atomic_store_n(&entry->bytes, segment->bytes, __ATOMIC_RELAXED);
    __atomic_store_n(&entry->offset, segment->offset, __ATOMIC_RELAXED);
    __atomic_store_n(&entry->id, segment->id, __ATOMIC_RELAXED);
    __atomic_store_n(&entry->seal, keel_mpi_segment_seal(segment), __ATOMIC_RELAXED);
}

/* The last entry of the table is always in use. */
static void entry_clear(table_t *table, keel_mpi_segment_t *entry)
{
    uint64_t count = table->count;

    entry_store(entry, &(keel_mpi_segment_t){.id = NOTHING});
    while (count > 0 && table->entries[count - 1].id == NOTHING) {
        count--;
    }
    __atomic_store_n(&table->count, count, __ATOMIC_RELEASE);
}

/* Detaches all segments of the memory that the entry belongs to. */
static void memory_detach(table_t *table, keel_mpi_segment_t *entry)
{
    const uint64_t id = entry->id;

    if (id == OF_ARENA) {
        entry_clear(table, entry);
        return;
    }
    for (uint64_t i = 0; i < table->count; i++) {
        if (table->entries[i].id == id) {
            entry_clear(table, &table->entries[i]);
        }
    }
    keel_mpi_alias_remove(id);
}

void keel_mpi_dynamic_remove(const keel_mpi_win_t *win)
{
    table_t *table = table_of(win);

    for (uint64_t i = 0; i < table->count; i++) {
        if (table->entries[i].id != NOTHING) {
            memory_detach(table, &table->entries[i]);
        }
    }
    keel_mpi_arena_free(win->places[win->comm->rank].attached);
}

/* Reads the table in place if it is mapped. Before the restart point the startup record keeps the
 * values read. */
const keel_mpi_segment_t *keel_mpi_dynamic_table(const keel_mpi_win_t *win, uint32_t target, size_t *count_p,
                                                 const char *call)
{
    static table_t read;
    const uint64_t attached = win->places[target].attached;
    const uint32_t rank = win->comm->members[target];
    const char *mapped = (keel_mpi.phase == KEEL_MPI_RUNS) ? keel_mpi_direct(rank) : NULL;

    if (mapped != NULL) {
        const table_t *table = (const table_t *)(mapped + attached);

        *count_p = __atomic_load_n(&table->count, __ATOMIC_ACQUIRE);
        return table->entries;
    }
    keel_mpi_get(rank, attached, &read.count, sizeof(read.count), call);
    read.count = (read.count <= ATTACHED_MAX) ? read.count : 0;
    keel_mpi_get(rank, attached + offsetof(table_t, entries), read.entries, read.count * sizeof(read.entries[0]), call);
    *count_p = read.count;
    return read.entries;
}

int keel_mpi_dynamic_has_own(const keel_mpi_win_t *win)
{
    const table_t *table = table_of(win);

    for (uint64_t i = 0; i < table->count; i++) {
        if (table->entries[i].id != NOTHING && table->entries[i].id != OF_ARENA) {
            return 1;
        }
    }
    return 0;
}

/* ---- calls ---- */

static int entries_add(table_t *table, const keel_mpi_segment_t *segments, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        keel_mpi_segment_t *entry = entry_find(table);

        if (entry == NULL) {
            return 0;
        }
        entry_store(entry, &segments[i]);
        if (entry == &table->entries[table->count]) {
            __atomic_store_n(&table->count, table->count + 1, __ATOMIC_RELEASE);
        }
    }
    return 1;
}

static int attach_own(table_t *table, char *base, size_t size)
{
    const uint64_t id = keel_mpi_alias_add(base, size, "MPI_Win_attach");
    const size_t count = keel_mpi_alias_segments(id, NULL);
    keel_mpi_segment_t *segments = malloc((count + 1) * sizeof(*segments));
    int is_done;

    if (segments == NULL) {
        keel_mpi_fatal("MPI_Win_attach", "no memory");
    }
    (void)keel_mpi_alias_segments(id, segments);
    for (size_t i = 0; i < count; i++) {
        segments[i].at += (uintptr_t)base;
    }
    is_done = entries_add(table, segments, count);
    if (!is_done) {
        memory_detach(table, &(keel_mpi_segment_t){.id = id});
    }
    free(segments);
    return is_done;
}

/* False: too many entries. */
static int attach(table_t *table, char *base, size_t size)
{
    if (size > 0 && !keel_mpi_arena_contains(base, size)) {
        return entry_find(table) != NULL && attach_own(table, base, size);
    }
    return entries_add(
        table, &(keel_mpi_segment_t){(uintptr_t)base, size, size > 0 ? keel_mpi_arena_offset(base) : 0, OF_ARENA, 0},
        1);
}

int MPI_Win_attach(MPI_Win win, void *base, MPI_Aint size)
{
    KEEL_MPI_WIN(win_ptr, win, "MPI_Win_attach")

    if (win_ptr->flavor != MPI_WIN_FLAVOR_DYNAMIC) {
        return keel_mpi_raise_win(win, MPI_ERR_RMA_FLAVOR, "MPI_Win_attach", "not a dynamic window");
    }
    if (size < 0) {
        return keel_mpi_raise_win(win, MPI_ERR_SIZE, "MPI_Win_attach", "a negative size");
    }
    return attach(table_of(win_ptr), base, (size_t)size)
               ? MPI_SUCCESS
               : keel_mpi_raise_win(win, MPI_ERR_RMA_ATTACH, "MPI_Win_attach", "4096 pieces are attached already");
}

int MPI_Win_detach(MPI_Win win, const void *base)
{
    table_t *table;
    KEEL_MPI_WIN(win_ptr, win, "MPI_Win_detach")

    if (win_ptr->flavor != MPI_WIN_FLAVOR_DYNAMIC) {
        return keel_mpi_raise_win(win, MPI_ERR_RMA_FLAVOR, "MPI_Win_detach", "not a dynamic window");
    }
    table = table_of(win_ptr);
    for (uint64_t i = 0; i < table->count; i++) {
        if (table->entries[i].id != NOTHING && table->entries[i].at == (uintptr_t)base) {
            memory_detach(table, &table->entries[i]);
            return MPI_SUCCESS;
        }
    }
    return keel_mpi_raise_win(win, MPI_ERR_RMA_ATTACH, "MPI_Win_detach", "memory that is not attached");
}
