/*
 * Demand checkpoints [F 6.2]: images of single processes. They allow trimming the logs towards
 * these processes while a rollback still goes back to the coordinated generation.
 *
 * A set (image_set.h) has the newest image of each member, from a demand checkpoint or from the
 * generation in use, and parity over these images. A set uses slots of its own
 * (KEEL_SLOTS_COORDINATED and up) and overwrites nothing of the generation.
 *
 * Safety. No agreement by messages is needed. A process announces in its arrival at gsync n that it
 * copies its image there. All ranks wait for the second arrival word as for a coordinated image, so
 * the image is exactly the state of the rank at n, whatever the program does after n (atomics,
 * waits). A rank that leaves gsync m having seen that every member of a group has its share of the
 * set in the making takes the set into use; members and all other ranks use the same rule. So all
 * ranks that leave m by arrivals agree. The decision after a death takes the highest positions that
 * any rank reports, and all members have their parts of those. A death, or the start of a
 * coordinated checkpoint, gives up every set in the making. A set is built on the generation in use
 * and becomes void with the generation.
 */
#ifndef KEEL_CKPT_DEMAND_H_
#define KEEL_CKPT_DEMAND_H_

#include "ckpt/coordinated.h"

/* gsyncs during which the parity of a set is computed in the background */
#define KEEL_DEMAND_BACKGROUND_GSYNCS 2u

/* newest demand image of a rank, known to all ranks: the start of its replay */
typedef struct keel_demand_start {
    uint32_t position;     /* 0: the generation in use */
    uint32_t window_calls; /* collective window calls before it */
} keel_demand_start_t;

/* A demand image of @a rank is in use: logs of this rank are needed only from @a position on. */
typedef void (*keel_demand_cb_t)(void *arg, uint32_t rank, uint32_t position);

typedef struct keel_demand {
    keel_ckpt_t *ckpt;
    /* set on top of the generation; without parity there are no demand checkpoints */
    keel_image_set_t set;
    keel_demand_start_t *starts, *pending; /* by rank; pending: images in the making */
    uint32_t *group_pending;               /* by group: position of the pending images, 0: none */
    uint32_t copied_at;                    /* newest gsync in which any rank copied an image */
    /* A peer wants an image of this process at this gsync or later. 0: no request. */
    uint32_t asked;
    int is_rebuilt; /* replacement: the own image of the set is rebuilt, or there is none */
    keel_demand_cb_t on_image;
    void *arg;
    uint64_t taken, committed;
} keel_demand_t;

keel_status_t keel_demand_init(keel_demand_t *demand, keel_ckpt_t *ckpt);
/* Registers the callback for each rank's image that comes into use. Call before everything else. */
static inline void keel_demand_set_callback(keel_demand_t *demand, keel_demand_cb_t on_image, void *arg)
{
    demand->on_image = on_image;
    demand->arg = arg;
}
/* requests an image of this process at gsync @a number or later */
static inline void keel_demand_ask(keel_demand_t *demand, uint32_t number)
{
    demand->asked = keel_larger(demand->asked, number);
}
void keel_demand_release(keel_demand_t *demand);
/* The groups have changed. @a before: the previous index of this process in its group.
 * Precondition: keel_demand_reset(). */
keel_status_t keel_demand_regroup(keel_demand_t *demand, uint32_t before);

/* Flags KEEL_ARRIVE_* for the arrival of this process. @a may_copy: an image taken at this gsync
 * can be restored. */
unsigned keel_demand_flags(const keel_demand_t *demand, int may_copy);
/* Called on leaving gsync @a number after all arrivals. @a window_calls: collective window calls
 * made up to here. */
void keel_demand_leave(keel_demand_t *demand, uint32_t number, int is_checkpoint, uint32_t window_calls);
/* does rank @a r copy its image in gsync @a number? */
static inline int keel_demand_is_copied(const keel_demand_t *demand, uint32_t r, uint32_t number)
{
    return demand->copied_at == number && demand->pending[r].position == number;
}
/* Copies the own image. The group is informed when the comparison with the previous image is
 * complete. */
void keel_demand_take(keel_demand_t *demand, const keel_image_meta_t *meta, const keel_part_t *parts, unsigned count);
void keel_demand_step(keel_demand_t *demand); /* bounded work, from progress */
/* The set has been in the making for so long that this process must finish its part before its
 * arrival at gsync @a number, as far as the part depends on no other process. So logs grow by a
 * few phases more, however many phases a fast program passes. */
int keel_demand_is_late(const keel_demand_t *demand, uint32_t number);
void keel_demand_abort(keel_demand_t *demand);
/* A generation came into use, or all ranks roll back to it: no demand images remain. */
void keel_demand_reset(keel_demand_t *demand);

/* rollback, after all ranks have stopped: announcements of images become void */
void keel_demand_forget(keel_demand_t *demand);

/* ---- recovery ---- */

/* Adopts a decision: every rank's newest image, 0: the image of the decided generation. A
 * replacement finds in used the set from which its own image must be rebuilt. */
void keel_demand_adopt(keel_demand_t *demand, const keel_demand_start_t *starts, int is_fresh);
/* Replacement: begins to compute the own image of the set, if the set has one. The generation is
 * rebuilt already. */
keel_status_t keel_demand_rebuild_begin(keel_demand_t *demand);
/* KEEL_INPROGRESS, then KEEL_OK with the verified image in its slot */
keel_status_t keel_demand_rebuild_step(keel_demand_t *demand);
keel_status_t keel_demand_rearm(keel_demand_t *demand);

#endif
