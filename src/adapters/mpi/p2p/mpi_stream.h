/* Sending outside deterministic mode: bytes on the ring at the receiver, which takes them off in
 * any call. */
#ifndef KEEL_MPI_STREAM_H_
#define KEEL_MPI_STREAM_H_

#include "p2p/mpi_match.h"

#include <stddef.h>

/* Treatment of a message that finds no room on the ring. */
typedef enum {
    KEEL_MPI_SEND_BLOCKS, /* the call returns when all of the message is on the ring */
    /* the call copies the data and returns at once; the caller need not check the ticket */
    KEEL_MPI_SEND_COPIES,
    /* the call returns at once; the data stays unchanged until keel_mpi_stream_is_sent() */
    KEEL_MPI_SEND_BORROWS
} keel_mpi_send_mode_t;

/* Bytes of a head on the ring. A message begins at a cache line, so a head with 16 bytes of data or
 * fewer is one line. */
#define KEEL_MPI_STREAM_HEAD offsetof(keel_mpi_head_t, node)

/* Padding behind the last byte of a message, at @a end of the bytes of the ring. */
static inline size_t keel_mpi_stream_padding(uint64_t end)
{
    return (size_t)(-end & (KEEL_MPI_ALIGN - 1));
}

void keel_mpi_stream_make(void);
/* Returns a ticket for keel_mpi_stream_is_sent(), or 0 if the caller need not check. */
uint64_t keel_mpi_stream_send(uint32_t rank, keel_mpi_head_t head, const void *data, keel_mpi_send_mode_t mode,
                              const char *call);
int keel_mpi_stream_is_sent(uint32_t rank, uint64_t ticket);
/* Copies the data of the pending message with this ticket, so that the program may change its
 * buffer. */
void keel_mpi_stream_copy(uint32_t rank, uint64_t ticket, const char *call);
/* Sends the pending messages that have room. keel_mpi_stream_await_all() waits until none is
 * left. */
void keel_mpi_stream_push(const char *call);
void keel_mpi_stream_await_all(const char *call);
/* Waits until the copies take no more bytes than the arena. For calls that could add copies without
 * end. */
void keel_mpi_stream_throttle(const char *call);
/* Drops all pending messages at a rollback. */
void keel_mpi_stream_reset(void);
void keel_mpi_stream_unmake(void);

#endif
