/*
 * Every load must give what was submitted last before it, in every life, whatever ranks die and
 * when: amid the pushes of a submit, between its gsyncs, amid a load or a refill. The program
 * submits, loads and takes checkpoints in an order drawn from the seed. Ranks die one after
 * another, or node after node, at drawn steps of the simulator, each when the parity of the rank
 * before is in place again. At the end each rank must hold all of its copies.
 */
#include "few_store.h"

#include "store/store_refill.h"
#include "store/store_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 9, BLOCK = 100, BLOCKS = 70, LOADS = 3, FIXED = 50, SEEDS = 60, DEATHS_MAX = 3, RANKS_OF_NODE = 2 };

typedef struct job {
    few_t few;
    few_play_t play;
    uint64_t seed;
    keel_store_h store[FEW_RANKS_MAX];
    keel_store_h fixed[FEW_RANKS_MAX];       /* a static store, submitted in step 0 */
    int is_ending;                           /* some rank has done its last step */
    unsigned wanted;                         /* deaths */
    uint64_t at[DEATHS_MAX * RANKS_OF_NODE]; /* steps of the simulator */
    const keel_store_params_t *params;
    uint8_t room[FEW_RANKS_MAX][2][BLOCKS * BLOCK];
} job_t;

static uint64_t draw(uint64_t seed, uint64_t number)
{
    uint64_t x = seed * 0x9e3779b97f4a7c15ull + number * 0xd1342543de82ef95ull;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

/* ---- the program ---- */

static int submits_in(const job_t *job, unsigned step)
{
    return step == 0 || (draw(job->seed, 1000 + step) % 2 == 0 && !(job->params->flags & KEEL_STORE_FLAG_STATIC));
}

static int saves_in(const job_t *job, unsigned step)
{
    return draw(job->seed, 2000 + step) % 3 == 0 && strstr(job->play.lanes, "none") == NULL;
}

/* Last step up to @a step with a submit: names the version. */
static unsigned version_at(const job_t *job, unsigned step)
{
    while (!submits_in(job, step)) {
        step--;
    }
    return step;
}

static uint64_t blocks_of(const job_t *job, unsigned version, uint32_t rank)
{
    return draw(job->seed, 3000 + version * 64 + rank) % (BLOCKS + 1);
}

static void fill(const job_t *job, unsigned version, uint32_t rank, uint64_t first, uint64_t count, uint8_t *to)
{
    for (uint64_t i = 0; i < count * BLOCK; i++) {
        to[i] = (uint8_t)(draw(job->seed + version, rank * 100000ull + first * BLOCK + i) >> 8);
    }
}

static void make_store(few_t *few, uint32_t rank)
{
    job_t *job = (job_t *)few;
    keel_store_params_t fixed = *job->params;
    keel_status_t status = keel_store_create(few->ctx[rank], job->params, &job->store[rank]);

    fixed.field_mask |= KEEL_STORE_PARAM_FIELD_FLAGS | KEEL_STORE_PARAM_FIELD_SEED;
    fixed.flags = KEEL_STORE_FLAG_STATIC;
    fixed.seed = 5;
    status = (status == KEEL_OK) ? keel_store_create(few->ctx[rank], &fixed, &job->fixed[rank]) : status;
    if (status != KEEL_OK) {
        keel_sim_flaw(few->sim, "rank %u makes no store: %s", rank, keel_status_string(status));
    }
}

static keel_status_t submit(job_t *job, uint32_t rank, unsigned step)
{
    uint8_t *bytes = job->room[rank][0];
    const uint64_t count = blocks_of(job, step, rank);
    const int was_front = keel_recovery_state(&job->few.ctx[rank]->rec) == KEEL_RANK_FRONT;
    keel_status_t status;

    fill(job, step, rank, 0, count, bytes);
    status = keel_store_submit(job->store[rank], bytes, count);
    status = (status == KEEL_OK && was_front) ? few_store_check_copies(&job->few, rank, job->store[rank]) : status;
    if (status == KEEL_OK && step == 0) {
        fill(job, FIXED, rank, 0, blocks_of(job, FIXED, rank), bytes);
        status = keel_store_submit(job->fixed[rank], bytes, blocks_of(job, FIXED, rank));
    }
    return status;
}

static keel_status_t load(job_t *job, uint32_t rank, unsigned step, unsigned turn)
{
    const int is_fixed = turn % LOADS == 0;
    const keel_store_h store = is_fixed ? job->fixed[rank] : job->store[rank];
    const unsigned version = is_fixed ? FIXED : version_at(job, step);
    const uint32_t from = (uint32_t)(draw(job->seed, 4000 + step * 100 + turn * 10 + rank) % job->play.ranks);
    const uint64_t count = blocks_of(job, version, from);
    const uint64_t first = (count > 0) ? draw(job->seed, 5000 + step * 100 + turn * 10 + rank) % count : 0;
    const uint64_t length =
        (count > 0) ? 1 + draw(job->seed, 6000 + step * 100 + turn * 10 + rank) % (count - first) : 0;
    uint8_t *loaded = job->room[rank][0], *right = job->room[rank][1];
    keel_store_part_t part = {.rank = from, .first = first, .count = length, .buffer = loaded};
    uint64_t known = 0;
    keel_status_t status = keel_store_count(store, from, &known);

    status = (status == KEEL_OK) ? keel_store_load(store, &part, 1) : status;
    if (status != KEEL_OK) {
        return status;
    }
    fill(job, version, from, first, length, right);
    if (known != count || memcmp(loaded, right, length * BLOCK) != 0) {
        keel_sim_flaw(job->few.sim, "rank %u loads other blocks of rank %u in step %u than were submitted in step %u",
                      rank, from, step, version);
        return KEEL_ERR_CORRUPT;
    }
    return KEEL_OK;
}

static keel_status_t run_step(job_t *job, uint32_t rank, unsigned step)
{
    keel_status_t status = KEEL_OK;

    for (unsigned i = 0; step > 0 && i < LOADS && status == KEEL_OK; i++) {
        status = load(job, rank, step - 1, i);
    }
    status = (status == KEEL_OK && submits_in(job, step)) ? submit(job, rank, step) : status;
    for (unsigned i = 0; i < LOADS && status == KEEL_OK; i++) {
        status = load(job, rank, step, LOADS + i);
    }
    return status;
}

/* Own copies are complete when no refill is due. */
static keel_status_t await_copies(few_t *few, uint32_t rank)
{
    const job_t *job = (const job_t *)few;
    const keel_store_head_t *head = keel_store_head(job->store[rank]);
    keel_status_t status = KEEL_OK;

    /* a rank that re-executes an earlier phase gets them at the front */
    while (status == KEEL_OK && keel_recovery_state(&few->ctx[rank]->rec) == KEEL_RANK_FRONT &&
           head->complete[head->newest - 1] != head->label[head->newest - 1]) {
        status = few_progress(few, rank);
    }
    status = (status == KEEL_OK) ? few_store_check_copies(&job->few, rank, job->store[rank]) : status;
    return (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    uint64_t *step = keel_win_base(win);
    keel_status_t status = KEEL_OK;

    while (status == KEEL_OK && *step < STEPS) {
        status = run_step(job, rank, (unsigned)*step);
        if (status == KEEL_OK) {
            ++*step;
            status = saves_in(job, (unsigned)*step) ? keel_checkpoint(few->ctx[rank])
                                                    : keel_gsync(few->ctx[rank], KEEL_GSYNC_SAFE);
        }
    }
    status = (status == KEEL_OK) ? await_copies(few, rank) : status;
    job->is_ending |= status == KEEL_OK;
    return status;
}

/* ---- deaths ---- */

/* True if no refill of the store is due. */
static int has_copies(const struct keel_store *store)
{
    const keel_store_head_t *head = keel_store_head(store);
    const uint32_t kept = keel_store_kept(store);

    return (head->newest == 0 || head->complete[head->newest - 1] == head->label[head->newest - 1]) &&
           (kept == store->slots || head->complete[kept] == head->label[kept]);
}

static int is_whole(const few_t *few)
{
    for (uint32_t r = 0; r < few->play->ranks; r++) {
        if (few->ctx[r] == NULL || keel_recovery_is_finished(&few->ctx[r]->rec) || !few_is_back(few, r) ||
            few->ctx[r]->ckpt.set.state.share != KEEL_SHARE_ARMED || few->ctx[r]->rec.roll != KEEL_ROLL_NONE ||
            ((const job_t *)few)->fixed[r] == NULL || !has_copies(((const job_t *)few)->store[r]) ||
            !has_copies(((const job_t *)few)->fixed[r])) {
            return 0;
        }
    }
    return 1;
}

/* A rank that announces the newest version has all of its copies: so few deaths lose none. */
static void check_complete(const job_t *job)
{
    for (uint32_t r = 0; r < job->play.ranks; r++) {
        const struct keel_store *store = job->store[r];
        const keel_store_head_t *head;

        if (job->few.ctx[r] == NULL || store == NULL || keel_recovery_is_finished(&job->few.ctx[r]->rec)) {
            continue;
        }
        head = keel_store_head(store);
        for (uint64_t i = 0; head->newest > 0 && head->complete[head->newest - 1] == head->label[head->newest - 1] &&
                             i < keel_store_cells(store);
             i++) {
            if (keel_store_own_mark(store, head->newest - 1, i)->label != head->label[head->newest - 1]) {
                keel_sim_flaw(job->few.sim, "rank %u says that it has copy %lu", r, (unsigned long)i);
                return;
            }
        }
    }
}

static void strike(few_t *few)
{
    job_t *job = (job_t *)few;

    if (keel_sim_step(few->sim) % 16 == 0) {
        check_complete(job);
    }
    if (!job->is_ending && few->deaths < job->wanted && keel_sim_step(few->sim) >= job->at[few->deaths] &&
        is_whole(few)) {
        const uint32_t rank = (uint32_t)(draw(job->seed, 7000 + few->deaths) % job->play.ranks);

        for (uint32_t r = 0; r < job->play.ranks; r++) {
            if (r == rank || (job->play.node != NULL && job->play.node[r] == job->play.node[rank])) {
                few_kill(few, r);
                job->store[r] = job->fixed[r] = NULL;
            }
        }
        job->play.deaths = few->deaths;
    }
}

static void no_strike(few_t *few)
{
    ((job_t *)few)->at[0] = keel_sim_step(few->sim);
}

/* Runs once without deaths, to know the number of steps, then with drawn deaths. */
static int run(job_t *job, const few_play_t *play, const keel_store_params_t *params, uint64_t seed, unsigned deaths)
{
    uint64_t steps;

    memset(job, 0, sizeof(*job));
    *job = (job_t){.play = *play, .seed = seed, .params = params};
    job->play.strike = no_strike;
    if (!few_run(&job->few, &job->play, seed)) {
        return 0;
    }
    steps = job->at[0];
    memset(job, 0, sizeof(*job));
    *job = (job_t){
        .play = *play,
        .seed = seed,
        .params = params,
    };
    job->wanted = deaths * ((play->node != NULL) ? RANKS_OF_NODE : 1);
    job->play.strike = strike;
    for (unsigned i = 0; i < job->wanted; i++) {
        job->at[i] = draw(seed, 8000 + i) % steps;
    }
    return few_run(&job->few, &job->play, seed);
}

/* loads_equal_submits [PLAY FIRST LAST]: one kind of program with other seeds */
int main(int argc, char **argv)
{
    static const uint32_t nodes[] = {0, 0, 1, 1, 2, 2};
    static const few_play_t plays[] = {
        {.ranks = 4, .lanes = "KEEL_LANES=auto", .stores = KEEL_SIM_ARM},
        {.ranks = 4, .lanes = "KEEL_LANES=served"},
        {.ranks = 6, .lanes = "KEEL_LANES=auto", .node = nodes, .stores = KEEL_SIM_X86},
        {.ranks = 4, .lanes = "KEEL_LANES=auto", .flags = KEEL_PARAM_FLAG_NONDETERMINISTIC},
        {.ranks = 3, .lanes = "KEEL_LANES=auto", .flags = KEEL_PARAM_FLAG_THREADS},
        {.ranks = 3, .lanes = "KEEL_LANES=auto", .flags = KEEL_PARAM_FLAG_WAITS},
        {.ranks = 3, .lanes = "KEEL_PROTECT=none"},
    };
    static const keel_store_params_t params[] = {
        {.field_mask = KEEL_STORE_PARAM_FIELD_BYTES | KEEL_STORE_PARAM_FIELD_BLOCK_BYTES |
                       KEEL_STORE_PARAM_FIELD_RANGE_BYTES | KEEL_STORE_PARAM_FIELD_COPIES,
         .bytes = BLOCKS * BLOCK,
         .block_bytes = BLOCK,
         .range_bytes = KEEL_STORE_LEAF,
         .copies = 2},
        {.field_mask = KEEL_STORE_PARAM_FIELD_BYTES | KEEL_STORE_PARAM_FIELD_BLOCK_BYTES |
                       KEEL_STORE_PARAM_FIELD_RANGE_BYTES | KEEL_STORE_PARAM_FIELD_COPIES |
                       KEEL_STORE_PARAM_FIELD_FLAGS,
         .bytes = BLOCKS * BLOCK,
         .block_bytes = BLOCK,
         .range_bytes = 2 * KEEL_STORE_LEAF,
         .copies = 3,
         .flags = KEEL_STORE_FLAG_CONSECUTIVE},
    };
    static job_t job;
    int is_right = 1;

    for (size_t p = 0; p < sizeof(plays) / sizeof(plays[0]); p++) {
        const uint64_t first = (argc == 4) ? strtoull(argv[2], NULL, 10) : 1;
        const uint64_t last = (argc == 4) ? strtoull(argv[3], NULL, 10) : SEEDS;

        for (uint64_t seed = first; seed <= last && (argc == 4 ? strtoull(argv[1], NULL, 10) == p : is_right); seed++) {
            few_play_t play = plays[p];

            play.windows = 1;
            play.ready = make_store;
            play.phases = phases;
            if (!run(&job, &play, &params[seed % 2], seed,
                     strstr(play.lanes, "none") != NULL ? 0 : 1 + (unsigned)(seed % DEATHS_MAX))) {
                fprintf(stderr, "... in play %zu\n", p);
                is_right = 0;
            }
        }
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
