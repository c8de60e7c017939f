/* Spares, and the choice of replacements if no launcher starts them (pmix_spare.c). */
#ifndef KEEL_RUNTIME_PMIX_SPARE_H_
#define KEEL_RUNTIME_PMIX_SPARE_H_

#include <runtime_ops.h>

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

typedef struct keel_runtime_pmix keel_runtime_pmix_t;

#define KEEL_PMIX_NO_RANK UINT32_MAX

/* A spare: a process of the launcher that waits, or waited, for a rank. */
typedef struct keel_pmix_spare {
    atomic_uint rank;        /* rank taken in the job; KEEL_PMIX_NO_RANK: still waiting */
    atomic_uint incarnation; /* incarnation of that rank; written before rank */
    atomic_int is_dead;
} keel_pmix_spare_t;

/* A rank of the job, in the view of the thread inside Keel. */
typedef struct keel_pmix_life {
    uint32_t next; /* the present or awaited incarnation */
    uint8_t is_absent;
    uint64_t since_ns, looked_ns; /* begin of the absence, and time of the last look for a spare */
    unsigned asked;               /* how often the spare was asked */
    uint32_t spare;               /* number of the spare, if spares are spawned */
} keel_pmix_life_t;

typedef struct keel_pmix_spares {
    uint32_t count;
    keel_pmix_spare_t *spare;
    keel_pmix_life_t *lives; /* by rank */
    uint32_t absent;         /* count of absent ranks */
    /* a rank has left, or the last gsync is over: no more replacements */
    int is_over;
    int is_finished;                /* the last gsync is certainly over */
    int does_spawn;                 /* no spare waits: each is started on its call (pmix_spawn.c) */
    atomic_int is_refused;          /* the launcher could not start a spare */
    keel_spare_order_cb_t order_cb; /* NULL: by number */
    void *order_arg;
    uint32_t *order; /* scratch: the order of one rank */
    /* ---- of a waiting spare ---- */
    sem_t called;
    atomic_uint called_rank, called_incarnation; /* the rank is written last */
    atomic_int is_dismissed;                     /* the job ended without a use for the spare */
    /* a repeated call: the caller has not received the join */
    atomic_int must_repeat;
    pthread_mutex_t lock; /* guards need to needs_seen */
    uint64_t need[KEEL_NEEDS_MAX];
    /* count of regions; number of announcements received and acted on */
    unsigned need_count, needs, needs_seen;
    void *address; /* address that the spare announced with its rank */
    size_t address_len;
} keel_pmix_spares_t;

keel_status_t keel_pmix_spares_init(keel_runtime_pmix_t *runtime, uint32_t count);
void keel_pmix_spares_release(keel_runtime_pmix_t *runtime);
/* Implements await_rank() (pmix_spare_wait.c, with the input of PMIx's thread). */
keel_status_t keel_pmix_spare_wait(keel_runtime_t *base, keel_prepare_cb_t prepare, void *arg);
/* Implements need(). */
void keel_pmix_spares_need(keel_runtime_t *base, const uint64_t *bytes, unsigned count);
/* In PMIx's thread: handles an announcement of need(). */
void keel_pmix_spare_on_need(keel_runtime_pmix_t *runtime, const void *bytes, size_t length);

void keel_pmix_use_spare_order(keel_runtime_t *base, keel_spare_order_cb_t order, void *arg);

/*
 * Translates between an incarnation of a rank and the launcher's process. KEEL_PMIX_NO_RANK: not
 * known; 0: the process waits.
 */
uint32_t keel_pmix_holder_of(const keel_runtime_pmix_t *runtime, uint32_t rank, uint32_t incarnation);
int keel_pmix_rank_of(const keel_runtime_pmix_t *runtime, uint32_t holder, uint32_t *rank_p, uint32_t *incarnation_p);

/*
 * In PMIx's thread: a spare was called, has joined, or died. @a holder: the launcher's process in
 * question.
 */
void keel_pmix_spare_called(keel_runtime_pmix_t *runtime, uint32_t rank, uint32_t incarnation, uint32_t holder);
void keel_pmix_spare_dismiss(keel_runtime_pmix_t *runtime);
void keel_pmix_spare_joined(keel_runtime_pmix_t *runtime, uint32_t rank, uint32_t incarnation, uint32_t holder);
void keel_pmix_spare_died(keel_runtime_pmix_t *runtime, uint32_t holder);
/* In the thread inside Keel: with each event, and with each poll(). */
void keel_pmix_spares_note(keel_runtime_pmix_t *runtime, const keel_event_t *event);
void keel_pmix_spares_step(keel_runtime_pmix_t *runtime);
/* Implements finish(). */
void keel_pmix_spares_finish(keel_runtime_t *base);

#endif
