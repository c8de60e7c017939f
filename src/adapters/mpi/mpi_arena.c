/*
 * The table of blocks lies apart from the blocks, so writes beyond a block do not damage it. A
 * replacement gets the table of the checkpoint and, before its restart point, the offsets that its
 * predecessor got; no block is allocated or freed then.
 */
#include "mpi_arena.h"

#include "life/mpi_startup.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_DEFAULT ((size_t)64 << 20)

size_t keel_mpi_parse_bytes(const char *text)
{
    static const char units[] = "kmgt";
    char *end;
    const double number = strtod(text, &end);
    const char *unit = (*end != '\0') ? strchr(units, *end | 0x20) : NULL;
    const unsigned shift = (unit != NULL) ? 10 * (unsigned)(unit - units + 1) : 0;

    if (end == text || number <= 0 || (*end != '\0' && (unit == NULL || end[1] != '\0')) || number > 0x1p46) {
        return 0;
    }
    return (size_t)(number * (double)((uint64_t)1 << shift));
}

size_t keel_mpi_ring_bytes(const char *text, uint32_t ranks)
{
    size_t bytes = KEEL_MPI_RING_DEFAULT;

    if (text != NULL) {
        bytes = keel_mpi_parse_bytes(text);
        return (bytes < KEEL_MPI_RING || bytes > KEEL_MPI_RING_MAX || (bytes & (bytes - 1)) != 0) ? 0 : bytes;
    }
    while (bytes > KEEL_MPI_RING && bytes * ranks > KEEL_MPI_RINGS) {
        bytes /= 2;
    }
    return bytes;
}

static uint64_t align_up(uint64_t offset, size_t alignment)
{
    return (offset + alignment - 1) & ~(uint64_t)(alignment - 1);
}

static uint64_t rings_begin(void)
{
    return align_up(keel_mpi_arena_word(keel_mpi.ranks, 0), KEEL_MPI_ALIGN);
}

static uint64_t blocks_begin(void)
{
    return rings_begin() + (uint64_t)keel_mpi.ranks * keel_mpi.ring;
}

/* Ranks put to places in the arenas of others, computed from the own settings. The comparison of
 * each rank with the next one finds any difference. */
static void check_next_arena(void)
{
    const size_t bytes = keel_win_size(keel_mpi.arena, (keel_mpi.rank + 1) % keel_mpi.ranks);

    if (keel_incarnation(keel_mpi.ctx) == 0 && bytes != 0 && bytes != keel_mpi.bytes) {
        keel_mpi_fatal("MPI_Init", "KEELMPI_ARENA or KEELMPI_RING differs between ranks");
    }
}

/* The first word is raised if the meaning of a field changes, and no size or offset. */
static uint64_t arena_layout_number(void)
{
    static const uint64_t words[] = {1,
                                     sizeof(keel_mpi_hidden_t),
                                     sizeof(keel_mpi_channel_t),
                                     sizeof(keel_mpi_block_t),
                                     sizeof(keel_mpi_exposed_t),
                                     offsetof(keel_mpi_hidden_t, startup),
                                     offsetof(keel_mpi_hidden_t, saved),
                                     offsetof(keel_mpi_hidden_t, barriers),
                                     offsetof(keel_mpi_hidden_t, drains),
                                     offsetof(keel_mpi_hidden_t, gsyncs),
                                     offsetof(keel_mpi_hidden_t, version),
                                     offsetof(keel_mpi_hidden_t, freed_handles),
                                     offsetof(keel_mpi_hidden_t, block_count),
                                     offsetof(keel_mpi_hidden_t, blocks),
                                     offsetof(keel_mpi_hidden_t, exposed),
                                     offsetof(keel_mpi_hidden_t, open_receives_first),
                                     offsetof(keel_mpi_channel_t, sent),
                                     offsetof(keel_mpi_channel_t, announced),
                                     offsetof(keel_mpi_channel_t, offered)};
    uint64_t number = 0;

    for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        number = (number ^ words[i]) * 0x9e3779b97f4a7c15u;
        number ^= number >> 29;
    }
    return number;
}

void keel_mpi_arena_make(void)
{
    const char *text = getenv("KEELMPI_ARENA");
    const size_t bytes = (text != NULL) ? keel_mpi_parse_bytes(text) : ARENA_DEFAULT;

    if (bytes == 0) {
        keel_mpi_fatal("MPI_Init", "KEELMPI_ARENA is no number of bytes");
    }
    /* the place of all blocks depends on the ring, so deterministic mode has the same */
    keel_mpi.ring = keel_mpi_ring_bytes(getenv("KEELMPI_RING"), keel_mpi.ranks);
    if (keel_mpi.ring == 0) {
        keel_mpi_fatal("MPI_Init", "KEELMPI_RING is no power of two from 64k to 1g");
    }
    keel_mpi.bytes = blocks_begin() + bytes;
    keel_mpi_check(keel_win_alloc(keel_mpi.ctx, keel_mpi.bytes, NULL, &keel_mpi.arena), "MPI_Init");
    check_next_arena();
    keel_mpi.hidden = keel_win_base(keel_mpi.arena);
    keel_mpi.hidden->layout = arena_layout_number();
}

void keel_mpi_arena_check_layout(keel_status_t status)
{
    if (status == KEEL_OK && keel_mpi.hidden->layout != arena_layout_number()) {
        keel_mpi_fatal("MPI_Init", "the checkpoint in files is of another version of Keel");
    }
}

int keel_mpi_arena_contains(const void *address, size_t bytes)
{
    const uintptr_t base = (uintptr_t)keel_mpi.hidden, at = (uintptr_t)address;

    return at >= base + blocks_begin() && bytes <= keel_mpi.bytes && at - base <= keel_mpi.bytes - bytes;
}

void *keel_mpi_arena_mapped(uint32_t rank, const char *call)
{
    void *base = NULL;

    if (keel_mpi.is_deterministic_mode) { /* no log has stores to other ranks' memory */
        return (rank == keel_mpi.rank) ? keel_mpi.hidden : NULL;
    }
    keel_mpi_check(keel_win_ptr(keel_mpi.arena, rank, &base), call);
    return base;
}

uint64_t keel_mpi_arena_ring(uint32_t source)
{
    return rings_begin() + (uint64_t)source * keel_mpi.ring;
}

/* ---- blocks ---- */

/* Index of the first block at or after the offset. */
static uint64_t block_at(uint64_t offset)
{
    const keel_mpi_hidden_t *hidden = keel_mpi.hidden;
    uint64_t low = 0, high = hidden->block_count;

    while (low < high) {
        const uint64_t middle = (low + high) / 2;

        if (hidden->blocks[middle].offset < offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static uint64_t block_make(size_t bytes, size_t alignment, int is_alias)
{
    keel_mpi_hidden_t *hidden = keel_mpi.hidden;
    const uintptr_t base = (uintptr_t)hidden;
    uint64_t begin = blocks_begin(), i;

    if (hidden->block_count == KEEL_MPI_BLOCKS) {
        return 0;
    }
    for (i = 0; i <= hidden->block_count; i++) {
        const uint64_t end = (i < hidden->block_count) ? hidden->blocks[i].offset : keel_mpi.bytes;
        const uint64_t at = align_up(base + begin, alignment) - base;

        if (at <= end && bytes <= end - at) {
            memmove(&hidden->blocks[i + 1], &hidden->blocks[i], (hidden->block_count - i) * sizeof(hidden->blocks[0]));
            hidden->blocks[i] = (keel_mpi_block_t){at, bytes, (uint64_t)is_alias};
            hidden->block_count++;
            return at;
        }
        begin = (i < hidden->block_count) ? end + hidden->blocks[i].length : end;
    }
    return 0;
}

uint64_t keel_mpi_arena_try_alloc(size_t bytes, size_t alignment)
{
    uint64_t offset = 0;

    if (!keel_mpi_is_replaying()) {
        offset = block_make(bytes > 0 ? bytes : 1, alignment, 0);
    }
    keel_mpi_startup_result(&offset, sizeof(offset));
    return offset;
}

uint64_t keel_mpi_arena_alloc_temporary(size_t bytes, size_t alignment)
{
    return block_make(bytes, alignment, 0);
}

uint64_t keel_mpi_arena_alloc_alias(size_t bytes, size_t alignment)
{
    return block_make(bytes, alignment, 1);
}

uint64_t keel_mpi_arena_alloc(size_t bytes, size_t alignment, const char *call)
{
    const uint64_t offset = keel_mpi_arena_try_alloc(bytes, alignment);

    if (offset == 0) {
        keel_mpi_fatal(call, "no room in the arena: KEELMPI_ARENA says how large it is");
    }
    return offset;
}

void keel_mpi_arena_free(uint64_t offset)
{
    keel_mpi_hidden_t *hidden = keel_mpi.hidden;
    const uint64_t i = block_at(offset);

    if (keel_mpi_is_replaying() || i == hidden->block_count || hidden->blocks[i].offset != offset) {
        return;
    }
    hidden->block_count--;
    memmove(&hidden->blocks[i], &hidden->blocks[i + 1], (hidden->block_count - i) * sizeof(hidden->blocks[0]));
}

void keel_mpi_arena_shrink(uint64_t offset, size_t bytes)
{
    keel_mpi_hidden_t *hidden = keel_mpi.hidden;
    const uint64_t i = block_at(offset);

    if (i < hidden->block_count && hidden->blocks[i].offset == offset) {
        hidden->blocks[i].length = bytes;
    }
}

const keel_mpi_block_t *keel_mpi_arena_block(uint64_t offset, size_t bytes)
{
    const keel_mpi_hidden_t *hidden = keel_mpi.hidden;
    uint64_t i = block_at(offset);

    if (i == hidden->block_count || hidden->blocks[i].offset != offset) {
        if (i == 0) {
            return NULL;
        }
        i--;
    }
    return (offset - hidden->blocks[i].offset <= hidden->blocks[i].length &&
            bytes <= hidden->blocks[i].length - (offset - hidden->blocks[i].offset))
               ? &hidden->blocks[i]
               : NULL;
}

/* ---- images ---- */

void keel_mpi_arena_free_aliases(void)
{
    keel_mpi_hidden_t *hidden = keel_mpi.hidden;
    uint64_t kept = 0;

    for (uint64_t i = 0; i < hidden->block_count; i++) {
        if (!hidden->blocks[i].is_alias) {
            hidden->blocks[kept++] = hidden->blocks[i];
        }
    }
    hidden->block_count = kept;
    hidden->exposed_count = 0;
}

void keel_mpi_arena_expose(uint64_t offset, size_t bytes, uint64_t id, uint64_t at)
{
    keel_mpi_hidden_t *hidden = keel_mpi.hidden;

    if (hidden->exposed_count == KEEL_MPI_EXPOSED) {
        keel_mpi_fatal("MPI_Win_create", "too many pieces of memory are in windows: 8192");
    }
    hidden->exposed[hidden->exposed_count++] = (keel_mpi_exposed_t){offset, bytes, id, at};
}

void keel_mpi_arena_hide(uint64_t id)
{
    keel_mpi_hidden_t *hidden = keel_mpi.hidden;

    for (uint64_t i = 0; i < hidden->exposed_count;) {
        if (hidden->exposed[i].id == id) {
            hidden->exposed[i] = hidden->exposed[--hidden->exposed_count];
        } else {
            i++;
        }
    }
}

const keel_mpi_exposed_t *keel_mpi_arena_exposed(uint64_t id, const keel_mpi_exposed_t *last)
{
    const keel_mpi_hidden_t *hidden = keel_mpi.hidden;

    for (uint64_t i = (last != NULL) ? (uint64_t)(last - hidden->exposed) + 1 : 0; i < hidden->exposed_count; i++) {
        if (hidden->exposed[i].id == id) {
            return &hidden->exposed[i];
        }
    }
    return NULL;
}

static int compare_extents(const void *a, const void *b)
{
    const uint64_t first = ((const keel_extent_t *)a)->offset, second = ((const keel_extent_t *)b)->offset;

    return (first > second) - (first < second);
}

/* Joins extents that touch or overlap. */
static unsigned extents_join(keel_extent_t *extents, unsigned count)
{
    unsigned kept = 0;

    qsort(extents, count, sizeof(*extents), compare_extents);
    for (unsigned i = 1; i < count; i++) {
        const uint64_t end = extents[kept].offset + extents[kept].length;
        const uint64_t other = extents[i].offset + extents[i].length;

        if (extents[i].offset > end) {
            extents[++kept] = extents[i];
        } else if (other > end) {
            extents[kept].length = other - extents[kept].offset;
        }
    }
    return kept + 1;
}

keel_extent_t *keel_mpi_arena_extents(unsigned *count_p)
{
    const keel_mpi_hidden_t *hidden = keel_mpi.hidden;
    keel_extent_t *extents = malloc((hidden->block_count + hidden->exposed_count + 4) * sizeof(*extents));
    unsigned count = 0;

    if (extents == NULL) {
        return NULL;
    }
    extents[count++] =
        (keel_extent_t){0, offsetof(keel_mpi_hidden_t, blocks) + hidden->block_count * sizeof(hidden->blocks[0])};
    if (hidden->exposed_count > 0) {
        extents[count++] =
            (keel_extent_t){offsetof(keel_mpi_hidden_t, exposed), hidden->exposed_count * sizeof(hidden->exposed[0])};
    }
    extents[count++] = (keel_extent_t){sizeof(*hidden), keel_mpi.ranks * sizeof(keel_mpi_channel_t)};
    for (uint64_t i = 0; i < hidden->block_count; i++) {
        const keel_mpi_block_t *block = &hidden->blocks[i];

        if (block->offset == hidden->startup) {
            if (hidden->startup_used > 0 && !keel_mpi_startup_is_full()) {
                extents[count++] = (keel_extent_t){block->offset, hidden->startup_used};
            }
        } else if (!block->is_alias) {
            extents[count++] = (keel_extent_t){block->offset, block->length};
        }
    }
    for (uint64_t i = 0; i < hidden->exposed_count; i++) {
        extents[count++] = (keel_extent_t){hidden->exposed[i].offset, hidden->exposed[i].length};
    }
    *count_p = extents_join(extents, count);
    return extents;
}

/* ---- accesses ---- */

void keel_mpi_put(uint32_t rank, uint64_t offset, const void *data, size_t bytes, const char *call)
{
    if (bytes > 0 && !keel_mpi_is_replaying()) {
        keel_mpi_check(keel_put(keel_mpi.arena, rank, offset, data, bytes), call);
    }
}

void keel_mpi_get_list(uint32_t rank, const keel_block_t *blocks, size_t count, const char *call)
{
    if (count > 0 && !keel_mpi_is_replaying()) {
        keel_mpi_check(keel_get_list(keel_mpi.arena, rank, blocks, count), call);
    }
    for (size_t i = 0; i < count; i++) {
        keel_mpi_startup_result(blocks[i].buffer, blocks[i].length);
    }
}

void keel_mpi_get_unrecorded(uint32_t rank, uint64_t offset, void *data, size_t bytes, const char *call)
{
    if (bytes > 0 && !keel_mpi_is_replaying()) {
        keel_mpi_check(keel_get(keel_mpi.arena, rank, offset, data, bytes), call);
    }
}

void keel_mpi_get(uint32_t rank, uint64_t offset, void *data, size_t bytes, const char *call)
{
    keel_mpi_get_unrecorded(rank, offset, data, bytes, call);
    keel_mpi_startup_result(data, bytes);
}

void keel_mpi_poll_unrecorded(uint32_t rank, uint64_t offset, void *data, size_t bytes, const char *call)
{
    if (bytes > 0 && !keel_mpi_is_replaying()) {
        keel_mpi_check(keel_poll(keel_mpi.arena, rank, offset, data, bytes), call);
    }
}

void keel_mpi_poll(uint32_t rank, uint64_t offset, void *data, size_t bytes, const char *call)
{
    keel_mpi_poll_unrecorded(rank, offset, data, bytes, call);
    keel_mpi_startup_result(data, bytes);
}

void keel_mpi_get_nb(uint32_t rank, uint64_t offset, void *data, size_t bytes, const char *call)
{
    keel_status_t status;

    if (keel_mpi.phase != KEEL_MPI_RUNS) {
        keel_mpi_get(rank, offset, data, bytes, call);
    } else if (bytes > 0) {
        status = keel_get_nbx(keel_mpi.arena, rank, offset, data, bytes, NULL, NULL);
        keel_mpi_check(status == KEEL_INPROGRESS ? KEEL_OK : status, call);
    }
}

void keel_mpi_atomic(keel_atomic_op_t op, uint32_t rank, uint64_t offset, size_t size, uint64_t operand,
                     uint64_t compare, void *result, const char *call)
{
    keel_status_t status = KEEL_OK;

    if (keel_mpi_is_replaying()) {
        /* done in the first life */
    } else if (result != NULL) {
        status = keel_atomic(keel_mpi.arena, op, rank, offset, size, operand, compare, result);
    } else {
        status = keel_atomic_nbx(keel_mpi.arena, op, rank, offset, size, operand, compare, NULL, NULL, NULL);
    }
    keel_mpi_check(status == KEEL_INPROGRESS ? KEEL_OK : status, call);
    if (result != NULL) {
        keel_mpi_startup_result(result, size);
    }
}

void keel_mpi_accumulate_remote(keel_op_t op, keel_type_t type, uint32_t rank, uint64_t offset, const void *data,
                                size_t count, void *result, const char *call)
{
    keel_status_t status = KEEL_OK;

    if (!keel_mpi_is_replaying()) {
        status = keel_accumulate(keel_mpi.arena, op, type, rank, offset, data, count, result);
    }
    keel_mpi_check(status == KEEL_INPROGRESS ? KEEL_OK : status, call);
    if (result != NULL) {
        keel_mpi_startup_result(result, count * keel_type_size(type));
    }
}

void keel_mpi_flush(uint32_t rank, const char *call)
{
    if (!keel_mpi_is_replaying()) {
        keel_mpi_check(keel_flush(keel_mpi.ctx, rank), call);
    }
}

void keel_mpi_flush_all(const char *call)
{
    if (!keel_mpi_is_replaying()) {
        keel_mpi_check(keel_flush_all(keel_mpi.ctx), call);
    }
}

void keel_mpi_fence(const char *call)
{
    if (!keel_mpi_is_replaying()) {
        keel_mpi_check(keel_fence(keel_mpi.ctx), call);
    }
}
