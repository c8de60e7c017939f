/* The short path of atomics in programs that wait. */
#ifndef KEEL_RMA_ATOMIC_WAITS_H_
#define KEEL_RMA_ATOMIC_WAITS_H_

#include "rma/atomic.h"

/*
 * Applies an atomic, or a fetching one, to live, mapped memory in a program that waits. Does what
 * the generic path would do there, with the records in the same order. Returns 0, with nothing
 * done, if the generic path has to do the atomic. Precondition: KEEL_GATE_WAITS is the only bit of
 * the gate.
 */
int keel_atomic_waits(keel_win_h win, keel_atomic_op_t op, uint32_t rank, uint64_t offset, size_t size,
                      uint64_t operand, uint64_t compare, void *result);

#endif
