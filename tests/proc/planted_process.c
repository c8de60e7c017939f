/* A process with a planted defect, named by FEW_PLANT in the environment; unset: none. */
#include "sim/lib/planted.h"

#include <stdlib.h>

static __attribute__((constructor)) void process_plant(void)
{
    const char *name = getenv("FEW_PLANT");

    if ((name != NULL && !planted_set(name)) || !reached_begin()) {
        abort();
    }
}
