/*
 * In a team of few PEs, each puts small data to all others and reduces in the order of PEs.
 * Otherwise small data is reduced by recursive doubling, a chunk at a time: in round k, PEs at
 * distance 2^k exchange their partial results; a PE beyond the largest power of two first gives its
 * data to a lower PE and finally receives the result. The lower PE's operand stands on the left, so
 * all results have the same bits. Large data is cut into one block per PE; each PE gets its block
 * from all others and puts the result to them.
 */
#include "teams/shmem_reduce.h"

_Static_assert(KEEL_SHMEM_DIRECT_PES_MAX *KEEL_SHMEM_DIRECT_BYTES_MAX <= KEEL_SHMEM_CHUNK,
               "a place has room for what few PEs put");

/* bytes of a PE's block from which on getting it from all PEs pays off */
enum { BLOCK_LEAST = 512 };

static uint32_t power_below(uint32_t size)
{
    uint32_t power = 1;

    while (power <= size / 2) {
        power *= 2;
    }
    return power;
}

static void give(const keel_shmem_set_t *set, uint32_t to, uint32_t place, const void *sum, size_t bytes)
{
    keel_shmem_set_put(set, to, keel_shmem_set_place(set, place), sum, bytes);
}

/*
 * Combines with the lower PE's data in @a place as the left operand. The contents of @a place are
 * undefined afterwards.
 */
static void combine_left(void *sum, void *place, const keel_shmem_numbers_t *numbers)
{
    numbers->combine(place, sum, numbers->count);
    memcpy(sum, place, numbers->count * numbers->size);
}

/*
 * Acknowledges a reduction in an active set. Programs reuse pWrk, and often pSync, at once; so no
 * PE leaves before the readers of its data.
 */
static void reduce_ack(const keel_shmem_set_t *set, uint32_t power, uint32_t extra)
{
    for (uint32_t k = 0; (uint32_t)1 << k < power; k++) {
        keel_shmem_set_signal(set, set->me ^ (uint32_t)1 << k, keel_shmem_set_flag(set, KEEL_SHMEM_ACK, k));
    }
    for (uint32_t k = 0; (uint32_t)1 << k < power; k++) {
        keel_shmem_set_await(set, keel_shmem_set_flag(set, KEEL_SHMEM_ACK, k));
    }
    if (set->me < extra) {
        keel_shmem_set_await(set, keel_shmem_set_single(set, KEEL_SHMEM_FOLD_ACK));
    }
}

static void reduce_direct(const keel_shmem_set_t *set, void *sum, const keel_shmem_numbers_t *numbers)
{
    const size_t bytes = numbers->count * numbers->size;
    char *place = keel_shmem_set_place(set, 0), *own = place + set->me * KEEL_SHMEM_DIRECT_BYTES_MAX;

    for (uint32_t i = 1; i < set->size; i++) {
        keel_shmem_set_put(set, (set->me + i) % set->size, own, sum, bytes);
    }
    keel_shmem_set_signal_all(set);
    memcpy(own, sum, bytes);
    keel_shmem_set_await_all(set);
    for (uint32_t i = 1; i < set->size; i++) {
        numbers->combine(place, place + i * KEEL_SHMEM_DIRECT_BYTES_MAX, numbers->count);
    }
    memcpy(sum, place, bytes);
}

/* Reduces a chunk that fits into the places; @a sum: the PE's own memory. */
static void reduce_chunk(keel_shmem_set_t *set, void *sum, const keel_shmem_numbers_t *numbers)
{
    const uint32_t power = power_below(set->size), extra = set->size - power, fold = set->rounds;
    const size_t bytes = numbers->count * numbers->size;

    keel_shmem_set_begin_with_places(set);
    if (keel_shmem_set_is_direct(set) && bytes <= KEEL_SHMEM_DIRECT_BYTES_MAX) {
        reduce_direct(set, sum, numbers);
        return;
    }
    if (set->me >= power) {
        give(set, set->me - power, fold, sum, bytes);
        keel_shmem_set_signal(set, set->me - power, keel_shmem_set_single(set, KEEL_SHMEM_FOLD_IN));
        keel_shmem_set_await(set, keel_shmem_set_single(set, KEEL_SHMEM_FOLD_OUT));
        memcpy(sum, keel_shmem_set_place(set, fold), bytes);
        if (set->turns == NULL) {
            keel_shmem_set_signal(set, set->me - power, keel_shmem_set_single(set, KEEL_SHMEM_FOLD_ACK));
        }
        return;
    }
    if (set->me < extra) {
        keel_shmem_set_await(set, keel_shmem_set_single(set, KEEL_SHMEM_FOLD_IN));
        numbers->combine(sum, keel_shmem_set_place(set, fold), numbers->count);
    }
    for (uint32_t k = 0; (uint32_t)1 << k < power; k++) {
        const uint32_t other = set->me ^ (uint32_t)1 << k;

        give(set, other, k, sum, bytes);
        keel_shmem_set_signal(set, other, keel_shmem_set_flag(set, KEEL_SHMEM_PAIR, k));
        keel_shmem_set_await(set, keel_shmem_set_flag(set, KEEL_SHMEM_PAIR, k));
        if (other < set->me) {
            combine_left(sum, keel_shmem_set_place(set, k), numbers);
        } else {
            numbers->combine(sum, keel_shmem_set_place(set, k), numbers->count);
        }
    }
    if (set->me < extra) {
        give(set, set->me + power, fold, sum, bytes);
        keel_shmem_set_signal(set, set->me + power, keel_shmem_set_single(set, KEEL_SHMEM_FOLD_OUT));
    }
    if (set->turns == NULL) {
        reduce_ack(set, power, extra);
    }
}

static void reduce_chunks(keel_shmem_set_t *set, char *dest, const char *source, const keel_shmem_numbers_t *numbers)
{
    char sum[KEEL_SHMEM_CHUNK] __attribute__((aligned(KEEL_SHMEM_ALIGN)));
    const size_t size = numbers->size, bytes = (set->place_bytes < sizeof(sum)) ? set->place_bytes : sizeof(sum);
    const size_t most = bytes / size;

    for (size_t at = 0; at < numbers->count; at += most) {
        const size_t some = (numbers->count - at < most) ? numbers->count - at : most;
        const keel_shmem_numbers_t chunk = {some, size, numbers->combine};

        memcpy(sum, source + at * size, some * size);
        reduce_chunk(set, sum, &chunk);
        memcpy(dest + at * size, sum, some * size);
    }
}

/* Reduces the caller's block over the data of all PEs. */
static void block_reduce(const keel_shmem_set_t *set, char *block, const char *source,
                         const keel_shmem_numbers_t *numbers)
{
    char others[KEEL_SHMEM_CHUNK] __attribute__((aligned(KEEL_SHMEM_ALIGN)));
    const size_t size = numbers->size, most = sizeof(others) / size;

    if (block != source) {
        memcpy(block, source, numbers->count * size);
    }
    for (uint32_t i = 1; i < set->size; i++) {
        const int pe = keel_shmem_set_pe(set, (set->me + i) % set->size);

        for (size_t at = 0; at < numbers->count; at += most) {
            const size_t some = (numbers->count - at < most) ? numbers->count - at : most;

            keel_shmem_get(others, source + at * size, some * size, pe, set->call);
            numbers->combine(block + at * size, others, some);
        }
    }
}

static void reduce_blocks(keel_shmem_set_t *set, char *dest, const char *source, const keel_shmem_numbers_t *numbers)
{
    const size_t share = (numbers->count + set->size - 1) / set->size, begin = set->me * share;
    const size_t end = (begin + share < numbers->count) ? begin + share : numbers->count;
    const keel_shmem_numbers_t block = {end > begin ? end - begin : 0, numbers->size, numbers->combine};
    char *own = dest + begin * numbers->size;

    keel_shmem_set_sync(set); /* the sources of all PEs are complete */
    if (block.count > 0) {
        block_reduce(set, own, source + begin * numbers->size, &block);
    }
    keel_shmem_set_sync(set); /* all PEs have read, in case dest is source */
    for (uint32_t i = 1; i < set->size; i++) {
        keel_shmem_set_put(set, (set->me + i) % set->size, own, own, block.count * block.size);
    }
    keel_shmem_quiet(set->call);
    keel_shmem_set_sync(set);
}

void keel_shmem_reduce(keel_shmem_set_t *set, void *dest, const void *source, const keel_shmem_numbers_t *numbers)
{
    const size_t bytes = keel_shmem_bytes(numbers->count, numbers->size);

    keel_shmem_begin_reading(set->call);
    keel_shmem_set_check(set, dest, bytes);
    if (bytes <= set->place_bytes || bytes / set->size < BLOCK_LEAST) {
        reduce_chunks(set, dest, source, numbers);
    } else {
        reduce_blocks(set, dest, source, numbers);
    }
}

static void words_and(void *sum, const void *other, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ((uint64_t *)sum)[i] &= ((const uint64_t *)other)[i];
    }
}

void keel_shmem_reduce_and(keel_shmem_set_t *set, uint64_t *word)
{
    const keel_shmem_numbers_t numbers = {1, sizeof(*word), words_and};

    reduce_chunk(set, word, &numbers);
}

/* ---- scans: in round k from the PE 2^k below ---- */

/*
 * @a sum: the PE's numbers, then those up to the caller; @a ahead: those below the caller, 0 if
 * none
 */
static void scan_chunk(keel_shmem_set_t *set, void *sum, void *ahead, const keel_shmem_numbers_t *numbers)
{
    const size_t bytes = numbers->count * numbers->size;
    int has_ahead = 0;

    keel_shmem_set_sync(set); /* ends only after all PEs have begun */
    keel_shmem_set_begin_with_places(set);
    memset(ahead, 0, bytes);
    for (uint32_t k = 0; (uint32_t)1 << k < set->size; k++) {
        const uint32_t step = (uint32_t)1 << k;
        char *place = keel_shmem_set_place(set, k);

        if (set->me + step < set->size) {
            give(set, set->me + step, k, sum, bytes);
            keel_shmem_set_signal(set, set->me + step, keel_shmem_set_flag(set, KEEL_SHMEM_SCAN, k));
        }
        if (set->me < step) {
            continue;
        }
        keel_shmem_set_await(set, keel_shmem_set_flag(set, KEEL_SHMEM_SCAN, k));
        if (has_ahead) {
            char both[KEEL_SHMEM_CHUNK] __attribute__((aligned(KEEL_SHMEM_ALIGN)));

            memcpy(both, place, bytes);
            combine_left(ahead, both, numbers);
        } else {
            memcpy(ahead, place, bytes);
            has_ahead = 1;
        }
        combine_left(sum, place, numbers);
    }
}

void keel_shmem_scan(keel_shmem_set_t *set, void *dest, const void *source, const keel_shmem_numbers_t *numbers,
                     int is_inclusive)
{
    char sum[KEEL_SHMEM_CHUNK] __attribute__((aligned(KEEL_SHMEM_ALIGN)));
    char ahead[KEEL_SHMEM_CHUNK] __attribute__((aligned(KEEL_SHMEM_ALIGN)));
    const size_t size = numbers->size, most = sizeof(sum) / size;

    keel_shmem_begin_reading(set->call);
    keel_shmem_set_check(set, dest, keel_shmem_bytes(numbers->count, size));
    for (size_t at = 0; at < numbers->count; at += most) {
        const size_t some = (numbers->count - at < most) ? numbers->count - at : most;
        const keel_shmem_numbers_t chunk = {some, size, numbers->combine};

        memcpy(sum, (const char *)source + at * size, some * size);
        scan_chunk(set, sum, ahead, &chunk);
        memcpy((char *)dest + at * size, is_inclusive ? sum : ahead, some * size);
    }
}
