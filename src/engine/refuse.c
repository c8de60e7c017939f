/* Refusal of invalid arguments: parameters before there is a context, and windows that are gone. */
#include "engine/refuse.h"
#include "engine/context.h"

#include <string.h>

enum { SIGNALS = 64 }; /* of Linux */

static const keel_message_t nobody = {.level = KEEL_MSG_ERROR, .rank = KEEL_MESSAGE_NO_RANK};

keel_status_t keel_refuse_null(const char *what)
{
    keel_error(&nobody, "%s is NULL", what);
    return KEEL_ERR_INVALID_PARAM;
}

/* each "NAME=VALUE" */
static keel_status_t params_check_env(const char *const *env)
{
    for (; env != NULL && *env != NULL; env++) {
        const char *sign = strchr(*env, '=');

        if (sign == NULL || sign == *env) {
            keel_error(&nobody, "keel_params_t: env has '%s', expected NAME=VALUE", *env);
            return KEEL_ERR_INVALID_PARAM;
        }
    }
    return KEEL_OK;
}

keel_status_t keel_params_check(const keel_params_t *params)
{
    const uint64_t fields =
        KEEL_PARAM_FIELD_FLAGS | KEEL_PARAM_FIELD_ENV | KEEL_PARAM_FIELD_SIGNAL | KEEL_PARAM_FIELD_PROGRESS;
    const uint64_t flags = KEEL_PARAM_FLAG_NONDETERMINISTIC | KEEL_PARAM_FLAG_CHECKSUM_RETURNS | KEEL_PARAM_FLAG_WAITS |
                           KEEL_PARAM_FLAG_THREADS | KEEL_PARAM_FLAG_POLLS;

    if (params == NULL) {
        return KEEL_OK;
    }
    if (params->field_mask & ~fields) {
        keel_error(&nobody, "keel_params_t: unknown fields 0x%lx", (unsigned long)(params->field_mask & ~fields));
        return KEEL_ERR_INVALID_PARAM;
    }
    if ((params->field_mask & KEEL_PARAM_FIELD_FLAGS) && (params->flags & ~flags)) {
        keel_error(&nobody, "keel_params_t: unknown flags 0x%lx", (unsigned long)(params->flags & ~flags));
        return KEEL_ERR_INVALID_PARAM;
    }
    if ((params->field_mask & KEEL_PARAM_FIELD_SIGNAL) && (params->signal < 1 || params->signal > SIGNALS)) {
        keel_error(&nobody, "keel_params_t: there is no signal %d", params->signal);
        return KEEL_ERR_INVALID_PARAM;
    }
    return (params->field_mask & KEEL_PARAM_FIELD_ENV) ? params_check_env(params->env) : KEEL_OK;
}

keel_status_t keel_win_refuse_freed(keel_win_h win)
{
    const unsigned number = win->region - KEEL_REGION_WINDOW0;

    if (win->freed_call == KEEL_WIN_GONE) {
        keel_error_ctx(
            win->ctx,
            "window %u%s%s is gone: the job rolled back to before its keel_win_alloc(), which has to be called again",
            number, (win->name[0] != '\0') ? " " : "", win->name);
    } else {
        keel_error_ctx(win->ctx, "window %u%s%s was freed", number, (win->name[0] != '\0') ? " " : "", win->name);
    }
    return KEEL_ERR_INVALID_PARAM;
}

keel_status_t keel_refuse_gone(keel_context_h ctx, uint32_t rank)
{
    /* another thread is in the gsync up to the front: the program learns of the shrink first */
    if (ctx->rec.shrink.place[rank] > ctx->rec.shrink.completed) {
        return KEEL_ERR_ROLLED_BACK;
    }
    keel_error_ctx(ctx, "rank %u is gone: the job goes on without the rank and its windows (keel_world)", rank);
    return KEEL_ERR_RANK;
}
