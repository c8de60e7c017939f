/*
 * keel_checkpoint_and_stop(). The request is a file in the folder: the request outlives each rank,
 * and rank 0, or the replacement of rank 0, looks for the file anyway. A message precedes the file,
 * so that the time of the stop runs although the file system does not answer.
 */
#include "job/files.h"
#include "job/files_message.h"
#include "job/files_set.h"
#include "engine/context.h"
#include "engine/fork.h"
#include "engine/threads.h"

#include "peer/members.h"

#include <errno.h>
#include <string.h>

/* Announces to the leader that the call begins, or has failed. */
static void stop_announce(keel_context_h ctx, int error)
{
    const keel_files_message_t message = {.kind = KEEL_FILES_STOP_ASKED, .error = (uint32_t)error};

    if (keel_lane_is_leader(&ctx->lane)) {
        keel_files_set_stop_asked(ctx, error);
    } else {
        keel_files_send(ctx, ctx->lane.leader, &message);
    }
}

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
    stop_announce(ctx, 0);
    error = keel_set_dir_ask(keel_folder_dir(&ctx->files->folder), KEEL_FILES_STOP);
    if (error != 0) {
        stop_announce(ctx, error);
        keel_error_ctx(ctx, "keel_checkpoint_and_stop: KEEL_FILE_DIR %s: %s", ctx->config.file_dir, strerror(error));
        status = KEEL_ERR_IO;
    }
    return keel_context_end(ctx, status);
}
