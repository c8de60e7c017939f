/* Think time of the store: f * d * exp(-d * x) [F 7.2.2], x uniform in (0, 4), d = 1. */
#ifndef KEEL_KERNEL_DHT_THINK_H_
#define KEEL_KERNEL_DHT_THINK_H_

#include <math.h>
#include <stdint.h>

#define DHT_THINK_DELTA 1.0
#define DHT_THINK_END   4.0

/* Think time with f chosen for a mean of 1 over all @a random bits. */
static inline double dht_think(uint64_t random)
{
    const double x = ldexp((double)(random >> 11), -53) * DHT_THINK_END;
    const double mean = (1 - exp(-DHT_THINK_DELTA * DHT_THINK_END)) / DHT_THINK_END;

    return DHT_THINK_DELTA * exp(-DHT_THINK_DELTA * x) / mean;
}

#endif
