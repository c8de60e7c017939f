/* OpenSHMEM on Keel: teams and their collectives. Part of shmem.h. */
#ifndef KEEL_SHMEM_TEAMS_H_
#define KEEL_SHMEM_TEAMS_H_

#include "shmem_def.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- teams: functions with an int result return 0 on success ---- */

typedef struct {
    int num_contexts;
} shmem_team_config_t;

SHMEM_FUNCTION(int, team_my_pe, (shmem_team_t team))
SHMEM_FUNCTION(int, team_n_pes, (shmem_team_t team))
SHMEM_FUNCTION(int, team_get_config, (shmem_team_t team, long config_mask, shmem_team_config_t *config))
SHMEM_FUNCTION(int, team_translate_pe, (shmem_team_t src_team, int src_pe, shmem_team_t dest_team))
SHMEM_FUNCTION(int, team_split_strided,
               (shmem_team_t parent_team, int start, int stride, int size, const shmem_team_config_t *config,
                long config_mask, shmem_team_t *new_team))
SHMEM_FUNCTION(int, team_split_2d,
               (shmem_team_t parent_team, int xrange, const shmem_team_config_t *xaxis_config, long xaxis_mask,
                shmem_team_t *xaxis_team, const shmem_team_config_t *yaxis_config, long yaxis_mask,
                shmem_team_t *yaxis_team))
SHMEM_FUNCTION(void, team_destroy, (shmem_team_t team))

/* ---- collectives ---- */

SHMEM_FUNCTION(void, barrier_all, (void))
SHMEM_FUNCTION(void, sync_all, (void))
SHMEM_FUNCTION(int, team_sync, (shmem_team_t team))

#define SHMEM_DECLARE_COLLECTIVES(_broadcast, _collect, _fcollect, _alltoall, _alltoalls, _type)          \
    SHMEM_FUNCTION(int, _broadcast,                                                                       \
                   (shmem_team_t team, _type * dest, const _type *source, size_t nelems, int PE_root))    \
    SHMEM_FUNCTION(int, _collect, (shmem_team_t team, _type * dest, const _type *source, size_t nelems))  \
    SHMEM_FUNCTION(int, _fcollect, (shmem_team_t team, _type * dest, const _type *source, size_t nelems)) \
    SHMEM_FUNCTION(int, _alltoall, (shmem_team_t team, _type * dest, const _type *source, size_t nelems)) \
    SHMEM_FUNCTION(                                                                                       \
        int, _alltoalls,                                                                                  \
        (shmem_team_t team, _type * dest, const _type *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems))
#define SHMEM_DECLARE_COLLECTIVES_OF(_name, _type)                                                    \
    SHMEM_DECLARE_COLLECTIVES(_name##_broadcast, _name##_collect, _name##_fcollect, _name##_alltoall, \
                              _name##_alltoalls, _type)
SHMEM_TYPES(SHMEM_DECLARE_COLLECTIVES_OF)
SHMEM_DECLARE_COLLECTIVES(broadcastmem, collectmem, fcollectmem, alltoallmem, alltoallsmem, void)

#define SHMEM_DECLARE_REDUCE(_name, _type, _op) \
    SHMEM_FUNCTION(int, _name##_##_op##_reduce, (shmem_team_t team, _type * dest, const _type *source, size_t nreduce))
#define SHMEM_DECLARE_SUMS(_name, _type)    \
    SHMEM_DECLARE_REDUCE(_name, _type, sum) \
    SHMEM_DECLARE_REDUCE(_name, _type, prod)
#define SHMEM_DECLARE_EXTREMES(_name, _type) \
    SHMEM_DECLARE_REDUCE(_name, _type, min)  \
    SHMEM_DECLARE_REDUCE(_name, _type, max)
#define SHMEM_DECLARE_BITS(_name, _type)    \
    SHMEM_DECLARE_REDUCE(_name, _type, and) \
    SHMEM_DECLARE_REDUCE(_name, _type, or)  \
    SHMEM_DECLARE_REDUCE(_name, _type, xor)
SHMEM_TYPES(SHMEM_DECLARE_SUMS)
SHMEM_COMPLEX(SHMEM_DECLARE_SUMS)
SHMEM_TYPES(SHMEM_DECLARE_EXTREMES)
SHMEM_BIT_TYPES(SHMEM_DECLARE_BITS)

#undef SHMEM_DECLARE_BITS
#undef SHMEM_DECLARE_EXTREMES
#undef SHMEM_DECLARE_SUMS
#undef SHMEM_DECLARE_REDUCE
#undef SHMEM_DECLARE_COLLECTIVES_OF
#undef SHMEM_DECLARE_COLLECTIVES

#ifdef __cplusplus
}
#endif
#endif
