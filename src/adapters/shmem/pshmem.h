/* OpenSHMEM on Keel: the names for profiling, pshmem_ for each shmem_, which are declared beside these. */
#ifndef KEEL_PSHMEM_H_
#define KEEL_PSHMEM_H_

#include "shmemx.h"

#endif
