/*
 * KEEL_SHRINK=now: ranks die at any moment and are gone, also amid the steps that follow another
 * death. The other ranks go on:
 *
 *   - under one epoch all see the same ranks, the same order of the gone, the same number of gsyncs
 *     and of windows; no epoch begins without a death, and the order of the gone only grows;
 *   - after each gsync every rank finds the word of the rank before in the ring of the remaining
 *     ranks, in the first window and in windows of fewer ranks;
 *   - a late process of a gone rank is turned away, and changes nothing;
 *   - a lock of the gone is free; accesses and locks of a gone rank are refused;
 *   - a window of the remaining ranks is locked exclusively while they share another one;
 *   - windows keep their contents.
 */
#include "shrinks.h"

#include "recovery/shrink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS  5
#define PHASES 6
#define SEEDS  60
#define KEPT   1 /* a word of the own rank alone */
#define TOTAL  2 /* at the first rank: a sum, changed inside a lock */
#define WORD   1000u

typedef struct seen {
    uint32_t epoch, phase, ranks, gone;
    uint32_t order[RANKS];
    uint32_t windows;
} seen_t;

typedef struct job {
    few_t few;
    few_play_t play;
    shrinks_t deaths;
    seen_t seen[2 * RANKS];
    unsigned count;
    unsigned rounds[RANKS];
} job_t;

static int failed(few_t *few, uint32_t rank, const char *what)
{
    keel_sim_flaw(few->sim, "rank %u: %s", rank, what);
    return 0;
}

/* Compares with the worlds of other ranks. */
static int note_world(job_t *job, uint32_t rank, const keel_world_t *world)
{
    const keel_context_h ctx = job->few.ctx[rank];
    seen_t now = {.epoch = world->epoch, .phase = ctx->rec.phase, .windows = ctx->windows.calls};

    for (uint32_t i = 0; i < world->size; i++) {
        now.ranks |= 1u << world->ranks[i];
    }
    for (uint32_t i = 0; i < world->gone_size; i++) {
        now.gone |= 1u << world->gone[i];
        now.order[i] = world->gone[i];
    }
    if ((now.ranks & now.gone) != 0 || (now.ranks | now.gone) != (1u << RANKS) - 1 || !(now.ranks & (1u << rank))) {
        return failed(&job->few, rank, "a world with wrong ranks");
    }
    for (unsigned i = 0; i < job->count; i++) {
        const seen_t *older = (job->seen[i].epoch < now.epoch) ? &job->seen[i] : &now;
        const seen_t *newer = (job->seen[i].epoch < now.epoch) ? &now : &job->seen[i];

        if (memcmp(newer->order, older->order, (size_t)__builtin_popcount(older->gone) * sizeof(*older->order)) != 0) {
            return failed(&job->few, rank, "another order of the gone");
        }
        if (job->seen[i].epoch == now.epoch) {
            return memcmp(&job->seen[i], &now, sizeof(now)) == 0 || failed(&job->few, rank, "two worlds of one epoch");
        }
    }
    if (job->count > job->few.deaths) {
        return failed(&job->few, rank, "an epoch without a death");
    }
    job->seen[job->count++] = now;
    return 1;
}

static keel_status_t check_gone(few_t *few, uint32_t rank, keel_win_h win, const keel_world_t *world)
{
    const uint64_t word = 0;

    for (uint32_t i = 0; i < world->gone_size; i++) {
        const keel_status_t put = keel_put(win, world->gone[i], 0, &word, sizeof(word));
        const keel_status_t lock = (put == KEEL_ERR_RANK) ? keel_lock(few->ctx[rank], world->gone[i]) : put;

        if (put == KEEL_ERR_ROLLED_BACK || lock == KEEL_ERR_ROLLED_BACK) {
            return KEEL_ERR_ROLLED_BACK;
        }
        if (put != KEEL_ERR_RANK || lock != KEEL_ERR_RANK) {
            keel_sim_flaw(few->sim, "rank %u: an access of gone rank %u was not refused: %s, %s", rank, world->gone[i],
                          keel_status_string(put), keel_status_string(lock));
        }
    }
    return KEEL_OK;
}

static keel_status_t locked_add(few_t *few, keel_win_h win, uint32_t target, uint32_t rank)
{
    uint64_t total = 0;
    keel_status_t status = keel_lock(few->ctx[rank], target);

    status = (status == KEEL_OK) ? keel_get(win, target, TOTAL * sizeof(total), &total, sizeof(total)) : status;
    total++;
    status = (status == KEEL_OK) ? keel_flush(few->ctx[rank], target) : status;
    status = (status == KEEL_OK) ? few_progress(few, rank) : status;
    status = (status == KEEL_OK) ? keel_put(win, target, TOTAL * sizeof(total), &total, sizeof(total)) : status;
    return (status == KEEL_OK) ? keel_unlock(few->ctx[rank], target) : status;
}

/* All but the first rank share the first window across a gsync. Meanwhile the first rank locks the
 * other window exclusively, so the shared locks become visible. */
static keel_status_t share(const few_t *few, uint32_t rank, const keel_world_t *world)
{
    return (rank == world->ranks[0]) ? KEEL_OK : keel_win_lock_all(few->ctx[rank]->windows.list[0]);
}

static keel_status_t exclude(uint32_t rank, keel_win_h win, const keel_world_t *world)
{
    keel_status_t status;

    if (rank != world->ranks[0]) {
        return KEEL_OK;
    }
    status = keel_win_lock(win, world->ranks[world->size - 1], KEEL_LOCK_EXCLUSIVE);
    return (status == KEEL_OK) ? keel_win_unlock(win, world->ranks[world->size - 1]) : status;
}

static keel_status_t unshare(const few_t *few, uint32_t rank, const keel_world_t *world)
{
    return (rank == world->ranks[0]) ? KEEL_OK : keel_win_unlock_all(few->ctx[rank]->windows.list[0]);
}

/* One round: a ring, locks, and in some rounds a window. */
static keel_status_t round_of(job_t *job, uint32_t rank, keel_win_h win, const keel_world_t *world)
{
    few_t *few = &job->few;
    const uint32_t next = shrinks_neighbour(world, rank, 1), before = shrinks_neighbour(world, rank, world->size - 1);
    const uint64_t number = few->ctx[rank]->rec.phase, own = WORD * number + rank;
    const uint64_t *words = keel_win_base(win);
    keel_win_h extra = NULL;
    keel_status_t status = locked_add(few, win, world->ranks[0], rank);

    status = (status == KEEL_OK) ? keel_put(win, next, 0, &own, sizeof(own)) : status;
    status = (status == KEEL_OK) ? share(few, rank, world) : status;
    status = (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
    if (status == KEEL_OK && words[0] != WORD * number + before) {
        failed(few, rank, "the word of the neighbour is missing");
    }
    status = (status == KEEL_OK) ? exclude(rank, win, world) : status;
    status = (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
    status = (status == KEEL_OK) ? unshare(few, rank, world) : status;
    if (status == KEEL_OK && number % 3 == 0) {
        status = keel_win_alloc(few->ctx[rank], sizeof(own), NULL, &extra);
        status = (status == KEEL_OK) ? keel_put(extra, next, 0, &own, sizeof(own)) : status;
        status = (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
        if (status == KEEL_OK && *(const uint64_t *)keel_win_base(extra) != WORD * number + before) {
            failed(few, rank, "the word of the neighbour is missing in a new window");
        }
        status = (status == KEEL_OK) ? keel_win_free(extra) : status;
    }
    if (status == KEEL_OK && words[KEPT] != WORD + rank) {
        failed(few, rank, "memory has changed");
    }
    return status;
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    job_t *job = (job_t *)few;
    uint64_t *own = keel_win_base(last);
    keel_world_t world;
    keel_status_t status = keel_world(few->ctx[rank], &world, sizeof(world));

    if (status != KEEL_OK || !note_world(job, rank, &world)) {
        return status;
    }
    if (world.epoch > 0 && own[KEPT] != 0 && own[KEPT] != WORD + rank) {
        failed(few, rank, "memory was not kept");
    }
    own[KEPT] = WORD + rank;
    status = check_gone(few, rank, last, &world);
    while (status == KEEL_OK && few->ctx[rank]->rec.phase < 3 * PHASES) {
        status = round_of(job, rank, last, &world);
    }
    return (status == KEEL_OK) ? keel_gsync(few->ctx[rank], 0) : status;
}

/* The last gsync may be over at some rank: later deaths end a job. */
static int is_ending(const few_t *few)
{
    for (uint32_t r = 0; r < RANKS; r++) {
        if (few->ctx[r] != NULL &&
            (few->ctx[r]->rec.arrived >= 3 * PHASES + 2 || keel_recovery_is_finished(&few->ctx[r]->rec))) {
            return 1;
        }
    }
    return 0;
}

static void strike(few_t *few)
{
    job_t *job = (job_t *)few;

    if (!is_ending(few) && shrinks_strike(&job->deaths, few)) {
        job->play.deaths = few->deaths;
    }
}

static const char *const lanes[] = {"KEEL_LANES=direct", "KEEL_LANES=served"};

int main(int argc, char **argv)
{
    const uint64_t first = (argc > 1) ? strtoull(argv[1], NULL, 10) : 1;
    const uint64_t last = (argc > 2) ? strtoull(argv[2], NULL, 10) : (argc > 1) ? first : SEEDS;
    uint64_t middle = 0;
    unsigned epochs = 0;
    int is_right = 1;

    for (uint64_t seed = first; seed <= last; seed++) {
        job_t job = {.deaths = shrinks_draw(seed, 1 + (unsigned)(seed / 2 % 3), 1500)};

        job.play = (few_play_t){.ranks = RANKS,
                                .windows = 2,
                                .lanes = lanes[seed % 2],
                                .shrinks = (seed % 5 == 0) ? 2 : 1,
                                .phases = phases,
                                .strike = strike};
        is_right &= few_run(&job.few, &job.play, seed);
        middle += job.deaths.middle;
        epochs += job.count;
    }
    if (first != last && (middle == 0 || epochs == 0)) {
        fprintf(stderr, "no death came in the middle of a shrink\n");
        is_right = 0;
    }
    printf("%u worlds, %lu deaths in the middle of a shrink\n", epochs, (unsigned long)middle);
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
