/*
 * Accumulates, atomic for each element and in the order of their calls. Whole words of integers with operations that Keel's atomics know
 * are such atomics. All else is done by the caller, who has the word of the target's block that says so meanwhile. Which of both it is
 * depends on the type and the operation alone, so those that may meet, by MPI's rule of the same operation or MPI_NO_OP, go one way.
 */
#include "mpi_arena.h"
#include "mpi_channel.h"
#include "mpi_rma.h"

#include <stdlib.h>
#include <string.h>

#define INTEGERS(_)           \
    _(MPI_INT)                \
    _(MPI_LONG)               \
    _(MPI_LONG_LONG_INT)      \
    _(MPI_UNSIGNED)           \
    _(MPI_UNSIGNED_LONG)      \
    _(MPI_UNSIGNED_LONG_LONG) \
    _(MPI_INT32_T)            \
    _(MPI_INT64_T)            \
    _(MPI_UINT32_T)           \
    _(MPI_UINT64_T) _(MPI_AINT) _(MPI_OFFSET) _(MPI_COUNT) _(MPI_INTEGER) _(MPI_INTEGER4) _(MPI_INTEGER8)

static int is_integer(MPI_Datatype type)
{
#define IS(_type)          \
    if (type == (_type)) { \
        return 1;          \
    }
    INTEGERS(IS)
#undef IS
    return 0;
}

/* KEEL_ATOMIC_LAST: none; MPI_NO_OP is adding 0 */
static keel_atomic_op_t atomic_of(MPI_Op op)
{
    return (op == MPI_SUM || op == MPI_NO_OP) ? KEEL_ATOMIC_ADD
           : (op == MPI_REPLACE)              ? KEEL_ATOMIC_SWAP
           : (op == MPI_BAND)                 ? KEEL_ATOMIC_AND
           : (op == MPI_BOR)                  ? KEEL_ATOMIC_OR
           : (op == MPI_BXOR)                 ? KEEL_ATOMIC_XOR
                                              : KEEL_ATOMIC_LAST;
}

static int is_word(const keel_mpi_target_t *target)
{
    return is_integer(target->layout->basic) && (target->layout->basic_size == 4 || target->layout->basic_size == 8);
}

/* ---- by atomics ---- */

typedef struct {
    const keel_mpi_target_t *target;
    keel_atomic_op_t op;
    size_t size;
    const char *packed;
    char *fetched; /* NULL: nothing is */
    int is_aligned;
} atomics_t;

static int check_piece(void *user, ptrdiff_t offset, size_t length)
{
    atomics_t *atomics = user;

    atomics->is_aligned =
        (atomics->target->offset + (uint64_t)offset) % atomics->size == 0 && length % atomics->size == 0;
    return atomics->is_aligned;
}

static int atomic_piece(void *user, ptrdiff_t offset, size_t length)
{
    atomics_t *atomics = user;

    for (size_t at = 0; at < length; at += atomics->size) {
        uint64_t operand = 0;

        if (atomics->packed != NULL) {
            memcpy(&operand, atomics->packed, atomics->size);
            atomics->packed += atomics->size;
        }
        keel_mpi_atomic(atomics->op, atomics->target->rank, atomics->target->offset + (uint64_t)offset + at,
                        atomics->size, operand, 0, atomics->fetched, atomics->target->call);
        atomics->fetched += (atomics->fetched != NULL) ? atomics->size : 0;
    }
    return 1;
}

/* ---- by who has the target's word ---- */

static uint64_t word_of(const keel_mpi_target_t *target)
{
    return target->win->places[target->index].guard + offsetof(keel_mpi_guard_t, accumulate);
}

static void word_take(const keel_mpi_target_t *target)
{
    uint64_t was;

    keel_mpi_fence(target->call);
    for (;;) {
        was = 0;
        keel_mpi_atomic(KEEL_ATOMIC_CSWAP, target->rank, word_of(target), sizeof(was), (uint64_t)keel_mpi.rank + 1, 0,
                        &was, target->call);
        if (was == 0) {
            return;
        }
        keel_mpi_channel_pause(target->call);
    }
}

static void word_give(const keel_mpi_target_t *target)
{
    keel_mpi_fence(target->call); /* after what was put */
    keel_mpi_atomic(KEEL_ATOMIC_SWAP, target->rank, word_of(target), sizeof(uint64_t), 0, 0, NULL, target->call);
}

/* @a into = @a packed op @a old, all packed; elements whose packed form is not their form in memory are unpacked for that */
static void combine(const keel_mpi_target_t *target, const char *packed, char *old, MPI_Op op)
{
    const MPI_Datatype basic = target->layout->basic;
    const keel_mpi_layout_t *layout = keel_mpi_layout_of(basic);
    const size_t bytes = target->layout->size * target->count, count = bytes / target->layout->basic_size;
    char *in, *inout;
    int position = 0;

    if (layout->is_dense) {
        PMPI_Reduce_local(packed, old, (int)count, basic, op);
        return;
    }
    in = calloc(count, (size_t)layout->extent);
    inout = calloc(count, (size_t)layout->extent);
    if (in == NULL || inout == NULL) {
        keel_mpi_refuse(target->call, "no memory");
    }
    keel_mpi_unpack(packed, bytes, in, count, layout);
    keel_mpi_unpack(old, bytes, inout, count, layout);
    PMPI_Reduce_local(in, inout, (int)count, basic, op);
    PMPI_Pack(inout, (int)count, basic, old, (int)bytes, &position, MPI_COMM_SELF);
    free(in);
    free(inout);
}

/* @a old has room for what was there, and is left so */
static void exchange(const keel_mpi_target_t *target, const void *packed, char *old, MPI_Op op)
{
    const size_t bytes = target->layout->size * target->count;
    char *sum = malloc(bytes);

    if (sum == NULL) {
        keel_mpi_refuse(target->call, "no memory");
    }
    word_take(target);
    keel_mpi_target_get(target, old);
    if (op == MPI_REPLACE) {
        keel_mpi_target_put(target, packed);
    } else if (op != MPI_NO_OP) {
        memcpy(sum, old, bytes);
        combine(target, packed, sum, op);
        keel_mpi_target_put(target, sum);
    }
    word_give(target);
    free(sum);
}

/* ---- what is right ---- */

static int is_predefined(MPI_Op op)
{
    return op == MPI_REPLACE || op == MPI_NO_OP || op == MPI_SUM || op == MPI_PROD || op == MPI_MAX || op == MPI_MIN ||
           op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR || op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR ||
           op == MPI_MINLOC || op == MPI_MAXLOC;
}

/* tried on one element of nothing, before what others would see half done */
static int is_applicable(const keel_mpi_target_t *target, MPI_Op op)
{
    const keel_mpi_layout_t *layout = target->layout;
    char *room = calloc(2, (size_t)layout->basic_extent + 16);
    int is = 1;

    if (room == NULL) {
        keel_mpi_refuse(target->call, "no memory");
    }
    if (op != MPI_REPLACE && op != MPI_NO_OP) {
        is = PMPI_Reduce_local(room, room + (layout->basic_extent + 15) / 16 * 16, 1, layout->basic, op) == MPI_SUCCESS;
    }
    free(room);
    return is;
}

static int check(keel_mpi_target_t *target, MPI_Op op)
{
    if (!is_predefined(op)) {
        return keel_mpi_raise_win(target->win->handle, MPI_ERR_OP, target->call, "not a predefined operation");
    }
    if (target->layout->is_mixed) {
        return keel_mpi_raise_win(target->win->handle, MPI_ERR_TYPE, target->call,
                                  "a datatype that is made of several predefined ones");
    }
    return MPI_SUCCESS;
}

/* ---- calls ---- */

static int accumulate(keel_mpi_target_t *target, const void *packed, char *old, MPI_Op op, int is_fetched)
{
    atomics_t atomics = {.target = target,
                         .op = atomic_of(op),
                         .size = target->layout->basic_size,
                         .packed = packed,
                         .fetched = is_fetched ? old : NULL,
                         .is_aligned = 1};

    if (is_word(target) && atomics.op != KEEL_ATOMIC_LAST) {
        (void)keel_mpi_layout_each(target->layout, target->count, check_piece, &atomics);
        if (atomics.is_aligned) {
            (void)keel_mpi_layout_each(target->layout, target->count, atomic_piece, &atomics);
            return MPI_SUCCESS;
        }
    }
    if (!is_applicable(target, op)) {
        return keel_mpi_raise_win(target->win->handle, MPI_ERR_OP, target->call, "an operation not for this datatype");
    }
    exchange(target, packed, old, op);
    return MPI_SUCCESS;
}

int keel_mpi_accumulate(const keel_mpi_origin_t *origin, const keel_mpi_origin_t *result, keel_mpi_target_t *target,
                        MPI_Op op)
{
    const size_t bytes = target->layout->size * target->count;
    const void *packed = NULL;
    void *room = NULL;
    char *old;
    int code = check(target, op);

    if (code != MPI_SUCCESS) {
        return code;
    }
    if (result != NULL && !keel_mpi_origin_check(result, target)) {
        return target->code;
    }
    if (op != MPI_NO_OP && !keel_mpi_origin_check(origin, target)) {
        return target->code;
    }
    if (bytes == 0) {
        return MPI_SUCCESS;
    }
    if (op != MPI_NO_OP) {
        room = keel_mpi_pack(origin->buffer, (size_t)origin->count, origin->type, keel_mpi_layout_of(origin->type),
                             &packed, target->call);
    }
    old = malloc(bytes);
    if (old == NULL) {
        keel_mpi_refuse(target->call, "no memory");
    }
    code = accumulate(target, packed, old, op, result != NULL);
    if (code == MPI_SUCCESS && result != NULL) {
        keel_mpi_unpack(old, bytes, (void *)result->buffer, (size_t)result->count, keel_mpi_layout_of(result->type));
    }
    free(old);
    free(room);
    return code;
}

int MPI_Accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                   MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
    const keel_mpi_origin_t origin = {origin_addr, origin_count, origin_datatype};
    keel_mpi_target_t target;

    return keel_mpi_target_find(&target, target_rank, target_disp, target_count, target_datatype, win, "MPI_Accumulate")
               ? keel_mpi_accumulate(&origin, NULL, &target, op)
               : target.code;
}

int MPI_Get_accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, void *result_addr,
                       int result_count, MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp,
                       int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
    const keel_mpi_origin_t origin = {origin_addr, origin_count, origin_datatype};
    const keel_mpi_origin_t result = {result_addr, result_count, result_datatype};
    keel_mpi_target_t target;

    return keel_mpi_target_find(&target, target_rank, target_disp, target_count, target_datatype, win,
                                "MPI_Get_accumulate")
               ? keel_mpi_accumulate(&origin, &result, &target, op)
               : target.code;
}

int MPI_Fetch_and_op(const void *origin_addr, void *result_addr, MPI_Datatype datatype, int target_rank,
                     MPI_Aint target_disp, MPI_Op op, MPI_Win win)
{
    const keel_mpi_origin_t origin = {origin_addr, 1, datatype};
    const keel_mpi_origin_t result = {result_addr, 1, datatype};
    keel_mpi_target_t target;

    return keel_mpi_target_find(&target, target_rank, target_disp, 1, datatype, win, "MPI_Fetch_and_op")
               ? keel_mpi_accumulate(&origin, &result, &target, op)
               : target.code;
}

static void compare_and_swap(const keel_mpi_target_t *target, const void *origin, const void *compare, void *result)
{
    const size_t size = target->layout->size;
    uint64_t operand = 0, expected = 0;

    if (is_word(target) && target->offset % size == 0) {
        memcpy(&operand, origin, size);
        memcpy(&expected, compare, size);
        keel_mpi_atomic(KEEL_ATOMIC_CSWAP, target->rank, target->offset, size, operand, expected, result, target->call);
        return;
    }
    word_take(target);
    keel_mpi_get(target->rank, target->offset, result, size, target->call);
    if (memcmp(result, compare, size) == 0) {
        keel_mpi_put(target->rank, target->offset, origin, size, target->call);
    }
    word_give(target);
}

int MPI_Compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr, MPI_Datatype datatype,
                         int target_rank, MPI_Aint target_disp, MPI_Win win)
{
    keel_mpi_target_t target;

    if (keel_mpi_target_find(&target, target_rank, target_disp, 1, datatype, win, "MPI_Compare_and_swap")) {
        compare_and_swap(&target, origin_addr, compare_addr, result_addr);
    }
    return target.code;
}
