/* Accumulates of the common case. */
#include "rma/mpi_fast.h"

#include "life/mpi_startup.h"
#include "mpi_arena.h"
#include "rma/mpi_accumulate_atomics.h"
#include "rma/mpi_op.h"

#include <string.h>

/* In place, holding the accumulate word of the target's guard. */
static int accumulate_direct(const keel_mpi_fast_t *fast, const char *values, void *result, uint32_t index, MPI_Op op,
                             const char *call)
{
    keel_mpi_guard_t *guard = keel_mpi_direct_guard(fast->win, index);
    char *address = fast->direct + fast->offset;

    if (guard == NULL || keel_mpi_is_replaying()) {
        return 0;
    }
    keel_mpi_direct_lock(&guard->accumulate, call);
    if (result != NULL) {
        memcpy(result, address, fast->bytes);
    }
    (void)keel_mpi_op_apply((keel_mpi_kind_t)fast->layout->basic_kind, op, address, values,
                            fast->bytes / fast->layout->basic_size);
    keel_mpi_direct_unlock(&guard->accumulate);
    if (result != NULL) {
        keel_mpi_startup_result(result, fast->bytes);
    }
    return 1;
}

/* A single integer, by the atomic of keel_mpi_accumulate_atomics(). */
static int accumulate_atomic(const keel_mpi_fast_t *fast, const char *value, void *result, MPI_Op op, const char *call)
{
    const keel_mpi_kind_t kind = (keel_mpi_kind_t)fast->layout->basic_kind;
    const size_t size = fast->bytes;
    const keel_atomic_op_t atomic = keel_mpi_atomic_of(op, kind);
    uint64_t operand = 0;

    if (fast->win->is_mapped || size != fast->layout->basic_size || (size != 4 && size != 8) ||
        fast->offset % size != 0 || !keel_mpi_kind_is_integer(kind) || atomic == KEEL_ATOMIC_LAST) {
        return 0;
    }
    memcpy(&operand, value, size);
    keel_mpi_atomic(atomic, fast->home, fast->offset, size, operand, 0, result, call);
    return 1;
}

/* Elements without a fetch, with the choice of keel_mpi_accumulate_atomics(). */
static int accumulate_elements(const keel_mpi_fast_t *fast, const char *values, MPI_Op op, const char *call)
{
    const keel_op_t known = keel_mpi_op_of(op);
    const keel_type_t type = keel_mpi_kind_type((keel_mpi_kind_t)fast->layout->basic_kind);
    const size_t size = fast->layout->basic_size;

    if (fast->win->is_mapped || known == KEEL_OP_LAST || known == KEEL_OP_NO_OP || type == KEEL_TYPE_LAST ||
        !fast->layout->basic_is_dense || fast->offset % size != 0) {
        return 0;
    }
    keel_mpi_accumulate_remote(known, type, fast->home, fast->offset, values, fast->bytes / size, NULL, call);
    return 1;
}

int keel_mpi_accumulate_fast(const keel_mpi_origin_t *origin, void *result, int rank, MPI_Aint disp, int count,
                             MPI_Datatype type, MPI_Op op, MPI_Win handle, const char *call)
{
    const char *values;
    keel_mpi_fast_t fast;

    if (!keel_mpi_fast_find(&fast, origin->type, origin->count, rank, disp, count, type, handle) ||
        fast.layout->is_mixed || (result != NULL && fast.layout->basic != type) ||
        !keel_mpi_op_apply((keel_mpi_kind_t)fast.layout->basic_kind, op, NULL, NULL, 0)) {
        return 0;
    }
    values = (const char *)origin->buffer + fast.layout->true_low;
    if (fast.direct != NULL) {
        return accumulate_direct(&fast, values, result, (uint32_t)rank, op, call);
    }
    return accumulate_atomic(&fast, values, result, op, call) ||
           (result == NULL && accumulate_elements(&fast, values, op, call));
}
