/*
 * The invariants of the design that can be looked at between any two steps. They know what the scene drew and read the
 * processes' memory; they take no part, so a run is the same with and without them.
 *   5: who is in the same view and has a decision has the same one.
 *   6: a log goes back to the newest image in use of whom it is for, or is marked: the plan says what has to be in it.
 *   8: what is allocated for logs, images and parity is within the budgets.
 * And positions: nobody passes a gsync that another has not arrived at. And locks: one writer, or readers.
 */
#include "sim_invariants.h"

#include "sim_scene.h"

#include "oplog/getlog_chunk.h"

#include <string.h>

/* its memory may be read, and it is not on its way out */
static int is_settled(const scene_t *scene, uint32_t rank)
{
    const member_t *member = &scene->member[rank];

    return (member->host.ctx != NULL) && !member->has_returned && !member->is_finishing &&
           keel_sim_is_alive(scene->sim, rank) && (member->host.ctx->rec.state != KEEL_RANK_FRESH) &&
           (member->host.ctx->rec.fatal == KEEL_OK) && !member->host.ctx->rec.is_finished;
}

/* ---- views ---- */

/* names the view: incarnations and requests; 0: that of the start */
static uint64_t view_key(const keel_recovery_t *rec)
{
    uint64_t key = rec->requests;
    uint32_t r;

    for (r = 0; r < rec->lane->size; ++r) {
        key = (key * 0x9ddfea08eb382d69ull) + rec->lane->peers[r].incarnation;
    }
    return key;
}

static int has_same_decision(const keel_recovery_t *a, const keel_recovery_t *b)
{
    return (a->mode == b->mode) && (a->front == b->front) && (a->generation.number == b->generation.number) &&
           (a->generation_slot == b->generation_slot) &&
           (keel_larger(a->roll_target, a->lane->rollback) == keel_larger(b->roll_target, b->lane->rollback));
}

static void check_views(const scene_t *scene, const uint32_t *ranks, uint32_t count)
{
    const keel_recovery_t *decided[CASE_PROCESSES_MAX];
    uint64_t key[CASE_PROCESSES_MAX];
    uint32_t known = 0, i, k;

    for (i = 0; i < count; ++i) {
        const keel_recovery_t *rec = &scene->member[ranks[i]].host.ctx->rec;

        if (rec->is_frozen || rec->mode == KEEL_DECISION_CATASTROPHE) {
            continue;
        }
        key[known] = view_key(rec);
        if ((key[known] != 0) && (rec->mode == KEEL_DECISION_NONE)) {
            keel_sim_flaw(scene->sim, "rank %u goes on in a view that it has no decision for", ranks[i]);
        }
        for (k = 0; k < known; ++k) {
            if ((key[k] == key[known]) && !has_same_decision(decided[k], rec)) {
                keel_sim_flaw(scene->sim,
                              "ranks %u and %u are in one view and disagree: mode %d and %d, front %u and %u, "
                              "generation %u and %u",
                              decided[k]->lane->rank, ranks[i], (int)decided[k]->mode, (int)rec->mode,
                              decided[k]->front, rec->front, decided[k]->generation.number, rec->generation.number);
            }
        }
        decided[known++] = rec;
    }
}

/* ---- positions ---- */

static void note_position(invariant_seen_t *seen, const keel_recovery_t *rec)
{
    *seen = (invariant_seen_t){
        .is_known = 1, .incarnation = rec->lane->incarnation, .rollback = rec->lane->rollback, .phase = rec->phase};
    /* who re-executes has not arrived behind the front */
    seen->reach = (rec->state == KEEL_RANK_FRONT) ? rec->phase + 1 : rec->front;
}

static void check_positions(scene_t *scene, const uint32_t *ranks, uint32_t count)
{
    uint32_t lowest[2] = {UINT32_MAX, 0}, i, r; /* reach; whose */
    uint32_t rollback = 0;

    for (i = 0; i < count; ++i) {
        const keel_recovery_t *rec = &scene->member[ranks[i]].host.ctx->rec;
        invariant_seen_t *seen = &scene->invariants.seen[ranks[i]];

        if (rec->roll != KEEL_ROLL_NONE) {
            seen->is_known = 0; /* it begins anew with another rollback number */
            continue;
        }
        if (seen->is_known && (seen->incarnation == rec->lane->incarnation) &&
            (seen->rollback == rec->lane->rollback) && (rec->phase < seen->phase)) {
            keel_sim_flaw(scene->sim, "rank %u goes back from phase %u to %u", ranks[i], seen->phase, rec->phase);
        }
        note_position(seen, rec);
        rollback = keel_larger(rollback, rec->lane->rollback);
    }
    for (r = 0; r < scene->processes; ++r) { /* the dead too */
        invariant_seen_t *seen = &scene->invariants.seen[r];

        if (scene->member[r].is_finishing || scene->member[r].has_returned ||
            ((scene->member[r].host.ctx != NULL) && !is_settled(scene, r))) {
            seen->is_known = 0; /* it goes on and is not looked at */
        }
        if (seen->is_known && (seen->rollback == rollback) && (seen->reach < lowest[0])) {
            lowest[0] = seen->reach;
            lowest[1] = r;
        }
    }
    for (i = 0; i < count; ++i) {
        const keel_recovery_t *rec = &scene->member[ranks[i]].host.ctx->rec;

        if ((rec->roll == KEEL_ROLL_NONE) && (rec->lane->rollback == rollback) && (keel_position(rec) > lowest[0])) {
            keel_sim_flaw(scene->sim, "rank %u stands at %u, and rank %u has not arrived beyond %u", ranks[i],
                          keel_position(rec), lowest[1], lowest[0]);
        }
    }
}

/* ---- locks ---- */

/* it computes, and what it holds is no memory of what it held */
static int is_present(const keel_recovery_t *rec)
{
    return (rec->state == KEEL_RANK_FRONT) && (rec->roll == KEEL_ROLL_NONE) && (rec->wants == KEEL_OK) &&
           !rec->sections.is_replaying && !rec->is_frozen;
}

static void check_owner(const scene_t *scene, uint32_t rank, uint32_t holder)
{
    const keel_context_h ctx = scene->member[rank].host.ctx;
    const keel_recovery_t *rec = &scene->member[holder].host.ctx->rec;
    const keel_lock_area_t *area;

    if (!is_settled(scene, rank) || !is_present(&ctx->rec) || (rec->lane->rollback != ctx->lane.rollback) ||
        ((rank != holder) && ((rec->lane->peers[rank].incarnation != ctx->lane.incarnation) ||
                              (rec->lane->peers[rank].mode != KEEL_PEER_LIVE)))) {
        return;
    }
    area = keel_lane_locks(&ctx->lane);
    if (keel_lock_owner(area->word) != holder + 1) {
        keel_sim_flaw(scene->sim, "rank %u holds the lock of rank %u, whose owner is %d", holder, rank,
                      (int)keel_lock_owner(area->word) - 1);
    }
}

static void check_locks(const scene_t *scene, const uint32_t *ranks, uint32_t count)
{
    uint32_t writer[CASE_PROCESSES_MAX], reader[CASE_PROCESSES_MAX]; /* 1 + rank */
    uint32_t i, q;

    memset(writer, 0, scene->ranks * sizeof(writer[0]));
    memset(reader, 0, scene->ranks * sizeof(reader[0]));
    for (i = 0; i < count; ++i) {
        const keel_recovery_t *rec = &scene->member[ranks[i]].host.ctx->rec;

        for (q = 0; is_present(rec) && (rec->sections.open > 0) && (q < scene->ranks); ++q) {
            const uint8_t held = rec->sections.held[q];

            if (held == KEEL_HELD_NOT) {
                continue;
            }
            if ((writer[q] != 0) || ((held == KEEL_HELD_WRITING) && (reader[q] != 0))) {
                keel_sim_flaw(scene->sim, "ranks %u and %u hold the lock of rank %u", ranks[i],
                              (writer[q] != 0 ? writer[q] : reader[q]) - 1, q);
            }
            *((held == KEEL_HELD_WRITING) ? &writer[q] : &reader[q]) = ranks[i] + 1;
            if (held == KEEL_HELD_WRITING) {
                check_owner(scene, q, ranks[i]);
            }
        }
    }
}

/* ---- budgets ---- */

static void check_images(const scene_t *scene, uint32_t rank)
{
    const keel_lane_t *lane = &scene->member[rank].host.ctx->lane;
    size_t bytes = 0;
    unsigned i;

    for (i = 0; i < KEEL_SLOTS; ++i) {
        bytes += lane->own[KEEL_REGION_IMAGE0 + i].size + lane->own[KEEL_REGION_PARITY0 + i].size;
    }
    if ((scene->ckpt_budget > 0) && (bytes > scene->ckpt_budget)) {
        keel_sim_flaw(scene->sim, "rank %u: %zu bytes of images and parity, the budget is %zu", rank, bytes,
                      scene->ckpt_budget);
    }
}

/* segments of a list; 0 and a flaw when one is not as it should be */
static uint32_t count_segments(const scene_t *scene, const keel_segment_pool_t *pool, const keel_segment_list_t *list)
{
    const keel_segment_t *segment;
    uint32_t count = 0;

    for (segment = list->first; (segment != NULL) && (count <= pool->count); segment = segment->next) {
        if ((segment->used > pool->segment_size) || (segment->data < pool->arena) ||
            (segment->data + pool->segment_size > pool->arena + pool->arena_size)) {
            keel_sim_flaw(scene->sim, "a log segment of %u bytes is outside of the log", segment->used);
        }
        ++count;
    }
    return count;
}

static void check_oplog(const scene_t *scene, uint32_t rank)
{
    const keel_context_h ctx = scene->member[rank].host.ctx;
    const size_t bytes = keel_sim_bytes(scene->sim, rank, "oplog") + keel_sim_bytes(scene->sim, rank, "oplog segments");
    uint32_t count = 0, r;

    for (r = 0; r < ctx->lane.size; ++r) {
        count += count_segments(scene, &ctx->pool, &ctx->puts.targets[r].list);
        count += count_segments(scene, &ctx->pool, &ctx->gets.targets[r].list);
    }
    if (count != ctx->pool.in_use) {
        keel_sim_flaw(scene->sim, "rank %u: %u log segments are in lists, %u are taken", rank, count, ctx->pool.in_use);
    }
    if ((bytes == 0) || (bytes > scene->log_budget)) {
        keel_sim_flaw(scene->sim, "rank %u: %zu bytes of log are allocated, the budget is %llu", rank, bytes,
                      (unsigned long long)scene->log_budget);
    }
    if (ctx->lane.own[KEEL_REGION_GETLOG].size > scene->getlog_budget) {
        keel_sim_flaw(scene->sim, "rank %u: a get log of %zu bytes, the budget is %zu", rank,
                      ctx->lane.own[KEEL_REGION_GETLOG].size, scene->getlog_budget);
    }
}

/* ---- logs ---- */

/* gsyncs passed before a phase of the plan, by everybody in every life */
void scene_note_phase(scene_t *scene, uint32_t rank, uint32_t phase)
{
    const keel_recovery_t *rec = &scene->member[rank].host.ctx->rec;
    invariants_t *invariants = &scene->invariants;

    if ((phase > INVARIANT_PHASES_MAX) || (scene->plan == NULL) || (rec->roll != KEEL_ROLL_NONE)) {
        return;
    }
    if (invariants->has_gsyncs[phase] && (invariants->gsyncs[phase] != rec->phase)) {
        keel_sim_flaw(scene->sim, "rank %u begins phase %u behind gsync %u, others did behind gsync %u", rank, phase,
                      rec->phase, invariants->gsyncs[phase]);
    }
    invariants->gsyncs[phase] = rec->phase;
    invariants->has_gsyncs[phase] = 1;
}

/* accesses of the plan that leave a record each at least */
static uint32_t planned(const scene_t *scene, uint32_t phase, uint32_t rank, uint32_t target, int is_get)
{
    const plan_step_t *step = plan_step(scene->plan, phase, rank);
    uint32_t count = 0;
    unsigned e, i;

    for (e = 0; e < step->epoch_count; ++e) {
        for (i = 0; i < step->epoch[e].op_count; ++i) {
            const plan_op_t *op = &step->epoch[e].op[i];

            count += (op->target == target) && !op->is_conditional && (op->length > 0) &&
                     ((op->kind == PLAN_GET) == (is_get != 0));
        }
    }
    return count;
}

static keel_status_t count_records(void *arg, const keel_record_t *records, size_t length)
{
    (void)arg, (void)records, (void)length;
    return KEEL_OK;
}

static uint32_t count_gets(const keel_get_target_t *t, uint32_t from, uint32_t before)
{
    const keel_get_record_t *record;
    keel_cursor_t cursor = {0};
    uint32_t count = 0;

    keel_cursor_to_start(&t->list, &cursor);
    while ((record = keel_get_log_peek(t, &cursor)) != NULL) {
        count += (record->phase >= from) && (record->phase < before);
        keel_get_log_advance(&cursor, record);
    }
    return count;
}

static void check_log(const scene_t *scene, uint32_t rank, uint32_t target, uint32_t phase)
{
    const invariants_t *invariants = &scene->invariants;
    const keel_context_h ctx = scene->member[rank].host.ctx;
    const uint32_t from = invariants->gsyncs[phase], before = invariants->gsyncs[phase + 1];
    const uint32_t used = ctx->rec.ckpt->used.number;
    const uint32_t image = keel_larger(used, ctx->rec.demand->starts[target].position);
    const uint32_t own = keel_larger(used, ctx->rec.demand->starts[rank].position);
    const keel_put_target_t *puts = &ctx->puts.targets[target];
    uint64_t found = 0;
    uint32_t wanted, k;

    if (ctx->puts.is_enabled && !puts->is_off && (puts->lost <= image) && (from >= image)) {
        wanted = planned(scene, phase, rank, target, 0);
        for (k = from; (wanted > 0) && (k < before); ++k) {
            (void)keel_put_log_for_phase(&ctx->puts, target, k, 0, count_records, NULL, &found);
        }
        if (found < wanted) {
            keel_sim_flaw(scene->sim,
                          "rank %u has %llu records of its %u puts to rank %u in phase %u; the image is of gsync %u",
                          rank, (unsigned long long)found, wanted, target, phase, image);
        }
    }
    if (ctx->gets.is_enabled && !ctx->gets.is_off && (ctx->lane.slot.lost_gets <= own) && (from >= own)) {
        wanted = planned(scene, phase, rank, target, 1);
        found = (wanted > 0) ? count_gets(&ctx->gets.targets[target], from, before) : 0;
        if (found < wanted) {
            keel_sim_flaw(scene->sim,
                          "rank %u has %llu records of its %u gets from rank %u in phase %u; its image is of gsync %u",
                          rank, (unsigned long long)found, wanted, target, phase, own);
        }
    }
}

void scene_check_logs(scene_t *scene)
{
    const uint32_t most = scene->plan_options.phases;
    const uint32_t phases = (most < INVARIANT_PHASES_MAX) ? most : INVARIANT_PHASES_MAX;
    uint32_t r, q, phase;

    for (r = 0; r < scene->processes; ++r) {
        if (!is_settled(scene, r)) {
            continue;
        }
        check_oplog(scene, r);
        if ((scene->plan == NULL) || (r >= scene->ranks) || (scene->member[r].host.ctx->rec.roll != KEEL_ROLL_NONE)) {
            continue;
        }
        for (phase = 0; phase < phases; ++phase) {
            const keel_recovery_t *rec = &scene->member[r].host.ctx->rec;

            if (!scene->invariants.has_gsyncs[phase] || !scene->invariants.has_gsyncs[phase + 1] ||
                (rec->phase < scene->invariants.gsyncs[phase + 1]) ||
                (rec->restarted_at > scene->invariants.gsyncs[phase])) {
                continue; /* not over, or of the predecessor's life */
            }
            for (q = 0; q < scene->ranks; ++q) {
                if (q != r) {
                    check_log(scene, r, q, phase);
                }
            }
        }
    }
}

/* ---- generations, looked at when somebody enters a phase ---- */

static int scene_has_part(const keel_context_h ctx, uint32_t generation)
{
    return (ctx->ckpt.used.number == generation) ||
           ((ctx->ckpt.making.number == generation) && (ctx->ckpt.stage == KEEL_CKPT_SAFE));
}

static int scene_is_settled(const scene_t *scene, uint32_t rank)
{
    const keel_context_h ctx = scene->member[rank].host.ctx;

    return keel_sim_is_alive(scene->sim, rank) && (ctx != NULL) && (ctx->rec.state != KEEL_RANK_FRESH);
}

/* invariant 4: what one process may be asked to start from again, all have their part of */
void scene_check_generations(const scene_t *scene)
{
    uint32_t newest = 0, holder = 0, r;

    for (r = 0; r < scene->ranks; ++r) {
        if (scene_is_settled(scene, r) && (scene->member[r].host.ctx->ckpt.used.number > newest)) {
            newest = scene->member[r].host.ctx->ckpt.used.number;
            holder = r;
        }
    }
    for (r = 0; r < scene->ranks; ++r) {
        if (scene_is_settled(scene, r) && !scene_has_part(scene->member[r].host.ctx, newest)) {
            keel_sim_flaw(scene->sim, "rank %u uses generation %u, rank %u has not its part of it", holder, newest, r);
        }
    }
}

/* who has no parity share is computing it, unless a death that is not decided yet stopped it */
void scene_check_rearm(const scene_t *scene, uint32_t rank)
{
    const keel_context_h ctx = scene->member[rank].host.ctx;
    uint32_t r;

    if ((ctx == NULL) || (scene->groups.count == 0) || (ctx->ckpt.used.number == 0) || ctx->ckpt.is_armed ||
        ctx->ckpt.is_rearming || ctx->rec.is_frozen || (keel_recovery_status(&ctx->rec) != KEEL_OK)) {
        return;
    }
    for (r = 0; r < scene->processes; ++r) {
        if ((r != rank) && (!ctx->lane.peers[r].is_up || !keel_sim_is_alive(scene->sim, r) ||
                            (ctx->lane.peers[r].incarnation != keel_sim_incarnation(scene->sim, r)))) {
            return;
        }
    }
    keel_sim_flaw(scene->sim, "rank %u has no parity share of generation %u and does not compute it", rank,
                  ctx->ckpt.used.number);
}

/* ---- all ---- */

void scene_check_step(scene_t *scene)
{
    uint32_t ranks[CASE_PROCESSES_MAX], count = 0, r;
    uint64_t trimmed = 0;

    for (r = 0; r < scene->processes; ++r) {
        if (is_settled(scene, r)) {
            const keel_context_h ctx = scene->member[r].host.ctx;

            ranks[count++] = r;
            trimmed += ctx->ckpt.committed + ctx->demand.committed;
            check_images(scene, r);
        }
    }
    check_views(scene, ranks, count);
    check_positions(scene, ranks, count);
    if (scene->locks != NULL) {
        check_locks(scene, ranks, count);
    }
    if (trimmed != scene->invariants.trimmed) {
        scene->invariants.trimmed = trimmed;
        scene_check_logs(scene);
    }
}
