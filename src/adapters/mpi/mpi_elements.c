/*
 * Keel's atomics of words of 4 and 8 bytes are logged, one by one, and so are its accumulates of some hundred such
 * integers, which are such atomics, where nothing is fetched; of others no log has anything: from the first one on every
 * death is a rollback. With the promise a few elements are atomics, fetched or not. All are atomic against each other, so
 * elements that meet may go either way. A type goes this way with all operations that it has, or with none.
 */
#include "mpi_elements.h"

#include "mpi_arena.h"
#include "mpi_kind.h"

#include <string.h>

enum { FEW = 16 };

typedef struct {
    const keel_mpi_target_t *target;
    keel_op_t op;
    keel_type_t type;
    size_t size;
    keel_atomic_op_t atomic; /* MPI_NO_OP is adding 0; KEEL_ATOMIC_LAST: by accumulates */
    const char *packed;      /* NULL: of MPI_NO_OP */
    char *fetched;           /* NULL: nothing is */
} elements_t;

/* KEEL_OP_LAST: none */
static keel_op_t op_of(MPI_Op op)
{
    return (op == MPI_SUM)       ? KEEL_OP_SUM
           : (op == MPI_PROD)    ? KEEL_OP_PROD
           : (op == MPI_MIN)     ? KEEL_OP_MIN
           : (op == MPI_MAX)     ? KEEL_OP_MAX
           : (op == MPI_BAND)    ? KEEL_OP_BAND
           : (op == MPI_BOR)     ? KEEL_OP_BOR
           : (op == MPI_BXOR)    ? KEEL_OP_BXOR
           : (op == MPI_LAND)    ? KEEL_OP_LAND
           : (op == MPI_LOR)     ? KEEL_OP_LOR
           : (op == MPI_LXOR)    ? KEEL_OP_LXOR
           : (op == MPI_REPLACE) ? KEEL_OP_REPLACE
           : (op == MPI_NO_OP)   ? KEEL_OP_NO_OP
                                 : KEEL_OP_LAST;
}

static keel_atomic_op_t atomic_of(keel_op_t op, keel_mpi_kind_t kind)
{
    static const keel_atomic_op_t atomics[KEEL_OP_LAST] = {
        [KEEL_OP_SUM] = KEEL_ATOMIC_ADD,   [KEEL_OP_PROD] = KEEL_ATOMIC_LAST,    [KEEL_OP_MIN] = KEEL_ATOMIC_MIN,
        [KEEL_OP_MAX] = KEEL_ATOMIC_MAX,   [KEEL_OP_BAND] = KEEL_ATOMIC_AND,     [KEEL_OP_BOR] = KEEL_ATOMIC_OR,
        [KEEL_OP_BXOR] = KEEL_ATOMIC_XOR,  [KEEL_OP_LAND] = KEEL_ATOMIC_LAST,    [KEEL_OP_LOR] = KEEL_ATOMIC_LAST,
        [KEEL_OP_LXOR] = KEEL_ATOMIC_LAST, [KEEL_OP_REPLACE] = KEEL_ATOMIC_SWAP, [KEEL_OP_NO_OP] = KEEL_ATOMIC_ADD};
    const int is_signed = keel_mpi_kind_is_signed(kind);

    return (is_signed && op == KEEL_OP_MIN)   ? KEEL_ATOMIC_MIN_SIGNED
           : (is_signed && op == KEEL_OP_MAX) ? KEEL_ATOMIC_MAX_SIGNED
                                              : atomics[op];
}

static int is_aligned(void *user, ptrdiff_t offset, size_t length)
{
    const elements_t *elements = user;

    return (elements->target->offset + (uint64_t)offset) % elements->size == 0 && length % elements->size == 0;
}

static void atomics(elements_t *elements, uint64_t offset, size_t length)
{
    for (size_t at = 0; at < length; at += elements->size) {
        uint64_t operand = 0;

        if (elements->packed != NULL) {
            memcpy(&operand, elements->packed + at, elements->size);
        }
        keel_mpi_atomic(elements->atomic, elements->target->rank, offset + at, elements->size, operand, 0,
                        elements->fetched != NULL ? elements->fetched + at : NULL, elements->target->call);
    }
}

static int piece(void *user, ptrdiff_t offset, size_t length)
{
    elements_t *elements = user;
    const keel_mpi_target_t *target = elements->target;
    const uint64_t from = target->offset + (uint64_t)offset;

    if (elements->atomic != KEEL_ATOMIC_LAST) {
        atomics(elements, from, length);
    } else {
        keel_mpi_combine_there(elements->op, elements->type, target->rank, from, elements->packed,
                               length / elements->size, elements->fetched, target->call);
    }
    elements->packed += (elements->packed != NULL) ? length : 0;
    elements->fetched += (elements->fetched != NULL) ? length : 0;
    return 1;
}

int keel_mpi_elements(const keel_mpi_target_t *target, const void *packed, char *fetched, MPI_Op op)
{
    const keel_mpi_kind_t kind = (keel_mpi_kind_t)target->layout->basic_kind;
    elements_t elements = {.target = target,
                           .op = op_of(op),
                           .type = keel_mpi_kind_type(kind),
                           .size = target->layout->basic_size,
                           .packed = packed,
                           .fetched = fetched,
                           .atomic = KEEL_ATOMIC_LAST};
    const size_t count = target->layout->size * target->count / elements.size;

    if (elements.op == KEEL_OP_LAST || elements.type == KEEL_TYPE_LAST ||
        !keel_mpi_target_each(target, is_aligned, &elements)) {
        return 0;
    }
    if (keel_mpi_kind_is_integer(kind) && elements.size >= sizeof(uint32_t) &&
        count <= (keel_mpi.is_promised ? FEW : 1)) {
        elements.atomic = atomic_of(elements.op, kind);
    }
    (void)keel_mpi_target_each(target, piece, &elements);
    return 1;
}
