/* Small programs of three ranks. */
#include "three_ranks.h"

#include <stdio.h>

static keel_status_t setup(trio_t *trio, uint32_t rank, keel_win_h *last_p)
{
    keel_status_t status = KEEL_OK;

    for (unsigned i = 0; i < trio->play->windows && status == KEEL_OK; i++) {
        status = keel_win_alloc(trio->ctx[rank], 64, NULL, last_p);
    }
    if (status == KEEL_OK) {
        trio->play->ready(trio, rank);
    }
    return status;
}

static keel_status_t lives(trio_t *trio, uint32_t rank, keel_win_h last)
{
    keel_status_t status;

    do {
        status = keel_restarted(trio->ctx[rank]) ? keel_restore(trio->ctx[rank]) : KEEL_OK;
        if (status == KEEL_OK) {
            status = trio->play->phases(trio, rank, last);
        }
        if (status == KEEL_OK) {
            status = keel_finalize(trio->ctx[rank]);
        }
    } while (status == KEEL_ERR_ROLLED_BACK);
    return status;
}

static void program(void *arg, keel_sim_t *sim, uint32_t rank, uint32_t incarnation)
{
    static const char *const env[] = {"KEEL_GROUP_SIZE=3", "KEEL_CKPT_INTERVAL=off", "KEEL_OPLOG_SIZE=64k",
                                      "KEEL_GETLOG_SIZE=64k", NULL};
    trio_t *trio = arg;
    const keel_params_t params = {.field_mask =
                                      KEEL_PARAM_FIELD_ENV | KEEL_PARAM_FIELD_DRIVERS | KEEL_PARAM_FIELD_FLAGS,
                                  .env = (const char **)env,
                                  .flags = trio->play->flags,
                                  .drivers = keel_sim_drivers(sim)};
    keel_win_h last = NULL;
    keel_status_t status = keel_init(&params, &trio->ctx[rank]);

    status = (status == KEEL_OK) ? setup(trio, rank, &last) : status;
    status = (status == KEEL_OK) ? lives(trio, rank, last) : status;
    if (status != KEEL_OK) {
        keel_sim_flaw(sim, "rank %u.%u: %s", rank, incarnation, keel_status_string(status));
    }
    trio->ctx[rank] = NULL;
}

static void hook(void *arg, keel_sim_t *sim)
{
    trio_t *trio = arg;

    trio->play->strike(trio);
    keel_sim_hook_at(sim, keel_sim_step(sim) + 1);
}

void trio_progress(trio_t *trio, uint32_t rank)
{
    (void)keel_progress(trio->ctx[rank]);
    keel_sim_compute(trio->sim, 1000);
}

void trio_kill(trio_t *trio, uint32_t rank)
{
    trio->deaths += (unsigned)keel_sim_kill(trio->sim, rank);
    trio->ctx[rank] = NULL;
}

int trio_run(trio_t *trio, const trio_play_t *play, uint64_t seed)
{
    static const uint32_t nodes[TRIO] = {0};
    const keel_sim_options_t options = {
        .seed = seed, .ranks = TRIO, .node = nodes, .program = program, .hook = hook, .arg = trio};
    int is_right;

    trio->play = play;
    if (keel_sim_create(&options, &trio->sim) != KEEL_OK) {
        return 0;
    }
    keel_sim_hook_at(trio->sim, 1);
    is_right = keel_sim_run(trio->sim) == KEEL_SIM_DONE && trio->deaths == play->deaths;
    if (!is_right) {
        fprintf(stderr, "seed %lu, %u deaths: %s\n", (unsigned long)seed, trio->deaths, keel_sim_flaw_text(trio->sim));
    }
    keel_sim_destroy(trio->sim);
    return is_right;
}
