/*
 * Decides whether an accused process lacks cores, from the thread's state and the change since the
 * last accusation.
 */
#include "starved.h"

#include <runtime_ops.h>

/* The change since the last look, or the thread's whole life on the first look. */
static keel_sight_t since(const keel_sight_t *before, const keel_sight_t *now)
{
    keel_sight_t sight = *now;

    if (before->pid == now->pid && before->lived_ns <= now->lived_ns && before->ran_ns <= now->ran_ns &&
        before->waited_ns <= now->waited_ns) { /* otherwise another thread */
        sight.lived_ns -= before->lived_ns;
        sight.ran_ns -= before->ran_ns;
        sight.waited_ns -= before->waited_ns;
    }
    return sight;
}

static int is_starved(const keel_sight_t *recent, int is_first)
{
    switch (recent->state) {
    case 'R': /* the first wait of a life counts only after its end */
        return is_first || KEEL_BUSY_PART * recent->ran_ns <= recent->lived_ns;
    case 'S': /* the thread may have had no core until a moment ago, with the answer on the way */
        return KEEL_STARVED_PART * recent->waited_ns >= recent->lived_ns;
    default:
        return 0;
    }
}

int keel_starved_is_reprieved(keel_reprieve_t *last, const keel_sight_t *now, uint32_t repeats, uint64_t silence_ns)
{
    const keel_sight_t recent = since(&last->seen, now);
    const int is_first = repeats == 0 || last->seen.pid != now->pid;
    const uint64_t grown_ns = (silence_ns > last->silence_ns) ? silence_ns - last->silence_ns : 0;
    int is_reprieved;

    last->silence_ns = silence_ns;
    if (!is_first && repeats != KEEL_REPEATS_ENOUGH && last->given > 0 && 2 * recent.lived_ns < grown_ns &&
        (now->state == 'R' || now->state == 'S')) {
        return 1;
    }
    if (is_first) { /* the arrival times of earlier accusations are unknown: each counts */
        last->given = repeats;
    }
    last->seen = *now;
    is_reprieved = now->pid != 0 && repeats != KEEL_REPEATS_ENOUGH && last->given < KEEL_REPRIEVES_MAX &&
                   is_starved(&recent, is_first);
    last->given += (unsigned)is_reprieved;
    return is_reprieved;
}
