/*
 * The simulator: hundreds of ranks in one process, each a program on its own stack, over a transport and a runtime
 * whose every order, delay and death is drawn from one seed. The protocol code above is the one that ships.
 *
 * One thread. Time is virtual. Any call of the two ops tables may switch to another rank; a rank can be killed at any
 * such point, and is replaced after a while.
 */
#ifndef KEEL_SIM_H_
#define KEEL_SIM_H_

#include "check/plant.h"
#include "runtime.h"
#include "transport.h"

#include <stdio.h>

typedef struct keel_sim keel_sim_t;

typedef enum {
    KEEL_SIM_PTR,      /* direct lane by pointers: stores are there at once */
    KEEL_SIM_MESSAGES, /* no direct lane */
    KEEL_SIM_RMA,      /* direct lane by operations, in any order that fences and flushes allow */
    KEEL_SIM_READ      /* by gets alone, in any order */
} keel_sim_direct_t;

/* when others see what a process stores to memory that they have mapped (simstores.c) */
typedef enum {
    KEEL_SIM_AT_ONCE,
    KEEL_SIM_X86, /* later, in order, but for what is streamed past the caches */
    KEEL_SIM_ARM  /* later, in any order but for what is released */
} keel_sim_stores_t;

typedef enum {
    KEEL_SIM_DONE,   /* every rank returned */
    KEEL_SIM_FLAW,   /* keel_sim_flaw_text() says what */
    KEEL_SIM_ABORTED /* a rank ended the job by the runtime's abort; the reason is the flaw text */
} keel_sim_end_t;

typedef struct keel_sim_options {
    uint64_t seed;
    uint32_t ranks;
    const uint32_t *node; /* of each rank; NULL: one node a rank */
    keel_sim_direct_t direct;
    keel_sim_stores_t stores; /* of code that says so of each: keel_sim_store_hold() */
    uint64_t step_limit;      /* scheduler steps before the run counts as hung; 0: default */
    unsigned trace_lines;     /* events kept for the report; 0: none */
    int is_verbose;           /* what the ranks say goes to standard error, not into the trace */
    size_t stack_size;        /* of a rank, bytes; 0: default */
    size_t max_data;          /* of a message, bytes, up to the default of 4 KiB; 0: that */
    int no_arbiter;  /* nobody can kill a process on another node, nor tells there that one has left, but connections
                             break: the larger part of a split network goes on */
    int is_noticing; /* who computes is told of news and of time; 0: that comes too late for every call, as it may */
    int mute_events; /* deaths are not told to the survivors: for tests of the transport alone */
    /* the main of every rank, run again in each replacement */
    void (*program)(void *arg, keel_sim_t *sim, uint32_t rank, uint32_t incarnation);
    /* called between steps once the step asked for by keel_sim_hook_at() is reached; may kill */
    void (*hook)(void *arg, keel_sim_t *sim);
    /* a rank is about to be killed because others do not hear it; 0: it is not, and goes on if it hangs. NULL: always 1 */
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
/* from the hook only: the rank's process ends here and now. 0 when there is none or it has returned. */
int keel_sim_kill(keel_sim_t *sim, uint32_t rank);
/* from the hook only: the rank's process does nothing for @a ns (UINT64_MAX: for ever), its service side neither; what it
 * has under way arrives. 0 when there is none that could. */
int keel_sim_hang(keel_sim_t *sim, uint32_t rank, uint64_t ns);
/* from the hook only, of a rank that was killed: its next process runs on @a node */
void keel_sim_move(keel_sim_t *sim, uint32_t rank, uint32_t node);
/* from the hook only: ranks with a non-zero @a side do not reach the others any more. Nodes stay whole. */
void keel_sim_split(keel_sim_t *sim, const uint8_t *side);
/* what the rank's process has allocated under this name */
size_t keel_sim_bytes(const keel_sim_t *sim, uint32_t rank, const char *name);
/* how often the rank's process called the transport's wait() to sleep */
unsigned keel_sim_waits(const keel_sim_t *sim, uint32_t rank);
/* how many times it polled, at most, between two calls of the transport's wait(), of which each gives the core away */
unsigned keel_sim_polls(const keel_sim_t *sim, uint32_t rank);
int keel_sim_is_hung(const keel_sim_t *sim, uint32_t rank);
int keel_sim_is_alive(const keel_sim_t *sim, uint32_t rank);
uint32_t keel_sim_incarnation(const keel_sim_t *sim, uint32_t rank);
/* the rank whose process runs; UINT32_MAX: the scheduler, or a service side */
uint32_t keel_sim_current(const keel_sim_t *sim);
/* from a program: others may run, it may be killed */
void keel_sim_point(keel_sim_t *sim);
/* from a program: computes for a while, others run */
void keel_sim_compute(keel_sim_t *sim, uint64_t ns);

/* from a program: what it stores next, at @a to, may be seen by others later. Nothing elsewhere: a service side is at once done. */
void keel_sim_store_hold(keel_sim_t *sim, void *to, size_t length, keel_stored_t how);
/* after keel_sim_store_hold(): for so long others do not see it, unless they have to */
void keel_sim_store_keep(keel_sim_t *sim, uint64_t ns);
/* a point right after a store: who is killed here may have died amid it */
void keel_sim_store_point(keel_sim_t *sim);
/* what was stored before is seen before what is stored from now on; likewise, but for what streams; is seen now */
void keel_sim_store_order(keel_sim_t *sim);
void keel_sim_store_barrier(keel_sim_t *sim);
void keel_sim_store_fence(keel_sim_t *sim);

/* for who looks at the memory of all: between these two it is as it will be when all that was stored is seen; they may be nested */
void keel_sim_stores_show(keel_sim_t *sim);
void keel_sim_stores_hide(keel_sim_t *sim);

/* ends the run; does not return when called by a program. Only the first flaw is kept. */
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
/* flaw, state of every rank, and with a trace: where each rank stands and the last events */
void keel_sim_report(keel_sim_t *sim, FILE *stream);

#endif
