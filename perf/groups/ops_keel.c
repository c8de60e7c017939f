/* A group of Keel: all ranks of the job, in a separate window. */
#include "group_ops.h"

#include <keel/keel.h>

#include <stdio.h>
#include <stdlib.h>

static keel_context_h ctx;
static keel_group_h group;

static void must(keel_status_t status, const char *what)
{
    if (status != KEEL_OK) {
        fprintf(stderr, "group_times: %s: %s\n", what, keel_status_string(status));
        exit(EXIT_FAILURE);
    }
}

void ops_begin(int *argc, char ***argv, unsigned *rank_p, unsigned *count_p)
{
    const keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_FLAGS, .flags = KEEL_PARAM_FLAG_WAITS};
    uint32_t ranks[OPS_RANKS_MAX], count;
    keel_win_h win;

    (void)argc;
    (void)argv;
    must(keel_init(&params, &ctx), "keel_init");
    count = keel_size(ctx);
    *rank_p = keel_rank(ctx);
    *count_p = count;
    for (uint32_t r = 0; r < count && r < OPS_RANKS_MAX; r++) {
        ranks[r] = r;
    }
    must(keel_win_alloc(ctx, keel_group_bytes(count, OPS_BYTES_MAX), NULL, &win), "keel_win_alloc");
    must(keel_group_create(win, 0, OPS_BYTES_MAX, ranks, count, &group), "keel_group_create");
}

void ops_end(void)
{
    keel_group_free(group);
    must(keel_finalize(ctx), "keel_finalize");
}

void ops_barrier(void)
{
    must(keel_group_barrier(group), "keel_group_barrier");
}

void ops_meet(void)
{
}

void ops_broadcast(void *buffer, size_t bytes)
{
    must(keel_group_broadcast(group, 0, buffer, bytes), "keel_group_broadcast");
}

void ops_reduce(const double *in, double *out, size_t count)
{
    must(keel_group_reduce(group, 0, KEEL_OP_SUM, KEEL_TYPE_DOUBLE, in, out, count), "keel_group_reduce");
}

void ops_allreduce(const double *in, double *out, size_t count)
{
    must(keel_group_allreduce(group, KEEL_OP_SUM, KEEL_TYPE_DOUBLE, in, out, count), "keel_group_allreduce");
}

void ops_gather(const void *in, void *out, size_t bytes)
{
    must(keel_group_gather(group, 0, in, out, bytes), "keel_group_gather");
}

void ops_allgather(const void *in, void *out, size_t bytes)
{
    must(keel_group_allgather(group, in, out, bytes), "keel_group_allgather");
}

void ops_alltoall(const void *in, void *out, size_t bytes)
{
    must(keel_group_alltoall(group, in, out, bytes), "keel_group_alltoall");
}
