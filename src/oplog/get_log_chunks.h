/* Layout of LG in memory: claims, writes, walks and frees chunks. Works on own memory and on the
 * mapped memory of a peer. */
#ifndef KEEL_OPLOG_GET_LOG_CHUNKS_H_
#define KEEL_OPLOG_GET_LOG_CHUNKS_H_

#include "oplog/get_log.h"

/* Bytes of a chunk for a region of @a size bytes, computed alike by every process. 0 if the
 * region is too small. */
uint32_t keel_get_chunk_size(size_t size);
/* finds room for @a need bytes in the writer's chunk or in a new one; 0 if no chunk is free */
int keel_get_chunks_open(void *arena, size_t size, uint32_t chunk_size, keel_get_chunks_writer_t *writer,
                         uint32_t source, size_t need, keel_get_chunk_place_t *place);
/* publishes complete records of @a length bytes written at @a place, the last one of phase @a
 * last_phase */
void keel_get_chunks_publish(const keel_get_chunk_place_t *place, uint32_t length, uint32_t last_phase);
/* Finds room for one record and writes its head. Write the data to the returned address, then
 * call keel_get_chunks_end(). NULL: no room. */
void *keel_get_chunks_begin(void *arena, size_t size, uint32_t chunk_size, keel_get_chunks_writer_t *writer,
                            uint32_t source, const keel_get_record_t *record, keel_get_chunk_place_t *place);
void keel_get_chunks_end(const keel_get_chunk_place_t *place, const keel_get_record_t *record);
/* offset in the log of a record that follows @a used bytes of records in @a chunk */
static inline uint64_t keel_get_chunk_record_offset(uint32_t chunk_size, uint32_t chunk, uint32_t used)
{
    return (uint64_t)chunk * chunk_size + sizeof(keel_get_chunk_t) + used;
}
/* offset in the log of the word that ends the records of @a chunk, see keel_get_chunk_word() */
static inline uint64_t keel_get_chunk_word_offset(uint32_t chunk_size, uint32_t chunk)
{
    return (uint64_t)chunk * chunk_size + offsetof(keel_get_chunk_t, used);
}
/* word of a chunk that publishes @a used bytes of records, the last one of phase @a last_phase */
static inline uint64_t keel_get_chunk_word(uint32_t used, uint32_t last_phase)
{
    return (uint64_t)last_phase << 32 | used;
}
/* writes a record with its data; 0: no room */
int keel_get_chunks_write(void *arena, size_t size, uint32_t chunk_size, keel_get_chunks_writer_t *writer,
                          uint32_t source, const keel_get_record_t *record, const void *data);
/* Walks over the chunks of a source in order, each once, beginning with a zero walk; NULL at the
 * end. Numbers wrap around: the numbers of one source differ by less than the count of chunks. */
typedef struct keel_get_chunks_walk {
    uint32_t count; /* chunks visited */
    uint32_t next;  /* one past the highest visited number */
} keel_get_chunks_walk_t;
const keel_get_chunk_t *keel_get_chunks_next(const void *arena, size_t size, uint32_t chunk_size, uint32_t source,
                                             keel_get_chunks_walk_t *walk);
void keel_get_chunks_close(void *arena, size_t size, uint32_t chunk_size, uint32_t source,
                           keel_get_chunks_writer_t *writer);
#define KEEL_GET_CHUNKS_ANY_SOURCE UINT32_MAX
/* frees closed chunks of @a source, or of all sources, without records of @a phase or later */
void keel_get_chunks_trim(void *arena, size_t size, uint32_t chunk_size, uint32_t source, uint32_t phase);
/*
 * Looks at every KEEL_GET_CHUNKS_SAMPLES-th chunk, beginning at @a first. Returns 1 if at least @a
 * percent of these are taken, or there are none. If @a percent of all chunks are taken, at least
 * one value of @a first yields 1.
 */
#define KEEL_GET_CHUNKS_SAMPLES 8u
int keel_get_chunks_may_be_filled(const void *arena, size_t size, uint32_t chunk_size, uint32_t first,
                                  unsigned percent);
/* Returns the number of taken chunks. *largest_p is the source with most of them; @a counts has
 * room for @a sources numbers. */
uint32_t keel_get_chunks_largest(const void *arena, size_t size, uint32_t chunk_size, uint32_t *counts,
                                 uint32_t sources, uint32_t *largest_p);
/* does any source's newest record belong to @a phase? */
int keel_get_chunks_has_phase(const void *arena, size_t size, uint32_t chunk_size, uint32_t phase);
/* Lowest phase of any record; KEEL_PHASE_NONE if there is none. */
uint32_t keel_get_chunks_first_phase(const void *arena, size_t size, uint32_t chunk_size);
/* has any source's newest record here the phase @a phase? */
int keel_get_log_has_phase(const keel_get_log_t *log, uint32_t phase);
/* Lowest phase of the records of other ranks here; KEEL_PHASE_NONE if there are none. */
uint32_t keel_get_log_first_phase(const keel_get_log_t *log);
/* frees all chunks */
void keel_get_chunks_reset(void *arena, size_t size, uint32_t chunk_size);

#endif
