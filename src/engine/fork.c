/*
 * After fork(). The child has a copy of the parent's context and connections, but no threads. Its
 * messages would be taken for the parent's. So calls in the child are refused, and shared memory is
 * not mapped there (shm_segment.c): stores of the child stay private. The kernel zeroes a page of
 * memory in a child, and each call recognises a child at the price of a load.
 */
#include "engine/fork.h"
#include "engine/context.h"

#include "base/memory.h"

#include <unistd.h>

keel_status_t keel_fork_init(keel_context_h ctx)
{
    ctx->home = keel_arena_alloc(sizeof(*ctx->home), sizeof(*ctx->home), "mark of the process");
    if (ctx->home == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    ctx->home->process = (int)getpid();
    keel_arena_wipe_in_child(ctx->home, sizeof(*ctx->home));
    return KEEL_OK;
}

void keel_fork_release(keel_context_h ctx)
{
    keel_arena_free(ctx->home, sizeof(*ctx->home));
    ctx->home = NULL;
}

keel_status_t keel_fork_refuse(keel_context_h ctx)
{
    if (!ctx->is_child_reported) {
        ctx->is_child_reported = 1;
        keel_error_ctx(
            ctx,
            "process %d is a child of the rank's, made by fork(): it has no part in the job, its calls are refused",
            (int)getpid());
    }
    return KEEL_ERR_STATE;
}
