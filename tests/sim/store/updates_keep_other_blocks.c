/*
 * Updates of drawn blocks: every load must give each block as the rank gave the block last, for any
 * death at any time, also a block of a range that no rank changed, and in the memory of a holder
 * that died amid the update. Loads wait for the bytes, or go on beside the program.
 */
#include "few_store.h"

#include "store/store_state.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS = 7, BLOCK = 100, BLOCKS = 90, SEEDS = 40, LOADS = 3, RANKS = 4, LAST_STEP = 9000 };

typedef struct job {
    few_t few;
    few_play_t play;
    uint64_t seed;
    int is_ending;
    keel_store_h store[RANKS];
    uint8_t given[RANKS][BLOCKS * BLOCK], loaded[RANKS][BLOCKS * BLOCK];
} job_t;

static uint64_t draw(uint64_t seed, uint64_t number)
{
    uint64_t x = seed * 0x9e3779b97f4a7c15ull + number * 0xd1342543de82ef95ull;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

/* Blocks that the rank gives in a step, from first on. Step 0 gives all. */
static uint64_t given_in(const job_t *job, unsigned step, uint32_t rank, uint64_t *first_p)
{
    *first_p = (step == 0) ? 0 : draw(job->seed, 100 * step + rank) % BLOCKS;
    return (step == 0) ? BLOCKS : draw(job->seed, 100 * step + rank + 50) % (BLOCKS - *first_p + 1) / 2;
}

/* The last step up to @a step that gave the block. */
static unsigned version_of(const job_t *job, unsigned step, uint32_t rank, uint64_t block)
{
    uint64_t first, count;

    do {
        count = given_in(job, step, rank, &first);
    } while ((block < first || block >= first + count) && step-- > 0);
    return step;
}

static uint8_t byte_of(const job_t *job, unsigned version, uint32_t rank, uint64_t block)
{
    return (uint8_t)draw(job->seed + version, 1000000 + rank * 1000 + block);
}

static void make_store(few_t *few, uint32_t rank)
{
    const keel_store_params_t params = few_store_params(BLOCKS * BLOCK, BLOCK, KEEL_STORE_LEAF, 2);

    few_store_make(few, rank, &params, &((job_t *)few)->store[rank]);
}

static keel_status_t give(job_t *job, uint32_t rank, unsigned step)
{
    uint8_t *bytes = job->given[rank];
    keel_store_part_t parts[2];
    uint64_t first;
    const uint64_t count = given_in(job, step, rank, &first);

    for (uint64_t i = 0; i < count; i++) {
        memset(bytes + i * BLOCK, byte_of(job, step, rank, first + i), BLOCK);
    }
    if (step == 0) {
        return keel_store_submit(job->store[rank], bytes, count);
    }
    parts[0] = (keel_store_part_t){.rank = rank, .first = first, .count = count / 2, .buffer = bytes};
    parts[1] = (keel_store_part_t){
        .rank = rank, .first = first + count / 2, .count = count - count / 2, .buffer = bytes + count / 2 * BLOCK};
    return keel_store_update(job->store[rank], parts, 2);
}

static keel_status_t load_beside(job_t *job, uint32_t rank, keel_store_part_t *part)
{
    keel_req_h req;
    keel_status_t status = keel_store_load_nbx(job->store[rank], part, 1, NULL, &req);

    if (status != KEEL_INPROGRESS) {
        return status;
    }
    for (unsigned i = 0; i < 3 && keel_req_test(req) == KEEL_INPROGRESS; i++) {
        (void)few_progress(&job->few, rank);
    }
    return keel_req_wait(req);
}

static keel_status_t load(job_t *job, uint32_t rank, unsigned step, unsigned turn)
{
    const uint32_t of = (uint32_t)(draw(job->seed, 4000 + step * 100 + turn * 10 + rank) % RANKS);
    const uint64_t first = draw(job->seed, 5000 + step * 100 + turn * 10 + rank) % BLOCKS;
    keel_store_part_t part = {.rank = of, .first = first, .count = BLOCKS - first, .buffer = job->loaded[rank]};
    const keel_status_t status =
        (turn % 2 == 0) ? keel_store_load(job->store[rank], &part, 1) : load_beside(job, rank, &part);

    for (uint64_t i = 0; i < part.count && status == KEEL_OK; i++) {
        const uint8_t right = byte_of(job, version_of(job, step, of, first + i), of, first + i);
        const uint8_t *bytes = job->loaded[rank] + i * BLOCK;

        if (bytes[0] != right || bytes[BLOCK - 1] != right) {
            keel_sim_flaw(job->few.sim, "rank %u: block %lu of rank %u is wrong in step %u", rank,
                          (unsigned long)(first + i), of, step);
            return KEEL_ERR_CORRUPT;
        }
    }
    return status;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    uint64_t *step = keel_win_base(win);
    keel_status_t status = KEEL_OK;
    int was_front;

    while (status == KEEL_OK && *step < STEPS) {
        was_front = keel_recovery_state(&few->ctx[rank]->rec) == KEEL_RANK_FRONT;
        status = give(job, rank, (unsigned)*step);
        status = (status == KEEL_OK && was_front) ? few_store_check_copies(&job->few, rank, job->store[rank]) : status;
        for (unsigned i = 0; i < LOADS && status == KEEL_OK; i++) {
            status = load(job, rank, (unsigned)*step, i);
        }
        if (status == KEEL_OK) {
            ++*step;
            status = (draw(job->seed, 2000 + *step) % 3 == 0) ? keel_checkpoint(few->ctx[rank])
                                                              : keel_gsync(few->ctx[rank], KEEL_GSYNC_SAFE);
        }
    }
    job->is_ending |= status == KEEL_OK;
    return status;
}

static void strike(few_t *few)
{
    job_t *job = (job_t *)few;
    const uint32_t rank = (uint32_t)(job->seed % RANKS);

    if (few->deaths == 0 && !job->is_ending && few->ctx[rank] != NULL && job->store[rank] != NULL &&
        few->ctx[rank]->is_started && keel_sim_step(few->sim) >= draw(job->seed, 9) % LAST_STEP) {
        few_kill(few, rank);
        job->play.deaths = few->deaths;
    }
}

int main(void)
{
    static const few_play_t plays[] = {
        {.ranks = RANKS, .lanes = "KEEL_LANES=auto", .stores = KEEL_SIM_ARM},
        {.ranks = RANKS, .lanes = "KEEL_LANES=served"},
        {.ranks = RANKS, .lanes = "KEEL_LANES=auto", .flags = KEEL_PARAM_FLAG_WAITS},
    };
    static job_t job;
    int is_right = 1;

    for (uint64_t seed = 1; seed <= SEEDS && is_right; seed++) {
        memset(&job, 0, sizeof(job));
        job.play = plays[seed % (sizeof(plays) / sizeof(plays[0]))];
        job.play.windows = 1;
        job.play.ready = make_store;
        job.play.phases = phases;
        job.play.strike = strike;
        job.seed = seed;
        is_right = few_run(&job.few, &job.play, seed);
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
