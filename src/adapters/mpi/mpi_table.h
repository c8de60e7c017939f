/* Hash table from a handle's value to its object. */
#ifndef KEEL_MPI_TABLE_H_
#define KEEL_MPI_TABLE_H_

#include <stddef.h>
#include <stdint.h>

typedef struct keel_mpi_table {
    struct keel_mpi_entry {
        uintptr_t handle;
        void *object; /* NULL: free */
    } * entries;
    size_t size, count; /* size is 0 or a power of two */
    uintptr_t last;     /* the handle of the last search */
    void *last_object;
} keel_mpi_table_t;

/* 0: no memory. */
int keel_mpi_table_add(keel_mpi_table_t *table, uintptr_t handle, void *object);
void *keel_mpi_table_search(keel_mpi_table_t *table, uintptr_t handle);
/* NULL: not found. */
static inline void *keel_mpi_table_find(keel_mpi_table_t *table, uintptr_t handle)
{
    return (table->last == handle && table->last_object != NULL) ? table->last_object
                                                                 : keel_mpi_table_search(table, handle);
}
void keel_mpi_table_remove(keel_mpi_table_t *table, uintptr_t handle);

#endif
