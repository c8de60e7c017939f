/* OpenSHMEM on Keel: puts, gets and signals. Part of shmem.h. */
#ifndef KEEL_SHMEM_RMA_H_
#define KEEL_SHMEM_RMA_H_

#include "shmem_def.h"

#ifdef __cplusplus
extern "C" {
#endif

/* _nbi forms: after a quiet the source may be changed, and fetched data is there */
#define SHMEM_DECLARE_BLOCKS(_put, _get, _type)                                                                      \
    SHMEM_FUNCTION_CTX(void, _put, _type *dest, const _type *source, size_t nelems, int pe)                          \
    SHMEM_FUNCTION_CTX(void, _get, _type *dest, const _type *source, size_t nelems, int pe)                          \
    SHMEM_FUNCTION_CTX(void, _put##_nbi, _type *dest, const _type *source, size_t nelems, int pe)                    \
    SHMEM_FUNCTION_CTX(void, _get##_nbi, _type *dest, const _type *source, size_t nelems, int pe)                    \
    SHMEM_FUNCTION_CTX(void, _put##_signal, _type *dest, const _type *source, size_t nelems, uint64_t *sig_addr,     \
                       uint64_t signal, int sig_op, int pe)                                                          \
    SHMEM_FUNCTION_CTX(void, _put##_signal_nbi, _type *dest, const _type *source, size_t nelems, uint64_t *sig_addr, \
                       uint64_t signal, int sig_op, int pe)
/* strides in elements */
#define SHMEM_DECLARE_STRIDED(_iput, _iget, _type)                                                                 \
    SHMEM_FUNCTION_CTX(void, _iput, _type *dest, const _type *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, \
                       int pe)                                                                                     \
    SHMEM_FUNCTION_CTX(void, _iget, _type *dest, const _type *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, \
                       int pe)
#define SHMEM_DECLARE_TYPE(_name, _type)                                  \
    SHMEM_DECLARE_BLOCKS(_name##_put, _name##_get, _type)                 \
    SHMEM_DECLARE_STRIDED(_name##_iput, _name##_iget, _type)              \
    SHMEM_FUNCTION_CTX(void, _name##_p, _type *dest, _type value, int pe) \
    SHMEM_FUNCTION_CTX(_type, _name##_g, const _type *source, int pe)
#define SHMEM_DECLARE_SIZE(_bits)                      \
    SHMEM_DECLARE_BLOCKS(put##_bits, get##_bits, void) \
    SHMEM_DECLARE_STRIDED(iput##_bits, iget##_bits, void)

SHMEM_TYPES(SHMEM_DECLARE_TYPE)
SHMEM_SIZES(SHMEM_DECLARE_SIZE)
SHMEM_DECLARE_BLOCKS(putmem, getmem, void)

SHMEM_FUNCTION(void, fence, (void))
SHMEM_FUNCTION(void, quiet, (void))
SHMEM_FUNCTION(uint64_t, signal_fetch, (const uint64_t *sig_addr))
SHMEM_FUNCTION(uint64_t, signal_wait_until, (uint64_t * sig_addr, int cmp, uint64_t cmp_value))

/*
 * ---- contexts: the specification lets accesses of each complete separately; here a quiet
 * completes all ----
 */

SHMEM_FUNCTION(int, ctx_create, (long options, shmem_ctx_t *ctx))
SHMEM_FUNCTION(int, team_create_ctx, (shmem_team_t team, long options, shmem_ctx_t *ctx))
SHMEM_FUNCTION(void, ctx_destroy, (shmem_ctx_t ctx))
SHMEM_FUNCTION(void, ctx_fence, (shmem_ctx_t ctx))
SHMEM_FUNCTION(void, ctx_quiet, (shmem_ctx_t ctx))
SHMEM_FUNCTION(int, ctx_get_team, (shmem_ctx_t ctx, shmem_team_t *team))

#undef SHMEM_DECLARE_SIZE
#undef SHMEM_DECLARE_TYPE
#undef SHMEM_DECLARE_STRIDED
#undef SHMEM_DECLARE_BLOCKS

#ifdef __cplusplus
}
#endif
#endif
