/*
 * Rounds in which several ranks access one rank, the root, and the root waits for them.
 *
 * Counted: each member puts words to the root, and then adds to a counter without a fetch. The
 * counter proves to the root that the words of all members are complete. The root then signals
 * every member by another atomic. The order of arrivals is undefined and has no effect.
 *
 * Tickets: each member fetches the counter that it adds to, and the member with the last ticket
 * overwrites the words of all others. Turns: a counter at one rank orders puts between the members,
 * and proves to the last member that its own memory is complete. Swaps: the root sends the last
 * swapped value to all members, and the members read the word again. In all three the order of
 * arrivals matters, and only memory has it.
 *
 * First come, first served: the root serves members as they come, by tests or by waits for any of
 * them. The root sends to each member the place in the order and the number of failed looks. The
 * results of these calls matter, and only the root has them.
 *
 * Polled: each member polls a word at the root until a neighbour has put the word. The member then
 * reads the words that the neighbour put into its memory, overwrites the words that the neighbour
 * put to the root, and sends the number of failed polls to two ranks.
 *
 * Looked for: each member gets its words from two ranks, tests both requests in turn until both are
 * complete, and sends the number of failed tests and the order of completion to two ranks. The
 * results of the tests matter.
 *
 * Several: each round has a kind of its own. A round leaves the words as the next round needs them:
 * the counter of arrivals is 0 between rounds, every signal contains the round, and a put without a
 * flush is flushed.
 */
#ifndef KEEL_TEST_GATHERING_H_
#define KEEL_TEST_GATHERING_H_

#include "play.h"

#define GATHER_RANKS 32
#define GATHER_WORDS 3

typedef enum {
    GATHER_NONE,
    GATHER_ADDS,
    GATHER_TOGGLES,
    GATHER_TICKETS,
    GATHER_TURNS,
    GATHER_OWN_TURNS, /* turns of all members and of the root, in the root's own memory */
    GATHER_SWAPS,
    GATHER_ANSWERS,
    GATHER_POLLS,
    GATHER_LOOKS,
    GATHER_SEVERAL,   /* drawn for each round, from the kinds with additions only */
    GATHER_UNFETCHED, /* drawn for each round, from the kinds of GATHER_SEVERAL without fetches */
    GATHER_ALL,       /* drawn for each round, from all kinds */
    GATHER_KINDS
} gather_kind_t;

/* The contents of a window. */
typedef struct gather_window {
    uint64_t count;     /* arrivals of members at this rank */
    uint64_t leaves;    /* signals to continue received by this rank */
    uint64_t swapped;   /* value of the last swap */
    uint64_t announced; /* that value, or another signal, sent by the root */
    uint64_t words[GATHER_RANKS][GATHER_WORDS];
    /* own turns: 1 + the first value fetched by each member; first come: the signal received by
     * each member */
    uint64_t found[GATHER_RANKS];
    uint64_t came[GATHER_RANKS];
    uint64_t looked[GATHER_RANKS]; /* polled, looked for: number of looks reported by each member */
    uint64_t sense[GATHER_RANKS];  /* a flag, put once and later put again with the same value */
    uint64_t token[GATHER_RANKS];  /* signals between the two puts of the flag */
    uint64_t fresh[GATHER_RANKS];  /* words put before the flag is put again */
} gather_window_t;

/* The values of this rank's counters while no rank accesses them. */
typedef struct gather_state {
    uint64_t count, leaves, hash;
} gather_state_t;

typedef struct gather {
    play_host_t *host;
    uint64_t seed;
    gather_kind_t kind; /* kind of this round; `kinds` is the program's */
    gather_kind_t kinds;
    keel_win_h win;
    gather_window_t *own;
    gather_state_t state; /* part of every image: gather_open() protects it as @a id */
} gather_t;

/* The class of a program's atomics if all are of the same class; KEEL_ATOMIC_LAST: of several. */
keel_atomic_op_t gather_class(gather_kind_t kind);
/* True if the program did not declare its waits at init. Results of requests are then recorded from
 * the second step on, and each rank waits in the first. */
static inline int gather_is_undeclared(const play_host_t *host, gather_kind_t kind)
{
    return (kind == GATHER_LOOKS || kind == GATHER_UNFETCHED) && (host->params->flags & KEEL_PARAM_FLAG_WAITS) == 0;
}
/* True if some atomics fetch. */
static inline int gather_fetches(gather_kind_t kind)
{
    return kind == GATHER_TICKETS || kind == GATHER_TURNS || kind == GATHER_OWN_TURNS || kind == GATHER_SEVERAL ||
           kind == GATHER_ALL;
}
/* True if each round has a kind of its own. */
static inline int gather_is_several(gather_kind_t kinds)
{
    return kinds == GATHER_SEVERAL || kinds == GATHER_UNFETCHED || kinds == GATHER_ALL;
}
keel_status_t gather_open(gather_t *gather, keel_context_h ctx, unsigned id);
/* Runs round @a number of step @a step among ranks ring[0..members); the caller has place @a
 * place. */
keel_status_t gather_round(gather_t *gather, const uint32_t *ring, uint32_t members, uint32_t place, uint64_t step,
                           unsigned number);
/* Checks the counters. Precondition: no rank accesses them any more. */
keel_status_t gather_check(const gather_t *gather);

#endif
