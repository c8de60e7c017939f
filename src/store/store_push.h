/*
 * Pushes ranges to the cells of their holders: by stores to mapped memory, else by messages without
 * a log, several outstanding. Each process of a holder gets each range once, also if the process
 * comes while this rank waits in a gsync.
 */
#ifndef KEEL_STORE_STORE_PUSH_H_
#define KEEL_STORE_STORE_PUSH_H_

#include "store/store_state.h"

/* Zeroed except for the fields up to slot. */
typedef struct keel_store_push {
    keel_store_h store;
    const uint8_t *data;              /* of the own rank; NULL: in blocks */
    const keel_store_block_t *blocks; /* blocks of different sizes */
    const keel_store_part_t *parts;   /* of an update */
    int is_update;
    uint64_t count;
    uint64_t total; /* bytes of the data */
    uint64_t label;
    uint32_t slot;
    uint64_t entry;   /* next copy of an own range: range * copies + copy */
    uint64_t stage;   /* next message of that copy */
    uint32_t life;    /* of the holder that has the messages before: another one has none of them */
    uint64_t summed;  /* 1 + the own range of the mark in store->mark; 0: none */
    uint64_t changes; /* lane->changes when the present pass over all copies began */
    uint64_t moves;   /* copies and messages pushed */
    /* of an update: the bytes of each own range, NULL: kept; and memory for some of them */
    const uint8_t **ranges;
    uint8_t **rooms;
} keel_store_push_t;

/* Forgets which processes have ranges: before the first step of a submit. */
void keel_store_push_begin(keel_store_push_t *push);
/* Pushes the next copy, or what fits in the pipeline. KEEL_OK: all holders known to be live have
 * all; KEEL_INPROGRESS; KEEL_ERR_INVALID_PARAM: a holder made the store with other parameters. */
keel_status_t keel_store_push_step(keel_store_push_t *push);
void keel_store_pipe_free(struct keel_store_pipe *pipe); /* NULL: no effect */
/* Steps until all have all. Waits for holders that are not live. */
keel_status_t keel_store_push_all(keel_store_push_t *push);

#endif
