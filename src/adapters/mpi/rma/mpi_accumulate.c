/*
 * Accumulates are atomic per element and take effect in program order. If all members have the
 * window mapped (never in deterministic mode), the caller works in place, holding the accumulate
 * word of the target's guard. Otherwise Keel's atomics and accumulates do what they support, and
 * the caller reads, computes and writes the rest, holding that word. The choice depends only on the
 * window, the type, the operation and the alignment. Concurrent accumulates to one element use the
 * same operation or MPI_NO_OP, by MPI's rule, so all of them take the same path.
 */
#include "life/mpi_startup.h"
#include "mpi_arena.h"
#include "p2p/mpi_channel.h"
#include "rma/mpi_accumulate_atomics.h"
#include "rma/mpi_direct.h"
#include "rma/mpi_op.h"
#include "rma/mpi_rma.h"

#include <stdlib.h>
#include <string.h>

/* ---- holding the target's word ---- */

static uint64_t word_of(const keel_mpi_target_t *target)
{
    return target->win->places[target->index].guard + offsetof(keel_mpi_guard_t, accumulate);
}

static void word_lock(const keel_mpi_target_t *target)
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
        keel_mpi_channel_yield(target->call);
    }
}

static void word_unlock(const keel_mpi_target_t *target)
{
    keel_mpi_fence(target->call); /* after the preceding puts */
    keel_mpi_atomic(KEEL_ATOMIC_SWAP, target->rank, word_of(target), sizeof(uint64_t), 0, 0, NULL, target->call);
}

/* @a old = @a packed op @a old, all packed. Elements with a different form in memory are unpacked
 * for the operation. */
static void combine(const keel_mpi_target_t *target, const char *packed, char *old, MPI_Op op)
{
    const MPI_Datatype basic = target->layout->basic;
    const keel_mpi_layout_t *layout = keel_mpi_layout_of(basic);
    const size_t bytes = target->layout->size * target->count, count = bytes / target->layout->basic_size;
    char *in, *inout;
    int position = 0;

    if (layout->is_dense) {
        if (!keel_mpi_op_apply((keel_mpi_kind_t)target->layout->basic_kind, op, old, packed, count)) {
            PMPI_Reduce_local(packed, old, (int)count, basic, op);
        }
        return;
    }
    in = calloc(count, (size_t)layout->extent);
    inout = calloc(count, (size_t)layout->extent);
    if (in == NULL || inout == NULL) {
        keel_mpi_fatal(target->call, "no memory");
    }
    keel_mpi_unpack(packed, bytes, in, count, layout);
    keel_mpi_unpack(old, bytes, inout, count, layout);
    PMPI_Reduce_local(in, inout, (int)count, basic, op);
    PMPI_Pack(inout, (int)count, basic, old, (int)bytes, &position, MPI_COMM_SELF);
    free(in);
    free(inout);
}

/* Move packed bytes to the target's elements, except elements that are done (NULL: none), and
 * back. */
typedef struct {
    void (*get)(const keel_mpi_target_t *target, void *packed);
    void (*put)(const keel_mpi_target_t *target, const void *packed, const char *done);
} move_ops_t;

typedef struct {
    const keel_mpi_target_t *target;
    const char *packed, *done;
    size_t at; /* packed bytes before the next chunk */
} remaining_t;

/* Puts the bytes of the chunk that belong to elements not done. */
static int put_remaining(void *user, ptrdiff_t offset, size_t length)
{
    remaining_t *remaining = user;
    const keel_mpi_target_t *target = remaining->target;
    const size_t size = target->layout->basic_size;

    while (length > 0) {
        const size_t left = size - remaining->at % size, some = (length < left) ? length : left;

        if (!remaining->done[remaining->at / size]) {
            keel_mpi_put(target->rank, target->offset + (uint64_t)offset, remaining->packed + remaining->at, some,
                         target->call);
        }
        remaining->at += some;
        offset += (ptrdiff_t)some;
        length -= some;
    }
    return 1;
}

static void put_by_keel(const keel_mpi_target_t *target, const void *packed, const char *done)
{
    if (done == NULL) {
        keel_mpi_target_put(target, packed);
    } else {
        (void)keel_mpi_target_each(target, put_remaining,
                                   &(remaining_t){.target = target, .packed = packed, .done = done});
    }
}

static const move_ops_t by_keel = {keel_mpi_target_get, put_by_keel};

/* Holding the target's word: reads the elements to @a old and writes the results. */
static void exchange(const keel_mpi_target_t *target, const move_ops_t *ops, const void *packed, char *old, MPI_Op op,
                     const char *done)
{
    const size_t bytes = target->layout->size * target->count;
    char *sum = malloc(bytes);

    if (sum == NULL) {
        keel_mpi_fatal(target->call, "no memory");
    }
    ops->get(target, old);
    if (op == MPI_REPLACE) {
        ops->put(target, packed, done);
    } else if (op != MPI_NO_OP) {
        memcpy(sum, old, bytes);
        combine(target, packed, sum, op);
        ops->put(target, sum, done);
    }
    free(sum);
}

/* ---- checks ---- */

static int is_predefined(MPI_Op op)
{
    return op == MPI_REPLACE || op == MPI_NO_OP || op == MPI_SUM || op == MPI_PROD || op == MPI_MAX || op == MPI_MIN ||
           op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR || op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR ||
           op == MPI_MINLOC || op == MPI_MAXLOC;
}

/* Tries the operation on a zeroed element before others could see a half-done result. The error
 * belongs to the window's error handler, so the handlers that the system's MPI would call are
 * suspended. */
static int is_applicable(const keel_mpi_target_t *target, MPI_Op op)
{
    const MPI_Comm asked[2] = {MPI_COMM_WORLD, MPI_COMM_SELF};
    const keel_mpi_layout_t *layout = target->layout;
    char *room = calloc(2, (size_t)layout->basic_extent + 16);
    MPI_Errhandler handlers[2];
    int is = 1;

    if (room == NULL) {
        keel_mpi_fatal(target->call, "no memory");
    }
    for (unsigned i = 0; i < 2; i++) {
        PMPI_Comm_get_errhandler(asked[i], &handlers[i]);
        PMPI_Comm_set_errhandler(asked[i], MPI_ERRORS_RETURN);
    }
    is = PMPI_Reduce_local(room, room + (layout->basic_extent + 15) / 16 * 16, 1, layout->basic, op) == MPI_SUCCESS;
    for (unsigned i = 0; i < 2; i++) {
        PMPI_Comm_set_errhandler(asked[i], handlers[i]);
        PMPI_Errhandler_free(&handlers[i]);
    }
    free(room);
    return is;
}

static int check(keel_mpi_target_t *target, MPI_Op op)
{
    const keel_mpi_kind_t kind = (keel_mpi_kind_t)target->layout->basic_kind;

    if (!is_predefined(op)) {
        return keel_mpi_raise_win(target->win->handle, MPI_ERR_OP, target->call, "not a predefined operation");
    }
    if (target->layout->is_mixed) {
        return keel_mpi_raise_win(target->win->handle, MPI_ERR_TYPE, target->call,
                                  "a datatype that is made of several predefined ones");
    }
    if (target->count == 0 || op == MPI_REPLACE || op == MPI_NO_OP || keel_mpi_op_apply(kind, op, NULL, NULL, 0) ||
        (!keel_mpi_kind_is_floating(kind) && is_applicable(target, op))) {
        return MPI_SUCCESS;
    }
    return keel_mpi_raise_win(target->win->handle, MPI_ERR_OP, target->call, "an operation not for this datatype");
}

/* ---- in place ---- */

typedef struct {
    const keel_mpi_target_t *target;
    MPI_Op op;
    const char *packed;
    char *fetched; /* NULL: nothing is fetched */
} in_place_t;

/* The type has no gaps, so a chunk consists of whole elements. */
static int chunk_in_place(void *user, ptrdiff_t offset, size_t length)
{
    in_place_t *in_place = user;
    const keel_mpi_target_t *target = in_place->target;
    const keel_mpi_layout_t *layout = target->layout;
    const size_t count = length / layout->basic_size;
    char *at = target->memory + target->offset + offset;

    if (in_place->fetched != NULL) {
        memcpy(in_place->fetched, at, length);
        in_place->fetched += length;
    }
    if (in_place->op == MPI_REPLACE) {
        memmove(at, in_place->packed, length);
    } else if (in_place->op != MPI_NO_OP &&
               !keel_mpi_op_apply((keel_mpi_kind_t)layout->basic_kind, in_place->op, at, in_place->packed, count)) {
        PMPI_Reduce_local(in_place->packed, at, (int)count, layout->basic, in_place->op);
    }
    in_place->packed += (in_place->packed != NULL) ? length : 0;
    return 1;
}

static uint64_t *word_in_place(const keel_mpi_target_t *target)
{
    return &keel_mpi_direct_guard(target->win, target->index)->accumulate;
}

static int copy_out(void *user, ptrdiff_t offset, size_t length)
{
    in_place_t *in_place = user;

    memcpy(in_place->fetched, in_place->target->memory + in_place->target->offset + offset, length);
    in_place->fetched += length;
    return 1;
}

static int copy_in(void *user, ptrdiff_t offset, size_t length)
{
    in_place_t *in_place = user;

    memcpy(in_place->target->memory + in_place->target->offset + offset, in_place->packed, length);
    in_place->packed += length;
    return 1;
}

static void get_in_place(const keel_mpi_target_t *target, void *packed)
{
    (void)keel_mpi_target_each(target, copy_out, &(in_place_t){.target = target, .fetched = packed});
}

static void put_in_place(const keel_mpi_target_t *target, const void *packed, const char *done)
{
    (void)done; /* no element is done yet */
    (void)keel_mpi_target_each(target, copy_in, &(in_place_t){.target = target, .packed = packed});
}

static const move_ops_t by_memory = {get_in_place, put_in_place};

static void do_in_place(const keel_mpi_target_t *target, const void *packed, char *fetched, MPI_Op op)
{
    in_place_t in_place = {target, op, packed, fetched};
    char *old = (fetched == NULL && target->segments != NULL) ? malloc(target->layout->size * target->count) : fetched;

    if (old == NULL && target->segments != NULL) {
        keel_mpi_fatal(target->call, "no memory");
    }
    if (!keel_mpi_is_replaying()) {
        keel_mpi_direct_lock(word_in_place(target), target->call);
        if (target->segments == NULL) {
            (void)keel_mpi_layout_each(target->layout, target->count, chunk_in_place, &in_place);
        } else { /* elements may lie across a segment's end */
            exchange(target, &by_memory, packed, old, op, NULL);
        }
        keel_mpi_direct_unlock(word_in_place(target));
    }
    if (old != fetched) {
        free(old);
    }
    if (fetched != NULL) {
        keel_mpi_startup_result(fetched, target->layout->size * target->count);
    }
}

/* ---- calls ---- */

/* Old values go to @a fetched unless NULL. */
static void accumulate(keel_mpi_target_t *target, const void *packed, char *fetched, MPI_Op op)
{
    const size_t size = target->layout->basic_size, bytes = target->layout->size * target->count;
    char *old, *done = NULL;

    if (target->win->is_mapped && target->layout->basic_is_dense) {
        do_in_place(target, packed, fetched, op);
        return;
    }
    if (!target->win->is_mapped && keel_mpi_accumulate_atomics(target, packed, fetched, op, &done)) {
        return;
    }
    old = (fetched != NULL && done == NULL) ? fetched : malloc(bytes);
    if (old == NULL) {
        keel_mpi_fatal(target->call, "no memory");
    }
    word_lock(target);
    exchange(target, &by_keel, packed, old, op, done);
    word_unlock(target);
    for (size_t i = 0; i < bytes / size && done != NULL && fetched != NULL; i++) {
        if (!done[i]) {
            memcpy(fetched + i * size, old + i * size, size);
        }
    }
    if (old != fetched) {
        free(old);
    }
    free(done);
}

/* Fetches into @a result, directly if its elements have no gaps. */
static void fetch(const keel_mpi_origin_t *result, keel_mpi_target_t *target, const void *packed, MPI_Op op)
{
    const keel_mpi_layout_t *layout = keel_mpi_layout_of(result->type);
    const size_t bytes = target->layout->size * target->count;
    char *room;

    if (layout->is_dense) {
        accumulate(target, packed, (char *)result->buffer + layout->runs[0].offset, op);
        return;
    }
    room = malloc(bytes);
    if (room == NULL) {
        keel_mpi_fatal(target->call, "no memory");
    }
    accumulate(target, packed, room, op);
    keel_mpi_unpack(room, bytes, (void *)result->buffer, (size_t)result->count, layout);
    free(room);
}

int keel_mpi_accumulate(const keel_mpi_origin_t *origin, const keel_mpi_origin_t *result, keel_mpi_target_t *target,
                        MPI_Op op)
{
    const void *packed = NULL;
    void *room = NULL;
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
    if (target->layout->size * target->count == 0) {
        return MPI_SUCCESS;
    }
    if (op != MPI_NO_OP) {
        room = keel_mpi_pack(origin->buffer, (size_t)origin->count, keel_mpi_layout_of(origin->type), &packed,
                             target->call);
    }
    if (result != NULL) {
        fetch(result, target, packed, op);
    } else {
        accumulate(target, packed, NULL, op);
    }
    free(room);
    return MPI_SUCCESS;
}

int MPI_Accumulate(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
                   MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
    const keel_mpi_origin_t origin = {origin_addr, origin_count, origin_datatype};
    keel_mpi_target_t target;

    if (keel_mpi_accumulate_fast(&origin, NULL, target_rank, target_disp, target_count, target_datatype, op, win,
                                 "MPI_Accumulate")) {
        return MPI_SUCCESS;
    }
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

    if (keel_mpi_accumulate_fast(&origin, result_addr, target_rank, target_disp, 1, datatype, op, win,
                                 "MPI_Fetch_and_op")) {
        return MPI_SUCCESS;
    }
    if (!keel_mpi_target_find(&target, target_rank, target_disp, 1, datatype, win, "MPI_Fetch_and_op")) {
        return target.code;
    }
    return target.layout->basic == datatype
               ? keel_mpi_accumulate(&origin, &result, &target, op)
               : keel_mpi_raise_win(win, MPI_ERR_TYPE, target.call, "not a predefined datatype");
}

static void compare_in_place(const keel_mpi_target_t *target, const void *origin, const void *compare, void *result)
{
    const size_t size = target->layout->size;

    if (!keel_mpi_is_replaying()) {
        keel_mpi_direct_lock(word_in_place(target), target->call);
        get_in_place(target, result);
        if (memcmp(result, compare, size) == 0) {
            put_in_place(target, origin, NULL);
        }
        keel_mpi_direct_unlock(word_in_place(target));
    }
    keel_mpi_startup_result(result, size);
}

typedef struct {
    ptrdiff_t offset;
    size_t length;
} first_t;

static int first_chunk(void *user, ptrdiff_t offset, size_t length)
{
    *(first_t *)user = (first_t){offset, length};
    return 0;
}

static void compare_and_swap(const keel_mpi_target_t *target, const void *origin, const void *compare, void *result)
{
    const size_t size = target->layout->size;
    uint64_t operand = 0, expected = 0, place;
    first_t first = {0, 0};

    if (target->win->is_mapped) {
        compare_in_place(target, origin, compare, result);
        return;
    }
    (void)keel_mpi_target_each(target, first_chunk, &first);
    place = target->offset + (uint64_t)first.offset;
    if (keel_mpi_kind_is_integer((keel_mpi_kind_t)target->layout->basic_kind) && place % size == 0 &&
        first.length == size) {
        memcpy(&operand, origin, size);
        memcpy(&expected, compare, size);
        keel_mpi_atomic(KEEL_ATOMIC_CSWAP, target->rank, place, size, operand, expected, result, target->call);
        return;
    }
    word_lock(target);
    keel_mpi_target_get(target, result);
    if (memcmp(result, compare, size) == 0) {
        keel_mpi_target_put(target, origin);
    }
    word_unlock(target);
}

int MPI_Compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr, MPI_Datatype datatype,
                         int target_rank, MPI_Aint target_disp, MPI_Win win)
{
    keel_mpi_target_t target;

    if (!keel_mpi_target_find(&target, target_rank, target_disp, 1, datatype, win, "MPI_Compare_and_swap")) {
        return target.code;
    }
    if (!keel_mpi_kind_is_integer((keel_mpi_kind_t)target.layout->basic_kind) || target.layout->basic != datatype) {
        return keel_mpi_raise_win(win, MPI_ERR_TYPE, target.call, "not a predefined integer, logical or byte");
    }
    compare_and_swap(&target, origin_addr, compare_addr, result_addr);
    return MPI_SUCCESS;
}
