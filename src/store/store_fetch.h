/*
 * Brings bytes of one version from the ranks that hold copies, one-sided, a few reads ahead
 * (ckpt/gather), and checks them.
 *
 * Safety. Each read has the mark, then the bytes, then the label again, in this order. The bytes
 * count if the label is the wanted one at both ends and the sums of the mark fit (store_state.h).
 */
#ifndef KEEL_STORE_STORE_FETCH_H_
#define KEEL_STORE_STORE_FETCH_H_

#include "store/store_state.h"

#define KEEL_STORE_READ_MAX 65536u /* bytes of a read, at most */

typedef struct keel_store_want {
    uint64_t range;
    uint32_t begin, end; /* wanted bytes of the range: within one chunk of whole leaves */
    uint32_t tried;      /* a bit for each copy that cannot be used */
    uint32_t unread;     /* bits of tried: the read failed, so the copy may be there */
    uint32_t part;       /* for the caller's use */
    uint8_t *to;
} keel_store_want_t;

struct keel_store_fetch {
    keel_store_h store;
    keel_gather_t *gather;
    uint32_t slot;
    uint64_t label;
    /* of a refill: not from the own copy, into memory of the window, and ranges may be shorter than
     * the wants */
    int is_refill;
    keel_store_mark_t *mark; /* of the bytes that came last */
    size_t room, count, begun, done;
    keel_store_want_t wants[];
};

/* Room for @a room wants. */
keel_status_t keel_store_fetch_create(keel_store_h store, size_t room, keel_store_fetch_t **fetch_p);
void keel_store_fetch_free(keel_store_fetch_t *fetch); /* NULL: no effect */
/* Begins with the wants of the caller. */
void keel_store_fetch_begin(keel_store_fetch_t *fetch, uint32_t slot, uint64_t label, size_t count);
/*
 * Does what is possible now. KEEL_OK: all wants are done. KEEL_INPROGRESS: reads are under way.
 * KEEL_ERR_UNREACHABLE: no copy of wants[done] that was not tried can be read at present.
 * KEEL_ERR_RANGE: wants[done] goes beyond the bytes that its rank submitted. KEEL_ERR_NO_MEMORY.
 */
keel_status_t keel_store_fetch_step(keel_store_fetch_t *fetch);
/* Leaves wants[done] without bytes, and goes on. */
void keel_store_fetch_skip(keel_store_fetch_t *fetch);
/* True if all copies of wants[done] that @a fetch may read were read, and none can be used. */
int keel_store_fetch_is_nowhere(const keel_store_fetch_t *fetch);
/* Makes all copies of wants[done] possible again. */
void keel_store_fetch_retry(keel_store_fetch_t *fetch);
/* True if memory of the holder can be read now. */
int keel_store_is_readable(const struct keel_store *store, uint32_t holder);

#endif
