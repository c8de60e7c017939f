/*
 * Values fetched from other ranks in programs that wait. Like a wait, each orders later accesses of
 * this process after everything the fetch found. Each fetch is complete when the call returns.
 */
#ifndef KEEL_RMA_FETCH_H_
#define KEEL_RMA_FETCH_H_

#include "rma/atomic.h"

/* True if the atomic fetches a value that is recorded with a clock: a re-execution gives the same
 * result. The record is at the target; for own memory, at another rank. */
int keel_fetch_is_recorded(const keel_context_h ctx, const keel_record_atomic_t *atomic);
/* The same at another rank. */
int keel_fetch_is_ordered(const keel_context_h ctx, uint32_t rank, const keel_record_atomic_t *atomic);
/* Mapped target: applies the atomic and records value and clock there. *fetched_p: value and
 * clock. */
void keel_fetch_stored(keel_context_h ctx, uint32_t rank, uint64_t where, char *target,
                       const keel_record_atomic_t *atomic, keel_fetched_t *fetched_p);
/* Waits for an issued fetch, or takes the recorded value, and advances the caller's clock beyond
 * the fetched clock. */
keel_status_t keel_fetch_end(struct keel_req *req, size_t size, void *result);

/* Own memory, and the value is recorded. */
keel_status_t keel_fetch_own(keel_win_h win, uint64_t offset, const keel_record_atomic_t *atomic, void *result);
/* Own memory, before all ranks know that the program waits: no record. Replays others' accesses
 * first if the atomic fetches. */
keel_status_t keel_fetch_own_first(keel_context_h ctx, const keel_record_atomic_t *atomic);

#endif
