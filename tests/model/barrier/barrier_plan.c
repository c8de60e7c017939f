/* Random race-free programs in which each rank touches a few others, and the results
 * without a failure. */
#include "barrier.h"

#include <string.h>

uint32_t digest_mix(uint32_t a, uint32_t b)
{
    return (uint32_t)keel_random_mix(((uint64_t)a << 32) + b + 0x9e3779b97f4a7c15ull) | 1;
}

static void plan_add(plan_t *plan, int phase, int rank, access_kind_t kind, int target, int cell)
{
    phase_plan_t *of = &plan->phase[phase][rank];

    of->access[of->accesses++] = (access_t){kind, target, cell};
}

/* a rank to access the memory of target: mostly one with target as a neighbour */
static int plan_toucher(keel_random_t *random, int ranks, int neighbour[RANKS_MAX][2], int target)
{
    int candidate[2 * RANKS_MAX], candidates = 0, r;

    if (keel_random_chance(random, 120)) {
        return (int)keel_random_below(random, (uint32_t)ranks);
    }
    for (r = 0; r < ranks; ++r) {
        if ((neighbour[r][0] == target) || (neighbour[r][1] == target)) {
            candidate[candidates++] = r;
        }
    }
    return (candidates > 0) ? candidate[keel_random_below(random, (uint32_t)candidates)] : target;
}

/* A cell is written by its owner, or accessed by another rank, or got by up to two: no races
 * within a phase. */
static void plan_draw_cell(plan_t *plan, keel_random_t *random, int neighbour[RANKS_MAX][2], int phase, int target,
                           int cell)
{
    const uint32_t drawn = keel_random_below(random, 100);
    int k, toucher;

    if (drawn < 25) {
        plan_add(plan, phase, target, ACCESS_STORE, target, cell);
        if (keel_random_chance(random, 500)) {
            plan_add(plan, phase, target, ACCESS_LOAD, target, cell);
        }
    } else if (drawn < 60) {
        toucher = plan_toucher(random, plan->ranks, neighbour, target);
        for (k = 1 + (int)keel_random_below(random, 2); k > 0; --k) {
            plan_add(plan, phase, toucher, keel_random_chance(random, 700) ? ACCESS_PUT : ACCESS_GET, target, cell);
        }
    } else {
        for (k = (int)keel_random_below(random, 3); k > 0; --k) {
            plan_add(plan, phase, plan_toucher(random, plan->ranks, neighbour, target), ACCESS_GET, target, cell);
        }
        if (keel_random_chance(random, 300)) {
            plan_add(plan, phase, target, ACCESS_LOAD, target, cell);
        }
    }
}

/* the run without a failure: values depend on all values read before */
static void plan_execute(plan_t *plan)
{
    uint32_t digest[RANKS_MAX];
    phase_plan_t *of;
    access_t *access;
    int phase, r, i;

    for (r = 0; r < plan->ranks; ++r) {
        digest[r] = digest_mix((uint32_t)r, 7);
        for (i = 0; i < CELLS; ++i) {
            plan->memory[r][i] = digest_mix((uint32_t)r, (uint32_t)i);
        }
    }
    for (phase = 0; phase <= PHASES; ++phase) {
        for (r = 0; r < plan->ranks; ++r) {
            plan->phase[phase][r].first_digest = digest[r];
        }
        for (r = 0; r < plan->ranks; ++r) {
            of = &plan->phase[phase][r];
            for (i = 0; i < of->accesses; ++i) {
                access = &of->access[i];
                switch (access->kind) {
                case ACCESS_STORE:
                case ACCESS_PUT:
                    plan->memory[access->target][access->cell] =
                        digest_mix(digest[r], (uint32_t)(access->cell + 77 * access->target + 1000 * phase));
                    break;
                case ACCESS_LOAD:
                case ACCESS_GET:
                    digest[r] = digest_mix(digest[r], plan->memory[access->target][access->cell]);
                    break;
                }
                of->digest[i] = digest[r];
            }
        }
    }
}

void plan_draw(plan_t *plan, keel_random_t *random, int ranks)
{
    int neighbour[RANKS_MAX][2];
    phase_plan_t *of;
    int phase, r, cell, a;

    memset(plan, 0, sizeof(*plan));
    plan->ranks = ranks;
    for (r = 0; r < ranks; ++r) {
        neighbour[r][0] = (int)keel_random_below(random, (uint32_t)ranks);
        neighbour[r][1] = (int)keel_random_below(random, (uint32_t)ranks);
    }
    for (phase = 1; phase < PHASES; ++phase) {
        plan->is_checkpoint[phase] = keel_random_chance(random, 300);
    }
    for (phase = 0; phase < PHASES; ++phase) {
        for (r = 0; r < ranks; ++r) {
            for (cell = 0; cell < CELLS; ++cell) {
                plan_draw_cell(plan, random, neighbour, phase, r, cell);
            }
        }
        for (r = 0; r < ranks; ++r) {
            of = &plan->phase[phase][r];
            for (a = of->accesses; a > 1; --a) {
                const uint32_t b = keel_random_below(random, (uint32_t)a);
                const access_t other = of->access[a - 1];

                of->access[a - 1] = of->access[b];
                of->access[b] = other;
            }
        }
    }
    plan_execute(plan);
}
