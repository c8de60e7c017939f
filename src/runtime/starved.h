/*
 * Whether a process that does not answer hangs, or gets no core. The thread that has to answer is looked at each time the
 * process is accused: one that wants a core answers when it has had one, and may live until it is accused again.
 *
 * Who judges may have had no core itself, and finds accusations one after the other that were made one after the other. One that comes
 * sooner after the last than the silence has grown is old: it says nothing of the time since, and decides nothing.
 *
 * Bound. KEEL_REPRIEVES_MAX times a silence, and who accuses does so again after each timeout: a process that is short of cores for
 * ever lasts so many timeouts longer than one that is stopped or asleep, which is given none, and one that has its core
 * and uses it for something else, one. Not all accusations are old: the silence does not grow faster than the judge's time.
 */
#ifndef KEEL_RUNTIME_STARVED_H_
#define KEEL_RUNTIME_STARVED_H_

#include "process.h"

#define KEEL_REPRIEVES_MAX 8
#define KEEL_STARVED_PART  4 /* one part in so many of its time spent waiting for a core: it is short of one */
#define KEEL_BUSY_PART     2 /* and more than that on a core: it is not */

/* what became of the last accusation by somebody; begins with zeros */
typedef struct keel_reprieve {
    keel_sight_t seen;   /* of the accused, then */
    uint64_t silence_ns; /* that it was accused of */
    unsigned given;      /* of that silence, so far */
} keel_reprieve_t;

/* Whether the accused, seen now, is to live until it is accused again. @a repeats: keel_suspicion_t. */
int keel_starved_is_reprieved(keel_reprieve_t *last, const keel_sight_t *now, uint32_t repeats, uint64_t silence_ns);

#endif
