/*
 * Placement of the copies of a store: pure functions of the failure domains, so that every process
 * of every life computes the same holders without communication.
 *
 * The data of each rank is cut into ranges. The ranks are divided into sets, one for each count of
 * copies, by the dealing of topo/group: no placement has fewer members of a set on one element of
 * the failure domains, at all levels at once. A permutation of all ranges gives each range a
 * location, which is a rank; the copies lie at that rank and at the next members of its set. So
 * few combinations of dead ranks lose data [R IV-B], and the data of one rank is spread over all.
 * Each rank holds as many ranges as the permutation has for one rank, for each copy: the memory is
 * equal everywhere, and holder and cell of a range follow without a directory. Copies of gone
 * ranks lie in spare cells (store_next).
 */
#ifndef KEEL_STORE_STORE_PLACE_H_
#define KEEL_STORE_STORE_PLACE_H_

#include "store/store_permute.h"
#include "topo/group.h"

#define KEEL_STORE_COPIES_MAX 32u
#define KEEL_STORE_NO_HOLDER  UINT32_MAX
#define KEEL_STORE_NO_RANGE   UINT64_MAX

typedef struct keel_store_place_params {
    uint32_t ranks;  /* ranks that run the program: the first ones of the domains */
    uint32_t copies; /* at most the number of ranks */
    uint64_t ranges; /* of each rank */
    uint64_t seed;
    /* The first copy of a range lies at the rank that submits it. */
    int is_consecutive;
    uint64_t spare; /* spare cells of each rank; 0: no rank is ever gone */
    uint32_t own;   /* keel_store_place_range() knows the spare cells of this rank */
} keel_store_place_params_t;

/* A copy of a range: the rank that holds it, and the number of the cell there. */
typedef struct keel_store_cell {
    uint32_t holder; /* KEEL_STORE_NO_HOLDER: the copy is gone, and no rank has room */
    uint64_t index;  /* below copies * ranges; from there on spare cells */
} keel_store_cell_t;

/* Next holders of the copies of gone ranks (store_next). */
typedef struct keel_store_next {
    keel_domains_t domains;
    uint32_t shared; /* levels with one element, which all ranks share */
    uint32_t gone;   /* number of gone ranks */
    uint32_t *turn;  /* by rank: place in the order of the gone, from 1; 0: there */
    uint32_t *used;  /* by rank: spare cells in use */
    /* by place in that order and by cell of the gone rank: the cell that has the copy now */
    keel_store_cell_t *moved;
    keel_store_cell_t *held; /* by own spare cell: the first cell of the copy */
} keel_store_next_t;

typedef struct keel_store_place {
    keel_store_place_params_t params;
    keel_permutation_t order;
    keel_groups_t sets;
    keel_store_next_t next;
} keel_store_place_t;

/* KEEL_ERR_INVALID_PARAM: more copies than ranks, or a number is 0; KEEL_ERR_NO_MEMORY. */
keel_status_t keel_store_place_init(keel_store_place_t *place, const keel_domains_t *domains,
                                    const keel_store_place_params_t *params);
void keel_store_place_release(keel_store_place_t *place);
/* @param range  rank that submits * ranges + number of the range there */
keel_store_cell_t keel_store_place_find(const keel_store_place_t *place, uint64_t range, uint32_t copy);
/* The range of a cell, and in *copy_p which of its copies the cell holds. KEEL_STORE_NO_RANGE: a
 * spare cell that is not in use. Spare cells of the own rank only. */
uint64_t keel_store_place_range(const keel_store_place_t *place, uint32_t holder, uint64_t index, uint32_t *copy_p);
/* Cells of each rank without the spare ones. */
static inline uint64_t keel_store_place_cells(const keel_store_place_t *place)
{
    return place->params.copies * place->params.ranges;
}
static inline int keel_store_place_is_gone(const keel_store_place_t *place, uint32_t rank)
{
    return place->next.gone > 0 && place->next.turn[rank] != 0;
}

#endif
