/*
 * Decides whether an unresponsive process hangs or lacks a core. Each accusation looks at the
 * thread that has to answer: a thread that waits for a core answers after its turn, and is
 * reprieved until the next accusation.
 *
 * The judge itself may have had no core and then finds a backlog of accusations. An accusation that
 * arrives sooner after the last than the silence has grown is old: it says nothing about the time
 * since, and decides nothing.
 *
 * Bound: KEEL_REPRIEVES_MAX reprieves per silence, and one accusation per timeout. A process that
 * lacks cores forever lasts KEEL_REPRIEVES_MAX timeouts longer than a stopped or sleeping process,
 * which gets no reprieve; a process that uses its core for other work gets a single reprieve. Not
 * all accusations are old: the silence does not grow faster than the judge's time.
 */
#ifndef KEEL_RUNTIME_STARVED_H_
#define KEEL_RUNTIME_STARVED_H_

#include "process.h"

#define KEEL_REPRIEVES_MAX 8
#define KEEL_STARVED_PART  4 /* short of cores: waited for a core at least 1/4 of the time */
#define KEEL_BUSY_PART     2 /* not short of cores: ran more than 1/2 of the time */

/* State of the last accusation; starts zeroed. */
typedef struct keel_reprieve {
    keel_sight_t seen;   /* the accused thread at that time */
    uint64_t silence_ns; /* silence of the accusation */
    unsigned given;      /* reprieves given in the present silence */
} keel_reprieve_t;

/*
 * True if the accused, in its state @a now, lives until the next accusation. @a repeats: see
 * keel_suspicion_t.
 */
int keel_starved_is_reprieved(keel_reprieve_t *last, const keel_sight_t *now, uint32_t repeats, uint64_t silence_ns);

#endif
