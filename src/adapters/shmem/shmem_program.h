/*
 * The program's file: addresses and names of the program's own global variables. Excluded are the
 * loader's data in the same segment, and variables of shared libraries that the linker has placed
 * there (copy relocations: stdout, environ).
 */
#ifndef KEEL_SHMEM_PROGRAM_H_
#define KEEL_SHMEM_PROGRAM_H_

#include <stddef.h>
#include <stdint.h>

/* section of variables declared shmemx_volatile */
#define KEEL_SHMEM_VOLATILE "keel_shmem_volatile"

typedef struct keel_shmem_range {
    uintptr_t begin, end;
    int is_volatile;
} keel_shmem_range_t;

typedef struct keel_shmem_program {
    const char *file; /* the mapped file; NULL: not mapped */
    size_t bytes;
    uintptr_t bias;             /* difference between addresses in memory and in the file */
    uintptr_t low, high;        /* bounds of the whole program */
    keel_shmem_range_t *ranges; /* global variables: ascending and disjoint */
    unsigned count;
} keel_shmem_program_t;

/* Returns NULL, or the reason of a failure, after which nothing has to be closed. */
const char *keel_shmem_program_open(keel_shmem_program_t *program);
void keel_shmem_program_close(keel_shmem_program_t *program);
/*
 * Without the program's file: returns the size of its last writable memory, behind the part that
 * the loader has made read-only; 0: none. Other contents there, such as the loader's words, cannot
 * be told apart.
 */
size_t keel_shmem_program_data(uintptr_t *begin_p);
/*
 * True if the whole range is read-only memory of the program: equal in all processes that run the
 * program at the same addresses.
 */
int keel_shmem_program_is_constant(const keel_shmem_program_t *program, uintptr_t address, size_t bytes);
/* True if the program lies at another address in each process. */
int keel_shmem_program_moves(const keel_shmem_program_t *program);
/* The variable at the address, and the offset into the variable; NULL: no name in the file. */
const char *keel_shmem_program_symbol(const keel_shmem_program_t *program, uintptr_t address, size_t *offset_p);

#endif
