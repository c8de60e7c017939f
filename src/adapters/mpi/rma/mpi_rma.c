#include "rma/mpi_rma.h"

#include "life/mpi_startup.h"
#include "mpi_arena.h"
#include "p2p/mpi_ordered.h"
#include "rma/mpi_alias.h"
#include "rma/mpi_direct.h"
#include "rma/mpi_dynamic.h"
#include "rma/mpi_fast.h"

#include <stdlib.h>

/* ---- target ---- */

static int wrong(keel_mpi_target_t *target, int code, const char *what)
{
    target->code = keel_mpi_raise_win(target->win->handle, code, target->call, what);
    return 0;
}

/* Finds a segment with all of these bytes; false: none. The owner may change other entries of the
 * table meanwhile. */
static int segment_find(const keel_mpi_segment_t *segments, size_t count, uint64_t at, size_t bytes,
                        keel_mpi_segment_t *found)
{
    for (size_t i = 0; i < count; i++) {
        found->at = __atomic_load_n(&segments[i].at, __ATOMIC_RELAXED);
        found->bytes = __atomic_load_n(&segments[i].bytes, __ATOMIC_RELAXED);
        if (at >= found->at && bytes <= found->bytes && at - found->at <= found->bytes - bytes) {
            found->offset = __atomic_load_n(&segments[i].offset, __ATOMIC_RELAXED);
            found->id = __atomic_load_n(&segments[i].id, __ATOMIC_RELAXED);
            if (__atomic_load_n(&segments[i].seal, __ATOMIC_RELAXED) == keel_mpi_segment_seal(found)) {
                return 1;
            }
        }
    }
    return 0;
}

typedef struct {
    const keel_mpi_target_t *target;
    keel_mpi_chunk_cb_t each;
    void *user;
} split_t;

static int split(void *user, ptrdiff_t offset, size_t length)
{
    const split_t *split = user;
    const keel_mpi_target_t *target = split->target;
    uint64_t at = (uint64_t)(target->at + offset);

    while (length > 0) {
        keel_mpi_segment_t segment;
        uint64_t some;

        if (!segment_find(target->segments, target->segment_count, at, 1, &segment)) {
            return 0;
        }
        some = segment.at + segment.bytes - at;
        some = (some < length) ? some : length;
        if (!split->each(split->user, (ptrdiff_t)(segment.offset + (at - segment.at)), some)) {
            return 0;
        }
        at += some;
        length -= some;
    }
    return 1;
}

int keel_mpi_target_each(const keel_mpi_target_t *target, keel_mpi_chunk_cb_t each, void *user)
{
    split_t transfer = {target, each, user};

    return (target->segments == NULL) ? keel_mpi_layout_each(target->layout, target->count, each, user)
                                      : keel_mpi_layout_each(target->layout, target->count, split, &transfer);
}

static int nothing(void *user, ptrdiff_t offset, size_t length)
{
    (void)user;
    (void)offset;
    (void)length;
    return 1;
}

/* Finds a segment for all elements, or else several; false: some bytes lie in none. */
static int find_segments(keel_mpi_target_t *target, ptrdiff_t at, ptrdiff_t low, size_t bytes)
{
    const keel_mpi_win_t *win = target->win;
    const keel_mpi_segment_t *segments;
    keel_mpi_segment_t segment;
    size_t count;

    if (win->flavor == MPI_WIN_FLAVOR_DYNAMIC) {
        segments = keel_mpi_dynamic_table(win, target->index, &count, target->call);
    } else {
        segments = win->segments[target->index];
        count = win->places[target->index].segments;
    }
    if (segment_find(segments, count, (uint64_t)(at + low), bytes, &segment)) {
        target->offset = segment.offset + ((uint64_t)at - segment.at);
        return 1;
    }
    target->segments = segments;
    target->segment_count = count;
    target->at = at;
    return keel_mpi_target_each(target, nothing, NULL);
}

/* Sets the place of the elements after checking that all their bytes lie in the window. */
static int find_place(keel_mpi_target_t *target, MPI_Aint disp)
{
    const keel_mpi_win_t *win = target->win;
    const keel_mpi_place_t *place = &win->places[target->index];
    ptrdiff_t low, at;
    size_t bytes;

    keel_mpi_layout_span(target->layout, target->count, &low, &bytes);
    if (win->flavor == MPI_WIN_FLAVOR_DYNAMIC) {
        return find_segments(target, disp, low, bytes)
                   ? 1
                   : wrong(target, MPI_ERR_RMA_RANGE, "memory that is not attached there");
    }
    if (!keel_mpi_place_has(place, disp, low, bytes, &at)) {
        return wrong(target, MPI_ERR_RMA_RANGE, "beyond the window");
    }
    if (win->is_searched && win->segments[target->index] != NULL) {
        return find_segments(target, at, low, bytes);
    }
    target->offset = place->offset + (uint64_t)at;
    return 1;
}

int keel_mpi_target_find(keel_mpi_target_t *target, int rank, MPI_Aint disp, int count, MPI_Datatype type, MPI_Win win,
                         const char *call)
{
    *target = (keel_mpi_target_t){.call = call, .code = MPI_SUCCESS, .type = type};
    keel_mpi_begin(call);
    target->win = keel_mpi_win_of(win);
    if (target->win == NULL) {
        target->code = keel_mpi_raise(MPI_COMM_WORLD, MPI_ERR_WIN, call, "not a window");
        return 0;
    }
    if (rank == MPI_PROC_NULL) {
        return 0;
    }
    if (rank < 0 || (uint32_t)rank >= target->win->comm->size) {
        return wrong(target, MPI_ERR_RANK, "no rank of the window");
    }
    if (count < 0) {
        return wrong(target, MPI_ERR_COUNT, "a negative count");
    }
    target->layout = keel_mpi_layout_of(type);
    if (target->layout == NULL) {
        return wrong(target, MPI_ERR_TYPE, "not a datatype");
    }
    target->index = (uint32_t)rank;
    if (!keel_mpi_win_allows(target->win, target->index)) {
        return wrong(target, MPI_ERR_RMA_SYNC, "in no epoch that allows it");
    }
    target->rank = (uint32_t)target->win->places[rank].home;
    target->count = (size_t)count;
    target->memory = keel_mpi_direct(target->rank);
    if (!find_place(target, disp)) {
        return 0;
    }
    keel_mpi_lock_ensure(target->win, target->index, call);
    return 1;
}

int keel_mpi_origin_check(const keel_mpi_origin_t *origin, keel_mpi_target_t *target)
{
    const keel_mpi_layout_t *layout;

    if (origin->count < 0) {
        return wrong(target, MPI_ERR_COUNT, "a negative count");
    }
    layout = keel_mpi_layout_of(origin->type);
    if (layout == NULL) {
        return wrong(target, MPI_ERR_TYPE, "not a datatype");
    }
    if (layout->size * (size_t)origin->count != target->layout->size * target->count) {
        return wrong(target, MPI_ERR_ARG, "origin and target are of different sizes");
    }
    return 1;
}

/* ---- bytes ---- */

enum {
    DENSITY = 4, /* fetch the whole span if at least one in so many bytes belongs to an element */
    /* Further bytes per chunk that are fetched along: no more than a record and its part of a
     * message would cost. A polled chunk allows more, since each poll waits for its reply. */
    SPARE = 64,
    SPARE_POLLED = 512,
    BLOCKS = 128 /* of one access */
};

typedef struct {
    const keel_mpi_target_t *target;
    char *packed;
    keel_block_t blocks[BLOCKS];
    size_t count;
} transfer_t;

static int put_chunk(void *user, ptrdiff_t offset, size_t length)
{
    transfer_t *transfer = user;
    const keel_mpi_target_t *target = transfer->target;

    if (target->memory != NULL) {
        keel_mpi_direct_copy(target->memory + target->offset + offset, transfer->packed, length);
    } else {
        keel_mpi_put(target->rank, target->offset + (uint64_t)offset, transfer->packed, length, target->call);
    }
    transfer->packed += length;
    return 1;
}

static void get_blocks(transfer_t *transfer)
{
    keel_mpi_get_list(transfer->target->rank, transfer->blocks, transfer->count, transfer->target->call);
    transfer->count = 0;
}

static int get_chunk(void *user, ptrdiff_t offset, size_t length)
{
    transfer_t *transfer = user;
    const keel_mpi_target_t *target = transfer->target;

    if (target->memory != NULL) {
        keel_mpi_direct_copy(transfer->packed, target->memory + target->offset + offset, length);
        keel_mpi_startup_result(transfer->packed, length);
    } else if (target->is_polled) {
        keel_mpi_poll(target->rank, target->offset + (uint64_t)offset, transfer->packed, length, target->call);
    } else {
        transfer->blocks[transfer->count++] =
            (keel_block_t){.offset = target->offset + (uint64_t)offset, .length = length, .buffer = transfer->packed};
        if (transfer->count == BLOCKS) {
            get_blocks(transfer);
        }
    }
    transfer->packed += length;
    return 1;
}

void keel_mpi_target_put(const keel_mpi_target_t *target, const void *packed)
{
    transfer_t transfer;

    transfer.target = target;
    transfer.packed = (char *)packed;
    (void)keel_mpi_target_each(target, put_chunk, &transfer);
}

/* If the elements fill most of their span, gets the whole span at once and packs the elements
 * here. */
static int get_whole(const keel_mpi_target_t *target, void *packed)
{
    const keel_mpi_layout_t *layout = target->layout;
    const size_t spare = (size_t)layout->run_count * target->count * (target->is_polled ? SPARE_POLLED : SPARE);
    ptrdiff_t low;
    size_t span;
    char *whole;

    keel_mpi_layout_span(layout, target->count, &low, &span);
    if (target->memory != NULL || target->segments != NULL || layout->is_dense ||
        span > layout->size * target->count * DENSITY + spare) {
        return 0;
    }
    whole = calloc(1, span + 1);
    if (whole == NULL) {
        return 0;
    }
    if (target->is_polled) {
        keel_mpi_poll_unrecorded(target->rank, target->offset + (uint64_t)low, whole, span, target->call);
    } else {
        keel_mpi_get_unrecorded(target->rank, target->offset + (uint64_t)low, whole, span, target->call);
    }
    keel_mpi_pack_into(whole - low, target->count, layout, packed);
    free(whole);
    keel_mpi_startup_result(packed, layout->size * target->count);
    return 1;
}

void keel_mpi_target_get(const keel_mpi_target_t *target, void *packed)
{
    transfer_t transfer;

    if (get_whole(target, packed)) {
        return;
    }
    transfer.target = target;
    transfer.packed = packed;
    transfer.count = 0;
    (void)keel_mpi_target_each(target, get_chunk, &transfer);
    get_blocks(&transfer);
}

/* ---- calls ---- */

static int put(const keel_mpi_origin_t *origin, keel_mpi_target_t *target)
{
    const void *packed;
    void *room;

    if (!keel_mpi_origin_check(origin, target)) {
        return target->code;
    }
    room =
        keel_mpi_pack(origin->buffer, (size_t)origin->count, keel_mpi_layout_of(origin->type), &packed, target->call);
    keel_mpi_target_put(target, packed);
    free(room);
    return MPI_SUCCESS;
}

/* Gets directly into the buffer, to be complete by the next flush, if both sides are contiguous. */
static int get(const keel_mpi_origin_t *origin, keel_mpi_target_t *target)
{
    const size_t bytes = target->layout->size * target->count;
    const keel_mpi_layout_t *layout;
    char *packed;

    if (!keel_mpi_origin_check(origin, target)) {
        return target->code;
    }
    layout = keel_mpi_layout_of(origin->type);
    if (bytes == 0) {
        return MPI_SUCCESS;
    }
    target->is_polled = keel_mpi_is_polled(keel_mpi_win_access(target->win)->held[target->index]);
    if (layout->is_dense) {
        char *buffer = (char *)origin->buffer + layout->runs[0].offset;

        if (target->memory == NULL && target->layout->is_dense && target->segments == NULL && !target->is_polled) {
            keel_mpi_get_nb(target->rank, target->offset + (uint64_t)target->layout->runs[0].offset, buffer, bytes,
                            target->call);
        } else {
            keel_mpi_target_get(target, buffer);
        }
        return MPI_SUCCESS;
    }
    packed = malloc(bytes);
    if (packed == NULL) {
        keel_mpi_fatal(target->call, "no memory to pack what is not contiguous");
    }
    keel_mpi_target_get(target, packed);
    keel_mpi_unpack(packed, bytes, (void *)origin->buffer, (size_t)origin->count, layout);
    free(packed);
    return MPI_SUCCESS;
}

/* The general paths, out of line: the common case keeps the registers. */
static __attribute__((noinline)) int put_generally(const void *origin_addr, int origin_count,
                                                   MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
                                                   int target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    const keel_mpi_origin_t origin = {origin_addr, origin_count, origin_datatype};
    keel_mpi_target_t target;

    return keel_mpi_target_find(&target, target_rank, target_disp, target_count, target_datatype, win, "MPI_Put")
               ? put(&origin, &target)
               : target.code;
}

int MPI_Put(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank,
            MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    keel_mpi_fast_t fast;

    if (keel_mpi_fast_find(&fast, origin_datatype, origin_count, target_rank, target_disp, target_count,
                           target_datatype, win)) {
        const char *data = (const char *)origin_addr + fast.layout->true_low;

        if (fast.direct != NULL) {
            keel_mpi_direct_copy(fast.direct + fast.offset, data, fast.bytes);
        } else {
            keel_mpi_put(fast.home, fast.offset, data, fast.bytes, "MPI_Put");
        }
        return MPI_SUCCESS;
    }
    return put_generally(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                         target_datatype, win);
}

static __attribute__((noinline)) int get_generally(void *origin_addr, int origin_count, MPI_Datatype origin_datatype,
                                                   int target_rank, MPI_Aint target_disp, int target_count,
                                                   MPI_Datatype target_datatype, MPI_Win win)
{
    const keel_mpi_origin_t origin = {origin_addr, origin_count, origin_datatype};
    keel_mpi_target_t target;

    return keel_mpi_target_find(&target, target_rank, target_disp, target_count, target_datatype, win, "MPI_Get")
               ? get(&origin, &target)
               : target.code;
}

int MPI_Get(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp,
            int target_count, MPI_Datatype target_datatype, MPI_Win win)
{
    keel_mpi_fast_t fast;

    if (keel_mpi_fast_find(&fast, origin_datatype, origin_count, target_rank, target_disp, target_count,
                           target_datatype, win)) {
        char *buffer = (char *)origin_addr + fast.layout->true_low;

        if (fast.direct != NULL) {
            keel_mpi_direct_copy(buffer, fast.direct + fast.offset, fast.bytes);
            keel_mpi_startup_result(buffer, fast.bytes);
        } else if (keel_mpi_is_polled(fast.held)) {
            keel_mpi_poll(fast.home, fast.offset, buffer, fast.bytes, "MPI_Get");
        } else {
            keel_mpi_get_nb(fast.home, fast.offset, buffer, fast.bytes, "MPI_Get");
        }
        return MPI_SUCCESS;
    }
    return get_generally(origin_addr, origin_count, origin_datatype, target_rank, target_disp, target_count,
                         target_datatype, win);
}
