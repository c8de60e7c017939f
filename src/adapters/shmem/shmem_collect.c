/*
 * Collectives of all PEs. What is reduced goes up a binomial tree to PE 0 and down it again, a chunk at a time: log n rounds, and
 * log n places at each PE. A place is free for the next chunk when this one has come down: the child above it waits for that.
 */
#include "shmem_state.h"

#include <string.h>

shmem_team_t shmem_team_world(void)
{
    return (shmem_team_t)&keel_shmem;
}

static int is_world(shmem_team_t team, const char *call)
{
    if (team == SHMEM_TEAM_INVALID) {
        return 0;
    }
    if (team != SHMEM_TEAM_WORLD) {
        keel_shmem_refuse(call, "not a team", (uintptr_t)team);
    }
    return 1;
}

int shmem_team_my_pe(shmem_team_t team)
{
    return is_world(team, "shmem_team_my_pe") ? shmem_my_pe() : -1;
}

int shmem_team_n_pes(shmem_team_t team)
{
    return is_world(team, "shmem_team_n_pes") ? shmem_n_pes() : -1;
}

void keel_shmem_meet(const char *call)
{
    if (!keel_shmem_begin(call)) {
        keel_shmem_end(keel_gsync(keel_shmem.ctx, 0), call);
    }
}

void shmem_barrier_all(void)
{
    keel_shmem_meet("shmem_barrier_all");
}

void shmem_sync_all(void)
{
    keel_shmem_meet("shmem_sync_all");
}

int shmem_team_sync(shmem_team_t team)
{
    if (!is_world(team, "shmem_team_sync")) {
        return -1;
    }
    keel_shmem_meet("shmem_team_sync");
    return 0;
}

/* ---- the tree ---- */

/* behind what is there for that turn */
static void tree_await(const uint64_t *turn_at, const char *call)
{
    const keel_shmem_tree_t *tree = &keel_shmem.hidden->tree;
    keel_word_t word = {.win = keel_shmem.win,
                        .offset = (uint64_t)((const char *)turn_at - (const char *)keel_shmem.hidden),
                        .size = sizeof(*turn_at),
                        .compare = KEEL_COMPARE_GE,
                        .value = tree->turn};

    keel_shmem_end(keel_wait(keel_shmem.ctx, KEEL_WAIT_ALL, &word, 1, NULL), call);
}

static void tree_put(uint32_t pe, void *place, uint64_t *turn_at, const void *data, size_t bytes, const char *call)
{
    keel_shmem_put(place, data, bytes, (int)pe, call);
    shmem_fence();
    keel_shmem_put(turn_at, &keel_shmem.hidden->tree.turn, sizeof(*turn_at), (int)pe, call);
}

static void tree_run(void *sum, size_t count, size_t size, keel_shmem_combine_t combine, const char *call)
{
    keel_shmem_tree_t *tree = &keel_shmem.hidden->tree;
    const uint32_t pe = keel_shmem.pe, pes = keel_shmem.pes;
    unsigned round = 0;

    tree->turn++;
    for (; ((uint64_t)1 << round) < pes && (pe >> round & 1) == 0; round++) {
        if ((pe | 1u << round) < pes) {
            tree_await(&tree->up_turn[round], call);
            combine(sum, tree->up[round], count);
        }
    }
    if (pe != 0) {
        tree_put(pe & ~(1u << round), tree->up[round], &tree->up_turn[round], sum, count * size, call);
        tree_await(&tree->down_turn, call);
        memcpy(sum, tree->down, count * size);
    }
    while (round-- > 0) {
        if ((pe | 1u << round) < pes) {
            tree_put(pe | 1u << round, tree->down, &tree->down_turn, sum, count * size, call);
        }
    }
}

int keel_shmem_reduce(shmem_team_t team, void *dest, const void *source, size_t count, size_t size,
                      keel_shmem_combine_t combine, const char *call)
{
    char sum[KEEL_SHMEM_CHUNK] __attribute__((aligned(KEEL_SHMEM_ALIGN)));
    const size_t most = sizeof(sum) / size;

    if (!is_world(team, call)) {
        return -1;
    }
    keel_shmem_begin_reading(call);
    for (size_t at = 0; at < count; at += most) {
        const size_t some = (count - at < most) ? count - at : most;

        memcpy(sum, (const char *)source + at * size, some * size);
        tree_run(sum, some, size, combine, call);
        memcpy((char *)dest + at * size, sum, some * size);
    }
    return 0;
}

static void either(void *sum, const void *other, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ((uint8_t *)sum)[i] |= ((const uint8_t *)other)[i];
    }
}

/* what PE_root has, or with what the others do not have */
static int broadcast(shmem_team_t team, void *dest, const void *source, size_t bytes, int root, const char *call)
{
    char sum[KEEL_SHMEM_CHUNK] __attribute__((aligned(KEEL_SHMEM_ALIGN)));

    if (!is_world(team, call)) {
        return -1;
    }
    keel_shmem_begin_reading(call);
    if (root < 0 || (uint32_t)root >= keel_shmem.pes) {
        keel_shmem_refuse(call, "there is no PE of this number", (uint64_t)(int64_t)root);
    }
    for (size_t at = 0; at < bytes; at += sizeof(sum)) {
        const size_t some = (bytes - at < sizeof(sum)) ? bytes - at : sizeof(sum);

        memset(sum, 0, some);
        if ((uint32_t)root == keel_shmem.pe) {
            memcpy(sum, (const char *)source + at, some);
        }
        tree_run(sum, some, 1, either, call);
        memcpy((char *)dest + at, sum, some);
    }
    return 0;
}

/* own blocks to everybody's place; a result of n blocks takes n of them */
static int exchange(shmem_team_t team, char *dest, const char *source, size_t bytes, int is_all_to_all,
                    const char *call)
{
    if (!is_world(team, call)) {
        return -1;
    }
    keel_shmem_meet(call); /* everybody may be put to */
    for (uint32_t i = 0; i < keel_shmem.pes; i++) {
        const uint32_t pe = (keel_shmem.pe + i) % keel_shmem.pes;

        keel_shmem_put(dest + keel_shmem.pe * bytes, source + (is_all_to_all ? pe * bytes : 0), bytes, (int)pe, call);
    }
    keel_shmem_meet(call);
    return 0;
}

#define DEFINE_COLLECT(_name, _type)                                                                               \
    int shmem_##_name##_broadcast(shmem_team_t team, _type *dest, const _type *source, size_t nelems, int PE_root) \
    {                                                                                                              \
        return broadcast(team, dest, source, keel_shmem_bytes(nelems, sizeof(*dest)), PE_root,                     \
                         "shmem_" #_name "_broadcast");                                                            \
    }                                                                                                              \
    int shmem_##_name##_fcollect(shmem_team_t team, _type *dest, const _type *source, size_t nelems)               \
    {                                                                                                              \
        return exchange(team, (char *)dest, (const char *)source, keel_shmem_bytes(nelems, sizeof(*dest)), 0,      \
                        "shmem_" #_name "_fcollect");                                                              \
    }                                                                                                              \
    int shmem_##_name##_alltoall(shmem_team_t team, _type *dest, const _type *source, size_t nelems)               \
    {                                                                                                              \
        return exchange(team, (char *)dest, (const char *)source, keel_shmem_bytes(nelems, sizeof(*dest)), 1,      \
                        "shmem_" #_name "_alltoall");                                                              \
    }
SHMEM_TYPES(DEFINE_COLLECT)

int shmem_broadcastmem(shmem_team_t team, void *dest, const void *source, size_t nelems, int PE_root)
{
    return broadcast(team, dest, source, nelems, PE_root, "shmem_broadcastmem");
}

int shmem_fcollectmem(shmem_team_t team, void *dest, const void *source, size_t nelems)
{
    return exchange(team, dest, source, nelems, 0, "shmem_fcollectmem");
}

int shmem_alltoallmem(shmem_team_t team, void *dest, const void *source, size_t nelems)
{
    return exchange(team, dest, source, nelems, 1, "shmem_alltoallmem");
}

/* ---- reductions ---- */

#define DEFINE_REDUCE(_name, _type, _op, _expression)                                                       \
    static void _name##_##_op(void *sum, const void *other, size_t count)                                   \
    {                                                                                                       \
        for (size_t i = 0; i < count; i++) {                                                                \
            const _type a = ((_type *)sum)[i], b = ((const _type *)other)[i];                               \
                                                                                                            \
            ((_type *)sum)[i] = (_type)(_expression);                                                       \
        }                                                                                                   \
    }                                                                                                       \
    int shmem_##_name##_##_op##_reduce(shmem_team_t team, _type *dest, const _type *source, size_t nreduce) \
    {                                                                                                       \
        return keel_shmem_reduce(team, dest, source, nreduce, sizeof(*dest), _name##_##_op,                 \
                                 "shmem_" #_name "_" #_op "_reduce");                                       \
    }
#define DEFINE_NUMBERS(_name, _type)                \
    DEFINE_REDUCE(_name, _type, sum, a + b)         \
    DEFINE_REDUCE(_name, _type, prod, a *b)         \
    DEFINE_REDUCE(_name, _type, min, a < b ? a : b) \
    DEFINE_REDUCE(_name, _type, max, a > b ? a : b)
#define DEFINE_BITS(_name, _type)          \
    DEFINE_REDUCE(_name, _type, and, a &b) \
    DEFINE_REDUCE(_name, _type, or, a | b) \
    DEFINE_REDUCE(_name, _type, xor, a ^ b)
SHMEM_INTEGERS(DEFINE_NUMBERS)
SHMEM_FLOATS(DEFINE_NUMBERS)
SHMEM_INTEGERS(DEFINE_BITS)
