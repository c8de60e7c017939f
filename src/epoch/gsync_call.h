/*
 * The calls that ranks make in a gsync. An arrival has the number of the call, so ranks notice
 * different calls. A rank that refuses the arguments of a collective call arrives with a special
 * number: the call ends with an error at all ranks, and no rank waits.
 */
#ifndef KEEL_EPOCH_GSYNC_CALL_H_
#define KEEL_EPOCH_GSYNC_CALL_H_

#include "engine/context.h"

/* 8 is KEEL_ARRIVE_CALL_STOP. */
enum keel_gsync_call {
    KEEL_CALL_ANY = 0, /* a rank without a program follows any call */
    KEEL_CALL_PLAIN = 1,
    KEEL_CALL_SAFE = 2,
    KEEL_CALL_ALLOC = 3,
    KEEL_CALL_FREE = 4,
    KEEL_CALL_CHECKPOINT = 5,
    KEEL_CALL_SECOND = 6,
    KEEL_CALL_FINAL = 7,
    KEEL_CALL_SUBMIT = 9,
    KEEL_CALL_REFUSED = 10
};
/* Submits of stores: this and a digit of the store's number (keel_gsync_of_store()), since a
 * message has 8 bits for a call. */
#define KEEL_CALL_STORES 64u

/* Number of the call of @a flags in the arrival. */
unsigned keel_gsync_call(unsigned flags);
/* After gsync @a number: compares the calls of the ranks, and reports a difference. */
keel_status_t keel_gsync_check_call(keel_context_h ctx, uint32_t number, unsigned flags, int was_front);

#endif
