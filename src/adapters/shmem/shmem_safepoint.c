/* Safe points: a checkpoint is taken, or may be. */
#include "shmem_globals.h"
#include "shmem_pointers.h"
#include "shmem_state.h"
#include "shmemx.h"

#include <stdio.h>

static void warn_of_pointers(void)
{
    const uintptr_t window = (uintptr_t)keel_shmem.hidden;
    char names[400];
    const unsigned count = keel_shmem_pointers_find(
        &keel_shmem_globals, window, window + keel_shmem.bytes + keel_shmem_globals.bytes, names, sizeof(names));

    if (count > 0) {
        fprintf(stderr,
                "shmem 0 warning: %u global variables look as if they pointed to private memory, which no checkpoint "
                "has (shmemx_volatile leaves a variable out): %s\n",
                count, names);
    }
}

/* Warns once, at one PE. */
static void warn_of_globals(void)
{
    static int is_done;
    const keel_shmem_globals_t *globals = &keel_shmem_globals;

    if (is_done || globals->reason != NULL || keel_shmem.pe != 0) {
        return;
    }
    is_done = 1;
    if (globals->are_restored > 0) {
        warn_of_pointers();
    } else if (globals->are_restored < 0 && globals->are_used) {
        fprintf(stderr, "shmem 0 warning: others put to global variables, or read them, and no checkpoint has these: "
                        "shmemx_globals(1) is missing, or shmemx_globals(0) where that is right\n");
    }
}

keel_status_t keel_shmem_make_safe(void)
{
    warn_of_globals();
    return keel_shmem_extents();
}

void keel_shmem_checkpoint(const char *call)
{
    keel_shmem_end(KEEL_SHMEM_ALONE(keel_shmem_make_safe()), call);
    keel_shmem_end(KEEL_SHMEM_ALONE(keel_checkpoint(keel_shmem.ctx)), call);
}

void shmemx_checkpoint(void)
{
    if (keel_shmem_begin("shmemx_checkpoint")) {
        return;
    }
    keel_shmem_checkpoint("shmemx_checkpoint");
}

void shmemx_safepoint(void)
{
    if (keel_shmem_begin("shmemx_safepoint")) {
        return;
    }
    keel_shmem_end(KEEL_SHMEM_ALONE(keel_shmem_make_safe()), "shmemx_safepoint");
    keel_shmem_end(KEEL_SHMEM_ALONE(keel_gsync(keel_shmem.ctx, KEEL_GSYNC_SAFE)), "shmemx_safepoint");
}
