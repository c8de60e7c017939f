/*
 * KEEL_SHRINK=now: ranks die, are gone, and their copies get next holders.
 *
 *   - Every load equals what was submitted, also of blocks that a gone rank submitted. No block is
 *     lost while fewer holders than copies die between two repairs.
 *   - After a repair each range has as many copies as ranks with room allow, at different ranks.
 *     Two copies are on one node only if no rank of another node has a spare cell.
 *   - All ranks have the same version, also if ranks die amid the submit. A full submit has no
 *     blocks of the gone, an update keeps theirs.
 */
#include "few_store.h"

#include "store/store_refill.h"
#include "store/store_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RANKS = 6,
    ROUNDS = 7,
    BLOCK = 100,
    BLOCKS = 70,
    LOADS = 4,
    SEEDS = 68,
    UPDATE_EVERY = 3,
    FIXED = 0,
    MOVING = 1
};

static const uint32_t node_of[RANKS] = {0, 0, 1, 1, 2, 2};

typedef struct job {
    few_t few;
    few_play_t play;
    uint64_t seed;
    unsigned wanted;   /* deaths */
    unsigned together; /* ranks that die between two repairs */
    unsigned struck;   /* of these */
    uint64_t steps, next;
    keel_store_params_t params;
    keel_store_h store[RANKS][2];
    uint32_t members[2][64]; /* by store and version: ranks that submitted, a bit for each */
    unsigned rounds[RANKS];
    unsigned checks;
    uint8_t room[RANKS][2][BLOCKS * BLOCK];
} job_t;

static uint64_t draw(uint64_t seed, uint64_t number)
{
    uint64_t x = seed * 0x9e3779b97f4a7c15ull + number * 0xd1342543de82ef95ull;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

/* ---- the program ---- */

/* The submit of all blocks that the version began with. Versions count from 1. */
static unsigned base_of(unsigned version)
{
    return (version > 1 && version % UPDATE_EVERY == 0) ? version - 1 : version;
}

static uint64_t blocks_of(const job_t *job, unsigned which, unsigned version, uint32_t rank)
{
    const unsigned base = base_of(version);

    return (job->members[which][base] & (1u << rank))
               ? draw(job->seed, 3000 + which * 1000 + base * 64 + rank) % (BLOCKS + 1)
               : 0;
}

/* An update replaces the first block of each remaining rank. */
static void fill(const job_t *job, unsigned which, unsigned version, uint32_t rank, uint64_t first, uint64_t count,
                 uint8_t *to)
{
    for (uint64_t i = 0; i < count * BLOCK; i++) {
        const int is_updated = first * BLOCK + i < BLOCK && (job->members[which][version] & (1u << rank));
        const unsigned from = is_updated ? version : base_of(version);

        to[i] = (uint8_t)(draw(job->seed + from + 100 * which, rank * 100000ull + first * BLOCK + i) >> 8);
    }
}

static void make_stores(few_t *few, uint32_t rank)
{
    job_t *job = (job_t *)few;
    keel_store_params_t fixed = job->params;

    fixed.field_mask |= KEEL_STORE_PARAM_FIELD_FLAGS | KEEL_STORE_PARAM_FIELD_SEED;
    fixed.flags = KEEL_STORE_FLAG_STATIC;
    fixed.seed = 5;
    few_store_make(few, rank, &fixed, &job->store[rank][FIXED]);
    few_store_make(few, rank, &job->params, &job->store[rank][MOVING]);
}

static keel_status_t submit(job_t *job, uint32_t rank, unsigned which, const keel_world_t *world)
{
    const keel_store_h store = job->store[rank][which];
    const unsigned version = keel_store_head(store)->submits + 1;
    uint8_t *bytes = job->room[rank][0];
    keel_store_part_t part = {.rank = rank, .count = 1, .buffer = bytes};
    uint32_t members = 0;
    uint64_t count;

    for (uint32_t i = 0; i < world->size; i++) {
        members |= 1u << world->ranks[i];
    }
    job->members[which][version] = members;
    count = blocks_of(job, which, version, rank);
    fill(job, which, version, rank, 0, count, bytes);
    part.count = (count > 0) ? 1 : 0;
    return (base_of(version) == version) ? keel_store_submit(store, bytes, count)
                                         : keel_store_update(store, &part, part.count);
}

static keel_status_t load(job_t *job, uint32_t rank, unsigned turn)
{
    const unsigned which = turn % 2;
    const keel_store_h store = job->store[rank][which];
    const unsigned version = keel_store_head(store)->submits;
    const uint64_t number = job->steps * 64 + turn * 8 + rank;
    const uint32_t from = (uint32_t)(draw(job->seed, 4000 + number) % RANKS);
    const uint64_t count = blocks_of(job, which, version, from);
    const uint64_t first = (count > 0) ? draw(job->seed, 5000 + number) % count : 0;
    keel_store_part_t part = {.rank = from, .first = first, .count = count - first, .buffer = job->room[rank][0]};
    uint64_t known = 0;
    keel_status_t status = keel_store_count(store, from, &known);

    status = (status == KEEL_OK) ? keel_store_load(store, &part, 1) : status;
    if (status != KEEL_OK) {
        return status;
    }
    fill(job, which, version, from, first, part.count, job->room[rank][1]);
    if (known != count || memcmp(job->room[rank][0], job->room[rank][1], part.count * BLOCK) != 0) {
        keel_sim_flaw(job->few.sim, "rank %u loads other blocks of rank %u than were submitted in version %u", rank,
                      from, version);
        return KEEL_ERR_CORRUPT;
    }
    return KEEL_OK;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h win)
{
    job_t *job = (job_t *)few;
    keel_world_t world;
    keel_status_t status = keel_world(few->ctx[rank], &world, sizeof(world));

    (void)win;
    if (status == KEEL_OK && keel_store_head(job->store[rank][FIXED])->submits == 0) {
        status = submit(job, rank, FIXED, &world);
    }
    /* the versions count, as all ranks have the same after a shrink */
    while (status == KEEL_OK && keel_store_head(job->store[rank][MOVING])->submits < ROUNDS) {
        status = submit(job, rank, MOVING, &world);
        for (unsigned i = 0; i < LOADS && status == KEEL_OK; i++) {
            status = load(job, rank, i);
            status = (status == KEEL_OK) ? few_progress(few, rank) : status;
        }
    }
    while (status == KEEL_OK && few->deaths < job->wanted) {
        status = load(job, rank, few->deaths);
        status = (status == KEEL_OK) ? few_progress(few, rank) : status;
    }
    for (unsigned i = 0; i < 2 * LOADS && status == KEEL_OK; i++) {
        status = load(job, rank, i);
    }
    job->rounds[rank] += status == KEEL_OK;
    return (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
}

/* ---- the copies ---- */

/* A rank that goes on and that the last death has not made wait. */
static int is_at_rest(const job_t *job, uint32_t rank)
{
    const keel_context_h ctx = job->few.ctx[rank];

    return ctx != NULL && job->store[rank][MOVING] != NULL && job->rounds[rank] == 0 &&
           ctx->rec.roll == KEEL_ROLL_NONE && !keel_recovery_is_frozen(&ctx->rec) &&
           ctx->rec.shrink.completed == job->few.deaths;
}

static int has_copies(const struct keel_store *store)
{
    const keel_store_head_t *head = keel_store_head(store);

    return head->newest == 0 ||
           (store->place.next.gone == store->ctx->rec.shrink.completed &&
            head->complete[head->newest - 1] == keel_store_complete_word(store, head->label[head->newest - 1]));
}

/* A rank of a node without a copy that has a spare cell; or, with a copy lacking, any rank without
 * a copy. */
static int has_better(const struct keel_store *store, uint32_t nodes, uint32_t holders, int is_lacking)
{
    for (uint32_t r = 0; r < RANKS; r++) {
        if (!keel_store_place_is_gone(&store->place, r) && !(holders & (1u << r)) &&
            store->place.next.used[r] < store->place.params.spare && (is_lacking || !(nodes & (1u << node_of[r])))) {
            return 1;
        }
    }
    return 0;
}

static void check_range(job_t *job, unsigned which, const struct keel_store *store, uint64_t range)
{
    const keel_store_head_t *head = keel_store_head(store);
    const uint32_t slot = head->newest - 1;
    uint32_t holders = 0, nodes = 0;
    int is_crowded = 0, is_lacking = 0;

    for (uint32_t copy = 0; copy < store->place.params.copies; copy++) {
        const keel_store_cell_t cell = keel_store_place_find(&store->place, range, copy);
        const keel_store_mark_t *mark;

        if (cell.holder == KEEL_STORE_NO_HOLDER) {
            is_lacking = 1;
            continue;
        }
        if (holders & (1u << cell.holder) || job->store[cell.holder][which] == NULL) {
            keel_sim_flaw(job->few.sim, "range %lu has a wrong holder", (unsigned long)range);
            return;
        }
        is_crowded |= (nodes & (1u << node_of[cell.holder])) != 0;
        nodes |= 1u << node_of[cell.holder];
        holders |= 1u << cell.holder;
        mark = keel_store_own_mark(job->store[cell.holder][which], slot, cell.index);
        if (mark->label != head->label[slot] || mark->range != range) {
            keel_sim_flaw(job->few.sim, "rank %u lacks its copy of range %lu", cell.holder, (unsigned long)range);
            return;
        }
    }
    if ((is_lacking || is_crowded) && has_better(store, nodes, holders, is_lacking)) {
        keel_sim_flaw(job->few.sim, "range %lu: copies share a node, or too few, beside a rank with room",
                      (unsigned long)range);
    }
}

/* Checks all ranges if every rank is at rest and repaired, with one version. Returns 0
 * otherwise. */
static int check_repaired(job_t *job)
{
    const struct keel_store *first[2] = {NULL, NULL};

    for (uint32_t r = 0; r < RANKS; r++) {
        if (!keel_sim_is_alive(job->few.sim, r)) {
            continue;
        }
        if (!is_at_rest(job, r) || !has_copies(job->store[r][FIXED]) || !has_copies(job->store[r][MOVING])) {
            return 0;
        }
        for (unsigned which = 0; which < 2; which++) {
            first[which] = (first[which] == NULL) ? job->store[r][which] : first[which];
            if (keel_store_head(first[which])->newest != keel_store_head(job->store[r][which])->newest ||
                keel_store_head(first[which])->submits != keel_store_head(job->store[r][which])->submits ||
                job->store[r][which]->is_submit_called) {
                return 0;
            }
        }
    }
    for (unsigned which = 0; which < 2 && first[which] != NULL && keel_store_head(first[which])->newest > 0; which++) {
        for (uint64_t range = 0; range < RANKS * first[which]->place.params.ranges; range++) {
            if (!keel_store_is_without(first[which], keel_store_head(first[which])->newest - 1,
                                       (uint32_t)(range / first[which]->place.params.ranges))) {
                check_range(job, which, first[which], range);
            }
        }
        job->checks++;
    }
    return 1;
}

/* ---- deaths ---- */

static int has_copies_everywhere(const job_t *job)
{
    for (uint32_t r = 0; r < RANKS; r++) {
        if (keel_sim_is_alive(job->few.sim, r) &&
            (!is_at_rest(job, r) || !has_copies(job->store[r][FIXED]) || !has_copies(job->store[r][MOVING]))) {
            return 0;
        }
    }
    return 1;
}

static void strike(few_t *few)
{
    job_t *job = (job_t *)few;
    uint32_t rank;

    if (job->steps++ % 8 == 0 && few->deaths > 0) {
        (void)check_repaired(job);
    }
    if (few->deaths == job->wanted || job->steps < job->next) {
        return;
    }
    if (job->struck == 0 && !has_copies_everywhere(job)) {
        return;
    }
    rank = (uint32_t)(draw(job->seed, 7000 + job->steps) % RANKS);
    if (few->ctx[rank] == NULL || !keel_sim_is_alive(few->sim, rank)) {
        return;
    }
    few_kill(few, rank);
    job->store[rank][FIXED] = job->store[rank][MOVING] = NULL;
    job->play.deaths = few->deaths;
    job->struck = (job->struck + 1) % job->together;
    job->next = job->steps + draw(job->seed, 8000 + few->deaths) % ((job->struck > 0) ? 60 : 1500);
}

static int run(uint64_t seed, unsigned *checks)
{
    static const char *const lanes[] = {"KEEL_LANES=direct", "KEEL_LANES=served"};
    static job_t job;
    const uint32_t copies = 2 + (uint32_t)(seed / 2 % 2);
    int is_right;

    memset(&job, 0, sizeof(job));
    job = (job_t){.seed = seed,
                  .together = copies - 1,
                  .wanted = (copies - 1) * (1 + (unsigned)(seed / 4 % 2)),
                  .params = few_store_params(BLOCKS * BLOCK, BLOCK, KEEL_STORE_LEAF, copies)};
    job.play = (few_play_t){.ranks = RANKS,
                            .windows = 1,
                            .node = node_of,
                            .lanes = lanes[seed % 2],
                            .shrinks = 1,
                            .ready = make_stores,
                            .phases = phases,
                            .strike = strike};
    job.next = draw(seed, 9000) % 4000;
    is_right = few_run(&job.few, &job.play, seed);
    *checks += job.checks;
    return is_right;
}

/* copies_outlive_gone_ranks [FIRST LAST]: other seeds */
int main(int argc, char **argv)
{
    /* a rank learns of a shrink in the first gsync of a submit, with all others in the second */
    static const uint64_t rare[] = {516, 640, 2708, 2980, 3408};
    const uint64_t first = (argc == 3) ? strtoull(argv[1], NULL, 10) : 1;
    const uint64_t last = (argc == 3) ? strtoull(argv[2], NULL, 10) : SEEDS;
    int is_right = 1;
    unsigned checks = 0;

    for (uint64_t seed = first; seed <= last && is_right; seed++) {
        is_right = run(seed, &checks);
    }
    for (size_t i = 0; argc != 3 && is_right && i < sizeof(rare) / sizeof(rare[0]); i++) {
        is_right = run(rare[i], &checks);
    }
    printf("%u checks of all copies\n", checks);
    return (is_right && checks > 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}
