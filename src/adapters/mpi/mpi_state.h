/*
 * The adapter's state in a process. One window, the arena, holds all memory that MPI programs
 * share: a hidden part first, then blocks. State that must survive a death lies in the arena. The
 * object below and everything that hangs off it is rebuilt in each process by the calls before the
 * restart point.
 */
#ifndef KEEL_MPI_STATE_H_
#define KEEL_MPI_STATE_H_

#include "life/mpi_record.h"

#include <mpi.h>

#include <keel/keel.h>

enum {
    KEEL_MPI_BLOCKS = 16384, /* blocks of the arena in use at one time, at most */
    /* ranges of the program's own memory in windows at one time, at most */
    KEEL_MPI_EXPOSED = 8192,
    /* entries reserved for the list of open receives; a longer list takes a block of the arena */
    KEEL_MPI_OPEN_RECEIVES = 1024,
    /* handles made before the restart point; an image records for each whether the program has
     * freed it */
    KEEL_MPI_PERSISTENT_HANDLES = 4096,
    /* A ring holds the bytes in flight from one rank to another: KEELMPI_RING. By default a rank's
     * rings have KEEL_MPI_RINGS bytes together, each at most KEEL_MPI_RING_DEFAULT. In
     * deterministic mode, where logs keep what is put to a ring, KEEL_MPI_RING bytes are in use. */
    KEEL_MPI_RING = 64 << 10, /* at least */
    KEEL_MPI_RING_DEFAULT = 1 << 20,
    KEEL_MPI_RING_MAX = 1 << 30,
    KEEL_MPI_RINGS = 4 << 20,
    KEEL_MPI_ALIGN = 64
};

/* From MPI_Init to the restart point the adapter records every value that a rank receives from
 * others. A replacement replays the record. */
typedef enum { KEEL_MPI_RECORDS, KEEL_MPI_REPLAYS, KEEL_MPI_RUNS } keel_mpi_phase_t;

/* State of a rank towards one peer. Counts run since the start: bytes, or entries of the ring in
 * deterministic mode. The words that the peer puts have a cache line of their own. */
typedef struct keel_mpi_channel {
    /* put by the peer */
    uint64_t arrived;      /* amount sent to this rank */
    uint64_t freed;        /* amount taken of the messages sent from here */
    uint64_t offered_done; /* mpi_fetch.h: offered messages that the peer has fetched */
    uint64_t is_readable;  /* mpi_fetch.h: 1: the peer can read the memory of this process */
    uint64_t reserved[4];
    /* own */
    uint64_t sent, taken;
    /* Without deterministic mode: the part of `taken` that was put to the peer's `freed`.
     * In deterministic mode: number of messages sent to the peer, pending sends included. */
    uint64_t announced;
    /* mpi_fetch.h: messages offered to the peer, and those fetched from the peer */
    uint64_t offered, fetched;
    uint64_t reserved_own[3];
} keel_mpi_channel_t;
_Static_assert(sizeof(keel_mpi_channel_t) == 2 * KEEL_MPI_ALIGN, "two cache lines");

typedef struct keel_mpi_block {
    uint64_t offset, length;
    /* pages of the program's own memory; the exposed table lists the ranges of them in windows */
    uint64_t is_alias;
} keel_mpi_block_t;

/* A range of the program's own memory in a window: offset in the arena, length, id of the region
 * (the same in every life), and position in the region. */
typedef struct keel_mpi_exposed {
    uint64_t offset, length, id, at;
} keel_mpi_exposed_t;

typedef struct keel_mpi_hidden {
    uint64_t layout; /* mpi_arena.c: a number of the layout; the first word in all builds */
    uint64_t next_context;
    uint64_t promise; /* mpi_deterministic.c: KEEL_DETERMINISTIC of the job that took the image */
    /* startup record: offset, capacity, bytes used */
    uint64_t startup, startup_bytes, startup_used;
    /* messages in the unexpected queue at the checkpoint: offset (0: none) and bytes */
    uint64_t saved, saved_bytes;
    uint32_t bell;        /* mpi_spin.h: 1: this rank sleeps, or is about to */
    uint32_t has_context; /* mpi_context.h: 1: the program calls Keel itself */
    /* calls of MPI_Barrier on MPI_COMM_WORLD since the restart point; some of them take a
     * checkpoint */
    uint64_t barriers;
    uint64_t checkpoints; /* checkpoints begun, including the one of this image */
    /* mpi_restart.c: number of drains, and the newest drain in which a rank had pending sends (put
     * by others) */
    uint64_t drains, pending_at;
    /* gsyncs that this rank has arrived at, in deterministic mode; ranks with pending sends read
     * the count */
    uint64_t gsyncs;
    /* mpi_synchronous.c: the list of open receives: version, offset, length, capacity */
    uint64_t version, open_receives, open_receive_count, open_receive_room;
    /* mpi_persistent_handles.c: 1 if the handle of that number is freed */
    uint8_t freed_handles[KEEL_MPI_PERSISTENT_HANDLES];
    uint64_t block_count, exposed_count;
    keel_mpi_block_t blocks[KEEL_MPI_BLOCKS];     /* in use, ascending */
    keel_mpi_exposed_t exposed[KEEL_MPI_EXPOSED]; /* in no order */
    /* a list of up to KEEL_MPI_OPEN_RECEIVES receives; available even if the arena is full */
    uint64_t open_receives_first[4 * KEEL_MPI_OPEN_RECEIVES];
} __attribute__((aligned(KEEL_MPI_ALIGN))) keel_mpi_hidden_t; /* channels follow */

typedef struct keel_mpi {
    keel_context_h ctx; /* NULL outside MPI_Init and MPI_Finalize */
    keel_win_h arena;
    /* base of the arena; the channels and rings of all ranks follow the hidden part */
    keel_mpi_hidden_t *hidden;
    size_t bytes; /* of the arena */
    size_t ring;  /* bytes of a ring, a power of two */
    uint32_t rank, ranks;
    keel_mpi_phase_t phase;
    size_t recorded_last;              /* keel_mpi_record_t.last of the startup record */
    keel_mpi_record_cursor_t replayed; /* place of a replacement in the startup record */
    /* KEEL_DETERMINISTIC: the program is deterministic, so a death may be recovered locally */
    int is_deterministic_mode;
    /* KEEL_DETERMINISTIC=waits: receives before the restart point use Keel's logged waits, too */
    int waits;
    int is_withdrawn; /* a window's info has withdrawn deterministic mode (mpi_deterministic.c) */
    int is_ending;    /* MPI_Finalize has begun steps that cannot be undone */
    int is_final;     /* MPI_Finalize is done */
    /* mpi_direct.c: address of each rank's arena in this process; NULL: not mapped, or unknown */
    char **direct;
} keel_mpi_t;

extern keel_mpi_t keel_mpi;

/* ---- mpi_init.c: end of the job ---- */

/* Returns if status is KEEL_OK. Otherwise relaunches the job if a rollback has no checkpoint, or
 * ends the job. */
void keel_mpi_check(keel_status_t status, const char *call);
/* Has the launcher start the program again from the beginning, at most once. */
void keel_mpi_relaunch(const char *call, const char *why) __attribute__((noreturn));
/* Ends the job. For errors that no error handler can mend. */
void keel_mpi_fatal(const char *call, const char *what) __attribute__((noreturn));
/* Ends the job if the call is outside MPI_Init and MPI_Finalize. */
static inline void keel_mpi_begin(const char *call)
{
    if (__builtin_expect(keel_mpi.ctx == NULL, 0)) {
        keel_mpi_fatal(call, "not between MPI_Init and MPI_Finalize");
    }
}

/* mpi_error.c: reports an error of the program to the error handler of the communicator or window.
 * Returns the handler's code if the handler returns. */
int keel_mpi_raise(MPI_Comm comm, int code, const char *call, const char *what);
int keel_mpi_raise_win(MPI_Win win, int code, const char *call, const char *what);

#endif
