/*
 * Programs that lock (protocol.md, Locks; [F 4.1, algorithm 3]): the order of critical sections at a process is its
 * synchronisation counter SC, and its replacement gets its memory back section by section in that order.
 *
 * Each source logs the SC of every section at q before what it did there, and q's lock word and its own computation use up
 * the numbers in between. So q's replacement knows from the survivors' logs which numbers are not its own, and re-executing its
 * own sections it finds their place: the first number that nobody else has.
 */
#ifndef KEEL_SYNC_SECTIONS_H_
#define KEEL_SYNC_SECTIONS_H_

#include "peer/peer.h"
#include "oplog/put_log.h"
#include "sync/replay.h"

/* what this process has at a target */
typedef enum { KEEL_HELD_NOT, KEEL_HELD_WRITING, KEEL_HELD_READING } keel_held_t;

typedef struct keel_sections {
    int is_used; /* the program locks */
    /* as a source */
    uint8_t *held;           /* keel_held_t, by target */
    uint8_t *is_release_due; /* given up while the target was lost: its replacement is to be told */
    uint64_t *counter_at;    /* SC of the section that is open there */
    uint64_t *seen_at;       /* the highest SC seen there, by a section or a reading */
    uint64_t *reads;         /* number of the newest reading there */
    unsigned open;           /* targets held */
    int is_all;              /* a reading epoch: between keel_lock_all() and keel_unlock_all() */
    /* as a replacement: memory stands at SC `counter`, the next piece of replay is what follows of others */
    int is_replaying;
    uint64_t counter;
    keel_replay_t replay; /* sections of others, by SC */
    uint64_t known;       /* the highest SC that anybody has seen here */
    uint8_t *is_left;     /* by target: its lock is still the predecessor's, and this process has not come to that */
    uint32_t *heard;      /* by source: 1 + the phase of which all has come */
} keel_sections_t;

struct keel_sync;

keel_status_t keel_sections_init(keel_sections_t *sections, uint32_t ranks);
void keel_sections_release(keel_sections_t *sections);
/* nothing is held any more; own lock word free at @a counter: rollback */
void keel_sections_reset(keel_sections_t *sections, keel_lane_t *lane, uint64_t counter);

/* as a source: it has the lock of @a rank, under number @a value, or reads there, under @a reading, having seen it; the own memory's; and
 * has it no more. A release that is deferred is told to the replacement. */
void keel_sections_take(struct keel_sync *sync, uint32_t rank, uint64_t value);
void keel_sections_take_read(struct keel_sync *sync, uint32_t rank, uint64_t value, uint64_t reading);
void keel_sections_take_own(struct keel_sync *sync, int is_read, uint64_t reading);
void keel_sections_give(struct keel_sync *sync, uint32_t rank);
void keel_sections_defer_release(struct keel_sync *sync, uint32_t rank, int is_read);
/* a reading epoch, of all ranks, begins or ends */
void keel_sections_set_all(struct keel_sync *sync, int is_all);
/* replacement: it has come to what its predecessor had left at @a rank */
void keel_sections_find(struct keel_sync *sync, uint32_t rank);

/* this process locks, or somebody has locked here: first in which phase, KEEL_PHASE_NONE when nobody has */
int keel_sections_are_used(const struct keel_sync *sync, uint32_t *first_p);
/* survivor: all sections of @a phase at @a rank so far, and what is held there; how many records that were */
keel_status_t keel_sections_send(struct keel_sync *sync, uint32_t rank, uint32_t phase, uint32_t *count_p);
/* survivor: the replacement has caught up and was handed over the rest: tells it what was given up meanwhile */
void keel_sections_release_due(struct keel_sync *sync, uint32_t rank);

/* critical sections that own memory has seen, which an image of it says: nothing is locked */
uint64_t keel_sections_seen_here(const struct keel_sync *sync);
/* replacement: its memory is the image's, with the counter that it had */
void keel_sections_begin_at(struct keel_sync *sync, uint64_t counter);
void keel_sections_receive(struct keel_sync *sync, const keel_control_in_t *in);
/* everybody has sent what belongs to the phase this process stands at */
int keel_sections_are_here(const struct keel_sync *sync);
void keel_sections_begin(struct keel_sync *sync); /* they are: puts them in order */
/* the predecessor left a lock that this process has not taken up again */
int keel_sections_has_left(const struct keel_sync *sync);
/* an own section is to begin: applies those of others that are before it */
keel_status_t keel_sections_apply_next(struct keel_sync *sync);
/* whether somebody has seen a number that nobody has said to be its own, so it is this process's */
int keel_sections_has_gap(const struct keel_sync *sync);
/* number of the own section that begins, KEEL_LOCK_SPENT: there is none left */
uint64_t keel_sections_next_own(struct keel_sync *sync);
/* applies what is left; KEEL_ERR_CORRUPT when a section of this process's own is missing */
keel_status_t keel_sections_finish(struct keel_sync *sync);
/* own lock word as it stands now, and nothing more to replay */
keel_status_t keel_sections_catch_up(struct keel_sync *sync);

#endif
