/*
 * Admission: everything between the check of an access's arguments and the access, off the fast
 * paths.
 *
 * All kinds of access follow one order. First, an access that no log orders makes the program mix,
 * and every later death a rollback. Such an access is unlogged, or lacks the lock that a program
 * with locks must hold. Mixing may wait, and callbacks run in a wait, so determinants are made
 * stable afterwards. The announcement to the target comes last and therefore includes MIXES.
 */
#include "access/admit.h"
#include "access/target.h"

#include "check/plant.h"
#include "order/mix.h"

/* programs that lock: mixes when the rank is not locked for this access */
static keel_status_t admit_bare(keel_context_h ctx, uint32_t rank, int is_write)
{
    const keel_sections_t *s = &ctx->sync.sections;

    if (keel_sync_style(&ctx->sync) != KEEL_STYLE_LOCKS || s->held[rank] == KEEL_HELD_WRITING ||
        (s->held[rank] == KEEL_HELD_READING && !is_write)) {
        return KEEL_OK;
    }
    return keel_mix(ctx, KEEL_WAY_BARE, "an access");
}

keel_status_t keel_access_admit(keel_win_h win, uint32_t rank, keel_access_kind_t kind, const char *call)
{
    keel_context_h ctx = win->ctx;
    const int is_unlogged =
        kind == KEEL_ACCESS_UNLOGGED || (keel_win_is_by_message(win, rank) && !KEEL_PLANT(admit_message_unmixed));
    const int is_poll =
        kind == KEEL_ACCESS_POLL || (kind == KEEL_ACCESS_GET && (ctx->polls != NULL || rank == ctx->lane.rank));
    const keel_status_t status =
        is_unlogged ? keel_mix(ctx, KEEL_WAY_UNLOGGED, call) : admit_bare(ctx, rank, kind == KEEL_ACCESS_PUT);

    if (status != KEEL_OK) {
        return status;
    }
    return is_poll ? keel_mix_poll(ctx, rank) : keel_mix_access(ctx, rank);
}
