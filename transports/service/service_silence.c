/* Detection of a process without any answer from peers. */
#include "service_silence.h"

#include "shm/shm_sleeper.h"

#define SECOND_NS 1000000000ull
/* maximum time between two checks; in a longer interval this process did not run, and replies
 * may be waiting */
#define LOOK_MOST_NS SECOND_NS

void keel_service_silence_begin(keel_service_silence_t *alone)
{
    if (!alone->has_met && !alone->is_counting) {
        alone->is_counting = 1;
        alone->time_ns = 0;
        alone->looked_ns = keel_shm_now_ns();
    }
}

void keel_service_silence_end(keel_service_silence_t *alone)
{
    alone->has_met = 1;
    alone->is_counting = 0;
}

int keel_service_silence_is_too_long(keel_service_silence_t *alone, unsigned limit_s)
{
    uint64_t now, since_look;

    if (!alone->is_counting) {
        return 0;
    }
    now = keel_shm_now_ns();
    since_look = now - alone->looked_ns;
    alone->looked_ns = now;
    alone->time_ns += (since_look < LOOK_MOST_NS) ? since_look : LOOK_MOST_NS;
    alone->is_counting = (limit_s == 0) || (alone->time_ns < limit_s * SECOND_NS);
    return !alone->is_counting;
}
