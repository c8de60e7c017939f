#include "job/files_message.h"
#include "engine/context.h"

#include "peer/control.h"

#include <errno.h>
#include <string.h>

uint64_t keel_files_now(const keel_context_h ctx)
{
    return ctx->runtime->ops->now_ns(ctx->runtime);
}

void keel_files_send(keel_context_h ctx, uint32_t rank, const keel_files_message_t *message)
{
    (void)keel_lane_control_send(&ctx->lane, rank, KEEL_CONTROL_FILES, message, sizeof(*message));
}

void keel_files_hurry(keel_context_h ctx)
{
    ctx->files->is_hurried = 1;
    if (ctx->files->writer != NULL) {
        keel_writer_hurry(ctx->files->writer);
    }
}

const char *keel_files_error(int error)
{
    switch (error) {
    case EBADMSG:
        return "the bytes there are not those that were written";
    case ECHILD:
        return "no thread can write files";
    case ENOLCK:
        return "no lock";
    case ETIMEDOUT:
        return "the file system does not answer";
    case EWOULDBLOCK:
        return "another job uses this folder";
    default:
        return strerror(error);
    }
}
