/*
 * Epochs and the counters [F 4.1] of the actions in them. Epochs are numbered as they are closed, by a flush of whatever
 * target: the number is GC, and for one target it grows whenever its EC does, so the order of numbers extends (GNC, SC, EC)
 * and (GNC, GC). A record names its epoch by number; the table holds, for each run of epochs with the same GNC (gsyncs
 * passed, the phase), the first number. Closing an epoch costs an increment and no room.
 *
 * Numbers are compared modulo 2^32: no record may be 2^31 epochs old. An epoch without a record is not closed, and none is
 * entered KEEL_EPOCHS_MAX after the first one of the table: then logs are full, as when there is no room.
 */
#ifndef KEEL_OPLOG_EPOCHS_H_
#define KEEL_OPLOG_EPOCHS_H_

#include <keel/status.h>

#include <stdint.h>

typedef struct keel_epoch_run {
    uint32_t first; /* epoch */
    uint32_t phase; /* GNC */
} keel_epoch_run_t;

#define KEEL_EPOCHS_MAX (1u << 30) /* logs that have room may go on for a segment each */

typedef struct keel_epochs {
    uint32_t open; /* number of the open epoch */
    uint32_t mask;
    keel_epoch_run_t *ring;
    uint32_t oldest; /* run numbers run freely; ring[number & mask] */
    uint32_t next;
} keel_epochs_t;

/* @a capacity: runs, a power of two; @a first: the first epoch */
keel_status_t keel_epochs_init(keel_epochs_t *epochs, uint32_t capacity, uint32_t first);
void keel_epochs_release(keel_epochs_t *epochs);
/* the open epoch is one of @a phase, which is not lower than before; KEEL_ERR_BUDGET when the
 * table is full or goes back too far */
keel_status_t keel_epochs_enter(keel_epochs_t *epochs, uint32_t phase);
/* the first epoch of @a phase or of the first later one that has any; the one after the open one when none has */
uint32_t keel_epochs_find(const keel_epochs_t *epochs, uint32_t phase);
/* runs of phases before @a phase are not needed any more */
void keel_epochs_trim(keel_epochs_t *epochs, uint32_t phase);
/* nothing before epoch @a oldest is there any more */
void keel_epochs_trim_before(keel_epochs_t *epochs, uint32_t oldest);
void keel_epochs_clear(keel_epochs_t *epochs);

/* epochs from the first of the table to the open one */
static inline uint32_t keel_epochs_age(const keel_epochs_t *epochs)
{
    return (epochs->oldest == epochs->next) ? 0 : epochs->open - epochs->ring[epochs->oldest & epochs->mask].first;
}
static inline void keel_epochs_close(keel_epochs_t *epochs)
{
    epochs->open++;
}
static inline int keel_epoch_is_before(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) < 0;
}

#endif
