/*
 * What others have to know of this process, should it die: in which phase it fetched last, which classes of atomics it uses, that
 * it mixes ways to synchronise, that it has begun; and what is known here of others' (peer/board.h has the words).
 *
 * Nobody is told of it for its own sake. Who goes on by something that this process did after a change of what it uses was touched by it,
 * or by somebody that was, or is behind an arrival of it. So whom it accesses is told first, once a change, and arrivals say it; and who fetches
 * from it learns what it does to its own memory, which touches nobody. If none that live know, none of them has anything of it, and its
 * replacement may do otherwise.
 */
#ifndef KEEL_SYNC_ATOMICS_H_
#define KEEL_SYNC_ATOMICS_H_

#include "peer/peer.h"

typedef struct keel_atomics {
    keel_kinds_t kinds; /* of this process */
    uint64_t version;   /* of them: grows with each change */
    uint64_t *told;     /* by rank: the one that it knows */
    int is_news;        /* and that was so in this phase */
    uint32_t
        heard; /* 1 + the last phase of which others had news in their arrivals: it may hand on what it has of that */
    uint32_t before;   /* 1 + the last phase in which the predecessor issued an atomic, as the decision says */
    uint32_t *decided; /* by rank: classes that decisions have named */
} keel_atomics_t;

struct keel_sync;

keel_status_t keel_atomics_init(keel_atomics_t *atomics, uint32_t ranks);
void keel_atomics_release(keel_atomics_t *atomics);
/* rollback: nobody has issued any; that the program mixes stays */
void keel_atomics_reset(struct keel_sync *sync);

/* This process is about to fetch in this phase, @a is_own: what nobody could tell if it died; or to use classes, or the like. True when
 * that is new: nobody knows it then but by its arrivals to come. */
int keel_atomics_mark(struct keel_sync *sync, int is_own);
int keel_atomics_use(struct keel_sync *sync, uint32_t classes);
/* the first time, likewise new: to access anything, in a program that is not deterministic; to wait for what others put */
void keel_atomics_begin(struct keel_sync *sync);
void keel_atomics_wait(struct keel_sync *sync);
/* what the arrival says of it; and what those of all others said, at the beginning of the next phase: true when that is to be told */
int keel_atomics_has_news(struct keel_sync *sync);
int keel_atomics_hear(struct keel_sync *sync, int has_news);
/* it accesses without locks: known to whom it accesses first */
void keel_atomics_access_bare(struct keel_sync *sync);

/* all of it, what the predecessor was included, to @a rank; a replacement is told before what it is handed */
keel_status_t keel_atomics_tell(struct keel_sync *sync, uint32_t rank);
/* @a rank knows what there is to know; it died, and its replacement does not */
void keel_atomics_say_told(struct keel_sync *sync, uint32_t rank);
void keel_atomics_forget(struct keel_sync *sync, uint32_t rank);
static inline int keel_atomics_are_told(const keel_atomics_t *atomics, uint32_t rank)
{
    return atomics->told[rank] == atomics->version;
}
/* in this phase */
int keel_atomics_has_fetched(const struct keel_sync *sync);
/* decisions: what this process's predecessor did, and what classes a rank uses */
void keel_atomics_adopt_before(struct keel_sync *sync, uint32_t before);
void keel_atomics_adopt_classes(struct keel_sync *sync, uint32_t rank, uint32_t classes);
/* classes that @a rank has used, as far as is known here */
uint32_t keel_atomics_classes(const struct keel_sync *sync, uint32_t rank);
/* those of all at @a rank, an atomic @a op to come included */
uint32_t keel_atomics_classes_at(const struct keel_sync *sync, uint32_t rank, unsigned op);

#endif
