/*
 * Accumulates as the CPU does them, on own memory or a mapped peer's: each element by a compare-and-swap of its size, so the service
 * thread, mapped peers and the owner itself exclude each other, and so do the instructions of atomics (peer/apply).
 */
#ifndef KEEL_PEER_COMBINE_H_
#define KEEL_PEER_COMBINE_H_

#include "wire/record.h"

#include <keel/keel.h>

/* of keel_record_accumulate_t: a public one (keel_op_t), or this: the value where the element is as the record's compare says */
#define KEEL_COMBINE_CSWAP ((unsigned)KEEL_OP_LAST)

/* whether there is such an operation of such elements */
int keel_combine_is_known(unsigned op, unsigned type);

static inline int keel_combine_has_values(const keel_record_accumulate_t *head)
{
    return head->op != KEEL_OP_NO_OP;
}
/* bytes of its elements at the target */
static inline uint64_t keel_combine_bytes(const keel_record_accumulate_t *head)
{
    return head->count * (uint64_t)keel_type_size((keel_type_t)head->type);
}

/* a known one; @a values and @a result lie anyhow, and may be NULL where they are not asked for */
void keel_combine(const keel_record_accumulate_t *head, void *target, const void *values, void *result);
/* what a log has of one: where that is known, by how much it changed the words */
void keel_combine_logged(const keel_record_accumulate_t *head, void *target, const void *values);
/* @a values of it, which changed words from what @a old has, become that; @a room is for as many bytes */
void keel_combine_change(keel_record_accumulate_t *head, void *values, const void *old, void *room);
/* its elements; what of them is nobody's is 0, so that what is sent of equal ones is equal */
void keel_combine_copy(const keel_record_accumulate_t *head, void *to, const void *values);

#endif
