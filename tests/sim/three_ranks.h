/* Small programs of three ranks on one node, whose deaths come while some have not begun: like two_ranks.h. */
#ifndef KEEL_SIM_THREE_RANKS_H_
#define KEEL_SIM_THREE_RANKS_H_

#include "rma/context.h"
#include "sim/sim.h"

#define TRIO 3

typedef struct trio trio_t;

typedef struct trio_play {
    unsigned deaths;  /* that have to come */
    unsigned windows; /* 1 or 2, ahead of keel_restarted() */
    uint64_t flags;   /* of keel_params_t */
    /* behind the windows, ahead of keel_restarted() */
    void (*ready)(trio_t *trio, uint32_t rank);
    /* from the restored memory to finalize; @a last is the window made last */
    keel_status_t (*phases)(trio_t *trio, uint32_t rank, keel_win_h last);
    /* between any two steps */
    void (*strike)(trio_t *trio);
} trio_play_t;

/* embedded at the start of a test's own state */
struct trio {
    const trio_play_t *play;
    keel_sim_t *sim;
    keel_context_h ctx[TRIO]; /* NULL: not there */
    unsigned deaths;
};

/* of ready(): makes progress once */
void trio_progress(trio_t *trio, uint32_t rank);
/* of strike(); whoever is killed has no context until its replacement is there */
void trio_kill(trio_t *trio, uint32_t rank);
/* 0, with a line on stderr: a flaw, or not the deaths that had to come */
int trio_run(trio_t *trio, const trio_play_t *play, uint64_t seed);

#endif
