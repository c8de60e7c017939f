/*
 * Deaths that are not drawn but strike where a second decision contradicts the first: a rank has
 * acted on a fact, and the ranks that knew the fact die before the others learn of it. Drawn deaths
 * meet these moments in far less than one of a million runs.
 */
#include "sim_hunt.h"

#include "sim_scene.h"

#define HUNT_SLOW_NS 4000000 /* longer than a replacement takes to report */

static keel_context_h replacement(const scene_t *scene, uint32_t rank)
{
    return keel_sim_incarnation(scene->sim, rank) > 0 ? scene_context(scene, rank) : NULL;
}

static void hunt_kill(scene_t *scene, uint32_t victim)
{
    scene->has_overlapped = 1;
    scene->hunt.stage += scene_kill(scene, victim);
}

static void hunt_lost(scene_t *scene)
{
    scene->hunt.stage = HUNT_OVER;
}

/*
 * The program's start: rank 0 alone has begun. Rank 2 dies. Its replacement alone learns that the
 * job rolls back. Rank 0 dies.
 */
static void hunt_rollback(scene_t *scene)
{
    const keel_context_h first = scene_context(scene, 0), other = scene_context(scene, 1);
    const keel_context_h back = replacement(scene, 2);

    if (first == NULL || other == NULL) {
        return;
    }
    if (scene->hunt.stage == 0 && first->rec.is_prefix_closed && !other->rec.is_prefix_closed) {
        hunt_kill(scene, 2);
    } else if (scene->hunt.stage == 1 && back != NULL && back->rec.roll != KEEL_ROLL_NONE &&
               !keel_recovery_is_frozen(&back->rec)) {
        if (other->rec.roll == KEEL_ROLL_NONE) {
            hunt_kill(scene, 0);
        } else {
            hunt_lost(scene);
        }
    }
}

/*
 * A replacement has received its records from a target. The target dies, and its replacement is
 * restored earlier than the first replacement. A third rank dies, and later the first rank dies
 * again.
 */
static void hunt_records(scene_t *scene)
{
    hunt_t *hunt = &scene->hunt;
    const keel_context_h reader = scene_context(scene, hunt->reader), target = scene_context(scene, hunt->target);

    if (reader == NULL || target == NULL) {
        return;
    }
    if (hunt->stage == 0) {
        if (reader->rec.phase > hunt->phase && reader->gets.targets[hunt->target].list.last != NULL &&
            keel_random_below(&hunt->random, 100) == 0) {
            hunt_kill(scene, hunt->reader);
        }
    } else if (hunt->stage == 1 && replacement(scene, hunt->reader) != NULL) {
        if (keel_recovery_state(&reader->rec) != KEEL_RANK_FRESH) {
            hunt_lost(scene);
        } else if (reader->gets.targets[hunt->target].has_replay) {
            hunt_kill(scene, hunt->target);
        }
    } else if (hunt->stage == 2 && replacement(scene, hunt->target) != NULL) {
        if (keel_recovery_state(&reader->rec) != KEEL_RANK_FRESH) {
            hunt_lost(scene);
        } else if (keel_recovery_state(&target->rec) != KEEL_RANK_FRESH) {
            hunt_kill(scene, hunt->third);
        }
    } else if (hunt->stage == 3 && replacement(scene, hunt->third) != NULL &&
               keel_recovery_state(&reader->rec) == KEEL_RANK_FRONT && reader->rec.roll == KEEL_ROLL_NONE &&
               keel_random_below(&hunt->random, 300) == 0) {
        hunt_kill(scene, hunt->reader);
    }
}

static void hunt_ask(scene_t *scene, uint32_t rank)
{
    scene->asker = rank;
    scene->asks_phase = 0;
    scene->asks_left = 1;
    scene->hunt.stage++;
}

/*
 * Rank 1 requests a rollback and announces to rank 2 that it is drained, before rank 2 has received
 * the decision. Ranks 1 and 0, which know the decision, die. When the rollback number is used
 * again, the replacement of rank 1 is amid its accesses. Rank 2 must not restore before the
 * replacement has stopped.
 */
static void hunt_drained(scene_t *scene)
{
    hunt_t *hunt = &scene->hunt;
    const keel_context_h first = scene_context(scene, 0), asker = scene_context(scene, 1),
                         other = scene_context(scene, 2);

    if (first == NULL || asker == NULL || other == NULL) {
        return;
    }
    if (hunt->stage == 0 && asker->rec.phase > scene->drivers.counters.phase + 2 &&
        keel_random_below(&hunt->random, 60) == 0) {
        hunt_ask(scene, 1);
    } else if (hunt->stage == 1 && asker->rec.roll == KEEL_ROLL_DRAINED) {
        if (other->rec.roll != KEEL_ROLL_NONE || !keel_recovery_is_frozen(&other->rec)) {
            hunt_lost(scene);
        } else if (other->rec.roll_stages[1] >> 2 > other->lane.rollback) {
            hunt_kill(scene, 1);
            hunt_kill(scene, 0);
        }
    } else if (hunt->stage == 3 && replacement(scene, 0) != NULL && replacement(scene, 1) != NULL) {
        if (other->rec.roll != KEEL_ROLL_NONE) {
            hunt_lost(scene);
        } else if (keel_recovery_state(&asker->rec) == KEEL_RANK_FRONT &&
                   keel_recovery_state(&first->rec) == KEEL_RANK_FRONT && asker->rec.life != KEEL_LIFE_AWAITING &&
                   !keel_recovery_is_frozen(&other->rec)) {
            hunt_ask(scene, hunt->phase == 0 ? 0 : 2);
        }
    } else if (hunt->stage == 4 && asker->rec.view == KEEL_VIEW_REPORTED && asker->rec.roll == KEEL_ROLL_NONE &&
               asker->rec.arrived == asker->rec.phase) {
        hunt->stage += keel_sim_hang(scene->sim, 1, 400000) != 0;
    }
}

/*
 * Rank 0 dies. While its replacement rebuilds the image, another member of the group dies. The
 * replacement is slow to learn of the second death, so all other ranks report first. The
 * replacement then learns of the death and decides in one step.
 */
static void hunt_rebuild(scene_t *scene)
{
    hunt_t *hunt = &scene->hunt;
    const keel_context_h first = scene_context(scene, 0);
    const uint32_t victim = 1 + hunt->reader % (scene->ranks - 1);

    if (first == NULL) {
        return;
    }
    if (hunt->stage == 0 && first->ckpt.set.used.number > 0 && !keel_recovery_is_frozen(&first->rec) &&
        keel_random_below(&hunt->random, 100) == 0) {
        hunt_kill(scene, 0);
    } else if (hunt->stage == 1 && replacement(scene, 0) != NULL) {
        if (keel_recovery_state(&first->rec) != KEEL_RANK_FRESH ||
            scene->groups.of_rank[victim] != scene->groups.of_rank[0]) {
            hunt_lost(scene);
        } else if (first->rec.mode == KEEL_DECISION_LOCAL && !keel_recovery_is_frozen(&first->rec) &&
                   first->ckpt.set.used.number > 0 &&
                   keel_parity_bytes_from(first->ckpt.set.parity, scene->groups.index[victim]) > 0) {
            hunt_kill(scene, victim);
        }
    } else if (hunt->stage == 2 && first->lane.peers[victim].incarnation > 0 && first->lane.peers[victim].is_up) {
        hunt->stage += keel_sim_hang(scene->sim, 0, HUNT_SLOW_NS) != 0;
    }
}

/*
 * Whenever some ranks know of a generation, an image or a decision and others do not, any rank may
 * die or be slow.
 */
#define UNEVEN_DEATHS 5
#define UNEVEN_MOST   12 /* one chance in so many */

/*
 * Rates how much the knowledge of the ranks differs. Returns n for one chance in n of an event now;
 * 0: none.
 */
static uint32_t uneven_chance(const scene_t *scene)
{
    uint32_t chance = 0, frozen = 0, thawed = 0;
    keel_context_h first = NULL;

    for (uint32_t r = 0; r < scene->processes; ++r) {
        const keel_context_h ctx = scene_context(scene, r);

        if (ctx == NULL) {
            continue;
        }
        if (keel_recovery_state(&ctx->rec) == KEEL_RANK_FRESH) {
            chance = (ctx->rec.mode != KEEL_DECISION_NONE && chance == 0) ? 150 : chance;
            continue;
        }
        frozen += keel_recovery_is_frozen(&ctx->rec);
        thawed += !keel_recovery_is_frozen(&ctx->rec);
        if (keel_image_set_is_rearming(&ctx->ckpt.set) || keel_image_set_is_rearming(&ctx->demand.set)) {
            chance = (chance == 0) ? 150 : chance;
        }
        if (first == NULL) {
            first = ctx;
            continue;
        }
        if (ctx->ckpt.set.used.number != first->ckpt.set.used.number) {
            return UNEVEN_MOST;
        }
        for (uint32_t q = 0; ctx->demand.set.parity != NULL && first->demand.set.parity != NULL && q < scene->processes;
             ++q) {
            if (ctx->demand.starts[q].position != first->demand.starts[q].position) {
                return UNEVEN_MOST;
            }
        }
    }
    if (frozen > 0 && thawed > 0) {
        chance = 60;
    }
    return chance;
}

static int uneven_may_die(const scene_t *scene, uint32_t victim)
{
    uint32_t away = 0, others = 0;

    for (uint32_t r = 0; r < scene->processes; ++r) {
        const keel_context_h ctx = scene_context(scene, r);
        const int is_armed =
            ctx != NULL && keel_recovery_state(&ctx->rec) != KEEL_RANK_FRESH && keel_image_set_is_armed(&ctx->ckpt.set);

        away += r != victim && !is_armed &&
                (scene->groups.count == 0 || scene->groups.of_rank[r] == scene->groups.of_rank[victim]);
        others += r != victim && r < scene->ranks && is_armed;
    }
    return others > 0 && away < scene->parities;
}

static void hunt_uneven(scene_t *scene)
{
    hunt_t *hunt = &scene->hunt;
    const uint32_t chance = (hunt->stage < UNEVEN_DEATHS) ? uneven_chance(scene) : 0;
    uint32_t victim;

    if (hunt->stage == 0 && chance != UNEVEN_MOST) {
        const keel_context_h any = scene_context(scene, 0);

        if (any == NULL || any->ckpt.set.used.number == 0 || keel_random_below(&hunt->random, 4000) != 0) {
            return;
        }
    } else if (chance == 0 || keel_random_below(&hunt->random, chance) != 0) {
        return;
    }
    victim = keel_random_below(&hunt->random, scene->processes);
    if (keel_random_below(&hunt->random, 2) == 0) {
        if (scene_context(scene, victim) != NULL) {
            (void)keel_sim_hang(scene->sim, victim, keel_random_scaled(&hunt->random, HUNT_SLOW_NS));
        }
        return;
    }
    if (scene_context(scene, victim) != NULL && uneven_may_die(scene, victim)) {
        hunt->stage += scene_kill(scene, victim);
    }
}

/*
 * With each step that any rank makes in a recovery, any rank may die or be slow. The rank that has
 * just made the step is chosen more often.
 */
#define CHANGES_DEATHS 5

static uint64_t change_mix(uint64_t sum, uint64_t word)
{
    return keel_random_mix(sum ^ word);
}

/*
 * Sums up the state on which decisions or replays of other ranks depend. @a is_quiet_p: the rank
 * takes part in no recovery.
 */
static uint64_t change_sum(const keel_recovery_t *rec, int *is_quiet_p)
{
    const keel_lane_t *lane = rec->lane;
    uint64_t sum = keel_recovery_state(rec);
    int is_quiet = keel_recovery_state(rec) == KEEL_RANK_FRONT && !keel_recovery_is_frozen(rec) &&
                   rec->roll == KEEL_ROLL_NONE && rec->life != KEEL_LIFE_AWAITING &&
                   !rec->sync->sections.is_replaying && !rec->sync->waits.is_replaying &&
                   keel_image_set_is_armed(&rec->ckpt->set) && !keel_image_set_is_rearming(&rec->ckpt->set) &&
                   !keel_image_set_is_rearming(&rec->demand->set);

    sum = change_mix(sum, (uint64_t)rec->phase << 32 | rec->arrived);
    sum = change_mix(sum, rec->decisions << 8 | (uint64_t)rec->view);
    sum = change_mix(sum, (uint64_t)rec->request_number << 8 | rec->roll);
    sum = change_mix(sum, (uint64_t)(rec->life == KEEL_LIFE_AWAITING) << 3 |
                              (uint64_t)rec->sync->sections.is_replaying << 2 |
                              (uint64_t)rec->sync->waits.is_replaying << 1 | (uint64_t)rec->sync->waits.is_asking);
    sum = change_mix(sum, (uint64_t)rec->ckpt->set.used.number << 32 | rec->ckpt->set.making.number);
    sum = change_mix(sum, (uint64_t)rec->ckpt->set.state.stage << 8 | (uint64_t)rec->demand->set.state.stage << 4 |
                              (uint64_t)keel_image_set_is_rearming(&rec->ckpt->set) << 2 |
                              (uint64_t)keel_image_set_is_armed(&rec->ckpt->set));
    sum = change_mix(sum, (uint64_t)rec->sync->waits.since << 32 | (uint64_t)rec->sync->sections.is_used << 1 |
                              (uint64_t)rec->is_prefix_closed);
    sum = change_mix(sum, (uint64_t)rec->sync->waits.begun << 32 | rec->sync->sections.counter);
    for (uint32_t r = 0; r < lane->size; ++r) {
        const keel_peer_state_t *peer_state = &rec->peer_states[r];
        const keel_peer_t *peer = &lane->peers[r];

        if (r == lane->rank) {
            continue;
        }
        is_quiet = is_quiet && peer->mode == KEEL_PEER_LIVE;
        sum = change_mix(sum, (uint64_t)peer->incarnation << 8 | (uint64_t)peer->is_up << 4 | peer->mode);
        sum = change_mix(sum, (uint64_t)peer_state->state << 32 | peer_state->position);
        sum = change_mix(sum, (uint64_t)peer_state->handed_over_end << 32 | peer_state->received_end);
        sum = change_mix(sum, (uint64_t)peer_state->transfers << 16 | (uint64_t)peer_state->replay << 8 |
                                  (uint64_t)peer_state->complete);
        sum = change_mix(sum, (uint64_t)rec->sync->waits.complete[r] << 32 | rec->sync->sections.complete[r]);
        sum = change_mix(sum, (uint64_t)rec->sync->sections.held[r] << 8 | rec->sync->sections.is_left[r]);
        sum = change_mix(sum, (uint64_t)rec->gets->targets[r].is_replay_complete << 1 |
                                  (uint64_t)rec->sync->waits.has_rest[r]);
    }
    *is_quiet_p = is_quiet;
    return sum;
}

static int changes_may_die(const scene_t *scene, uint32_t victim)
{
    uint32_t others = 0;

    for (uint32_t r = 0; r < scene->processes; ++r) {
        const keel_context_h ctx = scene_context(scene, r);

        if (ctx != NULL && ctx->ckpt.set.used.number > 0) {
            return uneven_may_die(scene, victim);
        }
        others += r != victim && r < scene->ranks && ctx != NULL && keel_recovery_state(&ctx->rec) != KEEL_RANK_FRESH;
    }
    return others > 0;
}

static void hunt_changes(scene_t *scene)
{
    hunt_t *hunt = &scene->hunt;
    uint32_t changed = scene->processes, victim;
    int is_quiet = 1;

    for (uint32_t r = 0; r < scene->processes; ++r) {
        const keel_context_h ctx = scene_context(scene, r);
        int is_own_quiet = 0;
        uint64_t sum = 0;

        if (ctx != NULL) {
            sum = change_sum(&ctx->rec, &is_own_quiet);
        }
        is_quiet &= is_own_quiet;
        changed = (sum != hunt->sums[r]) ? r : changed;
        hunt->sums[r] = sum;
    }
    if (changed == scene->processes || hunt->stage >= CHANGES_DEATHS ||
        keel_random_below(&hunt->random, is_quiet ? hunt->rare : hunt->often) != 0) {
        return;
    }
    victim = keel_random_below(&hunt->random, 2) == 0 ? changed : keel_random_below(&hunt->random, scene->processes);
    if (scene_context(scene, victim) == NULL) {
        return;
    }
    if (keel_random_below(&hunt->random, 3) == 0) {
        (void)keel_sim_hang(scene->sim, victim, keel_random_scaled(&hunt->random, HUNT_SLOW_NS));
    } else if (changes_may_die(scene, victim)) {
        hunt->stage += scene_kill(scene, victim);
    }
}

/*
 * A rank awaits a value from the service side of a target, and the target dies, more often if the
 * target has applied the fetch. Some of the other ranks are slow, so replies to them are lost.
 */
static void hunt_awaited(scene_t *scene)
{
    hunt_t *hunt = &scene->hunt;
    const uint32_t reader = keel_random_below(&hunt->random, scene->ranks);
    const keel_context_h ctx = scene_context(scene, reader);
    const uint32_t victim = (ctx != NULL) ? ctx->lane.fetches.rank : 0;
    const keel_context_h target = scene_context(scene, victim);
    int is_applied;

    if (ctx == NULL || target == NULL || ctx->lane.fetches.open == 0 || hunt->stage > 0) {
        return;
    }
    is_applied = target->lane.peers[reader].applied >= ctx->lane.peers[victim].sent;
    if (is_applied && keel_random_below(&hunt->random, 4) == 0) {
        (void)keel_sim_hang(scene->sim, reader, keel_random_scaled(&hunt->random, HUNT_SLOW_NS / 20));
    } else if (keel_random_below(&hunt->random, (is_applied ? 4 : 16) * hunt->rare) == 0) {
        hunt->stage += scene_kill(scene, victim);
    }
}

void scene_hunt_draw(scene_t *scene, uint64_t seed, hunt_kind_t kind)
{
    hunt_t *hunt = &scene->hunt;

    *hunt = (hunt_t){.kind = kind, .random = {keel_random_mix(seed ^ 0x68756e74)}};
    if (kind == HUNT_NONE) {
        return;
    }
    scene->death_count = 0;
    scene->may_overlap = scene->may_roll_back = 1;
    hunt->reader = keel_random_below(&hunt->random, scene->ranks);
    hunt->target = (hunt->reader + 1 + keel_random_below(&hunt->random, scene->ranks - 1)) % scene->ranks;
    do {
        hunt->third = keel_random_below(&hunt->random, scene->ranks);
    } while (scene->ranks > 2 && (hunt->third == hunt->reader || hunt->third == hunt->target));
    hunt->phase = keel_random_below(&hunt->random, 2);
    hunt->rare = 3u << keel_random_below(&hunt->random, 6);
    hunt->often = 3u << keel_random_below(&hunt->random, 5);
    if (kind == HUNT_CHANGES) {
        scene->has_overlapped = 1;
    }
    if (kind == HUNT_ROLLBACK) {
        scene->params.field_mask |= KEEL_PARAM_FIELD_FLAGS;
        scene->params.flags |= KEEL_PARAM_FLAG_NONDETERMINISTIC;
    }
}

void scene_hunt(scene_t *scene)
{
    for (uint32_t r = 0; r < scene->ranks; ++r) {
        if (!scene->member[r].has_met || scene->member[r].is_finishing || scene->member[r].has_returned) {
            return;
        }
    }
    if (scene->hunt.kind == HUNT_ROLLBACK && scene->ranks > 2) {
        hunt_rollback(scene);
    } else if (scene->hunt.kind == HUNT_DRAINED && scene->ranks > 2) {
        hunt_drained(scene);
    } else if (scene->hunt.kind == HUNT_REBUILD && scene->ranks > 2) {
        hunt_rebuild(scene);
    } else if (scene->hunt.kind == HUNT_UNEVEN && scene->ranks > 1) {
        hunt_uneven(scene);
    } else if (scene->hunt.kind == HUNT_CHANGES && scene->ranks > 1) {
        hunt_changes(scene);
    } else if (scene->hunt.kind == HUNT_AWAITED && scene->ranks > 1) {
        hunt_awaited(scene);
    } else if (scene->hunt.kind == HUNT_RECORDS && scene->ranks > 3) {
        hunt_records(scene);
    }
}
