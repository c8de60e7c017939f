/*
 * An OpenSHMEM program without Keel, for libkeel-preload.so: each PE makes so many puts, gets and
 * fetch-and-adds at its right neighbour. Arguments: PUTS GETS ATOMICS. A wrong sum of the adds
 * fails.
 */
#include <shmem.h>

#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 64 };

int main(int argc, char **argv)
{
    const int puts = atoi(argv[1]), gets = atoi(argv[2]), atomics = atoi(argv[3]);
    char buffer[BYTES] = "text", *bytes;
    int is_right, next;
    long *word;

    (void)argc;
    shmem_init();
    next = (shmem_my_pe() + 1) % shmem_n_pes();
    bytes = shmem_malloc(BYTES);
    word = shmem_calloc(1, sizeof(*word));
    shmem_barrier_all();
    for (int i = 0; i < puts; i++) {
        shmem_putmem_nbi(bytes, buffer, BYTES, next);
    }
    shmem_quiet();
    for (int i = 0; i < gets; i++) {
        shmem_getmem(buffer, bytes, BYTES, next);
    }
    for (int i = 0; i < atomics; i++) {
        shmem_long_atomic_fetch_add(word, 1, next);
    }
    shmem_barrier_all();
    is_right = *word == atomics && buffer[0] == 't';
    if (!is_right) {
        fprintf(stderr, "PE %d: sum %ld, not %d\n", shmem_my_pe(), *word, atomics);
    }
    shmem_finalize();
    return !is_right;
}
