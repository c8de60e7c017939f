/*
 * Accumulates by the CPU, on own memory or on a mapped peer's, by locked instructions; folder
 * combine has plain loops. Each element changes by one compare-and-swap, of its size or of an
 * aligned block of 16 bytes with further elements of the call, so the service thread, mapped peers
 * and the owner exclude each other, and also the instructions of atomics (peer/apply).
 */
#ifndef KEEL_PEER_COMBINE_H_
#define KEEL_PEER_COMBINE_H_

#include "wire/record.h"

#include <keel/keel.h>

/* Operation of keel_record_accumulate_t beside the public ones (keel_op_t): stores the value if
 * the element equals the record's compare. */
#define KEEL_COMBINE_CSWAP ((unsigned)KEEL_OP_LAST)

/* True if the operation exists for elements of this type. */
int keel_combine_is_known(unsigned op, unsigned type);

static inline int keel_combine_has_values(const keel_record_accumulate_t *head)
{
    return head->op != KEEL_OP_NO_OP;
}
/* Bytes of the elements at the target. */
static inline uint64_t keel_combine_bytes(const keel_record_accumulate_t *head)
{
    return head->count * (uint64_t)keel_type_size((keel_type_t)head->type);
}

/* Does a known accumulate. @a values and @a result need no alignment and may be NULL if unused. */
void keel_combine(const keel_record_accumulate_t *head, void *target, const void *values, void *result);
/* Does the logged form of an accumulate: additions of the known changes, if any. */
void keel_combine_logged(const keel_record_accumulate_t *head, void *target, const void *values);
/* Replaces @a values by the changes that they make to the words with the old values @a old. @a
 * room: scratch of the same size. */
void keel_combine_change(keel_record_accumulate_t *head, void *values, const void *old, void *room);
/* Copies the elements and clears their padding, so that equal elements make equal messages. */
void keel_combine_copy(const keel_record_accumulate_t *head, void *to, const void *values);

#endif
