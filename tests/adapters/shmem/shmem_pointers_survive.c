/*
 * A program with stores to other PEs' memory by shmem_ptr(), called once before the restart point
 * and again after it: shmem_pointers_survive STEPS -|PE@STEP.PLACE,... The named PEs die there in
 * the first incarnation: 0 before the stores, 1 after them.
 */
#include "deaths.h"

#include <shmem.h>

#include <stdio.h>
#include <stdlib.h>

enum { SAVE_EVERY = 3, CELLS = 1000, WRONG = 1, USAGE = 2 };

static struct {
    long step;
} at; /* protected */
static long *cells;

static void check(long is, long should, const char *what)
{
    if (is != should) {
        fprintf(stderr, "shmem_pointers_survive: PE %d, step %ld: %s is %ld, not %ld\n", shmem_my_pe(), at.step, what,
                is, should);
        shmem_global_exit(WRONG);
    }
}

static void step(const char *deaths, long *rights)
{
    const int me = shmem_my_pe(), pes = shmem_n_pes(), left = (me + pes - 1) % pes;
    long sum = 0;

    die_when_said(deaths, (unsigned long)me, (unsigned long)at.step, 0);
    for (long i = 0; i < CELLS; i++) {
        rights[i] += me + i;
    }
    die_when_said(deaths, (unsigned long)me, (unsigned long)at.step, 1);
    shmem_barrier_all();
    for (int pe = 0; pe < pes; pe++) {
        sum += ((const long *)shmem_ptr(&cells[CELLS - 1], pe))[0];
    }
    at.step++;
    check(cells[1], (left + 1) * at.step, "what was stored here");
    check(sum, (pes * (pes - 1) / 2 + (long)pes * (CELLS - 1)) * at.step, "what is loaded from all");
    shmem_barrier_all();
}

int main(int argc, char **argv)
{
    const long steps = (argc == 3) ? strtol(argv[1], NULL, 10) : 0;
    const char *deaths;
    long *volatile first;
    long *rights;

    if (steps <= 0) {
        fprintf(stderr, "usage: shmem_pointers_survive STEPS -|PE@STEP.PLACE,...\n");
        return USAGE;
    }
    shmem_init();
    cells = shmem_calloc(CELLS, sizeof(*cells));
    first = shmem_ptr(cells, (shmem_my_pe() + 1) % shmem_n_pes());
    shmemx_protect(1, &at, sizeof(at));
    SHMEMX_RESTART_POINT();
    if (shmemx_restarted()) {
        shmemx_restore();
    }
    rights = shmem_ptr(cells, (shmem_my_pe() + 1) % shmem_n_pes());
    check(rights != NULL, 1, "a pointer to the neighbour");
    check(first == NULL ? (long)shmemx_incarnation() > 0 : first == rights, 1, "the pointer from before");
    deaths = (shmemx_incarnation() == 0) ? argv[2] : NULL;
    while (at.step < steps) {
        step(deaths, rights);
        if (at.step % SAVE_EVERY == 0) {
            shmemx_checkpoint();
        }
    }
    printf("shmem_pointers_survive: PE %d: right\n", shmem_my_pe());
    shmem_finalize();
    return 0;
}
