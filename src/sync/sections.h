/*
 * Programs that lock (protocol/locks.md; [F 4.1, algorithm 3]): the synchronisation counter SC of
 * a rank numbers the critical sections there, and a replacement gets the memory back section by
 * section in the order of SC.
 *
 * Each source logs the SC of every critical section at q before its effects there. The lock word of
 * q and q's own computation use the numbers in between. So q's replacement knows from the logs of
 * the survivors the numbers used by others, and finds the place of an own section while
 * re-executing: the first number used by no other rank.
 */
#ifndef KEEL_SYNC_SECTIONS_H_
#define KEEL_SYNC_SECTIONS_H_

#include "peer/peer.h"
#include "oplog/put_log.h"
#include "sync/replay.h"

/* the lock of this rank at a target */
typedef enum { KEEL_HELD_NOT, KEEL_HELD_WRITING, KEEL_HELD_READING } keel_held_t;

typedef struct keel_sections {
    int is_used; /* the program locks */
    /* as a source */
    uint8_t *held; /* by target: keel_held_t */
    /* by target: released while the target was lost; the replacement must learn of the release */
    uint8_t *is_release_due;
    uint64_t *counter_at; /* by target: SC of the open critical section */
    /* by target: the highest SC seen there, by a critical section or a reading */
    uint64_t *seen_at;
    uint64_t *reads; /* by target: number of the newest reading */
    unsigned open;   /* number of targets held */
    int is_all;      /* in a reading epoch, between keel_lock_all() and keel_unlock_all() */
    /* as a replacement: memory stands at SC `counter`, and the next chunk of replay follows it */
    int is_replaying;
    uint64_t counter;
    keel_replay_t replay; /* critical sections of others, by SC */
    uint64_t known;       /* the highest SC seen here by any rank */
    /*
     * by target: the predecessor held the lock there, and re-execution has not reached that place
     */
    uint8_t *is_left;
    uint32_t *complete; /* by source: last phase with complete records, + 1 */
} keel_sections_t;

struct keel_sync;

keel_status_t keel_sections_init(keel_sections_t *sections, uint32_t ranks);
void keel_sections_release(keel_sections_t *sections);
/* Rollback: no lock is held; the own lock word is free at @a counter. */
void keel_sections_reset(keel_sections_t *sections, keel_lane_t *lane, uint64_t counter);

/* Source: this rank has locked @a rank for writing, under number @a value. */
void keel_sections_take(struct keel_sync *sync, uint32_t rank, uint64_t value);
/* Source: this rank has locked @a rank for reading, under number @a reading, and has seen
 * SC @a value - 1 there. */
void keel_sections_take_read(struct keel_sync *sync, uint32_t rank, uint64_t value, uint64_t reading);
/* This rank has locked its own memory. @a reading: number of the reading, with @a is_read only. */
void keel_sections_take_own(struct keel_sync *sync, int is_read, uint64_t reading);
/* Source: this rank has released its lock at @a rank. */
void keel_sections_give(struct keel_sync *sync, uint32_t rank);
/* Source: @a rank is lost; its replacement learns of the release after the hand-over. */
void keel_sections_defer_release(struct keel_sync *sync, uint32_t rank, int is_read);
/* A reading epoch of all ranks begins or ends. */
void keel_sections_set_all(struct keel_sync *sync, int is_all);
/* Replacement: re-execution has reached the lock left by the predecessor at @a rank. */
void keel_sections_reach(struct keel_sync *sync, uint32_t rank);

/*
 * True if this rank locks, or a rank has locked here. *first_p: first phase of a lock here,
 * KEEL_PHASE_NONE if there was none.
 */
int keel_sections_are_used(const struct keel_sync *sync, uint32_t *first_p);
/*
 * Survivor: sends all critical sections of @a phase at @a rank, and the lock held there. *count_p:
 * number of records sent.
 */
keel_status_t keel_sections_send(struct keel_sync *sync, uint32_t rank, uint32_t phase, uint32_t *count_p);
/*
 * Survivor: the replacement has caught up, and the hand-over is complete: sends the deferred
 * releases.
 */
void keel_sections_release_due(struct keel_sync *sync, uint32_t rank);

/* The SC of own memory, for an image. No lock is held. */
uint64_t keel_sections_seen_here(const struct keel_sync *sync);
/* Replacement: own memory is that of the image, with SC @a counter. */
void keel_sections_begin_at(struct keel_sync *sync, uint64_t counter);
void keel_sections_receive(void *arg, const keel_control_in_t *in);
/* True if every source has sent the records of the current phase. */
int keel_sections_are_here(const struct keel_sync *sync);
void keel_sections_begin(struct keel_sync *sync); /* sorts them; call when they are here */
/* True if the predecessor left a lock that this rank has not taken again. */
int keel_sections_has_left(const struct keel_sync *sync);
/* Call before an own critical section begins: applies the preceding sections of others. */
keel_status_t keel_sections_apply_next(struct keel_sync *sync);
/* True if a rank has seen a number not used by any other rank: this rank's own. */
int keel_sections_has_gap(const struct keel_sync *sync);
/* Number of the own critical section that begins; KEEL_LOCK_SPENT: numbers are exhausted. */
uint64_t keel_sections_next_own(struct keel_sync *sync);
/* Applies the remaining sections. KEEL_ERR_CORRUPT: an own critical section is missing. */
keel_status_t keel_sections_finish(struct keel_sync *sync);
/* Ends the replay: sets the own lock word to its current value. */
keel_status_t keel_sections_catch_up(struct keel_sync *sync);

#endif
