/*
 * The ways in which a program synchronises: what its phases may contain, and so what a death can be recovered from.
 *
 * Any mix of them is legal. Critical sections alone, and everything but critical sections, are recovered locally; where both were
 * used nothing orders them against each other in the logs, and a death is a rollback (decide.c).
 *
 * Safety. What is decided is decided on the ways of those who live, as they report them: their own, since they began, and that
 * somebody locked their memory. What only the dead knew of does no harm: whoever shares the phase with it did what it did in
 * ways of its own, or what it did is done again by its replacement, and with that is known. So whoever finds that the ways are
 * mixed by what it is about to do, while somebody is being brought back or in the phase that it was brought back to itself,
 * asks for a rollback: the decision was made without knowing.
 */
#ifndef KEEL_RECOVERY_WAYS_H_
#define KEEL_RECOVERY_WAYS_H_

#include <keel/status.h>

#include <stdint.h>

enum {
    KEEL_WAY_SECTIONS = 1, /* accesses to what is locked */
    KEEL_WAY_BARE = 2,     /* accesses to what is not, or is locked for reading and written */
    KEEL_WAY_GSYNCS = 4,
    KEEL_WAY_WAITS = 8
};

struct keel_recovery;

static inline int keel_ways_are_mixed(uint32_t ways)
{
    return (ways & KEEL_WAY_SECTIONS) != 0 && (ways & ~(uint32_t)KEEL_WAY_SECTIONS) != 0;
}

/* this process is about to do something in that way; KEEL_OK, KEEL_ERR_ROLLED_BACK or what is final */
keel_status_t keel_ways_use(struct keel_recovery *rec, uint32_t way);
/* those that this process knows of */
uint32_t keel_ways_known(const struct keel_recovery *rec);

#endif
