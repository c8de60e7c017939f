/*
 * Effects of others on a replacement's memory in a phase, as sent by the sources: cut into chunks
 * with a number each, and replayed in the order of the numbers; chunks of equal number and source
 * in the order received. A record with a number begins a chunk.
 */
#ifndef KEEL_SYNC_REPLAY_H_
#define KEEL_SYNC_REPLAY_H_

#include "peer/peer.h"

typedef struct keel_replay_part {
    uint64_t number; /* 0: before any record with a number */
    uint32_t order;  /* as received */
    const uint8_t *records;
    size_t length;
} keel_replay_part_t;

typedef struct keel_replay_chunk keel_replay_chunk_t;

typedef struct keel_replay {
    keel_replay_part_t *pieces;
    uint32_t count, capacity;
    uint32_t next;               /* the first chunk to replay */
    keel_replay_chunk_t *chunks; /* the messages that hold the chunks */
    uint64_t *current;           /* by source: number of the current chunk */
    uint32_t *records;           /* by source: number of records received */
    uint64_t replayed;           /* total of records applied */
    int has_changes;             /* some record has the difference made to a word */
} keel_replay_t;

keel_status_t keel_replay_init(keel_replay_t *replay, uint32_t ranks);
void keel_replay_release(keel_replay_t *replay);
void keel_replay_forget(keel_replay_t *replay);
/* All records of a source are here: later ones are counted and numbered from 0 again. */
void keel_replay_end_source(keel_replay_t *replay, uint32_t source);
/*
 * Keeps a copy of records of @a source. A record of kind @a op, with a payload of 8 bytes, has the
 * number of the following records.
 */
keel_status_t keel_replay_add(keel_replay_t *replay, uint32_t source, keel_record_op_t op, const void *records,
                              size_t length);
/* Sorts the chunks not replayed yet. */
void keel_replay_sort(keel_replay_t *replay);
/* True if records with differences cover these bytes of own memory, replayed or not. */
int keel_replay_changes(const keel_replay_t *replay, keel_lane_t *lane, const void *bytes, size_t size);
/* True if records not replayed yet write these bytes of own memory. */
int keel_replay_is_to_write(const keel_replay_t *replay, keel_lane_t *lane, const void *bytes, size_t size);
/* Applies the next chunk. There must be one. */
keel_status_t keel_replay_next(keel_replay_t *replay, keel_lane_t *lane);

#endif
