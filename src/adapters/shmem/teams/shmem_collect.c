/*
 * Data goes directly to its destination, which the program guarantees to be ready at all PEs when
 * the first PE begins. Broadcasts go down a binomial tree around the root; blocks are collected by
 * Bruck's algorithm: after round k a PE has its own block and the 2^(k + 1) - 1 blocks before, and
 * puts them to the PE at the same distance behind.
 */
#include "teams/shmem_collect.h"

/* Puts to the PEs at distance 2^k, from round @a k on. */
static void broadcast_down(const keel_shmem_set_t *set, void *dest, const void *source, size_t bytes,
                           uint32_t from_root, uint32_t k)
{
    for (; from_root + ((uint64_t)1 << k) < set->size; k++) {
        const uint32_t to = (set->me + ((uint32_t)1 << k)) % set->size;

        keel_shmem_set_put(set, to, dest, source, bytes);
        keel_shmem_set_signal(set, to, keel_shmem_set_flag(set, KEEL_SHMEM_FORWARD, k));
    }
}

/*
 * Acknowledges a broadcast in an active set. Programs alternate two work arrays, or reuse one at
 * once; so no PE leaves before the PEs below have received their flags.
 */
static void broadcast_ack(const keel_shmem_set_t *set, uint32_t from_root, uint32_t k)
{
    for (uint32_t i = k; from_root + ((uint64_t)1 << i) < set->size; i++) {
        keel_shmem_set_await(set, keel_shmem_set_flag(set, KEEL_SHMEM_ACK, i));
    }
    if (from_root > 0) {
        const uint32_t to = (set->me + set->size - ((uint32_t)1 << (k - 1))) % set->size;

        keel_shmem_set_signal(set, to, keel_shmem_set_flag(set, KEEL_SHMEM_ACK, k - 1));
    }
}

void keel_shmem_broadcast(keel_shmem_set_t *set, void *dest, const void *source, size_t bytes, int root)
{
    uint32_t from_root, k = 0; /* k: the first round of puts */

    keel_shmem_begin_reading(set->call);
    if (root < 0 || (uint32_t)root >= set->size) {
        keel_shmem_refuse(set->call, "there is no PE of this number", (uint64_t)(int64_t)root);
    }
    keel_shmem_set_check(set, dest, bytes);
    if (bytes == 0) {
        return;
    }
    keel_shmem_set_begin(set);
    from_root = (set->me + set->size - (uint32_t)root) % set->size;
    if (from_root > 0) {
        while (from_root >> k > 1) {
            k++;
        }
        keel_shmem_set_await(set, keel_shmem_set_flag(set, KEEL_SHMEM_FORWARD, k++));
        source = dest;
    }
    broadcast_down(set, dest, source, bytes, from_root, k);
    if (set->turns == NULL) {
        broadcast_ack(set, from_root, k);
    }
}

/* Leaves an active set together: as with broadcasts, the work array may be reused at once. */
static void leave_together(keel_shmem_set_t *set)
{
    if (set->turns == NULL) {
        keel_shmem_set_sync(set);
    }
}

void keel_shmem_fcollect(keel_shmem_set_t *set, void *dest, const void *source, size_t bytes)
{
    char *blocks = dest;

    keel_shmem_begin_reading(set->call);
    keel_shmem_set_check(set, dest, keel_shmem_bytes(bytes, set->size));
    if (bytes == 0) {
        return;
    }
    keel_shmem_set_begin(set);
    memmove(blocks + set->me * bytes, source, bytes);
    for (uint32_t k = 0; (uint32_t)1 << k < set->size; k++) {
        const uint32_t step = (uint32_t)1 << k, to = (set->me + step) % set->size;
        const uint32_t count = (step < set->size - step) ? step : set->size - step;
        const uint32_t begin = (set->me + set->size + 1 - count) % set->size;
        const uint32_t some = (count < set->size - begin) ? count : set->size - begin;

        keel_shmem_set_put(set, to, blocks + begin * bytes, blocks + begin * bytes, some * bytes);
        /* wraps around the set's beginning */
        keel_shmem_set_put(set, to, blocks, blocks, (count - some) * bytes);
        keel_shmem_set_signal(set, to, keel_shmem_set_flag(set, KEEL_SHMEM_FORWARD, k));
        keel_shmem_set_await(set, keel_shmem_set_flag(set, KEEL_SHMEM_FORWARD, k));
    }
    leave_together(set);
}

/* ---- blocks of any sizes ---- */

enum { HEAD_SUM, HEAD_BYTES, HEAD_TOTAL };

/* Bytes of the blocks before the caller's block. */
static uint64_t sizes_ahead(keel_shmem_set_t *set, uint64_t bytes)
{
    uint64_t sum = bytes;

    for (uint32_t k = 0; (uint32_t)1 << k < set->size; k++) {
        const uint32_t step = (uint32_t)1 << k;
        uint64_t *head = keel_shmem_set_head(set, k);

        if (set->me + step < set->size) {
            keel_shmem_set_put(set, set->me + step, &head[HEAD_SUM], &sum, sizeof(sum));
            keel_shmem_set_signal(set, set->me + step, keel_shmem_set_flag(set, KEEL_SHMEM_SCAN, k));
        }
        if (set->me >= step) {
            keel_shmem_set_await(set, keel_shmem_set_flag(set, KEEL_SHMEM_SCAN, k));
            sum += head[HEAD_SUM];
            head[HEAD_SUM] = 0;
        }
    }
    return sum - bytes;
}

/*
 * Puts the bytes before @a end to the same place at @a to. Bytes beyond the set's beginning wrap to
 * the end of all blocks.
 */
static void window_put(const keel_shmem_set_t *set, uint32_t to, char *dest, uint64_t end, const uint64_t *known)
{
    const uint64_t bytes = known[HEAD_BYTES - 1], total = known[HEAD_TOTAL - 1];
    const uint64_t near = (bytes < end) ? bytes : end, far = bytes - near;

    keel_shmem_set_put(set, to, dest + end - near, dest + end - near, near);
    if (far > 0) {
        keel_shmem_set_put(set, to, dest + total - far, dest + total - far, far);
    }
}

void keel_shmem_collect(keel_shmem_set_t *set, void *dest, const void *source, size_t bytes)
{
    uint64_t ahead, known[2]; /* bytes that this PE has, and bytes of all blocks, 0 if unknown */

    keel_shmem_begin_reading(set->call);
    keel_shmem_set_check(set, dest, bytes);
    keel_shmem_set_begin_with_places(set);
    ahead = sizes_ahead(set, bytes);
    known[0] = bytes;
    known[1] = (set->me == set->size - 1) ? ahead + bytes : 0;
    if (bytes > 0) {
        memmove((char *)dest + ahead, source, bytes);
    }
    for (uint32_t k = 0; (uint32_t)1 << k < set->size; k++) {
        const uint32_t to = (set->me + ((uint32_t)1 << k)) % set->size;
        uint64_t *head = keel_shmem_set_head(set, k);

        window_put(set, to, dest, ahead + bytes, known);
        keel_shmem_set_put(set, to, &head[HEAD_BYTES], known, sizeof(known));
        keel_shmem_set_signal(set, to, keel_shmem_set_flag(set, KEEL_SHMEM_FORWARD, k));
        keel_shmem_set_await(set, keel_shmem_set_flag(set, KEEL_SHMEM_FORWARD, k));
        known[0] += head[HEAD_BYTES];
        known[1] |= head[HEAD_TOTAL]; /* all PEs that know the total agree */
        head[HEAD_BYTES] = head[HEAD_TOTAL] = 0;
    }
    leave_together(set);
}

/* ---- one block to each PE ---- */

void keel_shmem_alltoall(keel_shmem_set_t *set, void *dest, const void *source, const keel_shmem_elements_t *elements)
{
    const size_t count = elements->count, size = elements->size;
    const ptrdiff_t dst = elements->dst * (ptrdiff_t)size, sst = elements->sst * (ptrdiff_t)size;
    char *to = (char *)dest + (ptrdiff_t)(set->me * count) * dst;

    keel_shmem_begin_reading(set->call);
    keel_shmem_set_check(set, dest, keel_shmem_bytes(keel_shmem_bytes(count, size), set->size));
    if (count == 0) {
        return;
    }
    for (uint32_t i = 0; i < set->size; i++) {
        const uint32_t other = (set->me + i) % set->size;
        const char *from = (const char *)source + (ptrdiff_t)(other * count) * sst;

        if (elements->dst == 1 && elements->sst == 1) {
            keel_shmem_set_put(set, other, to, from, keel_shmem_bytes(count, size));
        } else {
            keel_shmem_put_strided(to, from, dst, sst, count, size, keel_shmem_set_pe(set, other), set->call);
        }
    }
    keel_shmem_quiet(set->call);
    keel_shmem_set_sync(set);
}
