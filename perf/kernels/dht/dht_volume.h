/*
 * A hash table over all ranks [F 7.2.2]: each rank holds a local volume, a table of fixed size with
 * an overflow heap. Elements are numbered by inserting rank, then mixed by an invertible function.
 */
#ifndef KEEL_KERNEL_DHT_VOLUME_H_
#define KEEL_KERNEL_DHT_VOLUME_H_

#include "../lib/kernel.h"

typedef struct {
    keel_context_h ctx;
    keel_win_h win;
    uint32_t ranks;
    uint64_t slots; /* of the table at each rank */
    uint64_t cells; /* of the heap; number 0 means none */
} dht_t;

/* Result of a walk over the own volume. */
typedef struct {
    uint64_t elements, collisions;
    uint64_t hash;  /* of the elements and their places, in any order */
    uint64_t wrong; /* duplicate, misplaced, never inserted, or a cell that no chain reaches */
} dht_count_t;

size_t dht_volume_bytes(const dht_t *dht);

/* Number @a index of the elements, never 0. */
uint64_t dht_element(uint64_t index);

/* KEEL_ERR_RANGE: the heap of the target rank is full. */
keel_status_t dht_insert(const dht_t *dht, uint64_t element);

/* Counts the own volume after the last insert; @a total elements exist. KEEL_ERR_NO_MEMORY. */
keel_status_t dht_count(const dht_t *dht, uint64_t total, dht_count_t *count_p);

#endif
