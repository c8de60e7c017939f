/*
 * What several ranks do at one of them, which waits for it.
 *
 * Counted: each puts a piece of its own there, and then an atomic that nobody fetches; by the counter the waiting rank knows that it
 * may read all of them. Another atomic tells the others that it has. Which of them came first is nobody's to say, and no matter.
 *
 * Tickets: each fetches what it adds to, and whoever finds that it is the last writes over what all others have put. Turns: the same
 * word, at one rank, orders what they have put at each other, and the last one learns by it what lies in its own memory. Swaps: what
 * the last of them left is told to all, who look again. Here it matters who came first, and only memory knows.
 *
 * First come, first served: the waiting rank takes whoever has come, by tests or by waits for any of them, and tells each which it was and
 * how often it had looked in vain. Here it matters what it was answered, and only the rank itself knows.
 *
 * Polled: each looks at a word that lies with the root until its neighbour has put it; then it reads what that one has put into its memory,
 * puts over what it has put to the root, and tells two others how often it had looked in vain.
 *
 * Looked for: each gets from two others what it has put there, looks at both requests in turn until both are complete, and tells two
 * others how often they were not, and which was first. Here it matters what it was told of its requests.
 *
 * Several: each round is of a kind of its own. One leaves the words as the next needs them: the counter of those that have come is 0
 * between rounds, what anybody is told is of its round, and what is put without a flush is flushed.
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
    GATHER_OWN_TURNS, /* turns that the root takes too, of its own memory */
    GATHER_SWAPS,
    GATHER_ANSWERS,
    GATHER_POLLS,
    GATHER_LOOKS,
    GATHER_SEVERAL,   /* drawn anew for each round, of those whose atomics are additions */
    GATHER_UNFETCHED, /* the same, but of those that fetch nothing */
    GATHER_ALL,       /* of all that there are */
    GATHER_KINDS
} gather_kind_t;

/* a window of its own */
typedef struct gather_window {
    uint64_t count;   /* of those that have come here */
    uint64_t leaves;  /* of the times that this rank was told to go on */
    uint64_t swapped; /* by whoever came last */
    uint64_t told;    /* what that was at another rank */
    uint64_t words[GATHER_RANKS][GATHER_WORDS];
    uint64_t found[GATHER_RANKS]; /* own turns: 1 + what each has fetched first; first come: what each was told */
    uint64_t came[GATHER_RANKS];
    uint64_t looked[GATHER_RANKS]; /* polled, looked for: how often each says that it looked */
    uint64_t sense[GATHER_RANKS];  /* put, and put anew as it was */
    uint64_t token[GATHER_RANKS];  /* in between */
    uint64_t fresh[GATHER_RANKS];  /* before it is put anew */
} gather_window_t;

/* what this rank's counters have come to, when nobody is at it */
typedef struct gather_state {
    uint64_t count, leaves, hash;
} gather_state_t;

typedef struct gather {
    play_host_t *host;
    uint64_t seed;
    gather_kind_t kind; /* of this round; `kinds` that of the program */
    gather_kind_t kinds;
    keel_win_h win;
    gather_window_t *own;
    gather_state_t state; /* is part of every image: protected by gather_open() as @a id */
} gather_t;

/* the class of the atomics of programs whose atomics are all of one; KEEL_ATOMIC_LAST: of several */
keel_atomic_op_t gather_class(gather_kind_t kind);
/* it has not been said at init that this program waits: what it is told of requests is recorded from its second step on, and each rank waits in the first */
static inline int gather_is_untold(const play_host_t *host, gather_kind_t kind)
{
    return (kind == GATHER_LOOKS || kind == GATHER_UNFETCHED) && (host->params->flags & KEEL_PARAM_FLAG_WAITS) == 0;
}
/* some of them are fetched */
static inline int gather_fetches(gather_kind_t kind)
{
    return kind == GATHER_TICKETS || kind == GATHER_TURNS || kind == GATHER_OWN_TURNS || kind == GATHER_SEVERAL ||
           kind == GATHER_ALL;
}
/* each round has a kind of its own */
static inline int gather_is_several(gather_kind_t kinds)
{
    return kinds == GATHER_SEVERAL || kinds == GATHER_UNFETCHED || kinds == GATHER_ALL;
}
keel_status_t gather_open(gather_t *gather, keel_context_h ctx, unsigned id);
/* ranks ring[0..members), of which @a place is this one's, in round @a number of step @a step */
keel_status_t gather_round(gather_t *gather, const uint32_t *ring, uint32_t members, uint32_t place, uint64_t step,
                           unsigned number);
/* nobody is at it any more: what the counters are */
keel_status_t gather_check(const gather_t *gather);

#endif
