/*
 * The usage of this rank (peer/usage.h), and to which ranks it is announced; the usage of other
 * ranks as known here.
 *
 * A peer can act on effects of this rank under a new usage only after an access by this rank to the
 * peer, after a chain of such accesses, or behind an arrival of this rank. So usage is announced to
 * a rank before the first access after a change, and to all ranks by arrivals. A peer that fetches
 * from this rank learns with the value the classes of atomics done to own memory, for these access
 * no rank. If no live rank knows a usage, no live rank depends on effects under it, and the
 * replacement may do otherwise.
 */
#ifndef KEEL_SYNC_ANNOUNCED_H_
#define KEEL_SYNC_ANNOUNCED_H_

#include "peer/peer.h"

typedef struct keel_announced {
    keel_usage_t own; /* of this rank, in this life */
    /* of other ranks, from arrivals that some peers may not have seen; announced as the own one */
    keel_usage_t passed_on;
    /* last phase + 1 with an atomic of the predecessor, by the decision; announced as a fetch */
    uint32_t before;
    uint64_t version;  /* grows with each change of own or passed_on */
    uint64_t *known;   /* by rank: the version known there */
    int is_news;       /* own has changed in this phase */
    uint32_t *decided; /* by rank: classes named by decisions */
} keel_announced_t;

struct keel_sync;

keel_status_t keel_announced_init(keel_announced_t *announced, uint32_t ranks);
void keel_announced_release(keel_announced_t *announced);
/* Rollback: forgets every usage, except for KEEL_CLASS_MIXES. */
void keel_announced_reset(struct keel_sync *sync);

/* Call after a change of the own usage (keel_usage_merge()): no rank knows the new one. */
void keel_announced_change(struct keel_sync *sync);
/* Adds KEEL_CLASS_BARE without a new version: the caller announces to the rank accessed first. */
void keel_announced_add_bare(struct keel_sync *sync);
/* True if own has changed in the ending phase, for the arrival. Clears the mark. */
int keel_announced_take_news(struct keel_sync *sync);
/*
 * Call at the beginning of a phase. @a has_news: the arrival of another rank had news. Returns 1 if
 * this rank must announce again.
 *
 * A rank may die after only some peers saw the arrival. A peer that saw the arrival may act on
 * effects under the new usage, so the peer announces a fetch of the past phase, as an own one, to
 * every rank before the next access.
 */
int keel_announced_pass_on(struct keel_sync *sync, int has_news);

/*
 * Announces to @a rank the own usage and the usage passed on; to a replacement before anything is
 * handed over.
 */
keel_status_t keel_announced_send(struct keel_sync *sync, uint32_t rank);
/* @a rank knows the current version. */
void keel_announced_set_known(struct keel_sync *sync, uint32_t rank);
/* @a rank has died; the replacement knows nothing. */
void keel_announced_forget(struct keel_sync *sync, uint32_t rank);
static inline int keel_announced_is_known(const keel_announced_t *announced, uint32_t rank)
{
    return announced->known[rank] == announced->version;
}
/* This rank has fetched in this phase. */
int keel_announced_has_fetched(const struct keel_sync *sync);
/* Replacement: sets `before`. */
void keel_announced_adopt_before(struct keel_sync *sync, uint32_t before);
/* Adds classes that a decision names for @a rank. */
void keel_announced_adopt_classes(struct keel_sync *sync, uint32_t rank, uint32_t classes);
/* All classes known to be used by @a rank. */
uint32_t keel_announced_classes(const struct keel_sync *sync, uint32_t rank);
/* Classes of all atomics towards @a rank, including a coming one of class @a op. */
uint32_t keel_announced_classes_at(const struct keel_sync *sync, uint32_t rank, unsigned op);

#endif
