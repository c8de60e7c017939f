/*
 * An insert takes the table's slot by compare-and-swap. If the slot is taken, the insert draws a
 * cell of the heap by fetch-and-add, fills the cell, makes it the last of the slot's chain by
 * compare-and-swap, and links it to the previous last cell. Only these words are contended: the
 * drawing rank writes a cell, and the rank of the next cell writes its link.
 */
#include "dht_volume.h"

#include <stddef.h>
#include <stdlib.h>

typedef struct {
    uint64_t element, next; /* element 0: empty */
} cell_t;

/*
 * Head of a volume, followed by the table, the number of the last cell of each slot's chain, and
 * the heap.
 */
typedef struct {
    uint64_t drawn; /* drawn cells of the heap */
    uint64_t reserved[7];
} head_t;

static size_t slot_offset(uint64_t slot)
{
    return sizeof(head_t) + slot * sizeof(cell_t);
}

static size_t last_offset(const dht_t *dht, uint64_t slot)
{
    return slot_offset(dht->slots) + slot * sizeof(uint64_t);
}

static size_t cell_offset(const dht_t *dht, uint64_t cell)
{
    return last_offset(dht, dht->slots) + cell * sizeof(cell_t);
}

size_t dht_volume_bytes(const dht_t *dht)
{
    return cell_offset(dht, dht->cells);
}

/* The finaliser of splitmix64; each step is invertible. */
uint64_t dht_element(uint64_t index)
{
    uint64_t mixed = index + 1;

    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ull;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebull;
    return mixed ^ (mixed >> 31);
}

static uint64_t index_of(uint64_t element)
{
    element = (element ^ (element >> 31) ^ (element >> 62)) * 0x319642b2d24d8ec3ull;
    element = (element ^ (element >> 27) ^ (element >> 54)) * 0x96de1b173f119089ull;
    return (element ^ (element >> 30) ^ (element >> 60)) - 1;
}

static uint32_t rank_of(const dht_t *dht, uint64_t element)
{
    return (uint32_t)(element % dht->ranks);
}

static uint64_t slot_of(const dht_t *dht, uint64_t element)
{
    return (element / dht->ranks) % dht->slots;
}

/* Appends a filled cell of the heap to the slot's chain. */
static keel_status_t append_cell(const dht_t *dht, uint32_t rank, uint64_t slot, uint64_t cell)
{
    uint64_t expected, last = 0;

    do {
        expected = last;
        KERNEL_TRY(
            keel_atomic(dht->win, KEEL_ATOMIC_CSWAP, rank, last_offset(dht, slot), sizeof cell, cell, expected, &last));
    } while (last != expected);
    KERNEL_TRY(keel_put(dht->win, rank,
                        ((last == 0) ? slot_offset(slot) : cell_offset(dht, last)) + offsetof(cell_t, next), &cell,
                        sizeof cell));
    return keel_flush(dht->ctx, rank);
}

keel_status_t dht_insert(const dht_t *dht, uint64_t element)
{
    const uint32_t rank = rank_of(dht, element);
    const uint64_t slot = slot_of(dht, element);
    uint64_t old, cell;

    KERNEL_TRY(keel_atomic(dht->win, KEEL_ATOMIC_CSWAP, rank, slot_offset(slot), sizeof old, element, 0, &old));
    if (old == 0) {
        return KEEL_OK;
    }
    KERNEL_TRY(keel_atomic(dht->win, KEEL_ATOMIC_ADD, rank, offsetof(head_t, drawn), sizeof cell, 1, 0, &cell));
    cell++; /* number 0 means none */
    if (cell >= dht->cells) {
        return KEEL_ERR_RANGE;
    }
    KERNEL_TRY(keel_put(dht->win, rank, cell_offset(dht, cell), &element, sizeof element));
    KERNEL_TRY(keel_flush(dht->ctx, rank));
    return append_cell(dht, rank, slot, cell);
}

/* ---- the check ---- */

static void count_cell(const dht_t *dht, uint64_t slot, uint64_t total, uint64_t element, uint64_t *is_found,
                       dht_count_t *count)
{
    const uint64_t index = index_of(element), bit = 1ull << (index % 64);

    if ((index >= total) || (rank_of(dht, element) != keel_rank(dht->ctx)) || (slot_of(dht, element) != slot) ||
        ((is_found[index / 64] & bit) != 0)) {
        count->wrong++;
        return;
    }
    is_found[index / 64] |= bit;
    count->elements++;
    count->hash += kernel_hash(KERNEL_HASH_START ^ slot, &element, sizeof element);
}

keel_status_t dht_count(const dht_t *dht, uint64_t total, dht_count_t *count_p)
{
    const char *const volume = keel_win_base(dht->win);
    const uint64_t drawn = ((const head_t *)volume)->drawn;
    uint64_t *is_found = calloc(total / 64 + 1, sizeof *is_found);
    uint64_t slot, next;

    if (is_found == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    *count_p = (dht_count_t){0};
    for (slot = 0; slot < dht->slots; slot++) {
        const cell_t *cell = (const cell_t *)(volume + slot_offset(slot));

        if (cell->element != 0) {
            count_cell(dht, slot, total, cell->element, is_found, count_p);
        }
        for (next = cell->next; (next != 0) && (count_p->collisions <= drawn); next = cell->next) {
            if (next >= dht->cells) {
                count_p->wrong++;
                break;
            }
            cell = (const cell_t *)(volume + cell_offset(dht, next));
            count_cell(dht, slot, total, cell->element, is_found, count_p);
            count_p->collisions++;
        }
    }
    count_p->wrong += (count_p->collisions != drawn);
    free(is_found);
    return KEEL_OK;
}
