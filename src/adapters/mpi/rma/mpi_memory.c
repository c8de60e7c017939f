/* MPI_Alloc_mem: memory in the arena, ready to be used by windows. */
#include "mpi_arena.h"

int MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr)
{
    uint64_t offset;

    keel_mpi_begin("MPI_Alloc_mem");
    if (size < 0) {
        return keel_mpi_raise(MPI_COMM_WORLD, MPI_ERR_ARG, "MPI_Alloc_mem", "a negative size");
    }
    offset = keel_mpi_arena_try_alloc((size_t)size, KEEL_MPI_ALIGN);
    if (offset == 0) {
        return keel_mpi_raise(MPI_COMM_WORLD, MPI_ERR_NO_MEM, "MPI_Alloc_mem",
                              "no room in the arena: KEELMPI_ARENA says how large it is");
    }
    *(void **)baseptr = keel_mpi_arena_at(offset);
    return MPI_SUCCESS;
}

int MPI_Free_mem(void *base)
{
    keel_mpi_begin("MPI_Free_mem");
    if (base == NULL) {
        return MPI_SUCCESS;
    }
    if (!keel_mpi_arena_contains(base, 1)) {
        return keel_mpi_raise(MPI_COMM_WORLD, MPI_ERR_BASE, "MPI_Free_mem", "not memory of MPI_Alloc_mem");
    }
    keel_mpi_arena_free(keel_mpi_arena_offset(base));
    return MPI_SUCCESS;
}
