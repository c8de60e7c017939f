/*
 * A job of one: the process was not started through PMIx. Launchers with another protocol start
 * many such processes, and each would take itself for rank 0 of 1; the environment of such
 * launchers reveals the mistake.
 */
#include "pmix_runtime.h"

#include <base/memory.h>

#include <stdio.h>
#include <stdlib.h>

/*
 * A batch script of Slurm has SLURM_NTASKS, too, and starts single processes; srun also sets the
 * step.
 */
static const struct {
    const char *size, *also;
} launchers[] = {{"PMI_SIZE", NULL}, {"SLURM_STEP_NUM_TASKS", NULL}, {"SLURM_NTASKS", "SLURM_STEP_ID"}};

static keel_status_t singleton_check(void)
{
    for (size_t i = 0; i < sizeof launchers / sizeof launchers[0]; i++) {
        const char *size = getenv(launchers[i].size);

        if (size == NULL || atol(size) <= 1 || (launchers[i].also != NULL && getenv(launchers[i].also) == NULL)) {
            continue;
        }
        fprintf(
            stderr,
            "keel: %s is %s, but the launcher of this process does not speak PMIx, so it would be a job of one; use "
            "keelrun, Open MPI's mpirun, PRRTE's prterun or srun --mpi=pmix, or unset %s\n",
            launchers[i].size, size, launchers[i].size);
        return KEEL_ERR_RUNTIME;
    }
    return KEEL_OK;
}

keel_status_t keel_pmix_open_singleton(keel_runtime_pmix_t *runtime)
{
    keel_status_t status = singleton_check();

    if (status != KEEL_OK) {
        return status;
    }
    runtime->is_alone = runtime->base.is_one_host = 1;
    runtime->base.size = runtime->job_size = 1;
    runtime->base.node = keel_alloc(sizeof *runtime->base.node, "nodes");
    if (runtime->base.node == NULL || keel_pmix_spares_init(runtime, 0) != KEEL_OK) {
        return KEEL_ERR_NO_MEMORY;
    }
    return keel_event_queue_init(&runtime->queue, 1);
}
