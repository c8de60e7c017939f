/*
 * The adapter's state: one window with a hidden first part and the symmetric heap. Data that must
 * survive lies in the hidden part; this object is made anew in each process.
 */
#ifndef KEEL_SHMEM_STATE_H_
#define KEEL_SHMEM_STATE_H_

#include "shmem.h"
#include "shmem_blocks.h"
#include "shmem_threads.h"

#include <keel/keel.h>

#include <string.h>

/* Defines a function of the interface under both names; the body follows. */
#define KEEL_SHMEM_DEFINE(_result, _name, _arguments)                                \
    _result shmem_##_name _arguments __attribute__((weak, alias("pshmem_" #_name))); \
    _result pshmem_##_name _arguments
/*
 * Defines a function and its form with a context. @a _arguments is in parentheses, followed by the
 * body of both; without a context, ctx is the default context.
 */
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
/* name of the function for messages, as known to the program */
#define KEEL_SHMEM_CALL (&__func__[1])

#define KEEL_SHMEM_HELD 8

typedef struct keel_shmem_hidden {
    uint64_t is_not_kept; /* a PE does not keep its memory through a restore */
    /* locks held by this PE, as far as there is room (shmem_lock.c); NULL: a free entry */
    const long *held[KEEL_SHMEM_HELD];
    keel_shmem_blocks_t blocks; /* blocks of the window: this struct and the heap's blocks */
} __attribute__((aligned(KEEL_SHMEM_ALIGN))) keel_shmem_hidden_t;

typedef struct keel_shmem {
    keel_context_h ctx; /* NULL: not between shmem_init() and shmem_finalize() */
    keel_win_h win;
    keel_shmem_hidden_t *hidden; /* base of the window */
    size_t bytes;                /* of the window */
    keel_win_h teams_win;
    struct keel_shmem_teams *teams; /* base of teams_win */
    uint32_t pe, pes;
    size_t last_any_index; /* index last returned by a wait for any of several words */
    /* pointers to other PEs' memory are handed out: no log is relied on */
    int lends;
    int is_before_restart_point; /* a replacement that has not reached its restart point */
    /* looks at memory until the oldest unsent put is sent; 0: all puts are sent */
    int unsent;
    int looks; /* looks since the last put */
} keel_shmem_t;

extern keel_shmem_t keel_shmem;

/*
 * Begins a call. Ends the job with a message outside of init and finalize. Returns true if a
 * replacement must skip the call, since its predecessor has done it.
 */
int keel_shmem_begin(const char *call);
/*
 * Begins a call that reads other PEs' data and cannot be skipped. A program that looks repeatedly
 * may wait for the answer to a put that it did not quiet: the second look in a row sends pending
 * puts, and so does the last of KEEL_SHMEM_LOOKS looks, in a row or not.
 */
void keel_shmem_begin_reading(const char *call);
#define KEEL_SHMEM_LOOKS 16
/* Called after a put: whatever another thread then sends contains the put. */
static inline void keel_shmem_note_put(void)
{
    __atomic_store_n(&keel_shmem.looks, 0, __ATOMIC_RELAXED);
    if (__atomic_load_n(&keel_shmem.unsent, __ATOMIC_SEQ_CST) == 0) {
        __atomic_store_n(&keel_shmem.unsent, KEEL_SHMEM_LOOKS, __ATOMIC_RELAXED);
    }
}
/* Ends a call. Returns if @a status is KEEL_OK. */
void keel_shmem_end(keel_status_t status, const char *call);
/* Ends the job: a programming error. */
void keel_shmem_refuse(const char *call, const char *what, uint64_t is) __attribute__((noreturn));
/* Product of both; SIZE_MAX, larger than any heap, on overflow. */
static inline size_t keel_shmem_bytes(size_t count, size_t size)
{
    return (count <= SIZE_MAX / size) ? count * size : SIZE_MAX;
}

/* Location of symmetric memory. */
typedef struct keel_shmem_place {
    keel_win_h win;
    uint64_t offset;
} keel_shmem_place_t;

/* shmem_setup.c: true if the whole range lies in the heap */
int keel_shmem_is_in_heap(const void *address, size_t bytes);
/* Locates symmetric memory. Refuses ranges that are not entirely symmetric, and invalid PEs. */
keel_shmem_place_t keel_shmem_place(const void *address, size_t bytes, int pe, const char *call);

/*
 * shmem_setup.c: Address of symmetric memory of @a pe, refused if not symmetric. NULL: not mapped,
 * or not to be handed out.
 */
void *keel_shmem_pointer(const void *address, int pe, const char *call);

/* shmem_context.c: number in the world of a PE of the context's team */
int keel_shmem_ctx_pe(shmem_ctx_t ctx, int pe, const char *call);
static inline int keel_shmem_pe(shmem_ctx_t ctx, int pe, const char *call)
{
    return (ctx == SHMEM_CTX_DEFAULT) ? pe : keel_shmem_ctx_pe(ctx, pe, call);
}

/* shmem_heap.c: announces the extents of the next image. */
keel_status_t keel_shmem_extents(void);
/* Forgets the announced extents, after a restore of another heap. */
void keel_shmem_extents_forget(void);
/* shmem_safepoint.c: prepares a safe point; afterwards the memory may go into an image. */
keel_status_t keel_shmem_make_safe(void);
void keel_shmem_checkpoint(const char *call);

/* shmem_survive.c: restores the newest checkpoint; ends the job if there is none. */
void keel_shmem_restore(const char *call);

/* shmem_rma.c: blocking calls */
void keel_shmem_put(void *dest, const void *source, size_t bytes, int pe, const char *call);
void keel_shmem_get(void *dest, const void *source, size_t bytes, int pe, const char *call);
/* @a sst and @a dst: strides in bytes */
void keel_shmem_put_strided(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, size_t size,
                            int pe, const char *call);
void keel_shmem_fence(const char *call);
void keel_shmem_quiet(const char *call);

/* shmem_atomic.c. Operands are register-wide values, so no call waits for copies in memory. */
typedef struct keel_shmem_atomic {
    keel_atomic_op_t op;
    size_t size; /* of the word: 4 or 8 */
    uint64_t operand, compare;
    void *result; /* NULL: no result */
    int is_nbi;   /* the result is there after a quiet */
} keel_shmem_atomic_t;
/* shmem_atomic.c: the operation of a fetch */
keel_atomic_op_t keel_shmem_fetch_op(void);
/* The bits of a value of @a size bytes. */
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
    const void *values; /* size bytes each */
    size_t value_step;  /* bytes between the values of two words; 0: one value for all */
} keel_shmem_wait_t;

/* Waits until the PE's own word is @a value or more, or not 0. */
void keel_shmem_await(const uint64_t *word, keel_compare_t compare, uint64_t value, const char *call);
/*
 * Returns the count of words that meet their condition; @a indices, unless NULL, gets them in
 * order. @a is_test: tests once; with ALL returns 0 unless all words meet.
 */
size_t keel_shmem_wait(const keel_shmem_wait_t *wait, keel_wait_for_t how, int is_test, size_t *indices,
                       const char *call);

/* teams/shmem_team.c: barrier of all PEs, skipped by a replacement before its restart point */
void keel_shmem_barrier_of_world(const char *call);

/*
 * teams/shmem_team_state.c. Called in shmem_init() before any restore: allocates the window of
 * teams; then sets its initial contents.
 */
void keel_shmem_teams_alloc(const char *call);
void keel_shmem_teams_begin(void);
/*
 * Finds the PEs that share memory with this PE. Called after a gsync, when all PEs have begun; a
 * restoring replacement gets the result from the checkpoint.
 */
void keel_shmem_teams_share(const char *call);
/* True if the range lies in the window of teams. */
int keel_shmem_teams_place(const void *address, size_t bytes, keel_shmem_place_t *place_p);
/* Announces the extents of the window for images. */
keel_status_t keel_shmem_teams_extents(void);

#endif
