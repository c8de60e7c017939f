/*
 * What others have to know of this process's atomics, should it die: in which phase it fetched last, and which classes it uses;
 * and what is known here of others' (peer/board.h has the words). A program that is not deterministic tells by the same mark that it
 * has begun.
 */
#ifndef KEEL_SYNC_ATOMICS_H_
#define KEEL_SYNC_ATOMICS_H_

#include "peer/peer.h"

typedef struct keel_atomics {
    uint32_t marked
        [2]; /* 1 + the last phase in which it fetches from others, [1]: of its own memory; whoever joins is told */
    uint32_t told[2];      /* the two, when all have been told */
    uint32_t before;       /* 1 + the last phase in which the predecessor issued an atomic, as the decision says */
    uint32_t begun;        /* 1 + the phase of its first access, in a program that is not deterministic */
    uint32_t classes;      /* of atomics that it uses (peer/board.h) */
    uint32_t classes_told; /* and of which all know that it does */
    uint32_t *decided;     /* by rank: those that decisions have named */
} keel_atomics_t;

struct keel_sync;

keel_status_t keel_atomics_init(keel_atomics_t *atomics, uint32_t ranks);
void keel_atomics_release(keel_atomics_t *atomics);
/* rollback: nobody has issued any; that the program mixes stays */
void keel_atomics_reset(struct keel_sync *sync);

/* this process is about to fetch in this phase; true when all know already, else they are to be told, and then that is said */
int keel_atomics_mark(struct keel_sync *sync, int is_own);
void keel_atomics_say_marked(struct keel_sync *sync, int is_own, uint32_t phase);
/* the same of classes */
int keel_atomics_use(struct keel_sync *sync, uint32_t classes);
void keel_atomics_say_used(struct keel_sync *sync, uint32_t classes);
/* a program that is not deterministic: its first access; who is not live yet is told before what it is handed */
void keel_atomics_begin(struct keel_sync *sync);

/* a replacement is told what its predecessor was; should this process die together with whom it fetched from, nobody else may know */
keel_status_t keel_atomics_tell(struct keel_sync *sync, uint32_t rank);
/* decisions: what this process's predecessor did, and what classes a rank uses */
void keel_atomics_adopt_before(struct keel_sync *sync, uint32_t before);
void keel_atomics_adopt_classes(struct keel_sync *sync, uint32_t rank, uint32_t classes);
/* classes that @a rank has used, as far as is known here */
uint32_t keel_atomics_classes(const struct keel_sync *sync, uint32_t rank);
/* those of all at @a rank, an atomic @a op to come included */
uint32_t keel_atomics_classes_at(const struct keel_sync *sync, uint32_t rank, unsigned op);

#endif
