/* Small programs of two ranks, or three. */
#include "two_ranks.h"

#include <stdio.h>

static void program(void *arg, keel_sim_t *sim, uint32_t rank, uint32_t incarnation)
{
    pair_t *pair = arg;
    const char *env[] = {"KEEL_GROUP_SIZE=2",    "KEEL_CKPT_INTERVAL=off", "KEEL_OPLOG_SIZE=64k",
                         "KEEL_GETLOG_SIZE=64k", pair->play->lanes,        NULL};
    const keel_params_t params = {
        .field_mask = KEEL_PARAM_FIELD_ENV | KEEL_PARAM_FIELD_DRIVERS, .env = env, .drivers = keel_sim_drivers(sim)};
    keel_context_h ctx;
    keel_win_h first;
    keel_status_t status = keel_init(&params, &ctx);

    pair->ctx[rank] = (status == KEEL_OK) ? ctx : NULL;
    if (pair->play->begin != NULL) {
        pair->play->begin(pair, rank);
    }
    status = (status == KEEL_OK) ? keel_win_alloc(ctx, 64, NULL, &first) : status;
    if (status == KEEL_OK && keel_restarted(ctx)) {
        status = keel_restore(ctx);
    }
    status = (status == KEEL_OK) ? pair->play->phases(pair, rank, first) : status;
    status = (status == KEEL_OK) ? keel_finalize(ctx) : status;
    if (status != KEEL_OK) {
        keel_sim_flaw(sim, "rank %u.%u: %s", rank, incarnation, keel_status_string(status));
    }
    pair->ctx[rank] = NULL;
}

static void hook(void *arg, keel_sim_t *sim)
{
    pair_t *pair = arg;

    pair->play->strike(pair);
    keel_sim_hook_at(sim, keel_sim_step(sim) + 1);
}

void pair_kill(pair_t *pair, uint32_t rank)
{
    pair->deaths += (unsigned)keel_sim_kill(pair->sim, rank);
    pair->ctx[rank] = NULL;
}

int pair_run(pair_t *pair, const pair_play_t *play, uint64_t seed)
{
    static const uint32_t nodes[PAIR_RANKS_MAX];
    const keel_sim_options_t options = {.seed = seed,
                                        .ranks = (play->ranks > 0) ? play->ranks : 2,
                                        .node = nodes,
                                        .program = program,
                                        .hook = hook,
                                        .arg = pair};
    int is_right;

    pair->play = play;
    if (keel_sim_create(&options, &pair->sim) != KEEL_OK) {
        return 0;
    }
    keel_sim_hook_at(pair->sim, 1);
    is_right = keel_sim_run(pair->sim) == KEEL_SIM_DONE && pair->deaths == play->deaths;
    if (!is_right) {
        fprintf(stderr, "seed %lu, %u deaths: %s\n", (unsigned long)seed, pair->deaths, keel_sim_flaw_text(pair->sim));
    }
    keel_sim_destroy(pair->sim);
    return is_right;
}
