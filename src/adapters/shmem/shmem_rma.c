/* Puts, gets, signals, and their order. */
#include "shmem_state.h"

#include <string.h>

void keel_shmem_put(void *dest, const void *source, size_t bytes, int pe, const char *call)
{
    uint64_t offset;

    if (keel_shmem_begin(call) || bytes == 0) {
        return;
    }
    offset = keel_shmem_offset(dest, bytes, pe, call);
    keel_shmem_end(keel_put(keel_shmem.win, (uint32_t)pe, offset, source, bytes), call);
}

void keel_shmem_get(void *dest, const void *source, size_t bytes, int pe, const char *call)
{
    uint64_t offset;

    keel_shmem_begin_reading(call);
    if (bytes > 0) {
        offset = keel_shmem_offset(source, bytes, pe, call);
        keel_shmem_end(keel_get(keel_shmem.win, (uint32_t)pe, offset, dest, bytes), call);
    }
}

static void put_strided(char *dest, const char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, size_t size,
                        int pe, const char *call)
{
    for (size_t i = 0; i < nelems; i++) {
        keel_shmem_put(dest + (ptrdiff_t)i * dst * (ptrdiff_t)size, source + (ptrdiff_t)i * sst * (ptrdiff_t)size, size,
                       pe, call);
    }
}

static void get_strided(char *dest, const char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, size_t size,
                        int pe, const char *call)
{
    for (size_t i = 0; i < nelems; i++) {
        keel_shmem_get(dest + (ptrdiff_t)i * dst * (ptrdiff_t)size, source + (ptrdiff_t)i * sst * (ptrdiff_t)size, size,
                       pe, call);
    }
}

static void put_signal(void *dest, const void *source, size_t bytes, uint64_t *sig_addr, uint64_t signal, int sig_op,
                       int pe, const char *call)
{
    if (sig_op != SHMEM_SIGNAL_SET && sig_op != SHMEM_SIGNAL_ADD) {
        keel_shmem_refuse(call, "no operation of a signal", (uint64_t)(int64_t)sig_op);
    }
    keel_shmem_put(dest, source, bytes, pe, call);
    shmem_fence();
    keel_shmem_atomic(sig_op == SHMEM_SIGNAL_SET ? KEEL_ATOMIC_SWAP : KEEL_ATOMIC_ADD, sig_addr, sizeof(signal),
                      &signal, NULL, NULL, pe, call);
}

#define DEFINE_RMA(_name, _type)                                                                                       \
    void shmem_##_name##_put(_type *dest, const _type *source, size_t nelems, int pe)                                  \
    {                                                                                                                  \
        keel_shmem_put(dest, source, keel_shmem_bytes(nelems, sizeof(*dest)), pe, "shmem_" #_name "_put");             \
    }                                                                                                                  \
    void shmem_##_name##_get(_type *dest, const _type *source, size_t nelems, int pe)                                  \
    {                                                                                                                  \
        keel_shmem_get(dest, source, keel_shmem_bytes(nelems, sizeof(*dest)), pe, "shmem_" #_name "_get");             \
    }                                                                                                                  \
    void shmem_##_name##_put_nbi(_type *dest, const _type *source, size_t nelems, int pe)                              \
    {                                                                                                                  \
        keel_shmem_put(dest, source, keel_shmem_bytes(nelems, sizeof(*dest)), pe, "shmem_" #_name "_put_nbi");         \
    }                                                                                                                  \
    void shmem_##_name##_get_nbi(_type *dest, const _type *source, size_t nelems, int pe)                              \
    {                                                                                                                  \
        keel_shmem_get(dest, source, keel_shmem_bytes(nelems, sizeof(*dest)), pe, "shmem_" #_name "_get_nbi");         \
    }                                                                                                                  \
    void shmem_##_name##_p(_type *dest, _type value, int pe)                                                           \
    {                                                                                                                  \
        keel_shmem_put(dest, &value, sizeof(value), pe, "shmem_" #_name "_p");                                         \
    }                                                                                                                  \
    _type shmem_##_name##_g(const _type *source, int pe)                                                               \
    {                                                                                                                  \
        _type value;                                                                                                   \
                                                                                                                       \
        keel_shmem_get(&value, source, sizeof(value), pe, "shmem_" #_name "_g");                                       \
        return value;                                                                                                  \
    }                                                                                                                  \
    void shmem_##_name##_iput(_type *dest, const _type *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe)   \
    {                                                                                                                  \
        put_strided((char *)dest, (const char *)source, dst, sst, nelems, sizeof(*dest), pe, "shmem_" #_name "_iput"); \
    }                                                                                                                  \
    void shmem_##_name##_iget(_type *dest, const _type *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe)   \
    {                                                                                                                  \
        get_strided((char *)dest, (const char *)source, dst, sst, nelems, sizeof(*dest), pe, "shmem_" #_name "_iget"); \
    }                                                                                                                  \
    void shmem_##_name##_put_signal(_type *dest, const _type *source, size_t nelems, uint64_t *sig_addr,               \
                                    uint64_t signal, int sig_op, int pe)                                               \
    {                                                                                                                  \
        put_signal(dest, source, keel_shmem_bytes(nelems, sizeof(*dest)), sig_addr, signal, sig_op, pe,                \
                   "shmem_" #_name "_put_signal");                                                                     \
    }
SHMEM_TYPES(DEFINE_RMA)

void shmem_putmem(void *dest, const void *source, size_t nelems, int pe)
{
    keel_shmem_put(dest, source, nelems, pe, "shmem_putmem");
}

void shmem_getmem(void *dest, const void *source, size_t nelems, int pe)
{
    keel_shmem_get(dest, source, nelems, pe, "shmem_getmem");
}

void shmem_putmem_nbi(void *dest, const void *source, size_t nelems, int pe)
{
    keel_shmem_put(dest, source, nelems, pe, "shmem_putmem_nbi");
}

void shmem_getmem_nbi(void *dest, const void *source, size_t nelems, int pe)
{
    keel_shmem_get(dest, source, nelems, pe, "shmem_getmem_nbi");
}

void shmem_putmem_signal(void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op,
                         int pe)
{
    put_signal(dest, source, nelems, sig_addr, signal, sig_op, pe, "shmem_putmem_signal");
}

void shmem_fence(void)
{
    if (!keel_shmem_begin("shmem_fence")) {
        keel_shmem_end(keel_fence(keel_shmem.ctx), "shmem_fence");
    }
}

void shmem_quiet(void)
{
    if (!keel_shmem_begin("shmem_quiet")) {
        keel_shmem_end(keel_flush_all(keel_shmem.ctx), "shmem_quiet");
    }
}
