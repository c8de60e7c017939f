/* Random hierarchies of failure domains for tests: uneven, and in any order of ranks. */
#ifndef KEEL_TESTS_TOPO_RANDOM_H_
#define KEEL_TESTS_TOPO_RANDOM_H_

#include "topo/domain.h"

#include "base/memory.h"

#include "unit.h"

#include <string.h>

/* Numbers a level in the order of first ranks, as the header promises. */
static inline void topo_random_number(uint32_t ranks, keel_domain_level_t *level, uint32_t raw)
{
    uint32_t *number = malloc(raw * sizeof(*number));

    memset(number, 0xff, raw * sizeof(*number));
    level->count = 0;
    for (uint32_t r = 0; r < ranks; r++) {
        uint32_t *own = &number[level->of_rank[r]];

        *own = (*own == UINT32_MAX) ? level->count++ : *own;
        level->of_rank[r] = *own;
    }
    free(number);
}

static inline void topo_random_domains(uint64_t *state, uint32_t ranks, uint32_t levels, keel_domains_t *domains)
{
    const int is_shuffled = unit_random(state) % 2;
    const int is_uneven = unit_random(state) % 2;

    domains->ranks = ranks;
    domains->level_count = levels;
    domains->levels = keel_alloc(levels * sizeof(*domains->levels), "levels");
    for (uint32_t l = 0; l < levels; l++) {
        domains->levels[l].name = strdup("level");
        domains->levels[l].of_rank = keel_alloc(ranks * sizeof(uint32_t), "of rank");
    }
    /* Nodes first, then each level maps the elements of the level below. */
    for (uint32_t l = 0; l < levels; l++) {
        keel_domain_level_t *level = &domains->levels[l];
        const uint32_t below = (l == 0) ? ranks : domains->levels[l - 1].count;
        const uint32_t raw = 1 + unit_random(state) % ((below + 1) / 2 + 1);
        uint32_t *up = malloc(below * sizeof(*up));

        for (uint32_t i = 0; i < below; i++) {
            up[i] = is_shuffled ? unit_random(state) % raw : (uint32_t)((uint64_t)i * raw / below);
            if (is_uneven && unit_random(state) % 4 == 0) {
                up[i] = unit_random(state) % (1 + raw / 8);
            }
        }
        for (uint32_t r = 0; r < ranks; r++) {
            level->of_rank[r] = up[(l == 0) ? r : domains->levels[l - 1].of_rank[r]];
        }
        free(up);
        topo_random_number(ranks, level, raw);
    }
}

#endif
