/* A short OpenSHMEM program in the style of others, in C and C++; compiled by the wrappers'
 * test. */
#include <mpp/shmem.h>
#include <mpp/shmemx.h>

#include <stdio.h>

int main(void)
{
    int me, npes, i, sum = 0;
    int *all;

    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    all = (int *)shmem_malloc((size_t)npes * sizeof(int));
    if (all == NULL) {
        shmem_global_exit(1);
    }
    for (i = 0; i < npes; i++) {
        shmem_int_p(&all[me], me + 1, i);
    }
    shmem_barrier_all();
    for (i = 0; i < npes; i++) {
        sum += all[i];
    }
    if (me == 0) {
        printf("plain_ring: %d PEs: %d\n", npes, sum);
    }
    shmem_free(all);
    shmem_finalize();
    return 0;
}
