/*
 * The start of a job with KEEL_FILE_DIR. The leader proposes complete sets, the newest first; each
 * rank loads its image of the proposed set and answers; the leader then begins there, proposes the
 * next set, or gives up. A death before the end of the restart ends the job: nothing is computed
 * yet, and the launcher starts it again. Until then no rank sends a report, so a replacement gets
 * no decision and its program does not begin.
 */
#include "job/files_start.h"
#include "job/files_message.h"
#include "job/files.h"
#include "engine/context.h"

#include "base/memory.h"
#include "check/plant.h"
#include "ckpt/repair.h"
#include "peer/members.h"
#include "recovery/recover.h"
#include "recovery/rollback.h"
#include "recovery/view.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* ---- loading ---- */

/* Reads the own image into the first slot, and verifies it. */
static int load_image(keel_context_h ctx, int set, const keel_files_message_t *wanted, keel_image_meta_t *meta_p)
{
    const uint64_t bytes = ctx->ckpt.set.sizes[ctx->ckpt.group.index];
    char name[KEEL_FILES_NAME_MAX];
    const char *why = NULL;
    uint32_t crc;
    void *slot;
    int file, error;

    if (bytes != wanted->bytes) {
        return EBADMSG;
    }
    if (keel_image_set_region(&ctx->ckpt.set, KEEL_REGION_IMAGE0, bytes, 0, &slot) != KEEL_OK) {
        return ENOMEM;
    }
    keel_set_rank_name(ctx->lane.rank, name);
    file = openat(set, name, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return errno;
    }
    error = keel_set_read_crc(file, slot, bytes, &crc);
    close(file);
    if (error == 0 && (keel_image_check(slot, bytes, meta_p, &why) != KEEL_OK || meta_p->rank != ctx->lane.rank ||
                       meta_p->generation != wanted->generation || crc != wanted->crc)) {
        keel_error_ctx(ctx, "checkpoint %u in %s: the file of this rank is damaged: %s", wanted->generation,
                       ctx->config.file_dir, (why != NULL) ? why : "not the file of this checkpoint");
        error = EBADMSG;
    }
    return error;
}

/* Loads the own image and the sizes of the group's images. */
static int load(keel_context_h ctx, const keel_files_message_t *wanted, keel_image_meta_t *meta_p)
{
    const keel_set_id_t id = {.generation = wanted->generation, .run = wanted->run};
    keel_image_set_t *images = &ctx->ckpt.set;
    int set, error = keel_set_open(keel_folder_dir(&ctx->files->folder), id, 0, &set);

    if (error != 0) {
        return error;
    }
    for (uint32_t i = 0; i < images->count && error == 0; i++) {
        const uint32_t rank = (images->group->size > 0) ? images->group->members[i] : ctx->lane.rank;

        images->sizes[i] = 0;
        if (keel_parity_has_image(images->group, i)) {
            error = keel_set_rank_size(set, rank, &images->sizes[i]);
        }
    }
    if (error == 0 && ctx->lane.rank < ctx->lane.programs) {
        error = load_image(ctx, set, wanted, meta_p);
    }
    close(set);
    return error;
}

/* The context becomes that of a replacement amid a rollback to the loaded generation. */
static void begin_at(keel_context_h ctx, const keel_files_message_t *begin, const keel_image_meta_t *meta)
{
    const keel_generation_t generation = {.number = begin->generation, .window_calls = begin->window_calls};

    keel_ckpt_adopt_loaded(&ctx->ckpt, &generation, meta);
    keel_rollback_begin_at(&ctx->rec, &generation);
    ctx->is_restore_due = 1;
}

/* One rank prints for all: the lowest one that is up. */
static int is_lowest(const keel_context_h ctx)
{
    for (uint32_t r = 0; r < ctx->lane.rank; r++) {
        if (ctx->lane.peers[r].is_up && ctx->lane.peers[r].incarnation == 0) {
            return 0;
        }
    }
    return 1;
}

keel_status_t keel_files_start_wait(keel_context_h ctx, unsigned *rounds)
{
    keel_status_t status = keel_context_wait(ctx, rounds);

    if (status == KEEL_ERR_ROLLED_BACK) {
        status = KEEL_OK; /* other ranks had begun: keel_restore() rolls back */
    }
    if (status == KEEL_OK && ctx->rec.is_undecided && (keel_recovery_is_frozen(&ctx->rec) || ctx->rec.deaths > 0) &&
        !KEEL_PLANT(files_start_death_unseen)) {
        if (is_lowest(ctx)) {
            keel_error_ctx(ctx, "a rank died while the job began from files: the job has to be started again");
        }
        ctx->runtime->ops->abort(ctx->runtime, KEEL_EXIT_AGAIN, "a death while the job began from files");
        keel_recovery_fail(&ctx->rec, KEEL_ERR_CATASTROPHIC);
        status = KEEL_ERR_CATASTROPHIC;
    }
    return status;
}

/* ---- ranks but 0 ---- */

static keel_status_t follow(keel_context_h ctx)
{
    keel_files_t *files = ctx->files;
    keel_image_meta_t meta = {.generation = 0};
    unsigned rounds = 0;

    for (;;) {
        keel_status_t status = KEEL_OK;

        while (status == KEEL_OK && !files->is_start_due) {
            status = keel_files_start_wait(ctx, &rounds);
        }
        if (files->is_start_due && files->start.kind == KEEL_FILES_GIVE_UP) {
            keel_recovery_note_finished(&ctx->rec);
            return KEEL_ERR_STATE; /* the leader prints the reason */
        }
        if (status != KEEL_OK) {
            return status;
        }
        files->is_start_due = 0;
        if (files->start.kind == KEEL_FILES_BEGIN) {
            if (files->start.generation != 0) {
                begin_at(ctx, &files->start, &meta);
            }
            return KEEL_OK;
        }
        if (files->start.kind == KEEL_FILES_LOAD) {
            keel_files_message_t answer = files->start;

            answer.kind = KEEL_FILES_LOADED;
            answer.error = (uint32_t)load(ctx, &files->start, &meta);
            keel_files_send(ctx, ctx->lane.leader, &answer);
        }
    }
}

/* ---- the leader ---- */

static void lead_all(keel_context_h ctx, const keel_files_message_t *message)
{
    KEEL_EACH_MEMBER(r, &ctx->lane) {
        if (r != ctx->lane.leader) {
            keel_files_send(ctx, r, message);
        }
    }
}

/* Sets the size and crc of the rank's file; 0 for a checksum rank, which has none. */
static void propose_part(const keel_manifest_t *manifest, uint32_t rank, keel_files_message_t *message)
{
    message->bytes = (rank < manifest->count) ? manifest->files[rank].bytes : 0;
    message->crc = (rank < manifest->count) ? manifest->files[rank].crc : 0;
}

/* Proposes a set. Returns KEEL_OK with *is_loaded_p: every rank has its image. */
static keel_status_t propose(keel_context_h ctx, const keel_manifest_t *manifest, keel_image_meta_t *meta_p,
                             int *is_loaded_p)
{
    keel_files_t *files = ctx->files;
    keel_files_message_t message = {
        .kind = KEEL_FILES_LOAD, .generation = manifest->id.generation, .run = manifest->id.run};
    const uint32_t others = keel_member_count(&ctx->lane) - 1;
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;

    files->answers = files->refusals = files->refusing = 0;
    KEEL_EACH_MEMBER(r, &ctx->lane) {
        if (r != ctx->lane.leader) {
            propose_part(manifest, r, &message);
            keel_files_send(ctx, r, &message);
        }
    }
    propose_part(manifest, ctx->lane.leader, &message);
    files->refusal = load(ctx, &message, meta_p);
    files->refusals = files->refusal != 0;
    while (status == KEEL_OK && files->answers < others - KEEL_PLANT(files_start_answer_unawaited)) {
        status = keel_files_start_wait(ctx, &rounds);
    }
    *is_loaded_p = files->refusals == 0 || KEEL_PLANT(files_start_refusal_ignored);
    return status;
}

/* True if the set is one of this program. Reports the difference. */
static int is_ours(keel_context_h ctx, const keel_manifest_t *manifest)
{
    const keel_manifest_t *own = &ctx->files->making;

    if (manifest->count != own->count) {
        keel_error_ctx(ctx, "checkpoint %u in %s is of %u ranks, and this job has %u", manifest->id.generation,
                       ctx->config.file_dir, manifest->count, own->count);
        return 0;
    }
    if (strcmp(manifest->program, own->program) != 0) {
        keel_error_ctx(ctx, "checkpoint %u in %s is of the program %s, and this is %s", manifest->id.generation,
                       ctx->config.file_dir, manifest->program, own->program);
        return 0;
    }
    return 1;
}

/* Reads the manifest of a set; 0 or an errno. */
static int read_manifest(keel_context_h ctx, keel_set_id_t id, keel_manifest_t *manifest_p)
{
    const char *why;
    int set, error = keel_set_open(keel_folder_dir(&ctx->files->folder), id, 0, &set);

    if (error != 0) {
        return error;
    }
    error = keel_manifest_read(set, KEEL_FILES_MANIFEST, manifest_p, &why);
    close(set);
    if (error == 0 && !keel_set_id_is(manifest_p->id, id)) {
        keel_manifest_release(manifest_p);
        error = EBADMSG;
    }
    return error;
}

typedef enum { TRY_NEXT, TRY_LOADED, TRY_REFUSED } try_t;

static keel_status_t try_set(keel_context_h ctx, keel_set_id_t id, keel_image_meta_t *meta_p, try_t *try_p)
{
    keel_files_t *files = ctx->files;
    keel_manifest_t manifest;
    keel_status_t status = KEEL_OK;
    int error, is_loaded = 0;

    files->refusing = 0;
    error = read_manifest(ctx, id, &manifest);
    if (error == 0 && !is_ours(ctx, &manifest)) {
        *try_p = TRY_REFUSED;
        keel_manifest_release(&manifest);
        return KEEL_OK;
    }
    if (error == 0) {
        status = propose(ctx, &manifest, meta_p, &is_loaded);
        error = files->refusal;
        keel_manifest_release(&manifest);
    }
    *try_p = is_loaded ? TRY_LOADED : TRY_NEXT;
    if (status == KEEL_OK && !is_loaded) {
        keel_warn(&ctx->message, "checkpoint %u in %s cannot be read (rank %u: %s): an older one is looked for",
                  id.generation, ctx->config.file_dir, files->refusing, keel_files_error(error));
    }
    return status;
}

/* Tells all ranks where the job begins. */
static keel_status_t lead_end(keel_context_h ctx, const keel_files_message_t *end, const keel_image_meta_t *meta)
{
    lead_all(ctx, end);
    if (end->kind == KEEL_FILES_GIVE_UP) {
        keel_recovery_finish(&ctx->rec); /* the others leave, too */
        keel_error_ctx(ctx, "no checkpoint in %s can be restarted from: empty the folder to begin at the start",
                       ctx->config.file_dir);
        return KEEL_ERR_STATE;
    }
    if (end->generation != 0) {
        keel_info(&ctx->message, "the job restarts from checkpoint %u in %s", end->generation, ctx->config.file_dir);
        begin_at(ctx, end, meta);
    }
    return KEEL_OK;
}

static keel_status_t lead(keel_context_h ctx)
{
    keel_files_message_t end = {.kind = KEEL_FILES_BEGIN};
    keel_image_meta_t meta = {.generation = 0};
    keel_status_t status = KEEL_OK;
    keel_set_id_t *ids = NULL;
    unsigned count = 0;
    try_t result = TRY_NEXT;
    int error = keel_set_list(keel_folder_dir(&ctx->files->folder), &ids, &count);

    if (error != 0) {
        keel_error_ctx(ctx, "KEEL_FILE_DIR %s: %s", ctx->config.file_dir, strerror(error));
        end.kind = KEEL_FILES_GIVE_UP;
    }
    for (unsigned i = 0; status == KEEL_OK && i < count && result == TRY_NEXT; i++) {
        const int has = keel_set_has(keel_folder_dir(&ctx->files->folder), ids[i], KEEL_FILES_MANIFEST);

        if (has <= 0) {
            end.kind = (has < 0) ? KEEL_FILES_GIVE_UP : end.kind;
            continue;
        }
        status = try_set(ctx, ids[i], &meta, &result);
        if (result == TRY_LOADED) {
            end.kind = KEEL_FILES_BEGIN;
            end.generation = ids[i].generation;
            end.run = ids[i].run;
            end.window_calls = meta.window_calls;
        } else {
            end.kind = KEEL_FILES_GIVE_UP; /* unless an older one can be read */
        }
    }
    keel_free(ids);
    return (status == KEEL_OK) ? lead_end(ctx, &end, &meta) : status;
}

keel_status_t keel_files_start(keel_context_h ctx)
{
    keel_status_t status = KEEL_OK;

    if (ctx->files == NULL) {
        return KEEL_OK;
    }
    if (ctx->lane.incarnation == 0) {
        status = keel_lane_is_leader(&ctx->lane) ? lead(ctx) : follow(ctx);
        keel_view_set_undecided(&ctx->rec, 0);
    }
    return (status == KEEL_OK) ? keel_files_writer_begin(ctx) : status;
}
