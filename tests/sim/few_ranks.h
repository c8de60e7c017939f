/* Small programs, mostly of two or three ranks, most on one node, for deaths at one moment that drawn programs do not meet. */
#ifndef KEEL_SIM_FEW_RANKS_H_
#define KEEL_SIM_FEW_RANKS_H_

#include "engine/context.h"
#include "sim/sim.h"

#define FEW_RANKS_MAX 100

typedef struct few few_t;

typedef struct few_play {
    uint32_t ranks;           /* one group */
    unsigned deaths;          /* that have to come */
    unsigned windows;         /* made before keel_restarted() */
    size_t bytes;             /* of each; 0: 64 */
    uint64_t flags;           /* of keel_params_t */
    const char *lanes;        /* KEEL_LANES=..., or another setting; NULL: as it comes */
    const uint32_t *node;     /* of each rank; NULL: one node */
    int is_noticing;          /* keel_sim_options_t */
    keel_sim_stores_t stores; /* likewise; in the copy that says what is stored */
    int no_arbiter;           /* likewise */
    size_t message;           /* bytes, of the longest of the transport; 0: as it comes */
    keel_counters_t counters; /* where they begin */
    /* after keel_init(), before the windows; may be NULL */
    void (*begin)(few_t *few, uint32_t rank);
    /* after the windows, before keel_restarted(); may be NULL */
    void (*ready)(few_t *few, uint32_t rank);
    /* from the restored memory to finalize; @a last is the window made last, NULL: none was */
    keel_status_t (*phases)(few_t *few, uint32_t rank, keel_win_h last);
    /* between any two steps */
    void (*strike)(few_t *few);
} few_play_t;

/* embedded at the start of a test's own state */
struct few {
    const few_play_t *play;
    keel_sim_t *sim;
    keel_context_h ctx[FEW_RANKS_MAX]; /* NULL: not there */
    unsigned deaths;
};

/* of a rank's program: some time passes, and progress is made once */
keel_status_t few_progress(few_t *few, uint32_t rank);
/* the same until so many have died */
keel_status_t few_await_deaths(few_t *few, uint32_t rank, unsigned deaths);
/* of a rank's program: @a word and its rank to the next rank, at the start of @a win */
keel_status_t few_put_ring(const few_t *few, uint32_t rank, keel_win_h win, uint64_t word);
/* and a gsync, behind which what the rank before put is there, or the result is KEEL_ERR_CORRUPT */
keel_status_t few_gsync_ring(const few_t *few, uint32_t rank, keel_win_h win, uint64_t word);
/* of strike(); whoever is killed has no context until its replacement is there */
void few_kill(few_t *few, uint32_t rank);
/* @a rank, which has died, is beyond its predecessor's death, and all go on with it */
int few_is_back(const few_t *few, uint32_t rank);
/* 0, with a line on stderr: a flaw, or not the deaths that had to come */
int few_run(few_t *few, const few_play_t *play, uint64_t seed);
/* all of the seeds 1 to @a seeds, each with a test's own state of zeroes; the exit status */
int few_main(const few_play_t *play, size_t state_size, uint64_t seeds);

#endif
