/*
 * Listing 1 of Hao et al., Fault Tolerance for OpenSHMEM (OUG 2014), with a computation: heat along
 * a ring of rods, one on each PE.
 *
 *     oshcc -o listing1 listing1_shmem.c
 *     oshrun -np 4 --nodes 4 --kill 2@marker:"PE 2, step 50" ./listing1
 *
 * With the argument "newest" surviving PEs keep their memory (section 3.3, second option). Comments
 * explain each deviation from the paper.
 */
#include <shmem.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_STEPS = 100, CELLS = 1000, SAY_EVERY = 10 };

/* global variables are symmetric, and part of each checkpoint */
static double rod[CELLS + 2], next[CELLS + 2];

static void execute_computation(int step)
{
    const int me = shmem_my_pe(), npes = shmem_n_pes();

    if (step % SAY_EVERY == 0) {
        printf("PE %d, step %d\n", me, step);
        fflush(stdout);
    }
    /* each end goes to the neighbour's opposite halo cell */
    shmem_double_p(&rod[0], rod[CELLS], (me + 1) % npes);
    shmem_double_p(&rod[CELLS + 1], rod[1], (me + npes - 1) % npes);
    shmem_barrier_all();
    for (int i = 1; i <= CELLS; i++) {
        next[i] = 0.5 * rod[i] + 0.25 * (rod[i - 1] + rod[i + 1]);
    }
    shmem_barrier_all(); /* the ends have been read */
    memcpy(&rod[1], &next[1], CELLS * sizeof(rod[0]));
    usleep(10000); /* time for a kill */
}

static double heat(void)
{
    double sum = 0.0;

    for (int i = 1; i <= CELLS; i++) {
        sum += rod[i];
    }
    return sum;
}

int main(int argc, char **argv)
{
    /*
     * The paper: int step = 0. A new process begins main() with 0; a static step comes back with
     * the checkpoint.
     */
    static int step = 0;
    const int keeps_newest = argc > 1 && strcmp(argv[1], "newest") == 0;

    shmem_init();
    /* a new process does this, too: the restore comes later */
    rod[1] = 1000.0 * (shmem_my_pe() + 1);
    do {
        if (shmem_checkpoint_all()) {
            /* Failure event was reported */
            int *pes;
            int *status;
            size_t num_pes;

            /* Query indexes of failed PEs */
            shmem_query_fault(&pes, &status, &num_pes);
            /* Restart failed PEs */
            shmem_restart_pes(pes, num_pes);
            /* Restore memory */
            if (keeps_newest) {
                static int newest, own;

                shmemx_restore_all(SHMEMX_RESTORE_DEAD);
                /*
                 * the dead PE's step is older: all PEs agree on one step, or they would no longer
                 * meet
                 */
                own = step;
                shmem_int_max_reduce(SHMEM_TEAM_WORLD, &newest, &own, 1);
                step = newest;
            } else {
                shmem_restore_all();
            }
            printf("PE %d, life %u: %zu failed, back at step %d\n", shmem_my_pe(), shmemx_incarnation(), num_pes, step);
            fflush(stdout);
            /* The paper: step--. Here the restore brought back step with the memory. */
        }
        execute_computation(step);
        step++;
    } while (step < MAX_STEPS);

    printf("PE %d, life %u: %d steps, heat %.9f\n", shmem_my_pe(), shmemx_incarnation(), step, heat());
    shmem_finalize();
    return 0;
}
