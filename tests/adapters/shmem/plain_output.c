/* Prints before the death of PE 1, and after it. Compiled by oshcc. */
#include <shmem.h>

#include <signal.h>
#include <stdio.h>

enum { STEPS = 50, DEATH = 20 };

int main(void)
{
    long *word;
    int pe, right;

    shmem_init();
    pe = shmem_my_pe();
    right = (pe + 1) % shmem_n_pes();
    word = shmem_calloc(1, sizeof(*word));
    printf("plain_output: PE %d begins\n", pe);
    fflush(stdout);
    for (long step = 0; step < STEPS; step++) {
        shmem_long_p(word, step, right);
        shmem_barrier_all();
        if (step == DEATH && pe == 1 && shmemx_incarnation() == 0) {
            raise(SIGKILL);
        }
    }
    printf("plain_output: PE %d ends with %ld\n", pe, *word);
    fflush(stdout);
    shmem_finalize();
    return 0;
}
