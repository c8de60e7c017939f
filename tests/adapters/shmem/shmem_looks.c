/*
 * PEs that put without a quiet, and then poll a word of a third PE: shmem_looks
 * get|fetch|beat|threads. PE 0 signals PE 1, PE 1 signals PE 2, and PE 2 signals itself; PEs 0 and
 * 1 poll PE 2's word. Each round signals by a put or by an atomic. beat: before each poll the PE
 * puts a heartbeat, and sleeps; threads: another thread of each PE polls, too, all the time.
 */
#include <pthread.h>
#include <shmem.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 50, BEATING_ROUNDS = 3 };

static long *announced, *over, *beats;
static atomic_int is_over;

static long look(const char *how, const long *word, int of)
{
    const struct timespec pause = {.tv_nsec = 20000000};

    if (strcmp(how, "beat") == 0) {
        shmem_long_p(beats, 1, (shmem_my_pe() + 1) % shmem_n_pes());
        nanosleep(&pause, NULL);
    }
    return (strcmp(how, "fetch") == 0) ? shmem_long_atomic_fetch(word, of) : shmem_long_g(word, of);
}

static void look_for(const char *how, const long *word, int of, long value)
{
    while (look(how, word, of) < value) {
    }
}

static void *look_on(void *arg)
{
    while (!atomic_load(&is_over)) {
        (void)shmem_long_g(beats, *(const int *)arg);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    const char *how = (argc == 2) ? argv[1] : "get";
    const int has_threads = strcmp(how, "threads") == 0;
    const long rounds = (strcmp(how, "beat") == 0) ? BEATING_ROUNDS : ROUNDS;
    pthread_t thread;
    int me, last, level;

    shmem_init_thread(has_threads ? SHMEM_THREAD_MULTIPLE : SHMEM_THREAD_SINGLE, &level);
    me = shmem_my_pe();
    last = shmem_n_pes() - 1;
    announced = shmem_calloc(1, sizeof(*announced));
    over = shmem_calloc(1, sizeof(*over));
    beats = shmem_calloc(1, sizeof(*beats));
    if (has_threads && pthread_create(&thread, NULL, look_on, &last) != 0) {
        return EXIT_FAILURE;
    }
    for (long round = 1; round <= rounds; round++) {
        if (me > 0) {
            look_for(how, announced, me, round);
        }
        if (me < last && round % 2 == 0) {
            shmem_long_p(announced, round, me + 1);
        } else if (me < last) {
            shmem_long_atomic_add(announced, 1, me + 1);
        } else {
            shmem_long_p(over, round, me);
        }
        look_for(how, over, last, round);
    }
    atomic_store(&is_over, 1);
    if (has_threads) {
        (void)pthread_join(thread, NULL);
    }
    shmem_barrier_all();
    if (me == 0) {
        printf("shmem_looks: %ld rounds: right\n", rounds);
    }
    shmem_finalize();
    return 0;
}
