/*
 * The leader and the members of a job. A loop over ranks names the set of ranks that the loop
 * needs: loops over a whole job differ from loops over few ranks, and each set has one definition.
 * The members are all ranks today. In a job that goes on without some ranks, the iterators skip
 * the absent ranks. Loops run in ascending order, except along the ring. A table in
 * contrib/doc/mechanisms.md has the loops that cost O(ranks), with the reasons.
 *
 * RANK: every number of a rank, for the entries of a table or message with an entry for each rank.
 * MEMBER: the ranks that take part, for acts that need all ranks.
 * TOUCHED: the peers that exchanged accesses with this process. Today the loop has all ranks, and
 * the body skips a peer without accesses; a list of peers can replace the loop here.
 *
 * The members of a parity group are in keel_parity_group_t.members.
 */
#ifndef KEEL_PEER_MEMBERS_H_
#define KEEL_PEER_MEMBERS_H_

#include "peer/peer.h"

/* True if this rank is the leader (keel_lane_t.leader). */
static inline int keel_lane_is_leader(const keel_lane_t *lane)
{
    return lane->rank == lane->leader;
}

/* Number of members. */
static inline uint32_t keel_member_count(const keel_lane_t *lane)
{
    return lane->size;
}

/*
 * For loops that wait for a member before the next one: for (uint32_t r = keel_member_first(lane);
 * keel_member_is(lane, r);) with keel_member_next() in the body. keel_member_is() is false behind
 * the last member.
 */
static inline uint32_t keel_member_first(const keel_lane_t *lane)
{
    return 0;
}
static inline int keel_member_is(const keel_lane_t *lane, uint32_t rank)
{
    return rank < lane->size;
}
static inline uint32_t keel_member_next(const keel_lane_t *lane, uint32_t rank)
{
    return rank + 1;
}

/* The next member along the ring, where the first member follows the last one. */
static inline uint32_t keel_member_after(const keel_lane_t *lane, uint32_t rank)
{
    return (rank + 1 < lane->size) ? rank + 1 : 0;
}

#define KEEL_EACH_RANK_WHILE(_rank, _lane, _condition) \
    for (uint32_t _rank = 0; _rank < (_lane)->size && (_condition); _rank++)
#define KEEL_EACH_RANK(_rank, _lane) KEEL_EACH_RANK_WHILE(_rank, _lane, 1)

#define KEEL_EACH_MEMBER_WHILE(_rank, _lane, _condition)                                          \
    for (uint32_t _rank = keel_member_first(_lane); keel_member_is(_lane, _rank) && (_condition); \
         _rank = keel_member_next(_lane, _rank))
#define KEEL_EACH_MEMBER(_rank, _lane) KEEL_EACH_MEMBER_WHILE(_rank, _lane, 1)

/* All members along the ring, beginning with @a _first. */
#define KEEL_EACH_MEMBER_FROM(_rank, _lane, _first)                                            \
    for (uint32_t _rank##_left = keel_member_count(_lane), _rank = (_first); _rank##_left > 0; \
         _rank##_left--, _rank = keel_member_after(_lane, _rank))
/* All members but this rank along the ring, beginning with the next one. */
#define KEEL_EACH_MEMBER_AFTER_OWN(_rank, _lane)                                           \
    for (uint32_t _rank = keel_member_after(_lane, (_lane)->rank); _rank != (_lane)->rank; \
         _rank = keel_member_after(_lane, _rank))

#define KEEL_EACH_TOUCHED_WHILE(_rank, _lane, _condition) KEEL_EACH_RANK_WHILE(_rank, _lane, _condition)
#define KEEL_EACH_TOUCHED(_rank, _lane)                   KEEL_EACH_TOUCHED_WHILE(_rank, _lane, 1)

#endif
