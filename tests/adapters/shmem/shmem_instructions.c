/*
 * Calls of PE 0 at PE 1, for a tool that counts instructions (tests/adapters/instructions):
 * shmem_instructions [ROUNDS]. Each function below is called once a round and makes CALLS calls.
 */
#include <shmem.h>

#include <stdio.h>
#include <stdlib.h>

enum { CALLS = 64, WRONG = 1 };

static long *words, sum;

static __attribute__((noinline)) void puts_of_8(void)
{
    for (long i = 0; i < CALLS; i++) {
        shmem_long_p(&words[i], i, 1);
        shmem_quiet();
    }
}

static __attribute__((noinline)) void gets_of_8(void)
{
    for (long i = 0; i < CALLS; i++) {
        sum += shmem_long_g(&words[i], 1);
    }
}

int main(int argc, char **argv)
{
    const long rounds = (argc > 1) ? strtol(argv[1], NULL, 10) : 10;

    shmem_init();
    words = shmem_calloc(CALLS, sizeof(*words));
    for (long i = 0; i < rounds; i++) {
        if (shmem_my_pe() == 0) {
            puts_of_8();
            gets_of_8();
        }
        shmem_barrier_all();
    }
    if (shmem_my_pe() == 0 && sum != rounds * CALLS * (CALLS - 1) / 2) {
        fprintf(stderr, "shmem_instructions: the sum is %ld\n", sum);
        shmem_global_exit(WRONG);
    }
    shmem_free(words);
    shmem_finalize();
    return 0;
}
