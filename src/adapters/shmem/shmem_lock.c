/*
 * Locks are ticket locks, so the first PE to come is served first. The word at PE 0 counts arrivals
 * in the upper half and served tickets in the lower half; an addition to one half never carries
 * into the other. A PE fetches a ticket and polls for its turn: atomics of one class, in an order
 * that a replacement finds in the logs. Tests swap, and leave no trace if the lock is not free.
 */
#include "shmem_state.h"

#include <sched.h>

#define ONE_ARRIVAL ((uint64_t)1 << 32)

enum { PATIENCE = 64 }; /* looks before yielding the core, which the lock's holder may need */

static uint64_t look(long *lock, const char *call)
{
    uint64_t word = 0;
    const keel_shmem_atomic_t fetch = {.op = keel_shmem_fetch_op(), .size = sizeof(word), .result = &word};

    keel_shmem_atomic(&fetch, lock, 0, call);
    return word;
}

static uint32_t arrivals(uint64_t word)
{
    return (uint32_t)(word >> 32);
}

static uint32_t served(uint64_t word)
{
    return (uint32_t)word;
}

/*
 * The lock's entry in the table of locks held by this PE; with NULL, a free entry. NULL: no such
 * entry.
 */
static const long **entry_of(const long *lock)
{
    for (unsigned i = 0; i < KEEL_SHMEM_HELD; i++) {
        if (keel_shmem.hidden->held[i] == lock) {
            return &keel_shmem.hidden->held[i];
        }
    }
    return NULL;
}

static void replace_entry(const long *lock, const long *instead)
{
    const long **entry = entry_of(lock);

    if (entry != NULL) {
        *entry = instead;
    }
}

/*
 * Refuses a lock that this PE already holds. A restore may have brought back the table without the
 * lock: an entry of a free lock has no meaning.
 */
static void check_free(long *lock, const char *call)
{
    uint64_t word;

    if (entry_of(lock) == NULL) {
        return;
    }
    word = look(lock, call);
    if (arrivals(word) != served(word)) {
        keel_shmem_refuse(call, "this PE has that lock already", (uintptr_t)lock);
    }
    replace_entry(lock, NULL);
}

static void wait_for_more(uint32_t before, unsigned *looks_p, const char *call)
{
    keel_shmem_end(KEEL_SHMEM_ALONE(keel_progress(keel_shmem.ctx)), call);
    keel_shmem_threads_yield();
    if (before > 1 || ++*looks_p % PATIENCE == 0) {
        sched_yield();
    }
}

KEEL_SHMEM_DEFINE(void, set_lock, (long *lock))
{
    uint64_t word = 0;
    const keel_shmem_atomic_t ticket = {
        .op = KEEL_ATOMIC_ADD, .size = sizeof(word), .operand = ONE_ARRIVAL, .result = &word};
    unsigned looks = 0;
    uint32_t turn;

    keel_shmem_begin_reading(KEEL_SHMEM_CALL);
    check_free(lock, KEEL_SHMEM_CALL);
    keel_shmem_atomic(&ticket, lock, 0, KEEL_SHMEM_CALL);
    /* cleared more often than set: memory of another time */
    if ((int32_t)(arrivals(word) - served(word)) < 0) {
        keel_shmem_refuse(KEEL_SHMEM_CALL, "cleared by who did not have it, or not restored with the rest",
                          (uintptr_t)lock);
    }
    for (turn = arrivals(word); served(word) != turn; word = look(lock, KEEL_SHMEM_CALL)) {
        wait_for_more(turn - served(word), &looks, KEEL_SHMEM_CALL);
    }
    replace_entry(NULL, lock);
}

KEEL_SHMEM_DEFINE(int, test_lock, (long *lock))
{
    uint64_t word, was = 0;
    keel_shmem_atomic_t swap = {.op = KEEL_ATOMIC_CSWAP, .size = sizeof(word), .result = &was};

    keel_shmem_begin_reading(KEEL_SHMEM_CALL);
    check_free(lock, KEEL_SHMEM_CALL);
    word = look(lock, KEEL_SHMEM_CALL);
    if (arrivals(word) != served(word)) {
        return 1;
    }
    swap.compare = word;
    swap.operand = word + ONE_ARRIVAL;
    keel_shmem_atomic(&swap, lock, 0, KEEL_SHMEM_CALL);
    if (was != word) {
        return 1;
    }
    replace_entry(NULL, lock);
    return 0;
}

KEEL_SHMEM_DEFINE(void, clear_lock, (long *lock))
{
    const keel_shmem_atomic_t next = {.op = KEEL_ATOMIC_ADD, .size = sizeof(uint32_t), .operand = 1};

    if (keel_shmem_begin(KEEL_SHMEM_CALL)) {
        return;
    }
    keel_shmem_quiet(KEEL_SHMEM_CALL);
    replace_entry(lock, NULL);
    keel_shmem_atomic(&next, lock, 0, KEEL_SHMEM_CALL);
    keel_shmem_quiet(KEEL_SHMEM_CALL);
}
