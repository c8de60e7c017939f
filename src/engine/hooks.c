/* Lists of hooks; see hooks.h. */
#include "engine/hooks.h"
#include "engine/context.h"

#include <assert.h>

void keel_hooks_add(keel_context_h ctx, keel_hook_point_t point, keel_hook_t hook)
{
    keel_hook_t *list = ctx->hooks.list[point];
    unsigned i = 0;

    while (list[i] != NULL) {
        i++;
    }
    assert(i < KEEL_HOOKS_MAX);
    list[i] = hook;
}

void keel_hooks_run(keel_context_h ctx, keel_hook_point_t point)
{
    for (const keel_hook_t *hook = ctx->hooks.list[point]; *hook != NULL; hook++) {
        (*hook)(ctx);
    }
}
