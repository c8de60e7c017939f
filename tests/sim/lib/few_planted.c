/*
 * Plants a defect in a small program. The environment variable FEW_PLANT names the defect; not set:
 * none. The simulator may delay the stores of the program.
 */
#include "planted.h"

#include "check/plant.h"
#include "sim/world.h"

#include <stdlib.h>

static void hold(void *to, size_t length, keel_stored_t how)
{
    keel_sim_store_hold(sim_running, to, length, how);
}

static void order(void)
{
    keel_sim_store_order(sim_running);
}

static void barrier(void)
{
    keel_sim_store_barrier(sim_running);
}

static void fence(void)
{
    keel_sim_store_fence(sim_running);
}

static __attribute__((constructor)) void few_plant(void)
{
    const char *name = getenv("FEW_PLANT");

    if ((name != NULL && !planted_set(name)) || !reached_begin()) {
        abort();
    }
    keel_planted_memory = (keel_planted_memory_t){.hold = hold, .order = order, .barrier = barrier, .fence = fence};
}
