/*
 * The simulator: hundreds of ranks in one process, each a program on its own stack, over a
 * transport and a runtime that draw every order, delay and death from one seed. The protocol code
 * above is the shipped code.
 *
 * One thread. Time is virtual. Any call of the two ops tables may switch to another rank. A rank
 * can be killed at any such point and is replaced after a while.
 */
#ifndef KEEL_SIM_H_
#define KEEL_SIM_H_

#include "check/plant.h"
#include "runtime_ops.h"
#include "transport.h"

#include <stdio.h>

typedef struct keel_sim keel_sim_t;

typedef enum {
    KEEL_SIM_PTR,      /* direct lane by pointers: stores take effect at once */
    KEEL_SIM_MESSAGES, /* no direct lane */
    KEEL_SIM_RMA,      /* direct lane by operations, in any order that fences and flushes allow */
    KEEL_SIM_READ      /* direct lane by gets only, in any order */
} keel_sim_direct_t;

/* visibility of a process's stores to memory that other ranks have mapped (simstores.c) */
typedef enum {
    KEEL_SIM_AT_ONCE,
    KEEL_SIM_X86, /* delayed, in order, except for stores streamed past the caches */
    KEEL_SIM_ARM  /* delayed, in any order, except for stores with release */
} keel_sim_stores_t;

typedef enum {
    KEEL_SIM_DONE, /* every rank has returned */
    KEEL_SIM_FLAW, /* keel_sim_flaw_text() describes the flaw */
    /* a rank ended the job with the runtime's abort; the flaw text has the reason */
    KEEL_SIM_ABORTED
} keel_sim_end_t;

typedef struct keel_sim_options {
    uint64_t seed;
    uint32_t ranks;
    uint32_t leader;      /* rank that leads the job: keel_runtime_t.leader */
    const uint32_t *node; /* node of each rank; NULL: a node for each rank */
    keel_sim_direct_t direct;
    keel_sim_stores_t stores; /* applies to code that declares each store: keel_sim_store_hold() */
    uint64_t step_limit;      /* scheduler steps before the run counts as hung; 0: default */
    unsigned trace_lines;     /* events kept for the report; 0: none */
    int is_verbose;           /* messages of the ranks go to standard error instead of the trace */
    size_t stack_size;        /* bytes of a rank's stack; 0: default */
    /* maximum bytes of a message, up to the default of 4 KiB; 0: the default */
    size_t max_data;
    /* No arbiter kills processes on other nodes or reports there that a process has left, but
     * connections break: the larger part of a split network continues. */
    int no_arbiter;
    /* A computing rank is notified of news and of time; 0: the notifications arrive too late for
     * every call, as they may. */
    int is_noticing;
    /* deaths are not reported to the survivors: for tests of the transport alone */
    int mute_events;
    /* a dead rank is declared gone instead of being replaced; 2: a process starts nevertheless */
    int declares_gone;
    unsigned replaced; /* with declares_gone 1: so many deaths have replacements, later ones none */
    /* The test has a writer of files (files/writer.h) without a thread; 0: ranks write no files. */
    int has_writer;
    /* the main function of every rank, run again in each replacement */
    void (*program)(void *arg, keel_sim_t *sim, uint32_t rank, uint32_t incarnation);
    /* called between steps when the step of keel_sim_hook_at() is reached; may kill */
    void (*hook)(void *arg, keel_sim_t *sim);
    /* A rank is about to be killed because other ranks do not hear from it. Returns 0 to spare
     * the rank, which continues if hung. NULL: always 1. */
    int (*fence)(void *arg, keel_sim_t *sim, uint32_t rank);
    void *arg;
} keel_sim_options_t;

keel_status_t keel_sim_create(const keel_sim_options_t *options, keel_sim_t **sim_p);
void keel_sim_destroy(keel_sim_t *sim);
keel_sim_end_t keel_sim_run(keel_sim_t *sim);

/* for keel_params_t.drivers */
const struct keel_drivers *keel_sim_drivers(keel_sim_t *sim);

/* ---- for hook and program ---- */

void keel_sim_hook_at(keel_sim_t *sim, uint64_t step);
uint64_t keel_sim_step(const keel_sim_t *sim);
uint64_t keel_sim_now_ns(const keel_sim_t *sim);
/* From the hook only: ends the rank's process at once. Returns 0 if there is none or it has
 * returned. */
int keel_sim_kill(keel_sim_t *sim, uint32_t rank);
/* From the hook only: the rank's process does nothing for @a ns (UINT64_MAX: forever), including
 * its service side. Its operations in flight arrive. Returns 0 if no process can hang. */
int keel_sim_hang(keel_sim_t *sim, uint32_t rank, uint64_t ns);
/* from the hook only, for a killed rank: its next process runs on @a node */
void keel_sim_move(keel_sim_t *sim, uint32_t rank, uint32_t node);
/* from the hook only: ranks with a non-zero @a side no longer reach the other ranks; nodes stay
 * whole */
void keel_sim_split(keel_sim_t *sim, const uint8_t *side);
/* bytes that the rank's process has allocated under @a name */
size_t keel_sim_bytes(const keel_sim_t *sim, uint32_t rank, const char *name);
/* number of the process's calls of the transport's wait() that may sleep */
unsigned keel_sim_waits(const keel_sim_t *sim, uint32_t rank);
/* maximum number of polls between two calls of the transport's wait(), each of which yields the
 * core */
unsigned keel_sim_polls(const keel_sim_t *sim, uint32_t rank);
int keel_sim_is_hung(const keel_sim_t *sim, uint32_t rank);
int keel_sim_is_alive(const keel_sim_t *sim, uint32_t rank);
uint32_t keel_sim_incarnation(const keel_sim_t *sim, uint32_t rank);
/* rank of the running process; UINT32_MAX: the scheduler or a service side runs */
uint32_t keel_sim_current(const keel_sim_t *sim);
/* from a program: other ranks may run, and the caller may be killed */
void keel_sim_point(keel_sim_t *sim);
/* from a program: computes for a while; other ranks run */
void keel_sim_compute(keel_sim_t *sim, uint64_t ns);

/* From a program: other ranks may see the following store to @a to later. No effect in service
 * sides: their stores take effect at once. */
void keel_sim_store_hold(keel_sim_t *sim, void *to, size_t length, keel_stored_t how);
/* after keel_sim_store_hold(): other ranks do not see the store for @a ns, unless the order
 * requires it */
void keel_sim_store_keep(keel_sim_t *sim, uint64_t ns);
/* a point right after a store: a rank killed here may have died in the middle of the store */
void keel_sim_store_point(keel_sim_t *sim);
/* Order: earlier stores become visible before later ones. Barrier: likewise, except for streamed
 * stores. Fence: earlier stores become visible now. */
void keel_sim_store_order(keel_sim_t *sim);
void keel_sim_store_barrier(keel_sim_t *sim);
void keel_sim_store_fence(keel_sim_t *sim);

/* For checks of all memory: between show and hide the memory is as if all stores were visible.
 * Calls may nest. */
void keel_sim_stores_show(keel_sim_t *sim);
void keel_sim_stores_hide(keel_sim_t *sim);

/* Allocations of this name fail from now on; NULL: none does. */
void keel_sim_deny(keel_sim_t *sim, const char *name);
/* Ends the run; does not return to a calling program. Only the first flaw is kept. */
void keel_sim_flaw(keel_sim_t *sim, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *keel_sim_flaw_text(const keel_sim_t *sim);

/* ---- trace ---- */

int keel_sim_is_traced(const keel_sim_t *sim);
void keel_sim_trace_print(keel_sim_t *sim, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define keel_sim_trace(_sim, ...)                            \
    do {                                                     \
        if (__builtin_expect(keel_sim_is_traced(_sim), 0)) { \
            keel_sim_trace_print((_sim), __VA_ARGS__);       \
        }                                                    \
    } while (0)
/* prints the flaw and the state of every rank; with a trace also the stacks and the last events */
void keel_sim_report(keel_sim_t *sim, FILE *stream);

#endif
