/* Groups of ranks. */
#ifndef KEEL_GROUPS_COLLECTIVE_H_
#define KEEL_GROUPS_COLLECTIVE_H_

#include "engine/context.h"

#define KEEL_GROUP_ROUNDS 32

/* A member's memory in its window. One word a member (from) and count pieces follow. */
typedef struct keel_group_memory {
    uint64_t turn;
    uint64_t reserved[7];
    uint64_t met[KEEL_GROUP_ROUNDS];  /* barrier flag of each round */
    uint64_t tree[KEEL_GROUP_ROUNDS]; /* tree flag of each round */
    uint64_t from[];                  /* flag of each member, for exchanges */
} keel_group_memory_t;

struct keel_group {
    keel_win_h win;
    keel_context_h ctx;
    uint64_t offset;
    size_t piece;
    unsigned count, index; /* count of members, index of the caller */
    char *sum;             /* private memory of one piece */
    /*
     * Buffer of exchanges, as large as the largest exchange needed; kept here since a rollback may
     * leave any call by a jump.
     */
    char *held;
    size_t held_bytes;
    ucs_list_link_t list; /* of all groups of the context */
    uint32_t ranks[];
};

/*
 * Releases the groups that the program has not freed: a jump to the restart point leaves them
 * behind.
 */
void keel_collectives_release(keel_context_h ctx);

/* ---- a turn of a collective, in which each byte and flag of a member is written once ---- */

/* Checks the arguments of a call. */
keel_status_t keel_group_begin(keel_group_h group, unsigned root, const void *first, const void *second);
keel_group_memory_t *keel_group_memory_of(keel_group_h group);
/* The caller's receive buffer: count * piece bytes. */
char *keel_group_pieces(keel_group_h group);
/* Puts @a data, if any, at @a at in the pieces of member @a to, then sets the flag there. */
keel_status_t keel_group_send(keel_group_h group, unsigned to, uint64_t at, const void *data, size_t bytes,
                              uint64_t flag);
keel_status_t keel_group_await(keel_group_h group, uint64_t flag);
uint64_t keel_group_flag_tree(unsigned round);
/* Ends the turn: returns once all members have begun it and have read its data. */
keel_status_t keel_group_meet(keel_group_h group);
/* Numbers in a tree; the root has number 0. */
unsigned keel_group_number(keel_group_h group, unsigned root);
unsigned keel_group_member(keel_group_h group, unsigned root, uint64_t number);

#endif
