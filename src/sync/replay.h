/*
 * What others did to a replacement's memory in a phase, as they sent it: cut into pieces that each bear a number, and replayed
 * in the order of these numbers; pieces of one number and source as they came. Records that say a number begin a piece.
 */
#ifndef KEEL_SYNC_REPLAY_H_
#define KEEL_SYNC_REPLAY_H_

#include "peer/peer.h"

typedef struct keel_replay_piece {
    uint64_t number; /* 0: before any record of the source that says one */
    uint32_t order;  /* as received */
    const uint8_t *records;
    size_t length;
} keel_replay_piece_t;

typedef struct keel_replay_chunk keel_replay_chunk_t;

typedef struct keel_replay {
    keel_replay_piece_t *pieces;
    uint32_t count, capacity;
    uint32_t next;               /* the first that is not replayed */
    keel_replay_chunk_t *chunks; /* messages that the pieces lie in */
    uint64_t *current;           /* by source: number of the piece whose records come */
    uint32_t *records;           /* by source: records so far */
    uint64_t replayed;           /* records applied, ever */
    int has_changes;             /* of the pieces: some records have by how much they changed words */
} keel_replay_t;

keel_status_t keel_replay_init(keel_replay_t *replay, uint32_t ranks);
void keel_replay_release(keel_replay_t *replay);
void keel_replay_forget(keel_replay_t *replay);
/* all of a source has come: what comes of it later is counted and numbered anew */
void keel_replay_end_source(keel_replay_t *replay, uint32_t source);
/* keeps a copy of records of @a source; those of kind @a op, with a payload of 8 bytes, say the number of what follows */
keel_status_t keel_replay_add(keel_replay_t *replay, uint32_t source, keel_record_op_t op, const void *records,
                              size_t length);
/* puts what is not replayed yet in order */
void keel_replay_sort(keel_replay_t *replay);
/* whether these bytes of own memory are among what such records changed, replayed or not */
int keel_replay_changes(const keel_replay_t *replay, keel_lane_t *lane, const void *bytes, size_t size);
/* whether they are among what is not replayed yet */
int keel_replay_is_to_write(const keel_replay_t *replay, keel_lane_t *lane, const void *bytes, size_t size);
/* applies the next piece; there is one */
keel_status_t keel_replay_next(keel_replay_t *replay, keel_lane_t *lane);

#endif
