/* The local time of day, for messages. */
#ifndef KEEL_BASE_DAY_H_
#define KEEL_BASE_DAY_H_

#include <stdint.h>

/* Time of day in nanoseconds when a clock that shows @a now_ns now showed 0. */
uint64_t keel_day_begin(uint64_t now_ns);

#endif
