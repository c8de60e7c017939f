/*
 * OpenSHMEM with four more lines, and any PE may be killed: keelrun -n 4 --kill 2@0.5 hello_shmem.
 * Each PE adds to its right neighbour's counter a million times.
 */
#include <shmem.h>

#include <stdio.h>
#include <unistd.h>

enum { ROUNDS = 1000, EACH = 1000 };

int main(void)
{
    static long round;
    long *counter;

    shmem_init();
    counter = shmem_calloc(1, sizeof(*counter));
    shmemx_protect(1, &round, sizeof(round));
    SHMEMX_RESTART_POINT();
    if (shmemx_restarted()) {
        shmemx_restore();
    }
    while (round < ROUNDS) {
        for (int i = 0; i < EACH; i++) {
            shmem_long_atomic_inc(counter, (shmem_my_pe() + 1) % shmem_n_pes());
        }
        usleep(2000); /* time for a kill */
        round++;
        shmemx_checkpoint();
    }
    printf("PE %d, life %u: %ld\n", shmem_my_pe(), shmemx_incarnation(), *counter);
    shmem_finalize();
    return 0;
}
