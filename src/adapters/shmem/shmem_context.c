/* Contexts: a name for a team's numbering of PEs. Completing one context completes all. */
#include "teams/shmem_team_state.h"

/* Returns the context; NULL: SHMEM_CTX_INVALID. Refuses invalid handles. */
static keel_shmem_context_t *context(shmem_ctx_t ctx, const char *call)
{
    const uint64_t handle = (uintptr_t)ctx;
    const size_t entry = (size_t)(handle - 1) & 0xffff;

    (void)keel_shmem_begin(call);
    if (ctx == SHMEM_CTX_INVALID) {
        return NULL;
    }
    if (entry >= KEEL_SHMEM_CONTEXTS || !keel_shmem_teams()->contexts[entry].is_used ||
        keel_shmem_handle(entry, keel_shmem_teams()->contexts[entry].serial) != handle) {
        keel_shmem_refuse(call, "not a context", handle);
    }
    return &keel_shmem_teams()->contexts[entry];
}

int keel_shmem_ctx_pe(shmem_ctx_t ctx, int pe, const char *call)
{
    const keel_shmem_context_t *entry = context(ctx, call);

    if (entry == NULL) {
        keel_shmem_refuse(call, "not a context", 0);
    }
    if (pe < 0 || (uint32_t)pe >= entry->size) {
        keel_shmem_refuse(call, "there is no PE of this number in the context's team", (uint64_t)(int64_t)pe);
    }
    return entry->start + pe * entry->stride;
}

KEEL_SHMEM_DEFINE(int, team_create_ctx, (shmem_team_t team, long options, shmem_ctx_t *ctx))
{
    const keel_shmem_team_t *of = keel_shmem_team(team, KEEL_SHMEM_CALL);
    keel_shmem_context_t *contexts = keel_shmem_teams()->contexts;
    unsigned i = 0;

    *ctx = SHMEM_CTX_INVALID;
    if (of == NULL || (options & ~(SHMEM_CTX_SERIALIZED | SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE)) != 0) {
        return -1;
    }
    keel_shmem_enter();
    while (i < KEEL_SHMEM_CONTEXTS && contexts[i].is_used) {
        i++;
    }
    if (i < KEEL_SHMEM_CONTEXTS) {
        contexts[i] = (keel_shmem_context_t){.is_used = 1,
                                             .start = of->start,
                                             .stride = of->stride,
                                             .size = of->size,
                                             .serial = contexts[i].serial,
                                             .team = (uintptr_t)team,
                                             .options = options};
    }
    (void)keel_shmem_leave(KEEL_OK);
    if (i == KEEL_SHMEM_CONTEXTS) {
        return -1;
    }
    *ctx = (shmem_ctx_t)(uintptr_t)keel_shmem_handle(i, contexts[i].serial);
    return 0;
}

KEEL_SHMEM_DEFINE(int, ctx_create, (long options, shmem_ctx_t *ctx))
{
    return pshmem_team_create_ctx(SHMEM_TEAM_WORLD, options, ctx);
}

KEEL_SHMEM_DEFINE(void, ctx_destroy, (shmem_ctx_t ctx))
{
    keel_shmem_context_t *entry = context(ctx, KEEL_SHMEM_CALL);

    if (entry == NULL) {
        return;
    }
    if (ctx == SHMEM_CTX_DEFAULT) {
        keel_shmem_refuse(KEEL_SHMEM_CALL, "the default context is there for good", (uintptr_t)ctx);
    }
    keel_shmem_quiet(KEEL_SHMEM_CALL);
    keel_shmem_enter();
    entry->is_used = 0;
    entry->serial++;
    (void)keel_shmem_leave(KEEL_OK);
}

KEEL_SHMEM_DEFINE(void, ctx_fence, (shmem_ctx_t ctx))
{
    if (context(ctx, KEEL_SHMEM_CALL) != NULL) {
        keel_shmem_fence(KEEL_SHMEM_CALL);
    }
}

KEEL_SHMEM_DEFINE(void, ctx_quiet, (shmem_ctx_t ctx))
{
    if (context(ctx, KEEL_SHMEM_CALL) != NULL) {
        keel_shmem_quiet(KEEL_SHMEM_CALL);
    }
}

KEEL_SHMEM_DEFINE(int, ctx_get_team, (shmem_ctx_t ctx, shmem_team_t *team))
{
    const keel_shmem_context_t *entry = context(ctx, KEEL_SHMEM_CALL);

    *team = (entry != NULL) ? (shmem_team_t)(uintptr_t)entry->team : SHMEM_TEAM_INVALID;
    return (entry != NULL) ? 0 : -1;
}
