/*
 * PEs that put and do not quiet, and then look again and again at what a third one has: shmem_looks get|fetch. PE 0 tells PE 1, which tells
 * PE 2, which tells itself; 0 looks at PE 2's word, and so does PE 1. Each round tells by a put or by an atomic.
 */
#include <shmem.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDS = 50 };

static long look(const char *how, const long *word, int of)
{
    return (strcmp(how, "get") == 0) ? shmem_long_g(word, of) : shmem_long_atomic_fetch(word, of);
}

static void look_for(const char *how, const long *word, int of, long value)
{
    while (look(how, word, of) < value) {
    }
}

int main(int argc, char **argv)
{
    const char *how = (argc == 2) ? argv[1] : "get";
    long *told, *over;
    int me;

    shmem_init();
    me = shmem_my_pe();
    told = shmem_calloc(1, sizeof(*told));
    over = shmem_calloc(1, sizeof(*over));
    for (long round = 1; round <= ROUNDS; round++) {
        if (me > 0) {
            look_for(how, told, me, round);
        }
        if (me + 1 < shmem_n_pes() && round % 2 == 0) {
            shmem_long_p(told, round, me + 1);
        } else if (me + 1 < shmem_n_pes()) {
            shmem_long_atomic_add(told, 1, me + 1);
        } else {
            shmem_long_p(over, round, me);
        }
        look_for(how, over, shmem_n_pes() - 1, round);
    }
    shmem_barrier_all();
    if (me == 0) {
        printf("shmem_looks: %d rounds: right\n", ROUNDS);
    }
    shmem_finalize();
    return 0;
}
