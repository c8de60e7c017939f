/*
 * Global variables with pointers, four of them to unrestored memory; compiled by oshcc.
 * global_pointers [used|declined]: used: the program uses a variable as a symmetric object, without
 * a call of shmemx_globals(); declined: the program declares by that call that variables are not
 * restored.
 */
#include <shmem.h>
#include <shmemx.h>

#include <stdio.h>
#include <stdlib.h>

long number = 30000000;
char *private_name;
static FILE *trace;
static struct {
    int number;
    void *to[4];
} several;
static shmemx_volatile FILE *kept;
static int (*function)(const char *);
static long *in_heap, *to_global = &number;

int main(int argc, char **argv)
{
    const int is_used = argc > 1, is_declined = is_used && argv[1][0] == 'd';

    shmem_init();
    if (is_used) {
        shmem_long_p(&number, number, 0);
    }
    private_name = (char *)malloc(10);
    trace = stderr;
    several.to[1] = several.to[3] = private_name;
    several.to[2] = &several;
    kept = stdout;
    function = puts;
    in_heap = (long *)shmem_malloc(sizeof(long));
    *in_heap = 1;
    if (is_declined || !is_used) {
        shmemx_globals(!is_declined);
    }
    shmemx_checkpoint();
    shmemx_safepoint();
    shmem_finalize();
    return *to_global != 30000000 || trace == kept || function == NULL || private_name == NULL || in_heap == NULL;
}
