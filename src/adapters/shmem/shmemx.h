/*
 * Extensions of Keel to OpenSHMEM 1.5: survival of PE deaths, also part of shmem.h, and the
 * functions below, under names that programs with shmem.h alone may define themselves.
 */
#ifndef KEEL_SHMEMX_H_
#define KEEL_SHMEMX_H_

#include "shmem.h"

#ifdef __cplusplus
extern "C" {
#endif

/** shmem_ptr() for a PE of the team. */
SHMEM_API void *shmemx_team_ptr(shmem_team_t team, const void *dest, int pe);
/**
 * The context of the job (keel_context_h), for calls of Keel beside OpenSHMEM's, such as those of
 * keel/store.h; link with -lkeel. Make stores before the restart point. NULL before shmem_init().
 */
SHMEM_API struct keel_context *shmemx_context(void);
/** Seconds of a monotonic clock with an arbitrary start. */
SHMEM_API double shmemx_wtime(void);

/**
 * Element-wise sum over the team's PEs up to the caller, inclusive or exclusive; 0 if there are
 * none. Collective like a reduction; dest and source are symmetric and may be equal.
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
