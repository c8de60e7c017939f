/*
 * Draws cases that other runs do not contain (--varied): settings that differ by rank, more
 * windows, windows over 100 KiB, more phases, and restart points in programs of all styles, which
 * some ranks clear. The random stream is separate: without --varied a case is unchanged.
 */
#include "sim_scene.h"

#include "oplog/get_log_chunks.h"

#include <stdio.h>
#include <string.h>

#define VARIED_GAP_MAX ((uint32_t)96 << 10) /* maximum bytes between two slots of a window */
/* factor for the put logs of the other ranks if a single rank has a small log */
#define LONE_TIMES   16u
#define VARIED_RANKS 5u /* maximum number of ranks with such windows */

void scene_vary_plan(scene_t *scene, const case_limits_t *limits)
{
    plan_options_t *options = &scene->plan_options;
    keel_random_t *random = &scene->varying;

    if (limits->ranks <= 0) {
        options->ranks = 2 + keel_random_below(random, VARIED_RANKS - 1);
    }
    if (limits->phases <= 0) {
        options->phases = keel_random_chance(random, 300) ? 20 + keel_random_below(random, 20) : options->phases;
    }
    options->windows = PLAN_WINDOWS_MAX;
    options->slots = 1 + keel_random_below(random, 5);
    options->gap = keel_random_chance(random, 512) ? VARIED_GAP_MAX : 0;
}

static void own_set(scene_own_t *own, const char *name, size_t value)
{
    const size_t length = strlen(name);
    unsigned at = 0;

    while (own->env[at] != NULL && (strncmp(own->env[at], name, length) != 0 || own->env[at][length] != '=')) {
        ++at;
    }
    snprintf(own->text[own->count], sizeof(own->text[0]), "%s=%zu", name, value);
    own->env[at] = own->text[own->count++];
}

/*
 * Draws settings for each rank, or gives all ranks the same settings. Budgets grow by up to a
 * factor of two, so a log with enough room keeps enough room.
 */
void scene_vary_settings(scene_t *scene)
{
    keel_random_t *random = &scene->varying;

    for (uint32_t r = 0; r < scene->processes; ++r) {
        scene_own_t *own = &scene->own[r];

        *own = (scene_own_t){
            .params = scene->params, .log_budget = scene->log_budget, .getlog_budget = scene->getlog_budget};
        memcpy(own->env, scene->env, sizeof(scene->env));
        own->params.env = own->env;
        if (scene->lone_tight > 0 && r + 1 != scene->lone_tight) {
            own->log_budget *= LONE_TIMES;
            own_set(own, "KEEL_OPLOG_SIZE", own->log_budget);
        }
        if (!scene->is_varied) {
            continue;
        }
        own->log_budget += keel_random_below(random, (uint32_t)own->log_budget);
        own->getlog_budget += keel_random_below(random, (uint32_t)own->getlog_budget);
        if (keel_get_chunk_size(own->getlog_budget) != keel_get_chunk_size(scene->getlog_budget)) {
            /* otherwise the reads of one rank may not fit the chunks of another */
            own->getlog_budget = scene->getlog_budget;
        }
        own_set(own, "KEEL_OPLOG_SIZE", own->log_budget);
        own_set(own, "KEEL_GETLOG_SIZE", own->getlog_budget);
        if (scene->soft > 0) {
            own_set(own, "KEEL_OPLOG_SOFT", 1 + keel_random_scaled(random, 60));
        }
    }
}
