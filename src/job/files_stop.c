/*
 * keel_checkpoint_and_stop(). The request is a file in the folder: the request outlives each rank,
 * and rank 0, or the replacement of rank 0, looks for the file anyway.
 */
#include "job/files.h"
#include "engine/context.h"
#include "engine/fork.h"
#include "engine/threads.h"

#include <errno.h>
#include <string.h>

keel_status_t keel_checkpoint_and_stop(keel_context_h ctx)
{
    KEEL_INSIDE(ctx);
    keel_status_t status = keel_context_begin(ctx);
    int error;

    if (status != KEEL_OK) {
        return keel_context_end(ctx, status);
    }
    if (ctx->files == NULL || keel_folder_dir(&ctx->files->folder) < 0) {
        keel_error_ctx(ctx, "keel_checkpoint_and_stop: there is no KEEL_FILE_DIR");
        return keel_context_end(ctx, KEEL_ERR_STATE);
    }
    error = keel_set_dir_ask(keel_folder_dir(&ctx->files->folder), KEEL_FILES_STOP);
    if (error != 0) {
        keel_error_ctx(ctx, "keel_checkpoint_and_stop: KEEL_FILE_DIR %s: %s", ctx->config.file_dir, strerror(error));
        status = KEEL_ERR_IO;
    }
    return keel_context_end(ctx, status);
}
