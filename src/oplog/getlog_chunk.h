/* LG as it lies in memory: claiming, writing, walking and freeing chunks. Works on own memory and on a mapped peer's. */
#ifndef KEEL_OPLOG_GETLOG_CHUNK_H_
#define KEEL_OPLOG_GETLOG_CHUNK_H_

#include "oplog/get_log.h"

/* bytes of a chunk for a region of @a size bytes, the same for everybody; 0 when the region is too small */
uint32_t keel_getlog_chunk_size(size_t size);
/* at least @a need bytes, in the writer's chunk or in another one; 0 when no chunk is free */
int keel_getlog_open(void *arena, size_t size, uint32_t chunk_size, keel_getlog_writer_t *writer, uint32_t source,
                     size_t need, keel_getlog_place_t *place);
/* complete records were written there, @a length bytes, the last one of @a last_phase */
void keel_getlog_publish(const keel_getlog_place_t *place, uint32_t length, uint32_t last_phase);
/* opens for one record and writes its head; its data goes to where this points, then it is published. NULL: there is no room */
void *keel_getlog_begin(void *arena, size_t size, uint32_t chunk_size, keel_getlog_writer_t *writer, uint32_t source,
                        const keel_get_record_t *record, keel_getlog_place_t *place);
void keel_getlog_end(const keel_getlog_place_t *place, const keel_get_record_t *record);
/* where in a log of such chunks the records of one, after so many bytes of them, and its word of how far they go lie; and what that word says */
static inline uint64_t keel_getlog_record_offset(uint32_t chunk_size, uint32_t chunk, uint32_t used)
{
    return (uint64_t)chunk * chunk_size + sizeof(keel_getlog_chunk_t) + used;
}
static inline uint64_t keel_getlog_word_offset(uint32_t chunk_size, uint32_t chunk)
{
    return (uint64_t)chunk * chunk_size + offsetof(keel_getlog_chunk_t, used);
}
static inline uint64_t keel_getlog_word(uint32_t used, uint32_t last_phase)
{
    return (uint64_t)last_phase << 32 | used;
}
/* all of it, with the data; 0: there is no room */
int keel_getlog_write(void *arena, size_t size, uint32_t chunk_size, keel_getlog_writer_t *writer, uint32_t source,
                      const keel_get_record_t *record, const void *data);
/* the chunks of a source in order, each once, from a walk of zeroes on; NULL at the end. Numbers come round: those of one source
 * are as close together as there are chunks. */
typedef struct keel_getlog_walk {
    uint32_t count; /* of chunks so far */
    uint32_t next;  /* after them: one past the highest number */
} keel_getlog_walk_t;
const keel_getlog_chunk_t *keel_getlog_next(const void *arena, size_t size, uint32_t chunk_size, uint32_t source,
                                            keel_getlog_walk_t *walk);
void keel_getlog_close(void *arena, size_t size, uint32_t chunk_size, uint32_t source, keel_getlog_writer_t *writer);
#define KEEL_GETLOG_ANY UINT32_MAX
/* frees closed chunks of @a source, or of any, that have nothing of @a phase or later */
void keel_getlog_trim(void *arena, size_t size, uint32_t chunk_size, uint32_t source, uint32_t phase);
/*
 * One of so many chunks, from the @a first on, is looked at: whether @a percent of these are taken, or there are none. When so much
 * of all is taken, that holds for one @a first at least.
 */
#define KEEL_GETLOG_SAMPLES 8u
int keel_getlog_may_be_filled(const void *arena, size_t size, uint32_t chunk_size, uint32_t first, unsigned percent);
/* chunks that are taken, and whose are most of them; @a counts has room for @a sources numbers */
uint32_t keel_getlog_largest(const void *arena, size_t size, uint32_t chunk_size, uint32_t *counts, uint32_t sources,
                             uint32_t *largest_p);
/* somebody's last record is one of that phase */
int keel_getlog_has_phase(const void *arena, size_t size, uint32_t chunk_size, uint32_t phase);
/* The lowest phase of any record; KEEL_PHASE_NONE if there is none. */
uint32_t keel_getlog_first_phase(const void *arena, size_t size, uint32_t chunk_size);
/* somebody has recorded something of that phase here, and nothing of a later one */
int keel_get_log_has_phase(const keel_get_log_t *log, uint32_t phase);
/* The lowest phase of what others have recorded here; KEEL_PHASE_NONE if there is nothing. */
uint32_t keel_get_log_first_phase(const keel_get_log_t *log);
/* frees everything */
void keel_getlog_reset(void *arena, size_t size, uint32_t chunk_size);

#endif
