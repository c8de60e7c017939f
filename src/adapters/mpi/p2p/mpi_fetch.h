/*
 * Messages that the receiver fetches from the sender's memory by one system call
 * (process_vm_readv()), outside deterministic mode, from a rank of the same machine. The sender's
 * ring carries an offer instead of the data; the data stays unchanged until the receiver has
 * announced the fetch.
 *
 * Safety. The memory may be that of another process with the number of a dead sender, or that of a
 * sender that was rolled back and has changed the data. So an offer names a word of the sender, the
 * cookie, and its value. The receiver reads the cookie after the data and drops what it read if the
 * value differs. A sender that was rolled back changes the cookie before any other memory. Only its
 * stack has changed by then, so data on the stack is not offered.
 *
 * A sender may move the data to a copy. So an offer names the pointer to the data, and the receiver
 * begins again if the pointer has changed while it read.
 *
 * A receiver may lack the permission to read. Until the receiver has reported that it can read the
 * cookie, the data follows on the ring, and an offer asks for that report.
 */
#ifndef KEEL_MPI_FETCH_H_
#define KEEL_MPI_FETCH_H_

#include <stddef.h>
#include <stdint.h>

typedef enum {
    KEEL_MPI_OFFER_NONE, /* data on the ring */
    KEEL_MPI_OFFER_TEST, /* the receiver tests whether it can read; data on the ring */
    KEEL_MPI_OFFER_DATA  /* the receiver fetches the data */
} keel_mpi_offer_kind_t;

/* Follows the head on the ring. */
typedef struct keel_mpi_offer {
    uint64_t process, cookie_at, cookie; /* number of the sender's process; address and value */
    uint64_t pointer_at;                 /* address of the pointer to the data */
} keel_mpi_offer_t;

/* Messages of @a bytes and more are offered; 0: none. */
void keel_mpi_fetch_make(size_t bytes);
/* True if a message of that length and place is to be offered. */
int keel_mpi_fetch_is_due(const void *data, size_t bytes);
/* @a data_p stays where it is until the data is fetched. */
keel_mpi_offer_t keel_mpi_fetch_offer(const char *const *data_p);
/* Lets receivers read from another place from now on, which holds the same data. */
void keel_mpi_fetch_move(const char **data_p, const char *data);
/* Voids all offers of this process. */
void keel_mpi_fetch_void(void);
/* Read from the offering process. Return 0 or an errno. ESRCH: the process is gone. ESTALE: the
 * offer is void. EPERM: no permission. EFAULT: not all of the memory is there. */
int keel_mpi_fetch_test(const keel_mpi_offer_t *offer);
int keel_mpi_fetch_data(const keel_mpi_offer_t *offer, void *data, size_t bytes);

#endif
