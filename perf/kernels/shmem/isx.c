/*
 * An integer sort like ISx (Hanebutte and Hemstad, PGAS 2015): keys are drawn, sent to the PE of
 * their range, to a place reserved by a fetching atomic, and counted: isx [KEYS [STEPS]]. At the
 * end all keys are in the range of their PE, with the count, sum and sum of squares of the drawn
 * keys.
 */
#include "shmem_kernel.h"

#include <string.h>

enum { KEYS = 1 << 14, STEPS = 25, RANGE = 1 << 20, ROOM = 2 /* times a PE's average */ };

static struct {
    long step, flaws;
} at;
static long keys;             /* per PE and step */
static long long *given;      /* places reserved here by other PEs */
static int *received, *dealt; /* keys of the PE's range; own keys by destination */

static uint64_t width(void)
{
    return (RANGE + (uint64_t)shmem_n_pes() - 1) / (uint64_t)shmem_n_pes();
}

static uint64_t key(long i)
{
    return kernel_draw((uint64_t)at.step * 4096 + (uint64_t)shmem_my_pe(), (uint64_t)i) % RANGE;
}

/* Groups the keys by PE. Returns the count for each PE. */
static long *deal(void)
{
    const int pes = shmem_n_pes();
    long *counts = calloc((size_t)pes + 1, sizeof(*counts)), *next = calloc((size_t)pes, sizeof(*next));

    for (long i = 0; i < keys; i++) {
        counts[key(i) / width()]++;
    }
    for (int pe = 1; pe < pes; pe++) {
        next[pe] = next[pe - 1] + counts[pe - 1];
    }
    for (long i = 0; i < keys; i++) {
        dealt[next[key(i) / width()]++] = (int)key(i);
    }
    free(next);
    return counts;
}

static void send(const long *counts)
{
    const int pes = shmem_n_pes(), me = shmem_my_pe();
    long *first = calloc((size_t)pes, sizeof(*first));

    for (int pe = 1; pe < pes; pe++) {
        first[pe] = first[pe - 1] + counts[pe - 1];
    }
    for (int i = 0; i < pes; i++) {
        const int to = (me + i) % pes;
        const long long place = shmem_longlong_atomic_fetch_add(given, counts[to], to);

        if (place + counts[to] > ROOM * keys) {
            fprintf(stderr, "isx: more keys for PE %d than there is room\n", to);
            shmem_global_exit(2);
        }
        shmem_int_put(&received[place], &dealt[first[to]], (size_t)counts[to], to);
    }
    free(first);
}

/* Sorts the received keys by counting. True if they match the drawn keys. */
static int is_sorted(void)
{
    const uint64_t low = width() * (uint64_t)shmem_my_pe();
    int *counts = calloc(width(), sizeof(*counts));
    long sums[2] = {0, 0}, drawn[2] = {0, 0}, beyond = 0, next = 0;

    for (long long i = 0; i < *given; i++) {
        const uint64_t from_low = (uint64_t)received[i] - low;

        beyond += from_low >= width();
        counts[from_low < width() ? from_low : 0]++;
    }
    for (uint64_t i = 0; i < width(); i++) {
        while (counts[i]-- > 0) {
            received[next++] = (int)(low + i);
            sums[0] += (long)(low + i);
            sums[1] += (long)((low + i) * (low + i) % RANGE);
        }
    }
    free(counts);
    for (long i = 0; i < keys; i++) {
        drawn[0] += (long)key(i);
        drawn[1] += (long)(key(i) * key(i) % RANGE);
    }
    return kernel_sum(beyond) == 0 && kernel_sum(next - keys) == 0 && kernel_sum(sums[0] - drawn[0]) == 0 &&
           kernel_sum(sums[1] - drawn[1]) == 0;
}

int main(int argc, char **argv)
{
    const long steps = kernel_number(argc, argv, 2, STEPS);

    keys = kernel_number(argc, argv, 1, KEYS);
    kernel_begin();
    given = shmem_malloc(sizeof(*given));
    received = shmem_malloc((size_t)(ROOM * keys) * sizeof(*received));
    dealt = shmem_malloc((size_t)keys * sizeof(*dealt));
    *given = 0;
    shmem_barrier_all();
    KERNEL_RESTART_POINT(at);
    while (at.step < steps) {
        long *counts = deal();

        send(counts);
        free(counts);
        shmem_barrier_all();
        at.flaws += !is_sorted();
        *given = 0;
        at.step++;
        kernel_safepoint();
    }
    kernel_stepped();
    return kernel_end("isx", steps, at.flaws);
}
