/* Collectives of teams for data. */
#include "teams/shmem_collect.h"

static int broadcast(shmem_team_t team, void *dest, const void *source, size_t bytes, int root, const char *call)
{
    keel_shmem_set_t set;

    if (!keel_shmem_team_set(team, call, &set)) {
        return -1;
    }
    keel_shmem_broadcast(&set, dest, source, bytes, root);
    if ((uint32_t)root == set.me && dest != source && bytes > 0) {
        memmove(dest, source, bytes);
    }
    return 0;
}

static int collect(shmem_team_t team, void *dest, const void *source, size_t bytes, int is_equal, const char *call)
{
    keel_shmem_set_t set;

    if (!keel_shmem_team_set(team, call, &set)) {
        return -1;
    }
    if (is_equal) {
        keel_shmem_fcollect(&set, dest, source, bytes);
    } else {
        keel_shmem_collect(&set, dest, source, bytes);
    }
    return 0;
}

static int exchange(shmem_team_t team, void *dest, const void *source, const keel_shmem_elements_t *elements,
                    const char *call)
{
    keel_shmem_set_t set;

    if (!keel_shmem_team_set(team, call, &set)) {
        return -1;
    }
    keel_shmem_alltoall(&set, dest, source, elements);
    return 0;
}

/* @a _size: bytes of an element */
#define DEFINE_COLLECTIVES(_broadcast, _collect, _fcollect, _alltoall, _alltoalls, _type, _size)             \
    KEEL_SHMEM_DEFINE(int, _broadcast,                                                                       \
                      (shmem_team_t team, _type * dest, const _type *source, size_t nelems, int PE_root))    \
    {                                                                                                        \
        return broadcast(team, dest, source, keel_shmem_bytes(nelems, _size), PE_root, KEEL_SHMEM_CALL);     \
    }                                                                                                        \
    KEEL_SHMEM_DEFINE(int, _collect, (shmem_team_t team, _type * dest, const _type *source, size_t nelems))  \
    {                                                                                                        \
        return collect(team, dest, source, keel_shmem_bytes(nelems, _size), 0, KEEL_SHMEM_CALL);             \
    }                                                                                                        \
    KEEL_SHMEM_DEFINE(int, _fcollect, (shmem_team_t team, _type * dest, const _type *source, size_t nelems)) \
    {                                                                                                        \
        return collect(team, dest, source, keel_shmem_bytes(nelems, _size), 1, KEEL_SHMEM_CALL);             \
    }                                                                                                        \
    KEEL_SHMEM_DEFINE(int, _alltoall, (shmem_team_t team, _type * dest, const _type *source, size_t nelems)) \
    {                                                                                                        \
        const keel_shmem_elements_t elements = {nelems, _size, 1, 1};                                        \
                                                                                                             \
        return exchange(team, dest, source, &elements, KEEL_SHMEM_CALL);                                     \
    }                                                                                                        \
    KEEL_SHMEM_DEFINE(                                                                                       \
        int, _alltoalls,                                                                                     \
        (shmem_team_t team, _type * dest, const _type *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems)) \
    {                                                                                                        \
        const keel_shmem_elements_t elements = {nelems, _size, dst, sst};                                    \
                                                                                                             \
        return exchange(team, dest, source, &elements, KEEL_SHMEM_CALL);                                     \
    }
#define DEFINE_COLLECTIVES_OF(_name, _type)                                                                       \
    DEFINE_COLLECTIVES(_name##_broadcast, _name##_collect, _name##_fcollect, _name##_alltoall, _name##_alltoalls, \
                       _type, sizeof(_type))
SHMEM_TYPES(DEFINE_COLLECTIVES_OF)
DEFINE_COLLECTIVES(broadcastmem, collectmem, fcollectmem, alltoallmem, alltoallsmem, void, 1)
