/*
 * The adapter's state: one window, of which the first part is hidden and the rest the symmetric heap. What has to survive lies in the
 * hidden part; this object is made anew in each process.
 */
#ifndef KEEL_SHMEM_STATE_H_
#define KEEL_SHMEM_STATE_H_

#include "shmem.h"

#include <keel/keel.h>

enum {
    KEEL_SHMEM_BLOCKS = 16384, /* of the heap that are in use at one time, at most */
    KEEL_SHMEM_ROUNDS = 24,    /* of a tree over all PEs */
    KEEL_SHMEM_CHUNK = 4096,   /* bytes that are reduced at once */
    KEEL_SHMEM_ALIGN = 64
};

typedef struct keel_shmem_tree {
    uint64_t turn; /* of this PE: the chunk that it is at */
    uint64_t up_turn[KEEL_SHMEM_ROUNDS], down_turn;
    char up[KEEL_SHMEM_ROUNDS][KEEL_SHMEM_CHUNK] __attribute__((aligned(KEEL_SHMEM_ALIGN)));
    char down[KEEL_SHMEM_CHUNK] __attribute__((aligned(KEEL_SHMEM_ALIGN)));
} keel_shmem_tree_t;

typedef struct keel_shmem_hidden {
    keel_shmem_tree_t tree;
    uint64_t is_not_kept; /* some PE does not keep what it has through a restore */
    uint64_t block_count;
    keel_extent_t blocks[KEEL_SHMEM_BLOCKS]; /* in use, ascending; offsets in the window */
} keel_shmem_hidden_t;

typedef struct keel_shmem {
    keel_context_h ctx; /* NULL: not between shmem_init() and shmem_finalize() */
    keel_win_h win;
    keel_shmem_hidden_t *hidden; /* the window's base */
    size_t bytes;                /* of the window */
    uint32_t pe, pes;
    int is_due; /* a replacement's: it has yet to come to its restart point */
} keel_shmem_t;

extern keel_shmem_t keel_shmem;

/* ends the job with a message when the program has not begun; true when the call is to be left out, which the predecessor did */
int keel_shmem_begin(const char *call);
/* the same for one that reads what others have: that cannot be left out */
void keel_shmem_begin_reading(const char *call);
/* returns when that is KEEL_OK */
void keel_shmem_end(keel_status_t status, const char *call);
/* ends the job: a programming error */
void keel_shmem_refuse(const char *call, const char *what, uint64_t is) __attribute__((noreturn));
/* SIZE_MAX, which no heap has, when they are more than can be counted */
static inline size_t keel_shmem_bytes(size_t count, size_t size)
{
    return (count <= SIZE_MAX / size) ? count * size : SIZE_MAX;
}
/* offset in the window; refuses what is not in the heap as a whole, and PEs that are none */
uint64_t keel_shmem_offset(const void *address, size_t bytes, int pe, const char *call);

/* shmem_heap.c: says what belongs into the next image */
keel_status_t keel_shmem_extents(void);
/* shmem_safepoint.c: what is done ahead of one; then the memory may go into an image */
keel_status_t keel_shmem_make_safe(void);

/* shmem_survive.c: from the newest checkpoint; where there is none the job ends */
void keel_shmem_restore(const char *call);

/* shmem_rma.c: blocking */
void keel_shmem_put(void *dest, const void *source, size_t bytes, int pe, const char *call);
void keel_shmem_get(void *dest, const void *source, size_t bytes, int pe, const char *call);
/* shmem_atomic.c: operands are the word's bytes, @a result NULL or as many */
void keel_shmem_atomic(keel_atomic_op_t op, const void *dest, size_t size, const void *operand, const void *compare,
                       void *result, int pe, const char *call);

/* shmem_wait.c */
typedef struct keel_shmem_wait {
    const void *words;
    size_t count, size;
    const int *status;
    int cmp, is_signed;
    const void *value; /* size bytes */
} keel_shmem_wait_t;

/* how many are met; @a indices gets them, in order, NULL: they are not asked for. @a is_test: as it is now, 0 with ALL: not all are */
size_t keel_shmem_wait(const keel_shmem_wait_t *wait, keel_wait_for_t how, int is_test, size_t *indices,
                       const char *call);

/* shmem_collect.c: a barrier, which a replacement leaves out ahead of its restart point */
void keel_shmem_meet(const char *call);
typedef void (*keel_shmem_combine_t)(void *sum, const void *other, size_t count);
int keel_shmem_reduce(shmem_team_t team, void *dest, const void *source, size_t count, size_t size,
                      keel_shmem_combine_t combine, const char *call);

#endif
