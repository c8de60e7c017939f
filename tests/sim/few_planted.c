/* A small program with a planted defect: FEW_PLANT says which. */
#include "planted.h"

#include <stdlib.h>

static __attribute__((constructor)) void few_plant(void)
{
    if (!planted_set(FEW_PLANT) || !reached_begin()) {
        abort();
    }
}
