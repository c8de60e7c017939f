/*
 * Hooks: calls from the engine to the rooms above. A room adds its hooks while the context is made;
 * the engine knows no upper room by name, so its loop can be read and tested alone. The hooks of a
 * list run in the order of their addition, on the thread inside Keel.
 */
#ifndef KEEL_ENGINE_HOOKS_H_
#define KEEL_ENGINE_HOOKS_H_

#include <keel/keel.h>

typedef enum keel_hook_point {
    /* the program is about to communicate for the first time since the context was made */
    KEEL_HOOK_BEGIN,
    KEEL_HOOK_PROGRESS, /* after each look at the network: advance pending accesses */
    /* run the program's completion callbacks; an access in a callback may wait */
    KEEL_HOOK_CALL_BACK,
    /* a call is about to wait, or the program asked for progress: wake peers that sleep until
     * this rank acts */
    KEEL_HOOK_WAIT,
    /* a call is about to fail: pending accesses must not write to the program's memory any more */
    KEEL_HOOK_MUTE,
    KEEL_HOOK_ROLLED_BACK, /* the program is about to learn that the job rolls back */
    KEEL_HOOK_IMAGE,       /* an image is about to be copied to the slot that is not in use */
    KEEL_HOOK_FATAL,       /* keel_restore() is about to fail for good */
    KEEL_HOOK_PHASE,       /* a gsync is over and the next phase begins */
    KEEL_HOOK_LAST
} keel_hook_point_t;

typedef void (*keel_hook_t)(keel_context_h ctx);

enum { KEEL_HOOKS_MAX = 4 }; /* of one list */

/* Actions of a rehearsal (KEEL_REHEARSE) in each gsync. */
typedef struct keel_rehearsal_ops {
    /* The leader: true while some rank has yet to be killed. Until then the rehearsal decides when
     * images are taken. */
    int (*orders)(const keel_context_h ctx);
    /* Before a safe gsync: an image is due because a replacement is to begin here. */
    int (*wants_image)(const keel_context_h ctx);
    /* Before the arrival: sums the puts of the phase and protected regions. */
    void (*arrive)(keel_context_h ctx);
    /* On leaving gsync @a number, before the new position is announced: sums windows. */
    void (*leave)(keel_context_h ctx, uint32_t number, int was_front);
    /* After a gsync, on the ranks that were at the front: the second barrier. Does not return on
     * the rank that is killed next. */
    keel_status_t (*end)(keel_context_h ctx, uint32_t number, unsigned flags);
} keel_rehearsal_ops_t;

typedef struct keel_hooks {
    keel_hook_t list[KEEL_HOOK_LAST][KEEL_HOOKS_MAX + 1]; /* each list ends with NULL */
} keel_hooks_t;

/* Adds a hook at the end of the list of @a point. A full list is a programmer's error. */
void keel_hooks_add(keel_context_h ctx, keel_hook_point_t point, keel_hook_t hook);
/* Calls all hooks of @a point. */
void keel_hooks_run(keel_context_h ctx, keel_hook_point_t point);

#endif
