/* The same effects by calls without log records. */
#include "other_ways.h"

#include "try.h"

#include <stddef.h>

static keel_status_t put_by_pointer(keel_win_h win, uint32_t rank, uint64_t offset, uint64_t value)
{
    void *base;

    TRY(keel_win_ptr(win, rank, &base));
    if (base == NULL) {
        return keel_put(win, rank, offset, &value, sizeof(value));
    }
    __atomic_store_n((uint64_t *)(void *)((char *)base + offset), value, __ATOMIC_RELEASE);
    return KEEL_OK;
}

/* Puts twice, then reads: the accesses take effect in the order issued. */
static keel_status_t put_and_look(keel_win_h win, uint32_t rank, uint64_t offset, uint64_t value)
{
    const uint64_t before = ~value;
    uint64_t found = 0;

    TRY(keel_put(win, rank, offset, &before, sizeof(before)));
    TRY(keel_accumulate(win, KEEL_OP_REPLACE, KEEL_TYPE_UINT64, rank, offset, &value, 1, NULL));
    TRY(keel_accumulate(win, KEEL_OP_NO_OP, KEEL_TYPE_UINT64, rank, offset, NULL, 1, &found));
    return (found == value) ? KEEL_OK : KEEL_ERR_CORRUPT;
}

/* Puts two halves from separate places in the local buffer, and reads them back as four
 * quarters. */
static keel_status_t put_strided(keel_win_h win, uint32_t rank, uint64_t offset, uint64_t value)
{
    const uint64_t halves[2] = {value & UINT32_MAX, value >> 32};
    const keel_blocks_t put = {.length = 4, .count = 2, .offset = offset, .stride = 4, .buffer_stride = 8};
    const keel_blocks_t get = {.length = 2, .count = 4, .offset = offset, .stride = 2, .buffer_stride = 8};
    uint64_t quarters[4] = {0};

    TRY(keel_put_strided(win, rank, &put, halves));
    TRY(keel_get_strided(win, rank, &get, quarters));
    return (quarters[0] == (value & 0xffff) && quarters[3] == value >> 48) ? KEEL_OK : KEEL_ERR_CORRUPT;
}

keel_status_t other_put(keel_win_h win, uint32_t rank, uint64_t offset, uint64_t value, uint64_t way)
{
    switch (way % 5) {
    case 0:
        return put_by_pointer(win, rank, offset, value);
    case 1:
        return put_and_look(win, rank, offset, value);
    case 2:
        return keel_atomic(win, KEEL_ATOMIC_SET, rank, offset, sizeof(value), value, 0, NULL);
    case 3:
        return put_strided(win, rank, offset, value);
    default:
        return keel_accumulate(win, KEEL_OP_REPLACE, KEEL_TYPE_INT16, rank, offset, &value, 4, NULL);
    }
}

keel_status_t other_add(keel_win_h win, uint32_t rank, uint64_t offset, uint64_t value, uint64_t *found_p, uint64_t way)
{
    if (way % 2 == 0) { /* mixes with the instruction used by other ranks */
        return keel_atomic(win, KEEL_ATOMIC_ADD, rank, offset, sizeof(value), value, 0, found_p);
    }
    return keel_accumulate(win, KEEL_OP_SUM, KEEL_TYPE_UINT64, rank, offset, &value, 1, found_p);
}

keel_status_t other_lock(keel_win_h win, uint32_t rank, keel_lock_how_t how, uint64_t way)
{
    keel_status_t status = KEEL_INPROGRESS;

    if (way % 3 != 0) {
        return keel_win_lock(win, rank, how);
    }
    while (status == KEEL_INPROGRESS) {
        status = keel_win_trylock(win, rank, how);
    }
    return status;
}

static double part_of(uint64_t value)
{
    return (double)(value % 1024) / 2;
}

keel_status_t other_combine(keel_win_h win, uint32_t rank, uint64_t offset, uint64_t value, uint64_t way)
{
    const uint64_t most = offset + offsetof(other_words_t, most), least = offset + offsetof(other_words_t, least);
    const uint64_t sum = offset + offsetof(other_words_t, sum), bits = offset + offsetof(other_words_t, bits);
    const double part = part_of(value);
    uint64_t before;
    double parts;

    if (way % 2 == 0) {
        TRY(keel_atomic(win, KEEL_ATOMIC_MAX, rank, most, 8, value, 0, NULL));
    } else {
        TRY(keel_accumulate(win, KEEL_OP_MAX, KEEL_TYPE_UINT64, rank, most, &value, 1, &before));
    }
    TRY(keel_atomic(win, KEEL_ATOMIC_MIN_SIGNED, rank, least, 4, value, 0, (way & 2) ? &before : NULL));
    TRY(keel_atomic(win, KEEL_ATOMIC_ADD, rank, sum, 2, value, 0, (way & 4) ? &before : NULL));
    TRY(keel_accumulate(win, KEEL_OP_BOR, KEEL_TYPE_INT8, rank, bits, &value, 1, NULL));
    return keel_accumulate(win, KEEL_OP_SUM, KEEL_TYPE_DOUBLE, rank, offset + offsetof(other_words_t, parts), &part, 1,
                           (way & 8) ? &parts : NULL);
}

void other_combine_here(other_words_t *words, uint64_t value)
{
    words->most = (value > words->most) ? value : words->most;
    words->least = ((int32_t)value < words->least) ? (int32_t)value : words->least;
    words->sum = (uint16_t)(words->sum + value);
    words->bits = (uint8_t)(words->bits | value);
    words->parts += part_of(value);
}

const char *other_differs(const other_words_t *is, const other_words_t *want)
{
    if (is->most != want->most) {
        return "the largest";
    }
    if (is->least != want->least) {
        return "the least";
    }
    if (is->sum != want->sum || is->parts != want->parts) {
        return "a sum";
    }
    return (is->bits != want->bits) ? "the bits" : NULL;
}
