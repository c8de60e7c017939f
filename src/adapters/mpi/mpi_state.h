/*
 * The adapter's state. All memory that MPI programs share lies in one window, the arena: a hidden part first, then blocks. What has to
 * survive lies there; this object and what hangs off it is made anew in each process, by the calls before the restart point.
 */
#ifndef KEEL_MPI_STATE_H_
#define KEEL_MPI_STATE_H_

#include <mpi.h>

#include <keel/keel.h>

enum {
    KEEL_MPI_BLOCKS = 16384,       /* of the arena that are in use at one time, at most */
    KEEL_MPI_EXPOSED = 8192,       /* pieces of the program's own memory that are in windows at one time, at most */
    KEEL_MPI_OPEN_RECEIVES = 1024, /* receives that are open, for which room is kept; others take some of the arena */
    KEEL_MPI_PERSISTENT_HANDLES =
        4096, /* handles that were made before the restart point, of whom an image knows whether they are freed */
    KEEL_MPI_RING = 64 << 10, /* bytes on the way from one rank to another */
    KEEL_MPI_ALIGN = 64
};

/* from MPI_Init to the restart point what a rank gets from others is recorded, so that a replacement can be given it again */
typedef enum { KEEL_MPI_RECORDS, KEEL_MPI_REPLAYS, KEEL_MPI_RUNS } keel_mpi_phase_t;

/* of a rank, towards one other; counts since the start, of bytes, or with the promise of entries of the ring */
typedef struct keel_mpi_channel {
    uint64_t arrived; /* put by the other: what it has sent here */
    uint64_t freed;   /* put by the other: what it has taken of what was sent from here */
    uint64_t sent, taken;
    uint64_t announced; /* of what was taken; with the promise the number of messages to that rank, unsent ones too */
} keel_mpi_channel_t;

typedef struct keel_mpi_block {
    uint64_t offset, length;
    uint64_t is_alias; /* pages of the program's own memory; what of them is in a window stands among the exposed */
} keel_mpi_block_t;

/* a piece of the program's memory that is in a window: where it lies in the arena, of which whole, the same in every life, and where there */
typedef struct keel_mpi_exposed {
    uint64_t offset, length, id, at;
} keel_mpi_exposed_t;

typedef struct keel_mpi_hidden {
    uint64_t next_context;
    uint64_t startup, startup_bytes, startup_used; /* offset of the record, its room, how much of it is in use */
    uint64_t saved, saved_bytes; /* messages that nobody had received at the checkpoint; offset, 0: none */
    uint64_t barriers;           /* on MPI_COMM_WORLD since the restart point, where some are checkpoints */
    uint64_t checkpoints;        /* that were begun, with the one that this is an image of */
    uint64_t drains,
        pending_at; /* mpi_restart.c: times that all was received; put by others: the time at which something is unsent */
    uint64_t gsyncs; /* that this rank has come to, with the promise; others with something unsent read it */
    uint64_t version, open_receives, open_receive_count,
        open_receive_room; /* mpi_synchronous.c: the list of receives that are open: offset, number, most */
    uint8_t freed_handles[KEEL_MPI_PERSISTENT_HANDLES]; /* mpi_persistent_handles.c: by their number */
    uint64_t block_count, exposed_count;
    keel_mpi_block_t blocks[KEEL_MPI_BLOCKS];     /* in use, ascending */
    keel_mpi_exposed_t exposed[KEEL_MPI_EXPOSED]; /* in no order */
    uint64_t open_receives_first
        [4 * KEEL_MPI_OPEN_RECEIVES]; /* the list of receives, while they are no more: there when the arena is full */
} keel_mpi_hidden_t;

typedef struct keel_mpi {
    keel_context_h ctx; /* NULL: not between MPI_Init and MPI_Finalize */
    keel_win_h arena;
    keel_mpi_hidden_t *hidden; /* the arena's base; after it the channels and the rings of all ranks */
    size_t bytes;              /* of the arena */
    uint32_t rank, ranks;
    keel_mpi_phase_t phase;
    uint64_t replayed;         /* bytes of the record that were given so far */
    int is_deterministic_mode; /* KEEL_DETERMINISTIC: the program is deterministic, and deaths may be recovered alone */
    int waits;        /* with it: what is received before the restart point is waited for by Keel's waits, too */
    int is_withdrawn; /* not for what is done to a window that says so (mpi_window.c) */
    int is_ending;    /* MPI_Finalize has begun what cannot be taken back */
    int is_final;     /* and is done */
    char **direct;    /* mpi_direct.c: of each rank, where its arena is mapped here; NULL: not, or not known */
} keel_mpi_t;

extern keel_mpi_t keel_mpi;

/* ---- mpi_init.c: ends ---- */

/* returns when that is KEEL_OK; starts the job anew where a rollback has nowhere to go, else ends it */
void keel_mpi_check(keel_status_t status, const char *call);
/* the program's start, once, by whoever started it */
void keel_mpi_relaunch(const char *call, const char *why) __attribute__((noreturn));
/* ends the job: what no error handler can mend */
void keel_mpi_fatal(const char *call, const char *what) __attribute__((noreturn));
/* ends the job when it is not between MPI_Init and MPI_Finalize */
static inline void keel_mpi_begin(const char *call)
{
    if (__builtin_expect(keel_mpi.ctx == NULL, 0)) {
        keel_mpi_fatal(call, "not between MPI_Init and MPI_Finalize");
    }
}

/* mpi_error.c: an error of the program: calls the error handler of the communicator or window, and returns its code if that returns */
int keel_mpi_raise(MPI_Comm comm, int code, const char *call, const char *what);
int keel_mpi_raise_win(MPI_Win win, int code, const char *call, const char *what);

#endif
