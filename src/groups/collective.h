/* Groups of ranks. */
#ifndef KEEL_GROUPS_COLLECTIVE_H_
#define KEEL_GROUPS_COLLECTIVE_H_

#include "engine/context.h"

#define KEEL_GROUP_ROUNDS 32

/* of each member in its window; after it a word for each member, and so many pieces */
typedef struct keel_group_memory {
    uint64_t turn;
    uint64_t reserved[7];
    uint64_t met[KEEL_GROUP_ROUNDS];  /* barrier: by round */
    uint64_t tree[KEEL_GROUP_ROUNDS]; /* by round, what comes in it */
    uint64_t from[];                  /* by member */
} keel_group_memory_t;

struct keel_group {
    keel_win_h win;
    keel_context_h ctx;
    uint64_t offset;
    size_t piece;
    unsigned count, index; /* members, the caller's number */
    char *sum;             /* a piece of private memory */
    char *held; /* of exchanges, as much as the largest so far took: a rollback may leave any call by a jump */
    size_t held_bytes;
    ucs_list_link_t list; /* of all there are */
    uint32_t ranks[];
};

/* those that the program has not freed: a jump to its restart point leaves them */
void keel_collectives_release(keel_context_h ctx);

/* ---- what collectives are made of: a turn, in which each byte and flag of a member is written once ---- */

/* checks what a call was given */
keel_status_t keel_group_begin(keel_group_h group, unsigned root, const void *first, const void *second);
keel_group_memory_t *keel_group_own(keel_group_h group);
/* where what is sent here comes: count * piece bytes */
char *keel_group_pieces(keel_group_h group);
/* data, if any, for that place in the pieces of member @a to, and the flag after it */
keel_status_t keel_group_send(keel_group_h group, unsigned to, uint64_t at, const void *data, size_t bytes,
                              uint64_t flag);
keel_status_t keel_group_await(keel_group_h group, uint64_t flag);
uint64_t keel_group_flag_tree(unsigned round);
/* ends the turn: all have begun it, and are done with what it brought them */
keel_status_t keel_group_meet(keel_group_h group);
/* in trees, whose root is number 0 */
unsigned keel_group_number(keel_group_h group, unsigned root);
unsigned keel_group_member(keel_group_h group, unsigned root, uint64_t number);

#endif
