/*
 * Collectives of active sets. Flags lie in pSync and are 0 again once all PEs have left. The set of
 * all PEs uses the flags of SHMEM_TEAM_WORLD if each PE puts only to PEs that it also waits for:
 * such flags need no reset, so the PE may leave at once. With several calling threads pSync is
 * used: another thread may be in a collective of that team.
 */
#include "teams/shmem_active.h"
#include "teams/shmem_collect.h"

_Static_assert(SHMEM_SYNC_VALUE == 0, "a flag that is not up");
_Static_assert(KEEL_SHMEM_FLAG_KINDS *KEEL_SHMEM_ROUNDS_MAX + KEEL_SHMEM_SINGLES +
                       KEEL_SHMEM_HEAD * KEEL_SHMEM_ROUNDS_MAX <=
                   SHMEM_SYNC_SIZE,
               "pSync has room for the flags");
_Static_assert(sizeof(long) == sizeof(uint64_t), "and for each of them");

static keel_shmem_set_t set_of(const keel_shmem_active_t *active)
{
    const char *call = active->call;
    const int64_t stride = (active->log_stride >= 0 && active->log_stride < 31) ? (int64_t)1 << active->log_stride : 0;
    int64_t me;

    (void)keel_shmem_begin(call);
    if (active->size <= 0 || stride == 0 || active->start < 0 ||
        active->start + (active->size - 1) * stride >= (int64_t)keel_shmem.pes) {
        keel_shmem_refuse(call, "no active set of so many PEs", (uint64_t)(int64_t)active->size);
    }
    me = (int64_t)keel_shmem.pe - active->start;
    if (me < 0 || me % stride != 0 || me / stride >= active->size) {
        keel_shmem_refuse(call, "this PE is not in the active set", keel_shmem.pe);
    }
    return (keel_shmem_set_t){.call = call,
                              .start = active->start,
                              .stride = (int)stride,
                              .size = (uint32_t)active->size,
                              .me = (uint32_t)(me / stride),
                              .rounds = keel_shmem_set_rounds((uint32_t)active->size),
                              .flags = (uint64_t *)active->sync};
}

static int is_world(const keel_shmem_set_t *set)
{
    return set->size == keel_shmem.pes && !keel_shmem_is_threaded;
}

static keel_shmem_set_t set_or_world_of(const keel_shmem_active_t *active)
{
    keel_shmem_set_t set = set_of(active);

    if (is_world(&set)) {
        (void)keel_shmem_team_set(SHMEM_TEAM_WORLD, active->call, &set);
    }
    return set;
}

static void meet(const keel_shmem_active_t *active, int is_barrier)
{
    keel_shmem_set_t set = set_of(active);

    if (is_world(&set)) {
        keel_shmem_barrier_of_world(active->call);
    } else if (!keel_shmem_begin(active->call)) {
        if (is_barrier) {
            keel_shmem_quiet(active->call);
        }
        keel_shmem_set_sync(&set);
    }
}

KEEL_SHMEM_DEFINE(void, barrier, (int PE_start, int logPE_stride, int PE_size, long *pSync))
{
    const keel_shmem_active_t active = {PE_start, logPE_stride, PE_size, pSync, KEEL_SHMEM_CALL};

    meet(&active, 1);
}

#undef shmem_sync
KEEL_SHMEM_DEFINE(void, sync, (int PE_start, int logPE_stride, int PE_size, long *pSync))
{
    const keel_shmem_active_t active = {PE_start, logPE_stride, PE_size, pSync, KEEL_SHMEM_CALL};

    meet(&active, 0);
}

/* ---- data ---- */

static void exchange(const keel_shmem_active_t *active, void *dest, const void *source,
                     const keel_shmem_elements_t *elements)
{
    keel_shmem_set_t set = set_or_world_of(active);

    keel_shmem_alltoall(&set, dest, source, elements);
}

#define ACTIVE                                                  \
    {                                                           \
        PE_start, logPE_stride, PE_size, pSync, KEEL_SHMEM_CALL \
    }
#define DEFINE_ACTIVE(_bits)                                                                                       \
    KEEL_SHMEM_DEFINE(void, broadcast##_bits,                                                                      \
                      (void *dest, const void *source, size_t nelems, int PE_root, int PE_start, int logPE_stride, \
                       int PE_size, long *pSync))                                                                  \
    {                                                                                                              \
        const keel_shmem_active_t active = ACTIVE;                                                                 \
        keel_shmem_set_t set = set_of(&active);                                                                    \
                                                                                                                   \
        keel_shmem_broadcast(&set, dest, source, keel_shmem_bytes(nelems, (_bits) / 8), PE_root);                  \
    }                                                                                                              \
    KEEL_SHMEM_DEFINE(                                                                                             \
        void, collect##_bits,                                                                                      \
        (void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride, int PE_size, long *pSync)) \
    {                                                                                                              \
        const keel_shmem_active_t active = ACTIVE;                                                                 \
        keel_shmem_set_t set = set_of(&active);                                                                    \
                                                                                                                   \
        keel_shmem_collect(&set, dest, source, keel_shmem_bytes(nelems, (_bits) / 8));                             \
    }                                                                                                              \
    KEEL_SHMEM_DEFINE(                                                                                             \
        void, fcollect##_bits,                                                                                     \
        (void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride, int PE_size, long *pSync)) \
    {                                                                                                              \
        const keel_shmem_active_t active = ACTIVE;                                                                 \
        keel_shmem_set_t set = set_of(&active);                                                                    \
                                                                                                                   \
        keel_shmem_fcollect(&set, dest, source, keel_shmem_bytes(nelems, (_bits) / 8));                            \
    }                                                                                                              \
    KEEL_SHMEM_DEFINE(                                                                                             \
        void, alltoall##_bits,                                                                                     \
        (void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride, int PE_size, long *pSync)) \
    {                                                                                                              \
        const keel_shmem_active_t active = ACTIVE;                                                                 \
        const keel_shmem_elements_t elements = {nelems, (_bits) / 8, 1, 1};                                        \
                                                                                                                   \
        exchange(&active, dest, source, &elements);                                                                \
    }                                                                                                              \
    KEEL_SHMEM_DEFINE(void, alltoalls##_bits,                                                                      \
                      (void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int PE_start,  \
                       int logPE_stride, int PE_size, long *pSync))                                                \
    {                                                                                                              \
        const keel_shmem_active_t active = ACTIVE;                                                                 \
        const keel_shmem_elements_t elements = {nelems, (_bits) / 8, dst, sst};                                    \
                                                                                                                   \
        exchange(&active, dest, source, &elements);                                                                \
    }
DEFINE_ACTIVE(32)
DEFINE_ACTIVE(64)

/* pWrk has at least half as many elements as the data; the rounds divide it among themselves. */
void keel_shmem_active_reduce(const keel_shmem_active_t *active, void *dest, const void *source,
                              const keel_shmem_numbers_t *numbers, void *work)
{
    keel_shmem_set_t set = set_or_world_of(active);
    const size_t half = numbers->count / 2 + 1;
    const size_t room = (half > SHMEM_REDUCE_MIN_WRKDATA_SIZE) ? half : SHMEM_REDUCE_MIN_WRKDATA_SIZE;

    if (set.turns == NULL) {
        set.places = work;
        set.place_bytes = room / (set.rounds + 1) * numbers->size;
    }
    keel_shmem_reduce(&set, dest, source, numbers);
}
