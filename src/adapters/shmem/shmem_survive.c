/* Restart points, and restores there. */
#include "shmem_globals.h"
#include "shmem_job.h"
#include "shmem_snapshot.h"
#include "shmem_state.h"
#include "shmemx.h"

int shmemx_init_attr(const shmemx_init_attr_t *attr)
{
    const uint64_t fields = (attr != NULL) ? attr->field_mask : 0;
    const uint64_t flags = (fields & SHMEMX_INIT_FIELD_FLAGS) ? attr->flags : 0;

    if ((fields & ~(uint64_t)SHMEMX_INIT_FIELD_FLAGS) ||
        (flags & ~(uint64_t)(SHMEMX_INIT_DETERMINISTIC | SHMEMX_INIT_WAITS))) {
        return -1;
    }
    keel_shmem_job_join(&(keel_shmem_joining_t){.has_promise = (flags & SHMEMX_INIT_DETERMINISTIC) != 0,
                                                .waits = (flags & SHMEMX_INIT_WAITS) != 0},
                        "shmemx_init_attr");
    return 0;
}

void shmemx_protect(unsigned id, void *address, size_t bytes)
{
    (void)keel_shmem_begin("shmemx_protect");
    if (keel_shmem_globals.served != NULL) { /* no restore is possible */
        return;
    }
    keel_shmem_end(KEEL_SHMEM_ALONE(keel_protect(keel_shmem.ctx, id, address, bytes)), "shmemx_protect");
    keel_shmem_snapshot_add(address, bytes);
}

void shmemx_globals(int are_restored)
{
    (void)keel_shmem_begin("shmemx_globals");
    keel_shmem_globals_restore(are_restored, "shmemx_globals");
}

jmp_buf *shmemx_restart_buffer(void)
{
    static jmp_buf unused;

    (void)keel_shmem_begin("SHMEMX_RESTART_POINT");
    /* a call will report the rollback and restart the job */
    if (keel_shmem_globals.served != NULL) {
        return &unused;
    }
    return keel_restart_buffer(keel_shmem.ctx);
}

struct keel_context *shmemx_context(void)
{
    return keel_shmem.ctx;
}

int shmemx_restarted(void)
{
    (void)keel_shmem_begin("shmemx_restarted");
    return keel_restarted(keel_shmem.ctx);
}

unsigned shmemx_incarnation(void)
{
    (void)keel_shmem_begin("shmemx_incarnation");
    return keel_incarnation(keel_shmem.ctx);
}

void keel_shmem_restore(const char *call)
{
    keel_stats_t stats;
    keel_status_t status;

    do {
        status = KEEL_SHMEM_ALONE(keel_restore(keel_shmem.ctx));
    } while (status == KEEL_ERR_ROLLED_BACK); /* another death interrupted the restore */
    keel_shmem_end(status, call);
    keel_shmem_end(KEEL_SHMEM_ALONE(keel_stats(keel_shmem.ctx, &stats, sizeof(stats))), call);
    if (stats.generation == 0) { /* the heap is empty, but the program has pointers into it */
        keel_shmem_end(KEEL_ERR_ROLLED_BACK, call);
    }
    keel_shmem.is_before_restart_point = 0;
    keel_shmem_extents_forget();
    keel_shmem_threads_restored();
}

void shmemx_restore(void)
{
    (void)keel_shmem_begin("shmemx_restore");
    keel_shmem_restore("shmemx_restore");
}
