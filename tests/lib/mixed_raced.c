/* Words that ranks race for in programs that mix. */
#include "mixed_raced.h"

#include "sim/random.h"
#include "try.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define WORD       sizeof(uint64_t)
#define EVENTS_MAX (MIXED_RANKS_MAX * MIXED_STEPS_MAX * MIXED_EACH)

typedef enum { RACED_POSTED, RACED_TICKET, RACED_SWAP, RACED_CLAIM } raced_kind_t;

/* Never 0, the initial value of the words. */
static uint64_t operand_of(const mixed_act_t *act)
{
    return act->value | 1;
}

static raced_kind_t kind_of(const mixed_options_t *options, const mixed_act_t *act)
{
    const uint64_t draw = keel_random_mix(act->value ^ 0x72616365) % 8;

    if ((options->ways & MIXED_RACES) && draw >= 4) {
        return (draw < 6) ? RACED_SWAP : RACED_CLAIM;
    }
    return (draw == 0) ? RACED_POSTED : RACED_TICKET;
}

/* ---- accesses ---- */

static keel_status_t take_ticket(keel_win_h win, const mixed_act_t *act, uint64_t *answer)
{
    const uint64_t value = operand_of(act);

    TRY(keel_atomic(win, KEEL_ATOMIC_ADD, act->target, offsetof(mixed_raced_t, ticket), WORD, 1, 0, answer));
    return (*answer < MIXED_QUEUE)
               ? keel_put(win, act->target, offsetof(mixed_raced_t, queue) + *answer * WORD, &value, WORD)
               : KEEL_OK;
}

static keel_status_t claim(keel_win_h win, const mixed_act_t *act, uint64_t phase, uint64_t *answer)
{
    const uint64_t value = operand_of(act);

    TRY(keel_atomic(win, KEEL_ATOMIC_CSWAP, act->target, offsetof(mixed_raced_t, claim) + phase * WORD, WORD, value, 0,
                    answer));
    return (*answer == 0) ? keel_put(win, act->target, offsetof(mixed_raced_t, won) + phase * WORD, &value, WORD)
                          : KEEL_OK;
}

keel_status_t raced_do(mixed_journal_t *journal, keel_win_h win, uint32_t own, uint64_t step, const mixed_act_t *act)
{
    const mixed_walk_t walk = mixed_walk_to(&journal->options, own, step, act);
    uint64_t answer = 0;

    switch (kind_of(&journal->options, act)) {
    case RACED_POSTED:
        return keel_atomic(win, KEEL_ATOMIC_ADD, act->target, offsetof(mixed_raced_t, ticket), WORD, 1, 0, NULL);
    case RACED_TICKET:
        TRY(take_ticket(win, act, &answer));
        break;
    case RACED_SWAP:
        TRY(keel_atomic(win, KEEL_ATOMIC_SWAP, act->target, offsetof(mixed_raced_t, last), WORD, operand_of(act), 0,
                        &answer));
        break;
    default:
        TRY(claim(win, act, walk.phase, &answer));
    }
    journal->answer[own][step][walk.index] = answer;
    return KEEL_OK;
}

/* ---- judge ---- */

typedef struct event {
    raced_kind_t kind;
    uint32_t rank;
    uint64_t order; /* index among the acts of the rank */
    uint64_t phase, value, answer;
    int is_seen;
} event_t;

typedef struct history {
    const mixed_journal_t *journal;
    const mixed_raced_t *is;
    uint32_t rank;
    unsigned count;
    event_t event[EVENTS_MAX];
} history_t;

/* Collects the atomics on the words of a rank. */
static void read_events(history_t *history)
{
    const mixed_options_t *options = &history->journal->options;

    history->count = 0;
    for (uint32_t r = 0; r < options->ranks; r++) {
        mixed_walk_t walk = {.options = options, .rank = r};

        for (uint64_t order = 0; mixed_walk_next(&walk); order++) {
            if (walk.act.kind == ACT_ADD && walk.act.target == history->rank) {
                history->event[history->count++] =
                    (event_t){.kind = kind_of(options, &walk.act),
                              .rank = r,
                              .order = order,
                              .phase = walk.phase,
                              .value = operand_of(&walk.act),
                              .answer = history->journal->answer[r][walk.step][walk.index]};
            }
        }
    }
}

/* Checks the tickets of a phase, beginning with ticket @a first. Returns NULL, or a text about the
 * first error. */
static const char *judge_phase_tickets(history_t *history, uint64_t phase, uint64_t first, uint64_t count)
{
    uint8_t taken[EVENTS_MAX] = {0};
    const event_t *before = NULL;

    for (unsigned i = 0; i < history->count; i++) {
        const event_t *event = &history->event[i];

        if (event->kind != RACED_TICKET || event->phase != phase) {
            continue;
        }
        if (event->answer < first || event->answer - first >= count) {
            return "a ticket is one of another phase";
        }
        if (taken[event->answer - first]++) {
            return "a ticket was taken twice";
        }
        if (before != NULL && before->rank == event->rank && before->answer >= event->answer) {
            return "a rank's tickets are out of order";
        }
        if (event->answer < MIXED_QUEUE && history->is->queue[event->answer] != event->value) {
            return "a place of the queue is not what the ticket's owner put there";
        }
        before = event;
    }
    return NULL;
}

static const char *judge_tickets(history_t *history)
{
    uint64_t first = 0, places = 0;
    const char *flaw;

    for (uint64_t phase = 0; phase < MIXED_PHASES_MAX; phase++) {
        uint64_t count = 0;

        for (unsigned i = 0; i < history->count; i++) {
            const event_t *event = &history->event[i];

            count += event->phase == phase && (event->kind == RACED_TICKET || event->kind == RACED_POSTED);
            places += event->phase == phase && event->kind == RACED_TICKET && event->answer < MIXED_QUEUE;
        }
        flaw = judge_phase_tickets(history, phase, first, count);
        if (flaw != NULL) {
            return flaw;
        }
        first += count;
    }
    for (unsigned i = 0; i < MIXED_QUEUE; i++) {
        places -= history->is->queue[i] != 0;
    }
    return (places != 0)                    ? "a place of the queue is filled that nobody has a ticket for"
           : (history->is->ticket != first) ? "not as many tickets were taken as asked for"
                                            : NULL;
}

/* Checks the winner of each phase. */
static const char *judge_claims(const history_t *history)
{
    uint64_t winner[MIXED_PHASES_MAX] = {0};

    for (unsigned i = 0; i < history->count; i++) {
        const event_t *event = &history->event[i];

        if (event->kind == RACED_CLAIM && event->answer == 0) {
            if (winner[event->phase] != 0) {
                return "two came first";
            }
            winner[event->phase] = event->value;
        }
    }
    for (unsigned i = 0; i < history->count; i++) {
        const event_t *event = &history->event[i];

        if (event->kind == RACED_CLAIM && event->answer != 0 && event->answer != winner[event->phase]) {
            return "a later rank found another rank first";
        }
        if (event->kind == RACED_CLAIM && winner[event->phase] == 0) {
            return "nobody came first";
        }
    }
    return (memcmp(history->is->claim, winner, sizeof(winner)) != 0) ? "the first rank is not the rank at the end"
           : (memcmp(history->is->won, winner, sizeof(winner)) != 0)
               ? "the data of the first rank is missing, or is that of another rank"
               : NULL;
}

/* Follows the swaps backwards: each swap found the value of a swap that is neither of a later phase
 * nor later in the order of its rank. */
static const char *judge_swaps(history_t *history)
{
    uint64_t order[MIXED_RANKS_MAX], left = history->is->last, phase = UINT64_MAX;
    unsigned swaps = 0;

    memset(order, 0xff, sizeof(order));
    for (unsigned i = 0; i < history->count; i++) {
        swaps += history->event[i].kind == RACED_SWAP;
    }
    for (; left != 0; swaps--) {
        event_t *event = NULL;

        for (unsigned i = 0; i < history->count && event == NULL; i++) {
            event =
                (history->event[i].kind == RACED_SWAP && history->event[i].value == left) ? &history->event[i] : NULL;
        }
        if (event == NULL || event->is_seen) {
            return "a swap found what none left";
        }
        if (event->phase > phase || event->order >= order[event->rank]) {
            return "swaps are out of order";
        }
        event->is_seen = 1;
        phase = event->phase;
        order[event->rank] = event->order;
        left = event->answer;
    }
    return (swaps != 0) ? "a swap is in no history" : NULL;
}

const char *raced_judge(const mixed_journal_t *journal, uint32_t rank, char *text, size_t size)
{
    static history_t history;
    const char *flaw;

    history.journal = journal;
    history.is = &journal->raced[rank];
    history.rank = rank;
    read_events(&history);
    flaw = judge_tickets(&history);
    flaw = (flaw != NULL) ? flaw : judge_claims(&history);
    flaw = (flaw != NULL) ? flaw : judge_swaps(&history);
    if (flaw == NULL) {
        return NULL;
    }
    snprintf(text, size, "rank %u: of what was raced for: %s", rank, flaw);
    return text;
}
