/* The kinds of tests, and checks of a plan. */
#include "perf_plan.h"

#include <string.h>

enum { UCX = 1 << PERF_PEER_UCX, STORES = 1 << PERF_PEER_STORES, MEMCPY = 1 << PERF_PEER_MEMCPY };

const perf_kind_t perf_kinds[PERF_KINDS] = {
    {PERF_PUT_LAT, "put_lat", "put with its flush", PERF_IS_LATENCY | PERF_IS_PUT, UCX | STORES, 8, 1},
    {PERF_PUT_BW, "put_bw", "puts, -O of them a flush: bandwidth", PERF_IS_PUT, UCX | STORES, 65536, 64},
    {PERF_PUT_MR, "put_mr", "puts, -O of them a flush: message rate", PERF_IS_PUT, UCX | STORES, 8, 64},
    {PERF_GET_LAT, "get_lat", "blocking get, -O of them a flush", PERF_IS_LATENCY | PERF_IS_GET, UCX, 8, 16},
    {PERF_GET_BW, "get_bw", "gets, -O of them a flush", PERF_IS_GET, UCX, 65536, 64},
    {PERF_ADD, "add", "atomic add without result, -O of them a flush", PERF_IS_ATOMIC, UCX, 8, 64},
    {PERF_FADD, "fadd", "blocking fetch-and-add, -O of them a flush", PERF_IS_ATOMIC, UCX, 8, 64},
    {PERF_CSWAP, "cswap", "blocking compare-and-swap, -O of them a flush", PERF_IS_ATOMIC, UCX, 8, 64},
    {PERF_FLUSH, "flush", "flush with nothing to complete", PERF_IS_LATENCY, UCX, 8, 1},
    {PERF_GSYNC, "gsync", "gsync of all ranks", PERF_IS_LATENCY | PERF_IS_COLLECTIVE, 0, 8, 1},
    {PERF_CKPT, "ckpt", "coordinated checkpoint of -s bytes a rank", PERF_IS_LATENCY | PERF_IS_COLLECTIVE, MEMCPY,
     16u << 20, 1},
    {PERF_RESTORE, "restore", "SIGKILL of a rank to its replacement at work; needs keelrun",
     PERF_IS_LATENCY | PERF_IS_COLLECTIVE | PERF_IS_ALONE, 0, 16u << 20, 1},
};

const char *const perf_pattern_names[PERF_PATTERNS] = {"one", "star", "all", "random", "neighbours"};

const char *perf_pattern_name(perf_pattern_t pattern)
{
    return perf_pattern_names[pattern];
}

const char *perf_peer_name(perf_peer_t peer)
{
    static const char *const names[PERF_PEERS] = {"none", "UCX", "stores", "memcpy"};

    return names[peer];
}

const char *perf_protect_find(const char *name)
{
    static const char *const names[] = {"none", "ckpt", "puts", "gets", "all"};

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!strcmp(name, names[i])) {
            return names[i];
        }
    }
    return NULL;
}

static int is_within(unsigned long value, unsigned long min, unsigned long max)
{
    return value >= min && value <= max;
}

static int test_is_sane(const perf_test_t *test)
{
    const perf_kind_t *kind;

    if ((unsigned)test->id >= PERF_KINDS) {
        return 0;
    }
    kind = perf_kind(test);
    if (memchr(test->name, '\0', sizeof test->name) == NULL || (unsigned)test->pattern >= PERF_PATTERNS ||
        (unsigned)test->peer >= PERF_PEERS || (test->peer != PERF_PEER_NONE && !(kind->peers & (1u << test->peer)))) {
        return 0;
    }
    if ((kind->flags & PERF_IS_ATOMIC) ? test->size != 4 && test->size != 8
                                       : !is_within(test->size, 1, 1ul << perf_size_shift(kind))) {
        return 0;
    }
    return is_within(test->iterations, 1, PERF_COUNT_MAX) && test->warmup <= PERF_COUNT_MAX &&
           is_within(test->outstanding, 1, PERF_OUTSTANDING_MAX) && is_within(test->rounds, 1, PERF_ROUNDS_MAX) &&
           test->percentile >= 0 && test->percentile <= 100 && test->changed <= 100 &&
           is_within(test->replay, 1, PERF_REPLAY_MAX) && !(kind->flags & PERF_IS_ALONE);
}

int perf_plan_is_sane(const perf_plan_t *plan)
{
    if (plan->count == 0 || plan->count > PERF_TESTS_MAX || (unsigned)plan->lane >= PERF_LANES ||
        plan->log_bytes == 0 || (unsigned)plan->has_waits > 1 || (unsigned)plan->is_mixed > 1 ||
        memchr(plan->protect, '\0', sizeof plan->protect) == NULL ||
        (plan->protect[0] != '\0' && perf_protect_find(plan->protect) == NULL) ||
        memchr(plan->ucx_option, '\0', sizeof plan->ucx_option) == NULL) {
        return 0;
    }
    for (unsigned t = 0; t < plan->count; t++) {
        if (!test_is_sane(&plan->tests[t]) || plan->tests[t].percentile != plan->tests[0].percentile) {
            return 0;
        }
    }
    return 1;
}
