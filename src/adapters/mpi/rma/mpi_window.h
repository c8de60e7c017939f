/*
 * Windows: memory of each member in its arena. A handle belongs to the system's MPI and to this
 * process alone, so the system's MPI keeps names, attributes and error handlers.
 */
#ifndef KEEL_MPI_WINDOW_H_
#define KEEL_MPI_WINDOW_H_

#include "comm/mpi_comm.h"
#include "mpi_table.h"

/* Two words of each member that other members change. */
typedef struct keel_mpi_guard {
    uint64_t lock;       /* mpi_lock_word.h */
    uint64_t accumulate; /* 1 + the rank that performs an accumulate; 0: none */
} keel_mpi_guard_t;

/* The own lock at a member. Part of images, since a lock may be held at a checkpoint. */
typedef enum {
    KEEL_MPI_HELD_NONE,
    KEEL_MPI_HELD_SHARED,
    KEEL_MPI_HELD_EXCLUSIVE,
    KEEL_MPI_HELD_UNCHECKED, /* MPI_MODE_NOCHECK: no lock was taken */
    KEEL_MPI_HELD_LAZY       /* MPI_Win_lock_all: the lock is taken at the first access */
} keel_mpi_held_t;

/* State of the own epochs. Part of images, too. */
typedef struct keel_mpi_access {
    uint64_t locks; /* held by MPI_Win_lock */
    uint8_t is_all; /* MPI_Win_lock_all is in force */
    uint8_t fence;  /* a keel_mpi_fenced_t */
    /* the window was freed behind the restart point; the block stays allocated, so that images
     * record the free */
    uint8_t is_freed;
    uint8_t held[]; /* a keel_mpi_held_t per member */
} keel_mpi_access_t;

typedef enum {
    KEEL_MPI_FENCED_NONE,
    KEEL_MPI_FENCED, /* no access since the fence, so an epoch of another kind may follow */
    KEEL_MPI_FENCED_USED
} keel_mpi_fenced_t;

typedef struct keel_mpi_place {
    uint64_t offset, bytes, guard; /* offsets in the arena of home */
    /* rank of the job with the memory: the member itself, or the rank that has the memory of all
     * members */
    uint64_t home;
    uint64_t attached; /* offset of a table: of a dynamic window, or of the segments */
    uint64_t segments; /* number of segments; fewer than 2: the memory lies at offset */
    uint64_t barrier;  /* offset of the keel_mpi_barrier_t */
    int64_t unit;
    /* the member has the memory of all members mapped, outside deterministic mode */
    uint64_t has_all;
} keel_mpi_place_t;

typedef struct keel_mpi_win {
    MPI_Win handle;
    keel_mpi_comm_t *comm; /* private to the window */
    int flavor, model;
    MPI_Aint size; /* of the own part, in the form of the attribute */
    int unit;
    void *base;
    uint64_t block; /* in the own arena, freed with the window; 0: none */
    uint64_t alias; /* id of the program's own memory (mpi_alias.h); 0: none */
    /* rank of the job with the own part; another rank if that rank shares its memory */
    uint32_t home;
    keel_mpi_place_t *places; /* one per member */
    uint64_t access;          /* offset of the own keel_mpi_access_t, which follows the own guard */
    const struct keel_mpi_group *posted, *started;
    int is_late;   /* as of communicators */
    int is_mapped; /* every member has set has_all */
    /* per member with several segments; NULL: no member has several */
    struct keel_mpi_segment **segments;
    /* an access searches segments: some member has several, or the window is dynamic */
    int is_searched;
    keel_mpi_handle_vars_t variables; /* as of communicators */
} keel_mpi_win_t;

extern keel_mpi_table_t keel_mpi_wins; /* mpi_window.c */

/* NULL: not a window. */
static inline keel_mpi_win_t *keel_mpi_win_of(MPI_Win handle)
{
    keel_mpi_win_t *win = (keel_mpi_win_t *)keel_mpi_table_find(&keel_mpi_wins, (uintptr_t)handle);

    return (win != NULL && win->variables.freed_by == NULL) ? win : NULL;
}
/* Collective: makes a handle, and exchanges the places of all members. @a offset is that of the own
 * part. */
int keel_mpi_win_make(const keel_mpi_comm_t *comm_ptr, keel_mpi_win_t *like, uint64_t offset, MPI_Info info,
                      MPI_Win *handle_p, const char *call);
/* An error message for the arguments; NULL: they are right. */
const char *keel_mpi_win_wrong_size(MPI_Aint size, int unit);
/* As of communicators. */
void keel_mpi_win_end_freed(void);
void keel_mpi_win_unmake(void); /* frees the program's remaining windows */
/* The reason why a checkpoint cannot be taken because of a window; NULL: none. At a rollback
 * drop_late() runs before the arena is restored, and revive() after. */
const char *keel_mpi_win_checkpoint_obstacle(void);
void keel_mpi_win_drop_late(void);
void keel_mpi_win_revive(void);
/* Collective, after all ranks have restored their memory: exchanges the places again. */
void keel_mpi_win_update_places(const char *call);

/* Begins a call on a window: finds the object, or returns from the call with an error. */
#define KEEL_MPI_WIN(_win, _handle, _call)                                         \
    keel_mpi_win_t *_win;                                                          \
    keel_mpi_begin(_call);                                                         \
    _win = keel_mpi_win_of(_handle);                                               \
    if (_win == NULL) {                                                            \
        return keel_mpi_raise(MPI_COMM_WORLD, MPI_ERR_WIN, _call, "not a window"); \
    }

static inline keel_mpi_access_t *keel_mpi_win_access(const keel_mpi_win_t *win)
{
    return (keel_mpi_access_t *)((char *)keel_mpi.hidden + win->access);
}
/* mpi_epoch.c: True if an epoch allows accesses to the member. */
int keel_mpi_win_allows(const keel_mpi_win_t *win, uint32_t target);

/* Ends an unused fence epoch. False if an epoch of another kind may not begin. */
int keel_mpi_win_leaves_fence(keel_mpi_win_t *win);

/* mpi_lock.c: Takes a lock that MPI_Win_lock_all has postponed, before an access. */
void keel_mpi_lock_ensure(keel_mpi_win_t *win, uint32_t target, const char *call);

/* Before the first checkpoint: refuses windows with memory that a replacement could not restore. */
void keel_mpi_win_check_restorable(const char *call);

#endif
