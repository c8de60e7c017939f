/*
 * Judges the outcome of a case: complete, rolled back or lost, and whether the outcome had a
 * reason.
 */
#include "sim_scene.h"

#include <stdio.h>

static unsigned scene_good(const scene_t *scene)
{
    unsigned good = 0;
    uint32_t r;

    for (r = 0; r < scene->ranks; ++r) {
        good += (scene->member[r].status == KEEL_OK);
    }
    return good;
}

/*
 * The rank was replaced after the last gsync and learned of it, or learned that others left for the
 * same reason.
 */
static int scene_is_late(const scene_t *scene, uint32_t rank)
{
    const keel_status_t status = scene->member[rank].status;

    return (status == KEEL_ERR_STATE) || ((status == KEEL_ERR_CATASTROPHIC) && (scene_good(scene) > 0) &&
                                          (keel_sim_incarnation(scene->sim, rank) > 0));
}

/*
 * A checksum rank left the last gsync, to which every rank of the program had come, and all of
 * those ranks were lost there.
 */
static int scene_is_left(const scene_t *scene)
{
    int is_left = 0;

    for (uint32_t r = 0; r < scene->processes; ++r) {
        is_left |= (r >= scene->ranks) && (scene->member[r].status == KEEL_OK);
        if ((r < scene->ranks) && !scene->member[r].was_there) {
            return 0;
        }
    }
    return is_left;
}

/* Every rank came to the end, except at most late ranks. */
static int scene_is_complete(const scene_t *scene)
{
    uint32_t r;

    for (r = 0; r < scene->processes; ++r) {
        if ((scene->member[r].status != KEEL_OK) && !scene_is_late(scene, r)) {
            return 0;
        }
    }
    return (scene_good(scene) > 0) || scene_is_left(scene);
}

static int scene_has_only_hung(const scene_t *scene)
{
    uint32_t hung = 0, alive = 0, r;

    for (r = 0; r < scene->processes; ++r) {
        alive += (uint32_t)keel_sim_is_alive(scene->sim, r);
        hung += (uint32_t)keel_sim_is_hung(scene->sim, r);
    }
    return (hung > 0) && (hung == alive);
}

/*
 * A rank died between the two marks of an atomic on mapped memory, so no rank can tell whether the
 * atomic was done; or logs were full.
 */
static int scene_is_in_doubt(const scene_t *scene)
{
    uint64_t in_doubt = 0;

    for (uint32_t r = 0; r < scene->ranks; ++r) {
        in_doubt += scene->member[r].stats.rollbacks_in_doubt;
    }
    if (scene->waits.gathers != GATHER_NONE && scene->result->has_overflowed) {
        /*
         * Logs may be full: no bound exists on how often a rank looks, or on how far others go on
         * until they learn of a death.
         */
        return 1;
    }
    return (scene->waits.gathers != GATHER_NONE || scene->plan != NULL) && (in_doubt > 0);
}

void scene_judge(scene_t *scene, keel_sim_end_t end)
{
    case_result_t *result = scene->result;
    char flaw[256];
    uint32_t r;

    for (r = 0; r < scene->processes; ++r) {
        const keel_stats_t *stats = &scene->member[r].stats;

        /*
         * A late rank may also return this status. If parity was exceeded, the status means a
         * catastrophe.
         */
        result->is_catastrophic |=
            (scene->member[r].status == KEEL_ERR_CATASTROPHIC) && (scene->has_overlapped || !scene_is_late(scene, r));
        result->is_rolled_back |= (stats->rollbacks > 0);
        result->has_overflowed |= (stats->log_overflows > 0);
        result->recoveries += (unsigned)stats->recoveries;
        result->demand_images += (unsigned)stats->demand_checkpoints;
        result->demand_recoveries += (unsigned)stats->demand_recoveries;
        result->spared += stats->parity_spared_bytes;
        result->replayed_sections += stats->replayed_sections;
        result->false_suspicions += (unsigned)stats->false_suspicions;
        result->checkpoints =
            (stats->checkpoints > result->checkpoints) ? (unsigned)stats->checkpoints : result->checkpoints;
        result->aborted_checkpoints += (unsigned)stats->checkpoint_aborts;
    }
    result->has_kept_atomics = scene->has_atomics && (result->deaths > 0) && (result->recoveries > 0) &&
                               !result->is_rolled_back && !result->is_catastrophic;
    result->is_free =
        (result->deaths > 0) && (!scene->may_roll_back || scene->only_fetches) && !result->is_catastrophic;
    result->has_kept_waits = (result->style == CASE_WAITS) && (result->deaths > 0) && (result->recoveries > 0) &&
                             !result->is_rolled_back && !result->is_catastrophic;
    if ((end == KEEL_SIM_FLAW) && result->is_catastrophic && scene_has_only_hung(scene)) {
        end = KEEL_SIM_DONE; /* the launcher ends a failed job, including ranks that hang */
    }
    if (end == KEEL_SIM_ABORTED) {
        result->is_catastrophic = 1;
        end = scene->has_overlapped ? KEEL_SIM_DONE : KEEL_SIM_FLAW;
    }
    if ((end == KEEL_SIM_DONE) && !result->is_catastrophic && !scene_is_complete(scene)) {
        end = KEEL_SIM_FLAW;
        keel_sim_flaw(scene->sim, "a replacement was turned away, though the job was not over");
    }
    /* No rank mistakes the end of a failed job for the end of its computation. */
    for (r = 0; (r < scene->ranks) && (end == KEEL_SIM_DONE); ++r) {
        if ((scene->member[r].status == KEEL_ERR_CATASTROPHIC) && (keel_sim_incarnation(scene->sim, r) == 0) &&
            (scene_good(scene) > 0)) {
            end = KEEL_SIM_FLAW;
            keel_sim_flaw(scene->sim, "rank %u ended by the catastrophe, and another with KEEL_OK", r);
        }
    }
    if ((end == KEEL_SIM_DONE) && !result->is_catastrophic &&
        (scene->locks != NULL || scene->races != NULL || scene->mixed != NULL)) {
        const char *text = (scene->locks != NULL)   ? locks_judge(scene->locks, flaw, sizeof(flaw))
                           : (scene->races != NULL) ? races_judge(scene->races, flaw, sizeof(flaw))
                                                    : mixed_judge(scene->mixed, flaw, sizeof(flaw));

        if (text != NULL) {
            end = KEEL_SIM_FLAW;
            keel_sim_flaw(scene->sim, "%s", text);
        }
    }
    if (result->is_rolled_back && !scene->may_roll_back && !scene_is_in_doubt(scene) && (end == KEEL_SIM_DONE)) {
        end = KEEL_SIM_FLAW;
        keel_sim_flaw(scene->sim, "rolled back, though nothing stood in the way of local recovery");
    }
    if (result->is_catastrophic && !scene->has_overlapped && (end == KEEL_SIM_DONE)) {
        end = KEEL_SIM_FLAW;
        keel_sim_flaw(scene->sim, "catastrophic failure, though no group lost two members before it was armed again");
    }
    if (end != KEEL_SIM_DONE) {
        result->verdict = CASE_FLAWED;
        snprintf(result->flaw, sizeof(result->flaw), "%s", keel_sim_flaw_text(scene->sim));
    }
}
