/*
 * The adapter's state: one window, of which the first part is hidden and the rest the symmetric heap. What has to survive lies in the
 * hidden part; this object is made anew in each process.
 */
#ifndef KEEL_SHMEM_STATE_H_
#define KEEL_SHMEM_STATE_H_

#include "shmem.h"
#include "shmem_blocks.h"
#include "shmem_threads.h"

#include <keel/keel.h>

#include <string.h>

/* a function of the interface, known by two names; the body follows */
#define KEEL_SHMEM_DEFINE(_result, _name, _arguments)                                \
    _result shmem_##_name _arguments __attribute__((weak, alias("pshmem_" #_name))); \
    _result pshmem_##_name _arguments
/* the same with a context: @a _arguments in parentheses, behind them the body of both; without one ctx is the default's */
#define KEEL_SHMEM_DEFINE_CTX(_result, _name, _arguments, ...)                             \
    KEEL_SHMEM_DEFINE(_result, _name, _arguments)                                          \
    {                                                                                      \
        const shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;                                         \
        __VA_ARGS__                                                                        \
    }                                                                                      \
    KEEL_SHMEM_DEFINE(_result, ctx_##_name, (shmem_ctx_t ctx, KEEL_SHMEM_LIST _arguments)) \
    {                                                                                      \
        __VA_ARGS__                                                                        \
    }
#define KEEL_SHMEM_LIST(...) __VA_ARGS__
/* in such a function: its name, as the program knows it */
#define KEEL_SHMEM_CALL (&__func__[1])

#define KEEL_SHMEM_HELD 8

typedef struct keel_shmem_hidden {
    uint64_t is_not_kept; /* some PE does not keep what it has through a restore */
    const long
        *held[KEEL_SHMEM_HELD]; /* locks that this PE has, as many as there is room for (shmem_lock.c); NULL: none */
    keel_shmem_blocks_t blocks; /* of the window: this, and the heap's */
} __attribute__((aligned(KEEL_SHMEM_ALIGN))) keel_shmem_hidden_t;

typedef struct keel_shmem {
    keel_context_h ctx; /* NULL: not between shmem_init() and shmem_finalize() */
    keel_win_h win;
    keel_shmem_hidden_t *hidden; /* the window's base */
    size_t bytes;                /* of the window */
    keel_win_h teams_win;
    struct keel_shmem_teams *teams; /* its base */
    uint32_t pe, pes;
    size_t last_any; /* of words, any of which was waited for: the one that was told */
    int lends;       /* pointers to other PEs' memory are given: no log is relied on */
    int is_due;      /* a replacement's: it has yet to come to its restart point */
    int unsent;      /* looks at memory after which what was put is sent, the oldest of it; 0: it was */
    int looks;       /* since the last put */
} keel_shmem_t;

extern keel_shmem_t keel_shmem;

/* ends the job with a message when the program has not begun; true when the call is to be left out, which the predecessor did */
int keel_shmem_begin(const char *call);
/* the same for one that reads what others have: that cannot be left out. Who looks again and again may wait for an answer to what it put
 * to somebody else and did not quiet: the second look in a row sends that, and so does the last of KEEL_SHMEM_LOOKS, in a row or not. */
void keel_shmem_begin_reading(const char *call);
#define KEEL_SHMEM_LOOKS 16
/* Behind a put: what another thread sends ahead of this has it. */
static inline void keel_shmem_note_put(void)
{
    __atomic_store_n(&keel_shmem.looks, 0, __ATOMIC_RELAXED);
    if (__atomic_load_n(&keel_shmem.unsent, __ATOMIC_SEQ_CST) == 0) {
        __atomic_store_n(&keel_shmem.unsent, KEEL_SHMEM_LOOKS, __ATOMIC_RELAXED);
    }
}
/* returns when that is KEEL_OK */
void keel_shmem_end(keel_status_t status, const char *call);
/* ends the job: a programming error */
void keel_shmem_refuse(const char *call, const char *what, uint64_t is) __attribute__((noreturn));
/* SIZE_MAX, which no heap has, when they are more than can be counted */
static inline size_t keel_shmem_bytes(size_t count, size_t size)
{
    return (count <= SIZE_MAX / size) ? count * size : SIZE_MAX;
}

/* where symmetric memory is */
typedef struct keel_shmem_place {
    keel_win_h win;
    uint64_t offset;
} keel_shmem_place_t;

/* shmem_setup.c: all of it lies in the heap */
int keel_shmem_is_of_heap(const void *address, size_t bytes);
/* refuses what is not symmetric as a whole, and PEs that are none */
keel_shmem_place_t keel_shmem_place(const void *address, size_t bytes, int pe, const char *call);

/* shmem_setup.c: of symmetric memory, which is refused where it is not; NULL: it is not mapped, or not to be given */
void *keel_shmem_pointer(const void *address, int pe, const char *call);

/* shmem_context.c: the world's number of a PE of the context's team */
int keel_shmem_ctx_pe(shmem_ctx_t ctx, int pe, const char *call);
static inline int keel_shmem_pe(shmem_ctx_t ctx, int pe, const char *call)
{
    return (ctx == SHMEM_CTX_DEFAULT) ? pe : keel_shmem_ctx_pe(ctx, pe, call);
}

/* shmem_heap.c: says what belongs into the next image */
keel_status_t keel_shmem_extents(void);
/* what was said may be of another heap than this, which was restored */
void keel_shmem_extents_forget(void);
/* shmem_safepoint.c: what is done before one; then the memory may go into an image */
keel_status_t keel_shmem_make_safe(void);
void keel_shmem_checkpoint(const char *call);

/* shmem_survive.c: from the newest checkpoint; where there is none the job ends */
void keel_shmem_restore(const char *call);

/* shmem_rma.c: blocking */
void keel_shmem_put(void *dest, const void *source, size_t bytes, int pe, const char *call);
void keel_shmem_get(void *dest, const void *source, size_t bytes, int pe, const char *call);
/* @a sst and @a dst: bytes from one element to the next */
void keel_shmem_put_strided(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, size_t size,
                            int pe, const char *call);
void keel_shmem_fence(const char *call);
void keel_shmem_quiet(const char *call);

/* shmem_atomic.c: operands are values, as wide as a register, so that no copy of them is waited for in memory */
typedef struct keel_shmem_atomic {
    keel_atomic_op_t op;
    size_t size; /* of the word: 4 or 8 */
    uint64_t operand, compare;
    void *result; /* NULL: not asked for */
    int is_nbi;   /* the result is there after a quiet */
} keel_shmem_atomic_t;
/* shmem_atomic.c: by which a word is looked at */
keel_atomic_op_t keel_shmem_fetch_op(void);
/* of a value of so many bytes */
static inline uint64_t keel_shmem_bits(const void *value, size_t size)
{
    uint64_t eight;
    uint32_t four;

    if (size == sizeof(four)) {
        memcpy(&four, value, sizeof(four));
        return four;
    }
    memcpy(&eight, value, sizeof(eight));
    return eight;
}
void keel_shmem_atomic(const keel_shmem_atomic_t *atomic, const void *dest, int pe, const char *call);

/* shmem_wait.c */
typedef struct keel_shmem_wait {
    const void *words;
    size_t count, size;
    const int *status;
    int cmp, is_signed;
    const void *values; /* size bytes */
    size_t value_step;  /* bytes from one word's value to the next one's; 0: one for all */
} keel_shmem_wait_t;

/* returns when that word of the own memory is @a value or more, or is not 0 */
void keel_shmem_await(const uint64_t *word, keel_compare_t compare, uint64_t value, const char *call);
/* how many are met; @a indices gets them, in order, NULL: they are not asked for. @a is_test: as it is now, 0 with ALL: not all are */
size_t keel_shmem_wait(const keel_shmem_wait_t *wait, keel_wait_for_t how, int is_test, size_t *indices,
                       const char *call);

/* shmem_team.c: a barrier of all PEs, which a replacement leaves out before its restart point */
void keel_shmem_meet(const char *call);

/* shmem_team_state.c: the window of teams, to be called in shmem_init() before any restore, and what it holds at first, behind it */
void keel_shmem_teams_alloc(const char *call);
void keel_shmem_teams_begin(void);
/* after a gsync, when all have begun: who shares memory with this PE; a replacement that restores has it from there */
void keel_shmem_teams_share(const char *call);
/* true when it is there */
int keel_shmem_teams_place(const void *address, size_t bytes, keel_shmem_place_t *place_p);
/* says what of it belongs into images */
keel_status_t keel_shmem_teams_extents(void);

#endif
