/* Decides whether a rank is in the state that a death aims at. */
#include "sim_aim.h"

static int scene_is_ahead(const scene_t *scene, uint32_t rank)
{
    const keel_context_h ctx = scene->member[rank].host.ctx;
    uint32_t informed = 0, r;

    for (r = 0; r < scene->processes; ++r) {
        const keel_context_h other = scene_context(scene, r);

        if ((r == rank) || (other == NULL)) {
            continue;
        }
        if (other->rec.phase >= ctx->rec.phase) {
            return 0;
        }
        informed += (other->lane.board[rank].done >> 32) == ctx->rec.phase;
    }
    return informed > 0;
}

static int scene_has_open(const scene_t *scene, uint32_t rank)
{
    uint32_t r;

    for (r = 0; r < scene->processes; ++r) {
        const keel_context_h other = scene_context(scene, r);

        if ((r != rank) && (other != NULL) && (other->lane.board[rank].opened > other->lane.board[rank].done)) {
            return 1;
        }
    }
    return 0;
}

int scene_is_aimed_at(const scene_t *scene, aim_t aim, uint32_t rank)
{
    const keel_context_h ctx = scene->member[rank].host.ctx;
    uint32_t newest = 0, r;

    if (aim == AIM_ANY || ctx == NULL) {
        return aim == AIM_ANY;
    }
    if (aim == AIM_STORES) {
        return scene->member[rank].is_storing;
    }
    if (aim == AIM_OPEN) {
        return scene_has_open(scene, rank);
    }
    if (aim == AIM_AHEAD) {
        return scene_is_ahead(scene, rank);
    }
    if (aim == AIM_ARRIVING) {
        return scene_is_arriving(scene, rank);
    }
    if (aim == AIM_WAITING) {
        return ctx->rec.arrived > ctx->rec.phase;
    }
    for (r = 0; r < scene->processes; ++r) {
        const keel_context_h other = scene_context(scene, r);

        if (other != NULL) {
            newest = keel_larger(newest, other->ckpt.set.used.number);
        }
    }
    return (ctx->ckpt.set.making.number != 0) && (ctx->ckpt.set.making.number == newest);
}
