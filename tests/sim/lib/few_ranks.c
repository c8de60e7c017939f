/* Small programs. */
#include "few_ranks.h"

#include "base/memory.h"
#include "job/init.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static keel_status_t setup(few_t *few, uint32_t rank, keel_win_h *last_p)
{
    keel_status_t status = KEEL_OK;

    if (few->play->begin != NULL) {
        few->play->begin(few, rank);
    }
    for (unsigned i = 0; i < few->play->windows && status == KEEL_OK; i++) {
        status = keel_win_alloc(few->ctx[rank], few->play->bytes > 0 ? few->play->bytes : 64, NULL, last_p);
    }
    if (status == KEEL_OK && few->play->ready != NULL) {
        few->play->ready(few, rank);
    }
    return status;
}

static keel_status_t lives(few_t *few, uint32_t rank, keel_win_h last)
{
    keel_status_t status;

    do {
        status = keel_restarted(few->ctx[rank]) ? keel_restore(few->ctx[rank]) : KEEL_OK;
        if (status == KEEL_OK) {
            status = few->play->phases(few, rank, last);
        }
        if (status == KEEL_OK && !few->play->has_failed) {
            status = keel_finalize(few->ctx[rank]);
        }
    } while (status == KEEL_ERR_ROLLED_BACK);
    return status;
}

static void program(void *arg, keel_sim_t *sim, uint32_t rank, uint32_t incarnation)
{
    few_t *few = arg;
    const char *env[] = {(few->play->ranks == 2) ? "KEEL_GROUP_SIZE=2" : "KEEL_GROUP_SIZE=3",
                         "KEEL_CKPT_INTERVAL=off",
                         "KEEL_OPLOG_SIZE=64k",
                         "KEEL_GETLOG_SIZE=64k",
                         (few->play->replaced > 0) ? "KEEL_SHRINK=last"
                         : few->play->shrinks      ? "KEEL_SHRINK=now"
                                                   : "KEEL_CKPT_INTERVAL=off",
                         (few->play->lanes != NULL) ? few->play->lanes : "KEEL_LANES=auto",
                         (few->play->shrinks && !few->play->is_protected) ? "KEEL_PROTECT=none" : NULL,
                         NULL};
    keel_drivers_t drivers = *keel_sim_drivers(sim);
    const keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_ENV | KEEL_PARAM_FIELD_FLAGS,
                                  .env = env,
                                  .flags = few->play->flags | KEEL_PARAM_FLAG_CHECKSUM_RETURNS};
    keel_win_h last = NULL;
    keel_context_h ctx;
    keel_status_t status;

    drivers.counters = few->play->counters;
    status = keel_init_on(&drivers, &params, &ctx);
    if (status == KEEL_ERR_CHECKSUM) {
        return; /* the checksum rank held parity until all ranks were done */
    }
    if (few->play->shrinks && incarnation > 0 && status == KEEL_ERR_STATE) {
        return; /* turned away */
    }
    few->ctx[rank] = (status == KEEL_OK) ? ctx : NULL;
    status = (status == KEEL_OK) ? setup(few, rank, &last) : status;
    status = (status == KEEL_OK) ? lives(few, rank, last) : status;
    if (status != KEEL_OK) {
        keel_sim_flaw(sim, "rank %u.%u: %s", rank, incarnation, keel_status_string(status));
    }
    few->ctx[rank] = NULL;
}

static void hook(void *arg, keel_sim_t *sim)
{
    few_t *few = arg;

    few->play->strike(few);
    keel_sim_hook_at(sim, keel_sim_step(sim) + 1);
}

keel_status_t few_progress(few_t *few, uint32_t rank)
{
    keel_sim_compute(few->sim, 1000);
    return keel_progress(few->ctx[rank]);
}

keel_status_t few_await_deaths(few_t *few, uint32_t rank, unsigned deaths)
{
    keel_status_t status = KEEL_OK;

    while (status == KEEL_OK && few->deaths < deaths) {
        status = few_progress(few, rank);
    }
    return status;
}

keel_status_t few_put_ring(const few_t *few, uint32_t rank, keel_win_h win, uint64_t word)
{
    const uint64_t own = word + rank;

    return keel_put(win, (rank + 1) % few->play->ranks, 0, &own, sizeof(own));
}

keel_status_t few_gsync_ring(const few_t *few, uint32_t rank, keel_win_h win, uint64_t word)
{
    const uint32_t before = (rank + few->play->ranks - 1) % few->play->ranks;
    keel_status_t status = keel_gsync(few->ctx[rank], 0);

    if (status == KEEL_OK && *(const uint64_t *)keel_win_base(win) != word + before) {
        status = KEEL_ERR_CORRUPT;
    }
    return status;
}

void few_kill(few_t *few, uint32_t rank)
{
    few->deaths += (unsigned)keel_sim_kill(few->sim, rank);
    few->ctx[rank] = NULL;
}

int few_is_back(const few_t *few, uint32_t rank)
{
    const keel_context_h ctx = few->ctx[rank];

    if (ctx == NULL || keel_recovery_state(&ctx->rec) == KEEL_RANK_FRESH || ctx->sync.waits.is_replaying) {
        return 0;
    }
    for (uint32_t r = 0; r < few->play->ranks; r++) {
        const keel_context_h other = few->ctx[r];

        if (other == NULL || other->lane.peers[rank].mode != KEEL_PEER_LIVE ||
            other->lane.peers[rank].incarnation != keel_sim_incarnation(few->sim, rank) ||
            keel_recovery_is_frozen(&other->rec)) {
            return 0;
        }
    }
    return 1;
}

int few_run(few_t *few, const few_play_t *play, uint64_t seed)
{
    static const uint32_t nodes[FEW_RANKS_MAX];
    const keel_sim_options_t options = {.seed = seed,
                                        .ranks = play->ranks,
                                        .node = (play->node != NULL) ? play->node : nodes,
                                        .is_noticing = play->is_noticing,
                                        .stores = play->stores,
                                        .no_arbiter = play->no_arbiter,
                                        .declares_gone = play->shrinks,
                                        .replaced = play->replaced,
                                        .max_data = play->message,
                                        .is_verbose = getenv("FEW_VERBOSE") != NULL,
                                        .program = program,
                                        .hook = hook,
                                        .arg = few};
    int is_right;

    few->play = play;
    if (keel_sim_create(&options, &few->sim) != KEEL_OK) {
        return 0;
    }
    keel_sim_hook_at(few->sim, 1);
    is_right = keel_sim_run(few->sim) == KEEL_SIM_DONE && few->deaths == play->deaths;
    if (!is_right) {
        fprintf(stderr, "seed %lu, %u deaths: %s\n", (unsigned long)seed, few->deaths, keel_sim_flaw_text(few->sim));
    }
    keel_sim_destroy(few->sim);
    return is_right;
}

int few_main(const few_play_t *play, size_t state_size, uint64_t seeds)
{
    few_t *few = keel_alloc(state_size, "state of a test");
    int is_right = few != NULL;

    for (uint64_t seed = 1; few != NULL && seed <= seeds; seed++) {
        memset(few, 0, state_size);
        is_right &= few_run(few, play, seed);
    }
    keel_free(few);
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}

int few_main_both(const few_play_t *play, size_t state_size, uint64_t seeds)
{
    static const char *const lanes[] = {"KEEL_LANES=auto", "KEEL_LANES=served"};
    int is_right = 1;

    for (unsigned i = 0; i < 2; i++) {
        few_play_t both = *play;

        both.lanes = lanes[i];
        is_right &= few_main(&both, state_size, seeds) == EXIT_SUCCESS;
    }
    return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
