/*
 * The program's whole state is in global variables, and a single additional line is enough:
 * shmemx_globals(1): globals_return STEPS DEATHS. A variable of a shared library, placed by the
 * linker next to them, must not be restored, nor a volatile variable; compiled by oshcc.
 */
#include "counting.h"
#include "deaths.h"
#include "lost.h"

#include <shmem.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 1000 };

static long step_number;
static long token[2] = {-1, -1};
static double cells[CELLS + 2], next[CELLS + 2];
static double *now = cells, *then = next; /* pointers into the program are restored with it */
static double (*rule)(double, double, double);
static shmemx_volatile long calls; /* of this process */

static double mean(double a, double b, double c)
{
    return (a + b + c) / 3.0;
}

/* Lets the writing of files advance. */
static void look(void)
{
    (void)shmem_long_test(&token[0], SHMEM_CMP_LT, -9);
}

static void step(int pe, int pes, const char *deaths)
{
    double *other;

    die_when_said(deaths, (unsigned long)pe, (unsigned long)step_number, 0);
    if (pe > 0) {
        shmem_double_p(&now[CELLS + 1], now[1], pe - 1);
    }
    if (pe < pes - 1) {
        shmem_double_p(&now[0], now[CELLS], pe + 1);
    }
    shmem_long_p(&token[step_number % 2], step_number, (pe + 1) % pes);
    die_when_said(deaths, (unsigned long)pe, (unsigned long)step_number, 1);
    lose_when_said(pe, step_number, 1, look);
    shmem_barrier_all();
    if (token[step_number % 2] != step_number) {
        printf("globals_return: PE %d, step %ld: the token is %ld\n", pe, step_number, token[step_number % 2]);
        shmem_global_exit(1);
    }
    for (int i = 1; i <= CELLS; i++) {
        then[i] = rule(now[i - 1], now[i], now[i + 1]);
    }
    other = now;
    now = then;
    then = other;
    step_number++;
}

int main(int argc, char **argv)
{
    const long steps = (argc > 2) ? strtol(argv[1], NULL, 10) : 0;
    const char *deaths;
    double sum = 0.0;
    int pe, pes;

    shmem_init();
    pe = shmem_my_pe();
    pes = shmem_n_pes();
    rule = mean;
    cells[1] = cells[CELLS] = 1000.0 * (pe + 1);
    shmemx_globals(1);
    SHMEMX_RESTART_POINT();
    counted++; /* in this process */
    calls++;
    if (shmemx_restarted()) {
        shmemx_restore();
    }
    if (calls != counted || count() != calls + 1) {
        fprintf(stderr, "globals_return: PE %d: %ld restarts, the library counted %d\n", pe, calls, counted);
        shmem_global_exit(1);
    }
    counted--;
    deaths = (shmemx_incarnation() == 0) ? argv[2] : NULL;
    while (step_number < steps) {
        step(pe, pes, deaths);
        if (step_number % 3 == 0) {
            shmemx_checkpoint();
        }
    }
    for (int i = 1; i <= CELLS; i++) {
        sum += now[i] * now[i] * i;
    }
    printf("PE %d: %ld steps: %.12g\n", pe, step_number, sum);
    fflush(stdout);
    shmem_finalize();
    return 0;
}
