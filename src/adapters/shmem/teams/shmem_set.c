#include "teams/shmem_set.h"

void keel_shmem_set_check(const keel_shmem_set_t *set, const void *dest, size_t bytes)
{
    if (bytes > 0) {
        (void)keel_shmem_place(dest, bytes, (int)keel_shmem.pe, set->call);
    }
}

void keel_shmem_set_begin(keel_shmem_set_t *set)
{
    set->turn = (set->turns != NULL) ? ++set->turns[0] : 1;
}

void keel_shmem_set_begin_with_places(keel_shmem_set_t *set)
{
    keel_shmem_set_begin(set);
    if (set->turns != NULL) {
        set->turns[1]++;
    }
}

/* Index of the current set of heads and places. */
static uint32_t side(const keel_shmem_set_t *set)
{
    return (set->turns != NULL) ? set->turns[1] & 1 : 0;
}

uint64_t *keel_shmem_set_head(const keel_shmem_set_t *set, uint32_t round)
{
    return set->flags + KEEL_SHMEM_FLAG_KINDS * set->rounds + KEEL_SHMEM_SINGLES +
           (size_t)KEEL_SHMEM_HEAD * (side(set) * set->rounds + round);
}

char *keel_shmem_set_place(const keel_shmem_set_t *set, uint32_t round)
{
    return set->places + (side(set) * (set->rounds + 1) + round) * set->place_bytes;
}

void keel_shmem_set_put(const keel_shmem_set_t *set, uint32_t to, void *dest, const void *source, size_t bytes)
{
    if (to != set->me) {
        keel_shmem_put(dest, source, bytes, keel_shmem_set_pe(set, to), set->call);
    } else if (dest != source && bytes > 0) {
        memmove(dest, source, bytes);
    }
}

void keel_shmem_set_signal(const keel_shmem_set_t *set, uint32_t to, uint64_t *flag)
{
    keel_shmem_fence(set->call);
    keel_shmem_put(flag, &set->turn, sizeof(set->turn), keel_shmem_set_pe(set, to), set->call);
}

void keel_shmem_set_await(const keel_shmem_set_t *set, uint64_t *flag)
{
    keel_shmem_await(flag, KEEL_COMPARE_GE, set->turn, set->call);
    if (set->turns == NULL) {
        *flag = 0;
    }
}

void keel_shmem_set_signal_all(const keel_shmem_set_t *set)
{
    for (uint32_t i = 1; i < set->size; i++) {
        keel_shmem_set_signal(set, (set->me + i) % set->size, keel_shmem_set_flag_of(set, set->me));
    }
}

void keel_shmem_set_await_all(const keel_shmem_set_t *set)
{
    for (uint32_t i = 1; i < set->size; i++) {
        keel_shmem_set_await(set, keel_shmem_set_flag_of(set, (set->me + i) % set->size));
    }
}

/* Dissemination barrier: after round k a PE knows of 2^(k + 1) arrivals, its own included. */
static void sync_team(keel_shmem_set_t *set)
{
    for (uint32_t k = 0; (uint32_t)1 << k < set->size; k++) {
        keel_shmem_set_signal(set, (set->me + ((uint32_t)1 << k)) % set->size,
                              keel_shmem_set_flag(set, KEEL_SHMEM_FORWARD, k));
        keel_shmem_set_await(set, keel_shmem_set_flag(set, KEEL_SHMEM_FORWARD, k));
    }
}

/*
 * Barrier up a binomial tree and down again. A released PE knows that all its flags were reset, and
 * may begin the next barrier at once.
 */
static void sync_active(keel_shmem_set_t *set)
{
    uint32_t k = 0;

    for (; (uint32_t)1 << k < set->size && (set->me >> k & 1) == 0; k++) {
        if ((set->me | (uint32_t)1 << k) < set->size) {
            keel_shmem_set_await(set, keel_shmem_set_flag(set, KEEL_SHMEM_UP, k));
        }
    }
    if (set->me != 0) {
        keel_shmem_set_signal(set, set->me & ~((uint32_t)1 << k), keel_shmem_set_flag(set, KEEL_SHMEM_UP, k));
        keel_shmem_set_await(set, keel_shmem_set_single(set, KEEL_SHMEM_DOWN));
    }
    while (k-- > 0) {
        if ((set->me | (uint32_t)1 << k) < set->size) {
            keel_shmem_set_signal(set, set->me | (uint32_t)1 << k, keel_shmem_set_single(set, KEEL_SHMEM_DOWN));
        }
    }
}

void keel_shmem_set_sync(keel_shmem_set_t *set)
{
    keel_shmem_set_begin(set);
    if (keel_shmem_set_is_direct(set)) {
        keel_shmem_set_signal_all(set);
        keel_shmem_set_await_all(set);
    } else if (set->turns != NULL) {
        sync_team(set);
    } else {
        sync_active(set);
    }
}
