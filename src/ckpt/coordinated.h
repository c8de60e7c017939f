/*
 * Coordinated checkpoints, Gsync scheme [F 6.1]: the generations of this process's image and of its parity share.
 *
 * Two slots: one holds the generation in use, the other the one in the making. A generation is named by the number of
 * the gsync it was taken at; 0 is the program's start and needs no slot. It is in use (committed) when every rank of the
 * job has its image and its parity share: ranks announce their share with their arrival at a gsync (board.h,
 * parity_done), and whoever leaves a gsync having seen all of them commits. So ranks may commit at different gsyncs;
 * until the last has, the old generation lies in the slot that only the next one will overwrite, and the next one is
 * not begun before rank 0 has committed and said so.
 */
#ifndef KEEL_CKPT_COORDINATED_H_
#define KEEL_CKPT_COORDINATED_H_

#include "ckpt/image.h"
#include "ckpt/interval.h"
#include "ckpt/parity.h"
#include "peer/peer.h"
#include "topo/topology.h"

typedef struct keel_generation {
    uint32_t number;        /* gsync; 0: none */
    uint32_t window_calls;  /* collective window calls before it */
    uint32_t in_checkpoint; /* taken inside keel_checkpoint() */
    uint64_t sync_counter;  /* of this process then */
} keel_generation_t;

/* what group members tell each other of their images */
typedef struct keel_ckpt_image {
    uint32_t generation;
    uint32_t slot;
    uint64_t size;
    uint32_t before;    /* generation with which it was compared, 0: none; then */
    uint32_t map_bytes; /* a map of what changed follows (changes.h) */
    uint32_t window_calls;
    uint32_t reserved;
} keel_ckpt_image_t;

/* in parity_done: the source cannot make its part of this generation, which therefore is given up */
#define KEEL_CKPT_CANNOT (1ull << 32)

typedef struct keel_ckpt {
    keel_lane_t *lane;
    keel_groups_t groups;
    keel_parity_group_t group; /* this process's; size 0: no parity */
    keel_parity_t *parity;
    keel_interval_t interval;
    keel_generation_t used, making;
    unsigned used_slot;
    uint64_t *sizes[2];      /* per slot: image sizes by group index */
    keel_ckpt_image_t *said; /* by group index: the newest image message, */
    uint8_t **maps;          /* and its map; of this process the one being made */
    uint64_t compared;       /* bytes of the own image */
    enum {
        KEEL_CKPT_IDLE,
        KEEL_CKPT_COMPARING,
        KEEL_CKPT_IMAGES,
        KEEL_CKPT_ENCODING,
        KEEL_CKPT_SAFE,
        KEEL_CKPT_FAILED
    } stage;
    uint8_t *all, *has; /* by group index, KEEL_PARITY_HAS_*: everything; what is there of the generation in use */
    int is_armed;       /* own image and share of the generation in use are there */
    int is_rearming;
    int is_owed;                           /* a death aborted one: take another at the next chance */
    int is_told;                           /* said once that the budget is too small */
    uint64_t encode_ns, encode_started_ns; /* of the newest share, from all images being there to its being there */
    uint64_t copy_ns, started_ns, safe_ns, image_bytes;
    uint64_t work_ns; /* spent on the generation in steps, in the program's calls */
    uint64_t made_ns; /* of the copy and the work, making memory: the rest is what Daly's interval weighs */
    uint64_t parity_ns, parity_moved; /* of the work the newest share; bytes read and written for it */
    uint64_t committed, aborted;
    uint64_t parity_read,
        parity_spared; /* bytes of others that went into own shares, and that did not because unchanged */
} keel_ckpt_t;

/* this process holds parity and has no image; it has an image, and parity is held by others */
static inline int keel_ckpt_is_checksum(const keel_ckpt_t *ckpt)
{
    return ckpt->group.is_dedicated && ckpt->group.index < ckpt->group.parities;
}
static inline int keel_ckpt_has_share(const keel_ckpt_t *ckpt)
{
    return ckpt->group.size > 0 && (!ckpt->group.is_dedicated || keel_ckpt_is_checksum(ckpt));
}
/* member @a index of the group has an image */
static inline int keel_ckpt_has_image(const keel_ckpt_t *ckpt, uint32_t index)
{
    return !ckpt->group.is_dedicated || index >= ckpt->group.parities;
}

/* @param domains  where the ranks first ran: the same for every process */
keel_status_t keel_ckpt_init(keel_ckpt_t *ckpt, keel_lane_t *lane, const keel_domains_t *domains);
void keel_ckpt_release(keel_ckpt_t *ckpt);

/* rank 0 at a safe gsync: is a checkpoint to be taken in it? */
int keel_ckpt_is_due(keel_ckpt_t *ckpt, int is_explicit);
/* copies the image; the group is told of it when it is compared with the one before. The program may go on when all ranks have come this far (second barrier). */
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

/* rollback, when all have stopped: gsync numbers come again, so what was said of images to be made is void */
void keel_ckpt_forget_images(keel_ckpt_t *ckpt);

/* for exchange.c and repair.c: where the generation in the making goes; it cannot be made here; */
unsigned keel_ckpt_making_slot(const keel_ckpt_t *ckpt);
void keel_ckpt_fail(keel_ckpt_t *ckpt);
/* a region of at least @a bytes within the budget; a larger one is kept */
keel_status_t keel_ckpt_region(keel_ckpt_t *ckpt, unsigned region, size_t bytes, void **base_p);
/* the same when @a reserve more bytes have to stay free */
keel_status_t keel_ckpt_region_beside(keel_ckpt_t *ckpt, unsigned region, size_t bytes, size_t reserve, void **base_p);
/* image of the generation in use */
const void *keel_ckpt_image(keel_ckpt_t *ckpt, size_t *size_p);

#endif
