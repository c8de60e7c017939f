/* Environment variables of OpenSHMEM programs, read once. */
#ifndef KEEL_SHMEM_ENVIRONMENT_H_
#define KEEL_SHMEM_ENVIRONMENT_H_

#include <stddef.h>

typedef struct keel_shmem_environment {
    size_t heap_bytes;
    int has_promise; /* the promise of determinism was given */
    int waits;       /* the program announced its waits */
    int has_globals; /* global variables are to be symmetric */
    int is_debug;
    int asks_info, asks_version;
} keel_shmem_environment_t;

/* Returns NULL, or the name of a variable with an invalid value. */
const char *keel_shmem_environment_read(keel_shmem_environment_t *environment);
/* Prints the output of SHMEM_INFO and SHMEM_VERSION to standard output. */
void keel_shmem_environment_print(const keel_shmem_environment_t *environment);

#endif
