/* OpenSHMEM on Keel: profiling names. shmem.h declares a pshmem_ name for each shmem_ function. */
#ifndef KEEL_PSHMEM_H_
#define KEEL_PSHMEM_H_

#include "shmemx.h"

#endif
