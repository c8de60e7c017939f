/*
 * Invariant 4, by decoding: at any instant, with at most m members of a group without image or share, every member's image
 * of the newest generation in use can be computed from the memory of the others. Knows where chunks lie from
 * ckpt/stripes.h and what parity is from code/rs.h, and solves the equations by itself.
 */
#ifndef KEEL_SIM_PARITY_H_
#define KEEL_SIM_PARITY_H_

#include "engine/context.h"
#include "sim/random.h"

typedef struct parity_check {
    uint32_t ranks;
    const keel_context_h *ctx; /* by rank; NULL: dead, or not inside a job yet */
    const keel_groups_t *groups;
    uint32_t parities;
    int is_dedicated;
    keel_random_t *random; /* which members are thought to be lost too */
    uint64_t decoded;      /* images, in all checks */
    char flaw[256];
} parity_check_t;

/* 1 when every image that has to be there is; 0 with check->flaw set */
int parity_check(parity_check_t *check);

#endif
