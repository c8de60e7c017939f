/* Positions, hand-over of puts phase by phase, and the ranks to wait for while re-executing. */
#include "barrier.h"

void position_announce(world_t *world, process_t *process, int to)
{
    message_t *message = message_send(world, process, to, MESSAGE_POSITION);

    message->phase = process->phase;
    message->is_front = is_kept(world, RULE_front_state) && (process->state == FRONT);
}

void position_announce_to_list(world_t *world, process_t *process)
{
    const uint32_t to = process->list | process->late | process->returning;
    int q;

    for (q = 0; q < world->ranks; ++q) {
        if ((q != process->rank) && (to >> q & 1)) {
            position_announce(world, process, q);
        }
    }
}

/* the first record of a get counts: a later record is of a repeated get */
int get_log_add(get_log_t *log, get_record_t record)
{
    int i;

    for (i = 0; i < log->count; ++i) {
        if ((log->record[i].phase == record.phase) && (log->record[i].idx == record.idx)) {
            return 0;
        }
    }
    log->record[log->count++] = record;
    return 1;
}

/* a store into the memory of a rank of the same node, a message otherwise */
void put_issue(world_t *world, process_t *process, int to, put_record_t *record)
{
    process_t *reached = process_reached(world, process, to);
    message_t *message;

    record->incarnation = process->peer[to].incarnation;
    if ((reached != NULL) && (reached->node == process->node)) {
        if (reached->rollbacks == process->rollbacks) {
            reached->memory[record->cell] = record->value;
        }
    } else {
        message = message_send(world, process, to, MESSAGE_PUT);
        message->cell = record->cell;
        message->value = record->value;
    }
}

static void handed_announce(world_t *world, process_t *process, int to, int phase)
{
    message_send(world, process, to, MESSAGE_HANDED)->phase = phase;
}

static void phase_hand_over(world_t *world, process_t *process, int to, int phase, int is_again)
{
    put_log_t *puts = &process->peer[to].puts;
    int i;

    for (i = 0; i < puts->count; ++i) {
        if ((puts->record[i].phase == phase) &&
            (is_again || (puts->record[i].incarnation != process->peer[to].incarnation))) {
            put_issue(world, process, to, &puts->record[i]);
        }
    }
}

/* the position of a peer after an announcement */
static int peer_position(const process_t *process, const peer_t *peer)
{
    if (!peer->told_front) {
        return peer->told;
    }
    if (process->state == FRONT) {
        return process_position(process);
    }
    return (peer->told > process->front) ? peer->told : process->front;
}

/* Judges the standing of a peer from both positions, and hands over to a peer that is behind
 * or becomes live. */
void peer_judge(world_t *world, process_t *process, int to)
{
    const int mine = process_position(process);
    peer_t *peer = &process->peer[to];
    int position;

    if ((to == process->rank) || process->is_frozen || process->is_rolling || (process->state == FRESH) ||
        !peer->is_up || (peer->standing == LIVE) || (peer->told < 0)) {
        return;
    }
    position = peer_position(process, peer);
    if (position > mine) {
        peer->standing = AHEAD;
    } else if (position == mine) {
        phase_hand_over(world, process, to, mine, 0);
        peer->standing = LIVE;
        if ((process->state == REEXECUTING) && process->has_arrived) {
            peer->handed_to = process->phase + 1;
            handed_announce(world, process, to, process->phase + 1);
        }
    } else {
        peer->standing = BEHIND;
        if (peer->handed_to <= peer->told) {
            phase_hand_over(world, process, to, peer->told, 1);
            peer->handed_to = peer->told + 1;
            handed_announce(world, process, to, peer->told + 1);
        }
    }
}

void join_announce(world_t *world, process_t *process, int to)
{
    peer_t *peer = &process->peer[to];

    if (is_kept(world, RULE_join) && peer->is_up && !process->is_frozen && !peer->joined) {
        peer->joined = 1;
        message_send(world, process, to, MESSAGE_JOIN);
    }
}

/* true if a put of the current phase is not in place at its target */
int process_has_hole(world_t *world, process_t *process)
{
    const put_log_t *puts;
    int q, i;

    for (q = 0; q < world->ranks; ++q) {
        puts = &process->peer[q].puts;
        for (i = 0; (q != process->rank) && (i < puts->count); ++i) {
            if ((puts->record[i].phase == process->phase) &&
                (puts->record[i].incarnation != process->peer[q].incarnation)) {
                join_announce(world, process, q);
                return 1;
            }
        }
    }
    return 0;
}

/* a re-executing rank has been handed all puts of the ending phase */
int pairs_are_over(world_t *world, const process_t *process, int number)
{
    const uint32_t awaited = process->list | (is_kept(world, RULE_pairs) ? process->returning : 0);
    int q;

    for (q = 0; q < world->ranks; ++q) {
        if ((q != process->rank) && (awaited >> q & 1) && (process->peer[q].handed < number)) {
            return 0;
        }
    }
    return 1;
}
