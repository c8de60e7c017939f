/* What Keel has beyond OpenSHMEM 1.5: surviving the death of PEs. */
#ifndef KEEL_SHMEMX_H_
#define KEEL_SHMEMX_H_

#include "shmem.h"

#endif
