/* A tool in front of the library, by the profiling interface: it counts calls of the program, and
 * none of the library. */
#include <pshmem.h>

#include <stdio.h>

static int puts_seen, barriers_seen, mallocs_seen;

void shmem_long_put(long *dest, const long *source, size_t nelems, int pe)
{
    puts_seen++;
    pshmem_long_put(dest, source, nelems, pe);
}

void shmem_barrier_all(void)
{
    barriers_seen++;
    pshmem_barrier_all();
}

void *shmem_malloc(size_t size)
{
    mallocs_seen++;
    return pshmem_malloc(size);
}

int main(void)
{
    long *word, value;
    int is_right, pes;

    shmem_init();
    pes = pshmem_n_pes();
    word = shmem_malloc(sizeof(*word));
    for (value = 1; value <= 3; value++) {
        /* the generic name calls the tool, too */
        shmem_put(word, &value, 1, (shmem_my_pe() + 1) % pes);
    }
    shmem_barrier_all();
    is_right = *word == 3 && puts_seen == 3 && barriers_seen == 1 && mallocs_seen == 1;
    printf("shmem_tool: PE %d: %s\n", shmem_my_pe(), is_right ? "right" : "WRONG");
    shmem_free(word);
    shmem_finalize();
    return !is_right;
}
