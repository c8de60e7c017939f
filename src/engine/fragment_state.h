/* A fragment: a pending get, or the pending fetching part of an atomic, and the operations of rooms
 * above on fragments (access/fragment has the functions). */
#ifndef KEEL_ENGINE_FRAGMENT_STATE_H_
#define KEEL_ENGINE_FRAGMENT_STATE_H_

#include "wire/record.h"

#include <keel/keel.h>

#include <ucs/datastruct/list.h>

/* Destinations of a get of blocks, in the caller's memory. */
typedef struct keel_gather {
    const keel_block_t *list;    /* NULL: .blocks and .buffer describe them */
    const keel_blocks_t *blocks; /* used without a list */
    char *buffer;
    size_t count;
} keel_gather_t;

static inline keel_block_t keel_gather_block(const keel_gather_t *gather, size_t i)
{
    const keel_blocks_t *blocks = gather->blocks;

    return (gather->list != NULL) ? gather->list[i]
                                  : (keel_block_t){.offset = blocks->offset + i * blocks->stride,
                                                   .length = blocks->length,
                                                   .buffer = gather->buffer + i * blocks->buffer_stride};
}

/* A get, or the fetching part of an atomic, under way; at most one message long. */
typedef struct keel_fragment {
    /* in context->fragments.deferred while the target is not live */
    ucs_list_link_t list;
    keel_context_h ctx;
    uint32_t rank, index, length;
    uint64_t where;
    keel_get_record_t *record;   /* own copy of the record, to be completed; or NULL */
    const keel_record_t *atomic; /* record of the atomic in the put log; NULL: a get */
    /* the same record, if it can take the fetched value */
    keel_record_t *logged;
    void *buffer;
    struct keel_req *req;
    /* NULL: the record holds just the data read. Otherwise these functions use the rest of the
     * record, and the buffer belongs to the fragment. */
    const struct keel_fragment_ops *ops;
    uint32_t polled; /* bytes read by a poll */
    void *to;
    /* NULL: no get of blocks, or its blocks are filled */
    const keel_gather_t *gather;
    size_t first, blocks; /* range of blocks of the gather */
} keel_fragment_t;

/* Functions of fragments with more in their record than the data read: polls, blocks. */
typedef struct keel_fragment_ops {
    /* The target is mapped: do the read. */
    void (*stored)(keel_fragment_t *fragment, const char *from);
    /* Send the request. */
    keel_status_t (*send)(keel_fragment_t *fragment, const keel_get_record_t *record);
    /* The read is complete. A request was sent if the fragment has a buffer or a record. */
    void (*answered)(keel_fragment_t *fragment);
} keel_fragment_ops_t;

/* rma/get_own: a get of checked blocks from the own rank. */
typedef keel_status_t (*keel_get_own_t)(keel_win_h win, const keel_gather_t *gather);

/* Polls (rma/poll). */
typedef struct keel_poll_ops {
    /* Issues a checked and admitted get as a poll, in the name of @a call. */
    keel_status_t (*issue)(keel_win_h win, uint32_t rank, uint64_t offset, void *buffer, size_t length,
                           const char *call, struct keel_req *req);
} keel_poll_ops_t;

#endif
