/*
 * A hash table over all ranks [F 7.2.2]: each holds a local volume, a table of fixed size with an overflow heap. Elements
 * are numbered by who inserts them, and mixed so that the number can be had back from the element.
 */
#ifndef KEEL_KERNEL_DHT_VOLUME_H_
#define KEEL_KERNEL_DHT_VOLUME_H_

#include "../lib/kernel.h"

typedef struct {
    keel_context_h ctx;
    keel_win_h win;
    uint32_t ranks;
    uint64_t slots; /* of the table at each rank */
    uint64_t cells; /* of its heap, number 0 is none */
} dht_t;

/* What a walk over the own volume found. */
typedef struct {
    uint64_t elements, collisions;
    uint64_t hash;  /* of the elements and where they are, whatever their order */
    uint64_t wrong; /* twice there, in a wrong place, never inserted, or a cell that nothing leads to */
} dht_count_t;

size_t dht_volume_bytes(const dht_t *dht);

/* Number @a index of the elements, never 0. */
uint64_t dht_element(uint64_t index);

/* KEEL_ERR_RANGE when the heap of the rank whose turn it is is full. */
keel_status_t dht_insert(const dht_t *dht, uint64_t element);

/* Own volume, when nobody inserts; @a total elements were. KEEL_ERR_NO_MEMORY. */
keel_status_t dht_count(const dht_t *dht, uint64_t total, dht_count_t *count_p);

#endif
