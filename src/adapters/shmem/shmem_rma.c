/* Puts, gets, signals, and their order. */
#include "shmem_globals.h"
#include "shmem_state.h"

#include <string.h>

static void put(void *dest, const void *source, size_t bytes, int is_nbi, int pe, const char *call)
{
    keel_shmem_place_t place;
    keel_status_t status;

    if (keel_shmem_begin(call) || bytes == 0) {
        return;
    }
    place = keel_shmem_place(dest, bytes, pe, call);
    if (is_nbi) {
        status = KEEL_SHMEM_ALONE(keel_put_nbx(place.win, (uint32_t)pe, place.offset, source, bytes, NULL, NULL));
    } else {
        status = KEEL_SHMEM_ALONE(keel_put(place.win, (uint32_t)pe, place.offset, source, bytes));
    }
    keel_shmem_note_put();
    keel_shmem_end(status == KEEL_INPROGRESS ? KEEL_OK : status, call);
}

static void get(void *dest, const void *source, size_t bytes, int is_nbi, int pe, const char *call)
{
    keel_shmem_place_t place;
    keel_status_t status;

    keel_shmem_begin_reading(call);
    if (bytes == 0) {
        return;
    }
    if (!keel_shmem_is_in_heap(source, bytes) && !keel_shmem_globals_contain(source, bytes) &&
        keel_shmem_program_is_constant(&keel_shmem_globals.program, (uintptr_t)source, bytes)) {
        memmove(dest, source, bytes);
        return;
    }
    place = keel_shmem_place(source, bytes, pe, call);
    if (is_nbi) {
        status = KEEL_SHMEM_ALONE(keel_get_nbx(place.win, (uint32_t)pe, place.offset, dest, bytes, NULL, NULL));
    } else {
        status = KEEL_SHMEM_ALONE(keel_get(place.win, (uint32_t)pe, place.offset, dest, bytes));
    }
    keel_shmem_end(status == KEEL_INPROGRESS ? KEEL_OK : status, call);
}

void keel_shmem_put(void *dest, const void *source, size_t bytes, int pe, const char *call)
{
    put(dest, source, bytes, 0, pe, call);
}

void keel_shmem_get(void *dest, const void *source, size_t bytes, int pe, const char *call)
{
    get(dest, source, bytes, 0, pe, call);
}

/*
 * Describes elements at regular byte distances in the heap as a single access. Returns 0 if each
 * element needs an access.
 */
static int blocks_are_one(const void *remote, ptrdiff_t stride, ptrdiff_t buffer_stride, size_t nelems, size_t size,
                          keel_blocks_t *blocks_p)
{
    size_t span;

    if (stride < (ptrdiff_t)size || buffer_stride < 0 || nelems < 2 ||
        __builtin_mul_overflow(nelems - 1, (size_t)stride, &span) || __builtin_add_overflow(span, size, &span) ||
        !keel_shmem_is_in_heap(remote, span)) {
        return 0;
    }
    *blocks_p = (keel_blocks_t){
        .length = size, .count = nelems, .stride = (uint64_t)stride, .buffer_stride = (uint64_t)buffer_stride};
    return 1;
}

void keel_shmem_put_strided(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, size_t size,
                            int pe, const char *call)
{
    keel_shmem_place_t place;
    keel_blocks_t blocks;

    if (!blocks_are_one(dest, dst, sst, nelems, size, &blocks)) {
        for (size_t i = 0; i < nelems; i++) {
            put((char *)dest + (ptrdiff_t)i * dst, (const char *)source + (ptrdiff_t)i * sst, size, 0, pe, call);
        }
        return;
    }
    if (keel_shmem_begin(call)) {
        return;
    }
    place = keel_shmem_place(dest, size, pe, call);
    blocks.offset = place.offset;
    keel_shmem_end(KEEL_SHMEM_ALONE(keel_put_strided(place.win, (uint32_t)pe, &blocks, source)), call);
    keel_shmem_note_put();
}

static void get_strided(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, size_t size,
                        int pe, const char *call)
{
    keel_shmem_place_t place;
    keel_blocks_t blocks;

    if (!blocks_are_one(source, sst, dst, nelems, size, &blocks)) {
        for (size_t i = 0; i < nelems; i++) {
            get((char *)dest + (ptrdiff_t)i * dst, (const char *)source + (ptrdiff_t)i * sst, size, 1, pe, call);
        }
        keel_shmem_quiet(call);
        return;
    }
    keel_shmem_begin_reading(call);
    place = keel_shmem_place(source, size, pe, call);
    blocks.offset = place.offset;
    keel_shmem_end(KEEL_SHMEM_ALONE(keel_get_strided(place.win, (uint32_t)pe, &blocks, dest)), call);
}

/* ---- order ---- */

void keel_shmem_fence(const char *call)
{
    if (!keel_shmem_begin(call)) {
        keel_shmem_end(KEEL_SHMEM_ALONE(keel_fence(keel_shmem.ctx)), call);
    }
}

void keel_shmem_quiet(const char *call)
{
    if (!keel_shmem_begin(call)) {
        keel_shmem_end(KEEL_SHMEM_ALONE(keel_flush_all(keel_shmem.ctx)), call);
    }
}

KEEL_SHMEM_DEFINE(void, fence, (void))
{
    keel_shmem_fence(KEEL_SHMEM_CALL);
}

KEEL_SHMEM_DEFINE(void, quiet, (void))
{
    keel_shmem_quiet(KEEL_SHMEM_CALL);
}

/* ---- signals ---- */

typedef struct {
    uint64_t *address, signal;
    int op;
} signal_t;

/* Puts data and a signal. Sends both before returning, since the caller may look for an answer. */
static void put_signal(void *dest, const void *source, size_t bytes, const signal_t *signal, int pe, const char *call)
{
    keel_shmem_place_t at, place;
    keel_signal_t sent;

    if (signal->op != SHMEM_SIGNAL_SET && signal->op != SHMEM_SIGNAL_ADD) {
        keel_shmem_refuse(call, "no operation of a signal", (uint64_t)(int64_t)signal->op);
    }
    if (keel_shmem_begin(call)) {
        return;
    }
    at = keel_shmem_place(signal->address, sizeof(signal->signal), pe, call);
    place = (bytes > 0) ? keel_shmem_place(dest, bytes, pe, call) : at;
    sent = (keel_signal_t){.win = at.win,
                           .offset = at.offset,
                           .op = (signal->op == SHMEM_SIGNAL_SET) ? KEEL_SIGNAL_SET : KEEL_SIGNAL_ADD,
                           .value = signal->signal};
    keel_shmem_end(KEEL_SHMEM_ALONE(keel_put_signal(place.win, (uint32_t)pe, place.offset, source, bytes, &sent)),
                   call);
}

/* ---- functions of the interface; size: bytes of an element ---- */

#define PE        keel_shmem_pe(ctx, pe, KEEL_SHMEM_CALL)
#define CALL      KEEL_SHMEM_CALL
#define STRIDE(_) (_ * (ptrdiff_t)size)

#define DEFINE_BLOCKS(_put, _get, _type, _size)                                                         \
    KEEL_SHMEM_DEFINE_CTX(void, _put, (_type * dest, const _type *source, size_t nelems, int pe),       \
                          put(dest, source, keel_shmem_bytes(nelems, _size), 0, PE, CALL);)             \
    KEEL_SHMEM_DEFINE_CTX(void, _get, (_type * dest, const _type *source, size_t nelems, int pe),       \
                          get(dest, source, keel_shmem_bytes(nelems, _size), 0, PE, CALL);)             \
    KEEL_SHMEM_DEFINE_CTX(void, _put##_nbi, (_type * dest, const _type *source, size_t nelems, int pe), \
                          put(dest, source, keel_shmem_bytes(nelems, _size), 1, PE, CALL);)             \
    KEEL_SHMEM_DEFINE_CTX(void, _get##_nbi, (_type * dest, const _type *source, size_t nelems, int pe), \
                          get(dest, source, keel_shmem_bytes(nelems, _size), 1, PE, CALL);)             \
    DEFINE_SIGNAL(_put##_signal, _type, _size)                                                          \
    DEFINE_SIGNAL(_put##_signal_nbi, _type, _size)
#define DEFINE_SIGNAL(_name, _type, _size)                                                                           \
    KEEL_SHMEM_DEFINE_CTX(                                                                                           \
        void, _name,                                                                                                 \
        (_type * dest, const _type *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe), \
        const signal_t sent = {sig_addr, signal, sig_op};                                                            \
        put_signal(dest, source, keel_shmem_bytes(nelems, _size), &sent, PE, CALL);)
#define DEFINE_STRIDED(_iput, _iget, _type, _size)                                                                  \
    KEEL_SHMEM_DEFINE_CTX(void, _iput,                                                                              \
                          (_type * dest, const _type *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe), \
                          const size_t size = _size;                                                                \
                          keel_shmem_put_strided(dest, source, STRIDE(dst), STRIDE(sst), nelems, size, PE, CALL);)  \
    KEEL_SHMEM_DEFINE_CTX(void, _iget,                                                                              \
                          (_type * dest, const _type *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe), \
                          const size_t size = _size;                                                                \
                          get_strided(dest, source, STRIDE(dst), STRIDE(sst), nelems, size, PE, CALL);)

#define DEFINE_TYPE(_name, _type)                                                       \
    DEFINE_BLOCKS(_name##_put, _name##_get, _type, sizeof(_type))                       \
    DEFINE_STRIDED(_name##_iput, _name##_iget, _type, sizeof(_type))                    \
    KEEL_SHMEM_DEFINE_CTX(void, _name##_p, (_type * dest, _type value, int pe),         \
                          put(dest, &value, sizeof(value), 0, PE, CALL);)               \
    KEEL_SHMEM_DEFINE_CTX(_type, _name##_g, (const _type *source, int pe), _type value; \
                          get(&value, source, sizeof(value), 0, PE, CALL); return value;)
#define DEFINE_SIZE(_bits)                                   \
    DEFINE_BLOCKS(put##_bits, get##_bits, void, (_bits) / 8) \
    DEFINE_STRIDED(iput##_bits, iget##_bits, void, (_bits) / 8)

SHMEM_TYPES(DEFINE_TYPE)
SHMEM_SIZES(DEFINE_SIZE)
DEFINE_BLOCKS(putmem, getmem, void, 1)
