/*
 * Budgets in bytes: with logs too small for a checkpoint interval every allocation of this process is counted, what the
 * logs take through the allocator's hook and what images and parity take through the transport's table. Neither ever exceeds
 * KEEL_OPLOG_SIZE and KEEL_CKPT_SIZE; all log bytes that there were room for were kept by demand checkpoints, and a
 * checkpoint that does not fit is refused with what would be needed, the program going on.
 */
#include "base/config.h"
#include "base/memory.h"
#include "runtime.h"
#include "transport.h"
#include "transports/table.h"

#include <keel/keel.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS      60
#define WINDOW     65536u
#define PUT        4096u /* bytes put at each neighbour in a step */
#define BLOCKS_MAX 4096

typedef enum { FIT_ALL, FIT_COORDINATED, FIT_NONE } fit_t;

typedef struct block {
    const void *memory;
    size_t bytes;
} block_t;

/* what is held now and was at most; the service thread allocates too */
typedef struct account {
    size_t held, peak;
    block_t blocks[BLOCKS_MAX];
} account_t;

static account_t logs, regions;
static _Thread_local int is_log; /* the allocation under way is of the logs */
static atomic_flag lock = ATOMIC_FLAG_INIT;
static keel_transport_ops_t counted_ops;
static const keel_transport_ops_t *ops;

static void fail(const char *what)
{
    fprintf(stderr, "budgets: %s\n", what);
    exit(1);
}

static void must(keel_status_t status, const char *call)
{
    if (status != KEEL_OK) {
        fprintf(stderr, "budgets: %s: %s\n", call, keel_status_string(status));
        exit(1);
    }
}

static void note(account_t *account, const void *memory, size_t bytes)
{
    unsigned i = 0;

    while (atomic_flag_test_and_set(&lock)) {
    }
    while (i < BLOCKS_MAX && account->blocks[i].memory != NULL) {
        i++;
    }
    if (i == BLOCKS_MAX) {
        fail("too many blocks");
    }
    account->blocks[i] = (block_t){memory, bytes};
    account->held += bytes;
    account->peak = (account->held > account->peak) ? account->held : account->peak;
    atomic_flag_clear(&lock);
}

static void forget(account_t *account, const void *memory)
{
    while (atomic_flag_test_and_set(&lock)) {
    }
    for (unsigned i = 0; i < BLOCKS_MAX; i++) {
        if (account->blocks[i].memory == memory) {
            account->held -= account->blocks[i].bytes;
            account->blocks[i].memory = NULL;
            break;
        }
    }
    atomic_flag_clear(&lock);
}

static int may_allocate(void *arg, size_t bytes, const char *name)
{
    is_log = strncmp(name, "oplog", 5) == 0;
    return 1;
}

static void allocated(void *arg, void *memory, size_t bytes, int is_arena)
{
    if (is_log) {
        note(&logs, memory, bytes);
    }
}

static void freed(void *arg, void *memory)
{
    forget(&logs, memory);
}

static keel_status_t count_alloc(keel_transport_t *transport, size_t bytes, void *address, keel_transport_mem_t **mem_p,
                                 void **base_p)
{
    const keel_status_t status = ops->mem_alloc(transport, bytes, address, mem_p, base_p);

    if (status == KEEL_OK) {
        note(&regions, *mem_p, bytes);
    }
    return status;
}

static void count_free(keel_transport_t *transport, keel_transport_mem_t *mem)
{
    forget(&regions, mem);
    ops->mem_free(transport, mem);
}

/* puts at the two neighbours, twice as much in all as the logs hold; the sums show that they came */
static uint64_t steps(keel_context_h ctx, keel_win_h win, uint64_t *step)
{
    const uint32_t own = keel_rank(ctx), size = keel_size(ctx);
    uint64_t buffer[PUT / 8], sum = 0;

    for (; *step < STEPS;) {
        for (unsigned i = 0; i < PUT / 8; i++) {
            buffer[i] = *step * 1000 + own;
        }
        must(keel_put(win, (own + 1) % size, (*step % 4) * PUT, buffer, PUT), "put");
        must(keel_put(win, (own + size - 1) % size, WINDOW / 2 + (*step % 4) * PUT, buffer, PUT), "put");
        ++*step;
        must(keel_gsync(ctx, KEEL_GSYNC_SAFE), "gsync");
    }
    for (unsigned i = 0; i < WINDOW / 8; i++) {
        sum += ((const uint64_t *)keel_win_base(win))[i];
    }
    return sum;
}

static uint64_t expected(keel_context_h ctx)
{
    const uint32_t own = keel_rank(ctx), size = keel_size(ctx);
    uint64_t sum = 0;

    for (uint64_t step = STEPS - 4; step < STEPS; step++) {
        sum += PUT / 8 * (2 * step * 1000 + (own + size - 1) % size + (own + 1) % size);
    }
    return sum;
}

static void check(keel_context_h ctx, size_t before, size_t oplog, size_t ckpt, fit_t fit)
{
    keel_stats_t stats;

    must(keel_stats(ctx, &stats), "stats");
    printf("budgets: rank %u: logs %zu of %zu bytes, images and parity %zu of %zu; demands %lu, images %lu, overflows "
           "%lu; "
           "transfer %lu ns, %lu bytes\n",
           keel_rank(ctx), logs.peak, oplog, regions.peak - before, ckpt, (unsigned long)stats.demands,
           (unsigned long)stats.demand_committed, (unsigned long)stats.log_overflows, (unsigned long)stats.transfer_ns,
           (unsigned long)stats.transfer_peak_bytes);
    if (logs.peak > oplog || logs.peak == 0) {
        fail("the logs took more than KEEL_OPLOG_SIZE, or nothing");
    }
    if (regions.peak - before > ckpt || stats.checkpoint_memory != regions.held - before) {
        fail("images and parity took more than KEEL_CKPT_SIZE, or not what the statistics say");
    }
    if (fit == FIT_ALL && (stats.log_overflows > 0 || stats.demand_committed == 0 || stats.checkpoints == 0)) {
        fail("logs overflowed, or there was no demand checkpoint");
    }
    if (fit != FIT_ALL && (stats.demand_committed > 0 || stats.log_overflows == 0)) {
        fail("there was a demand checkpoint, which does not fit, or nothing was said of the logs");
    }
    if ((stats.checkpoints > 0) != (fit != FIT_NONE)) {
        fail("there was a checkpoint that does not fit, or none though it fits");
    }
}

int main(int argc, char **argv)
{
    const keel_memory_hook_t hook = {.may_allocate = may_allocate, .allocated = allocated, .freed = freed};
    const size_t oplog = strtoul(getenv("KEEL_OPLOG_SIZE"), NULL, 10),
                 ckpt = strtoul(getenv("KEEL_CKPT_SIZE"), NULL, 10);
    const fit_t fit = (argc < 2) ? FIT_ALL : (strcmp(argv[1], "refused") == 0) ? FIT_NONE : FIT_COORDINATED;
    keel_config_t config;
    keel_drivers_t drivers = {.runtime = keel_runtime_table(0), .arg = &config};
    const keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_DRIVERS, .drivers = &drivers};
    keel_context_h ctx;
    keel_win_h win;
    uint64_t step = 0;
    size_t before;

    ops = keel_transport_table(0);
    counted_ops = *ops;
    counted_ops.mem_alloc = count_alloc;
    counted_ops.mem_free = count_free;
    drivers.transport = &counted_ops;
    keel_memory_set_hook(&hook);
    must(keel_config_read(NULL, &config), "config");
    must(keel_init(&params, &ctx), "init");
    must(keel_win_alloc(ctx, WINDOW, NULL, &win), "window");
    must(keel_protect(ctx, 1, &step, sizeof step), "protect");
    before = regions.held;
    if (keel_restarted(ctx)) {
        fail("nobody dies here");
    }
    if (steps(ctx, win, &step) != expected(ctx)) {
        fail("puts did not arrive");
    }
    must(keel_checkpoint(ctx), "checkpoint");
    check(ctx, before, oplog, ckpt, fit);
    must(keel_finalize(ctx), "finalize");
    return 0;
}
