/*
 * Windows: memory of each member in its arena. A handle is one of the system's MPI, for this process alone, so that names, attributes
 * and error handlers are its affair.
 */
#ifndef KEEL_MPI_WINDOW_H_
#define KEEL_MPI_WINDOW_H_

#include "comm/mpi_comm.h"
#include "mpi_table.h"

/* two words of each member, which others change */
typedef struct keel_mpi_guard {
    uint64_t lock;       /* mpi_lock_word.h */
    uint64_t accumulate; /* 1 + the rank that is amid an accumulate; 0: none */
} keel_mpi_guard_t;

/* of the own locks at a member; part of images, since a lock may be held at a checkpoint */
typedef enum {
    KEEL_MPI_HELD_NONE,
    KEEL_MPI_HELD_SHARED,
    KEEL_MPI_HELD_EXCLUSIVE,
    KEEL_MPI_HELD_UNCHECKED, /* MPI_MODE_NOCHECK: nothing was taken */
    KEEL_MPI_HELD_LAZY       /* by MPI_Win_lock_all: taken at the first access */
} keel_mpi_held_t;

/* of the own accesses: part of images, as that is */
typedef struct keel_mpi_access {
    uint64_t locks;   /* by MPI_Win_lock */
    uint8_t is_all;   /* MPI_Win_lock_all is in force */
    uint8_t fence;    /* keel_mpi_fenced_t */
    uint8_t is_freed; /* the window is, behind the restart point: what its guard lies in stays, so that images say so */
    uint8_t held[];   /* keel_mpi_held_t of each member */
} keel_mpi_access_t;

typedef enum {
    KEEL_MPI_FENCED_NONE,
    KEEL_MPI_FENCED, /* by a call that another epoch may follow without one more */
    KEEL_MPI_FENCED_USED
} keel_mpi_fenced_t;

typedef struct keel_mpi_place {
    uint64_t offset, bytes, guard; /* in the arena of home */
    uint64_t home;                 /* rank of the job, which the member is, or who has the memory of all members */
    uint64_t attached;             /* its table, of a dynamic window, or of what lies in several segments */
    uint64_t segments;             /* how many, then; fewer than 2: it lies at the offset */
    uint64_t barrier;              /* its keel_mpi_barrier_t */
    int64_t unit;
    uint64_t has_all; /* the memory of all members mapped, without the promise */
} keel_mpi_place_t;

typedef struct keel_mpi_win {
    MPI_Win handle;
    keel_mpi_comm_t *comm; /* its own */
    int flavor, model;
    MPI_Aint size; /* of the own part, as attributes are */
    int unit;
    void *base;
    uint64_t block;           /* of the own arena, freed with the window; 0: none */
    uint64_t alias;           /* id of the program's own memory (mpi_alias.h); 0: it is none */
    uint32_t home;            /* who has the memory: another rank, where it is shared with that one */
    keel_mpi_place_t *places; /* of each member */
    uint64_t access;          /* offset of the own keel_mpi_access_t, behind the own guard */
    const struct keel_mpi_group *posted, *started;
    int is_late;                        /* as of communicators */
    int is_mapped;                      /* all members have has_all: each says so to all */
    struct keel_mpi_segment **segments; /* of each member that has several; NULL: none does */
    int is_searched;                    /* where a place is depends on the displacement: so it is, or it is dynamic */
    keel_mpi_handle_vars_t variables;   /* as of communicators */
} keel_mpi_win_t;

extern keel_mpi_table_t keel_mpi_wins; /* mpi_window.c */

/* NULL: no window */
static inline keel_mpi_win_t *keel_mpi_win_of(MPI_Win handle)
{
    keel_mpi_win_t *win = (keel_mpi_win_t *)keel_mpi_table_find(&keel_mpi_wins, (uintptr_t)handle);

    return (win != NULL && win->variables.freed_by == NULL) ? win : NULL;
}
/* collective: a handle, and who has its memory where; @a offset is that of the own part */
int keel_mpi_win_make(const keel_mpi_comm_t *of, keel_mpi_win_t *like, uint64_t offset, MPI_Info info,
                      MPI_Win *handle_p, const char *call);
/* what is wrong with it, NULL: nothing */
const char *keel_mpi_win_wrong_size(MPI_Aint size, int unit);
/* as of communicators */
void keel_mpi_win_end_freed(void);
void keel_mpi_win_unmake(void); /* what the program has left */
/* one that a checkpoint cannot have: what is said of it, NULL: none; and at a rollback, before the arena's return and after it */
const char *keel_mpi_win_checkpoint_obstacle(void);
void keel_mpi_win_drop_late(void);
void keel_mpi_win_revive(void);
/* collective, when all have their memory back: where it lies now */
void keel_mpi_win_update_places(const char *call);

/* begins a call on a window: it is there, or the call returns with an error */
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
/* mpi_epoch.c: whether an epoch is there in which the member may be accessed */
int keel_mpi_win_allows(const keel_mpi_win_t *win, uint32_t target);

/* true: an epoch by locks or groups may begin, and no fence's epoch is there then */
int keel_mpi_win_leaves_fence(keel_mpi_win_t *win);

/* mpi_lock.c: whether others may change the target's memory meanwhile, as far as locks say that */
int keel_mpi_lock_is_shared(const keel_mpi_win_t *win, uint32_t target);
/* the lock that an access needs is taken when that was put off */
void keel_mpi_lock_ensure(keel_mpi_win_t *win, uint32_t target, const char *call);

/* before the first checkpoint: refuses what would not come back rightly */
void keel_mpi_win_check_restorable(const char *call);

#endif
