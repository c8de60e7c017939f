/* News of deaths and of replacements, reports up the binomial tree, the decision down the same
 * tree. */
#include "barrier.h"

#include <stdlib.h>
#include <string.h>

static uint64_t view_sum(const world_t *world, const process_t *process)
{
    uint64_t sum = 0;
    int q;

    for (q = 0; q < world->ranks; ++q) {
        sum += (uint64_t)process->peer[q].incarnation;
    }
    return sum;
}

/* no replacement is awaited */
int view_is_complete(const world_t *world, const process_t *process)
{
    int q;

    for (q = 0; q < world->ranks; ++q) {
        if (!process->peer[q].is_up) {
            return 0;
        }
    }
    return 1;
}

/* a rank at the front has passed the front, even if amid the gsync */
int process_position(const process_t *process)
{
    return ((process->state == FRONT) && (process->front > process->phase)) ? process->front : process->phase;
}

/* Forgets all announcements of a dead peer. */
static void view_bury(world_t *world, process_t *process, int rank)
{
    peer_t *peer = &process->peer[rank];

    process->is_frozen = 1;
    process->has_reported = process->has_sent_report = 0;
    process->list &= ~(1u << rank);
    process->late &= ~(1u << rank);
    peer->is_up = 0;
    peer->standing = BEHIND;
    peer->told = -1;
    peer->handed_to = peer->handed = peer->told_front = peer->joined = peer->gave_records = 0;
    peer->report = NULL;
    queue_drop(&peer->queue);
    if ((process->state == FRESH) && is_kept(world, RULE_fresh_forget)) {
        peer->gets.count = peer->served.count = 0;
    }
    if (process->awaits_value && !process->in_gsync &&
        (world->plan.phase[process->phase][process->rank].access[process->next].target == rank)) {
        process->awaits_value = 0; /* asked again */
    }
}

/* the process sees the next event */
void view_learn(world_t *world, process_t *process)
{
    const event_t event = world->event[process->news++];
    peer_t *peer = &process->peer[event.rank];
    const int lives = event.incarnation + !event.is_join;

    if ((event.rank == process->rank) || (lives < peer->incarnation) ||
        ((lives == peer->incarnation) && (peer->is_up || !event.is_join))) {
        return;
    }
    peer->incarnation = lives;
    if (event.is_join) {
        peer->is_up = 1;
        return;
    }
    trace(world, "%d.%d has the news of the death of %d.%d", process->rank, process->incarnation, event.rank,
          event.incarnation);
    view_bury(world, process, event.rank);
}

void view_report(world_t *world, process_t *process)
{
    report_t *report = world_alloc(world, sizeof(*report));
    entry_t *entry = &report->entry[process->rank];
    int q;

    report->view = view_sum(world, process);
    entry->is_there = 1;
    entry->state = process->state;
    entry->position = process_position(process);
    entry->front = is_kept(world, RULE_accepted_front) ? process->front : 0;
    entry->rollbacks = (process->roll_number > process->rollbacks) ? process->roll_number : process->rollbacks;
    entry->generation = process->generation;
    entry->is_rolling = process->is_rolling;
    entry->epoch = process->epoch;
    for (q = 0; q < world->ranks; ++q) {
        if ((q != process->rank) &&
            (process->peer[q].puts.count + process->peer[q].served.count + process->peer[q].gets.count > 0)) {
            entry->touched |= 1u << q;
        }
    }
    process->peer[process->rank].report = report;
    process->has_reported = 1;
    process->has_sent_report = 0;
    view_combine(world, process);
}

static void decision_draw_hunt(world_t *world, process_t *process)
{
    int r;

    if ((world->options->hunt == 1 || world->options->hunt == 2) && (world->aims < 2) &&
        keel_random_chance(&world->random, 350)) {
        ++world->aims;
        world->aimed_rank = process->rank;
        world->aimed_step =
            world->step + keel_random_below(&world->random, keel_random_chance(&world->random, 500) ? 12 : 120);
        for (r = 1; r < world->ranks; ++r) {
            if (keel_random_chance(&world->random, 700)) {
                world->speed[r] = 8;
            }
        }
        world->speed[0] = 1024;
        world->weather_until = world->step + 200;
    }
}

/* the ranks with records for a replacement: the union over all reports */
static void decision_list(const world_t *world, decision_t *decision, const report_t *report)
{
    int q, r;

    for (q = 0; q < world->ranks; ++q) {
        for (r = 0; (decision->state[q] == FRESH) && (r < world->ranks); ++r) {
            if ((r != q) && (decision->state[r] != FRESH) && (report->entry[r].touched >> q & 1)) {
                decision->list[q] |= 1u << r;
            }
        }
    }
}

static void decide(world_t *world, process_t *process, const report_t *report)
{
    decision_t *decision = world_alloc(world, sizeof(*decision));
    const entry_t *entry;
    uint64_t epoch = 0;
    int survivors = 0, rollbacks = 0, q;

    ++world->counts.decisions;
    decision->view = view_sum(world, process);
    decision->is_rollback = keel_random_chance(&world->random, (uint32_t)world->rollback_chance);
    for (q = 0; q < world->ranks; ++q) {
        entry = &report->entry[q];
        if (!entry->is_there) {
            flaw(world, "decided without rank %d", q);
        }
        epoch = (entry->epoch > epoch) ? entry->epoch : epoch;
        decision->incarnation[q] = process->peer[q].incarnation;
        decision->state[q] = entry->state;
        decision->position[q] = entry->position;
        decision->rollbacks = (entry->rollbacks > decision->rollbacks) ? entry->rollbacks : decision->rollbacks;
        decision->is_rollback |= entry->is_rolling;
        if (entry->state != FRESH) {
            decision->is_rollback |= (survivors++ > 0) && (entry->rollbacks != rollbacks);
            rollbacks = entry->rollbacks;
            decision->front = (entry->position > decision->front) ? entry->position : decision->front;
            decision->front = (entry->front > decision->front) ? entry->front : decision->front;
            decision->generation =
                (entry->generation > decision->generation) ? entry->generation : decision->generation;
        }
    }
    decision->front = (decision->generation > decision->front) ? decision->generation : decision->front;
    decision->epoch = is_kept(world, RULE_epoch_of_view) ? decision->view + 1 : epoch + 1;
    decision_list(world, decision, report);
    for (q = 0; (decision->generation > 0) && (q < world->ranks); ++q) {
        if (!world->image[decision->generation][q].has_parity) {
            flaw(world, "generation in use without parity of rank %d", q);
        }
    }
    if (decision->is_rollback) {
        ++decision->rollbacks;
        decision->front = decision->generation;
        ++world->counts.rollbacks;
    }
    trace(world, "decided: view %d, %s, front %d, generation %d", (int)decision->view,
          decision->is_rollback ? "rollback" : "local", decision->front, decision->generation);
    decision_draw_hunt(world, process);
    view_adopt(world, process, decision);
    if ((world->options->hunt == 2) && (world->aims < 3) && keel_random_chance(&world->random, 300)) {
        ++world->aims;
        world->hunted = process;
    }
}

/* Sends the reports of the subtree up once all are there, of the same view; the root decides. */
void view_combine(world_t *world, process_t *process)
{
    const uint64_t view = view_sum(world, process);
    report_t *all;
    int child, bit, q;

    if (!process->is_frozen || !process->has_reported || process->has_sent_report) {
        return;
    }
    all = world_alloc(world, sizeof(*all));
    *all = *process->peer[process->rank].report;
    for (bit = 1; (bit < world->ranks) && !(process->rank & bit); bit <<= 1) {
        child = process->rank + bit;
        if (child < world->ranks) {
            const report_t *report = process->peer[child].report;

            if ((report == NULL) || ((report->view != view) && is_kept(world, RULE_reports_by_view))) {
                return;
            }
            for (q = 0; q < world->ranks; ++q) {
                if (report->entry[q].is_there) {
                    all->entry[q] = report->entry[q];
                }
            }
        }
    }
    process->has_sent_report = 1;
    if (process->rank != 0) {
        message_send(world, process, process->rank & (process->rank - 1), MESSAGE_REPORT)->report = all;
    } else {
        decide(world, process, all);
    }
}

static int view_is_of(const world_t *world, const process_t *process, const decision_t *decision)
{
    int q;

    for (q = 0; q < world->ranks; ++q) {
        if (decision->incarnation[q] != process->peer[q].incarnation) {
            return 0;
        }
    }
    return process->has_reported && view_is_complete(world, process);
}

/* agreement: a single decision a view, and no decision of an older view */
static void adopt_check(world_t *world, const decision_t *decision)
{
    int i, is_known = 0;

    for (i = 0; i < world->agreeds; ++i) {
        const agreed_t *agreed = &world->agreed[i];

        if (agreed->view > decision->view) {
            flaw(world, "a decision of an older view is taken up");
        }
        if (agreed->view == decision->view) {
            is_known = 1;
            if ((agreed->front != decision->front) || (agreed->is_rollback != decision->is_rollback)) {
                flaw(world, "two decisions of one view");
            }
        }
    }
    if (!is_known) {
        world->agreed = realloc(world->agreed, sizeof(*world->agreed) * (size_t)(world->agreeds + 1));
        if (world->agreed == NULL) {
            abort();
        }
        world->agreed[world->agreeds++] = (agreed_t){decision->view, decision->front, decision->is_rollback};
    }
}

static void adopt_generation(world_t *world, process_t *process, const decision_t *decision)
{
    if ((process->generation < decision->generation) && (process->state != FRESH)) {
        if (process->making == decision->generation) {
            process_commit(world, process, decision->generation);
        } else if (!decision->is_rollback) {
            flaw(world, "rank %d has no image of the generation in use", process->rank);
        }
    }
    process->making = process->has_parity = 0;
    process->in_second = 0;
}

static void adopt_rollback(process_t *process, const decision_t *decision)
{
    process->is_rolling = 1;
    process->roll_stage = 0;
    process->roll_number = decision->rollbacks;
    process->front = decision->generation;
    process->roll_generation = decision->generation;
    process->has_arrived = process->awaits_value = 0;
    process->has_decision = 1;
    memset(&process->own, 0, sizeof(process->own));
}

/* A survivor gives a replacement all records of its former life; a replacement learns the positions
 * of the others. */
static void adopt_peer(world_t *world, process_t *process, const decision_t *decision, int rank, int is_fresh)
{
    peer_t *peer = &process->peer[rank];
    message_t *message;
    get_log_t *copy;
    int position;

    if (decision->state[rank] == FRESH) {
        peer->standing = BEHIND;
        if (!is_kept(world, RULE_keep_positions)) {
            peer->told = -1;
        }
        if (!is_fresh && (decision->list[rank] >> process->rank & 1)) {
            copy = world_alloc(world, 2 * sizeof(*copy));
            copy[0] = peer->served;
            copy[1] = peer->gets;
            message = message_send(world, process, rank, MESSAGE_RECORDS);
            message->logged = &copy[0];
            message->own = &copy[1];
        }
    } else if (is_fresh) {
        position = (decision->state[rank] == FRONT) ? decision->front : decision->position[rank];
        peer->told = (position > peer->told) ? position : peer->told;
        if (is_kept(world, RULE_front_state) && (decision->state[rank] == FRONT)) {
            peer->told_front = 1;
        }
    }
}

static void adopt_local(world_t *world, process_t *process, const decision_t *decision)
{
    const int is_fresh = process->state == FRESH;
    int q;

    if (is_fresh) {
        process->rollbacks = decision->rollbacks;
        process->front = decision->front;
        process_load(world, process, decision->generation);
        process->list = is_kept(world, RULE_list) ? decision->list[process->rank] : 0;
        process->generation = decision->generation;
        process->has_decision = 1;
    } else {
        if ((process->phase > decision->front) && (process->state != REEXECUTING)) {
            flaw(world, "rank %d is beyond the front", process->rank);
        }
        process->front = (decision->front > process->front) ? decision->front : process->front;
    }
    process->returning = 0;
    for (q = 0; q < world->ranks; ++q) {
        if (q != process->rank) {
            process->returning |= (uint32_t)(decision->state[q] != FRONT) << q;
            adopt_peer(world, process, decision, q, is_fresh);
        }
    }
    if (!is_fresh) {
        if (is_kept(world, RULE_rearrive)) {
            memset(&process->own, 0, sizeof(process->own));
            process->has_arrived = 0;
            process->own.number = (process->state == FRONT) ? process_position(process) : 0;
        }
        process->own.epoch = process->epoch;
        process->own.copied = process->own.rollback = 0;
        for (q = 0; q < world->ranks; ++q) {
            peer_judge(world, process, q);
        }
    }
}

void view_adopt(world_t *world, process_t *process, const decision_t *decision)
{
    int child, bit, q;

    if (!process->is_frozen || (is_kept(world, RULE_decision_by_view) && !view_is_of(world, process, decision))) {
        return;
    }
    adopt_check(world, decision);
    for (bit = 1; (bit < world->ranks) && !(process->rank & bit); bit <<= 1) {
        child = process->rank + bit;
        if (child < world->ranks) {
            message_send(world, process, child, MESSAGE_DECISION)->decision = decision;
        }
    }
    trace(world, "%d.%d takes up view %d at %d", process->rank, process->incarnation, (int)decision->view,
          process->phase);
    if (world->options->hunt && (world->aims < 2) && (world->aimed_rank < 0) &&
        keel_random_chance(&world->random, 70)) {
        ++world->aims;
        world->aimed_rank = process->rank;
        world->aimed_step = world->step + keel_random_below(&world->random, 150);
    }
    process->is_frozen = process->has_reported = process->has_sent_report = 0;
    process->epoch = decision->epoch;
    if (view_is_complete(world, process)) {
        topology_build(world, process);
    }
    if (!is_kept(world, RULE_keep_words)) {
        memset(process->slot, 0, sizeof(process->slot));
        memset(&process->result, 0, sizeof(process->result));
        for (q = 0; q < world->ranks; ++q) {
            memset(&process->peer[q].member, 0, sizeof(word_t));
        }
    }
    adopt_generation(world, process, decision);
    if (decision->is_rollback) {
        adopt_rollback(process, decision);
    } else {
        adopt_local(world, process, decision);
    }
}
