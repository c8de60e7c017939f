/*
 * Coordinated checkpoints, Gsync scheme [F 6.1]: sets of images (image_set.h) that all ranks of the
 * job copy in one gsync.
 *
 * The number of a generation is the number of its gsync. Generation 0 is the program's start and
 * needs no slot.
 *
 * Safety. A generation is in use (committed) when every rank of the job has its image and its
 * parity share. A rank announces its share with its arrival at a gsync (board.h, parity_done). A
 * rank that leaves a gsync having seen the announcements of all ranks commits, so ranks may commit
 * at different gsyncs. The old generation stays intact until the last rank has committed: only the
 * next generation overwrites its slot, and the leader begins the next generation only after its own
 * commit, which it announces.
 */
#ifndef KEEL_CKPT_COORDINATED_H_
#define KEEL_CKPT_COORDINATED_H_

#include "ckpt/image_set.h"
#include "ckpt/interval.h"
#include "topo/topology.h"

/* the generation that a process's memory is restored from */
typedef struct keel_generation {
    uint32_t number;       /* gsync; 0: the program's start */
    uint32_t window_calls; /* collective window calls made before the gsync */
} keel_generation_t;

/* flag in parity_done: the source cannot make its part of this generation, and the generation is
 * given up */
#define KEEL_CKPT_FAILED (1ull << 32)

/* requirements of groups without gone ranks (ckpt/group_loss) */
typedef struct keel_group_loss {
    const keel_domains_t *domains; /* NULL: no rank will be gone */
    keel_domains_t flat;           /* without levels: domains are those of the job */
    keel_place_params_t params;
} keel_group_loss_t;

typedef struct keel_ckpt {
    keel_lane_t *lane;
    keel_groups_t groups;
    keel_group_loss_t loss;
    keel_parity_group_t group; /* the group of this process; size 0: no parity */
    keel_budget_t budget;
    keel_image_set_t set;
    keel_interval_t interval;
    int is_rebuilt;   /* replacement: its image of the set in use is complete */
    int is_retry_due; /* a death aborted a generation: take another at the next safe gsync */
    uint64_t copy_ns, image_bytes;
    uint64_t work_ns; /* time spent on the generation by steps inside the program's calls */
    uint64_t committed;
} keel_ckpt_t;

/* @param domains  initial placement of the ranks, the same for every process */
keel_status_t keel_ckpt_init(keel_ckpt_t *ckpt, keel_lane_t *lane, const keel_domains_t *domains);
void keel_ckpt_release(keel_ckpt_t *ckpt);

/* Requests another checkpoint at the next safe gsync, because a generation was given up. */
void keel_ckpt_request_retry(keel_ckpt_t *ckpt);
/* The leader at a safe gsync: does the gsync take a checkpoint? @a is_explicit: the program
 * requests one. */
int keel_ckpt_is_due(keel_ckpt_t *ckpt, int is_explicit);
/* The leader: is a stop due? True if the interval has passed, or if a complete or failed generation
 * needs a further gsync. Counts nothing. */
int keel_ckpt_is_stop_due(keel_ckpt_t *ckpt);
/* Copies the image. The program may go on when all ranks have reached the second barrier. */
keel_status_t keel_ckpt_take(keel_ckpt_t *ckpt, const keel_image_meta_t *meta, const keel_part_t *parts,
                             unsigned count);
/* Continues the parity computation. Bounded work, called from progress. */
void keel_ckpt_step(keel_ckpt_t *ckpt);
/* have all ranks announced their share of the generation in the making? */
int keel_ckpt_is_complete(const keel_ckpt_t *ckpt);
/* returns 1 if this call put @a generation into use */
int keel_ckpt_commit(keel_ckpt_t *ckpt, uint32_t generation);
/* gives up the generation in the making after a death */
void keel_ckpt_abort(keel_ckpt_t *ckpt);

/* Adopts a generation from files: the own image is loaded in the first slot, the sizes of the
 * group's images in the set's scratch array. No member has a parity share. @a meta:
 * of the own image. */
void keel_ckpt_adopt_loaded(keel_ckpt_t *ckpt, const keel_generation_t *generation, const keel_image_meta_t *meta);
/* replacement: begins to rebuild its image of the decided generation from the images and shares
 * of its group */
keel_status_t keel_ckpt_rebuild_begin(keel_ckpt_t *ckpt, const keel_generation_t *generation, unsigned slot);
/* Adopts a decision for the program's start, which has no image: gives up everything rebuilt
 * before. */
void keel_ckpt_rebuild_nothing(keel_ckpt_t *ckpt);
/* KEEL_INPROGRESS, then KEEL_OK with the verified image in its slot */
keel_status_t keel_ckpt_rebuild_step(keel_ckpt_t *ckpt);

#endif
