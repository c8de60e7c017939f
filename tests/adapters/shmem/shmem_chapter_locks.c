/* Locks. */
#include "shmem_chapter.h"

/* First come, first served: each PE requests the lock after the previous PE has. The upper half of
 * the lock counts the requests. */
static void check_order(void)
{
    long *lock = shmem_calloc(1, sizeof(*lock)), *served = shmem_calloc(1, sizeof(*served));
    int *go = shmem_calloc(1, sizeof(*go));

    if (pe == 0) {
        shmem_set_lock(lock);
        for (int next = pes - 1; next > 0; next--) {
            shmem_int_p(go, 1, next);
            shmem_quiet();
            while (shmem_long_atomic_fetch(lock, 0) >> 32 < 1 + pes - next) {
            }
        }
        shmem_clear_lock(lock);
    } else {
        shmem_int_wait_until(go, SHMEM_CMP_EQ, 1);
        EXPECT(shmem_test_lock(lock) == 1);
        shmem_set_lock(lock);
        EXPECT(shmem_long_atomic_fetch_inc(served, 0) == pes - 1 - pe);
        shmem_clear_lock(lock);
    }
    shmem_barrier_all();
    shmem_free(go);
    shmem_free(served);
    shmem_free(lock);
}

void check_locks(void)
{
    long *lock = shmem_calloc(1, sizeof(*lock)), *count = shmem_calloc(1, sizeof(*count));

    for (int i = 0; i < 5; i++) {
        if (i % 2 == 0) {
            shmem_set_lock(lock);
        } else {
            while (shmem_test_lock(lock) != 0) {
            }
        }
        shmem_long_p(count, shmem_long_g(count, 0) + 1, 0);
        shmem_clear_lock(lock);
    }
    shmem_barrier_all();
    EXPECT(shmem_long_g(count, 0) == 5l * pes);
    shmem_barrier_all();
    shmem_free(count);
    shmem_free(lock);
    check_order();
}
