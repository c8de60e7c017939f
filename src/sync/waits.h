/*
 * Programs that wait inside phases for what others put (protocol.md, that section): in which order others' puts of a phase are replayed into a
 * replacement's memory, and up to where before each of its waits returns.
 *
 * Each process has a clock, 0 at the beginning of a phase, which grows when a wait returns: beyond the clock that any process
 * had when it did what has come here by then. Puts are logged with the clock of their source, and replayed in the order of clocks,
 * as far as a wait of the replacement needs before its condition holds.
 */
#ifndef KEEL_SYNC_WAITS_H_
#define KEEL_SYNC_WAITS_H_

#include "peer/peer.h"
#include "oplog/put_log.h"
#include "sync/replay.h"

typedef struct keel_waits {
    uint32_t
        since; /* the first phase that began with everybody knowing that the program waits; KEEL_PHASE_NONE: it does not */
    uint32_t begun;  /* 1 + the phase in which this process said so */
    uint32_t waited; /* 1 + the last phase in which it waited */
    uint32_t clock;  /* of this process, in this phase */
    /* as a replacement */
    int is_replaying;
    int is_asking; /* it has asked for the rest of what was put in the front phase */
    uint32_t seen; /* the highest clock of what was replayed in this phase */
    keel_replay_t replay;
    uint32_t *heard;   /* by source: 1 + the phase of which what it had put has come */
    uint8_t *has_rest; /* by source: and what it put since then */
    uint8_t *has_new;  /* by target: something is read there of which there is no record */
} keel_waits_t;

struct keel_sync;

keel_status_t keel_waits_init(keel_waits_t *waits, uint32_t ranks);
void keel_waits_release(keel_waits_t *waits);
/* rollback: nothing was put, nobody has waited */
void keel_waits_reset(struct keel_sync *sync);
/* the process enters a phase */
void keel_waits_begin_phase(struct keel_sync *sync);
/* takes up what others have said on the board */
void keel_waits_hear(struct keel_sync *sync);
/* from what others did here, or told of their first wait: the highest phase that anybody has come to, and the first in which
 * anybody did anything; 0 and KEEL_PHASE_NONE when nothing is known */
void keel_waits_look(const struct keel_sync *sync, uint32_t *reached_p, uint32_t *first_p);
/* a wait returns, or something of this process's memory was fetched by itself: the clock goes beyond that of all that is here */
void keel_waits_tick(struct keel_sync *sync);
/* the highest clock of what is here */
uint32_t keel_waits_here(const struct keel_sync *sync);
/* the clock of a process that goes on by something of that clock, at least */
uint32_t keel_waits_after(const struct keel_sync *sync, uint32_t clock);
/* something was fetched at another, or found here, with the clock there: likewise */
void keel_waits_join(struct keel_sync *sync, uint32_t clock);

/* the first @a limit records of what it put to @a rank in @a phase; how many records that were */
keel_status_t keel_waits_send(struct keel_sync *sync, uint32_t rank, uint32_t phase, uint32_t limit, uint32_t *count_p);
/* and the rest, behind the first @a skip records of the phase */
keel_status_t keel_waits_send_rest(struct keel_sync *sync, uint32_t rank, uint32_t phase, uint32_t skip);

/* replacement */
void keel_waits_receive(struct keel_sync *sync, const keel_control_in_t *in);
/* everybody has sent what it had put in this phase, in order now */
int keel_waits_are_here(struct keel_sync *sync);
/* the next piece that is not replayed was put under that clock or a lower one */
int keel_waits_is_within(const struct keel_sync *sync, uint32_t clock);
/* replays the next piece: KEEL_INPROGRESS; KEEL_OK: there is no more */
keel_status_t keel_waits_replay_next(struct keel_sync *sync);
/* all know from the start that the program waits */
void keel_waits_declare(struct keel_sync *sync);
/* this process waits, which others are told when it accesses them, and by its next arrival */
void keel_waits_begin(struct keel_sync *sync);
/* it did so in this phase, or anybody before it */
int keel_waits_are_told(const struct keel_sync *sync);
/* all number their puts in this phase */
int keel_waits_are_numbered(const struct keel_sync *sync);
/* this process is in a wait, whoever knows that */
void keel_waits_note(struct keel_sync *sync);
/* it goes on in this phase by what others put: it waited, or all know that the program does. Its replacement says the same there */
int keel_waits_go_on(const struct keel_sync *sync);
/* a replacement: these bytes of its memory are put by others in this phase, and it has them not yet */
int keel_waits_are_to_write(struct keel_sync *sync, const void *bytes, size_t size);
/* a replacement: something is read at @a rank of which there may be no record; false where that does not matter */
int keel_waits_note_new(struct keel_sync *sync, uint32_t rank);
/* and whether it was, KEEL_RANK_NONE: anywhere */
int keel_waits_has_new(const struct keel_sync *sync, uint32_t rank);
/* the front phase: asks for the rest; whether it is here; replays it and lets accesses come again */
void keel_waits_ask_rest(struct keel_sync *sync);
int keel_waits_have_rest(const struct keel_sync *sync);
keel_status_t keel_waits_take_rest(struct keel_sync *sync);

#endif
