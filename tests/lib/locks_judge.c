/* Checks the journal of a program of critical sections for one history of each window. */
#include "locks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct event {
    const locks_seen_t *seen;
    uint32_t rank;
    uint32_t step;
} event_t;

static int event_compare(const void *left, const void *right)
{
    const event_t *a = left, *b = right;

    if (a->seen->version != b->seen->version) {
        return a->seen->version < b->seen->version ? -1 : 1;
    }
    if (a->seen->is_write != b->seen->is_write) {
        /* the readers of a version come before the writer of the next version */
        return (int)a->seen->is_write - (int)b->seen->is_write;
    }
    return (a->step > b->step) - (a->step < b->step);
}

static unsigned events_of(const locks_journal_t *journal, uint32_t target, event_t *events)
{
    unsigned count = 0;

    for (uint32_t r = 0; r < journal->options.ranks; r++) {
        for (uint32_t step = 0; step < journal->options.steps; step++) {
            for (unsigned i = 0; i < LOCKS_SEEN_MAX; i++) {
                const locks_seen_t *seen = &journal->seen[r][step][i];

                if (seen->is_used && seen->target == target) {
                    events[count++] = (event_t){.seen = seen, .rank = r, .step = step};
                }
            }
        }
    }
    qsort(events, count, sizeof(*events), event_compare);
    return count;
}

/* The versions of a window seen by a rank never decrease. */
static const char *judge_order(const event_t *events, unsigned count, char *text, size_t size)
{
    static uint32_t next[LOCKS_RANKS_MAX];

    memset(next, 0, sizeof(next));
    for (unsigned i = 0; i < count; i++) {
        if (events[i].step < next[events[i].rank]) {
            snprintf(text, size, "rank %u step %u comes after its step %u in the history of window %u", events[i].rank,
                     events[i].step, next[events[i].rank], events[i].seen->target);
            return text;
        }
        next[events[i].rank] = events[i].step;
    }
    return NULL;
}

/* A read piece equals the bytes at this point of the history; a written piece changes them. */
static int judge_piece(const locks_seen_t *seen, unsigned char *bytes)
{
    if (seen->has_got && play_hash(0, bytes + seen->got.offset, seen->got.length) != seen->got_hash) {
        return 0;
    }
    if (seen->has_put) {
        play_fill(bytes + seen->put.offset, seen->put.length, seen->put_seed);
    }
    return 1;
}

static const char *judge_window(const locks_journal_t *journal, uint32_t target, event_t *events, char *text,
                                size_t size)
{
    const unsigned count = events_of(journal, target, events);
    static unsigned char bytes[PIECES_ROOM_MAX];
    locks_memory_t memory = {0};

    memset(bytes, 0, sizeof(bytes));
    for (unsigned i = 0; i < count; i++) {
        const locks_seen_t *seen = events[i].seen;

        if (seen->version != memory.version || seen->chain != memory.chain ||
            (!seen->is_write && seen->value != memory.cell[seen->cell]) ||
            (seen->has_old && seen->old != memory.cell[seen->cell])) {
            snprintf(text, size, "window %u: rank %u step %u %s version %llu chain %llx, which stood at %llu %llx%s",
                     target, events[i].rank, events[i].step, seen->is_write ? "wrote over" : "read",
                     (unsigned long long)seen->version, (unsigned long long)seen->chain,
                     (unsigned long long)memory.version, (unsigned long long)memory.chain,
                     seen->version == memory.version && seen->chain == memory.chain ? " (cell differs)" : "");
            return text;
        }
        if (!judge_piece(seen, bytes)) {
            snprintf(text, size, "window %u: rank %u step %u read a piece, %u+%u, that was not there", target,
                     events[i].rank, events[i].step, seen->got.offset, seen->got.length);
            return text;
        }
        if (seen->is_write) {
            memory.version++;
            memory.chain = locks_link(memory.chain, events[i].rank, events[i].step, target);
            memory.cell[seen->cell] = seen->value;
            memory.total += seen->added;
        }
    }
    if (memcmp(&memory, &journal->end[target], sizeof(memory)) != 0) {
        const locks_memory_t *end = &journal->end[target];

        snprintf(text, size, "window %u ends at version %llu total %llu, its history at %llu total %llu", target,
                 (unsigned long long)end->version, (unsigned long long)end->total, (unsigned long long)memory.version,
                 (unsigned long long)memory.total);
        return text;
    }
    if (memcmp(bytes, journal->end_pieces[target], journal->options.room) != 0) {
        snprintf(text, size, "window %u ends with other pieces than its history", target);
        return text;
    }
    return judge_order(events, count, text, size);
}

const char *locks_judge(const locks_journal_t *journal, char *text, size_t size)
{
    static event_t events[LOCKS_RANKS_MAX * LOCKS_STEPS_MAX * LOCKS_SEEN_MAX];
    const char *flaw = NULL;

    for (uint32_t target = 0; target < journal->options.ranks && flaw == NULL; target++) {
        flaw = judge_window(journal, target, events, text, size);
    }
    return flaw;
}
