/*
 * The program's file: which of its memory are global variables of its own, and what they are called. Not among them are what the loader
 * keeps in the same segment, and variables of shared libraries that the linker has put there (copy relocations: stdout, environ).
 */
#ifndef KEEL_SHMEM_PROGRAM_H_
#define KEEL_SHMEM_PROGRAM_H_

#include <stddef.h>
#include <stdint.h>

#define KEEL_SHMEM_VOLATILE "keel_shmem_volatile" /* the section that shmemx_volatile names */

typedef struct keel_shmem_range {
    uintptr_t begin, end;
    int is_volatile;
} keel_shmem_range_t;

typedef struct keel_shmem_program {
    const char *file; /* as it is mapped here; NULL: it is not */
    size_t bytes;
    uintptr_t bias;             /* from addresses in the file to those in memory */
    uintptr_t low, high;        /* the whole of the program */
    keel_shmem_range_t *ranges; /* global variables, ascending, apart */
    unsigned count;
} keel_shmem_program_t;

/* NULL, or why not; then nothing is to be closed */
const char *keel_shmem_program_open(keel_shmem_program_t *program);
void keel_shmem_program_close(keel_shmem_program_t *program);
/* Without its file: the last of the memory that it may write, behind what the loader has made read-only. 0: there is none. What else is
 * there, such as the loader's words, nobody can tell. */
size_t keel_shmem_program_data(uintptr_t *begin_p);
/* all of that is the program's, and nobody writes there: the same in all processes that run it at the same addresses */
int keel_shmem_program_is_constant(const keel_shmem_program_t *program, uintptr_t address, size_t bytes);
/* it lies elsewhere in each process */
int keel_shmem_program_moves(const keel_shmem_program_t *program);
/* the variable at that address, and how far into it; NULL: it has no name in the file */
const char *keel_shmem_program_symbol(const keel_shmem_program_t *program, uintptr_t address, size_t *offset_p);

#endif
