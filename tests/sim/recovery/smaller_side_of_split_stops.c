/*
 * Five ranks run on one node each, without an arbiter. The network splits, with ranks 0 and 1 on
 * one side, while replacements announce themselves on the other side. The smaller side must not go
 * on too; the simulator reports a flaw if both sides do.
 *   IS_LATE: Rank 4 has died. Rank 1 learns of the replacement late, while rank 1 asks all ranks
 *     because rank 2 is silent. A rank that was not asked has not replied.
 *   ARE_UNKNOWN: Ranks 3 and 4 have died, and the smaller side knows of neither replacement. Two of
 *     three ranks known to live are less than half of five.
 */
#include "engine/context.h"
#include "job/init.h"
#include "sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS      5
#define SEEDS      60
#define STEPS_MAX  100000
#define STEPS_MORE 8000
#define ENOUGH     "enough"

/*
 * Seeds with which rank 1 learns of the replacement while asking, with and without sanitizers. An
 * argument N searches further seeds up to N.
 */
static const uint64_t seeds[] = {7, 55, 153, 167, 266, 381, 420, 454, 530, 544};

typedef enum { IS_LATE, ARE_UNKNOWN } what_t;

typedef struct job {
    what_t what;
    keel_context_h ctx[RANKS]; /* NULL: no context */
    unsigned deaths;
    uint64_t split_step; /* 0: not yet */
    int is_there;        /* rank 1 knows the replacement */
    /*
     * IS_LATE: rank 1 learned of the replacement while asking; ARE_UNKNOWN: the network split while
     * both replacements were unknown
     */
    int is_met;
} job_t;

static void program(void *arg, keel_sim_t *sim, uint32_t rank, uint32_t incarnation)
{
    static const char *env[] = {"KEEL_CKPT_INTERVAL=off",
                                "KEEL_OPLOG_SIZE=64k",
                                "KEEL_GETLOG_SIZE=64k",
                                "KEEL_GROUP_SIZE=2",
                                "KEEL_HEARTBEAT_INTERVAL=100us",
                                "KEEL_HEARTBEAT_TIMEOUT=400us",
                                NULL};
    job_t *job = arg;
    const keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_ENV, .env = env};
    keel_context_h ctx;
    keel_status_t status = keel_init_on(keel_sim_drivers(sim), &params, &ctx);

    job->ctx[rank] = (status == KEEL_OK) ? ctx : NULL;
    while (status == KEEL_OK && rank < 2) {
        status = keel_progress(ctx);
        keel_sim_point(sim);
    }
    if (status == KEEL_OK) {
        keel_sim_compute(sim, 300000000);
    }
    job->ctx[rank] = NULL;
}

/* Returns 1 if @a rank knows the replacement of @a dead. */
static int knows(const job_t *job, uint32_t rank, uint32_t dead)
{
    return job->ctx[rank] != NULL && job->ctx[rank]->lane.peers[dead].incarnation == 1 &&
           job->ctx[rank]->lane.peers[dead].is_up;
}

static void kill(job_t *job, keel_sim_t *sim, uint32_t rank)
{
    job->deaths += (unsigned)keel_sim_kill(sim, rank);
    job->ctx[rank] = NULL;
}

/* Returns 1 if rank 1 knows of both deaths and of no replacement. */
static int are_unknown(const job_t *job)
{
    return job->ctx[1] != NULL && !job->ctx[1]->lane.peers[3].is_up && !job->ctx[1]->lane.peers[4].is_up;
}

static void hook(void *arg, keel_sim_t *sim)
{
    static const uint8_t side[RANKS] = {1, 1, 0, 0, 0};
    job_t *job = arg;
    const int was_there = job->is_there;
    int are_all = 1, is_due;

    for (uint32_t r = 0; r < RANKS; r++) {
        are_all &= job->ctx[r] != NULL;
    }
    job->is_there = knows(job, 1, 4);
    is_due = (job->what == ARE_UNKNOWN) ? are_unknown(job) : !job->is_there && (knows(job, 0, 4) || knows(job, 3, 4));
    if (job->deaths == 0 && are_all) {
        kill(job, sim, 4);
        if (job->what == ARE_UNKNOWN) {
            kill(job, sim, 3);
        }
    } else if (job->split_step == 0 && job->deaths > 0 && is_due) {
        keel_sim_split(sim, side);
        job->split_step = keel_sim_step(sim);
        job->is_met = (job->what == ARE_UNKNOWN);
    }
    if (job->what == IS_LATE && job->split_step != 0 && job->is_there && !was_there) {
        job->is_met |= job->ctx[1]->rec.detect.neighbour.stage == KEEL_WATCH_ASKING;
    }
    if (keel_sim_step(sim) > ((job->split_step == 0) ? STEPS_MAX : job->split_step + STEPS_MORE)) {
        keel_sim_flaw(sim, ENOUGH);
    }
    keel_sim_hook_at(sim, keel_sim_step(sim) + 1);
}

/* Returns 0 on a flaw. *met_p: the moment came. */
static int run(what_t what, uint64_t seed, int *met_p)
{
    static const uint32_t nodes[RANKS] = {0, 1, 2, 3, 4};
    job_t job = {.what = what};
    const keel_sim_options_t options = {
        .seed = seed, .ranks = RANKS, .node = nodes, .program = program, .hook = hook, .no_arbiter = 1, .arg = &job};
    keel_sim_t *sim;
    int is_right;

    if (keel_sim_create(&options, &sim) != KEEL_OK) {
        return 0;
    }
    keel_sim_hook_at(sim, 1);
    is_right = keel_sim_run(sim) == KEEL_SIM_DONE || strcmp(keel_sim_flaw_text(sim), ENOUGH) == 0;
    if (!is_right) {
        fprintf(stderr, "seed %lu: %s\n", (unsigned long)seed, keel_sim_flaw_text(sim));
    }
    *met_p = job.is_met;
    keel_sim_destroy(sim);
    return is_right;
}

int main(int argc, char **argv)
{
    int is_right = 1, is_met, met = 0, unknown = 0;

    for (size_t i = 0; i < sizeof(seeds) / sizeof(*seeds); i++) {
        is_right &= run(IS_LATE, seeds[i], &is_met);
        met += is_met;
    }
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        is_right &= run(ARE_UNKNOWN, seed, &is_met);
        unknown += is_met;
    }
    for (uint64_t seed = 1; argc > 1 && seed <= strtoul(argv[1], NULL, 10); seed++) {
        is_right &= run(IS_LATE, seed, &is_met);
        if (is_met) {
            printf("met by seed %lu\n", (unsigned long)seed);
        }
    }
    if (met == 0 || unknown == 0) {
        fprintf(stderr, "no seed came to that moment: %d, %d\n", met, unknown);
    }
    return (is_right && met > 0 && unknown > 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}
