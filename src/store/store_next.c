/* Next holders: choice of the cells. */
#include "store/store_next.h"

#include "base/memory.h"
#include "check/plant.h"

#include <string.h>

enum { NEXT_PROBES = 8 }; /* candidates without a common domain; the least loaded gets the copy */

keel_status_t keel_store_next_init(keel_store_place_t *place, const keel_domains_t *domains)
{
    keel_store_next_t *next = &place->next;
    const keel_store_place_params_t *params = &place->params;
    const keel_status_t status = keel_domains_first(domains, params->ranks, &next->domains);

    if (status != KEEL_OK) {
        return status;
    }
    next->turn = keel_alloc(params->ranks * sizeof(*next->turn), "gone holders");
    next->used = keel_alloc(params->ranks * sizeof(*next->used), "spare cells");
    next->held = keel_alloc(params->spare * sizeof(*next->held), "spare cells");
    if (next->turn == NULL || next->used == NULL || next->held == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    for (uint64_t i = 0; i < params->spare; i++) {
        next->held[i].holder = KEEL_STORE_NO_HOLDER;
    }
    for (uint32_t level = 0; level < next->domains.level_count; level++) {
        next->shared += next->domains.levels[level].count == 1;
    }
    return KEEL_OK;
}

void keel_store_next_release(keel_store_place_t *place)
{
    keel_store_next_t *next = &place->next;

    keel_domains_release(&next->domains);
    keel_free(next->turn);
    keel_free(next->used);
    keel_free(next->held);
    keel_free(next->moved);
    *next = (keel_store_next_t){0};
}

/* The holders of a range's other copies. */
typedef struct holders {
    uint32_t count;
    uint32_t rank[KEEL_STORE_COPIES_MAX];
} holders_t;

static holders_t other_holders(const keel_store_place_t *place, uint64_t range, uint32_t copy)
{
    holders_t others = {0};

    for (uint32_t i = 0; i < place->params.copies; i++) {
        const uint32_t holder = (i != copy) ? keel_store_place_find(place, range, i).holder : KEEL_STORE_NO_HOLDER;

        if (holder != KEEL_STORE_NO_HOLDER) {
            others.rank[others.count++] = holder;
        }
    }
    return others;
}

static int is_candidate(const keel_store_place_t *place, const holders_t *others, uint32_t rank)
{
    if (place->next.turn[rank] != 0 || place->next.used[rank] == place->params.spare) {
        return 0;
    }
    for (uint32_t i = 0; i < others->count; i++) {
        if (others->rank[i] == rank) {
            return 0;
        }
    }
    return 1;
}

/* Number of levels at which the rank lies on one element with a remaining holder. */
static uint32_t levels_shared(const keel_store_place_t *place, const holders_t *others, uint32_t rank)
{
    const keel_domains_t *domains = &place->next.domains;
    uint32_t shared = 0;

    for (uint32_t level = 0; level < domains->level_count; level++) {
        const uint32_t *of_rank = domains->levels[level].of_rank;

        for (uint32_t i = 0; i < others->count; i++) {
            if (place->next.turn[others->rank[i]] == 0 && of_rank[others->rank[i]] == of_rank[rank]) {
                shared++;
                break;
            }
        }
    }
    return KEEL_PLANT(store_next_domains_unchecked) ? 0 : shared;
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    return (b == 0) ? a : common_divisor(b, a % b);
}

/* Takes a spare cell into use for the copy. */
static keel_store_cell_t next_cell(keel_store_place_t *place, uint64_t range, uint32_t copy)
{
    const holders_t others = other_holders(place, range, copy);
    const uint32_t all = place->params.ranks;
    const uint64_t drawn = keel_permute_mix(place->params.seed ^ (range * place->params.copies + copy));
    uint32_t step = 1 + (uint32_t)(drawn >> 32) % all, best = KEEL_STORE_NO_HOLDER, least = 0;
    unsigned good = 0;

    while (common_divisor(step, all) != 1) {
        step++;
    }
    for (uint32_t k = 0; k < all && good < NEXT_PROBES; k++) {
        const uint32_t rank = (uint32_t)(((uint32_t)drawn + (uint64_t)k * step) % all);
        uint32_t shared;

        if (!is_candidate(place, &others, rank)) {
            continue;
        }
        shared = levels_shared(place, &others, rank);
        good += shared <= place->next.shared;
        if (best == KEEL_STORE_NO_HOLDER || shared < least ||
            (shared == least && place->next.used[rank] < place->next.used[best])) {
            best = rank;
            least = shared;
        }
    }
    return (keel_store_cell_t){
        .holder = best,
        .index = (best == KEEL_STORE_NO_HOLDER) ? 0 : keel_store_place_cells(place) + place->next.used[best]++};
}

/* Moves the copy with the first place in cell @a index of @a rank. */
static void move_copy(keel_store_place_t *place, uint32_t rank, uint64_t index, keel_store_cell_t *moved)
{
    uint32_t copy;
    const uint64_t range = keel_store_place_range(place, rank, index, &copy);

    *moved = next_cell(place, range, copy);
    if (moved->holder == place->params.own) {
        place->next.held[moved->index - keel_store_place_cells(place)] =
            (keel_store_cell_t){.holder = rank, .index = index};
    }
}

keel_status_t keel_store_next_gone(keel_store_place_t *place, uint32_t rank)
{
    keel_store_next_t *next = &place->next;
    const uint64_t cells = keel_store_place_cells(place);
    keel_store_cell_t *moved = keel_alloc((next->gone + 1) * cells * sizeof(*moved), "copies of gone ranks");

    if (moved == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    if (next->gone > 0) {
        memcpy(moved, next->moved, next->gone * cells * sizeof(*moved));
    }
    for (uint64_t i = 0; i < cells; i++) {
        moved[next->gone * cells + i] = (keel_store_cell_t){.holder = rank, .index = i};
    }
    keel_free(next->moved);
    next->moved = moved;
    next->turn[rank] = ++next->gone;
    for (uint32_t r = 0; r < place->params.ranks; r++) {
        keel_store_cell_t *of_rank = (next->turn[r] != 0) ? &moved[(next->turn[r] - 1) * cells] : NULL;

        for (uint64_t i = 0; of_rank != NULL && i < cells; i++) {
            if (of_rank[i].holder == rank) {
                move_copy(place, r, i, &of_rank[i]);
            }
        }
    }
    return KEEL_OK;
}
