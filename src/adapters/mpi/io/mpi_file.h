/* Files of several ranks: each has it open through the system's MPI, for itself. */
#ifndef KEEL_MPI_FILE_H_
#define KEEL_MPI_FILE_H_

#include "comm/mpi_comm.h"

typedef struct keel_mpi_file {
    MPI_File handle;
    keel_mpi_comm_t *comm; /* its own */
    char *name;            /* of one that is deleted when it is closed; NULL: it is not */
    int amode;             /* as the program gave it */
    int is_late;
    keel_mpi_handle_vars_t variables; /* as of communicators */
    uint64_t pointer;                 /* offset of the shared pointer's word in the arena of the first rank */
    int unit;                         /* bytes of the view's etype */
    int is_split;                     /* an ordered access was begun and not ended */
    MPI_Status split;                 /* its status */
} keel_mpi_file_t;

/* NULL: not a file, or of one rank and opened behind the restart point */
keel_mpi_file_t *keel_mpi_file_of(MPI_File handle);

/* Collective: makes the word of the shared pointer of a file that was just opened. */
void keel_mpi_file_shared_make(keel_mpi_file_t *file, const char *call);
/* Gives the word back. */
void keel_mpi_file_shared_unmake(const keel_mpi_file_t *file);

/* as of communicators */
void keel_mpi_file_end_closed(void);
void keel_mpi_file_unmake(void);
int keel_mpi_file_is_late(void);
void keel_mpi_file_drop_late(void);
void keel_mpi_file_revive(void);

#endif
