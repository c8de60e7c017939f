/*
 * Times of collective calls of all ranks: group_times [COUNT]. Rank 0 prints "CALL BYTES US". Each
 * call runs COUNT times after a tenth as warm-up. A call ends when all members have begun it: a
 * call of Keel's groups is also a barrier, and MPI's calls are followed by one. The results are
 * checked once.
 */
#include "group_ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct times {
    unsigned rank, count; /* count of ranks */
    long calls;
    char *in, *out;
} times_t;

typedef void (*call_t)(const times_t *t, size_t bytes);

static void broadcast(const times_t *t, size_t bytes)
{
    ops_broadcast(t->in, bytes);
}

static void reduce(const times_t *t, size_t bytes)
{
    ops_reduce((const double *)(void *)t->in, (double *)(void *)t->out, bytes / sizeof(double));
}

static void allreduce(const times_t *t, size_t bytes)
{
    ops_allreduce((const double *)(void *)t->in, (double *)(void *)t->out, bytes / sizeof(double));
}

static void gather(const times_t *t, size_t bytes)
{
    ops_gather(t->in, t->out, bytes);
}

static void allgather(const times_t *t, size_t bytes)
{
    ops_allgather(t->in, t->out, bytes);
}

static void alltoall(const times_t *t, size_t bytes)
{
    ops_alltoall(t->in, t->out, bytes);
}

static const struct {
    const char *name;
    call_t call;
    int from_all; /* data of member m comes at m times the bytes */
    int to_all;   /* other ranks than 0 get the result, too */
} calls[] = {
    {"broadcast", broadcast, 0, 1}, {"reduce", reduce, 0, 0},       {"allreduce", allreduce, 0, 1},
    {"gather", gather, 1, 0},       {"allgather", allgather, 1, 1}, {"alltoall", alltoall, 1, 1},
};

static double now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

/* The average time of a call. */
static double time_of(const times_t *t, call_t call, size_t bytes)
{
    double begin = 0;

    for (long i = -t->calls / 10; i < t->calls; i++) {
        begin = (i == 0) ? now_us() : begin;
        call(t, bytes);
        ops_meet();
    }
    return (now_us() - begin) / (double)t->calls;
}

/* Checks a call: each member sends its number in all bytes. */
static void check(const times_t *t, unsigned c, size_t bytes)
{
    const int has = calls[c].to_all || t->rank == 0;

    memset(t->in, (int)t->rank, t->count * bytes);
    memset(t->out, 0xff, t->count * bytes);
    calls[c].call(t, bytes);
    for (unsigned m = 0; has && calls[c].from_all && m < t->count; m++) {
        if (t->out[m * bytes] != (char)m || t->out[(m + 1) * bytes - 1] != (char)m) {
            fprintf(stderr, "group_times: %s of %zu bytes is wrong\n", calls[c].name, bytes);
            exit(EXIT_FAILURE);
        }
    }
    if (calls[c].call == broadcast && t->in[bytes - 1] != 0) {
        fprintf(stderr, "group_times: a broadcast is wrong\n");
        exit(EXIT_FAILURE);
    }
    memset(t->in, 0, t->count * bytes);
    ops_meet();
}

static void time_barrier(const times_t *t)
{
    double begin = 0;

    for (long i = -t->calls / 10; i < t->calls; i++) {
        begin = (i == 0) ? now_us() : begin;
        ops_barrier();
    }
    if (t->rank == 0) {
        printf("barrier 0 %.3f\n", (now_us() - begin) / (double)t->calls);
    }
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {8, 256, 4096, OPS_BYTES_MAX};
    times_t t = {.calls = 500};

    ops_begin(&argc, &argv, &t.rank, &t.count);
    t.calls = (argc > 1) ? strtol(argv[1], NULL, 10) : t.calls;
    t.in = calloc(t.count, OPS_BYTES_MAX);
    t.out = calloc(t.count, OPS_BYTES_MAX);
    if (t.calls < 10 || t.count > OPS_RANKS_MAX || t.in == NULL || t.out == NULL) {
        fprintf(stderr, "usage: group_times [COUNT], of 10 at least, with %u ranks at most\n", OPS_RANKS_MAX);
        return EXIT_FAILURE;
    }
    time_barrier(&t);
    for (unsigned c = 0; c < sizeof(calls) / sizeof(calls[0]); c++) {
        for (unsigned s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
            double us;

            check(&t, c, sizes[s]);
            us = time_of(&t, calls[c].call, sizes[s]);
            if (t.rank == 0) {
                printf("%s %zu %.3f\n", calls[c].name, sizes[s], us);
            }
        }
    }
    free(t.in);
    free(t.out);
    ops_end();
    return EXIT_SUCCESS;
}
