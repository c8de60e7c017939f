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

/* Announces to the leader that the call begins, or ends. */
static void stop_announce(keel_context_h ctx, keel_files_kind_t kind, int error)
{
    const keel_files_message_t message = {.kind = kind, .error = (uint32_t)error};

    if (!keel_lane_is_leader(&ctx->lane)) {
        keel_files_send(ctx, ctx->lane.leader, &message);
    } else if (kind == KEEL_FILES_STOP_BEGINS) {
        keel_files_set_stop_begins(ctx, ctx->lane.rank);
    } else {
        keel_files_set_stop_ends(ctx, ctx->lane.rank, error);
    }
}

/* Makes the file. The leader has its writer do that, because the leader's calls compare the time of
 * the stop. A callback cannot wait, and makes the file itself. */
static keel_status_t stop_make(keel_context_h ctx, int *error_p)
{
    keel_files_t *files = ctx->files;
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;

    if (!keel_lane_is_leader(&ctx->lane) || files->writer == NULL || keel_threads_in_callback(ctx)) {
        *error_p = keel_set_dir_ask(keel_folder_dir(&files->folder), KEEL_FILES_STOP);
        return KEEL_OK;
    }
    keel_writer_ask_stop(files->writer);
    while (status == KEEL_OK && !keel_writer_has_asked_stop(files->writer, error_p)) {
        status = keel_context_wait(ctx, &rounds);
    }
    *error_p = (status == KEEL_OK) ? *error_p : ECANCELED;
    return status;
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
    stop_announce(ctx, KEEL_FILES_STOP_BEGINS, 0);
    status = stop_make(ctx, &error);
    stop_announce(ctx, KEEL_FILES_STOP_ENDS, error);
    if (status == KEEL_OK && error != 0) {
        keel_error_ctx(ctx, "keel_checkpoint_and_stop: KEEL_FILE_DIR %s: %s", ctx->config.file_dir, strerror(error));
        status = KEEL_ERR_IO;
    }
    return keel_context_end(ctx, status);
}
