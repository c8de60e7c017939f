/* Checkpoints in files: messages, the own image, begin and end. */
#include "job/files.h"
#include "job/files_message.h"
#include "job/files_set.h"
#include "engine/context.h"

#include "base/memory.h"
#include "ckpt/repair.h"
#include "peer/control.h"
#include "peer/members.h"
#include "recovery/recover.h"
#include "trace/trace_area.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define END_WAIT_NS 1000000000u /* of a wait for the end of the writer */
#define END_MAX_S   1e9         /* a longer time is no limit */

/* ---- every rank: the own image ---- */

static void image_result(keel_context_h ctx, keel_set_id_t id, int error, uint32_t crc, uint64_t bytes)
{
    const keel_files_message_t message = {.kind = KEEL_FILES_WRITTEN,
                                          .generation = id.generation,
                                          .run = id.run,
                                          .error = (uint32_t)error,
                                          .crc = crc,
                                          .bytes = bytes};

    ctx->stats.file_bytes += (error == 0) ? bytes : 0;
    if (keel_lane_is_leader(&ctx->lane)) {
        keel_files_set_written(ctx, ctx->lane.rank, &message);
    } else {
        keel_files_send(ctx, ctx->lane.leader, &message);
    }
}

/* Begins to write the ordered image once it is in use here. */
static void image_begin(keel_context_h ctx)
{
    keel_files_t *files = ctx->files;
    const uint32_t used = ctx->ckpt.set.used.number;
    keel_write_job_t job = {
        .kind = KEEL_WRITE_RANK, .id = files->ordered, .rank = ctx->lane.rank, .is_hurried = files->is_hurried};
    size_t bytes;

    if (used < files->ordered.generation || keel_recovery_state(&ctx->rec) == KEEL_RANK_FRESH ||
        keel_writer_is_busy(files->writer)) {
        return;
    }
    if (used > files->ordered.generation) {
        image_result(ctx, files->ordered, ECANCELED, 0, 0);
    } else {
        job.memory = keel_repair_image(&ctx->ckpt.set, &bytes);
        job.bytes = bytes;
        keel_writer_begin(files->writer, &job);
    }
    files->ordered.generation = 0;
}

void keel_files_image(keel_context_h ctx)
{
    /* The copy goes to the slot that is not in use. The writer may still read an older image
     * there. */
    if (ctx->files != NULL && ctx->files->writer != NULL && keel_writer_is_busy(ctx->files->writer)) {
        keel_writer_detach(ctx->files->writer, ctx->ckpt.set.used.number);
    }
}

void keel_files_lost(keel_context_h ctx)
{
    keel_files_t *files = ctx->files;
    keel_set_id_t *ids = NULL;
    unsigned count = 0, i = 0;
    const int dir = (files != NULL) ? keel_folder_dir(&files->folder) : -1;

    if (dir < 0 || files->is_lost || ctx->rec.mode != KEEL_DECISION_CATASTROPHE) {
        return;
    }
    files->is_lost = 1;
    if (keel_set_list(dir, &ids, &count) != 0) {
        return;
    }
    while (i < count && keel_set_has(dir, ids[i], KEEL_FILES_MANIFEST) != 1) {
        i++;
    }
    if (i < count) {
        char reason[160];

        snprintf(reason, sizeof(reason), "the job can go on from checkpoint %u in files", ids[i].generation);
        ctx->runtime->ops->abort(ctx->runtime, KEEL_EXIT_AGAIN, reason);
    }
    keel_free(ids);
}

/* Makes the writer. A replacement without a writer goes on and tries again. */
static keel_status_t files_writer_make(keel_context_h ctx)
{
    keel_files_t *files = ctx->files;
    const keel_status_t status =
        keel_writer_create(&files->folder, keel_lane_is_leader(&ctx->lane), ctx->config.file_rate, &files->writer);

    files->tried = ctx->ckpt.set.used.number;
    if (status == KEEL_OK || ctx->lane.incarnation == 0) {
        files->error = 0;
        return status;
    }
    if (files->error == 0) {
        files->error = ECHILD;
        keel_warn(&ctx->message, "KEEL_FILE_DIR %s: %s: the replacement tries again with the next checkpoint",
                  ctx->config.file_dir, keel_files_error(files->error));
    }
    return KEEL_OK;
}

void keel_files_progress(keel_context_h ctx)
{
    keel_files_t *files = ctx->files;
    keel_write_result_t result;

    if (files == NULL || !files->has_begun) {
        return;
    }
    if (ctx->rec.fatal != KEEL_OK) {
        keel_files_lost(ctx);
        return;
    }
    if (files->writer == NULL && files->error != 0 && files->tried != ctx->ckpt.set.used.number) {
        (void)files_writer_make(ctx);
    }
    if (files->writer == NULL) {
        if (files->ordered.generation != 0) {
            image_result(ctx, files->ordered, (files->error != 0) ? files->error : EIO, 0, 0);
            files->ordered.generation = 0;
        }
        return;
    }
    if (keel_writer_take(files->writer, &result)) {
        if (result.job.kind == KEEL_WRITE_MANIFEST) {
            keel_files_set_completed(ctx, &result);
        } else if (result.job.kind == KEEL_WRITE_PRUNE) {
            keel_files_set_pruned(ctx, &result);
        } else {
            files->interval.writer_s = result.processor_s;
            if (result.error == 0) {
                keel_info(&ctx->message, "file of %.0f MiB for checkpoint %u: written and synced after %.3f s",
                          (double)result.job.bytes / 1048576, result.job.id.generation, result.synced_s);
            }
            image_result(ctx, result.job.id, result.error, result.crc, result.job.bytes);
        }
    }
    if (files->ordered.generation != 0) {
        image_begin(ctx);
    }
    if (keel_lane_is_leader(&ctx->lane)) {
        keel_files_set_step(ctx);
    }
}

/* ---- begin and end ---- */

/* The name of the program's file. */
static void files_set_program(keel_manifest_t *manifest)
{
    char path[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    const char *name;

    path[(length > 0) ? length : 0] = '\0';
    name = strrchr(path, '/');
    keel_manifest_set_program(manifest, (name != NULL) ? name + 1 : "unknown");
}

static void files_receive(void *arg, const keel_control_in_t *in)
{
    keel_context_h ctx = arg;
    keel_files_t *files = ctx->files;
    keel_files_message_t message;

    if (in->length != sizeof(message)) {
        keel_error_ctx(ctx, "malformed message about files from rank %u refused", in->source);
        return;
    }
    memcpy(&message, in->payload, sizeof(message));
    if (message.kind == KEEL_FILES_WRITTEN && keel_lane_is_leader(&ctx->lane)) {
        keel_files_set_written(ctx, in->source, &message);
    } else if (message.kind == KEEL_FILES_LOADED && keel_lane_is_leader(&ctx->lane)) {
        files->answers++;
        if (message.error != 0) {
            files->refusals++;
            files->refusing = in->source;
            files->refusal = (int)message.error;
        }
    } else if (message.kind == KEEL_FILES_STOP_BEGINS && keel_lane_is_leader(&ctx->lane)) {
        keel_files_set_stop_begins(ctx, in->source);
    } else if (message.kind == KEEL_FILES_STOP_ENDS && keel_lane_is_leader(&ctx->lane)) {
        keel_files_set_stop_ends(ctx, in->source, (int)message.error);
    } else if (message.kind == KEEL_FILES_WRITE && in->source == ctx->lane.leader) {
        files->ordered = (keel_set_id_t){.generation = message.generation, .run = message.run};
        files->is_hurried = 0;
    } else if (message.kind == KEEL_FILES_HURRY && in->source == ctx->lane.leader) {
        keel_files_hurry(ctx);
    } else if (message.kind <= KEEL_FILES_GIVE_UP && in->source == ctx->lane.leader) {
        files->start = message;
        files->is_start_due = 1;
    }
}

keel_status_t keel_files_writer_begin(keel_context_h ctx)
{
    keel_files_t *files = ctx->files;

    files->last_ns = keel_files_now(ctx);
    files->seen = UINT32_MAX; /* the generation in use, which the first step finds */
    files->has_begun = 1;
    if (ctx->lane.rank < ctx->lane.programs && !ctx->runtime->ops->is_threadless) {
        return files_writer_make(ctx);
    }
    return KEEL_OK;
}

/* The absolute path of the folder, or the path as given if the own folder has no name. */
static char *files_path(const char *path)
{
    char here[PATH_MAX];
    const int is_absolute = path[0] == '/' || getcwd(here, sizeof(here)) == NULL;
    const size_t room = strlen(path) + (is_absolute ? 0 : strlen(here) + 1) + 1;
    char *whole = keel_alloc(room, "files");

    if (whole != NULL) {
        snprintf(whole, room, "%s%s%s", is_absolute ? "" : here, is_absolute ? "" : "/", path);
    }
    return whole;
}

keel_status_t keel_files_init(keel_context_h ctx)
{
    keel_files_t *files;
    int error;

    if (ctx->config.file_dir == NULL) {
        return KEEL_OK;
    }
    if (ctx->config.protect == KEEL_PROTECT_NONE) {
        keel_warn(&ctx->message, "KEEL_FILE_DIR is not used: with KEEL_PROTECT=none there are no checkpoints");
        return KEEL_OK;
    }
    files = keel_alloc(sizeof(*files), "files");
    if (files == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    ctx->files = files;
    files->path = files_path(ctx->config.file_dir);
    keel_folder_init(&files->folder, files->path, keel_lane_is_leader(&ctx->lane));
    if (files->path == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    files->run = (uint32_t)(keel_files_now(ctx) * 0x9e3779b97f4a7c15u >> 32);
    files->making.count = ctx->lane.programs;
    files_set_program(&files->making);
    if (keel_lane_is_leader(&ctx->lane)) {
        files->making.files = keel_alloc(ctx->lane.programs * sizeof(*files->making.files), "files");
        files->ranks = keel_alloc(ctx->lane.programs * sizeof(*files->ranks), "files");
        if (files->making.files == NULL || files->ranks == NULL) {
            return KEEL_ERR_NO_MEMORY;
        }
    }
    error = keel_folder_open(&files->folder);
    if (error != 0 && ctx->lane.incarnation > 0) { /* a death must not end the job for that */
        keel_warn(&ctx->message, "KEEL_FILE_DIR %s: %s: the replacement tries again with the next checkpoint",
                  ctx->config.file_dir, keel_files_error(error));
    } else if (error != 0) {
        keel_error_ctx(ctx, "KEEL_FILE_DIR %s: %s", ctx->config.file_dir, keel_files_error(error));
        return (error == EWOULDBLOCK) ? KEEL_ERR_STATE : KEEL_ERR_IO;
    }
    if (files->folder.is_leader && ctx->lane.incarnation == 0) {
        /* a request of an earlier, lost job */
        (void)unlinkat(keel_folder_dir(&files->folder), KEEL_FILES_STOP, 0);
    }
    if (error == 0 && ctx->lane.incarnation == 0) {
        keel_folder_read_ahead(&files->folder, ctx->lane.rank);
    }
    keel_lane_control_handle(&ctx->lane, KEEL_CONTROL_FILES, files_receive, ctx);
    return KEEL_OK;
}

/* Reports that the writer's thread does not end; @a is_over: the program is complete. */
static void end_report_wait(keel_context_h ctx, int is_over)
{
    if (is_over) {
        keel_warn(&ctx->message, "the end of this rank waits for a file operation in %s", ctx->config.file_dir);
    } else {
        keel_warn(&ctx->message, "a rank that fails waits for a file operation in %s", ctx->config.file_dir);
    }
}

/* Ends the writer. @a is_over: the program is complete. Returns 0 if the writer's thread does not
 * end in time; memory that the thread uses is then never released. */
static int end_writer(keel_context_h ctx, keel_files_t *files, int is_over)
{
    const double within_s = ctx->config.file_stop_within_s;
    const uint64_t within_ns = (within_s > 0 && within_s < END_MAX_S) ? (uint64_t)(within_s * 1e9) : UINT64_MAX;
    uint64_t waited_ns = 0;

    keel_writer_leave(files->writer, is_over);
    while (waited_ns < within_ns) {
        const uint64_t left_ns = within_ns - waited_ns, wait_ns = (left_ns < END_WAIT_NS) ? left_ns : END_WAIT_NS;

        if (keel_writer_join(files->writer, wait_ns)) {
            return 1;
        }
        if (waited_ns == 0) {
            end_report_wait(ctx, is_over);
        }
        waited_ns += wait_ns;
    }
    keel_warn(&ctx->message, "a file operation in %s does not end within %g s (KEEL_FILE_STOP_WITHIN): the rank ends",
              ctx->config.file_dir, within_s);
    keel_writer_give_up(files->writer);
    files->is_abandoned = 1;
    return 0;
}

static void end_report(keel_context_h ctx, const keel_folder_end_t *end)
{
    if (end->error != 0 && end->generation == 0) {
        keel_warn(&ctx->message, "the checkpoints in %s stay, and the next job would restart from them: %s",
                  ctx->config.file_dir, keel_files_error(end->error));
    } else if (end->error != 0) {
        keel_warn(&ctx->message, "checkpoint %u in %s stays, and the next job would restart from it: %s",
                  end->generation, ctx->config.file_dir, keel_files_error(end->error));
    }
}

void keel_files_end(keel_context_h ctx)
{
    keel_files_t *files = ctx->files;
    keel_folder_end_t end = {.error = 0};
    keel_write_result_t result;

    if (files == NULL) {
        return;
    }
    files->has_begun = 0; /* no set begins from here on */
    if (files->writer == NULL) {
        keel_folder_end(&files->folder, &end);
    } else if (end_writer(ctx, files, 1)) {
        ctx->stats.file_checkpoints +=
            keel_writer_take(files->writer, &result) && result.job.kind == KEEL_WRITE_MANIFEST && result.error == 0;
        end = keel_writer_folder_end(files->writer);
        keel_writer_destroy(files->writer);
        files->writer = NULL;
    } else {
        end.error = files->folder.is_leader ? ETIMEDOUT : 0;
    }
    end_report(ctx, &end);
}

void keel_files_release(keel_context_h ctx)
{
    keel_files_t *files = ctx->files;

    ctx->files = NULL;
    if (files == NULL || files->is_abandoned || (files->writer != NULL && !end_writer(ctx, files, 0))) {
        return;
    }
    keel_writer_destroy(files->writer);
    keel_manifest_release(&files->making);
    keel_free(files->ranks);
    keel_folder_close(&files->folder);
    keel_free(files->path);
    keel_free(files);
}
