/*
 * A deterministic program for OpenSHMEM 1.5 only, with its state in global variables and on the
 * heap: plain_heat STEPS PE@STEP.PLACE,...|- [PUTS]. The named PEs die there in their first
 * process. PUTS: additional puts of 4 KB a step, without use. Compiled by oshcc.
 */
#include "deaths.h"

#include <shmem.h>

#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 500 };

static double old[CELLS + 2], spare[CELLS + 2];
static double total, part;
static long most_steps;

/* Defined as benchmarks do with shmem.h only. A clock would not be deterministic. */
static double shmemx_wtime(void)
{
    return 0;
}

int main(int argc, char **argv)
{
    const long steps = (argc > 2) ? strtol(argv[1], NULL, 10) : 0;
    const long puts = (argc > 3) ? strtol(argv[3], NULL, 10) : 0;
    const char *life = getenv("KEEL_INCARNATION"), *job = getenv("KEELRUN_JOB");
    const int is_first = (life == NULL || life[0] == '0') && (job == NULL || job[0] == '0');
    const char *deaths = is_first ? argv[2] : NULL;
    double *new, *sums;
    long most = 0;
    int me, npes;

    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    new = (double *)shmem_malloc(sizeof(old));
    sums = (double *)shmem_calloc((size_t)npes, sizeof(double));
    most_steps = steps;
    part = shmemx_wtime();
    old[1] = old[CELLS] = 100.0 * (me + 1);
    shmem_barrier_all();
    for (long step = 0; step < (most > 0 ? most : steps); step++) {
        die_when_said(deaths, (unsigned long)me, (unsigned long)step, 0);
        if (me > 0) {
            shmem_double_p(&old[CELLS + 1], old[1], me - 1);
        }
        die_when_said(deaths, (unsigned long)me, (unsigned long)step, 1);
        if (me < npes - 1) {
            most = shmem_long_g(&most_steps, me + 1);
            shmem_double_put(&old[0], &old[CELLS], 1, me + 1);
        }
        for (long i = 0; i < puts; i++) {
            shmem_double_put(spare, old, CELLS, (me + 1) % npes);
        }
        shmem_barrier_all();
        die_when_said(deaths, (unsigned long)me, (unsigned long)step, 2);
        for (int i = 1; i <= CELLS; i++) {
            new[i] = old[i] + 0.25 * (old[i - 1] - 2.0 * old[i] + old[i + 1]);
        }
        for (int i = 1; i <= CELLS; i++) {
            old[i] = new[i];
        }
        if (step % 10 == 9) {
            printf("PE %d has done %ld steps\n", me, step + 1);
        }
        shmem_barrier_all();
    }
    for (int i = 1; i <= CELLS; i++) {
        part += old[i] * old[i];
    }
    shmem_double_p(&sums[me], part, 0);
    shmem_barrier_all();
    if (me == 0) {
        for (int i = 0; i < npes; i++) {
            total += sums[i];
        }
        printf("plain_heat: %d PEs, %ld steps: %.12g\n", npes, steps, total);
        fflush(stdout);
    }
    shmem_free(new);
    shmem_finalize();
    return 0;
}
