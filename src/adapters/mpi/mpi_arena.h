/* The arena: its blocks, what of it belongs to an image, and the accesses to it of all ranks, which the prefix's record knows. */
#ifndef KEEL_MPI_ARENA_H_
#define KEEL_MPI_ARENA_H_

#include "mpi_state.h"

#include <keel/strided.h>

/* collective: the window, with the hidden part made */
void keel_mpi_arena_make(void);
/* a number of bytes with K, M, G or T after it; 0: it is none */
size_t keel_mpi_parse_bytes(const char *text);

static inline void *keel_mpi_arena_at(uint64_t offset)
{
    return (char *)keel_mpi.hidden + offset;
}

static inline uint64_t keel_mpi_arena_offset(const void *address)
{
    return (uint64_t)((const char *)address - (const char *)keel_mpi.hidden);
}

/* in any rank's arena, where the word lies that it has of @a rank: a member of its keel_mpi_channel_t */
static inline uint64_t keel_mpi_arena_word(uint32_t rank, size_t member)
{
    return sizeof(keel_mpi_hidden_t) + rank * sizeof(keel_mpi_channel_t) + member;
}

/* the own one */
static inline keel_mpi_channel_t *keel_mpi_arena_channel(uint32_t rank)
{
    return (keel_mpi_channel_t *)keel_mpi_arena_at(keel_mpi_arena_word(rank, 0));
}

int keel_mpi_arena_contains(const void *address, size_t bytes);
/* where the arena of a rank of the job is mapped here; NULL: it is not */
void *keel_mpi_arena_mapped(uint32_t rank, const char *call);
uint64_t keel_mpi_arena_ring(uint32_t source); /* offset of the ring that @a source writes */

/* a block's offset; 0: there is no room. Local. A replacement is given the one of its predecessor. */
uint64_t keel_mpi_arena_try_alloc(size_t bytes, size_t alignment);
/* the same, or the end of the job */
uint64_t keel_mpi_arena_alloc(size_t bytes, size_t alignment, const char *call);
/* one that is given back before the next checkpoint, so that no record has it; 0: there is no room */
uint64_t keel_mpi_arena_alloc_temporary(size_t bytes, size_t alignment);
/* the same for pages of the program's own memory, which the record does not have; 0: there is no room */
uint64_t keel_mpi_arena_alloc_alias(size_t bytes, size_t alignment);
void keel_mpi_arena_free(uint64_t offset);
void keel_mpi_arena_shrink(uint64_t offset, size_t bytes); /* what of it lies behind so many bytes is given */
void keel_mpi_arena_free_aliases(void);                    /* all blocks of that kind, and nothing is exposed then */
/* the block that holds these bytes; NULL: none does */
const keel_mpi_block_t *keel_mpi_arena_block(uint64_t offset, size_t bytes);
/* these bytes of alias pages, from @a at on of a whole, belong to images; or nothing of that whole any more */
void keel_mpi_arena_expose(uint64_t offset, size_t bytes, uint64_t id, uint64_t at);
void keel_mpi_arena_hide(uint64_t id);
/* what of it does, behind @a last (NULL: the first); NULL: no more */
const keel_mpi_exposed_t *keel_mpi_arena_exposed(uint64_t id, const keel_mpi_exposed_t *last);

/* what belongs to an image now, ascending and apart; allocated. NULL: no memory. */
keel_extent_t *keel_mpi_arena_extents(unsigned *count_p);

/* accesses, ended by the job's end where they fail */
void keel_mpi_put(uint32_t rank, uint64_t offset, const void *data, size_t bytes, const char *call);
void keel_mpi_get(uint32_t rank, uint64_t offset, void *data, size_t bytes, const char *call);
/* of several blocks */
void keel_mpi_get_list(uint32_t rank, const keel_block_t *blocks, size_t count, const char *call);
/* a get of which the caller tells the record what the program is given */
void keel_mpi_get_unrecorded(uint32_t rank, uint64_t offset, void *data, size_t bytes, const char *call);
/* a get that the program may go on by, in a program whose deaths may be recovered alone; and one of which the caller tells the record */
void keel_mpi_poll(uint32_t rank, uint64_t offset, void *data, size_t bytes, const char *call);
void keel_mpi_poll_unrecorded(uint32_t rank, uint64_t offset, void *data, size_t bytes, const char *call);
/* complete at the next flush, or earlier */
void keel_mpi_get_nb(uint32_t rank, uint64_t offset, void *data, size_t bytes, const char *call);
/* @a result NULL: posted */
void keel_mpi_atomic(keel_atomic_op_t op, uint32_t rank, uint64_t offset, size_t size, uint64_t operand,
                     uint64_t compare, void *result, const char *call);
/* an accumulate of so many aligned elements (keel_accumulate()); @a result NULL: posted */
void keel_mpi_accumulate_remote(keel_op_t op, keel_type_t type, uint32_t rank, uint64_t offset, const void *data,
                                size_t count, void *result, const char *call);
void keel_mpi_flush(uint32_t rank, const char *call);
void keel_mpi_flush_all(const char *call);
void keel_mpi_fence(const char *call);

#endif
