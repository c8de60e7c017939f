/*
 * Small programs, mostly of two or three ranks on one node, for deaths at one moment that drawn
 * programs do not meet.
 */
#ifndef KEEL_SIM_FEW_RANKS_H_
#define KEEL_SIM_FEW_RANKS_H_

#include "engine/context.h"
#include "sim/sim.h"

#define FEW_RANKS_MAX 100

typedef struct few few_t;

typedef struct few_play {
    uint32_t ranks;       /* all in one group */
    unsigned deaths;      /* number of deaths that must come */
    unsigned windows;     /* number of windows made before keel_restarted() */
    size_t bytes;         /* size of each window; 0: 64 */
    uint64_t flags;       /* of keel_params_t */
    const char *lanes;    /* KEEL_LANES=..., or another setting; NULL: default */
    const uint32_t *node; /* node of each rank; NULL: one node */
    int is_noticing;      /* as in keel_sim_options_t */
    /* as in keel_sim_options_t; takes effect in the copy that declares each store */
    keel_sim_stores_t stores;
    /* the dead are gone: KEEL_SHRINK=now, KEEL_PROTECT=none; 2: late processes join nevertheless */
    int shrinks;
    int is_protected; /* with shrinks: KEEL_PROTECT=all */
    /* with shrinks: so many deaths have replacements, and later ones have none; KEEL_SHRINK=last */
    unsigned replaced;
    int no_arbiter;           /* as in keel_sim_options_t */
    int has_failed;           /* the job has failed when phases() returns: no rank finalizes */
    size_t message;           /* maximum bytes of a message; 0: default */
    keel_counters_t counters; /* initial values of the counters */
    /* Called after keel_init(), before the windows are made; may be NULL. */
    void (*begin)(few_t *few, uint32_t rank);
    /* Called after the windows are made, before keel_restarted(); may be NULL. */
    void (*ready)(few_t *few, uint32_t rank);
    /* Runs from the restored memory to finalize. @a last is the window made last; NULL: none. */
    keel_status_t (*phases)(few_t *few, uint32_t rank, keel_win_h last);
    /* Called between any two steps. */
    void (*strike)(few_t *few);
} few_play_t;

/* Embedded at the start of the state of a test. */
struct few {
    const few_play_t *play;
    keel_sim_t *sim;
    keel_context_h ctx[FEW_RANKS_MAX]; /* by rank; NULL: the rank has no context */
    unsigned deaths;
};

/* For a rank's program: lets some time pass and makes progress once. */
keel_status_t few_progress(few_t *few, uint32_t rank);
/* For a rank's program: makes progress until so many ranks have died. */
keel_status_t few_await_deaths(few_t *few, uint32_t rank, unsigned deaths);
/* For a rank's program: puts @a word plus the rank to the next rank, at the start of @a win. */
keel_status_t few_put_ring(const few_t *few, uint32_t rank, keel_win_h win, uint64_t word);
/*
 * Calls keel_gsync, then checks the value of the previous rank; KEEL_ERR_CORRUPT: the value is
 * wrong.
 */
keel_status_t few_gsync_ring(const few_t *few, uint32_t rank, keel_win_h win, uint64_t word);
/* For strike(): kills the rank. The rank has no context until its replacement has one. */
void few_kill(few_t *few, uint32_t rank);
/*
 * Returns 1 if the replacement of @a rank is past the death of its predecessor and live at all
 * ranks.
 */
int few_is_back(const few_t *few, uint32_t rank);
/* Returns 0, with a line on stderr, on a flaw or on a wrong number of deaths. */
int few_run(few_t *few, const few_play_t *play, uint64_t seed);
/* Runs the seeds 1 to @a seeds, each with a zeroed state of the test. Returns the exit status. */
int few_main(const few_play_t *play, size_t state_size, uint64_t seeds);
/* few_main() on mapped memory, then with all accesses served. */
int few_main_both(const few_play_t *play, size_t state_size, uint64_t seeds);

#endif
