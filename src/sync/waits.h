/*
 * Programs that wait inside phases for puts of others (protocol/waits.md): the order in which puts
 * of a phase are replayed into a replacement's memory, and how many puts before each wait of the
 * replacement returns.
 *
 * Each process has a clock, 0 at the beginning of a phase. When a wait returns, the clock goes
 * beyond the clocks of all effects present here. Puts are logged with the clock of the source, and
 * replayed in the order of clocks, until the condition of a wait holds.
 */
#ifndef KEEL_SYNC_WAITS_H_
#define KEEL_SYNC_WAITS_H_

#include "peer/peer.h"
#include "oplog/put_log.h"
#include "sync/replay.h"

typedef struct keel_waits {
    /* first phase in which all ranks know from the beginning that the program waits;
     * KEEL_PHASE_NONE: the program does not wait */
    uint32_t since;
    uint32_t begun;  /* phase in which this rank announced the first wait, + 1 */
    uint32_t waited; /* last phase with a wait of this rank, + 1 */
    uint32_t clock;  /* of this rank, in this phase */
    /* as a replacement */
    int is_replaying;
    int is_asking; /* the remaining puts of the front phase were asked for */
    uint32_t seen; /* the highest clock replayed in this phase */
    keel_replay_t replay;
    /* by source: phase with all puts from before the decision present here, + 1 */
    uint32_t *complete;
    uint8_t *has_rest; /* by source: the remaining puts are present, too */
    uint8_t *has_new;  /* by target: a value was read there that may have no record */
} keel_waits_t;

struct keel_sync;

keel_status_t keel_waits_init(keel_waits_t *waits, uint32_t ranks);
void keel_waits_release(keel_waits_t *waits);
/* Rollback: no put is pending, and no rank has waited. */
void keel_waits_reset(struct keel_sync *sync);
/* Begins a phase. */
void keel_waits_begin_phase(struct keel_sync *sync);
/* Takes up first waits of other ranks from the board. */
void keel_waits_take_announced(struct keel_sync *sync);
/*
 * From effects of others here and announced first waits: the highest phase reached by any rank, and
 * the first phase with an effect; 0 and KEEL_PHASE_NONE if nothing is known.
 */
void keel_waits_find_front(const struct keel_sync *sync, uint32_t *reached_p, uint32_t *first_p);
/*
 * Call when a wait returns, or after an own fetch from own memory: the clock goes beyond the clocks
 * of all effects present here.
 */
void keel_waits_tick(struct keel_sync *sync);
/* The highest clock of an effect present here. */
uint32_t keel_waits_here(const struct keel_sync *sync);
/* The lowest clock for a rank after an effect with @a clock. */
uint32_t keel_waits_after(const struct keel_sync *sync, uint32_t clock);
/*
 * Call with the clock of a value fetched at another rank, or found here: the own clock goes beyond.
 */
void keel_waits_join(struct keel_sync *sync, uint32_t clock);

/*
 * Sends the first @a limit records of the puts to @a rank in @a phase. *count_p: number of records.
 */
keel_status_t keel_waits_send(struct keel_sync *sync, uint32_t rank, uint32_t phase, uint32_t limit, uint32_t *count_p);
/* Sends the remaining records, after the first @a skip ones of the phase. */
keel_status_t keel_waits_send_remaining(struct keel_sync *sync, uint32_t rank, uint32_t phase, uint32_t skip);

/* ---- the replacement ---- */
void keel_waits_receive(void *arg, const keel_control_in_t *in);
/* True if the puts of this phase from all sources are here; sorts the puts. */
int keel_waits_are_here(struct keel_sync *sync);
/* True if the next chunk to replay has a clock up to @a clock. */
int keel_waits_is_within(const struct keel_sync *sync, uint32_t clock);
/* Replays the next chunk: KEEL_INPROGRESS. KEEL_OK: no chunk is left. */
keel_status_t keel_waits_replay_next(struct keel_sync *sync);
/* All ranks know from the start that the program waits. */
void keel_waits_declare(struct keel_sync *sync);
/*
 * Begins the first wait. The caller announces the wait before the next access, and the next arrival
 * announces it.
 */
void keel_waits_begin(struct keel_sync *sync);
/* True if the first wait is announced: by this rank in this phase, or by any rank before. */
int keel_waits_are_announced(const struct keel_sync *sync);
/* True if all ranks number their puts in this phase. */
int keel_waits_are_numbered(const struct keel_sync *sync);
/* Notes that this rank is in a wait, announced or not. */
void keel_waits_note_wait(struct keel_sync *sync);
/*
 * True if the computation of this rank in this phase depends on puts of others: this rank waited,
 * or all ranks know that the program waits. A replacement gets the same result at the same place.
 */
int keel_waits_have_effect(const struct keel_sync *sync);
/*
 * Replacement: true if others put to these bytes of own memory in this phase and the puts are not
 * replayed yet.
 */
int keel_waits_are_to_write(struct keel_sync *sync, const void *bytes, size_t size);
/*
 * Replacement: notes a read at @a rank that may have no record. Returns 0 where that has no
 * consequence.
 */
int keel_waits_note_unrecorded(struct keel_sync *sync, uint32_t rank);
/* Replacement: true if such a read was noted; KEEL_RANK_NONE: at any rank. */
int keel_waits_has_unrecorded(const struct keel_sync *sync, uint32_t rank);
/*
 * Replacement in the front phase: asks for the remaining puts; true if they are present; replays
 * them and lets accesses of others come again.
 */
void keel_waits_ask_remaining(struct keel_sync *sync);
int keel_waits_have_remaining(const struct keel_sync *sync);
keel_status_t keel_waits_take_remaining(struct keel_sync *sync);

#endif
