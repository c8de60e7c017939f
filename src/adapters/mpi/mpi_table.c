#include "mpi_table.h"

#include <stdlib.h>

static size_t slot_of(const keel_mpi_table_t *table, uintptr_t handle)
{
    return (size_t)((handle * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (table->size - 1);
}

static void entry_put(keel_mpi_table_t *table, uintptr_t handle, void *object)
{
    size_t i = slot_of(table, handle);

    while (table->entries[i].object != NULL) {
        i = (i + 1) & (table->size - 1);
    }
    table->entries[i] = (struct keel_mpi_entry){handle, object};
}

static int grow(keel_mpi_table_t *table)
{
    keel_mpi_table_t larger = {.size = (table->size > 0) ? 2 * table->size : 16, .count = table->count};

    larger.entries = calloc(larger.size, sizeof(*larger.entries));
    if (larger.entries == NULL) {
        return 0;
    }
    for (size_t i = 0; i < table->size; i++) {
        if (table->entries[i].object != NULL) {
            entry_put(&larger, table->entries[i].handle, table->entries[i].object);
        }
    }
    free(table->entries);
    *table = larger;
    return 1;
}

int keel_mpi_table_add(keel_mpi_table_t *table, uintptr_t handle, void *object)
{
    if (2 * (table->count + 1) > table->size && !grow(table)) {
        return 0;
    }
    entry_put(table, handle, object);
    table->count++;
    table->last_object = NULL;
    return 1;
}

static size_t entry_find(const keel_mpi_table_t *table, uintptr_t handle)
{
    size_t i;

    if (table->size == 0) {
        return SIZE_MAX;
    }
    for (i = slot_of(table, handle); table->entries[i].object != NULL; i = (i + 1) & (table->size - 1)) {
        if (table->entries[i].handle == handle) {
            return i;
        }
    }
    return SIZE_MAX;
}

void *keel_mpi_table_search(keel_mpi_table_t *table, uintptr_t handle)
{
    const size_t i = entry_find(table, handle);

    if (i == SIZE_MAX) {
        return NULL;
    }
    table->last = handle;
    table->last_object = table->entries[i].object;
    return table->last_object;
}

void keel_mpi_table_remove(keel_mpi_table_t *table, uintptr_t handle)
{
    size_t hole = entry_find(table, handle);

    if (hole == SIZE_MAX) {
        return;
    }
    table->last_object = NULL;
    table->count--;
    table->entries[hole].object = NULL;
    for (size_t i = (hole + 1) & (table->size - 1); table->entries[i].object != NULL; i = (i + 1) & (table->size - 1)) {
        /* a later entry that a collision had moved */
        const struct keel_mpi_entry entry = table->entries[i];

        table->entries[i].object = NULL;
        entry_put(table, entry.handle, entry.object);
    }
}
