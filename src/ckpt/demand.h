/*
 * Demand checkpoints [F 6.2]: images of single processes, so that logs towards them can be trimmed while the coordinated
 * generation stays what a rollback goes back to.
 *
 * A set (image_set.h) has of each member its newest image, from a demand or of the generation in use, and parity over these.
 * It has slots of its own (KEEL_SLOTS_COORDINATED and up), so it overwrites nothing of the generation either.
 *
 * Safety. Nothing is agreed upon by messages: a process says in its arrival at gsync n that it copies its image there, all
 * wait for its second word as they do for a coordinated image, and so the image is exactly what its rank is at n, whatever
 * the program does after it (atomics, waits). Who leaves gsync m having seen that every member of a group has its share of
 * the set in the making takes the set into use, members and all others alike: so all who leave m by arrivals do, and the
 * decision after a death takes the highest positions that anybody reports, which all members have their part of. What is in
 * the making at a death, or when a coordinated checkpoint begins, is given up. A set is made over the generation in use, and
 * void with it.
 */
#ifndef KEEL_CKPT_DEMAND_H_
#define KEEL_CKPT_DEMAND_H_

#include "ckpt/coordinated.h"

#define KEEL_DEMAND_BEHIND 2u /* gsyncs in which parity of a set is computed in the background */

/* what all know of a rank's newest image of its own */
typedef struct keel_demand_start {
    uint32_t position;     /* 0: the generation in use */
    uint32_t window_calls; /* collective window calls before it */
} keel_demand_start_t;

/* a demand image is in use: logs of this rank are needed from @a position on only */
typedef void (*keel_demand_cb_t)(void *arg, uint32_t rank, uint32_t position);

typedef struct keel_demand {
    keel_ckpt_t *ckpt;
    keel_image_set_t set;                  /* over the generation; without parity there are no demand checkpoints */
    keel_demand_start_t *starts, *pending; /* by rank; pending: of images in the making */
    uint32_t *group_pending;               /* by group: their position, 0: none */
    uint32_t copied_at;                    /* the newest gsync in which some rank copied an image */
    uint32_t asked; /* somebody wants an image of this process at this gsync or later; 0: nobody */
    int is_rebuilt; /* replacement: what of the set is its own to begin from is there */
    keel_demand_cb_t on_image;
    void *arg;
    uint64_t taken, committed;
} keel_demand_t;

keel_status_t keel_demand_init(keel_demand_t *demand, keel_ckpt_t *ckpt);
/* whom to tell of each image of a rank that is in use, said before anything else */
static inline void keel_demand_tell_images(keel_demand_t *demand, keel_demand_cb_t on_image, void *arg)
{
    demand->on_image = on_image;
    demand->arg = arg;
}
/* an image of this process is wanted at that gsync or later */
static inline void keel_demand_ask(keel_demand_t *demand, uint32_t number)
{
    demand->asked = keel_larger(demand->asked, number);
}
void keel_demand_release(keel_demand_t *demand);

/* what this process says with its arrival: KEEL_ARRIVE_*; @a may_copy: an image taken at this gsync can be restored */
unsigned keel_demand_flags(const keel_demand_t *demand, int may_copy);
/* who leaves gsync @a number by all arrivals; @a window_calls: collective calls so far */
void keel_demand_leave(keel_demand_t *demand, uint32_t number, int is_checkpoint, uint32_t window_calls);
/* rank @a r copies its image in gsync @a number */
static inline int keel_demand_is_copied(const keel_demand_t *demand, uint32_t r, uint32_t number)
{
    return demand->copied_at == number && demand->pending[r].position == number;
}
/* copies the own image, which the group is told of when it is compared with the one before */
void keel_demand_take(keel_demand_t *demand, const keel_image_meta_t *meta, const keel_part_t *parts, unsigned count);
void keel_demand_step(keel_demand_t *demand); /* bounded work, from progress */
/* a set has been in the making for so long that this process finishes its part before its arrival at gsync @a number, as
 * far as nobody else is needed for that: so logs grow by a few phases more and not by as many as a fast program passes */
int keel_demand_is_late(const keel_demand_t *demand, uint32_t number);
void keel_demand_abort(keel_demand_t *demand);
/* a generation is in use, or all roll back to it: there are no demand images any more */
void keel_demand_reset(keel_demand_t *demand);

/* rollback, when all have stopped: what was said of images is void */
void keel_demand_forget(keel_demand_t *demand);

/* ---- recovery ---- */

/* from a decision: every rank's newest image, 0: of the generation decided; what has to be rebuilt of the own is then in used */
void keel_demand_adopt(keel_demand_t *demand, const keel_demand_start_t *starts, int is_fresh);
/* replacement: computes its image of the set, when there is one of its own; the generation is rebuilt already */
keel_status_t keel_demand_rebuild_begin(keel_demand_t *demand);
/* KEEL_INPROGRESS, then KEEL_OK with the image in its slot, checked */
keel_status_t keel_demand_rebuild_step(keel_demand_t *demand);
keel_status_t keel_demand_rearm(keel_demand_t *demand);

#endif
