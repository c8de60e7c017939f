/* A process: program, gsync, checkpoints and rollbacks. */
#include "barrier.h"

#include <stdlib.h>
#include <string.h>

static void get_log_trim(get_log_t *log, int phase)
{
    int i, kept = 0;

    for (i = 0; i < log->count; ++i) {
        if (log->record[i].phase >= phase) {
            log->record[kept++] = log->record[i];
        }
    }
    log->count = kept;
}

/* Takes a generation into use: records of earlier phases are not needed any more. */
void process_commit(world_t *world, process_t *process, int generation)
{
    put_log_t *puts;
    int q, i, kept;

    for (q = 0; q < world->ranks; ++q) {
        if (!world->image[generation][q].has_parity) {
            flaw(world, "a generation is taken into use without the parity of rank %d", q);
        }
        puts = &process->peer[q].puts;
        for (i = 0, kept = 0; i < puts->count; ++i) {
            if (puts->record[i].phase >= generation) {
                puts->record[kept++] = puts->record[i];
            }
        }
        puts->count = kept;
        get_log_trim(&process->peer[q].served, generation);
        get_log_trim(&process->peer[q].gets, generation);
    }
    process->generation = generation;
    process->making = process->has_parity = 0;
    ++world->counts.generations;
}

/* the process begins at a generation; 0 is the start of the program */
void process_load(world_t *world, process_t *process, int generation)
{
    const image_t *image = &world->image[generation][process->rank];
    int q, i;

    process->digest = image->digest;
    memcpy(process->memory, image->memory, sizeof(process->memory));
    if (generation == 0) {
        process->digest = digest_mix((uint32_t)process->rank, 7);
        for (i = 0; i < CELLS; ++i) {
            process->memory[i] = digest_mix((uint32_t)process->rank, (uint32_t)i);
        }
    }
    for (q = 0; q < world->ranks; ++q) {
        process->peer[q].puts.count = 0;
    }
    process->phase = generation;
    process->next = process->gets = 0;
    process->in_gsync = process->has_arrived = process->awaits_value = 0;
}

/* Copies the image; the parity is complete later, when the images of all ranks are there. */
static void process_copy(world_t *world, process_t *process, int generation)
{
    image_t *image = &world->image[generation][process->rank];

    image->is_there = 1;
    image->digest = process->digest;
    memcpy(image->memory, process->memory, sizeof(image->memory));
    image->has_parity = 0;
    process->making = generation;
}

void process_encode(world_t *world, process_t *process)
{
    const process_t *other;
    int q;

    if (!process->making || process->has_parity || process->is_frozen) {
        return;
    }
    for (q = 0; q < world->ranks; ++q) {
        other = world->current[q];
        if (!world->image[process->making][q].is_there ||
            ((other->making != process->making) && (other->generation != process->making))) {
            return;
        }
    }
    process->has_parity = 1;
    world->image[process->making][process->rank].has_parity = 1;
}

static void process_put(world_t *world, process_t *process, const access_t *access)
{
    const uint32_t value =
        digest_mix(process->digest, (uint32_t)(access->cell + 77 * access->target + 1000 * process->phase));
    peer_t *peer = &process->peer[access->target];
    standing_t standing;
    put_record_t *record;

    ++process->next;
    if (access->target == process->rank) {
        process->memory[access->cell] = value;
        return;
    }
    standing = peer->standing;
    if (!is_kept(world, RULE_dead_behind) && (process->state == REEXECUTING) &&
        !(process->returning >> access->target & 1)) {
        standing = AHEAD;
    }
    record = &peer->puts.record[peer->puts.count++];
    *record = (put_record_t){process->phase, access->cell, -1, value};
    if ((standing == LIVE) && peer->is_up) {
        put_issue(world, process, access->target, record);
    } else if (standing == AHEAD) {
        record->incarnation = peer->incarnation; /* in place since the first execution */
    } else {
        join_announce(world, process, access->target);
    }
}

static void process_take(process_t *process, uint32_t value)
{
    process->digest = digest_mix(process->digest, value);
    ++process->gets;
    ++process->next;
}

static void process_get(world_t *world, process_t *process, const access_t *access)
{
    peer_t *peer = &process->peer[access->target];
    process_t *reached;
    message_t *message;
    uint32_t value;
    int i;

    for (i = 0; i < peer->gets.count; ++i) {
        if ((peer->gets.record[i].phase == process->phase) && (peer->gets.record[i].idx == process->gets)) {
            process_take(process, peer->gets.record[i].value);
            return;
        }
    }
    if ((peer->standing == AHEAD) && !(process->returning >> access->target & 1)) {
        flaw(world, "rank %d has no record of a get", process->rank);
    }
    if (peer->standing == BEHIND) {
        join_announce(world, process, access->target);
    }
    if ((peer->standing != LIVE) || !peer->is_up) {
        return;
    }
    reached = process_reached(world, process, access->target);
    if (reached->node == process->node) {
        value = reached->memory[access->cell];
        get_log_add(&reached->peer[process->rank].served, (get_record_t){process->phase, process->gets, value});
        get_log_add(&peer->gets, (get_record_t){process->phase, process->gets, value});
        process_take(process, value);
    } else if (!process->awaits_value) {
        message = message_send(world, process, access->target, MESSAGE_GET);
        message->phase = process->phase;
        message->idx = process->gets;
        message->cell = access->cell;
        process->awaits_value = 1;
    }
}

static void process_access(world_t *world, process_t *process)
{
    const phase_plan_t *plan = &world->plan.phase[process->phase][process->rank];
    const int index = process->next;
    const access_t *access;

    if (index >= plan->accesses) {
        process->in_gsync = 1;
        return;
    }
    access = &plan->access[index];
    if (access->kind == ACCESS_PUT) {
        process_put(world, process, access);
    } else if ((access->kind == ACCESS_GET) && (access->target != process->rank)) {
        process_get(world, process, access);
    } else if (access->kind == ACCESS_STORE) {
        process->memory[access->cell] =
            digest_mix(process->digest, (uint32_t)(access->cell + 77 * access->target + 1000 * process->phase));
        ++process->next;
    } else {
        process->digest = digest_mix(process->digest, process->memory[access->cell]);
        ++process->next;
    }
    if ((process->next != index) && (process->digest != plan->digest[index])) {
        flaw(world, "rank %d.%d at %d: access %d has another value", process->rank, process->incarnation,
             process->phase, index);
    }
}

static int is_transfer(const message_t *message)
{
    return (message->type == MESSAGE_PUT) || (message->type == MESSAGE_JOIN);
}

/* all messages of the process with puts have arrived */
static int process_is_flushed(const world_t *world, const process_t *process, int with_gets)
{
    const message_t *message;
    int q;

    for (q = 0; q < world->ranks; ++q) {
        for (message = process->peer[q].queue.first; message != NULL; message = message->next) {
            if (is_transfer(message) ||
                (with_gets && ((message->type == MESSAGE_GET) || (message->type == MESSAGE_VALUE)))) {
                return 0;
            }
        }
    }
    return 1;
}

/* All leavers of a gsync in an epoch agree on flags and parity, and all ranks are there. */
static void leave_check(world_t *world, process_t *process, int number, uint32_t flags, int parity)
{
    const process_t *other;
    int i, q, r;

    for (i = 0; i < world->lefts; ++i) {
        if ((world->left[i].epoch == process->epoch) && (world->left[i].number == number)) {
            if ((world->left[i].flags != flags) || (world->left[i].parity != parity)) {
                flaw(world, "ranks that leave a gsync disagree on its flags");
            }
            break;
        }
    }
    if (i == world->lefts) {
        world->left = realloc(world->left, sizeof(*world->left) * (size_t)(world->lefts + 1));
        if (world->left == NULL) {
            abort();
        }
        world->left[world->lefts++] = (left_t){process->epoch, number, parity, flags};
    }
    for (q = 0; q < world->ranks; ++q) {
        other = world->current[q];
        for (r = 0; (r < world->ranks) && (other->peer[r].incarnation == process->peer[r].incarnation) &&
                    (other->peer[r].is_up == process->peer[r].is_up);) {
            ++r;
        }
        if (other->is_alive && (r == world->ranks) && !other->is_rolling && (other->epoch == process->epoch) &&
            (other->phase < number) && ((other->phase < number - 1) || !other->in_gsync)) {
            flaw(world, "a rank leaves a gsync that rank %d has not reached", q);
        }
    }
}

/* a re-executing rank has passed another gsync */
static void leave_reexecuted(world_t *world, process_t *process, int number)
{
    peer_t *peer;
    int q, position;

    if (number >= process->front) {
        process->state = FRONT;
        process->own = (word_t){.epoch = process->epoch, .number = number};
        ++world->counts.recovered;
        trace(world, "%d.%d is at the front %d", process->rank, process->incarnation, number);
    }
    for (q = 0; q < world->ranks; ++q) {
        peer = &process->peer[q];
        if (process->returning >> q & 1) {
            position = peer->told_front ? process->front : peer->told;
            peer->standing = (position > number) ? AHEAD : BEHIND;
        } else if ((process->state == FRONT) && peer->is_up) {
            peer->standing = LIVE;
        } else {
            peer->standing = peer->is_up ? AHEAD : BEHIND;
        }
    }
    position_announce_to_list(world, process);
}

static void process_leave(world_t *world, process_t *process, int number, int by_words)
{
    const int k = is_kept(world, RULE_two_slots) ? (number & 1) : 0;
    const word_t word = by_words ? word_combined(world, process) : (word_t){.number = 0};
    const int was_reexecuting = process->state == REEXECUTING;
    int q;

    if (by_words) {
        leave_check(world, process, number, word.flags[k], word.parity[k]);
        if (process->making && (word.parity[k] == process->making)) {
            process_commit(world, process, process->making);
        }
        for (q = 0; (number > process->front) && (q < world->ranks); ++q) {
            if (!process->peer[q].is_up) {
                flaw(world, "rank %d leaves a gsync amid a death", process->rank);
            }
            process->peer[q].standing = LIVE;
        }
    } else {
        ++world->counts.released;
    }
    process->phase = number;
    process->next = process->gets = 0;
    process->in_gsync = process->has_arrived = 0;
    trace(world, "%d.%d %s gsync %d", process->rank, process->incarnation, by_words ? "leaves" : "passes", number);
    if (process->digest != world->plan.phase[number][process->rank].first_digest) {
        flaw(world, "rank %d.%d has computed something else at %d", process->rank, process->incarnation, number);
    }
    if (was_reexecuting) {
        leave_reexecuted(world, process, number);
    }
    for (q = 0; !by_words && (q < world->ranks); ++q) {
        peer_judge(world, process, q);
    }
    if (by_words && (word.flags[k] & 1) && (process->state == FRONT)) {
        process->has_parity = 0;
        process_copy(world, process, number);
        process->own.copied = number;
        process->own.epoch = process->epoch;
        process->in_second = 1;
    }
    process->is_done = number == PHASES;
}

/* Announces the arrival at gsync number; flag 1 is rank 0's order to checkpoint, the others
 * are any news. */
static void process_arrive(world_t *world, process_t *process, int number)
{
    const int k = is_kept(world, RULE_two_slots) ? (number & 1) : 0;
    int q;

    if (process->state == REEXECUTING) {
        process->has_arrived = 1;
        for (q = 0; q < world->ranks; ++q) {
            if ((q != process->rank) && (process->returning >> q & 1) && (process->peer[q].standing == LIVE)) {
                if (is_kept(world, RULE_hand_once)) {
                    process->peer[q].handed_to = number;
                }
                message_send(world, process, q, MESSAGE_HANDED)->phase = number;
            }
        }
        return;
    }
    if (process_has_hole(world, process)) {
        ++world->counts.holes;
        if (is_kept(world, RULE_no_hole)) {
            return;
        }
    }
    process->has_arrived = 1;
    process->own.epoch = process->epoch;
    process->own.number = number;
    process->own.flags[k] =
        (process->rank == 0) && world->plan.is_checkpoint[number] && !process->making && (process->generation < number);
    process->own.flags[k] |= 2u << (process->digest >> 1 & 1);
    process->own.parity[k] = process->making ? (process->has_parity ? process->making : 0) : process->generation;
    words_announce(world, process);
}

static void process_gsync(world_t *world, process_t *process)
{
    const int number = process->phase + 1, k = is_kept(world, RULE_two_slots) ? (number & 1) : 0;

    if (!process_is_flushed(world, process, 0) || (process->is_frozen && !process->has_arrived)) {
        return;
    }
    if ((process->state == FRONT) && (process->front >= number)) {
        if (!process->is_frozen) {
            process_leave(world, process, number, 0);
        }
        return;
    }
    if (!process->has_arrived) {
        process_arrive(world, process, number);
        if (!process->has_arrived) {
            return;
        }
    }
    if (process->state == REEXECUTING) {
        if (!process->is_frozen && pairs_are_over(world, process, number)) {
            process_leave(world, process, number, 0);
        }
        return;
    }
    if (process->is_frozen && is_kept(world, RULE_frozen_stay)) {
        return;
    }
    if (!is_kept(world, RULE_captured) && process->making) {
        process->own.parity[k] = process->has_parity ? process->making : 0;
    }
    if (word_combined(world, process).number >= number) {
        process_leave(world, process, number, 1);
    }
}

static void process_restore(world_t *world, process_t *process)
{
    peer_t *peer;
    int q;

    process->rollbacks = process->roll_number;
    process_load(world, process, process->roll_generation);
    process->generation = process->roll_generation;
    process->making = 0;
    for (q = 0; q < world->ranks; ++q) {
        peer = &process->peer[q];
        peer->gets.count = peer->served.count = 0;
        peer->standing = LIVE;
        peer->told = -1;
        peer->told_front = peer->handed_to = peer->handed = peer->joined = 0;
    }
    process->list = process->late = process->returning = 0;
    process->state = FRONT;
    process->front = process->roll_generation;
    process->roll_stage = 2;
    process->is_done = 0;
}

/* drained, barrier, restored, barrier: both barriers are stages in the words */
static void process_roll(world_t *world, process_t *process)
{
    const int stage = 4 * process->roll_number;

    if (process->roll_stage == 0) {
        if (!process_is_flushed(world, process, 1)) {
            return;
        }
        process->roll_stage = 1;
        process->own.epoch = process->epoch;
        process->own.rollback = stage + 1;
    }
    words_announce(world, process);
    if ((process->roll_stage == 1) && (word_combined(world, process).rollback >= stage + 1)) {
        process_restore(world, process);
        process->own.rollback = stage + 2;
        words_announce(world, process);
    }
    if ((process->roll_stage == 2) && (word_combined(world, process).rollback >= stage + 2)) {
        process->is_rolling = process->roll_stage = 0;
        process->own = (word_t){.epoch = process->epoch, .number = process->phase, .rollback = process->own.rollback};
        process->is_done = process->phase == PHASES;
        trace(world, "%d.%d goes on at %d", process->rank, process->incarnation, process->phase);
    }
}

/* A fresh process begins when all ranks on the list have given records. */
static void process_begin(world_t *world, process_t *process)
{
    peer_t *peer;
    int q;

    for (q = 0; q < world->ranks; ++q) {
        if ((process->list >> q & 1) && !process->peer[q].gave_records) {
            return;
        }
    }
    process->state = REEXECUTING;
    if (process->phase >= process->front) {
        process->state = FRONT;
        process->own = (word_t){.epoch = process->epoch, .number = process->phase};
        ++world->counts.recovered;
    }
    for (q = 0; q < world->ranks; ++q) {
        peer = &process->peer[q];
        if ((process->returning >> q & 1) || !peer->is_up) {
            peer->standing = BEHIND;
        } else {
            peer->standing = (process->state == FRONT) ? LIVE : AHEAD;
        }
    }
    trace(world, "%d.%d begins at %d, front %d", process->rank, process->incarnation, process->phase, process->front);
    position_announce_to_list(world, process);
    for (q = 0; q < world->ranks; ++q) {
        peer_judge(world, process, q);
    }
}

void process_step(world_t *world, process_t *process)
{
    if (process->is_frozen && view_is_complete(world, process) && !process->has_reported) {
        view_report(world, process);
    }
    if (process->is_rolling) {
        if (!process->is_frozen) {
            process_roll(world, process);
        }
        return;
    }
    if (process->state == FRESH) {
        if (!process->is_frozen && process->has_decision) {
            process_begin(world, process);
        }
        return;
    }
    words_announce(world, process);
    if (process->is_done) {
        return;
    }
    if (process->in_second) {
        if (process->making && (process->is_frozen || (word_combined(world, process).copied < process->making))) {
            return;
        }
        process->in_second = 0;
    }
    if (process->in_gsync) {
        process_gsync(world, process);
    } else {
        process_access(world, process);
    }
}
