/* Checkpoints in files: the leader's set in the making. */
#include "job/files_message.h"
#include "job/files_set.h"
#include "engine/context.h"

#include "base/memory.h"
#include "check/plant.h"
#include "peer/control.h"
#include "peer/members.h"
#include "recovery/recover.h"
#include "trace/trace_area.h"

#include <errno.h>
#include <limits.h>

#define LATE_NS     1000000000u /* a set that takes less is not reported as late */
#define STATUS_LATE 143         /* as of a job that SIGTERM ended; no launcher starts it again */

/* Reports a failure of the tier once for each reason, until a set is complete again. */
static void set_failed(keel_context_h ctx, uint32_t rank, int error)
{
    keel_files_t *files = ctx->files;

    ctx->stats.file_failures++;
    files->last_ns = keel_files_now(ctx);
    if (error == ECANCELED) { /* the file system is slow for this interval of checkpoints */
        keel_info(&ctx->message, "checkpoint %u is not in %s: rank %u had no memory for it, or came to it too late",
                  files->making.id.generation, ctx->config.file_dir, rank);
    } else if (error != files->reported_error) {
        keel_warn(&ctx->message, "checkpoint %u is not written to %s (rank %u: %s); a later one is tried",
                  files->making.id.generation, ctx->config.file_dir, rank, keel_files_error(error));
        files->reported_error = error;
    }
    files->making.id.generation = 0;
    files->is_completing = 0;
    files->is_prune_due = 1;
    files->prune = (keel_write_job_t){.kind = KEEL_WRITE_PRUNE, .keep = UINT_MAX};
}

void keel_files_set_written(keel_context_h ctx, uint32_t rank, const keel_files_message_t *message)
{
    keel_files_t *files = ctx->files;
    const keel_set_id_t id = {.generation = message->generation, .run = message->run};

    if (files->making.id.generation == 0 || !keel_set_id_is(id, files->making.id) || rank >= files->making.count ||
        files->ranks[rank].is_written) {
        return; /* of an abandoned set, or from a rank that wrote the file in an earlier life */
    }
    if (message->error != 0) {
        set_failed(ctx, rank, (int)message->error);
        return;
    }
    files->making.files[rank] = (keel_manifest_file_t){.bytes = message->bytes, .crc = message->crc};
    files->ranks[rank].is_written = 1;
    files->missing--;
}

/* KEEL_FILE_RATE does not hold for the rank's file of the set in the making. */
static void set_hurry(keel_context_h ctx, uint32_t rank)
{
    const keel_files_message_t message = {.kind = KEEL_FILES_HURRY};

    if (rank == ctx->lane.rank) {
        keel_files_hurry(ctx);
    } else {
        keel_files_send(ctx, rank, &message);
    }
}

static void set_hurry_all(keel_context_h ctx)
{
    keel_files_t *files = ctx->files;

    files->is_set_hurried = 1;
    for (uint32_t r = 0; r < files->making.count; r++) {
        if (!files->ranks[r].is_written) {
            set_hurry(ctx, r);
        }
    }
}

static void set_order(keel_context_h ctx, uint32_t rank)
{
    keel_files_t *files = ctx->files;
    const keel_files_message_t message = {
        .kind = KEEL_FILES_WRITE, .generation = files->making.id.generation, .run = files->making.id.run};

    files->ranks[rank].ordered = ctx->lane.peers[rank].incarnation;
    if (rank == ctx->lane.rank) {
        files->ordered = files->making.id;
        files->is_hurried = 0;
    } else {
        keel_files_send(ctx, rank, &message);
    }
    if (files->is_set_hurried) {
        set_hurry(ctx, rank);
    }
}

static void set_begin(keel_context_h ctx, uint32_t generation)
{
    keel_files_t *files = ctx->files;

    files->making.id = (keel_set_id_t){.generation = generation, .run = files->run};
    files->is_requested = keel_files_ask_is_met(&files->request, generation);
    files->is_stopping = keel_files_ask_is_met(&files->stop, generation);
    files->missing = files->making.count;
    files->passed = 0;
    files->is_late = files->is_late_said = 0;
    files->is_set_hurried = files->request.is_open || files->stop.is_open;
    files->begun_ns = keel_files_now(ctx);
    files->decisions = ctx->rec.decisions;
    for (uint32_t r = 0; r < files->making.count; r++) {
        files->ranks[r].is_written = 0;
        set_order(ctx, r);
    }
}

/* A replacement may adopt a generation that a later decision replaces by an older one. */
static int set_is_settled(keel_context_h ctx)
{
    return ctx->rec.roll == KEEL_ROLL_NONE && !keel_recovery_is_frozen(&ctx->rec) &&
           keel_recovery_state(&ctx->rec) != KEEL_RANK_FRESH;
}

/* True if a generation is in use that was not considered yet. */
static int set_is_new(keel_context_h ctx)
{
    keel_files_t *files = ctx->files;
    const uint32_t used = ctx->ckpt.set.used.number;

    if (used <= files->seen) {
        return 0;
    }
    files->seen = used;
    files->passed++;
    keel_files_interval_passed(ctx);
    return 1;
}

static int set_is_due(keel_context_h ctx, uint64_t since_ns)
{
    const uint32_t checkpoints = keel_files_interval_checkpoints(ctx);

    return (checkpoints > 0) ? ctx->files->passed >= checkpoints
                             : (double)(keel_files_now(ctx) - since_ns) * 1e-9 >= ctx->config.file_interval.time_s;
}

/* A set is due while another is in the making: reports the older set once if the writing takes
 * long. With KEEL_FILE_INTERVAL=auto no set is late: the number of checkpoints follows from the
 * time. */
static void set_wait(keel_context_h ctx)
{
    keel_files_t *files = ctx->files;
    const uint64_t taken_ns = keel_files_now(ctx) - files->begun_ns;

    if (set_is_settled(ctx) && set_is_new(ctx) && set_is_due(ctx, files->begun_ns) &&
        !ctx->config.file_interval.is_auto) {
        ctx->stats.file_skips += (uint64_t)files->is_late; /* a newer generation takes its place */
        files->is_late = 1;
    }
    if (files->is_late && !files->is_late_said && taken_ns >= LATE_NS) {
        keel_warn(&ctx->message, "checkpoint %u is still being written to %s, after %.3f s",
                  files->making.id.generation, ctx->config.file_dir, (double)taken_ns * 1e-9);
        files->is_late_said = 1;
    }
}

/* True if a request asks for the files of this generation. */
static int set_is_asked(const keel_files_t *files, uint32_t generation)
{
    return keel_files_ask_is_met(&files->request, generation) || keel_files_ask_is_met(&files->stop, generation);
}

/* Considers a generation that has been committed. */
static void set_consider(keel_context_h ctx)
{
    keel_files_t *files = ctx->files;
    int is_new;

    if (!set_is_settled(ctx)) {
        return;
    }
    is_new = set_is_new(ctx);
    files->is_late &= files->seen == ctx->ckpt.set.used.number; /* no rollback since */
    if (!is_new && !files->is_late) {
        return;
    }
    if (set_is_asked(files, files->seen) || set_is_due(ctx, files->last_ns)) {
        ctx->stats.file_skips += (uint64_t)(files->is_late && is_new);
        set_begin(ctx, files->seen);
    } else {
        ctx->stats.file_skips += (uint64_t)files->is_late;
    }
    files->is_late = 0;
}

/* Repeats orders to ranks that were replaced before their file was written. */
static void set_repeat(keel_context_h ctx)
{
    keel_files_t *files = ctx->files;

    if (files->decisions == ctx->rec.decisions || keel_recovery_is_frozen(&ctx->rec) ||
        KEEL_PLANT(files_set_order_once)) {
        return;
    }
    files->decisions = ctx->rec.decisions;
    for (uint32_t r = 0; r < files->making.count; r++) {
        if (!files->ranks[r].is_written && files->ranks[r].ordered != ctx->lane.peers[r].incarnation) {
            set_order(ctx, r);
        }
    }
}

static uint64_t set_bytes(const keel_files_t *files)
{
    uint64_t bytes = 0;

    for (uint32_t r = 0; r < files->making.count; r++) {
        bytes += files->making.files[r].bytes;
    }
    return bytes;
}

/* The launcher ends the job. No request counts from here on: a runtime's abort may return. */
static void stop_end(keel_files_t *files)
{
    files->is_ending = 1;
    files->request.is_open = files->stop.is_open = 0;
}

void keel_files_set_completed(keel_context_h ctx, const keel_write_result_t *result)
{
    keel_files_t *files = ctx->files;

    files->is_completing = 0;
    if (result->error != 0) {
        set_failed(ctx, 0, result->error);
        return;
    }
    ctx->stats.file_checkpoints++;
    files->reported_error = 0;
    files->last_ns = keel_files_now(ctx);
    keel_trace_span(ctx->lane.trace, KEEL_TRACE_FILE, files->making.id.generation, files->begun_ns, set_bytes(files));
    files->making.id.generation = 0;
    files->is_prune_due = 1;
    files->prune = (keel_write_job_t){.kind = KEEL_WRITE_PRUNE, .id = result->job.id, .keep = ctx->config.file_keep};
    if (files->is_requested) {
        files->request.is_open = 0; /* the writer may have seen another one by now */
    }
    keel_info(&ctx->message, "checkpoint %u is in %s, after %.3f s", result->job.id.generation, ctx->config.file_dir,
              (double)(files->last_ns - files->begun_ns) * 1e-9);
    if (!files->is_set_hurried) { /* without a rate a set takes less time */
        keel_files_interval_measured(ctx, (double)(files->last_ns - files->begun_ns) * 1e-9);
    }
    if (files->is_stopping && !files->is_ending) {
        stop_end(files);
        ctx->runtime->ops->abort(ctx->runtime, KEEL_EXIT_STOPPED, "the job has stopped, with a checkpoint in files");
        /* Only now: a replacement of the leader has to see the request. If this process ends
         * before, the next job removes the file. */
        keel_writer_end_stop(files->writer);
    }
    if (result->remove_error != 0) {
        keel_warn(&ctx->message, "the request in %s is met, and its file cannot be removed: %s", ctx->config.file_dir,
                  keel_files_error(result->remove_error));
    }
}

void keel_files_set_pruned(keel_context_h ctx, const keel_write_result_t *result)
{
    if (result->remove_error != 0) {
        keel_warn(&ctx->message, "an older checkpoint in %s cannot be removed: %s", ctx->config.file_dir,
                  keel_files_error(result->remove_error));
    }
}

/* The files of a stop did not come in time. The program's thread leaves the folder alone, because
 * the file system may not answer: the next job removes KEEL_FILES_STOP. */
static void stop_failed(keel_context_h ctx)
{
    stop_end(ctx->files);
    keel_error_ctx(ctx, "no checkpoint is complete in %s within %g s of the stop (KEEL_FILE_STOP_WITHIN): the job ends",
                   ctx->config.file_dir, ctx->config.file_stop_within_s);
    ctx->runtime->ops->abort(ctx->runtime, STATUS_LATE, "a stop without a checkpoint in files");
}

/* The newest generation that may have begun. A checkpoint begins at the other ranks once the leader
 * has arrived at its gsync with the order, while the leader still waits there. UINT32_MAX: not
 * known, during a recovery: a replacement has no generation yet, and a decision may take up a
 * checkpoint that seems aborted. */
static uint32_t set_newest(keel_context_h ctx)
{
    const uint32_t used = ctx->ckpt.set.used.number;
    const uint32_t ordered = KEEL_PLANT(files_set_order_unnoted) ? ctx->ckpt.set.making.number : ctx->rec.arrived;

    if (!set_is_settled(ctx)) {
        return UINT32_MAX;
    }
    return (ordered > used) ? ordered : used;
}

static void stop_forget(keel_files_t *files, uint32_t rank)
{
    files->stop_asked -= files->ranks[rank].stop_asked != 0;
    files->ranks[rank].stop_asked = 0;
}

void keel_files_set_stop_begins(keel_context_h ctx, uint32_t rank)
{
    keel_files_t *files = ctx->files;

    if (rank < files->making.count) {
        stop_forget(files, rank);
        files->stop_asked++;
        files->ranks[rank].stop_asked = ctx->lane.peers[rank].incarnation + 1;
        files->ranks[rank].stop_looks = 0;
    }
}

void keel_files_set_stop_ends(keel_context_h ctx, uint32_t rank, int error)
{
    keel_files_t *files = ctx->files;

    if (rank >= files->making.count) {
        return;
    }
    if (error != 0 || files->writer == NULL) {
        stop_forget(files, rank);
    } else {
        files->ranks[rank].stop_looks = keel_writer_looks(files->writer) + 2;
    }
}

/* True if a rank asks for a stop, and the writer has not looked for its file yet. A rank that died
 * in its call repeats the call. */
static int set_is_stop_asked(keel_context_h ctx)
{
    keel_files_t *files = ctx->files;
    const uint64_t looks = (files->stop_asked > 0) ? keel_writer_looks(files->writer) : 0;

    for (uint32_t r = 0; r < files->making.count && files->stop_asked > 0; r++) {
        const keel_files_rank_t *rank = &files->ranks[r];

        if (rank->stop_asked != 0 && (rank->stop_asked != ctx->lane.peers[r].incarnation + 1 ||
                                      (rank->stop_looks != 0 && looks >= rank->stop_looks))) {
            stop_forget(files, r);
        }
    }
    return files->stop_asked > 0;
}

/* True in keel_finalize(): the program needs no checkpoint any more. After a rollback the word
 * counts until the second gsync. */
static int set_is_final(keel_context_h ctx)
{
    return ((ctx->lane.slot.flags[0] | ctx->lane.slot.flags[1]) & KEEL_ARRIVE_FINAL) != 0;
}

/* Looks for requests, and has a checkpoint taken for them at the next safe gsync. */
static void set_look(keel_context_h ctx)
{
    keel_files_t *files = ctx->files;
    const uint32_t used = ctx->ckpt.set.used.number, making = ctx->ckpt.set.making.number, newest = set_newest(ctx);
    const int is_requested = keel_writer_is_requested(files->writer);
    const int is_stop_asked = set_is_stop_asked(ctx);
    const int is_stopping = keel_writer_is_stopping(files->writer) || is_stop_asked;
    const uint64_t now_ns = (is_requested || is_stopping) ? keel_files_now(ctx) : 0;

    keel_files_ask_look(&files->request, is_requested, newest, now_ns);
    keel_files_ask_look(&files->stop, is_stopping, newest, now_ns);
    if (newest != UINT32_MAX && used < files->seen && making < files->seen) {
        files->seen = used; /* after a rollback, or a replacement's first generation */
    }
    if ((is_requested || is_stopping) && newest != UINT32_MAX && files->making.id.generation == 0 && making == 0 &&
        (used <= files->seen || !set_is_asked(files, used)) && !KEEL_PLANT(files_set_request_unheeded)) {
        keel_ckpt_request_retry(&ctx->ckpt);
    }
    if ((is_requested || is_stopping) && files->making.id.generation != 0 && !files->is_set_hurried) {
        set_hurry_all(ctx); /* the set that meets the request comes next */
    }
    if (is_stopping && !set_is_final(ctx) &&
        keel_files_ask_is_late(&files->stop, now_ns, ctx->config.file_stop_within_s)) {
        stop_failed(ctx);
    }
}

void keel_files_set_step(keel_context_h ctx)
{
    keel_files_t *files = ctx->files;

    if (!files->is_ending) {
        set_look(ctx);
    }
    if (files->making.id.generation > ctx->ckpt.set.used.number) {
        set_failed(ctx, 0, ECANCELED); /* the generation is not in use any more */
    }
    if (files->making.id.generation == 0) {
        if (files->is_prune_due && !keel_writer_is_busy(files->writer)) {
            files->is_prune_due = 0;
            keel_writer_begin(files->writer, &files->prune);
        } else if (!files->is_prune_due && !keel_writer_is_busy(files->writer)) {
            /* the files of a new set have to be safe from the removal */
            set_consider(ctx);
        }
    } else if (files->missing > 0) {
        set_repeat(ctx);
        set_wait(ctx);
    } else if (!files->is_completing && !keel_writer_is_busy(files->writer)) {
        const keel_write_job_t job = {.kind = KEEL_WRITE_MANIFEST,
                                      .id = files->making.id,
                                      .manifest = &files->making,
                                      .meets_request = files->is_requested};

        files->is_completing = 1;
        keel_writer_begin(files->writer, &job);
    } else {
        set_wait(ctx);
    }
}
