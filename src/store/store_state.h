/*
 * A store: a window of its own at each rank, which belongs to images only with its head.
 *
 *     head | version slot 0: cells | version slot 1: cells | ...
 *     cell: mark (label, total, sums) | bytes of a range
 *
 * Safety. The label names a version and says that the rest of the cell is that version's: it is
 * cleared before the cell changes, and set after. No label returns, also not after a rollback. A
 * reader takes bytes only if the label is the wanted one before and after, and the sums fit. So a
 * reader needs no agreement with a holder, a new process has no labels before the bytes, and a
 * rank in re-execution never takes a newer version for the wanted one.
 *
 * The head is state of the program: an image has it, so a restored rank knows the versions of its
 * position. All ranks compute the same heads at the same position.
 */
#ifndef KEEL_STORE_STORE_STATE_H_
#define KEEL_STORE_STORE_STATE_H_

#include "engine/context.h"
#include "store/store_place.h"

#include <keel/store.h>

#define KEEL_STORE_SLOTS_MAX  3u
#define KEEL_STORE_HEAD_BYTES 4096u
/* bytes with a sum of their own: the least that a load reads and checks */
#define KEEL_STORE_LEAF        2048u
#define KEEL_STORE_RANGE_MAX   (1u << 20)
#define KEEL_STORE_PARAM_WORDS 8u
#define KEEL_STORE_PUSHES      8u /* messages of a submit outstanding */

/* Start of the own window. */
typedef struct keel_store_head {
    uint64_t label[KEEL_STORE_SLOTS_MAX]; /* version of each slot; 0: none */
    uint32_t at[KEEL_STORE_SLOTS_MAX];    /* the gsync that committed it */
    uint32_t newest;                      /* 1 + slot of the newest version; 0: none */
    uint32_t next;                        /* 1 + slot of the next submit; 0: the first slot */
    uint32_t submits;                     /* submits until here */
    uint64_t total;                       /* own bytes in the newest version */
    uint64_t reserved;
    /* From here on not in images, and read by other ranks. For each slot the label of the version
     * if the rank has all cells that any rank has (keel_store_complete_word()). */
    uint64_t complete[KEEL_STORE_SLOTS_MAX];
    /* the parameters of the store here; the last word is 1 as soon as the others are set */
    uint64_t params[KEEL_STORE_PARAM_WORDS];
} keel_store_head_t;

#define KEEL_STORE_HEAD_SAVED offsetof(keel_store_head_t, complete)

/* Start of a cell. */
typedef struct keel_store_mark {
    uint64_t label;
    uint64_t kept;  /* label of an update that keeps the range of the version before */
    uint64_t total; /* bytes that the rank of the range submitted */
    uint64_t range;
    uint32_t sum; /* of total, range and sums */
    uint32_t reserved;
    uint32_t sums[]; /* of each leaf of the range, as far as it has bytes */
} keel_store_mark_t;

/* The bytes of a mark behind its two labels. */
static inline void *keel_store_mark_rest(keel_store_mark_t *mark)
{
    return (uint8_t *)mark + offsetof(keel_store_mark_t, total);
}

typedef struct keel_store_fetch keel_store_fetch_t;

/* Restores missing cells of one version (store_refill). */
typedef struct keel_store_refill {
    int is_active;
    uint32_t slot;
    uint64_t label;
    uint64_t cell;             /* the next one to be looked at */
    int is_fetching;           /* that cell is being fetched */
    uint64_t lacking;          /* cells that no rank has */
    keel_store_fetch_t *fetch; /* NULL: nothing was lacking yet */
} keel_store_refill_t;

struct keel_store {
    keel_context_h ctx;
    keel_win_h win;
    ucs_list_link_t list; /* of all stores of the context */
    keel_store_place_t place;
    uint64_t bytes, block_bytes, range_bytes;
    uint32_t slots;
    /* gone ranks without blocks in the version of each slot. Not in the head: no replacement comes
     * to a job with gone ranks. */
    uint32_t without[KEEL_STORE_SLOTS_MAX];
    size_t mark_bytes; /* distance of the bytes of a cell from its start */
    size_t chunk;      /* most bytes of a read: whole leaves */
    /* room for a range of blocks of different sizes; NULL: blocks have one size */
    uint8_t *scratch;
    keel_store_mark_t *mark; /* room for a mark */
    /* for each copy of each own range 1 + incarnation of the holder; 0: not pushed */
    uint32_t *pushed;
    struct keel_store_pipe *pipe; /* messages of pushes; NULL: none was sent */
    /* goes on while the rank waits in a submit; NULL: none */
    struct keel_store_push *pushing;
    int is_agreed; /* the next rank has the same parameters */
    /* from the arrival at the second gsync of a submit to the commit: no refill in waits */
    int is_submitting;
    ucs_list_link_t pending; /* loads that go on while their callers do not wait */
    unsigned loads;          /* threads in loads, and pending loads */
    int is_submit_called;    /* a thread is in a submit: none begins a load */
    /* 1 + number of the rollback in which the rank is in keel_store_free(): no refill then; 0: in
     * none. A rollback may leave the call by a jump, so its number ends the flag. */
    uint64_t freeing;
    keel_store_refill_t refill;
};

static inline keel_store_head_t *keel_store_head(const struct keel_store *store)
{
    return (keel_store_head_t *)store->win->base;
}
/* Cells of the copies that are placed here; as many copies has the own data. */
static inline uint64_t keel_store_cells(const struct keel_store *store)
{
    return keel_store_place_cells(&store->place);
}
/* Cells of a slot, with the spare ones. */
static inline uint64_t keel_store_slot_cells(const struct keel_store *store)
{
    return keel_store_place_cells(&store->place) + store->place.params.spare;
}
static inline uint64_t keel_store_cell_bytes(const struct keel_store *store)
{
    return store->mark_bytes + store->range_bytes;
}
/* Offset of a cell in the window of its holder. */
static inline uint64_t keel_store_cell_offset(const struct keel_store *store, uint32_t slot, uint64_t index)
{
    return KEEL_STORE_HEAD_BYTES + (slot * keel_store_slot_cells(store) + index) * keel_store_cell_bytes(store);
}
static inline keel_store_mark_t *keel_store_own_mark(const struct keel_store *store, uint32_t slot, uint64_t index)
{
    return (keel_store_mark_t *)(void *)((char *)store->win->base + keel_store_cell_offset(store, slot, index));
}
/* Bytes that a range has if its rank submitted @a total bytes. */
static inline uint64_t keel_store_range_valid(const struct keel_store *store, uint64_t range, uint64_t total)
{
    const uint64_t begin = range % store->place.params.ranges * store->range_bytes;

    return (total <= begin) ? 0 : (total - begin < store->range_bytes) ? total - begin : store->range_bytes;
}
/* True if the rank was gone at the submit of the version in the slot. */
static inline int keel_store_is_without(const struct keel_store *store, uint32_t slot, uint32_t rank)
{
    return keel_store_place_is_gone(&store->place, rank) && store->place.next.turn[rank] <= store->without[slot];
}
/* What a holder sets in head->complete if the rank has all cells of the version that any rank has.
 * Next holders get further cells, so the word depends on the gone ranks. */
static inline uint64_t keel_store_complete_word(const struct keel_store *store, uint64_t label)
{
    return (store->place.next.gone == 0) ? label : label ^ keel_permute_mix(store->place.next.gone);
}
/* Sum of a mark for its own check. */
uint32_t keel_store_mark_sum(const struct keel_store *store, const keel_store_mark_t *mark);
/* KEEL_OK if calls may use the store now. */
keel_status_t keel_store_check(keel_store_h store, const char *call);
/* Begins a load, which keel_store_end_load() ends after KEEL_OK. */
keel_status_t keel_store_begin_load(keel_store_h store, const char *call);
void keel_store_end_load(keel_store_h store);
/* Waits until no load has begun that is not complete. */
keel_status_t keel_store_await_loads(const struct keel_store *store);

/* Reports that the call is for another kind of blocks; returns KEEL_ERR_UNSUPPORTED. */
keel_status_t keel_store_refuse_size(keel_store_h store, const char *call);

#endif
