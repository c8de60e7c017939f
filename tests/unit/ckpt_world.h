/* A group on the fake lane, with images of random sizes, all drawn from a seed. */
#ifndef KEEL_TESTS_CKPT_WORLD_H_
#define KEEL_TESTS_CKPT_WORLD_H_

#include "ckpt/parity.h"

#include "ckpt_fake_lane.h"
#include "ckpt_random.h"

#define GROUP_MAX 9
#define STEPS_MAX 100000 /* more than any work takes; work that hangs fails */
#define PIECE     65536
#define AHEAD     4

typedef struct world {
    fake_lane_t lane;
    uint64_t random;
    uint32_t size, parities, ranks[GROUP_MAX];
    int is_dedicated;
    unsigned slot;
    uint8_t has[GROUP_MAX];
    uint64_t image_sizes[GROUP_MAX];
    uint8_t *images[GROUP_MAX], *shares[GROUP_MAX];
    size_t share_size;
    uint64_t products; /* count of products at the creation of the world */
} world_t;

keel_parity_group_t world_group(const world_t *w, uint32_t index);
uint64_t world_image_size(uint64_t *random);
void world_init_sized(world_t *w, uint64_t seed, uint32_t group_size, uint32_t parities,
                      uint64_t (*image_size)(uint64_t *random));
/* The first members hold parity and have no images. */
void world_init_dedicated(world_t *w, uint64_t seed, uint32_t group_size, uint32_t parities,
                          uint64_t (*image_size)(uint64_t *random));
void world_init(world_t *w, uint64_t seed);
void world_free(world_t *w);
keel_parity_t *world_parity(world_t *w, uint32_t index);
keel_parity_work_t world_work(const world_t *w, void *output);
/* Begin work of a member: its share, its image. */
keel_status_t world_begin_share(const world_t *w, keel_parity_t *parity, uint8_t *share);
keel_status_t world_begin_image(const world_t *w, keel_parity_t *parity, uint8_t *image);
/* Alternates steps and progress of the lane until the work ends. */
keel_status_t world_run(world_t *w, keel_parity_t *parity);
/* Encodes all shares. */
void world_encode(world_t *w);
/* With one parity all work since the creation was XOR, so no product was computed. With more
 * parities some products were computed. */
void world_check_products(const world_t *w);
/* world_output() returns memory with noise in and after it. world_check() checks that the expected
 * bytes were written, and no others. */
uint8_t *world_output(world_t *w, size_t length);
void world_check(const uint8_t *memory, const uint8_t *expected, size_t length);

#endif
