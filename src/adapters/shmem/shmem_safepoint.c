/* Safe points: where a checkpoint is taken, or may be. */
#include "shmem_globals.h"
#include "shmem_pointers.h"
#include "shmem_state.h"
#include "shmemx.h"

#include <stdio.h>

/* once, by one PE */
static void warn_of_pointers(void)
{
    static int is_done;
    const uintptr_t window = (uintptr_t)keel_shmem.hidden;
    char names[400];
    unsigned count;

    if (is_done || keel_shmem_globals.are_restored <= 0 || keel_shmem.pe != 0) {
        return;
    }
    is_done = 1;
    count = keel_shmem_pointers_find(&keel_shmem_globals, window, window + keel_shmem.bytes + keel_shmem_globals.bytes,
                                     names, sizeof(names));
    if (count > 0) {
        fprintf(stderr,
                "shmem 0 warning: %u global variables look as if they pointed to private memory, which no checkpoint "
                "has (shmemx_volatile leaves a variable out): %s\n",
                count, names);
    }
}

keel_status_t keel_shmem_make_safe(void)
{
    if (keel_shmem_globals.why == NULL) {
        warn_of_pointers();
    }
    (void)fflush(NULL); /* what was printed ahead of a checkpoint is not printed again behind it */
    return keel_shmem_extents();
}

void shmemx_checkpoint(void)
{
    if (keel_shmem_begin("shmemx_checkpoint")) {
        return;
    }
    keel_shmem_end(keel_shmem_make_safe(), "shmemx_checkpoint");
    keel_shmem_end(keel_checkpoint(keel_shmem.ctx), "shmemx_checkpoint");
}

void shmemx_safepoint(void)
{
    if (keel_shmem_begin("shmemx_safepoint")) {
        return;
    }
    keel_shmem_end(keel_shmem_make_safe(), "shmemx_safepoint");
    keel_shmem_end(keel_gsync(keel_shmem.ctx, KEEL_GSYNC_SAFE), "shmemx_safepoint");
}
