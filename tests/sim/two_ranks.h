/* Small programs of two ranks on one node, or three, for deaths at one moment that drawn programs do not meet. */
#ifndef KEEL_SIM_TWO_RANKS_H_
#define KEEL_SIM_TWO_RANKS_H_

#include "rma/context.h"
#include "sim/sim.h"

#define PAIR_RANKS_MAX 3

typedef struct pair pair_t;

typedef struct pair_play {
    unsigned deaths;   /* that have to come */
    uint32_t ranks;    /* 0: two */
    const char *lanes; /* KEEL_LANES=...; NULL: as it comes */
    /* behind keel_init(), ahead of the first window; may be NULL */
    void (*begin)(pair_t *pair, uint32_t rank);
    /* from the restored memory to finalize */
    keel_status_t (*phases)(pair_t *pair, uint32_t rank, keel_win_h first);
    /* between any two steps */
    void (*strike)(pair_t *pair);
} pair_play_t;

/* embedded at the start of a test's own state */
struct pair {
    const pair_play_t *play;
    keel_sim_t *sim;
    keel_context_h ctx[PAIR_RANKS_MAX]; /* NULL: not there */
    unsigned deaths;
};

/* of strike(); whoever is killed has no context until its replacement is there */
void pair_kill(pair_t *pair, uint32_t rank);
/* 0, with a line on stderr: a flaw, or not the deaths that had to come */
int pair_run(pair_t *pair, const pair_play_t *play, uint64_t seed);

#endif
