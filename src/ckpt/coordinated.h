/*
 * Coordinated checkpoints, Gsync scheme [F 6.1]: sets of images (image_set.h) that all ranks of the job copy in one gsync.
 *
 * A generation is named by the number of the gsync it was taken at; 0 is the program's start and needs no slot. It is in use
 * (committed) when every rank of the job has its image and its parity share: ranks announce their share with their arrival
 * at a gsync (board.h, parity_done), and whoever leaves a gsync having seen all of them commits. So ranks may commit at
 * different gsyncs; until the last has, the old generation lies in the slot that only the next one will overwrite, and the
 * next one is not begun before rank 0 has committed and said so.
 */
#ifndef KEEL_CKPT_COORDINATED_H_
#define KEEL_CKPT_COORDINATED_H_

#include "ckpt/image_set.h"
#include "ckpt/interval.h"
#include "topo/topology.h"

/* what a process's memory is restored from */
typedef struct keel_generation {
    uint32_t number;       /* gsync; 0: the program's start */
    uint32_t window_calls; /* collective window calls before it */
} keel_generation_t;

/* in parity_done: the source cannot make its part of this generation, which therefore is given up */
#define KEEL_CKPT_CANNOT (1ull << 32)

typedef struct keel_ckpt {
    keel_lane_t *lane;
    keel_groups_t groups;
    keel_parity_group_t group; /* this process's; size 0: no parity */
    keel_budget_t budget;
    keel_image_set_t set;
    keel_interval_t interval;
    int is_rebuilt;   /* replacement: the image of the set in use is there, all of it */
    int is_retry_due; /* a death aborted one: take another at the next chance */
    uint64_t copy_ns, image_bytes;
    uint64_t work_ns; /* spent on the generation in steps, in the program's calls */
    uint64_t committed;
} keel_ckpt_t;

/* @param domains  where the ranks first ran: the same for every process */
keel_status_t keel_ckpt_init(keel_ckpt_t *ckpt, keel_lane_t *lane, const keel_domains_t *domains);
void keel_ckpt_release(keel_ckpt_t *ckpt);

/* rank 0 at a safe gsync: is a checkpoint to be taken in it? */
/* one was given up: the next safe gsync is to take another */
void keel_ckpt_owe(keel_ckpt_t *ckpt);
int keel_ckpt_is_due(keel_ckpt_t *ckpt, int is_explicit);
/* Rank 0: whether a stop is due for the interval, or for a generation that only a further gsync puts into use. Counts nothing. */
int keel_ckpt_is_over(keel_ckpt_t *ckpt);
/* copies the image; the program may go on when all ranks have come this far (second barrier) */
keel_status_t keel_ckpt_take(keel_ckpt_t *ckpt, const keel_image_meta_t *meta, const keel_part_t *parts,
                             unsigned count);
/* goes on with parity; bounded work, called from progress */
void keel_ckpt_step(keel_ckpt_t *ckpt);
/* all ranks have announced their share of the generation in the making */
int keel_ckpt_is_complete(const keel_ckpt_t *ckpt);
/* 1 when @a generation became the one in use by this call */
int keel_ckpt_commit(keel_ckpt_t *ckpt, uint32_t generation);
/* a death: the generation in the making is given up */
void keel_ckpt_abort(keel_ckpt_t *ckpt);

/* replacement: its image of the generation decided, from what its group has */
keel_status_t keel_ckpt_rebuild_begin(keel_ckpt_t *ckpt, const keel_generation_t *generation, unsigned slot);
/* the program's start has no image: what was rebuilt before is given up */
void keel_ckpt_rebuild_nothing(keel_ckpt_t *ckpt);
/* KEEL_INPROGRESS, then KEEL_OK with the image in its slot, checked */
keel_status_t keel_ckpt_rebuild_step(keel_ckpt_t *ckpt);

#endif
