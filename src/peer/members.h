/*
 * The leader and the members of a job. A loop over ranks names the set of ranks that the loop
 * needs: loops over a whole job differ from loops over few ranks, and each set has one definition.
 * The members are the ranks that are not gone (KEEL_SHRINK). If the leader is gone, the next member
 * along the ring leads, so equal views have equal leaders: ranks are gone in all of them, and the
 * order does not matter. Loops run in ascending order, except along the ring. A table in
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

#include "check/plant.h"
#include "peer/peer.h"

/* True if this rank is the leader (keel_lane_t.leader). */
static inline int keel_lane_is_leader(const keel_lane_t *lane)
{
    return lane->rank == lane->leader;
}

/* Number of members. */
static inline uint32_t keel_member_count(const keel_lane_t *lane)
{
    return lane->size - lane->gone;
}

/* True if the rank has died and has no replacement, now or later. */
static inline int keel_rank_is_gone(const keel_lane_t *lane, uint32_t rank)
{
    return lane->peers[rank].incarnation == KEEL_INCARNATION_GONE;
}

/* Number of deaths of the rank. */
static inline uint32_t keel_rank_deaths(const keel_lane_t *lane, uint32_t rank)
{
    return keel_rank_is_gone(lane, rank) ? lane->peers[rank].lives : lane->peers[rank].incarnation;
}

/* The first member from @a rank on; lane->size: there is none. */
static inline uint32_t keel_member_from(const keel_lane_t *lane, uint32_t rank)
{
    while (lane->gone > 0 && !KEEL_PLANT(members_gone_awaited) && rank < lane->size && keel_rank_is_gone(lane, rank)) {
        rank++;
    }
    return rank;
}

/*
 * For loops that wait for a member before the next one: for (uint32_t r = keel_member_first(lane);
 * keel_member_is(lane, r);) with keel_member_next() in the body. keel_member_is() is false behind
 * the last member.
 */
static inline uint32_t keel_member_first(const keel_lane_t *lane)
{
    return keel_member_from(lane, 0);
}
static inline int keel_member_is(const keel_lane_t *lane, uint32_t rank)
{
    return rank < lane->size;
}
static inline uint32_t keel_member_next(const keel_lane_t *lane, uint32_t rank)
{
    return keel_member_from(lane, rank + 1);
}

/* The first member along the ring from @a rank on, where the first member follows the last one. */
static inline uint32_t keel_member_along(const keel_lane_t *lane, uint32_t rank)
{
    const uint32_t next = keel_member_from(lane, rank);

    return (next < lane->size) ? next : keel_member_from(lane, 0);
}
/* The next member along the ring. */
static inline uint32_t keel_member_after(const keel_lane_t *lane, uint32_t rank)
{
    return keel_member_along(lane, rank + 1);
}

#define KEEL_EACH_RANK_WHILE(_rank, _lane, _condition) \
    for (uint32_t _rank = 0; _rank < (_lane)->size && (_condition); _rank++)
#define KEEL_EACH_RANK(_rank, _lane) KEEL_EACH_RANK_WHILE(_rank, _lane, 1)

#define KEEL_EACH_MEMBER_WHILE(_rank, _lane, _condition)                                          \
    for (uint32_t _rank = keel_member_first(_lane); keel_member_is(_lane, _rank) && (_condition); \
         _rank = keel_member_next(_lane, _rank))
#define KEEL_EACH_MEMBER(_rank, _lane) KEEL_EACH_MEMBER_WHILE(_rank, _lane, 1)

/* All members along the ring, beginning with member @a _first. */
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
