/* Detection of a process without any answer from peers. */
#include "service_silence.h"

#include "shm/shm_sleeper.h"

#define SECOND_NS 1000000000ull
/* maximum time between two checks; in a longer interval this process did not run, and replies
 * may be waiting */
#define CHECK_MAX_NS SECOND_NS

void keel_service_silence_begin(keel_service_silence_t *silence)
{
    if (!silence->has_answer && !silence->is_counting) {
        silence->is_counting = 1;
        silence->time_ns = 0;
        silence->checked_ns = keel_shm_now_ns();
    }
}

void keel_service_silence_end(keel_service_silence_t *silence)
{
    silence->has_answer = 1;
    silence->is_counting = 0;
}

int keel_service_silence_is_too_long(keel_service_silence_t *silence, unsigned limit_s)
{
    uint64_t now, since_check;

    if (!silence->is_counting) {
        return 0;
    }
    now = keel_shm_now_ns();
    since_check = now - silence->checked_ns;
    silence->checked_ns = now;
    silence->time_ns += (since_check < CHECK_MAX_NS) ? since_check : CHECK_MAX_NS;
    silence->is_counting = (limit_s == 0) || (silence->time_ns < limit_s * SECOND_NS);
    return !silence->is_counting;
}
