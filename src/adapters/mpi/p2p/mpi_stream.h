/* Sending without the promise: bytes on the ring at the receiver, which takes them off it in any call. */
#ifndef KEEL_MPI_STREAM_H_
#define KEEL_MPI_STREAM_H_

#include "p2p/mpi_match.h"

/* what becomes of a message that the ring has no room for */
typedef enum {
    KEEL_MPI_SEND_BLOCKS, /* the call returns when all of it is on the ring */
    KEEL_MPI_SEND_COPIES, /* it returns at once; who has a ticket need not look at it */
    KEEL_MPI_SEND_BORROWS /* the same, and the data stays as it is until keel_mpi_stream_is_sent() */
} keel_mpi_send_mode_t;

void keel_mpi_stream_make(void);
/* gives what to ask by whether it is sent; 0: it is, or need not be asked for */
uint64_t keel_mpi_stream_send(uint32_t rank, keel_mpi_head_t head, const void *data, keel_mpi_send_mode_t mode,
                              const char *call);
int keel_mpi_stream_is_sent(uint32_t rank, uint64_t ticket);
/* of what is left with that ticket the data is the program's again */
void keel_mpi_stream_copy(uint32_t rank, uint64_t ticket, const char *call);
/* sends what there is room for now; and until nothing is left */
void keel_mpi_stream_push(const char *call);
void keel_mpi_stream_await_all(const char *call);
/* until the copies are no more than the arena has, for calls that would add to them without end */
void keel_mpi_stream_throttle(const char *call);
/* what is left is dropped: at a rollback */
void keel_mpi_stream_reset(void);
void keel_mpi_stream_unmake(void);

#endif
