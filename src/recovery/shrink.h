/*
 * Going on without gone ranks (protocol/shrink.md). A gone rank is a dead rank that the launcher
 * declared to have no replacement. The other ranks go on by the steps of a rollback: a decision,
 * KEEL_ERR_ROLLED_BACK, drain, barrier, restore, barrier. The decision has the order of the gone.
 * With checkpoints the ranks go on from the newest generation. Without (KEEL_PROTECT=none) the
 * ranks go on from the front with the memory that they have, and the decision has the front and
 * the windows made up to the front.
 */
#ifndef KEEL_RECOVERY_SHRINK_H_
#define KEEL_RECOVERY_SHRINK_H_

#include "recovery/recovery.h"
#include "recovery/view.h"

keel_status_t keel_shrink_init(keel_recovery_t *rec);
void keel_shrink_release(keel_recovery_t *rec);
/* The launcher declared the dead rank gone. */
void keel_shrink_gone(keel_recovery_t *rec, uint32_t rank);
void keel_shrink_fill_report(const keel_recovery_t *rec, keel_report_t *report);
/* The leader: must this decision go on without ranks that are gone? */
int keel_shrink_is_due(const keel_recovery_t *rec);
/* The leader: decides to go on from the newest generation, or from the front. */
void keel_shrink_decide(const keel_recovery_t *rec, decision_t *d);
void keel_shrink_adopt(keel_recovery_t *rec, const decision_t *d);
/* All ranks that remain have passed the last barrier: forms the groups of these ranks. */
keel_status_t keel_shrink_complete(keel_recovery_t *rec);

/* The ranks with which the process goes on since the last shrink, ascending, followed by the gone
 * ranks in their order. NULL: no memory. */
const uint32_t *keel_shrink_members(keel_recovery_t *rec);

/* True if dead ranks are gone. */
static inline int keel_shrink_is_on(const keel_recovery_t *rec)
{
    return rec->shrink.place != NULL;
}
/* True while the process goes on from the front: memory stays as it is. */
static inline int keel_shrink_is_from_front(const keel_recovery_t *rec)
{
    return rec->shrink.is_under_way && rec->lane->config->protect == KEEL_PROTECT_NONE;
}
/* True if the process works, or is about to work, without the rank. */
static inline int keel_shrink_has_left(const keel_recovery_t *rec, uint32_t rank)
{
    return rec->lane->gone > 0 && rec->shrink.place[rank] != 0;
}
/* Window calls up to the next gsync; the gsync makes them count (keel_shrink_note_gsync()). */
static inline void keel_shrink_note_windows(keel_recovery_t *rec, uint32_t calls)
{
    rec->shrink.window_calls_next = calls;
}
static inline void keel_shrink_note_gsync(keel_recovery_t *rec)
{
    rec->shrink.window_calls = rec->shrink.window_calls_next;
}

#endif
