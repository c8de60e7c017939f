/*
 * Invariants (protocol.md, "Invariants") that can be checked between any two steps. The checks know
 * the drawn scene and read the memory of the processes. The checks take no part in the run, so a
 * run is the same with and without them.
 *   5: all ranks that are in the same view and have a decision have the same decision.
 *   6: a log reaches back to the newest image in use of the rank that the log is for, or is marked
 *     (sim_logs.c).
 *   8: the memory allocated for logs, images and parity is within the budgets.
 * Positions: no rank passes a gsync that another rank has not arrived at. Locks: one writer, or
 * readers. Silence: a rank that hangs is accused within a bound.
 */
#include "sim_invariants.h"

#include "sim_scene.h"
#include "recovery/recover.h"

#include <string.h>

/* timeouts until a rank that hangs is accused, for each watcher lost meanwhile */
#define SILENCE          5
#define SILENCE_NEW      8        /* timeouts until a rank that starts is accused */
#define SILENCE_SHORT_NS 27000000 /* minimum timeout in this check: 64 looks */
#define FENCE_NS         20000000 /* time that the launcher takes to kill the rank */

int scene_is_readable(const scene_t *scene, uint32_t rank)
{
    const member_t *member = &scene->member[rank];

    return (member->host.ctx != NULL) && !member->has_returned && !member->is_finishing &&
           keel_sim_is_alive(scene->sim, rank) && (keel_recovery_state(&member->host.ctx->rec) != KEEL_RANK_FRESH) &&
           (member->host.ctx->rec.fatal == KEEL_OK) && !keel_recovery_is_finished(&member->host.ctx->rec);
}

/* ---- views ---- */

/* Returns a key of the view: incarnations and requests; 0: view of the start. */
static uint64_t view_key(const keel_recovery_t *rec)
{
    uint64_t key = rec->request_number - rec->lane->counters.request;
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

        if (keel_recovery_is_frozen(rec) || rec->mode == KEEL_DECISION_CATASTROPHE) {
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
    /* a re-executing rank has not arrived after the front */
    seen->reach = (keel_recovery_state(rec) == KEEL_RANK_FRONT) ? rec->phase + 1 : rec->front;
}

static void check_positions(scene_t *scene, const uint32_t *ranks, uint32_t count)
{
    uint32_t lowest[2] = {UINT32_MAX, 0}, i, r; /* lowest reach, and its rank */
    uint32_t rollback = 0;

    for (i = 0; i < count; ++i) {
        const keel_recovery_t *rec = &scene->member[ranks[i]].host.ctx->rec;
        invariant_seen_t *seen = &scene->invariants.seen[ranks[i]];

        if (rec->roll != KEEL_ROLL_NONE) {
            seen->is_known = 0; /* the rank restarts with another rollback number */
            continue;
        }
        if (seen->is_known && (seen->incarnation == rec->lane->incarnation) &&
            (seen->rollback == rec->lane->rollback) && (rec->phase < seen->phase)) {
            keel_sim_flaw(scene->sim, "rank %u goes back from phase %u to %u", ranks[i], seen->phase, rec->phase);
        }
        note_position(seen, rec);
        rollback = keel_larger(rollback, rec->lane->rollback);
    }
    for (r = 0; r < scene->processes; ++r) { /* includes dead ranks */
        invariant_seen_t *seen = &scene->invariants.seen[r];

        if (scene->member[r].is_finishing || scene->member[r].has_returned ||
            ((scene->member[r].host.ctx != NULL) && !scene_is_readable(scene, r))) {
            seen->is_known = 0; /* the rank goes on and is not observed */
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

/* Returns 1 if the rank computes, so its held locks are not left over from a replay or rollback. */
static int is_present(const keel_recovery_t *rec)
{
    return (keel_recovery_state(rec) == KEEL_RANK_FRONT) && (rec->roll == KEEL_ROLL_NONE) &&
           (rec->rollback_reason == KEEL_ROLLBACK_NOT_REQUESTED) && !rec->sync->sections.is_replaying &&
           !keel_recovery_is_frozen(rec);
}

static void check_owner(const scene_t *scene, uint32_t rank, uint32_t holder)
{
    const keel_context_h ctx = scene->member[rank].host.ctx;
    const keel_recovery_t *rec = &scene->member[holder].host.ctx->rec;
    const keel_lock_area_t *area;

    if (!scene_is_readable(scene, rank) || !is_present(&ctx->rec) || (rec->lane->rollback != ctx->lane.rollback) ||
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

/*
 * A rank that waits for a lock for critical sections sees a bounded number of grants
 * (peer/lock_claim.h). Reading epochs of the owner count, too, and exclude no rank from the word:
 * owners that read are left out.
 */
static void check_claims(const scene_t *scene, uint32_t rank)
{
    const keel_context_h ctx = scene->member[rank].host.ctx;
    keel_lock_area_t *area = keel_lane_locks(&ctx->lane);
    const keel_claims_t claims = keel_lock_claims(area, ctx->lane.size);
    const keel_claim_t claim = {.grants = keel_lock_counter(area->word), .mask = KEEL_LOCK_COUNTER_MAX};

    if (!is_present(&ctx->rec) || (ctx->sync.sections.reads[ctx->lane.rank] != 0)) {
        return;
    }
    for (uint32_t r = 0; r < ctx->lane.size; ++r) {
        if (keel_claim_is_for(claims.waiting[r], 0) &&
            (keel_claim_age(&claim, claims.waiting[r]) > KEEL_CLAIM_GRANTS + ctx->lane.size)) {
            keel_sim_flaw(scene->sim, "rank %u waits for the lock of rank %u during %lu grants", r, rank,
                          (unsigned long)keel_claim_age(&claim, claims.waiting[r]));
        }
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

        check_claims(scene, ranks[i]);
        for (q = 0; is_present(rec) && (rec->sync->sections.open > 0) && (q < scene->ranks); ++q) {
            const uint8_t held = rec->sync->sections.held[q];

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

/* ---- generations, checked when a rank enters a phase ---- */

static int scene_has_part(const keel_context_h ctx, uint32_t generation)
{
    return (ctx->ckpt.set.used.number == generation) ||
           ((ctx->ckpt.set.making.number == generation) && (ctx->ckpt.set.state.stage == KEEL_SET_SAFE));
}

static int scene_is_settled(const scene_t *scene, uint32_t rank)
{
    const keel_context_h ctx = scene->member[rank].host.ctx;

    return keel_sim_is_alive(scene->sim, rank) && (ctx != NULL) && (keel_recovery_state(&ctx->rec) != KEEL_RANK_FRESH);
}

/*
 * Invariant 4: if one process may have to start from a generation, all ranks have their part of it.
 */
void scene_check_generations(const scene_t *scene)
{
    uint32_t newest = 0, holder = 0, r;

    for (r = 0; r < scene->ranks; ++r) {
        if (scene_is_settled(scene, r) && (scene->member[r].host.ctx->ckpt.set.used.number > newest)) {
            newest = scene->member[r].host.ctx->ckpt.set.used.number;
            holder = r;
        }
    }
    for (r = 0; r < scene->ranks; ++r) {
        if (scene_is_settled(scene, r) && !scene_has_part(scene->member[r].host.ctx, newest)) {
            keel_sim_flaw(scene->sim, "rank %u uses generation %u, rank %u has not its part of it", holder, newest, r);
        }
    }
}

/*
 * A rank without a parity share is computing the share, unless an undecided death stopped the
 * computation.
 */
void scene_check_rearm(const scene_t *scene, uint32_t rank)
{
    const keel_context_h ctx = scene->member[rank].host.ctx;
    uint32_t r;

    if ((ctx == NULL) || (scene->groups.count == 0) || (ctx->ckpt.set.used.number == 0) ||
        keel_image_set_is_armed(&ctx->ckpt.set) || keel_image_set_is_rearming(&ctx->ckpt.set) ||
        keel_recovery_is_frozen(&ctx->rec) || (keel_recovery_status(&ctx->rec) != KEEL_OK)) {
        return;
    }
    for (r = 0; r < scene->processes; ++r) {
        if ((r != rank) && (!ctx->lane.peers[r].is_up || !keel_sim_is_alive(scene->sim, r) ||
                            (ctx->lane.peers[r].incarnation != keel_sim_incarnation(scene->sim, r)))) {
            return;
        }
    }
    keel_sim_flaw(scene->sim, "rank %u has no parity share of generation %u and does not compute it", rank,
                  ctx->ckpt.set.used.number);
}

/* ---- all ---- */

void scene_check_step(scene_t *scene)
{
    uint32_t ranks[CASE_PROCESSES_MAX], count = 0, r;
    uint64_t trimmed = 0;

    keel_sim_stores_show(scene->sim);
    for (r = 0; r < scene->processes; ++r) {
        if (scene_is_readable(scene, r)) {
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
    keel_sim_stores_hide(scene->sim);
}

/* ---- silence ---- */

/* Counts the lost ranks that may have watched the victim, or the present watcher. */
static unsigned scene_watchers(const scene_t *scene, uint32_t victim)
{
    const member_t *member = &scene->member[victim];
    const member_t *watcher = &scene->member[(victim + scene->processes - 1) % scene->processes];

    return 1 + ((watcher->lost_ns < member->hung_ns)
                    ? 0
                    : scene->result->hangs + scene->result->deaths - member->hung_after);
}

/*
 * Detection is bounded (recovery/detect.c): half a timeout until the next probe; three timeouts if
 * the connection broke, or six while the rank starts; one for the replies of the other ranks. The
 * count starts again when a watcher is lost meanwhile. A watcher looks 64 times per timeout, or as
 * often as it can: every 400 us.
 */
void scene_check_silence(const scene_t *scene, uint32_t victim)
{
    const member_t *member = &scene->member[victim];
    const uint64_t timeout = (scene->heartbeat_ns > SILENCE_SHORT_NS) ? scene->heartbeat_ns : SILENCE_SHORT_NS;
    const unsigned silence = (member->host.ctx == NULL) ? SILENCE_NEW : SILENCE;
    const uint64_t took = keel_sim_now_ns(scene->sim) - member->hung_ns;

    if (keel_sim_is_hung(scene->sim, victim) && (took > silence * scene_watchers(scene, victim) * timeout + FENCE_NS)) {
        keel_sim_flaw(scene->sim, "rank %u hung for %.1f ms before it was killed, the timeout is %.1f ms", victim,
                      (double)took * 1e-6, (double)scene->heartbeat_ns * 1e-6);
    }
}
