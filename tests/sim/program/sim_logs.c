/*
 * Invariant 6: a log reaches back to the newest image in use of the rank that the log is for, or is
 * marked. The required content is known from outside of the library: from the plan, or from the
 * program, which reports each successful access.
 *   Put log of p for q: replayed by q's replacement, from the newest image in use of q on. p's
 *     `lost` refuses the replay.
 *   Own copy of p's get log: from p's newest image on, to refill q's part. p's `lost_gets` refuses
 *     the refill.
 *   p's part of q's get log: q sends the records to p's replacement. The replacement requests
 *     records in the order of p's gets and uses the records from p's newest image on. p's
 *     `lost_gets` on q's board refuses the use. The check reads this part as q does.
 */
#include "sim_invariants.h"

#include "sim_scene.h"

#include "oplog/get_log_chunks.h"
#include "peer/access.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define CHUNKS_MAX 4096

/* records by gsyncs passed */
typedef uint32_t counts_t[INVARIANT_GSYNCS_MAX];

/* content of the logs of p (`rank`) about q (`target`) */
typedef struct pair {
    const scene_t *scene;
    uint32_t rank, target;
    uint32_t image, own;             /* newest images in use of q and of p, as p knows */
    uint32_t from;                   /* newest image in use of p, as q knows */
    int has_puts, has_own, has_left; /* the log is complete from the image on, or must be */
    counts_t puts, gets;
    const uint32_t *left; /* records of p in q's get log, by gsyncs passed */
} pair_t;

/* ---- budgets ---- */

static int is_in_log(const keel_segment_pool_t *pool, const keel_segment_t *segment)
{
    const keel_segment_arena_t *arena = pool->arenas;

    while ((arena != NULL) &&
           ((segment->data < arena->data) || (segment->data + pool->segment_size > arena->data + arena->size))) {
        arena = arena->next;
    }
    return arena != NULL;
}

/* Counts the segments of a list. Returns 0, after a flaw, if a segment is wrong. */
static uint32_t count_segments(const scene_t *scene, const keel_segment_pool_t *pool, const keel_segment_list_t *list)
{
    const keel_segment_t *segment;
    uint32_t count = 0;

    for (segment = list->first; (segment != NULL) && (count <= pool->count); segment = segment->next) {
        if ((segment->used > pool->segment_size) || !is_in_log(pool, segment)) {
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
    if ((bytes == 0) || (bytes > scene->own[rank].log_budget)) {
        keel_sim_flaw(scene->sim, "rank %u: %zu bytes of log are allocated, the budget is %llu", rank, bytes,
                      (unsigned long long)scene->own[rank].log_budget);
    }
    if (ctx->lane.own[KEEL_REGION_GETLOG].size > scene->own[rank].getlog_budget) {
        keel_sim_flaw(scene->sim, "rank %u: a get log of %zu bytes, the budget is %zu", rank,
                      ctx->lane.own[KEEL_REGION_GETLOG].size, scene->own[rank].getlog_budget);
    }
}

/* ---- required content ---- */

/*
 * Returns the gsyncs that the program has passed at a position; 0 at or below the counter's start.
 */
static uint32_t passed(const scene_t *scene, uint32_t position)
{
    const uint32_t begin = scene->drivers.counters.phase;

    return (position > begin) ? position - begin : 0;
}

static invariant_did_t *did_at(const scene_t *scene, uint32_t rank, uint32_t phase, uint32_t target)
{
    return &scene->invariants.did[((size_t)rank * INVARIANT_GSYNCS_MAX + phase) * scene->ranks + target];
}

static int has_did(scene_t *scene)
{
    invariants_t *invariants = &scene->invariants;

    if (invariants->did == NULL) {
        invariants->did = calloc((size_t)scene->ranks * INVARIANT_GSYNCS_MAX * scene->ranks, sizeof(*invariants->did));
        invariants->life = calloc((size_t)scene->ranks * INVARIANT_GSYNCS_MAX, sizeof(*invariants->life));
        assert(invariants->did != NULL && invariants->life != NULL);
        return 0;
    }
    return 1;
}

void scene_release_logs(scene_t *scene)
{
    free(scene->invariants.did);
    free(scene->invariants.life);
}

static void plan_step_did(const plan_step_t *step, invariant_did_t *did)
{
    for (unsigned e = 0; e < step->epoch_count; ++e) {
        for (unsigned i = 0; i < step->epoch[e].op_count; ++i) {
            const plan_op_t *op = &step->epoch[e].op[i];

            if (!op->is_conditional && (op->length > 0)) {
                did[op->target].puts += (op->kind != PLAN_GET);
                did[op->target].gets += (op->kind == PLAN_GET) || op->is_fetching;
            }
        }
    }
}

static void read_plan(scene_t *scene)
{
    if (has_did(scene)) {
        return;
    }
    for (uint32_t r = 0; r < scene->ranks; ++r) {
        for (uint32_t phase = 0; (phase < scene->plan_options.phases) && (phase < INVARIANT_PHASES_MAX); ++phase) {
            plan_step_did(plan_step(scene->plan, phase, r), did_at(scene, r, phase, 0));
        }
    }
}

/* Notes the gsyncs passed before a phase of the plan, the same for all ranks in all lives. */
void scene_note_phase(scene_t *scene, uint32_t rank, uint32_t phase)
{
    const keel_recovery_t *rec = &scene->member[rank].host.ctx->rec;
    invariants_t *invariants = &scene->invariants;

    if ((phase > INVARIANT_PHASES_MAX) || (scene->plan == NULL) || (rec->roll != KEEL_ROLL_NONE)) {
        return;
    }
    if (invariants->has_gsyncs[phase] && (invariants->gsyncs[phase] != rec->phase)) {
        keel_sim_flaw(scene->sim, "rank %u begins phase %u after gsync %u, others did after gsync %u", rank, phase,
                      rec->phase, invariants->gsyncs[phase]);
    }
    invariants->gsyncs[phase] = rec->phase;
    invariants->has_gsyncs[phase] = 1;
}

static int is_of_life(const invariant_life_t *life, const keel_recovery_t *rec)
{
    return life->is_known && (life->incarnation == rec->lane->incarnation) && (life->rollback == rec->lane->rollback);
}

void scene_note_access(play_host_t *host, unsigned what, uint32_t target)
{
    const keel_recovery_t *rec = &host->ctx->rec;
    scene_t *scene = host->arg;
    const uint32_t rank = host->rank;
    invariant_life_t *life;
    invariant_did_t *did;

    const uint32_t phase = passed(scene, rec->phase);
    /* a get that is a poll shares one record with repeated results */
    const int is_poll = (what & PLAY_DID_PUT) == 0 && (host->params->flags & KEEL_PARAM_FLAG_POLLS) != 0;
    const uint32_t is_recorded = (what & PLAY_DID_GET) != 0 && !is_poll;

    if ((phase >= INVARIANT_GSYNCS_MAX) || (rec->roll != KEEL_ROLL_NONE)) {
        return;
    }
    (void)has_did(scene);
    life = &scene->invariants.life[rank * INVARIANT_GSYNCS_MAX + phase];
    did = did_at(scene, rank, phase, 0);
    if (!is_of_life(life, rec)) {
        memset(did, 0, scene->ranks * sizeof(*did));
        *life =
            (invariant_life_t){.is_known = 1, .incarnation = rec->lane->incarnation, .rollback = rec->lane->rollback};
    }
    for (uint32_t q = 0; q < scene->ranks; ++q) {
        if ((q != rank) && ((q == target) || (target == PLAY_ALL))) {
            did[q].puts += (what & PLAY_DID_PUT) != 0;
            did[q].gets += is_recorded;
            did[q].flushed = (what & PLAY_DID_FLUSH) ? did[q].gets : did[q].flushed;
        }
    }
}

/* ---- actual content ---- */

/* Returns the offset of the first byte without a record. */
static size_t put_segment_end(const keel_put_target_t *t, const keel_segment_t *segment)
{
    return (segment == t->list.last) ? (size_t)(t->tail - segment->data) : segment->used;
}

static void count_puts(const scene_t *scene, const keel_put_log_t *log, uint32_t target, uint32_t from, counts_t counts)
{
    const keel_put_target_t *t = &log->targets[target];
    const uint32_t first = keel_epochs_find(&log->epochs, from);
    uint32_t phase = keel_larger(from, scene->drivers.counters.phase), next = keel_epochs_find(&log->epochs, phase + 1);

    for (const keel_segment_t *s = t->list.first; s != NULL; s = s->next) {
        const size_t end = put_segment_end(t, s);
        size_t at = (s == t->list.first) ? t->list.start : 0, size;

        for (; at + sizeof(keel_record_t) <= end; at += size) {
            const keel_record_t *record = (const void *)(s->data + at);

            size = sizeof(*record) + keel_pad8(record->length);
            if (size > end - at) {
                return; /* a record is being written */
            }
            while ((phase < log->phase) && !keel_epoch_is_before(record->epoch, next)) {
                next = keel_epochs_find(&log->epochs, ++phase + 1);
            }
            if (!keel_epoch_is_before(record->epoch, first) && (passed(scene, phase) < INVARIANT_GSYNCS_MAX)) {
                counts[passed(scene, phase)] +=
                    /* no access requested a clock record */
                    keel_where_op(record->where) != KEEL_RECORD_CLOCK;
            }
        }
    }
}

static void count_get(const scene_t *scene, const keel_get_record_t *record, uint32_t *counts)
{
    const uint32_t phase = passed(scene, record->phase);

    if (phase < INVARIANT_GSYNCS_MAX) {
        ++counts[phase];
    }
}

static void count_own_gets(const scene_t *scene, const keel_get_target_t *t, counts_t counts)
{
    const keel_get_record_t *record;
    keel_cursor_t cursor = {0};

    while ((record = keel_get_log_peek(t, &cursor)) != NULL) {
        if (record->completeness == KEEL_GET_COMPLETE || record->completeness == KEEL_GET_REFERRED) {
            count_get(scene, record, counts);
        }
        keel_get_log_advance(&cursor, record);
    }
}

/* ---- get logs that sources filled ---- */

static int chunk_compare(const void *left, const void *right)
{
    const keel_get_chunk_t *a = *(const keel_get_chunk_t *const *)left;
    const keel_get_chunk_t *b = *(const keel_get_chunk_t *const *)right;

    if (a->owner != b->owner) {
        return (a->owner > b->owner) - (a->owner < b->owner);
    }
    return (a->number != b->number) ? (int32_t)(a->number - b->number) : 0;
}

/* Collects the chunks with records, sorted by source and number. */
static unsigned sort_chunks(const keel_context_h ctx, const keel_get_chunk_t **chunks)
{
    const char *arena = ctx->lane.own[KEEL_REGION_GETLOG].base;
    const size_t count = ctx->lane.config->getlog_size / ctx->gets.chunk_size;
    unsigned used = 0;

    assert(count <= CHUNKS_MAX);
    for (size_t i = 0; i < count; ++i) {
        const keel_get_chunk_t *chunk = (const void *)(arena + i * ctx->gets.chunk_size);

        if ((chunk->owner != 0) && (chunk->used > 0)) {
            chunks[used++] = chunk;
        }
    }
    qsort(chunks, used, sizeof(*chunks), chunk_compare);
    return used;
}

/*
 * Returns the newest image of @a source in use, as @a ctx knows. A replacement begins from this
 * image or a newer image.
 */
static uint32_t image_of(const keel_context_h ctx, uint32_t source)
{
    return keel_larger(ctx->ckpt.set.used.number, ctx->demand.starts[source].position);
}

static int is_left_complete(const keel_context_h ctx, uint32_t source)
{
    return ctx->gets.is_enabled && (ctx->lane.board[source].lost_gets <= image_of(ctx, source));
}

/* readable records of one source */
typedef struct left {
    uint32_t source, from; /* source, and first phase with needed records */
    uint32_t phase, next;  /* phase of the last record, and expected next index */
    int is_whole;
} left_t;

/* A replacement takes records by (phase, index), in this order. */
static void check_left_order(const scene_t *scene, uint32_t rank, left_t *left, const keel_get_record_t *record)
{
    const int is_next = (record->phase == left->phase) ? record->index == left->next
                                                       : record->phase > left->phase && record->index == 0;

    if (left->is_whole && (record->phase >= left->from) && !is_next) {
        keel_sim_flaw(scene->sim, "rank %u has get %u of phase %u of rank %u after get %d of phase %u", rank,
                      record->index, record->phase, left->source, (int)left->next - 1, left->phase);
    }
    left->phase = record->phase;
    left->next = record->index + 1;
}

static void read_chunk(const scene_t *scene, uint32_t rank, const keel_get_chunk_t *chunk, left_t *left,
                       uint32_t *counts)
{
    const uint32_t room = scene->member[rank].host.ctx->gets.chunk_size - (uint32_t)sizeof(*chunk);
    const char *data = (const char *)(chunk + 1);
    size_t at, size;

    for (at = 0; at < chunk->used; at += size) {
        const keel_get_record_t *record = (const void *)(data + at);

        size = sizeof(*record) + keel_pad8(record->length);
        if ((chunk->used > room) || (size > chunk->used - at)) {
            keel_sim_flaw(scene->sim, "rank %u has no whole record of rank %u at byte %zu of chunk %u", rank,
                          left->source, at, chunk->number);
            return;
        }
        check_left_order(scene, rank, left, record);
        count_get(scene, record, counts);
    }
}

/*
 * Checks that rank @a other knows of the fetches of @a rank once the two are live to each other. If
 * the source of a fetch and its target both die, the source's log is no proof.
 */
static void check_marks(const scene_t *scene, uint32_t rank, uint32_t other)
{
    const keel_context_h ctx = scene->member[rank].host.ctx, reader = scene->member[other].host.ctx;
    const keel_peer_t *peer = &ctx->lane.peers[other];
    const uint32_t known = keel_atomics_any(keel_board_get(&reader->lane.board[rank].atomics));

    if (peer->is_up && (peer->incarnation == reader->lane.incarnation) && (peer->mode == KEEL_PEER_LIVE) &&
        (reader->lane.rollback == ctx->lane.rollback) && keel_lane_is_flushed(&ctx->lane, other) &&
        (ctx->sync.announced.own.fetched <= ctx->rec.phase) &&
        (ctx->sync.announced.own.fetched > image_of(reader, rank)) && (known < ctx->sync.announced.own.fetched)) {
        keel_sim_flaw(scene->sim, "rank %u knows of atomics of rank %u up to phase %u, and it fetched in phase %u",
                      other, rank, known, ctx->sync.announced.own.fetched);
    }
}

/* Reads the get log of @a rank; counts by source. */
static void read_left(const scene_t *scene, uint32_t rank, counts_t *counts)
{
    static const keel_get_chunk_t *chunks[CHUNKS_MAX];
    const keel_context_h ctx = scene->member[rank].host.ctx;
    const unsigned count = sort_chunks(ctx, chunks);
    left_t left = {.source = UINT32_MAX};

    memset(counts, 0, scene->ranks * sizeof(*counts));
    for (unsigned i = 0; i < count; ++i) {
        const uint32_t source = chunks[i]->owner - 1;

        if (source >= scene->ranks) {
            keel_sim_flaw(scene->sim, "rank %u has a get log chunk of rank %u", rank, source);
            return;
        }
        if (source != left.source) {
            left = (left_t){.source = source, .from = image_of(ctx, source), .is_whole = is_left_complete(ctx, source)};
        } else if (chunks[i]->number == chunks[i - 1]->number) {
            keel_sim_flaw(scene->sim, "rank %u has two get log chunks of rank %u with number %u", rank, source,
                          chunks[i]->number);
        }
        read_chunk(scene, rank, chunks[i], &left, counts[source]);
    }
}

/* ---- the comparison ---- */

static uint32_t sum(const scene_t *scene, const uint32_t *counts, uint32_t from, uint32_t before)
{
    uint32_t found = 0;

    for (uint32_t k = passed(scene, from); (k < passed(scene, before)) && (k < INVARIANT_GSYNCS_MAX); ++k) {
        found += counts[k];
    }
    return found;
}

/* Checks the logs for accesses @a did, done after gsync @a from and before @a before. */
static void check_did(const pair_t *pair, const invariant_did_t *did, uint32_t from, uint32_t before, int is_over)
{
    const uint32_t left = is_over ? did->gets : did->flushed;
    keel_sim_t *sim = pair->scene->sim;

    if (pair->has_puts && (from >= pair->image) && (sum(pair->scene, pair->puts, from, before) < did->puts)) {
        keel_sim_flaw(sim, "rank %u has %u records of its %u puts to rank %u after gsync %u; the image is of gsync %u",
                      pair->rank, sum(pair->scene, pair->puts, from, before), did->puts, pair->target, from,
                      pair->image);
    }
    if (pair->has_own && (from >= pair->own) && (sum(pair->scene, pair->gets, from, before) < did->gets)) {
        keel_sim_flaw(sim,
                      "rank %u has %u records of its %u gets from rank %u after gsync %u; its image is of gsync %u",
                      pair->rank, sum(pair->scene, pair->gets, from, before), did->gets, pair->target, from, pair->own);
    }
    if (pair->has_left && (from >= pair->from) && (sum(pair->scene, pair->left, from, before) < left)) {
        keel_sim_flaw(sim,
                      "rank %u has %u records of the %u gets of rank %u after gsync %u, whose image is of gsync %u",
                      pair->target, sum(pair->scene, pair->left, from, before), left, pair->rank, from, pair->from);
    }
}

static void check_plan(const pair_t *pair)
{
    const scene_t *scene = pair->scene;
    const invariants_t *invariants = &scene->invariants;
    const keel_recovery_t *rec = &scene->member[pair->rank].host.ctx->rec;
    const uint32_t most = scene->plan_options.phases;

    for (uint32_t phase = 0; (phase < most) && (phase < INVARIANT_PHASES_MAX); ++phase) {
        const uint32_t from = invariants->gsyncs[phase], before = invariants->gsyncs[phase + 1];

        if (invariants->has_gsyncs[phase] && invariants->has_gsyncs[phase + 1] && (rec->phase >= before) &&
            (rec->restarted_at <= from)) { /* the phase is over, and belongs to this life */
            check_did(pair, did_at(scene, pair->rank, phase, pair->target), from, before, 1);
        }
    }
}

static void check_announced(const pair_t *pair)
{
    const scene_t *scene = pair->scene;
    const keel_recovery_t *rec = &scene->member[pair->rank].host.ctx->rec;

    for (uint32_t k = 0; (k <= passed(scene, rec->phase)) && (k < INVARIANT_GSYNCS_MAX); ++k) {
        const uint32_t from = scene->drivers.counters.phase + k;

        if (is_of_life(&scene->invariants.life[pair->rank * INVARIANT_GSYNCS_MAX + k], rec)) {
            check_did(pair, did_at(scene, pair->rank, k, pair->target), from, from + 1, from < rec->phase);
        }
    }
}

/* Returns 1 if q's get log must hold p's reads at q: q has not died since, or has been refilled. */
static int is_left_due(const scene_t *scene, uint32_t rank, uint32_t target)
{
    const keel_context_h ctx = scene->member[rank].host.ctx, other = scene->member[target].host.ctx;
    const keel_peer_t *peer = &ctx->lane.peers[target];

    return (other->rec.roll == KEEL_ROLL_NONE) && (other->lane.rollback == ctx->lane.rollback) && peer->is_up &&
           (peer->incarnation == other->lane.incarnation) &&
           keel_peer_state_has(&ctx->rec.peer_states[target], KEEL_TRANSFER_GETLOG_REFILLED) &&
           ((peer->incarnation == 0) || keel_access_is_stored(&ctx->lane, target) ||
            keel_lane_is_flushed(&ctx->lane, target)) &&
           is_left_complete(other, rank);
}

static void check_pair(const scene_t *scene, uint32_t rank, uint32_t target, const uint32_t *left)
{
    const keel_context_h ctx = scene->member[rank].host.ctx;
    const keel_put_target_t *puts = &ctx->puts.targets[target];
    pair_t pair = {.scene = scene, .rank = rank, .target = target, .left = left};

    pair.image = image_of(ctx, target);
    pair.own = image_of(ctx, rank);
    pair.has_puts = ctx->puts.is_enabled && !puts->is_off && (puts->lost <= pair.image);
    pair.has_own = ctx->gets.is_enabled && !ctx->gets.is_off && (ctx->lane.slot.lost_gets <= pair.own);
    if (left != NULL) {
        pair.from = image_of(scene->member[target].host.ctx, rank);
        pair.has_left = is_left_due(scene, rank, target);
    }
    if (pair.has_puts) {
        count_puts(scene, &ctx->puts, target, pair.image, pair.puts);
    }
    if (pair.has_own) {
        count_own_gets(scene, &ctx->gets.targets[target], pair.gets);
    }
    if (scene->plan != NULL) {
        check_plan(&pair);
    } else {
        check_announced(&pair);
    }
}

void scene_check_logs(scene_t *scene)
{
    static counts_t left[CASE_RANKS_MAX];

    keel_sim_stores_show(scene->sim);
    if (scene->plan != NULL) {
        read_plan(scene);
    }
    for (uint32_t q = 0; q < scene->processes; ++q) {
        const int is_readable = scene_is_readable(scene, q);
        const int has_left = is_readable && (scene->member[q].host.ctx->rec.roll == KEEL_ROLL_NONE);

        if (is_readable) {
            check_oplog(scene, q);
        }
        if ((q >= scene->ranks) || (scene->invariants.did == NULL)) {
            continue;
        }
        if (has_left) {
            read_left(scene, q, left);
        }
        for (uint32_t r = 0; r < scene->ranks; ++r) {
            if ((r != q) && scene_is_readable(scene, r) && (scene->member[r].host.ctx->rec.roll == KEEL_ROLL_NONE)) {
                check_pair(scene, r, q, has_left ? left[r] : NULL);
                if (has_left) {
                    check_marks(scene, r, q);
                }
            }
        }
    }
    keel_sim_stores_hide(scene->sim);
}
