/* Draws cases: program, machine, budgets, protection, deaths. */
#include "sim_scene.h"

#include "code/rs.h"
#include "mixed_pieces.h"
#include "mixed_rounds.h"
#include "topo/dedicated.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/*
 * Chances in 1024. CASE_LARGE: jobs of up to CASE_RANKS_DRAWN ranks, which take long.
 * CASE_ANY_GROUP: groups of any size that the job allows.
 */
#define CASE_LARGE     16
#define CASE_ANY_GROUP 150
#define CASE_PIECES    ((uint32_t)384 << 10) /* bytes over all ranks and steps */

_Static_assert(CASE_RANKS_MIXED <= MIXED_RANKS_MAX, "ranks of programs that mix");

case_limits_t case_limits_none(void)
{
    return (case_limits_t){.ranks = -1,
                           .phases = -1,
                           .deaths = -1,
                           .atomics = -1,
                           .posted = -1,
                           .polled = -1,
                           .late_windows = -1,
                           .parities = -1,
                           .dedicated = -1,
                           .style = -1,
                           .hangs = -1,
                           .splits = -1,
                           .direct = -1,
                           .soft = -1,
                           .extents = -1,
                           .looks = -1,
                           .shares = -1,
                           .strides = -1,
                           .leader = -1,
                           .given = -1,
                           .tight = -1,
                           .moves = -1,
                           .wide = -1,
                           .notice = -1,
                           .message = -1};
}

static void __attribute__((format(printf, 2, 3))) scene_env(scene_t *scene, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(scene->env_text[scene->env_count], CASE_ENV_TEXT, format, args);
    va_end(args);
    scene->env[scene->env_count] = scene->env_text[scene->env_count];
    ++scene->env_count;
}

static uint32_t scene_draw_ranks(scene_t *scene)
{
    static const uint8_t choice[] = {2, 3, 3, 4, 4, 4, 5, 5, 6, 6, 7, 8, 8, 9, 12, 16};
    const uint32_t ranks = choice[keel_random_below(&scene->random, sizeof(choice))];

    if (keel_random_chance(&scene->sizes, scene->may_be_large ? CASE_LARGE : 0)) {
        return 10 + keel_random_below(&scene->sizes, CASE_RANKS_DRAWN - 9);
    }
    return ranks;
}

/*
 * Returns the bytes for pieces: fewer if many ranks do many steps, because each step takes log
 * space.
 */
static uint32_t scene_draw_room(const scene_t *scene)
{
    const plan_options_t *options = &scene->plan_options;
    const uint32_t room = CASE_PIECES / (options->ranks * options->phases);

    if (!scene->is_wide) {
        return 0;
    }
    return (room < 64) ? 64 : (room < PIECES_ROOM_MAX) ? room & ~7u : PIECES_ROOM_MAX;
}

/* A program of critical sections. Each step counts as a phase. */
static void scene_draw_locks(scene_t *scene, const case_limits_t *limits)
{
    static locks_journal_t journal;
    keel_random_t *random = &scene->random;
    plan_options_t *options = &scene->plan_options;

    memset(&journal, 0, sizeof(journal));
    options->ranks = (limits->ranks > 0) ? (uint32_t)limits->ranks : scene_draw_ranks(scene);
    options->phases = (limits->phases > 0) ? (uint32_t)limits->phases : 2 + keel_random_below(random, 20);
    options->tame_atomics = 1;
    journal.options = (locks_options_t){.seed = keel_random_next(random),
                                        .ranks = options->ranks,
                                        .steps = options->phases,
                                        .has_atomics = (int)keel_random_chance(random, 300),
                                        .checkpoints = keel_random_chance(random, 600) ? 150 : 0};
    journal.options.has_rewrites = (int)(keel_random_mix(journal.options.seed ^ 0x72657776) & 1);
    journal.options.room = scene_draw_room(scene);
    journal.options.gsyncs = (unsigned)limits->gsyncs;
    journal.options.points = (unsigned)limits->points;
    scene->may_roll_back |= (limits->points > 0);
    if (limits->atomics >= 0) {
        journal.options.has_atomics = limits->atomics;
    }
    scene->has_atomics = journal.options.has_atomics;
    scene->ranks = options->ranks;
    scene->locks = &journal;
}

/* a program that races for words */
static void scene_draw_races(scene_t *scene, const case_limits_t *limits)
{
    static races_journal_t journal;
    keel_random_t *random = &scene->random;
    plan_options_t *options = &scene->plan_options;

    memset(&journal, 0, sizeof(journal));
    options->ranks = (limits->ranks > 0) ? (uint32_t)limits->ranks : scene_draw_ranks(scene);
    options->phases = (limits->phases > 0) ? (uint32_t)limits->phases : 2 + keel_random_below(random, 20);
    journal.options = (races_options_t){.seed = keel_random_next(random),
                                        .ranks = options->ranks,
                                        .steps = options->phases,
                                        .checkpoints = keel_random_chance(random, 600) ? 150 : 0};
    journal.options.kind = (limits->posted == 1)   ? RACES_SUMS
                           : (limits->posted == 3) ? RACES_ADDS
                                                   : (races_kind_t)(journal.options.seed % RACES_KINDS);
    scene->has_atomics = 1;
    scene->ranks = options->ranks;
    scene->races = &journal;
}

/*
 * Hung ranks are noticed one after another while others poll. A job of 104 processes, with more
 * mixing ranks than are drawn without `more`, took 4944338 steps. A job of 32 ranks that ask each
 * other for locks, twice because of a rollback, took 1062403.
 */
uint64_t scene_step_limit(const scene_t *scene)
{
    const int is_wide = scene->mixed != NULL && scene->ranks > MIXED_RANKS_NEAR;

    return (scene->is_split || scene->heartbeat_ns > 0 || is_wide) ? 40000000 : (scene->ranks > 16) ? 4000000 : 0;
}

/*
 * Draws additional operations of programs that mix. Only programs that declare mixing may issue
 * accesses from callbacks. `more` 2 allows all operations of the test programs; the logs determine
 * the behaviour of half of these programs.
 */
static unsigned scene_draw_more(scene_t *scene, const case_limits_t *limits, uint64_t seed)
{
    const unsigned some = MIXED_POLLS | MIXED_REQUESTS | MIXED_WINDOWS | MIXED_CALLBACKS;
    unsigned ways = mixed_draw_besides(seed) & ((limits->more > 1) ? UINT_MAX : some);

    ways &= ~(unsigned)(limits->undeclared ? MIXED_CALLBACKS : 0);
    ways &= ~(unsigned)((scene->plan_options.phases > MIXED_STEPS_MAX) ? MIXED_TICKETS : 0);
    ways &= ~(unsigned)((scene->plan_options.ranks > GATHER_RANKS) ? MIXED_ROUNDS : 0);
    if ((limits->polled >= 0) ? limits->polled : (ways & MIXED_POLLS) && mixed_gets_poll(seed)) {
        scene->params.field_mask |= KEEL_PARAM_FIELD_FLAGS;
        scene->params.flags |= KEEL_PARAM_FLAG_POLLS;
    }
    return ways;
}

/* A program that synchronises in every way, or in some ways. */
static void scene_draw_mixed(scene_t *scene, const case_limits_t *limits)
{
    static mixed_journal_t journal;
    keel_random_t *random = &scene->random;
    plan_options_t *options = &scene->plan_options;

    memset(&journal, 0, sizeof(journal));
    options->ranks = (limits->ranks > 0) ? (uint32_t)limits->ranks : scene_draw_ranks(scene);
    if (options->ranks > CASE_RANKS_DRAWN / 2 && limits->more && limits->ranks <= 0) {
        options->ranks = MIXED_RANKS_NEAR + (options->ranks - CASE_RANKS_DRAWN / 2) *
                                                (CASE_RANKS_MIXED - MIXED_RANKS_NEAR) / (CASE_RANKS_DRAWN / 2);
    }
    options->phases = (limits->phases > 0) ? (uint32_t)limits->phases : 2 + keel_random_below(random, 16);
    journal.options = (mixed_options_t){
        .seed = keel_random_next(random),
        .ranks = options->ranks,
        .steps = options->phases,
        .ways = keel_random_chance(random, 400) ? MIXED_ALL : keel_random_below(random, MIXED_ALL + 1),
        .checkpoints = keel_random_chance(random, 500) ? 200 : 0};
    journal.options.is_divided = keel_random_chance(random, 200);
    if (limits->undeclared) { /* orders that logs do not have */
        journal.options.relays = keel_random_chance(random, 700) ? 500 : 0;
        journal.options.ways |= keel_random_chance(random, 500) ? MIXED_SECTIONS | MIXED_BARE : 0;
        journal.options.ways &= journal.options.is_divided ? MIXED_SECTIONS | MIXED_BARE : MIXED_ALL;
    }
    /* consumes no random number */
    journal.options.ways |= ((journal.options.seed >> 20) % 2) ? MIXED_TESTS : 0;
    journal.options.ways |= ((journal.options.seed >> 24) % 4 == 0) ? MIXED_UNLOGGED : 0;
    journal.options.ways |= (limits->device && options->ranks <= MIXED_RANKS_NEAR) ? MIXED_DEVICE : 0;
    journal.options.ways |= limits->more ? scene_draw_more(scene, limits, journal.options.seed) : 0;
    if (journal.options.ways & MIXED_KEPT) {
        mixed_keep(&journal.options, &scene->params);
        /* with threads, calls take no fast path, and take the locks of several threads */
    } else if (!limits->undeclared) {
        scene->params.field_mask |= KEEL_PARAM_FIELD_FLAGS;
        scene->params.flags |= ((journal.options.seed >> 28) % 4 == 0) ? (uint64_t)KEEL_PARAM_FLAG_THREADS
                                                                       : (uint64_t)KEEL_PARAM_FLAG_NONDETERMINISTIC;
    }
    scene->has_atomics = 1;
    scene->may_roll_back = !(journal.options.ways & MIXED_KEPT) || mixed_gathers(&journal.options) == GATHER_ALL;
    scene->ranks = options->ranks;
    scene->mixed = &journal;
}

/*
 * Draws the kind of atomics. --posted 1: all atomics are posted and of one class; 3: some atomics
 * fetch; 4: also from own memory; 5: ranks look for arrivals; 6: ranks poll; 8: ranks test their
 * requests; 9: several of these kinds; 10: all kinds; 2: swaps, an ordered class; 0 and 7: waits
 * order the atomics.
 */
static gather_kind_t scene_draw_gathers(const scene_t *scene, const case_limits_t *limits, uint64_t seed)
{
    const uint64_t draw = keel_random_mix(seed ^ 0x676174686572);
    const int is_several = scene->is_varied && (draw >> 16) % 3 == 0;
    const int posted = (limits->posted >= 0) ? limits->posted
                       : is_several          ? 9 + (int)(draw >> 18 & 1)
                                             : (int)(draw % 4);

    if (!scene->waits.has_atomics) {
        return GATHER_NONE;
    }
    return (posted == 0 || posted == 7) ? GATHER_NONE
           : (posted == 2)              ? GATHER_SWAPS
           : (posted == 4)              ? GATHER_OWN_TURNS
           : (posted == 5)              ? GATHER_ANSWERS
           : (posted == 6)              ? GATHER_POLLS
           : (posted == 8)              ? GATHER_LOOKS
           : (posted == 9)              ? ((limits->undeclared > 0) ? GATHER_UNFETCHED : GATHER_SEVERAL)
           : (posted == 10)             ? GATHER_ALL
           : (posted == 3)              ? ((draw >> 8 & 1) ? GATHER_TICKETS : GATHER_TURNS)
                                        : ((draw >> 8) % 3 == 0 ? GATHER_TOGGLES : GATHER_ADDS);
}

/*
 * Returns 1 if the program declares its gets polls. Drawn if several kinds come together, of which
 * some poll.
 */
static int scene_gets_are_polls(const scene_t *scene, const case_limits_t *limits, uint64_t seed)
{
    const gather_kind_t gathers = scene->waits.gathers;

    if (limits->polled >= 0) {
        return limits->polled;
    }
    return gather_is_several(gathers) && gathers != GATHER_UNFETCHED && keel_random_mix(seed ^ 0x676f74) % 3 == 0;
}

/* a program that waits inside its phases */
static void scene_draw_waits(scene_t *scene, const case_limits_t *limits, uint64_t seed)
{
    keel_random_t *random = &scene->random;
    keel_random_t atomics = {keel_random_mix(seed ^ 0x61746f6d)};
    plan_options_t *options = &scene->plan_options;

    options->ranks = (limits->ranks > 0) ? (uint32_t)limits->ranks : scene_draw_ranks(scene);
    options->phases = (limits->phases > 0) ? (uint32_t)limits->phases : 2 + keel_random_below(random, 10);
    scene->waits = (waits_options_t){.seed = keel_random_next(random),
                                     .ranks = options->ranks,
                                     .steps = options->phases,
                                     .checkpoints = keel_random_chance(random, 500) ? 200 : 0,
                                     .has_atomics = (int)keel_random_chance(&atomics, 250)};
    scene->waits.room = scene_draw_room(scene);
    if (limits->atomics >= 0) {
        scene->waits.has_atomics = limits->atomics;
    }
    scene->waits.gathers = scene_draw_gathers(scene, limits, seed);
    scene->waits.changes = scene->waits.has_atomics && limits->posted == 7;
    scene->has_atomics = scene->waits.has_atomics;
    scene->ranks = options->ranks;
    /*
     * Otherwise a death in the phase of the first wait is a rollback, and no fetch before the wait
     * orders anything.
     */
    if (keel_random_chance(random, 700) || gather_fetches(scene->waits.gathers) ||
        ((scene->waits.gathers == GATHER_POLLS || scene->waits.gathers == GATHER_LOOKS) && limits->undeclared == 0)) {
        scene->params.field_mask |= KEEL_PARAM_FIELD_FLAGS;
        scene->params.flags |= KEEL_PARAM_FLAG_WAITS;
    } else {
        scene->may_roll_back = 1;
    }
    if (scene_gets_are_polls(scene, limits, seed)) {
        scene->params.field_mask |= KEEL_PARAM_FIELD_FLAGS;
        scene->params.flags |= KEEL_PARAM_FLAG_POLLS;
    }
}

/*
 * Few ranks meet on few words in small phases, so that a death falls between two accesses of the
 * same word.
 */
static void scene_draw_dense(scene_t *scene, const case_limits_t *limits)
{
    keel_random_t *random = &scene->random;
    plan_options_t *options = &scene->plan_options;

    options->ranks = (limits->ranks > 0) ? options->ranks : 2 + keel_random_below(random, 3);
    options->windows = 1;
    options->slots = 1 + keel_random_below(random, 3);
    options->large = 0;
    options->atomics = keel_random_chance(random, 300) ? 500 : 0;
    options->reuse = 900;
    options->late_windows = 0;
}

static void scene_draw_plan(scene_t *scene, const case_limits_t *limits)
{
    keel_random_t *random = &scene->random;
    plan_options_t *options = &scene->plan_options;

    options->seed = keel_random_next(random);
    options->ranks = (limits->ranks > 0) ? (uint32_t)limits->ranks : scene_draw_ranks(scene);
    options->phases = (limits->phases > 0) ? (uint32_t)limits->phases : 3 + keel_random_below(random, 8);
    options->windows = 1 + keel_random_below(random, 3);
    options->slots = 3 + keel_random_below(random, PLAN_SLOTS_MAX - 3);
    options->large = keel_random_chance(random, 300) ? 150 : 0;
    options->atomics = keel_random_chance(random, 150) ? 200 : 0;
    options->tame_atomics = keel_random_chance(random, 512);
    options->unsafe = keel_random_chance(random, 300) ? 400 : 0;
    options->checkpoints = keel_random_chance(random, 500) ? 250 : 0;
    options->late_windows = keel_random_chance(random, 150);
    options->fetchless = (int)(keel_random_mix(options->seed ^ 0x66657463) & 1);
    options->reuse = 400;
    options->fenced = scene->is_wide ? 500 : 0;
    scene->is_dense = keel_random_chance(random, 250);
    if (scene->is_dense) {
        scene_draw_dense(scene, limits);
    }
    if (limits->atomics >= 0) {
        options->atomics = limits->atomics ? 200 : 0;
    }
    /* atomics fetch; 2: from words without other atomics in the phase */
    if (limits->atomics >= 2) {
        options->atomics = 500;
        options->tame_atomics = 1;
        options->lone_fetches = limits->atomics == 2;
        options->fetchless = 0;
    }
    if (limits->late_windows >= 0) {
        options->late_windows = limits->late_windows;
    }
    if (scene->is_varied) {
        scene_vary_plan(scene, limits);
    }
    scene->ranks = options->ranks;
    scene->plan = plan_create(options);
    scene->oracle = oracle_create(scene->plan);
    scene->has_atomics = scene->plan->has_atomics != 0;
}

static void scene_draw_machine(scene_t *scene, const case_limits_t *limits)
{
    static const char *const lanes[] = {"auto", "auto", "direct", "served"};
    keel_random_t *random = &scene->random;
    const uint32_t nodes = 1 + keel_random_below(random, scene->ranks);
    const char *lane = (limits->lanes != NULL) ? limits->lanes : lanes[keel_random_below(random, 4)];
    uint32_t r;

    for (r = 0; r < CASE_PROCESSES_MAX; ++r) {
        scene->node[r] = r % nodes;
    }
    scene->direct = (keel_sim_direct_t)keel_random_below(random, 2);
    if (limits->direct >= 0) {
        scene->direct = (keel_sim_direct_t)limits->direct;
    }
    scene->is_served = strcmp(lane, "served") == 0;
    scene_env(scene, "KEEL_LANES=%s", lane);
}

/* Returns the bytes for pieces of a program that mixes: up to four pieces per step. */
static size_t scene_mixed_room(const scene_t *scene)
{
    return (scene->mixed->options.ways & MIXED_PIECES) ? mixed_pieces_room(&scene->mixed->options) : 0;
}

/* Draws budgets with enough room, or now and then with almost none. */
static void scene_draw_budgets(scene_t *scene, const case_limits_t *limits)
{
    keel_random_t *random = &scene->random;
    const int is_drawn = keel_random_chance(random, 80);
    const int is_tight = (limits->tight >= 0) ? limits->tight : is_drawn;
    /*
     * Bytes of pieces per step, taken twice: written and read by one rank, and read at one rank.
     */
    const size_t room = (scene->locks != NULL)   ? scene->locks->options.room
                        : (scene->mixed != NULL) ? scene_mixed_room(scene)
                                                 : scene->waits.room;
    const size_t pieces = 2 * room * scene->plan_options.phases;
    const size_t source = (scene->plan != NULL) ? 2 * plan_source_bytes(scene->plan) : (64 << 10) + 8 * pieces;
    const size_t target = (scene->plan != NULL) ? 2 * plan_target_bytes(scene->plan)
                                                : ((size_t)scene->ranks << 14) + 2 * scene->ranks * pieces;
    const size_t tight = (size_t)(16 + 4 * keel_random_below(random, 8)) << 10;

    scene->soft = keel_random_chance(random, 400) ? 0 : 1 + keel_random_scaled(random, 60);
    if (limits->soft >= 0) {
        scene->soft = (uint32_t)limits->soft;
    }
    scene_env(scene, "KEEL_OPLOG_SOFT=%u", scene->soft);
    scene_env(scene, "KEEL_CKPT_TRANSFER=%s", keel_random_chance(random, 300) ? "bulk" : "stream");
    scene->is_tight = is_tight;
    scene->log_budget = is_tight ? tight : source + ((size_t)scene->ranks << 15);
    scene->getlog_budget = is_tight ? (size_t)64 << 10 : target + ((size_t)scene->ranks << 15);
    if (scene->is_harsh) {
        scene_harden_logs(scene, limits);
    }
    scene->may_roll_back |= scene->is_tight;
    scene_env(scene, "KEEL_OPLOG_SIZE=%zu", (size_t)scene->log_budget);
    scene_env(scene, "KEEL_GETLOG_SIZE=%zu", scene->getlog_budget);
}

/* Now and then draws too little memory for images, or for demand images. */
static void scene_draw_ckpt_budget(scene_t *scene, uint64_t seed)
{
    keel_random_t random = {keel_random_mix(seed ^ 0x636b7073)};

    if (keel_random_chance(&random, 60)) {
        scene->ckpt_budget = (size_t)(4 + keel_random_scaled(&random, 200)) << 10;
        scene->may_roll_back = 1; /* logs are trimmed late or never */
        scene_env(scene, "KEEL_CKPT_SIZE=%zu", scene->ckpt_budget);
    }
}

/*
 * Places groups as Keel does: of level node, with at most as many members on one node as parity
 * covers.
 */
static int scene_place(scene_t *scene, uint32_t group_size, uint32_t parities)
{
    const keel_place_params_t params = {.group_size = group_size, .parities = parities};
    keel_domains_t domains;
    keel_status_t status;

    keel_groups_release(&scene->groups);
    status = keel_domains_of_nodes(scene->ranks, scene->node, &domains);
    if (status == KEEL_OK) {
        status = keel_groups_place(&domains, &params, &scene->groups, NULL);
        keel_domains_release(&domains);
    }
    if (status != KEEL_OK) {
        memset(&scene->groups, 0, sizeof(scene->groups));
    }
    return status == KEEL_OK;
}

/* Places parity on the processes after the ranks that run the program. */
static int scene_place_dedicated(scene_t *scene)
{
    keel_domains_t domains;
    keel_status_t status;

    keel_groups_release(&scene->groups);
    status = keel_domains_of_nodes(scene->processes, scene->node, &domains);
    if (status == KEEL_OK) {
        status = keel_groups_place_dedicated(&domains, scene->ranks, scene->parities, 0, &scene->groups);
        keel_domains_release(&domains);
    }
    if (status != KEEL_OK) {
        memset(&scene->groups, 0, sizeof(scene->groups));
    }
    return status == KEEL_OK;
}

/*
 * Draws one parity in half of the cases, otherwise up to 3 as groups of this size allow. More
 * parities only on request, so that other draws stay the same.
 */
static void scene_draw_parities(scene_t *scene, const case_limits_t *limits, uint32_t group_size)
{
    const uint32_t most = (group_size - 1 < 3) ? group_size - 1 : 3;
    const uint32_t any = (group_size - 1 < KEEL_RS_PARITIES_MAX) ? group_size - 1 : KEEL_RS_PARITIES_MAX;

    scene->parities = keel_random_chance(&scene->random, 512) ? 1 : 1 + keel_random_below(&scene->random, most);
    if (limits->parities > 0) {
        scene->parities = ((uint32_t)limits->parities < any) ? (uint32_t)limits->parities : any;
    }
    (void)scene_place(scene, group_size, scene->parities);
}

/* Draws parity on dedicated ranks: as many groups as result from a drawn number of groups. */
static void scene_draw_checksums(scene_t *scene, const case_limits_t *limits)
{
    const uint32_t room = (scene->ranks <= CASE_RANKS_DRAWN) ? CASE_PROCESSES_DRAWN : CASE_PROCESSES_MAX;
    uint32_t groups = 1 + keel_random_below(&scene->random, (scene->ranks + 1) / 2), size;
    const int is_dedicated = keel_random_chance(&scene->random, 200);

    if ((limits->dedicated >= 0) ? !limits->dedicated : !is_dedicated) {
        return;
    }
    if (limits->parities <= 0) {
        scene->parities = 1 + keel_random_below(&scene->random, 3);
    }
    for (; groups > 1; --groups) {
        size = (scene->ranks + groups - 1) / groups;
        if ((scene->ranks + groups * scene->parities <= room) && (2 * groups <= scene->ranks) &&
            ((scene->ranks + size - 1) / size == groups)) {
            break;
        }
    }
    scene->processes += groups * scene->parities;
    (void)scene_place_dedicated(scene);
    scene->is_dedicated = 1;
    scene_env(scene, "KEEL_PARITY=dedicated");
    scene_env(scene, "KEEL_CHECKSUM_RANKS=%u", groups * scene->parities);
}

/*
 * Returns a group size larger than the number of requested parities, if the job has enough ranks.
 */
static uint32_t scene_group_for(scene_t *scene, const case_limits_t *limits, uint32_t drawn)
{
    const uint32_t parities = (limits->parities > 3) ? (uint32_t)limits->parities : 0;
    const uint32_t wanted = parities + 1 + ((parities > 0) ? keel_random_below(&scene->sizes, 3) : 0);

    return (parities == 0 || drawn > parities) ? drawn : (wanted < scene->ranks) ? wanted : scene->ranks;
}

static void scene_draw_protection(scene_t *scene, const case_limits_t *limits)
{
    static const char *const protect[] = {"all", "puts", "ckpt"};
    keel_random_t *random = &scene->random;
    const uint32_t most = (scene->ranks < 7) ? scene->ranks : 7;
    const uint32_t small = 2 + keel_random_below(random, most - 1);
    const uint32_t drawn = keel_random_chance(&scene->sizes, CASE_ANY_GROUP)
                               ? 2 + keel_random_below(&scene->sizes, scene->ranks - 1)
                               : small;
    const uint32_t group = scene_group_for(scene, limits, drawn);
    const uint32_t level = keel_random_chance(random, 60) ? 1 + keel_random_below(random, 2) : 0;

    scene->may_roll_back |= (level > 0);
    scene_env(scene, "KEEL_PROTECT=%s", protect[level]);
    scene_env(scene, "KEEL_GROUP_SIZE=%u", group);
    scene->result->group = group;
    if (keel_random_chance(random, 600)) {
        scene_env(scene, "KEEL_CKPT_INTERVAL=%ugsyncs", 1 + keel_random_below(random, 3));
    } else {
        scene_env(scene, "KEEL_CKPT_INTERVAL=off");
    }
    if (keel_random_chance(random, 20)) {
        scene->params.field_mask |= KEEL_PARAM_FIELD_FLAGS;
        scene->params.flags |= KEEL_PARAM_FLAG_NONDETERMINISTIC;
        scene->may_roll_back = 1;
    }
    scene_draw_parities(scene, limits, group);
    scene_draw_checksums(scene, limits);
    scene_env(scene, "KEEL_PARITIES=%u", scene->parities);
}

/*
 * Draws a timeout in virtual time, which is now and then too short for a rank that is merely slow.
 */
static void scene_draw_heartbeat(scene_t *scene, const case_limits_t *limits)
{
    keel_random_t *random = &scene->random;
    const int is_wanted = limits->hangs > 0, is_split = (limits->splits > 0) && (limits->lanes == NULL);
    const uint32_t timeout_us = 400u << keel_random_below(random, 8);

    if (is_split && !scene->is_dedicated) {
        scene->is_split = 1;
        scene->may_roll_back = 1;            /* a whole side is away at once */
        scene_env(scene, "KEEL_LANES=auto"); /* memory is shared only within nodes */
        scene_env(scene, "KEEL_HEARTBEAT_TIMEOUT=10ms");
        return;
    }
    if (!is_wanted) {
        scene_env(scene, "KEEL_HEARTBEAT_TIMEOUT=0");
        return;
    }
    scene->heartbeat_ns = (uint64_t)timeout_us * 1000;
    scene_env(scene, "KEEL_HEARTBEAT_TIMEOUT=%uus", timeout_us);
    scene_env(scene, "KEEL_HEARTBEAT_INTERVAL=%uus", timeout_us >> (1 + keel_random_below(random, 3)));
}

/* All atomics of the program are of one class, and some fetch. */
static int scene_fetches(const scene_t *scene)
{
    return (scene->races != NULL) ? scene->races->options.kind == RACES_ADDS
           : (scene->mixed != NULL)
               ? scene->mixed->options.ways & MIXED_KEPT
               : scene->plan != NULL && scene->plan_options.tame_atomics && !scene->plan_options.fetchless;
}

static void scene_draw_deaths(scene_t *scene, uint64_t seed, const case_limits_t *limits)
{
    keel_random_t *random = &scene->random, stores = {keel_random_mix(seed ^ 0x73746f72)};
    death_t *death;
    unsigned i;

    scene->may_overlap = keel_random_chance(random, 200);
    scene->death_count = 1 + keel_random_below(random, 3);
    scene->death_count = scene->is_harsh ? scene_harden_count(scene) : scene->death_count;
    if (limits->deaths >= 0) {
        scene->death_count = (limits->deaths < CASE_DEATHS_MAX) ? (unsigned)limits->deaths : CASE_DEATHS_MAX;
    }
    scene->death_count = scene->is_split ? 1 : scene->death_count;
    for (i = 0; i < scene->death_count; ++i) {
        death = &scene->death[i];
        death->victim = keel_random_below(random, scene->processes);
        death->rank = keel_random_below(random, scene->ranks);
        death->phase = keel_random_below(random, scene->plan_options.phases);
        death->is_chained = (i > 0) && keel_random_chance(random, 700);
        death->aim = keel_random_chance(random, 400) ? (aim_t)(1 + keel_random_below(random, 2)) : AIM_ANY;
        if (scene->result->style == CASE_WAITS && keel_random_chance(random, 300)) {
            death->aim = keel_random_chance(random, 300) ? AIM_AHEAD : AIM_OPEN;
        }
        if (limits->stores && keel_random_chance(&stores, 700)) {
            death->aim = AIM_STORES;
        }
        death->patience = (death->aim == AIM_ANY) ? 0 : 500;
        death->delay = 1 + keel_random_scaled(random, (death->is_chained ? 30000 : 3000) >> (scene->is_dense ? 3 : 0));
        death->with = keel_random_chance(random, 400) ? keel_random_below(random, scene->parities) : 0;
        death->has_node = keel_random_chance(random, 100);
        if (scene->heartbeat_ns > 0 && keel_random_chance(random, 600)) {
            death->hang_ns = keel_random_chance(random, 300)
                                 ? UINT64_MAX
                                 : 1 + keel_random_below(random, (uint32_t)(3 * scene->heartbeat_ns));
        }
    }
    if (scene->is_harsh) {
        scene_harden_deaths(scene);
    }
    scene->may_roll_back |= KEEL_PLANT(get_log_replay_no_room) || KEEL_PLANT(get_log_record_differs);
    scene->has_restart_point = keel_random_chance(random, 300);
    if (keel_random_chance(random, 80)) {
        scene->asker = keel_random_below(random, scene->ranks);
        scene->asks_phase = keel_random_below(random, scene->plan_options.phases);
        scene->asks_left = 1 + keel_random_below(random, 2);
        scene->may_roll_back = 1;
    }
    /*
     * A rank that begins at a demand image has no log from before the image. Several such ranks
     * have no logs for each other.
     */
    scene->may_roll_back |=
        (scene->soft > 0) && ((scene->death_count > 1) || (scene->death[0].with > 0) || scene->death[0].has_node);
    /*
     * Atomics are applied exactly once if the target applies them, and if the fetching source is
     * not away too.
     */
    scene->may_roll_back |= (scene->locks != NULL || scene->result->style == CASE_WAITS) &&
                            ((scene->death_count > 1) || (scene->death[0].with > 0) || scene->death[0].has_node);
    /*
     * No order that a replacement could follow exists for values that several ranks fetched from
     * its predecessor.
     */
    scene->only_fetches = (limits->atomics >= 2 || limits->posted == 3 || limits->more > 1) && scene_fetches(scene) &&
                          !scene->may_roll_back && (scene->death_count == 1) && (scene->death[0].with == 0) &&
                          !scene->death[0].has_node;
    scene->may_roll_back |= scene->mixed != NULL;
    scene->may_roll_back |= scene->plan != NULL && scene->has_atomics && !scene->plan_options.fetchless;
    scene->may_roll_back |= scene->has_atomics && (gather_class(scene->waits.gathers) == KEEL_ATOMIC_LAST) &&
                            !(scene->plan_options.tame_atomics && (scene->is_served || scene->plan != NULL) &&
                              (scene->death_count == 1) && (scene->death[0].with == 0) && !scene->death[0].has_node);
}

void scene_draw(scene_t *scene, uint64_t seed, const case_limits_t *limits)
{
    scene->random.state = keel_random_mix(seed ^ 0x6b65656c);
    scene->varying.state = keel_random_mix(seed ^ 0x76617279);
    scene->hardening.state = keel_random_mix(seed ^ 0x68617273);
    scene->is_varied = limits->varied;
    scene->is_harsh = limits->harsh;
    scene->sizes.state = keel_random_mix(seed ^ 0x73697a65);
    scene->moving.state = keel_random_mix(seed ^ 0x6d6f7665);
    scene->is_wide = (limits->wide >= 0) ? limits->wide : (int)(keel_random_mix(seed ^ 0x77696465) & 1);
    scene->has_extents = (limits->extents >= 0) ? limits->extents : (int)(keel_random_mix(seed ^ 0x65787465) % 3 == 0);
    scene->has_looks = limits->looks > 0;
    scene->shares = (limits->shares > 0) ? keel_random_mix(seed ^ 0x736861726573) | 1 : 0;
    scene->has_strides = limits->strides > 0;
    scene->has_given = (limits->given >= 0) ? limits->given : (int)(keel_random_mix(seed ^ 0x67697665) % 3 == 0);
    /* splits and hangs take many steps anyway */
    scene->may_be_large = (limits->hangs <= 0) && (limits->splits <= 0);
    scene->result->style = keel_random_chance(&scene->random, 300)   ? CASE_LOCKS
                           : keel_random_chance(&scene->random, 100) ? CASE_WAITS
                                                                     : CASE_GSYNC;
    if (limits->style >= 0) {
        scene->result->style = (limits->style == CASE_EVEN) ? (case_style_t)(seed % 3) : (case_style_t)limits->style;
    }
    if (scene->result->style == CASE_LOCKS) {
        scene_draw_locks(scene, limits);
    } else if (scene->result->style == CASE_RACES) {
        scene_draw_races(scene, limits);
    } else if (scene->result->style == CASE_MIXED) {
        scene_draw_mixed(scene, limits);
    } else if (scene->result->style == CASE_WAITS) {
        scene_draw_waits(scene, limits, seed);
    } else {
        scene_draw_plan(scene, limits);
    }
    scene->processes = scene->ranks;
    scene->leader = (limits->leader > 0) ? (uint32_t)(keel_random_mix(seed ^ 0x6c656164) % scene->ranks) : 0;
    scene_draw_machine(scene, limits);
    scene_draw_budgets(scene, limits);
    scene_draw_ckpt_budget(scene, seed);
    scene_draw_protection(scene, limits);
    scene_draw_heartbeat(scene, limits);
    scene_draw_deaths(scene, seed, limits);
    scene->moves = (limits->moves >= 0) ? limits->moves : keel_random_chance(&scene->moving, 250);
    scene->moves = scene->moves && !scene->is_split && (limits->hunt == HUNT_NONE || limits->hunt == HUNT_CHANGES);
    if (limits->verbose || limits->trace_lines > 0) {
        scene_env(scene, "KEEL_VERBOSE=y");
        scene_env(scene, "KEEL_LOG_LEVEL=info");
    } else {
        scene_env(scene, "KEEL_LOG_LEVEL=error");
    }
}
