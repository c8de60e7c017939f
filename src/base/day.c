/* The local time of day. */
#include "base/day.h"

#include <time.h>

#define DAY_NS (86400u * UINT64_C(1000000000))

uint64_t keel_day_begin(uint64_t now_ns)
{
    struct timespec now;
    struct tm local;

    clock_gettime(CLOCK_REALTIME, &now);
    if (localtime_r(&now.tv_sec, &local) == NULL) {
        return 0;
    }
    return ((uint64_t)(local.tm_hour * 3600 + local.tm_min * 60 + local.tm_sec) * UINT64_C(1000000000) +
            (uint64_t)now.tv_nsec + DAY_NS - now_ns % DAY_NS) %
           DAY_NS;
}
