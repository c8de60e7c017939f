/* State of open deaths, and the messages that keep the state the same in all ranks. */
#include "recovery/outcome/outcome.h"
#include "base/outcome_text.h"
#include "recovery/recovery_status.h"
#include "recovery/view.h"

#include "base/memory.h"
#include "peer/control.h"
#include "peer/members.h"
#include "topo/regroup.h"

#include <string.h>

/* KEEL_CONTROL_PRINTED */
typedef struct printed_message {
    uint32_t local, rollbacks;
    uint32_t printed[];
} printed_message_t;

static uint32_t outcome_node(const keel_runtime_t *runtime)
{
    for (uint32_t r = 0; runtime->place != NULL; r++) {
        if (r == runtime->size + runtime->spares) {
            return UINT32_MAX;
        }
        if (strcmp(runtime->host[runtime->node[r]], runtime->place) == 0) {
            return runtime->node[r];
        }
    }
    return runtime->node[runtime->rank];
}

static void outcome_mark_node(keel_outcome_t *o, uint32_t node)
{
    if (node < o->node_count) {
        o->nodes[node] = 1;
    }
}

/* The deaths up to that number have a line. */
static void outcome_raise(keel_outcome_t *o, uint32_t rank, uint32_t printed)
{
    if (printed > o->printed[rank] && o->ranks != NULL) {
        o->unborn += o->ranks[rank].unborn;
        o->ranks[rank].unborn = 0;
    }
    o->printed[rank] = keel_larger(o->printed[rank], printed);
}

/* Memory of the leader, and of every rank that may lead. */
static keel_status_t outcome_init_printer(keel_recovery_t *rec)
{
    const keel_runtime_t *runtime = rec->lane->runtime;
    keel_outcome_t *o = &rec->outcome;

    for (uint32_t r = 0; r < runtime->size + runtime->spares; r++) {
        o->node_count = (runtime->node[r] >= o->node_count) ? runtime->node[r] + 1 : o->node_count;
    }
    o->ranks = keel_alloc(rec->lane->size * sizeof(*o->ranks), "outcome of deaths");
    o->deaths = keel_alloc(rec->lane->size * sizeof(*o->deaths), "outcome of deaths");
    o->sources = keel_alloc(rec->lane->size, "outcome of deaths");
    o->scratch = keel_alloc(rec->lane->size, "outcome of deaths");
    o->nodes = keel_alloc(o->node_count, "outcome of deaths");
    if (o->ranks == NULL || o->deaths == NULL || o->sources == NULL || o->scratch == NULL || o->nodes == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    KEEL_EACH_RANK(r, rec->lane) {
        o->ranks[r].node = runtime->node[r];
    }
    return KEEL_OK;
}

keel_status_t keel_outcome_init(keel_recovery_t *rec)
{
    keel_outcome_t *o = &rec->outcome;
    keel_status_t status = KEEL_OK;

    o->printed = keel_alloc(rec->lane->size * sizeof(*o->printed), "outcome of deaths");
    o->node = outcome_node(rec->lane->runtime);
    o->place.node = UINT32_MAX;
    o->saved_ns = keel_recovery_now(rec);
    o->is_open = rec->lane->incarnation > 0;
    if (o->printed == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    if (keel_lane_is_leader(rec->lane) || rec->lane->config->shrink != KEEL_SHRINK_NO) {
        status = outcome_init_printer(rec);
    }
    if (status != KEEL_OK) {
        keel_outcome_release(rec);
    }
    return status;
}

void keel_outcome_release(keel_recovery_t *rec)
{
    keel_outcome_t *o = &rec->outcome;

    keel_free(o->printed);
    keel_free(o->ranks);
    keel_free(o->deaths);
    keel_free(o->sources);
    keel_free(o->scratch);
    keel_free(o->nodes);
}

void keel_outcome_view_changes(keel_recovery_t *rec)
{
    keel_outcome_t *o = &rec->outcome;

    o->changed_ns = keel_recovery_now(rec);
    if (o->noticed_ns == 0) {
        o->noticed_ns = o->changed_ns;
    }
    o->is_open = 1;
}

void keel_outcome_death(keel_recovery_t *rec, uint32_t rank, uint32_t incarnation, uint32_t unborn)
{
    keel_outcome_rank_t *of = (rec->outcome.ranks == NULL) ? NULL : &rec->outcome.ranks[rank];

    if (of != NULL && of->node_incarnation == incarnation) {
        outcome_mark_node(&rec->outcome, of->node);
    }
    if (of != NULL) {
        of->unborn += unborn;
    }
    keel_outcome_view_changes(rec);
}

void keel_outcome_saved(keel_recovery_t *rec, uint64_t ns)
{
    rec->outcome.saved_ns = ns;
}

void keel_outcome_restored(keel_recovery_t *rec)
{
    const keel_parity_group_t *group = &rec->ckpt->group;
    keel_outcome_part_t *part = &rec->outcome.part;
    const keel_image_set_t *set;

    part->is_own = rec->restored.number != rec->generation.number;
    set = part->is_own ? &rec->demand->set : &rec->ckpt->set;
    part->sources = part->bytes = 0;
    for (uint32_t i = 0; i < group->size && i < 64 && rec->restored.number != 0; i++) {
        if (i != group->index && keel_parity_bytes_from(set->parity, i) > 0) {
            part->sources |= 1ull << i;
        }
    }
    if (part->sources != 0) {
        part->bytes = set->used.members[group->index].size;
    }
}

uint32_t keel_outcome_checkpoints(const keel_recovery_t *rec)
{
    return rec->outcome.counts.checkpoints + (uint32_t)rec->ckpt->committed;
}

void keel_outcome_fill_report(const keel_recovery_t *rec, keel_outcome_report_t *report)
{
    const keel_outcome_t *o = &rec->outcome;
    const uint64_t now = keel_recovery_now(rec);

    *report = (keel_outcome_report_t){.noticed_ns = (o->noticed_ns != 0) ? now - o->noticed_ns : 0,
                                      .saved_ns = now - o->saved_ns,
                                      .work_ns = o->work_ns,
                                      .part = o->part,
                                      .counts = o->counts,
                                      .place = o->place,
                                      .node = o->node,
                                      .is_rolled = (uint32_t)o->is_rolled};
    report->counts.checkpoints = keel_outcome_checkpoints(rec);
    memcpy(report->why, o->why, sizeof(report->why));
}

void keel_outcome_take_report(keel_recovery_t *rec, uint32_t rank, keel_report_t *report)
{
    keel_outcome_rank_t *of = &rec->outcome.ranks[rank];
    keel_outcome_report_t *its = &report->outcome;
    const uint64_t now = keel_recovery_now(rec);

    its->noticed_ns = (its->noticed_ns != 0 && its->noticed_ns < now) ? now - its->noticed_ns : 0;
    its->saved_ns = (its->saved_ns < now) ? now - its->saved_ns : 0;
    its->why[sizeof(its->why) - 1] = '\0';
    of->node = its->node;
    of->node_incarnation = report->about[rank].incarnation;
    if (its->part.is_over) {
        of->part = its->part;
        of->part_incarnation = of->node_incarnation;
    }
}

/* Takes over the knowledge of other ranks, in case that this process replaces an earlier leader. */
static void outcome_merge(keel_recovery_t *rec, const keel_report_t *report)
{
    const keel_outcome_report_t *its = &report->outcome;
    keel_outcome_t *o = &rec->outcome;

    o->counts.local = keel_larger(o->counts.local, its->counts.local);
    o->counts.rollbacks = keel_larger(o->counts.rollbacks, its->counts.rollbacks);
    if (its->noticed_ns != 0 && (o->noticed_ns == 0 || its->noticed_ns < o->noticed_ns)) {
        o->noticed_ns = its->noticed_ns;
    }
    KEEL_EACH_RANK(r, rec->lane) {
        outcome_raise(o, r, report->about[r].printed);
    }
    if (its->place.incarnation >= o->place.incarnation) {
        o->place = its->place;
    }
    if (its->is_rolled && !o->is_rolled) {
        o->is_rolled = 1;
        o->work_ns = its->work_ns;
        memcpy(o->why, its->why, sizeof(o->why));
    }
}

void keel_outcome_decide(keel_recovery_t *rec, decision_t *d)
{
    keel_outcome_t *o = &rec->outcome;
    uint64_t saved_ns = UINT64_MAX;

    KEEL_EACH_MEMBER(r, rec->lane) {
        const keel_report_t *report = rec->reports[r];

        outcome_merge(rec, report);
        if (report->state == KEEL_RANK_FRESH) {
            continue;
        }
        d->outcome.counts.checkpoints = keel_larger(d->outcome.counts.checkpoints, report->outcome.counts.checkpoints);
        if (report->generation == d->generation) {
            saved_ns = (report->outcome.saved_ns < saved_ns) ? report->outcome.saved_ns : saved_ns;
            d->outcome.checkpoint = keel_larger(d->outcome.checkpoint, report->outcome.counts.checkpoints);
        }
    }
    d->outcome.checkpoint = (d->generation == 0) ? 0 : d->outcome.checkpoint;
    d->outcome.place = (keel_outcome_place_t){.incarnation = rec->lane->incarnation, .node = o->node};
    d->outcome.counts.local = o->counts.local;
    d->outcome.counts.rollbacks = o->counts.rollbacks;
    if (saved_ns != UINT64_MAX) {
        d->outcome.saved_ns = keel_recovery_now(rec) - saved_ns;
        d->outcome.work_ns = (saved_ns < o->noticed_ns) ? o->noticed_ns - saved_ns : 0;
    }
    KEEL_EACH_RANK(r, rec->lane) {
        d->ranks[r].printed = o->printed[r];
    }
}

void keel_outcome_adopt(keel_recovery_t *rec, const decision_t *d)
{
    keel_outcome_t *o = &rec->outcome;

    o->checkpoint = d->outcome.checkpoint;
    if (!keel_lane_is_leader(rec->lane)) {
        o->place = d->outcome.place;
    }
    if (keel_recovery_state(rec) == KEEL_RANK_FRESH) {
        o->counts = d->outcome.counts;
        o->saved_ns = keel_recovery_now(rec) - d->outcome.saved_ns;
        o->part = (keel_outcome_part_t){0};
        KEEL_EACH_RANK(r, rec->lane) {
            o->printed[r] = d->ranks[r].printed;
        }
        if (o->nodes != NULL) {
            memset(o->nodes, 0, o->node_count); /* may contain deaths with a line */
        }
    }
    if (d->mode == KEEL_DECISION_ROLLBACK) {
        /* else the reason of the rollback under way stays */
        if (!o->is_rolled || !d->is_passing) {
            o->work_ns = d->outcome.work_ns;
            memcpy(o->why, d->why, sizeof(o->why));
        }
        o->is_rolled = 1;
        o->is_rolled_here = 0;
        o->is_for_good |= d->is_for_good != 0;
    }
}

static int part_is_over(const keel_recovery_t *rec, uint32_t rank)
{
    const keel_outcome_rank_t *of = &rec->outcome.ranks[rank];

    return of->part.is_over && of->part_incarnation == rec->lane->peers[rank].incarnation;
}

/* Counts the deaths of each rank without a line, and returns their sum. *are_over_p: all of these
 * ranks have caught up. */
static uint32_t outcome_count(keel_recovery_t *rec, int *are_over_p)
{
    keel_outcome_t *o = &rec->outcome;
    uint32_t count = 0;

    *are_over_p = 1;
    if (rec->lane->incarnation > o->printed[0] && o->place.incarnation == rec->lane->incarnation - 1) {
        outcome_mark_node(o, o->place.node); /* the predecessor */
    }
    KEEL_EACH_RANK(r, rec->lane) {
        o->deaths[r] = keel_rank_deaths(rec->lane, r) - o->printed[r] - o->ranks[r].unborn;
        count += o->deaths[r];
        if (o->deaths[r] > 0 && !part_is_over(rec, r)) {
            *are_over_p = 0;
        }
        if (o->deaths[r] > 0 && o->printed[r] == 0) {
            outcome_mark_node(o, rec->lane->runtime->node[r]);
        }
    }
    return count;
}

static void outcome_add_part(keel_recovery_t *rec, uint32_t rank, keel_outcome_facts_t *facts)
{
    const keel_outcome_part_t *part = &rec->outcome.ranks[rank].part;
    const keel_groups_t *groups = &rec->ckpt->groups;

    facts->records += part->records;
    facts->bytes += part->bytes;
    facts->is_own |= part->is_own != 0;
    if (groups->count == 0 || groups->of_rank[rank] == KEEL_GROUP_NONE) {
        return;
    }
    for (uint32_t i = 0; i < groups->size[groups->of_rank[rank]] && i < 64; i++) {
        if (part->sources & (1ull << i)) {
            rec->outcome.sources[groups->members[groups->of_rank[rank]][i]] = 1;
        }
    }
}

static void outcome_print(keel_recovery_t *rec)
{
    keel_outcome_t *o = &rec->outcome;
    keel_outcome_facts_t facts = {.size = rec->lane->size,
                                  .programs = rec->lane->programs,
                                  .deaths = o->deaths,
                                  .nodes = o->nodes,
                                  .node_count = o->node_count,
                                  .host = rec->lane->runtime->host,
                                  .is_rollback = o->is_rolled,
                                  .remain = (rec->lane->gone > 0) ? keel_member_count(rec->lane) : 0,
                                  .is_memory_kept = rec->lane->config->protect == KEEL_PROTECT_NONE,
                                  .took_ns = o->is_rolled ? o->work_ns : keel_recovery_now(rec) - o->noticed_ns,
                                  .sources = o->sources,
                                  .checkpoint = o->checkpoint,
                                  .why = o->why,
                                  .is_for_good = o->is_for_good};
    char text[KEEL_OUTCOME_MAX];

    memset(o->sources, 0, rec->lane->size);
    KEEL_EACH_RANK(r, rec->lane) {
        if (o->deaths[r] > 0) {
            outcome_add_part(rec, r, &facts);
        }
    }
    keel_outcome_write(&facts, o->scratch, text, sizeof(text));
    if (rec->lane->config->rehearse == NULL) { /* the deaths of a rehearsal are no news */
        keel_notice(rec->message, "%s", text);
    }
}

/* The deaths up to now have their line. */
static void outcome_printed(keel_recovery_t *rec)
{
    keel_outcome_t *o = &rec->outcome;
    int is_open = 0;

    KEEL_EACH_RANK(r, rec->lane) {
        is_open |= o->printed[r] < keel_rank_deaths(rec->lane, r);
    }
    o->is_rolled = o->is_rolled_here = 0;
    o->noticed_ns = is_open ? o->changed_ns : 0;
    o->is_open = is_open;
}

static void outcome_announce(keel_recovery_t *rec)
{
    const size_t length = sizeof(printed_message_t) + rec->lane->size * sizeof(uint32_t);
    const keel_outcome_t *o = &rec->outcome;
    printed_message_t *message = keel_alloc(length, "outcome of deaths");

    if (message != NULL) {
        *message = (printed_message_t){.local = o->counts.local, .rollbacks = o->counts.rollbacks};
        memcpy(message->printed, o->printed, rec->lane->size * sizeof(uint32_t));
        (void)keel_lane_control_send_all(rec->lane, KEEL_CONTROL_PRINTED, message, length);
        keel_free(message);
    }
}

/* The leader: prints the line if nothing is under way any more. */
static void outcome_close(keel_recovery_t *rec)
{
    keel_outcome_t *o = &rec->outcome;
    int are_over;
    const uint32_t count = outcome_count(rec, &are_over);

    if (!are_over && !o->is_rolled_here) {
        return;
    }
    if (count > 0 || o->is_rolled) {
        outcome_print(rec);
    }
    o->counts.rollbacks += o->is_rolled != 0;
    o->counts.local += o->is_rolled ? 0 : count;
    KEEL_EACH_RANK(r, rec->lane) {
        outcome_raise(o, r, o->printed[r] + o->deaths[r] + o->ranks[r].unborn);
    }
    memset(o->nodes, 0, o->node_count);
    outcome_announce(rec);
    outcome_printed(rec);
}

void keel_outcome_receive_printed(void *arg, const keel_control_in_t *in)
{
    keel_recovery_t *rec = arg;
    const printed_message_t *message = (const void *)in->payload;
    keel_outcome_t *o = &rec->outcome;

    if (in->length != sizeof(*message) + rec->lane->size * sizeof(uint32_t) || in->source != rec->lane->leader) {
        keel_error(rec->message, "malformed outcome of deaths from rank %u refused", in->source);
        return;
    }
    o->counts.local = keel_larger(o->counts.local, message->local);
    o->counts.rollbacks = keel_larger(o->counts.rollbacks, message->rollbacks);
    KEEL_EACH_RANK(r, rec->lane) {
        outcome_raise(o, r, message->printed[r]);
    }
    outcome_printed(rec);
}

static int outcome_is_back(const keel_recovery_t *rec)
{
    return keel_sync_replays(rec->sync) == KEEL_STYLE_GSYNCS &&
           (rec->life == KEEL_LIFE_LIVE || (rec->life == KEEL_LIFE_AWAITING && rec->is_complete_announced));
}

static void outcome_keep_part(keel_recovery_t *rec, uint32_t rank, uint32_t incarnation,
                              const keel_outcome_part_t *part)
{
    rec->outcome.ranks[rank].part = *part;
    rec->outcome.ranks[rank].part_incarnation = incarnation;
}

static void outcome_end_part(keel_recovery_t *rec)
{
    keel_outcome_part_t *part = &rec->outcome.part;

    part->is_over = 1;
    part->records = rec->sync->sections.replay.replayed;
    KEEL_EACH_MEMBER(r, rec->lane) {
        part->records += rec->peer_states[r].records_received;
    }
    if (keel_lane_is_leader(rec->lane)) {
        outcome_keep_part(rec, rec->lane->rank, rec->lane->incarnation, part);
    } else {
        (void)keel_lane_control_send(rec->lane, rec->lane->leader, KEEL_CONTROL_RECOVERED, part, sizeof(*part));
    }
}

void keel_outcome_receive_part(void *arg, const keel_control_in_t *in)
{
    keel_recovery_t *rec = arg;

    if (in->length != sizeof(keel_outcome_part_t) || !keel_lane_is_leader(rec->lane)) {
        keel_error(rec->message, "malformed recovery from rank %u refused", in->source);
        return;
    }
    outcome_keep_part(rec, in->source, in->incarnation, (const void *)in->payload);
}

void keel_outcome_step(keel_recovery_t *rec)
{
    keel_outcome_t *o = &rec->outcome;

    if (!o->is_open || keel_recovery_is_frozen(rec) || rec->roll != KEEL_ROLL_NONE || rec->fatal != KEEL_OK) {
        return;
    }
    if (rec->lane->incarnation > 0 && !o->part.is_over && outcome_is_back(rec)) {
        outcome_end_part(rec);
    }
    if (keel_lane_is_leader(rec->lane)) {
        outcome_close(rec);
    }
}

void keel_outcome_rolled_back(keel_recovery_t *rec)
{
    keel_outcome_t *o = &rec->outcome;

    o->saved_ns = keel_recovery_now(rec);
    o->part = (keel_outcome_part_t){.is_over = 1};
    o->is_rolled_here = 1;
    if (keel_lane_is_leader(rec->lane)) {
        outcome_close(rec);
    }
}
