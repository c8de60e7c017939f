/*
 * Checks invariant 4 by decoding: at any instant, if at most m members of a group lack an image or
 * share, every member's image of the newest generation in use can be computed from the memory of
 * the others. The check takes the places of chunks from ckpt/stripes.h and the definition of parity
 * from code/rs.h, and solves the equations by itself.
 */
#ifndef KEEL_SIM_PARITY_H_
#define KEEL_SIM_PARITY_H_

#include "engine/context.h"
#include "sim/random.h"

typedef struct parity_check {
    uint32_t ranks;
    const keel_context_h *ctx; /* by rank; NULL: dead, or not yet in a job */
    const keel_groups_t *groups;
    uint32_t parities;
    int is_dedicated;
    keel_random_t *random; /* draws the additional members that are assumed lost */
    uint64_t decoded;      /* number of images, over all checks */
    char flaw[256];
} parity_check_t;

/* Returns 1 if every required image can be decoded; 0 with check->flaw set. */
int parity_check(parity_check_t *check);

#endif
