/* The variables that a program for OpenSHMEM is started with, read once. */
#ifndef KEEL_SHMEM_ENVIRONMENT_H_
#define KEEL_SHMEM_ENVIRONMENT_H_

#include <stddef.h>

typedef struct keel_shmem_environment {
    size_t heap_bytes;
    int is_promised; /* the promise was given */
    int waits;       /* the program said that it waits */
    int has_globals; /* they are to be symmetric */
    int is_debug;
    int asks_info, asks_version;
} keel_shmem_environment_t;

/* NULL, or the variable whose value is none */
const char *keel_shmem_environment_read(keel_shmem_environment_t *environment);
/* what SHMEM_INFO and SHMEM_VERSION ask for, on standard output */
void keel_shmem_environment_print(const keel_shmem_environment_t *environment);

#endif
