/*
 * Draws cases that other runs draw too rarely (--harsh): two or three deaths, many of them during
 * an arrival or shortly after the previous death; logs that fill up early. The random stream is
 * separate: without --harsh a case is unchanged.
 */
#include "sim_scene.h"

#include "oplog/get_log_chunks.h"

/* segment size of the smallest logs, which have room for at least four segments */
#define HARSH_SEGMENT  ((size_t)4 << 10)
#define HARSH_PATIENCE 3000u /* number of tries */

void scene_harden_logs(scene_t *scene, const case_limits_t *limits)
{
    keel_random_t *random = &scene->hardening;
    const uint32_t which = keel_random_below(random, 6);
    const size_t log = HARSH_SEGMENT * (4 + keel_random_below(random, 2 * scene->ranks));
    const size_t getlog = HARSH_SEGMENT * (1 + keel_random_below(random, 2 * scene->ranks));

    if (limits->tight == 0 || (which > 2 && limits->tight < 0)) {
        return;
    }
    scene->is_tight = 1;
    scene->log_budget = (which % 3 != 1) ? log : scene->log_budget;
    scene->getlog_budget = (which % 3 != 0) ? getlog : scene->getlog_budget;
    scene->lone_tight = keel_random_chance(random, 300) ? 1 + keel_random_below(random, scene->ranks) : 0;
}

unsigned scene_harden_count(scene_t *scene)
{
    return 2 + keel_random_below(&scene->hardening, 2);
}

void scene_harden_deaths(scene_t *scene)
{
    keel_random_t *random = &scene->hardening;

    for (unsigned i = 0; i < scene->death_count; ++i) {
        death_t *death = &scene->death[i];

        death->is_chained = i > 0;
        if (i > 0 && keel_random_chance(random, 512)) {
            death->delay = 1 + keel_random_scaled(random, 600);
        }
        if (keel_random_chance(random, 300)) {
            death->aim = AIM_ARRIVING;
            death->patience = HARSH_PATIENCE;
        }
    }
}

int scene_is_arriving(const scene_t *scene, uint32_t rank)
{
    const keel_context_h ctx = scene->member[rank].host.ctx;
    unsigned here = 0, missing = 0;

    for (uint32_t r = 0; r < scene->ranks && ctx->rec.arrived > ctx->rec.phase; ++r) {
        const keel_context_h other = (r != rank) ? scene_context(scene, r) : NULL;

        if (other != NULL) {
            const uint32_t number =
                keel_arrive_number(other->lane.board[rank].arrive, ctx->lane.rollback, ctx->lane.incarnation);

            here += number == ctx->rec.arrived;
            missing += number < ctx->rec.arrived;
        }
    }
    return here > 0 && missing > 0;
}
