/*
 * Random access updates like HPC Challenge's, but exact: each PE changes random words of all PEs'
 * tables by atomic xor: gups [WORDS [UPDATES [STEPS]]]. At the end each PE computes all updates of
 * its own words alone and compares.
 */
#include "shmem_kernel.h"

enum { WORDS = 1 << 12, UPDATES = 2000, STEPS = 100 };

static struct {
    long step;
} at;
static long words, updates; /* per PE; per PE and step */
static unsigned long *table;

/* Update @a i of a PE: returns the word among all; *by gets the operand. */
static uint64_t update(long step, int pe, long i, uint64_t *by)
{
    const uint64_t drawn = kernel_draw((uint64_t)step * 4096 + (uint64_t)pe, (uint64_t)i);

    *by = drawn;
    return drawn % (uint64_t)(words * shmem_n_pes());
}

static long flaws(long steps)
{
    unsigned long *should = calloc((size_t)words, sizeof(*should));
    long count = 0;
    uint64_t by;

    for (long step = 0; step < steps; step++) {
        for (int pe = 0; pe < shmem_n_pes(); pe++) {
            for (long i = 0; i < updates; i++) {
                const uint64_t word = update(step, pe, i, &by);

                if ((int)(word / (uint64_t)words) == shmem_my_pe()) {
                    should[word % (uint64_t)words] ^= by;
                }
            }
        }
    }
    for (long i = 0; i < words; i++) {
        count += table[i] != should[i];
    }
    free(should);
    return count;
}

int main(int argc, char **argv)
{
    const long steps = kernel_number(argc, argv, 3, STEPS);
    uint64_t by;

    words = kernel_number(argc, argv, 1, WORDS);
    updates = kernel_number(argc, argv, 2, UPDATES);
    kernel_begin();
    table = shmem_malloc((size_t)words * sizeof(*table));
    for (long i = 0; i < words; i++) {
        table[i] = 0;
    }
    shmem_barrier_all();
    KERNEL_RESTART_POINT(at);
    while (at.step < steps) {
        for (long i = 0; i < updates; i++) {
            const uint64_t word = update(at.step, shmem_my_pe(), i, &by);

            shmem_ulong_atomic_xor(&table[word % (uint64_t)words], by, (int)(word / (uint64_t)words));
        }
        at.step++;
        kernel_safepoint();
    }
    kernel_stepped();
    return kernel_end("gups", steps, flaws(steps));
}
