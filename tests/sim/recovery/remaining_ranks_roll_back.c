/*
 * KEEL_SHRINK with checkpoints: ranks die at any moment, also amid the steps that follow another
 * death. With the value now all are gone; with the value last the first ones are replaced. The
 * other ranks go back to the newest checkpoint:
 *
 *   - under one epoch all see the same ranks, order of the gone, checkpoint, position and groups;
 *   - memory is that of the checkpoint, also at a replacement that died with a gone rank;
 *   - locks held in a checkpoint are held again, except those that gone ranks held;
 *   - a rollback that the program asks for goes back once more, with the same ranks;
 *   - further checkpoints are complete without the gone, and the shares of each group fit the
 *     images of its members, which are remaining ranks and more than its parities.
 */
#include "shrinks.h"

#include "ckpt/stripes.h"
#include "peer/members.h"
#include "peer/region.h"
#include "recovery/shrink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS 7
#define STEPS 14
#define SEEDS 110
#define WORD  1000u
/* a seed with which the leader dies amid telling the others that the program asks for a rollback */
#define REQUESTER_IS_GONE 2891

/* words of the last window; two for the neighbour, in turn */
enum { RING = 0, STEP = 2, CHAIN, SAVED, HELD, HELD_WINDOW, WORDS };

typedef struct seen {
    uint32_t epoch, checkpoint, gone, groups;
    uint32_t order[RANKS];
} seen_t;

typedef struct job {
    few_t few;
    few_play_t play;
    shrinks_t deaths;
    int has_locks;
    int rolls_back, has_rolled_back; /* the program asks for a rollback after the first shrink */
    seen_t seen[2 * RANKS];
    unsigned count;
    uint64_t at[RANKS];              /* step of each rank */
    int is_awaited[RANKS];           /* its replacement has no memory yet */
    uint32_t checked, checked_epoch; /* newest generation with checked shares */
    unsigned shares;                 /* checked after a shrink */
} job_t;

static int failed(few_t *few, uint32_t rank, const char *what)
{
    keel_sim_flaw(few->sim, "rank %u: %s", rank, what);
    return 0;
}

/* ---- worlds and groups ---- */

/* A digest of the groups; 0: a gone rank is a member, or a group has no more members than
 * parities. */
static uint32_t digest_groups(const keel_context_h ctx, const keel_world_t *world)
{
    const keel_groups_t *groups = &ctx->ckpt.groups;
    const uint32_t parities = ctx->config.parities;
    uint32_t digest = 1, members = 0;

    for (uint32_t g = 0; g < groups->count; g++) {
        for (uint32_t i = 0; i < groups->size[g]; i++) {
            digest = digest * 31 + groups->members[g][i] + 1;
        }
        digest = digest * 31 + 100;
        members += groups->size[g];
        if (groups->size[g] <= parities) {
            return 0;
        }
    }
    for (uint32_t i = 0; i < world->gone_size && groups->count > 0; i++) {
        if (groups->of_rank[world->gone[i]] != KEEL_GROUP_NONE) {
            return 0;
        }
    }
    return (members == ((world->size > parities) ? world->size : 0)) ? digest | 1 : 0;
}

/* Compares with the worlds of other ranks. */
static int note_world(job_t *job, uint32_t rank, const keel_world_t *world)
{
    const keel_context_h ctx = job->few.ctx[rank];
    seen_t now = {.epoch = world->epoch, .groups = digest_groups(ctx, world)};

    if (world->epoch > 0 && ctx->rec.shrink.epoch == ctx->rec.roll_target) {
        now.checkpoint = ctx->rec.generation.number;
    }
    for (uint32_t i = 0; i < world->gone_size; i++) {
        now.gone |= 1u << world->gone[i];
        now.order[i] = world->gone[i];
    }
    if (now.groups == 0) {
        return failed(&job->few, rank, "wrong groups");
    }
    for (unsigned i = 0; i < job->count; i++) {
        const seen_t *older = (job->seen[i].epoch < now.epoch) ? &job->seen[i] : &now;
        const seen_t *newer = (job->seen[i].epoch < now.epoch) ? &now : &job->seen[i];

        if (memcmp(newer->order, older->order, (size_t)__builtin_popcount(older->gone) * sizeof(*older->order)) != 0) {
            return failed(&job->few, rank, "another order of the gone");
        }
        if (job->seen[i].epoch == now.epoch) {
            now.checkpoint = (now.checkpoint == 0) ? job->seen[i].checkpoint : now.checkpoint;
            return memcmp(&job->seen[i], &now, sizeof(now)) == 0 || failed(&job->few, rank, "two worlds of one epoch");
        }
    }
    if (job->count > job->few.deaths + (unsigned)job->has_rolled_back) {
        return failed(&job->few, rank, "an epoch without a death");
    }
    job->seen[job->count++] = now;
    return 1;
}

/* ---- shares ---- */

static const uint8_t *image_of(const few_t *few, const keel_image_set_t *set, uint32_t member, uint64_t *size_p)
{
    const keel_context_h ctx = few->ctx[set->group->members[member]];
    const keel_images_t *used = &ctx->ckpt.set.used;

    *size_p = used->members[ctx->ckpt.group.index].size;
    return keel_lane_region_base(&ctx->lane, KEEL_REGION_IMAGE0 + used->members[ctx->ckpt.group.index].slot);
}

/* The sum of a stripe's data chunks and of its parity chunk is zero. */
static int share_fits(const few_t *few, const keel_context_h ctx)
{
    const keel_image_set_t *set = &ctx->ckpt.set;
    const keel_stripes_t stripes = keel_parity_stripes(&ctx->ckpt.group);
    const uint8_t *share = keel_lane_region_base(&ctx->lane, KEEL_REGION_PARITY0 + set->used.share_slot);
    const uint32_t index = ctx->ckpt.group.index;
    const uint32_t stripe = keel_stripes_stripe(&stripes, index, keel_stripes_share_place(&stripes, index, 0));
    const uint8_t *image[RANKS];
    uint64_t size[RANKS], chunk;

    for (uint32_t i = 0; i < stripes.size; i++) {
        image[i] = image_of(few, set, i, &size[i]);
    }
    chunk = keel_stripes_chunk(&stripes, size);
    for (uint64_t b = 0; b < chunk; b++) {
        uint8_t sum = share[b];

        for (uint32_t place = 0; place < keel_stripes_data(&stripes); place++) {
            const uint32_t member = keel_stripes_member(&stripes, stripe, place);
            const uint64_t at = keel_stripes_number(&stripes, place) * chunk + b;

            sum ^= (at < size[member]) ? image[member][at] : 0;
        }
        if (sum != 0) {
            return 0;
        }
    }
    return 1;
}

static int is_known_gone(const few_t *few, uint32_t rank)
{
    for (uint32_t r = 0; r < RANKS; r++) {
        if (few->ctx[r] != NULL && !keel_rank_is_gone(&few->ctx[r]->lane, rank)) {
            return 0;
        }
    }
    return 1;
}

/* The generation that all ranks have in use, with their shares, while nothing happens; 0: none. */
static uint32_t generation_at_rest(const few_t *few, uint32_t *epoch_p)
{
    uint32_t number = 0;

    for (uint32_t r = 0; r < RANKS; r++) {
        const keel_context_h ctx = few->ctx[r];

        if (ctx == NULL) {
            if (!is_known_gone(few, r)) {
                return 0;
            }
            continue;
        }
        if (keel_recovery_is_frozen(&ctx->rec) || ctx->rec.roll != KEEL_ROLL_NONE || ctx->ckpt.set.used.number == 0 ||
            ctx->ckpt.set.state.stage != KEEL_SET_IDLE || !keel_image_set_is_armed(&ctx->ckpt.set) ||
            (number != 0 && ctx->ckpt.set.used.number != number)) {
            return 0;
        }
        number = ctx->ckpt.set.used.number;
        *epoch_p = ctx->rec.shrink.epoch;
    }
    return number;
}

/* A rank at its last step may be releasing its context. */
static int has_ended(const job_t *job)
{
    for (uint32_t r = 0; r < RANKS; r++) {
        if (job->at[r] >= STEPS) {
            return 1;
        }
    }
    return 0;
}

static void check_shares(job_t *job)
{
    uint32_t epoch = 0;
    const uint32_t number = has_ended(job) ? 0 : generation_at_rest(&job->few, &epoch);

    if (number == 0 || (number == job->checked && epoch == job->checked_epoch)) {
        return;
    }
    job->checked = number;
    job->checked_epoch = epoch;
    for (uint32_t r = 0; r < RANKS; r++) {
        const keel_context_h ctx = job->few.ctx[r];

        if (ctx == NULL || ctx->ckpt.group.parities != 1) {
            continue;
        }
        if (!share_fits(&job->few, ctx)) {
            failed(&job->few, r, "its share does not fit the images of its group");
        }
        job->shares += ctx->lane.gone > 0;
    }
}

/* ---- the program ---- */

static int is_member(const keel_world_t *world, uint64_t rank)
{
    for (uint32_t i = 0; i < world->size; i++) {
        if (world->ranks[i] == rank) {
            return 1;
        }
    }
    return 0;
}

static keel_status_t take_locks(few_t *few, uint32_t rank, keel_win_h win, const keel_world_t *world)
{
    const uint32_t first = world->ranks[0], last = world->ranks[world->size - 1];
    uint64_t *own = keel_win_base(win);
    keel_status_t status;

    if (world->size < 3 || rank != world->ranks[1]) {
        return KEEL_OK;
    }
    status = keel_lock(few->ctx[rank], first);
    own[HELD] = (status == KEEL_OK) ? first + 1 : 0;
    status = (status == KEEL_OK) ? keel_win_lock(few->ctx[rank]->windows.list[0], last, KEEL_LOCK_EXCLUSIVE) : status;
    own[HELD_WINDOW] = (status == KEEL_OK) ? last + 1 : 0;
    return status;
}

static keel_status_t release_locks(few_t *few, uint32_t rank, keel_win_h win, const keel_world_t *world)
{
    uint64_t *own = keel_win_base(win);
    const uint64_t held = own[HELD], window = own[HELD_WINDOW];
    keel_status_t status = KEEL_OK;

    own[HELD] = own[HELD_WINDOW] = 0;
    if (window > 0 && is_member(world, window - 1)) {
        status = keel_win_unlock(few->ctx[rank]->windows.list[0], (uint32_t)window - 1);
    }
    if (status == KEEL_OK && held > 0 && is_member(world, held - 1)) {
        status = keel_unlock(few->ctx[rank], (uint32_t)held - 1);
    }
    return status;
}

static keel_status_t save(job_t *job, uint32_t rank, keel_win_h win, const keel_world_t *world)
{
    uint64_t *own = keel_win_base(win);
    keel_status_t status = KEEL_OK;

    if (own[STEP] % 3 == 0 && own[SAVED] != own[STEP]) {
        status = job->has_locks ? take_locks(&job->few, rank, win, world) : KEEL_OK;
        own[SAVED] = own[STEP];
        status = (status == KEEL_OK) ? keel_checkpoint(job->few.ctx[rank]) : status;
    }
    return (status == KEEL_OK) ? release_locks(&job->few, rank, win, world) : status;
}

static keel_status_t step_of(job_t *job, uint32_t rank, keel_win_h win, const keel_world_t *world)
{
    uint64_t *own = keel_win_base(win);
    const uint64_t number = own[STEP], word = WORD * number + rank;
    const uint32_t next = shrinks_neighbour(world, rank, 1), before = shrinks_neighbour(world, rank, world->size - 1);
    keel_status_t status = keel_put(win, next, number % 2 * sizeof(word), &word, sizeof(word));

    status = (status == KEEL_OK) ? few_progress(&job->few, rank) : status;
    if (status != KEEL_OK) {
        return status;
    }
    own[CHAIN] = own[CHAIN] * 31 + number;
    own[STEP] = number + 1;
    status = keel_gsync(job->few.ctx[rank], KEEL_GSYNC_SAFE);
    if (status == KEEL_OK && own[RING + number % 2] != WORD * number + before) {
        failed(&job->few, rank, "the word of the neighbour is missing");
    }
    return status;
}

static int is_chain(const uint64_t *own)
{
    uint64_t chain = 0;

    for (uint64_t i = 0; i < own[STEP]; i++) {
        chain = chain * 31 + i;
    }
    return own[CHAIN] == chain;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    job_t *job = (job_t *)few;
    uint64_t *own = keel_win_base(last);
    const uint64_t begun = own[STEP];
    keel_world_t world;
    keel_status_t status = keel_world(few->ctx[rank], &world, sizeof(world));

    if (status != KEEL_OK || !note_world(job, rank, &world)) {
        return status;
    }
    if (own[STEP] > STEPS || !is_chain(own)) {
        failed(few, rank, "memory is not that of a checkpoint");
        return KEEL_ERR_CORRUPT;
    }
    if (job->rolls_back && !job->has_rolled_back && world.epoch > 0 && rank == world.ranks[0]) {
        job->has_rolled_back = 1;
        status = keel_rollback(few->ctx[rank]);
    }
    while (status == KEEL_OK && own[STEP] < STEPS) {
        job->at[rank] = own[STEP];
        status = save(job, rank, last, &world);
        status = (status == KEEL_OK) ? step_of(job, rank, last, &world) : status;
    }
    job->at[rank] = own[STEP];
    if (status == KEEL_OK && begun + STEPS / 2 <= STEPS &&
        few->ctx[rank]->ckpt.set.used.number <= few->ctx[rank]->rec.generation.number) {
        failed(few, rank, "no further checkpoint is complete");
    }
    return (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
}

/* The last gsync may be over at some rank: later deaths end a job. */
static int is_ending(const job_t *job)
{
    for (uint32_t r = 0; r < RANKS; r++) {
        if (job->few.ctx[r] != NULL && (job->at[r] + 2 > STEPS || keel_recovery_is_finished(&job->few.ctx[r]->rec))) {
            return 1;
        }
    }
    return 0;
}

static int is_whole(job_t *job, uint32_t rank)
{
    const keel_context_h ctx = job->few.ctx[rank];

    if (ctx != NULL && keel_recovery_state(&ctx->rec) != KEEL_RANK_FRESH) {
        job->is_awaited[rank] = 0;
    }
    return ctx != NULL && !job->is_awaited[rank] && keel_image_set_is_armed(&ctx->ckpt.set);
}

/* A bit for each rank of a group that cannot lose another member, while a replacement needs an
 * image or the next death has a replacement. */
static uint32_t ranks_to_spare(job_t *job)
{
    uint32_t spared = 0, awaited = 0, any = RANKS;

    for (uint32_t r = 0; r < RANKS; r++) {
        any = (job->few.ctx[r] != NULL) ? r : any;
        awaited += !is_whole(job, r) && job->is_awaited[r];
    }
    if (any == RANKS || (awaited == 0 && job->few.deaths >= job->play.replaced)) {
        return (any == RANKS) ? UINT32_MAX : 0;
    }
    for (uint32_t g = 0; g < job->few.ctx[any]->ckpt.groups.count; g++) {
        const keel_groups_t *groups = &job->few.ctx[any]->ckpt.groups;
        uint32_t members = 0, missing = 0;

        for (uint32_t i = 0; i < groups->size[g]; i++) {
            members |= 1u << groups->members[g][i];
            missing += !is_whole(job, groups->members[g][i]);
        }
        spared |= (missing < job->few.ctx[any]->config.parities) ? 0 : members;
    }
    return spared;
}

static void strike(few_t *few)
{
    job_t *job = (job_t *)few;

    check_shares(job);
    if (is_ending(job)) {
        return;
    }
    job->deaths.spared = (job->play.replaced > 0) ? ranks_to_spare(job) : 0;
    if (shrinks_strike(&job->deaths, few)) {
        job->is_awaited[job->deaths.victim] = few->deaths <= job->play.replaced;
        job->play.deaths = few->deaths;
    }
}

static const char *const lanes[] = {"KEEL_LANES=direct", "KEEL_LANES=served"};
static const uint32_t nodes[][RANKS] = {{0}, {0, 1, 2, 3, 4, 5, 6}, {0, 0, 1, 1, 2, 2, 3}};

int main(int argc, char **argv)
{
    const uint64_t first = (argc > 1) ? strtoull(argv[1], NULL, 10) : 1;
    const uint64_t last = (argc > 2) ? strtoull(argv[2], NULL, 10) : (argc > 1) ? first : SEEDS;
    uint64_t middle = 0;
    unsigned epochs = 0, shares = 0;
    int is_right = 1;

    for (uint64_t run = first; run <= last && is_right; run++) {
        const uint64_t seed = (argc == 1 && run == last) ? REQUESTER_IS_GONE : run;
        const unsigned replaced = (seed % 3 == 0) ? 1 + (unsigned)(seed / 3 % 2) : 0;
        job_t job = {.deaths = shrinks_draw(seed, 1 + replaced + (unsigned)(seed / 2 % 4), 2500),
                     .has_locks = seed / 4 % 2 == 0,
                     .rolls_back = seed % 7 == 0};

        job.play = (few_play_t){.ranks = RANKS,
                                .windows = 2,
                                .node = nodes[(replaced > 0) ? 2 : seed % 2],
                                .lanes = (replaced > 0) ? "KEEL_PARITIES=2" : lanes[seed % 2],
                                .shrinks = 1,
                                .is_protected = 1,
                                .replaced = replaced,
                                .phases = phases,
                                .strike = strike};
        is_right &= few_run(&job.few, &job.play, seed);
        middle += job.deaths.middle;
        epochs += job.count;
        shares += job.shares;
    }
    if (first != last && (middle == 0 || epochs <= last - first + 1 || shares == 0)) {
        fprintf(stderr, "no death came in the middle of a recovery, or no shares were made after one\n");
        is_right = 0;
    }
    printf("%u worlds, %u shares of new groups, %lu deaths in the middle of a recovery\n", epochs, shares,
           (unsigned long)middle);
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
