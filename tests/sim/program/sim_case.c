/*
 * Plays a drawn case. A death strikes a drawn number of scheduler steps after a drawn moment: a
 * rank enters a phase, or the previous death. Other ranks of the victim's group or node may die at
 * the same step. A group loses more members than parity covers, before it is armed again, only in
 * cases drawn for such losses; elsewhere a catastrophic error is a flaw.
 */
#include "sim_case.h"
#include "sim_aim.h"
#include "sim_given.h"

#include "sim_parity.h"
#include "sim_scene.h"

#include "base/memory.h"
#include "check/plant.h"
#include "job/init.h"

#include <stdio.h>
#include <string.h>

#define CASE_RETRY 16 /* steps between tries of a death that is not allowed yet */
#define CASE_CHECK 24 /* maximum steps per process between two checks of the invariants */
/*
 * Counts that a run may take. The first gsync is a multiple of 1024, so periodic actions come as
 * with counters that begin at 0.
 */
#define COUNTERS_ROOM 1023
#define CASE_AIM      3 /* steps between tries if no victim is in the aimed state */

/* ---- deaths ---- */

/* Returns 1 if the rank's image and parity share exist. */
static int scene_is_armed(const scene_t *scene, uint32_t rank)
{
    const member_t *member = &scene->member[rank];
    const keel_context_h ctx = member->host.ctx;

    if (member->has_returned) {
        return 1;
    }
    return keel_sim_is_alive(scene->sim, rank) && (ctx != NULL) &&
           (keel_recovery_state(&ctx->rec) != KEEL_RANK_FRESH) && keel_image_set_is_armed(&ctx->ckpt.set);
}

/* Counts the other members of the victim's group that are not armed. */
static uint32_t scene_away(const scene_t *scene, uint32_t victim)
{
    uint32_t away = 0, r;

    for (r = 0; r < scene->processes; ++r) {
        away += (r != victim) &&
                (scene->groups.count == 0 || scene->groups.of_rank[r] == scene->groups.of_rank[victim]) &&
                !scene_is_armed(scene, r);
    }
    return away;
}

/*
 * Returns 1 if parity does not cover the death, or if the victim is the last rank that runs the
 * program.
 */
static int scene_overlaps(const scene_t *scene, uint32_t victim)
{
    uint32_t others = 0, r;

    for (r = 0; r < scene->ranks; ++r) {
        others += (r != victim) && scene_is_armed(scene, r);
    }
    return (others == 0) || (scene_away(scene, victim) >= scene->parities);
}

/*
 * The launcher handles deaths before all ranks have met. Deaths after the last gsync have no
 * effect.
 */
static int scene_may_strike(const scene_t *scene, uint32_t victim)
{
    unsigned met = 0, finishing = 0, living = 0;
    uint32_t r;

    for (r = 0; r < scene->ranks; ++r) {
        met += scene->member[r].has_met;
        finishing += scene->member[r].is_finishing;
        living += (r != victim) && keel_sim_is_alive(scene->sim, r);
    }
    for (; r < scene->processes; ++r) {
        met += (scene->member[r].host.ctx != NULL) || (keel_sim_incarnation(scene->sim, r) > 0);
    }
    return (met == scene->processes) && (finishing < scene->ranks) && (living > 0) &&
           keel_sim_is_alive(scene->sim, victim) && (scene->may_overlap || !scene_overlaps(scene, victim));
}

/* Deaths, samples and invariants share one hook. */
static void scene_hook_next(scene_t *scene)
{
    const int is_due = (scene->death_next < scene->death_count) && (scene->strike_step != 0);
    const uint64_t step = (scene->check_step < scene->sample_step) ? scene->check_step : scene->sample_step;

    if (scene->hunt.kind != HUNT_NONE) {
        keel_sim_hook_at(scene->sim, keel_sim_step(scene->sim) + 1);
        return;
    }
    keel_sim_hook_at(scene->sim, (is_due && (scene->strike_step < step)) ? scene->strike_step : step);
}

static void scene_next_death(scene_t *scene)
{
    const death_t *death = &scene->death[scene->death_next];

    scene->strike_step = 0;
    if (scene->death_next == scene->death_count) {
        return;
    }
    if (death->is_chained) {
        scene->strike_step = keel_sim_step(scene->sim) + death->delay;
    }
}

static void scene_note_death(scene_t *scene, uint32_t victim)
{
    member_t *member = &scene->member[victim];
    uint32_t r;

    /*
     * A replacement that started before the first window was made begins earlier than the next
     * replacement may begin, so the job may have to roll back.
     */
    for (r = 0; r < scene->ranks; ++r) {
        const keel_context_h ctx = (r == victim) ? NULL : scene_context(scene, r);

        scene->may_roll_back |=
            (ctx != NULL) && (ctx->lane.incarnation > 0) && (ctx->rec.restarted_at <= scene->drivers.counters.phase) &&
            (ctx->rec.phase == scene->drivers.counters.phase || keel_recovery_state(&ctx->rec) == KEEL_RANK_RECOVERING);
    }
    member->is_finishing = 0;
    member->host.ctx = NULL;
    member->lost_ns = keel_sim_now_ns(scene->sim);
    ++scene->result->deaths;
}

int scene_kill(scene_t *scene, uint32_t victim)
{
    scene_check_step(scene); /* checks the victim's last state */
    if (!keel_sim_kill(scene->sim, victim)) {
        return 0;
    }
    scene_note_death(scene, victim);
    if (scene->moves && keel_random_chance(&scene->moving, 500)) {
        const uint32_t node = scene->node[keel_random_below(&scene->moving, scene->processes)];

        keel_sim_move(scene->sim, victim, node);
        scene->result->moved += (node != scene->node[victim]);
    }
    return 1;
}

/* Returns 1 if a rank remains that notices the hang and is not about to leave. */
static int scene_has_watcher(const scene_t *scene, uint32_t victim)
{
    uint32_t r;

    for (r = 0; r < scene->ranks; ++r) {
        const keel_context_h ctx = scene_context(scene, r);

        if (scene->member[r].is_finishing || scene->member[r].has_returned ||
            ((ctx != NULL) && (ctx->rec.fatal != KEEL_OK))) {
            return 0;
        }
    }
    for (r = 0; r < scene->processes; ++r) {
        if ((r != victim) && keel_sim_is_alive(scene->sim, r) && !keel_sim_is_hung(scene->sim, r)) {
            return 1;
        }
    }
    return 0;
}

/*
 * Draws the smaller part of a network that splits between nodes. Returns the number of ranks in it.
 */
static unsigned scene_draw_sides(scene_t *scene, uint8_t *side)
{
    unsigned smaller = 0;
    uint32_t r, node;

    memset(side, 0, scene->processes);
    for (node = 0; node < scene->ranks; ++node) {
        unsigned here = 0;

        for (r = 0; r < scene->ranks; ++r) {
            here += (scene->node[r] == node);
        }
        if ((2 * (smaller + here) >= scene->ranks) || !keel_random_chance(&scene->random, 512)) {
            continue;
        }
        smaller += here;
        for (r = 0; r < scene->ranks; ++r) {
            side[r] |= (scene->node[r] == node);
        }
    }
    return smaller;
}

/*
 * Splits the network instead of killing a rank. A side may hold more members of a group than parity
 * covers.
 */
static void scene_split(scene_t *scene)
{
    uint8_t side[CASE_PROCESSES_MAX];
    unsigned is_over = 0;
    uint32_t r, q;

    for (r = 0; r < scene->ranks; ++r) {
        is_over |= (unsigned)scene->member[r].is_finishing;
    }
    if (is_over || (scene_draw_sides(scene, side) == 0)) {
        return;
    }
    for (r = 0; r < scene->ranks; ++r) {
        uint32_t together = 0;

        for (q = 0; q < scene->ranks; ++q) {
            together += side[q] && (scene->groups.count == 0 || scene->groups.of_rank[r] == scene->groups.of_rank[q]);
        }
        scene->has_overlapped |= side[r] && (scene_overlaps(scene, r) || (together > scene->parities));
    }
    keel_sim_split(scene->sim, side);
    ++scene->result->splits;
}

/* Returns 1 << size of the victim's group, or 0 if the victim has no image to start from. */
static unsigned scene_group_hit(const scene_t *scene, uint32_t victim)
{
    const keel_context_h ctx = scene->member[victim].host.ctx;

    if ((ctx == NULL) || (ctx->ckpt.set.used.number == 0) || (scene->groups.count == 0)) {
        return 0;
    }
    return 1u << (scene->groups.size[scene->groups.of_rank[victim]] % 32);
}

static int scene_strike(scene_t *scene, uint32_t victim)
{
    const death_t *death = &scene->death[scene->death_next];
    const uint32_t away = scene_away(scene, victim);
    const unsigned together = (away > 0 && away < scene->parities) ? away + 1 : 0;
    const unsigned hit = scene_group_hit(scene, victim);

    if (death->hang_ns > 0) {
        const uint64_t hang_ns = scene_has_watcher(scene, victim) ? death->hang_ns : scene->heartbeat_ns;

        if (!keel_sim_hang(scene->sim, victim, hang_ns)) {
            return 0;
        }
        scene->member[victim].hung_ns = keel_sim_now_ns(scene->sim);
        scene->member[victim].lost_ns = (hang_ns < UINT64_MAX / 2) ? keel_sim_now_ns(scene->sim) + hang_ns : UINT64_MAX;
        scene->member[victim].hung_after = scene->result->hangs + scene->result->deaths;
        ++scene->result->hangs;
        return 1;
    }
    scene->has_overlapped |= scene_overlaps(scene, victim);
    if (!scene_kill(scene, victim)) {
        return 0;
    }
    scene->result->together = keel_larger(scene->result->together, together);
    scene->result->groups_hit |= hit;
    return 1;
}

/*
 * Kills a rank that hangs or is slow like any other victim; its group may then lose a member too
 * many. Spares the rank if the launcher would not recover it: before all ranks have met, and while
 * all are leaving.
 */
static int scene_fence(void *arg, keel_sim_t *sim, uint32_t victim)
{
    scene_t *scene = arg;
    unsigned met = 0, finishing = 0, living = 0;
    uint32_t r;

    for (r = 0; r < scene->ranks; ++r) {
        met += scene->member[r].has_met;
        finishing += scene->member[r].is_finishing;
        living += keel_sim_is_alive(sim, r);
    }
    if ((met < scene->ranks) || (finishing == scene->ranks) || (living < 2)) {
        return 0;
    }
    scene_check_step(scene);
    scene_check_silence(scene, victim);
    scene->has_overlapped |= scene_overlaps(scene, victim);
    scene_note_death(scene, victim);
    ++scene->result->fenced;
    return 1;
}

/* Strikes the victim, and other ranks of its group and node that may die. */
static void scene_strike_all(scene_t *scene, uint32_t victim)
{
    const death_t *death = &scene->death[scene->death_next];
    uint32_t left = death->with, i, r;

    if (scene->is_split) {
        scene_split(scene);
        ++scene->death_next;
        scene_next_death(scene);
        return;
    }
    if (!scene_strike(scene, victim)) {
        return;
    }
    for (i = 1; i < scene->processes; ++i) {
        r = (victim + i) % scene->processes;
        if (!scene_may_strike(scene, r)) {
            continue;
        }
        if (death->has_node && (scene->node[r] == scene->node[victim])) {
            (void)scene_strike(scene, r);
        } else if ((left > 0) && (scene->groups.count > 0) &&
                   (scene->groups.of_rank[r] == scene->groups.of_rank[victim])) {
            (void)scene_strike(scene, r);
            --left;
        }
    }
    ++scene->death_next;
    scene_next_death(scene);
}

/*
 * Decodes images that are assumed lost from the remaining memory. The moments are drawn apart from
 * the case.
 */
static void scene_sample(scene_t *scene)
{
    keel_context_h ctx[CASE_PROCESSES_MAX];
    parity_check_t check = {.ranks = scene->processes,
                            .ctx = ctx,
                            .groups = &scene->groups,
                            .parities = scene->parities,
                            .is_dedicated = scene->is_dedicated,
                            .random = &scene->sampling};
    uint32_t r;

    for (r = 0; r < scene->processes; ++r) {
        const member_t *member = &scene->member[r];

        if (member->is_finishing || member->has_returned) {
            return; /* the memory of leaving ranks is gone */
        }
        ctx[r] = keel_sim_is_alive(scene->sim, r) ? member->host.ctx : NULL;
    }
    for (r = scene->ranks; r < scene->processes; ++r) {
        if (ctx[r] != NULL) { /* a checksum rank makes no call that returns statistics */
            scene->member[r].stats.parity_spared_bytes =
                ctx[r]->ckpt.set.parity_spared + ctx[r]->demand.set.parity_spared;
        }
    }
    keel_sim_stores_show(scene->sim);
    if (!parity_check(&check)) {
        keel_sim_flaw(scene->sim, "%s", check.flaw);
    }
    keel_sim_stores_hide(scene->sim);
    scene->result->decoded += check.decoded;
}

/* Returns the rank that the death strikes now; the number of processes: none. */
static uint32_t scene_find_victim(const scene_t *scene, const death_t *death)
{
    uint32_t tries, victim;

    for (tries = 0; tries < scene->processes; ++tries) {
        victim = (death->victim + tries) % scene->processes;
        if (scene_may_strike(scene, victim) &&
            ((death->patience == 0) || scene_is_aimed_at(scene, death->aim, victim))) {
            return victim;
        }
    }
    return scene->processes;
}

static void scene_hook(void *arg, keel_sim_t *sim)
{
    scene_t *scene = arg;
    const uint64_t step = keel_sim_step(sim);
    death_t *death = &scene->death[scene->death_next];
    uint32_t victim;

    scene_hunt(scene);
    if (step >= scene->check_step) {
        scene_check_step(scene);
        scene->check_step = step + 1;
        if (scene->is_each_step) {
            scene_check_logs(scene);
        } else {
            scene->check_step += keel_random_below(&scene->checking, CASE_CHECK * scene->processes);
        }
    }
    if (step >= scene->sample_step) {
        scene_sample(scene);
        scene_check_logs(scene);
        scene->sample_step = step + 100 + keel_random_scaled(&scene->sampling, 20000);
    }
    if ((scene->death_next < scene->death_count) && (scene->strike_step != 0) && (step >= scene->strike_step)) {
        scene->strike_step = step + ((death->patience > 0) ? CASE_AIM : CASE_RETRY);
        victim = scene_find_victim(scene, death);
        if (victim < scene->processes) {
            scene_sample(scene);
            scene_strike_all(scene, victim);
        } else {
            death->patience -= (death->patience > 0);
        }
    }
    scene_hook_next(scene);
}

/* ---- the ranks ---- */

/* The programs are deterministic, so a re-execution that differs is a flaw. */
static void scene_check_differences(const play_host_t *host)
{
    if ((host->ctx != NULL) && (host->ctx->rec.differences > 0) && !KEEL_PLANT(get_log_record_differs)) {
        keel_sim_flaw(((scene_t *)host->arg)->sim, "rank %u.%u: its re-execution differs from what was recorded",
                      host->rank, host->incarnation);
    }
}

static void scene_at(play_host_t *host, uint32_t phase)
{
    scene_t *scene = host->arg;
    const death_t *death = &scene->death[scene->death_next];
    member_t *member = &scene->member[host->rank];

    keel_sim_trace(scene->sim, "rank %u.%u enters phase %d", host->rank, host->incarnation, (int)phase);
    scene_check_generations(scene);
    scene_check_differences(host);
    if (phase == PLAY_MET) {
        member->has_met = 1;
        return;
    }
    scene_check_rearm(scene, host->rank);
    scene_note_phase(scene, host->rank, phase);
    member->is_finishing = (phase == scene->plan_options.phases);
    member->was_there |= member->is_finishing;
    if ((scene->death_next < scene->death_count) && (scene->strike_step == 0) && (death->rank == host->rank) &&
        (death->phase <= phase)) {
        scene->strike_step = keel_sim_step(scene->sim) + death->delay;
        scene_hook_next(scene);
    }
}

static void scene_stats(play_host_t *host, const keel_stats_t *stats)
{
    scene_t *scene = host->arg;

    scene->member[host->rank].stats = *stats;
    if (stats->put_log_peak > scene->own[host->rank].log_budget) {
        keel_sim_flaw(scene->sim, "rank %u.%u: %llu bytes of log, the budget is %llu", host->rank, host->incarnation,
                      (unsigned long long)stats->put_log_peak, (unsigned long long)scene->own[host->rank].log_budget);
    }
}

static int scene_asks(play_host_t *host, uint32_t phase)
{
    scene_t *scene = host->arg;

    if (scene->asks_left == 0 || host->rank != scene->asker || phase < scene->asks_phase) {
        return 0;
    }
    scene->asks_left--;
    scene->result->asked++;
    return 1;
}

static void scene_compute(play_host_t *host, uint64_t ns)
{
    keel_sim_compute(((scene_t *)host->arg)->sim, ns);
}

static void scene_point(play_host_t *host)
{
    keel_sim_point(((scene_t *)host->arg)->sim);
}

static void scene_flaw(play_host_t *host, const char *text)
{
    keel_sim_flaw(((scene_t *)host->arg)->sim, "%s", text);
}

static void scene_note(play_host_t *host, const char *text)
{
    keel_sim_trace_print(((scene_t *)host->arg)->sim, "rank %u.%u %s", host->rank, host->incarnation, text);
}

static keel_status_t scene_init(play_host_t *host, keel_context_h *ctx_p)
{
    return keel_init_on(&((scene_t *)host->arg)->drivers, host->params, ctx_p);
}

/*
 * Runs a checksum rank. keel_init_on() serves inside the call and publishes the context meanwhile.
 */
static void scene_checksum(scene_t *scene, member_t *member)
{
    keel_params_t params = scene->own[member - scene->member].params;

    member->host.ctx = NULL;
    params.field_mask |= KEEL_PARAM_FIELD_FLAGS;
    params.flags |= KEEL_PARAM_FLAG_CHECKSUM_RETURNS;
    member->status = keel_init_on(&scene->drivers, &params, &member->host.ctx);
    member->status = (member->status == KEEL_ERR_CHECKSUM) ? KEEL_OK : member->status;
    member->has_returned = 1;
}

static void scene_program(void *arg, keel_sim_t *sim, uint32_t rank, uint32_t incarnation)
{
    static keel_status_t (*const programs[])(play_host_t * host) = {[CASE_GSYNC] = play_program,
                                                                    [CASE_LOCKS] = locks_program,
                                                                    [CASE_WAITS] = waits_program,
                                                                    [CASE_RACES] = races_program,
                                                                    [CASE_MIXED] = mixed_program};
    scene_t *scene = arg;
    member_t *member = &scene->member[rank];

    if (rank >= scene->ranks) {
        scene_checksum(scene, member);
        return;
    }

    member->has_returned = member->is_finishing = member->is_storing = 0;
    member->host =
        (play_host_t){.plan = scene->plan,
                      .oracle = scene->oracle,
                      .locks = scene->locks,
                      .races = scene->races,
                      .mixed = scene->mixed,
                      .has_extents = scene->has_extents,
                      .has_looks = scene->has_looks,
                      .shares = scene->shares,
                      .has_strides = scene->has_strides,
                      .asks_otherwise = scene->is_harsh,
                      .given = scene->has_given ? sim_given : NULL,
                      .may_be_cut_off = scene->is_split,
                      .waits = &scene->waits,
                      .rank = rank,
                      .params = &scene->own[rank].params,
                      .init = scene_init,
                      .alloc = keel_alloc,
                      .release = keel_free,
                      .compute = scene_compute,
                      .point = scene_point,
                      .at = scene_at,
                      .stats = scene_stats,
                      .asks = scene_asks,
                      .did = scene_note_access,
                      .has_restart_point = scene->has_restart_point && (scene->plan != NULL || scene->is_varied),
                      .clears_restart_point = scene->is_varied && (rank & 1),
                      .note = keel_sim_is_traced(sim) ? scene_note : NULL,
                      .flaw = scene_flaw,
                      .arg = scene,
                      .incarnation = incarnation};
    member->status = programs[scene->result->style](&member->host);
    member->has_returned = 1;
    scene->result->isolated += (member->status == KEEL_ERR_ISOLATED);
}

/* Prints the holders of each lock. */
static void scene_describe_locks(const scene_t *scene)
{
    for (uint32_t r = 0; r < scene->ranks; ++r) {
        const keel_context_h ctx = scene_context(scene, r);
        const keel_lock_area_t *area;

        if (ctx == NULL) {
            continue;
        }
        area = keel_lane_locks(&ctx->lane);
        fprintf(stderr, "  lock of rank %u: number %lu, owner %d; readers", r,
                (unsigned long)keel_lock_counter(area->word), (int)keel_lock_owner(area->word) - 1);
        for (uint32_t s = 0; s < scene->ranks; ++s) {
            if (area->reading[s] != 0) {
                fprintf(stderr, " %u (%llx)", s, (unsigned long long)area->reading[s]);
            }
        }
        fprintf(stderr, "; holds");
        for (uint32_t q = 0; q < scene->ranks; ++q) {
            if (ctx->sync.sections.held[q] != KEEL_HELD_NOT) {
                fprintf(stderr, " %u%s", q, ctx->sync.sections.held[q] == KEEL_HELD_READING ? " to read" : "");
            }
        }
        fprintf(stderr, "\n");
    }
}

static void scene_describe(const scene_t *scene)
{
    if (scene->locks != NULL) {
        scene_describe_locks(scene);
    }
    fprintf(stderr, "%u ranks, %u phases, %s, %s, %u of %u deaths,", scene->ranks, scene->plan_options.phases,
            (scene->locks != NULL)   ? "locks"
            : (scene->races != NULL) ? "races"
            : (scene->mixed != NULL) ? "mixed"
            : (scene->plan != NULL)  ? "gsyncs"
                                     : "waits",
            (scene->direct == KEEL_SIM_PTR) ? "by pointers" : "by operations", scene->result->deaths,
            scene->death_count);
    for (unsigned i = 0; i < scene->env_count; ++i) {
        fprintf(stderr, " %s", scene->env[i]);
    }
    fprintf(stderr, "\n");
}

#ifdef KEEL_PLANTED_DEFECTS
static scene_t *playing;

static void case_moment(void)
{
    keel_sim_point(playing->sim);
}

static void case_stores(void)
{
    const uint32_t rank = keel_sim_current(playing->sim);

    if (rank < playing->processes) {
        playing->member[rank].is_storing = 1;
        keel_sim_store_point(playing->sim);
        playing->member[rank].is_storing = 0;
    }
}

static void case_hold(void *to, size_t length, keel_stored_t how)
{
    keel_sim_store_hold(playing->sim, to, length, how);
}

#define CASE_STORES(_name)                    \
    static void case_##_name(void)            \
    {                                         \
        keel_sim_store_##_name(playing->sim); \
    }
CASE_STORES(order)
CASE_STORES(barrier)
CASE_STORES(fence)
#undef CASE_STORES
#endif

/* Draws short messages now and then, so that a report takes several messages; 0: default. */
static size_t scene_message_bytes(uint64_t seed, const case_limits_t *limits)
{
    keel_random_t random = {keel_random_mix(seed ^ 0x6d736773)};

    if (limits->message >= 0) {
        return (size_t)limits->message;
    }
    if (limits->varied) {
        return 0; /* large windows take too many short messages */
    }
    return keel_random_chance(&random, 64) ? 128 + keel_random_below(&random, 1024) : 0;
}

/*
 * Starts the counters just below their ends. A wrap-around has no effect: each run equals the run
 * with counters that begin at 0.
 */
static void scene_begin_counters(scene_t *scene, int late, uint64_t seed)
{
    keel_random_t random = {.state = keel_random_mix(seed ^ 0x656e6473)};
    keel_counters_t *counters = &scene->drivers.counters;

    scene->drivers = *keel_sim_drivers(scene->sim);
    if (late <= 0) {
        return;
    }
    *counters =
        (keel_counters_t){.phase = KEEL_GSYNC_LAST - COUNTERS_ROOM,
                          .epoch = UINT32_MAX - keel_random_below(&random, 64),
                          .chunk = UINT32_MAX - keel_random_below(&random, 8),
                          .request = UINT32_MAX - COUNTERS_ROOM,
                          .rollback = keel_random_chance(&random, 512) ? UINT16_MAX : UINT32_MAX - COUNTERS_ROOM,
                          .change = UINT64_MAX - keel_random_below(&random, 256),
                          .lock = keel_random_chance(&random, 512) ? UINT32_MAX - keel_random_below(&random, 16)
                                                                   : KEEL_LOCK_COUNTER_MAX - 16 * COUNTERS_ROOM};
    if (late > 1) {
        counters->records = UINT32_MAX - 1 - (uint32_t)keel_random_scaled(&random, 64);
        counters->clocks = UINT32_MAX - 1 - (uint32_t)keel_random_scaled(&random, 16);
        scene->may_roll_back = 1;
    }
}

void case_run(uint64_t seed, const case_limits_t *limits, case_result_t *result)
{
    static scene_t scene;
    keel_sim_options_t options;
    keel_sim_end_t end;

    memset(&scene, 0, sizeof(scene));
    memset(result, 0, sizeof(*result));
    scene.result = result;
    scene_draw(&scene, seed, limits);
    scene_hunt_draw(&scene, seed, limits->hunt);
    options = (keel_sim_options_t){.seed = keel_random_next(&scene.random),
                                   .ranks = scene.processes,
                                   .leader = scene.leader,
                                   .node = scene.node,
                                   .direct = scene.direct,
                                   .stores = (keel_sim_stores_t)(limits->stores - (limits->stores > 0)),
                                   .trace_lines = limits->trace_lines,
                                   .is_verbose = limits->verbose,
                                   .program = scene_program,
                                   .hook = scene_hook,
                                   .fence = scene_fence,
                                   .no_arbiter = scene.is_split,
                                   .is_noticing = (limits->notice >= 0) ? limits->notice
                                                                        : (int)(keel_random_mix(seed ^ 0x6e6f7465) & 1),
                                   .max_data = scene_message_bytes(seed, limits),
                                   .step_limit = scene_step_limit(&scene),
                                   .arg = &scene};
    if (keel_sim_create(&options, &scene.sim) != KEEL_OK) {
        result->verdict = CASE_FLAWED;
        snprintf(result->flaw, sizeof(result->flaw), "no memory for a simulator");
        return;
    }
#ifdef KEEL_PLANTED_DEFECTS
    playing = &scene;
    keel_planted_moment = case_moment;
    if (limits->stores) {
        keel_planted_stores = case_stores;
        keel_planted_memory = (keel_planted_memory_t){
            .hold = case_hold, .order = case_order, .barrier = case_barrier, .fence = case_fence};
    }
#endif
    scene.params.field_mask |= KEEL_PARAM_FIELD_ENV;
    scene.params.env = scene.env;
    scene_begin_counters(&scene, limits->late_counters, seed);
    scene_vary_settings(&scene);
    scene.checking.state = keel_random_mix(seed ^ 0x696e7661);
    scene.check_step = 1;
    scene.is_each_step = limits->each_step;
    scene.sampling.state = keel_random_mix(seed ^ 0x73616d70);
    scene.sample_step = 1 + keel_random_scaled(&scene.sampling, 20000);
    scene_next_death(&scene);
    scene_hook_next(&scene);
    end = keel_sim_run(scene.sim);
    scene_judge(&scene, end);
    result->ranks = scene.ranks;
    result->parities = scene.parities;
    result->has_checksums = scene.is_dedicated;
    result->steps = keel_sim_step(scene.sim);
    if ((result->verdict != CASE_PASSED) || (limits->trace_lines > 0)) {
        keel_sim_report(scene.sim, stderr);
        scene_describe(&scene);
    }
    keel_sim_destroy(scene.sim);
    sim_given_release();
    keel_groups_release(&scene.groups);
    scene_release_logs(&scene);
    if (scene.plan != NULL) {
        oracle_destroy(scene.oracle);
        plan_destroy(scene.plan);
    }
}
