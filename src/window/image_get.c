/* keel_image_get(): the future memory of a replacement, read before the restore. */
#include "engine/threads.h"
#include "engine/context.h"
#include "engine/fork.h"
#include "engine/refuse.h"
#include "window/window.h"

#include "check/plant.h"
#include "ckpt/image.h"
#include "recovery/rebuild.h"
#include "recovery/rollback.h"

#include <string.h>

/* a further death may change the decision meanwhile */
static keel_status_t look(keel_recovery_t *rec, const void **image_p, size_t *size_p)
{
    keel_status_t status = KEEL_ERR_ROLLED_BACK;

    if (rec->roll == KEEL_ROLL_NONE && rec->rollback_reason == KEEL_ROLLBACK_NOT_REQUESTED) {
        status = keel_rebuild_peek(rec, image_p, size_p);
    }
    return (status == KEEL_ERR_ROLLED_BACK) ? keel_rollback_peek(rec, image_p, size_p) : status;
}

static keel_status_t image_get(keel_win_h win, uint64_t offset, void *buffer, size_t length)
{
    keel_context_h ctx = win->ctx;
    const void *image = NULL, *found;
    const char *why = "";
    keel_status_t status;
    size_t size = 0;

    status = look(&ctx->rec, &image, &size);
    if (status != KEEL_OK || image == NULL) {
        return (status == KEEL_OK) ? KEEL_ERR_STATE : status;
    }
    status = keel_image_check(image, size, NULL, &why);
    if (status != KEEL_OK) {
        keel_error_ctx(ctx, "keel_image_get: image of generation %u: %s", ctx->rec.restored.number, why);
        return status;
    }
    found = keel_image_find(image, win->region, offset, length);
    if (found == NULL) {
        return KEEL_ERR_RANGE;
    }
    memcpy(buffer, KEEL_PLANT(image_get_from_memory) ? (const char *)win->base + offset : found, length);
    return KEEL_OK;
}

keel_status_t keel_image_get(keel_win_h win, uint64_t offset, void *buffer, size_t length)
{
    KEEL_INSIDE_WIN(win);

    if (win == NULL || (buffer == NULL && length > 0)) {
        return keel_refuse_null(win == NULL ? "the window" : "keel_image_get: the buffer");
    }
    if (keel_fork_is_child(win->ctx)) {
        return keel_fork_refuse(win->ctx);
    }
    if (win->ctx->rec.fatal != KEEL_OK) {
        return win->ctx->rec.fatal;
    }
    if (!win->ctx->is_restore_due || win->freed_call > 0) {
        return KEEL_ERR_STATE;
    }
    if (keel_recovery_state(&win->ctx->rec) != KEEL_RANK_FRESH) {
        /* at the start of the program, or rolled back: the memory is there */
        return KEEL_ERR_STATE;
    }
    return image_get(win, offset, buffer, length);
}
