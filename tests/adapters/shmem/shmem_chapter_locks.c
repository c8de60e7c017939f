/* Locks. */
#include "shmem_chapter.h"

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
}
