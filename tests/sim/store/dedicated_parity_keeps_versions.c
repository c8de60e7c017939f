/*
 * Stores of a job with dedicated parity ranks. A parity rank computes its share later than the
 * others take their images, and the ranks go on to further submits. After a rollback, and in a
 * replacement, each load must give the version of the image: no submit overwrites that version
 * before a newer image is in use. A rank dies at a drawn step in every second run.
 */
#include "few_store.h"

#include "ckpt/coordinated.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 6, STEPS = 9, ROLLBACK_AT = 6, BYTES = 6000, SEEDS = 30, WINDOW = 1 << 16 };

typedef struct job {
    few_t few;
    few_play_t play;
    keel_store_h store[RANKS];
    uint64_t seed, at;
    unsigned wanted;
    int has_rolled_back, is_ending;
    uint8_t room[RANKS][BYTES];
} job_t;

static uint8_t byte_of(uint64_t version, uint32_t rank, uint64_t i)
{
    return (uint8_t)(version * 31 + rank * 7 + i * 13 + i / 256);
}

static void make_store(few_t *few, uint32_t rank)
{
    const keel_store_params_t params = few_store_params(BYTES, 1, KEEL_STORE_LEAF, 2);

    few_store_make(few, rank, &params, &((job_t *)few)->store[rank]);
}

static keel_status_t load_all(job_t *job, uint32_t rank, uint64_t version)
{
    keel_status_t status = KEEL_OK;

    for (uint32_t from = 0; from < job->few.ctx[rank]->lane.programs && status == KEEL_OK; from++) {
        keel_store_part_t part = {.rank = from, .count = BYTES, .buffer = job->room[rank]};

        status = keel_store_load(job->store[rank], &part, 1);
        for (uint64_t i = 0; i < BYTES && status == KEEL_OK; i++) {
            if (job->room[rank][i] != byte_of(version, from, i)) {
                keel_sim_flaw(job->few.sim, "rank %u: a load of version %lu from rank %u gives other bytes", rank,
                              (unsigned long)version, from);
                status = KEEL_ERR_CORRUPT;
            }
        }
    }
    return status;
}

static keel_status_t run_step(job_t *job, uint32_t rank, uint64_t step)
{
    const keel_context_h ctx = job->few.ctx[rank];
    keel_status_t status = (step > 0) ? load_all(job, rank, step - 1) : KEEL_OK;

    for (uint64_t i = 0; i < BYTES; i++) {
        job->room[rank][i] = byte_of(step, rank, i);
    }
    status = (status == KEEL_OK) ? keel_store_submit(job->store[rank], job->room[rank], BYTES) : status;
    if (status == KEEL_OK && step == ROLLBACK_AT && rank == 1 && !job->has_rolled_back) {
        job->has_rolled_back = 1;
        status = keel_rollback(ctx);
    }
    return status;
}

/* The step counter is in the window, so an image has it. */
static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    uint64_t *step = keel_win_base(win);
    keel_status_t status = KEEL_OK;

    while (status == KEEL_OK && *step < STEPS) {
        status = run_step(job, rank, *step);
        if (status == KEEL_OK) {
            ++*step;
            keel_ckpt_request_retry(&few->ctx[rank]->ckpt); /* at the leader: an image is due */
            status = keel_gsync(few->ctx[rank], KEEL_GSYNC_SAFE);
        }
    }
    status = (status == KEEL_OK) ? load_all(job, rank, STEPS - 1) : status;
    job->is_ending |= status == KEEL_OK;
    return status;
}

static void strike(few_t *few)
{
    job_t *job = (job_t *)few;

    for (uint32_t r = 0; few->deaths < job->wanted && r < RANKS; r++) {
        if (few->ctx[r] == NULL && r < 2) {
            return; /* not begun */
        }
    }
    if (few->deaths < job->wanted && !job->is_ending && keel_sim_step(few->sim) >= job->at) {
        few_kill(few, (uint32_t)(job->seed % 2 == 0 ? 1 : RANKS - 1));
        job->play.deaths = few->deaths;
    }
}

int main(void)
{
    static job_t job;
    int is_right = 1;

    for (uint64_t seed = 1; seed <= SEEDS && is_right; seed++) {
        memset(&job, 0, sizeof(job));
        job.seed = seed / 2;
        job.wanted = (unsigned)(seed % 2);
        job.at = 500 + seed * 997 % 9000;
        job.play = (few_play_t){.ranks = RANKS,
                                .windows = 1,
                                .bytes = WINDOW,
                                .lanes = "KEEL_PARITY=dedicated",
                                .ready = make_store,
                                .phases = phases,
                                .strike = strike};
        is_right = few_run(&job.few, &job.play, seed);
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
