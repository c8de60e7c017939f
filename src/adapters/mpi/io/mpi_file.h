/* Files of several ranks. Each rank opens the file by the system's MPI for itself. */
#ifndef KEEL_MPI_FILE_H_
#define KEEL_MPI_FILE_H_

#include "comm/mpi_comm.h"

typedef struct keel_mpi_file {
    MPI_File handle;
    keel_mpi_comm_t *comm; /* private to the file */
    char *name;            /* of a file to delete on close; NULL otherwise */
    int amode;             /* as given by the program */
    int is_late;
    keel_mpi_handle_vars_t variables; /* as of communicators */
    /* offset of the word of the shared pointer, in the arena of the first rank */
    uint64_t pointer;
    int unit;         /* bytes of the view's etype */
    int is_split;     /* a split ordered access has begun and not ended */
    MPI_Status split; /* status of the split access */
} keel_mpi_file_t;

/* NULL: not a file, or a file of one rank opened behind the restart point. */
keel_mpi_file_t *keel_mpi_file_of(MPI_File handle);

/* Collective: allocates the word of the shared pointer of a new file. */
void keel_mpi_file_shared_make(keel_mpi_file_t *file, const char *call);
/* Frees the word. */
void keel_mpi_file_shared_unmake(const keel_mpi_file_t *file);

/* As of communicators. */
void keel_mpi_file_end_closed(void);
void keel_mpi_file_unmake(void);
int keel_mpi_file_is_late(void);
void keel_mpi_file_drop_late(void);
void keel_mpi_file_revive(void);

#endif
