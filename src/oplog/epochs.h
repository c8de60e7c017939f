/*
 * Epochs and the counters [F 4.1] of their actions. An epoch gets its number when a flush of any
 * target closes it. The number is GC, and for one target it grows whenever its EC does, so the
 * order of numbers extends (GNC, SC, EC) and (GNC, GC). A record names its epoch by number. For
 * each run of epochs with the same GNC (gsyncs passed, the phase), the table holds the first
 * number. Closing an epoch costs an increment and no room.
 *
 * Numbers are compared modulo 2^32, so no record may be 2^31 epochs old. An epoch without a record
 * is not closed, and no epoch is entered KEEL_EPOCHS_MAX after the first epoch of the table: logs
 * then count as full, as for lack of room.
 */
#ifndef KEEL_OPLOG_EPOCHS_H_
#define KEEL_OPLOG_EPOCHS_H_

#include <keel/status.h>

#include <stdint.h>

typedef struct keel_epoch_run {
    uint32_t first; /* number of the first epoch */
    uint32_t phase; /* GNC */
} keel_epoch_run_t;

#define KEEL_EPOCHS_MAX (1u << 30) /* logs that still have room may continue for a segment each */

typedef struct keel_epochs {
    uint32_t open; /* number of the open epoch */
    uint32_t mask;
    keel_epoch_run_t *ring;
    uint32_t oldest; /* number of the oldest run; numbers grow and wrap, run n is ring[n & mask] */
    uint32_t next;
} keel_epochs_t;

/* @param capacity runs, a power of two
 * @param first number of the first epoch */
keel_status_t keel_epochs_init(keel_epochs_t *epochs, uint32_t capacity, uint32_t first);
void keel_epochs_release(keel_epochs_t *epochs);
/* Makes the open epoch one of @a phase, which is not lower than before. KEEL_ERR_BUDGET if the
 * table is full or goes back too far. */
keel_status_t keel_epochs_enter(keel_epochs_t *epochs, uint32_t phase);
/* first epoch of @a phase, or of the next later phase with epochs; the number after the open
 * epoch if there is none */
uint32_t keel_epochs_find(const keel_epochs_t *epochs, uint32_t phase);
/* drops runs of phases before @a phase */
void keel_epochs_trim(keel_epochs_t *epochs, uint32_t phase);
/* drops runs of epochs before @a oldest */
void keel_epochs_trim_before(keel_epochs_t *epochs, uint32_t oldest);
void keel_epochs_clear(keel_epochs_t *epochs);

/* epochs from the first of the table to the open epoch */
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
