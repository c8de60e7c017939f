/*
 * The encoding of the startup record: a sequence of values, where equal successive values and runs
 * of zero bytes take the room of one entry. Polls that find nothing are such values, so a rank may
 * poll any number of times.
 */
#ifndef KEEL_MPI_RECORD_H_
#define KEEL_MPI_RECORD_H_

#include <stddef.h>
#include <stdint.h>

typedef struct keel_mpi_record {
    char *base;
    size_t room, used; /* bytes */
    size_t last;       /* 1 + offset of the entry of the last value; 0: none */
} keel_mpi_record_t;

typedef struct keel_mpi_record_cursor {
    size_t at;      /* offset of the current entry */
    uint32_t taken; /* of the current entry: values, or bytes of a run of zeros */
} keel_mpi_record_cursor_t;

/* Appends a value of at least one byte; 0: no room, and the record is unchanged. */
int keel_mpi_record_append(keel_mpi_record_t *record, const void *data, size_t bytes);
/* Reads the next value; 0: the next value has another size, or there is none. */
int keel_mpi_record_read(const keel_mpi_record_t *record, keel_mpi_record_cursor_t *cursor, void *data, size_t bytes);

#endif
