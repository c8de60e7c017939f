/* The arena: its blocks, its extents in images, and accesses to the arenas of all ranks. Values
 * read pass through the startup record. */
#ifndef KEEL_MPI_ARENA_H_
#define KEEL_MPI_ARENA_H_

#include "mpi_state.h"

#include <keel/strided.h>

/* Bytes of a ring in a job of so many ranks by KEELMPI_RING, NULL: by default. Returns 0 if the
 * text is wrong. */
size_t keel_mpi_ring_bytes(const char *text, uint32_t ranks);

/* Collective: makes the window with the hidden part. */
void keel_mpi_arena_make(void);
/* After a read of the hidden part from an image, with its status: ends the job if the image is of a
 * build with another layout. */
void keel_mpi_arena_check_layout(keel_status_t status);
/* Parses a number of bytes with an optional K, M, G or T; 0: not a number. */
size_t keel_mpi_parse_bytes(const char *text);

static inline void *keel_mpi_arena_at(uint64_t offset)
{
    return (char *)keel_mpi.hidden + offset;
}

static inline uint64_t keel_mpi_arena_offset(const void *address)
{
    return (uint64_t)((const char *)address - (const char *)keel_mpi.hidden);
}

/* Offset, in any rank's arena, of a member of its keel_mpi_channel_t for @a rank. */
static inline uint64_t keel_mpi_arena_word(uint32_t rank, size_t member)
{
    return sizeof(keel_mpi_hidden_t) + rank * sizeof(keel_mpi_channel_t) + member;
}

/* The own channel to a rank. */
static inline keel_mpi_channel_t *keel_mpi_arena_channel(uint32_t rank)
{
    return (keel_mpi_channel_t *)keel_mpi_arena_at(keel_mpi_arena_word(rank, 0));
}

int keel_mpi_arena_contains(const void *address, size_t bytes);
/* The address of the arena of a rank of the job in this process; NULL: not mapped. */
void *keel_mpi_arena_mapped(uint32_t rank, const char *call);
uint64_t keel_mpi_arena_ring(uint32_t source); /* offset of the ring that @a source writes */

/* Allocates a block and returns its offset; 0: no room. Local. A replacement gets its predecessor's
 * offset. */
uint64_t keel_mpi_arena_try_alloc(size_t bytes, size_t alignment);
/* The same; ends the job if there is no room. */
uint64_t keel_mpi_arena_alloc(size_t bytes, size_t alignment, const char *call);
/* Allocates a block that is freed before the next checkpoint, so the startup record does not have
 * it; 0: no room. */
uint64_t keel_mpi_arena_alloc_temporary(size_t bytes, size_t alignment);
/* Allocates a block for pages of the program's own memory, outside the startup record; 0: no
 * room. */
uint64_t keel_mpi_arena_alloc_alias(size_t bytes, size_t alignment);
void keel_mpi_arena_free(uint64_t offset);
/* frees the bytes behind the first @a bytes */
void keel_mpi_arena_shrink(uint64_t offset, size_t bytes);
/* frees the blocks of aliases; nothing is exposed then */
void keel_mpi_arena_free_aliases(void);
/* The block that holds these bytes; NULL: none. */
const keel_mpi_block_t *keel_mpi_arena_block(uint64_t offset, size_t bytes);
/* expose() adds bytes of alias pages, at offset @a at of a region, to images. hide() removes all
 * bytes of the region. */
void keel_mpi_arena_expose(uint64_t offset, size_t bytes, uint64_t id, uint64_t at);
void keel_mpi_arena_hide(uint64_t id);
/* The next exposed range of the region behind @a last (NULL: the first); NULL: no more. */
const keel_mpi_exposed_t *keel_mpi_arena_exposed(uint64_t id, const keel_mpi_exposed_t *last);

/* The extents of an image taken now, ascending and disjoint; allocated. NULL: no memory. */
keel_extent_t *keel_mpi_arena_extents(unsigned *count_p);

/* Accesses; an error ends the job. */
void keel_mpi_put(uint32_t rank, uint64_t offset, const void *data, size_t bytes, const char *call);
void keel_mpi_get(uint32_t rank, uint64_t offset, void *data, size_t bytes, const char *call);
/* Gets several blocks. */
void keel_mpi_get_list(uint32_t rank, const keel_block_t *blocks, size_t count, const char *call);
/* A get outside the startup record; the caller records the values given to the program. */
void keel_mpi_get_unrecorded(uint32_t rank, uint64_t offset, void *data, size_t bytes, const char *call);
/* A get for values that the program may branch on in deterministic mode; and the same outside the
 * startup record. */
void keel_mpi_poll(uint32_t rank, uint64_t offset, void *data, size_t bytes, const char *call);
void keel_mpi_poll_unrecorded(uint32_t rank, uint64_t offset, void *data, size_t bytes, const char *call);
/* Complete at the next flush, or earlier. */
void keel_mpi_get_nb(uint32_t rank, uint64_t offset, void *data, size_t bytes, const char *call);
/* @a result NULL: nonblocking. */
void keel_mpi_atomic(keel_atomic_op_t op, uint32_t rank, uint64_t offset, size_t size, uint64_t operand,
                     uint64_t compare, void *result, const char *call);
/* Accumulates @a count aligned elements (keel_accumulate()); @a result NULL: nonblocking. */
void keel_mpi_accumulate_remote(keel_op_t op, keel_type_t type, uint32_t rank, uint64_t offset, const void *data,
                                size_t count, void *result, const char *call);
void keel_mpi_flush(uint32_t rank, const char *call);
void keel_mpi_flush_all(const char *call);
void keel_mpi_fence(const char *call);

#endif
