/* Global variables that point somewhere: four of them to what is not restored; compiled by oshcc. */
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

int main(void)
{
    shmem_init();
    private_name = (char *)malloc(10);
    trace = stderr;
    several.to[1] = several.to[3] = private_name;
    several.to[2] = &several;
    kept = stdout;
    function = puts;
    in_heap = (long *)shmem_malloc(sizeof(long));
    *in_heap = 1;
    shmemx_globals(1);
    shmemx_checkpoint();
    shmemx_safepoint();
    shmem_finalize();
    return *to_global != 30000000 || trace == kept || function == NULL || private_name == NULL || in_heap == NULL;
}
