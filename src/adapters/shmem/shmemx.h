/*
 * What Keel has beyond OpenSHMEM 1.5: surviving the death of PEs, which shmem.h has, too, and what follows here, which programs that include
 * shmem.h alone may define for themselves.
 */
#ifndef KEEL_SHMEMX_H_
#define KEEL_SHMEMX_H_

#include "shmem.h"

#ifdef __cplusplus
extern "C" {
#endif

/** shmem_ptr() for a PE of the team. */
SHMEM_API void *shmemx_team_ptr(shmem_team_t team, const void *dest, int pe);
/** Seconds of a clock that goes on, since some time in the past. */
SHMEM_API double shmemx_wtime(void);

/**
 * Element by element, the sum of what the team's PEs up to the caller have, the caller included or not; 0 where there is none. Collective,
 * as a reduction is; dest and source, symmetric, may be the same.
 */
#define SHMEM_DECLARE_SCAN(_name, _type)                                                                           \
    SHMEM_API int shmemx_##_name##_sum_inscan(shmem_team_t team, _type *dest, const _type *source, size_t nelems); \
    SHMEM_API int shmemx_##_name##_sum_exscan(shmem_team_t team, _type *dest, const _type *source, size_t nelems);
SHMEM_TYPES(SHMEM_DECLARE_SCAN)
SHMEM_COMPLEX(SHMEM_DECLARE_SCAN)
#undef SHMEM_DECLARE_SCAN

#ifdef __cplusplus
}
#endif

#endif
