/* Locks: the word at PE 0 is 1 + the PE that has it. */
#include "shmem_state.h"

static int lock_try(long *lock, const char *call)
{
    const long none = 0, own = (long)keel_shmem.pe + 1;
    long was;
    const keel_shmem_atomic_t cswap = {.op = KEEL_ATOMIC_CSWAP,
                                       .size = sizeof(*lock),
                                       .operand = (uint64_t)own,
                                       .compare = (uint64_t)none,
                                       .result = &was};

    keel_shmem_atomic(&cswap, lock, 0, call);
    if (was == own) {
        keel_shmem_refuse(call, "this PE has that lock already", (uintptr_t)lock);
    }
    return was == none;
}

KEEL_SHMEM_DEFINE(void, set_lock, (long *lock))
{
    while (!lock_try(lock, KEEL_SHMEM_CALL)) {
        keel_shmem_end(KEEL_SHMEM_ALONE(keel_progress(keel_shmem.ctx)), KEEL_SHMEM_CALL);
        keel_shmem_threads_yield();
    }
}

KEEL_SHMEM_DEFINE(int, test_lock, (long *lock))
{
    return !lock_try(lock, KEEL_SHMEM_CALL);
}

KEEL_SHMEM_DEFINE(void, clear_lock, (long *lock))
{
    const keel_shmem_atomic_t swap = {.op = KEEL_ATOMIC_SWAP, .size = sizeof(*lock), .operand = 0};

    keel_shmem_quiet(KEEL_SHMEM_CALL);
    keel_shmem_atomic(&swap, lock, 0, KEEL_SHMEM_CALL);
    keel_shmem_quiet(KEEL_SHMEM_CALL);
}
