/*
 * The word of a window's lock at a member. Each function computes the next value of the word from
 * the value that a rank saw; the rank replaces the word by compare-and-swap. The word counts shared
 * holders, waiting readers and waiting writers.
 *
 * Exclusion. A reader enters only without an exclusive holder, a writer only without any holder.
 *
 * Fairness. A new reader waits if a writer waits, so readers in close succession do not starve a
 * writer. A reader that meets an exclusive holder claims the turn behind the holder, so writers do
 * not starve readers: in the readers' turn a writer waits while readers wait, and ends the turn as
 * soon as a reader is inside.
 *
 * Progress. After KEEL_MPI_LOCK_PATIENCE looks a waiting reader overtakes waiting writers: a holder
 * may wait for this very reader, and the writer for that holder.
 */
#ifndef KEEL_MPI_LOCK_WORD_H_
#define KEEL_MPI_LOCK_WORD_H_

#include <stdint.h>

#define KEEL_MPI_LOCK_BITS     20 /* of each count */
#define KEEL_MPI_LOCK_SHARE    ((uint64_t)1)
#define KEEL_MPI_LOCK_READER   ((uint64_t)1 << KEEL_MPI_LOCK_BITS)
#define KEEL_MPI_LOCK_WRITER   ((uint64_t)1 << 2 * KEEL_MPI_LOCK_BITS)
#define KEEL_MPI_LOCK_TURN     ((uint64_t)1 << 3 * KEEL_MPI_LOCK_BITS) /* the readers' */
#define KEEL_MPI_LOCK_OWNED    (KEEL_MPI_LOCK_TURN << 1)               /* held exclusively */
#define KEEL_MPI_LOCK_PATIENCE 64

static inline uint64_t keel_mpi_lock_shares(uint64_t word)
{
    return word & (KEEL_MPI_LOCK_READER - KEEL_MPI_LOCK_SHARE);
}

static inline uint64_t keel_mpi_lock_readers(uint64_t word)
{
    return word & (KEEL_MPI_LOCK_WRITER - KEEL_MPI_LOCK_READER);
}

static inline uint64_t keel_mpi_lock_writers(uint64_t word)
{
    return word & (KEEL_MPI_LOCK_TURN - KEEL_MPI_LOCK_WRITER);
}

/* True if a rank that has added its share to this word thereby holds the lock. */
static inline int keel_mpi_lock_is_open(uint64_t word)
{
    return (word & KEEL_MPI_LOCK_OWNED) == 0 && keel_mpi_lock_writers(word) == 0;
}

/* The word after a step of a waiting reader. The reader has entered if the result has no owner and
 * differs from the word. */
static inline uint64_t keel_mpi_lock_step_reader(uint64_t word, unsigned looks)
{
    if (word & KEEL_MPI_LOCK_OWNED) {
        return word | KEEL_MPI_LOCK_TURN;
    }
    if (keel_mpi_lock_writers(word) == 0) {
        word &= ~KEEL_MPI_LOCK_TURN;
    } else if (!(word & KEEL_MPI_LOCK_TURN) && looks < KEEL_MPI_LOCK_PATIENCE) {
        return word;
    }
    return word - KEEL_MPI_LOCK_READER + KEEL_MPI_LOCK_SHARE;
}

/* The word after a step of a waiting writer. The writer has entered if the result has an owner and
 * the word has none. */
static inline uint64_t keel_mpi_lock_step_writer(uint64_t word)
{
    if ((word & KEEL_MPI_LOCK_OWNED) ||
        ((word & KEEL_MPI_LOCK_TURN) && keel_mpi_lock_shares(word) == 0 && keel_mpi_lock_readers(word) != 0)) {
        return word;
    }
    word &= ~KEEL_MPI_LOCK_TURN;
    return (keel_mpi_lock_shares(word) != 0) ? word : (word - KEEL_MPI_LOCK_WRITER) | KEEL_MPI_LOCK_OWNED;
}

#endif
