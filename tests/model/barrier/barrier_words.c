/* Arrival words: combined within a node by the leader, disseminated among leaders, announced
 * back to the members. */
#include "barrier.h"

#include <string.h>

static const word_t no_word;

/* The lowest rank of a node leads. Without --nodes each rank leads. */
void topology_build(world_t *world, process_t *process)
{
    topology_t *topology = &process->topology;
    int node[RANKS_MAX], r, q;

    memset(topology, 0, sizeof(*topology));
    for (r = 0; r < world->ranks; ++r) {
        if (!world->options->nodes) {
            node[r] = r;
        } else if (is_kept(world, RULE_placement_of_view)) {
            node[r] = process_reached(world, process, r)->node;
        } else {
            node[r] = world->current[r]->node;
        }
    }
    for (r = 0; r < world->ranks; ++r) {
        for (q = 0; node[q] != node[r];) {
            ++q;
        }
        topology->leader[r] = q;
        if (q == r) {
            topology->place[r] = topology->leaders;
            topology->by_place[topology->leaders++] = r;
        }
    }
    while ((1 << topology->rounds) < topology->leaders) {
        ++topology->rounds;
    }
}

static int word_counts(const world_t *world, const process_t *process, const word_t *word)
{
    return !is_kept(world, RULE_epoch) || (word->epoch == process->epoch);
}

static int word_is_empty(const word_t *word)
{
    return (word->number == 0) && (word->copied == 0) && (word->rollback == 0);
}

static int slot_of(const world_t *world, int number)
{
    return is_kept(world, RULE_two_slots) ? (number & 1) : 0;
}

static void keep_smaller(int *a, int b)
{
    if (b < *a) {
        *a = b;
    }
}

void word_take(world_t *world, process_t *process, slot_kind_t kind, int idx, const word_t *word)
{
    word_t *slot = &process->result;

    if (kind == SLOT_ROUND) {
        slot = &process->slot[idx];
    } else if (kind == SLOT_MEMBER) {
        slot = &process->peer[idx].member;
    }
    if (!is_kept(world, RULE_epoch) || (word->epoch >= slot->epoch)) {
        *slot = *word;
    }
}

/* a store between ranks of a node, a message otherwise */
static void word_announce(world_t *world, process_t *process, int to, slot_kind_t kind, int idx, const word_t *word)
{
    process_t *reached;
    message_t *message;

    if (!process->peer[to].is_up) {
        return;
    }
    reached = process_reached(world, process, to);
    if (reached->node == process->node) {
        word_take(world, reached, kind, idx, word);
    } else {
        message = message_send(world, process, to, MESSAGE_WORD);
        message->slot = kind;
        message->idx = idx;
        message->word = *word;
    }
}

static void word_join(const world_t *world, const process_t *process, word_t *word, const word_t *other)
{
    if (!word_counts(world, process, other)) {
        word->number = word->copied = word->rollback = 0;
        return;
    }
    if (is_kept(world, RULE_smallest)) {
        keep_smaller(&word->number, other->number);
    }
    keep_smaller(&word->copied, other->copied);
    keep_smaller(&word->rollback, other->rollback);
}

static void word_join_flags(const world_t *world, word_t *word, const word_t *other)
{
    const int k = slot_of(world, word->number);

    if (word->number > 0) {
        word->flags[k] |= other->flags[k];
        keep_smaller(&word->parity[k], other->parity[k]);
    }
}

/* combination of a leader's own word, the members' words and the rounds below @a rounds */
static word_t word_of_leader(world_t *world, process_t *process, int rounds)
{
    word_t word = process->own;
    int q, j;

    for (q = 0; q < world->ranks; ++q) {
        if ((q != process->rank) && (process->topology.leader[q] == process->rank)) {
            word_join(world, process, &word, &process->peer[q].member);
        }
    }
    for (j = 0; j < rounds; ++j) {
        word_join(world, process, &word, &process->slot[j]);
    }
    for (q = 0; q < world->ranks; ++q) {
        if ((q != process->rank) && (process->topology.leader[q] == process->rank)) {
            word_join_flags(world, &word, &process->peer[q].member);
        }
    }
    for (j = 0; j < rounds; ++j) {
        word_join_flags(world, &word, &process->slot[j]);
    }
    return word;
}

/* combination of the words of all ranks, as known to the process */
word_t word_combined(world_t *world, process_t *process)
{
    word_t word;

    if (!is_kept(world, RULE_placement_of_view)) {
        topology_build(world, process);
    }
    if (process->topology.leader[process->rank] == process->rank) {
        return word_of_leader(world, process, process->topology.rounds);
    }
    word = process->result;
    if (!word_counts(world, process, &word)) {
        return no_word;
    }
    keep_smaller(&word.number, process->own.number);
    keep_smaller(&word.copied, process->own.copied);
    keep_smaller(&word.rollback, process->own.rollback);
    return word;
}

/* Merges word into the announced word; true if the announced word has grown. */
static int word_is_news(world_t *world, const process_t *process, word_t *told, const word_t *word)
{
    const int k = slot_of(world, word->number);

    if ((told->epoch != process->epoch) && (is_kept(world, RULE_retell) || (told->epoch == 0))) {
        *told = no_word;
        told->epoch = process->epoch;
    }
    if ((word->number <= told->number) && (word->copied <= told->copied) && (word->rollback <= told->rollback)) {
        return 0;
    }
    if (word->number > told->number) {
        told->flags[k] = word->flags[k];
        told->parity[k] = word->parity[k];
        told->number = word->number;
    }
    told->copied = (word->copied > told->copied) ? word->copied : told->copied;
    told->rollback = (word->rollback > told->rollback) ? word->rollback : told->rollback;
    return 1;
}

void words_announce(world_t *world, process_t *process)
{
    const topology_t *topology = &process->topology;
    word_t word;
    int j, q;

    if (process->is_frozen) {
        return;
    }
    if (!is_kept(world, RULE_placement_of_view)) {
        topology_build(world, process);
    }
    if (topology->leader[process->rank] != process->rank) {
        word = process->own;
        if (!word_is_empty(&word) && (word.epoch == process->epoch) &&
            word_is_news(world, process, &process->told_leader, &word)) {
            word_announce(world, process, topology->leader[process->rank], SLOT_MEMBER, process->rank,
                          &process->told_leader);
        }
        return;
    }
    for (j = 0; j < topology->rounds; ++j) {
        word = word_of_leader(world, process, j);
        if (!word_is_empty(&word) && word_is_news(world, process, &process->told_round[j], &word)) {
            q = topology->by_place[(topology->place[process->rank] + (1 << j)) % topology->leaders];
            word_announce(world, process, q, SLOT_ROUND, j, &process->told_round[j]);
        }
    }
    word = word_of_leader(world, process, topology->rounds);
    if (!word_is_empty(&word) && word_is_news(world, process, &process->told_result, &word)) {
        for (q = 0; q < world->ranks; ++q) {
            if ((q != process->rank) && (topology->leader[q] == process->rank)) {
                word_announce(world, process, q, SLOT_RESULT, 0, &process->told_result);
            }
        }
    }
}
