/* Spares, and who takes whose place when no launcher starts replacements (pmix_spare.c). */
#ifndef KEEL_RUNTIME_PMIX_SPARE_H_
#define KEEL_RUNTIME_PMIX_SPARE_H_

#include <runtime.h>

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

typedef struct keel_runtime_pmix keel_runtime_pmix_t;

#define KEEL_PMIX_NO_RANK UINT32_MAX

/* a process of the launcher that waits, or has waited */
typedef struct keel_pmix_spare {
    atomic_uint rank;        /* of the job, that it took; KEEL_PMIX_NO_RANK: it waits */
    atomic_uint incarnation; /* of that rank; written before it */
    atomic_int is_dead;
} keel_pmix_spare_t;

/* a rank of the job, as the thread inside Keel knows it */
typedef struct keel_pmix_life {
    uint32_t next; /* the incarnation that is there, or that is awaited */
    uint8_t is_absent;
    uint64_t since_ns, looked_ns; /* since when it is absent; when it was last looked for a spare to take it */
    unsigned asked;               /* how often this spare was, */
    uint32_t spare;               /* when they are spawned: which */
} keel_pmix_life_t;

typedef struct keel_pmix_spares {
    uint32_t count;
    keel_pmix_spare_t *spare;
    keel_pmix_life_t *lives;        /* by rank */
    uint32_t absent;                /* ranks that are */
    int is_over;                    /* somebody left, or the last gsync was: nobody is replaced any more */
    int is_finished;                /* the latter, for certain */
    int does_spawn;                 /* they do not wait: each is started when it is called (pmix_spawn.c) */
    atomic_int is_refused;          /* the launcher could not start one */
    keel_spare_order_cb_t order_cb; /* NULL: by number */
    void *order_arg;
    uint32_t *order; /* of one rank: scratch */
    /* of a spare itself */
    sem_t called;
    atomic_uint called_rank, called_incarnation; /* the rank is written last */
    atomic_int is_dismissed;                     /* the job is over without it */
    atomic_int must_repeat;                      /* it was called again: who called has not heard that it is there */
    pthread_mutex_t lock;                        /* of what is needed */
    uint64_t need[KEEL_NEEDS_MAX];
    unsigned need_count, needs, needs_seen; /* pieces; how often it was told, and acted upon */
    void *address;                          /* what it said when it took its rank */
    size_t address_len;
} keel_pmix_spares_t;

keel_status_t keel_pmix_spares_init(keel_runtime_pmix_t *runtime, uint32_t count);
void keel_pmix_spares_release(keel_runtime_pmix_t *runtime);
/* await_rank() (pmix_waiting.c, with what PMIx's thread tells it) */
keel_status_t keel_pmix_spare_wait(keel_runtime_t *base, keel_prepare_cb_t prepare, void *arg);
/* need() */
void keel_pmix_spares_need(keel_runtime_t *base, const uint64_t *bytes, unsigned count);
/* in PMIx's thread: what was told by need() */
void keel_pmix_spare_needed(keel_runtime_pmix_t *runtime, const void *bytes, size_t length);

void keel_pmix_use_spare_order(keel_runtime_t *base, keel_spare_order_cb_t order, void *arg);

/* which of the launcher's processes an incarnation of a rank is, and the other way round; KEEL_PMIX_NO_RANK: not known, 0: it
 * waits */
uint32_t keel_pmix_holder(const keel_runtime_pmix_t *runtime, uint32_t rank, uint32_t incarnation);
int keel_pmix_held(const keel_runtime_pmix_t *runtime, uint32_t holder, uint32_t *rank_p, uint32_t *incarnation_p);

/* in PMIx's thread: a spare is called, is there, or is dead; @a holder: the launcher's process that is meant */
void keel_pmix_spare_called(keel_runtime_pmix_t *runtime, uint32_t rank, uint32_t incarnation, uint32_t holder);
void keel_pmix_spare_dismiss(keel_runtime_pmix_t *runtime);
void keel_pmix_spare_there(keel_runtime_pmix_t *runtime, uint32_t rank, uint32_t incarnation, uint32_t holder);
void keel_pmix_spare_died(keel_runtime_pmix_t *runtime, uint32_t holder);
/* in the thread inside Keel: with each event, and with each poll() */
void keel_pmix_spares_note(keel_runtime_pmix_t *runtime, const keel_event_t *event);
void keel_pmix_spares_step(keel_runtime_pmix_t *runtime);
/* finish() */
void keel_pmix_spares_finish(keel_runtime_t *base);

#endif
