/*
 * Budgets in bytes, with logs too small for a checkpoint interval. Every allocation of this process
 * is counted by purpose: memory of the process through the allocator's hook, memory accessible to
 * other ranks through the transport's table. Logs never exceed KEEL_OPLOG_SIZE, the get log is
 * KEEL_GETLOG_SIZE, images and parity never exceed KEEL_CKPT_SIZE; all other memory stays within
 * fixed bounds (protocol.md, invariant 8). Demand checkpoints free log space for all further
 * records. A checkpoint that does not fit is refused with the size needed, and the program goes on.
 *
 * budgets [gsync|locks|waits] [all|coordinated|refused] [die]: how the ranks synchronise, which
 * images fit, and whether rank 1 dies during the run.
 *
 * budgets store [die]: a store takes the memory that keel/store.h promises, and the process holds
 * no copy of the data on the way.
 */
#include "base/memory.h"
#include "ckpt/gather.h"
#include "engine/context.h"
#include "job/init.h"
#include "store/store_state.h"
#include "transports/table.h"

#include <keel/store.h>

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS       60
#define CHECKPOINTS 2 /* after the steps: both slots of images are used */
#define DEATH       45
#define WINDOW      524288u /* an image has more pieces than are read at once */
#define PUT         4096u   /* bytes put at each neighbour in a step */
#define BLOCKS_MAX  16384
#define REST_MAX    (3u << 20)

/* of a store: more than REST_MAX */
#define STORE_BYTES  (4u << 20)
#define STORE_COPIES 2
#define STORE_STEPS  6
#define STORE_DEATH  3

typedef enum { FIT_ALL, FIT_COORDINATED, FIT_NONE } fit_t;
typedef enum { STYLE_GSYNC, STYLE_LOCKS, STYLE_WAITS } style_t;

/* The purposes of memory. */
typedef enum { FOR_LOGS, FOR_TRANSFER, FOR_RECORDS, FOR_REST, FOR_LANES, FOR_WINDOWS, FOR_IMAGES, FOR_COUNT } purpose_t;

static const char *const purpose_names[FOR_COUNT] = {"logs",  "transfer", "records of the dead", "rest",
                                                     "lanes", "windows",  "images and parity"};

/* The purposes of allocations by name; all others are rest. */
static const struct {
    const char *name;
    purpose_t purpose;
} purposes[] = {{"oplog", FOR_LOGS},
                {"oplog segments", FOR_LOGS},
                {"parity read", FOR_TRANSFER},
                {"replayed records", FOR_RECORDS},
                {"replayed pieces", FOR_RECORDS},
                {"critical sections", FOR_RECORDS},
                {"puts to replay", FOR_RECORDS},
                {"get records", FOR_RECORDS},
                /* survivors hand records over in control messages */
                {"control message", FOR_RECORDS}};

typedef struct block {
    const void *memory;
    size_t bytes;
    purpose_t purpose;
} block_t;

/* Bytes held now and at most. The service thread allocates, too. */
static struct {
    size_t held, peak;
} accounts[FOR_COUNT];
static block_t blocks[BLOCKS_MAX];
static _Thread_local purpose_t under_way; /* purpose of the current allocation */
static atomic_flag lock = ATOMIC_FLAG_INIT;
static int is_in_init;
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

static void note(purpose_t purpose, const void *memory, size_t bytes)
{
    unsigned i = 0;

    while (atomic_flag_test_and_set(&lock)) {
    }
    while (i < BLOCKS_MAX && blocks[i].memory != NULL) {
        i++;
    }
    if (i == BLOCKS_MAX) {
        fail("too many blocks");
    }
    blocks[i] = (block_t){memory, bytes, purpose};
    accounts[purpose].held += bytes;
    if (accounts[purpose].held > accounts[purpose].peak) {
        accounts[purpose].peak = accounts[purpose].held;
    }
    atomic_flag_clear(&lock);
}

static void forget(const void *memory)
{
    while (atomic_flag_test_and_set(&lock)) {
    }
    for (unsigned i = 0; i < BLOCKS_MAX; i++) {
        if (blocks[i].memory == memory) {
            accounts[blocks[i].purpose].held -= blocks[i].bytes;
            blocks[i].memory = NULL;
            break;
        }
    }
    atomic_flag_clear(&lock);
}

static int may_allocate(void *arg, size_t bytes, const char *name)
{
    under_way = FOR_REST;
    for (unsigned i = 0; i < sizeof purposes / sizeof *purposes; i++) {
        if (strcmp(name, purposes[i].name) == 0) {
            under_way = purposes[i].purpose;
        }
    }
    return 1;
}

static void allocated(void *arg, void *memory, size_t bytes, int is_arena)
{
    note(under_way, memory, bytes);
}

static void freed(void *arg, void *memory)
{
    forget(memory);
}

/* Only windows request an address, and lanes allocate before the program begins. */
static keel_status_t count_alloc(keel_transport_t *transport, size_t bytes, void *address, keel_transport_mem_t **mem_p,
                                 void **base_p)
{
    const keel_status_t status = ops->mem_alloc(transport, bytes, address, mem_p, base_p);

    if (status == KEEL_OK) {
        note((address != NULL) ? FOR_WINDOWS : is_in_init ? FOR_LANES : FOR_IMAGES, *mem_p, bytes);
    }
    return status;
}

static void count_free(keel_transport_t *transport, keel_transport_mem_t *mem)
{
    forget(mem);
    ops->mem_free(transport, mem);
}

/* ---- the program ---- */

typedef struct job {
    keel_context_h ctx;
    keel_win_h win; /* after the window, two words: the steps completed by the neighbours */
    style_t style;
    fit_t fit;
    int has_death;
    uint64_t step; /* protected */
} job_t;

static void put_to(job_t *job, uint32_t rank, int is_upper)
{
    uint64_t buffer[PUT / 8];

    for (unsigned i = 0; i < PUT / 8; i++) {
        buffer[i] = job->step * 1000 + keel_rank(job->ctx);
    }
    if (job->style == STYLE_LOCKS) {
        must(keel_lock(job->ctx, rank), "lock");
    }
    must(keel_put(job->win, rank, (is_upper ? WINDOW / 2 : 0) + (job->step % 4) * PUT, buffer, PUT), "put");
    if (job->style == STYLE_LOCKS) {
        must(keel_unlock(job->ctx, rank), "unlock");
    }
}

/* Waits until both neighbours have completed the puts of this step. */
static void wait_for_neighbours(job_t *job, uint32_t right, uint32_t left)
{
    const uint64_t done = job->step + 1;

    must(keel_flush_all(job->ctx), "flush");
    must(keel_put(job->win, right, WINDOW, &done, sizeof done), "put");
    must(keel_put(job->win, left, WINDOW + 8, &done, sizeof done), "put");
    must(keel_wait_until(job->win, WINDOW, 8, KEEL_COMPARE_GE, done), "wait");
    must(keel_wait_until(job->win, WINDOW + 8, 8, KEEL_COMPARE_GE, done), "wait");
}

/* Puts to both neighbours twice as many bytes as the logs can hold. */
static void step(job_t *job)
{
    const uint32_t own = keel_rank(job->ctx), size = keel_size(job->ctx);
    const uint32_t right = (own + 1) % size, left = (own + size - 1) % size;

    put_to(job, right, 0);
    put_to(job, left, 1);
    if (job->style == STYLE_WAITS) {
        wait_for_neighbours(job, right, left);
    }
    if (job->has_death && own == 1 && job->step == DEATH && keel_incarnation(job->ctx) == 0) {
        raise(SIGKILL);
    }
}

static void run(job_t *job)
{
    if (keel_restarted(job->ctx)) {
        must(keel_restore(job->ctx), "restore");
    }
    while (job->step < STEPS + CHECKPOINTS) {
        const int is_step = job->step < STEPS;

        if (is_step) {
            step(job);
        }
        job->step++;
        if (!is_step || (job->style == STYLE_LOCKS && job->step % 20 == 0)) {
            must(keel_checkpoint(job->ctx), "checkpoint");
        } else if (job->style != STYLE_LOCKS) {
            must(keel_gsync(job->ctx, KEEL_GSYNC_SAFE), "gsync");
        }
    }
}

/* Checks by sums that all puts arrived. */
static void check_memory(job_t *job)
{
    const uint32_t own = keel_rank(job->ctx), size = keel_size(job->ctx);
    const uint64_t *words = keel_win_base(job->win);
    uint64_t sum = 0, expected = 0;

    if (job->style == STYLE_LOCKS) {
        must(keel_lock(job->ctx, own), "lock");
    }
    for (unsigned i = 0; i < WINDOW / 8; i++) {
        sum += words[i];
    }
    if (job->style == STYLE_LOCKS) {
        must(keel_unlock(job->ctx, own), "unlock");
    }
    for (uint64_t s = STEPS - 4; s < STEPS; s++) {
        expected += PUT / 8 * (2 * s * 1000 + (own + size - 1) % size + (own + 1) % size);
    }
    if (sum != expected) {
        fail("puts did not arrive");
    }
}

/* ---- the counts ---- */

static size_t own_region(const job_t *job, unsigned region)
{
    return job->ctx->lane.own[region].size;
}

static void check_images(const job_t *job, const keel_stats_t *stats)
{
    size_t parts = 0;

    for (unsigned r = KEEL_REGION_IMAGE0; r < KEEL_REGION_PARITY0 + KEEL_SLOTS; r++) {
        parts += own_region(job, r);
    }
    if (accounts[FOR_IMAGES].peak > job->ctx->config.ckpt_size || stats->checkpoint_memory != parts ||
        parts != accounts[FOR_IMAGES].held) {
        fail("images and parity took more than KEEL_CKPT_SIZE, or not what the statistics say");
    }
    if (job->fit != FIT_NONE &&
        (own_region(job, KEEL_REGION_IMAGE0) == 0 || own_region(job, KEEL_REGION_IMAGE0 + 1) == 0 ||
         own_region(job, KEEL_REGION_PARITY0 + 1) == 0)) {
        fail("two checkpoints did not take two images and two shares");
    }
    if (job->fit == FIT_NONE && accounts[FOR_IMAGES].peak > 0) {
        fail("there is a part of an image that does not fit");
    }
}

/* Where memory is not mapped, two transfers, for a generation and for a demand checkpoint, each
 * have this number of pieces of each member outstanding. */
static void check_transfer(const job_t *job, const keel_stats_t *stats)
{
    const keel_context_h ctx = job->ctx;
    const size_t piece = 65536 + 256, sources = ctx->ckpt.group.size - ctx->ckpt.group.parities;
    const size_t pieces = (ctx->config.transfer == KEEL_TRANSFER_BULK) ? KEEL_GATHER_BULK : KEEL_GATHER_STREAM;

    if (accounts[FOR_TRANSFER].peak > 2 * pieces * sources * piece ||
        accounts[FOR_TRANSFER].peak > stats->transfer_peak_bytes) {
        fail("buffers for what is read took more than their bound, or than the statistics say");
    }
    if ((accounts[FOR_TRANSFER].peak > 0) != (stats->transfer_peak_bytes > 0)) {
        fail("the statistics count buffers that no rank took");
    }
    if (ctx->config.transfer == KEEL_TRANSFER_BULK && accounts[FOR_TRANSFER].held > 0) {
        fail("buffers of a bulk transfer are kept");
    }
}

static void check_rest(const job_t *job)
{
    const size_t oplog = job->ctx->config.oplog_size, others = keel_size(job->ctx) - 1;

    if (accounts[FOR_LOGS].peak > oplog || accounts[FOR_LOGS].peak == 0) {
        fail("the logs took more than KEEL_OPLOG_SIZE, or nothing");
    }
    if (own_region(job, KEEL_REGION_GETLOG) > job->ctx->config.getlog_size ||
        accounts[FOR_LANES].peak - own_region(job, KEEL_REGION_GETLOG) - KEEL_LOCK_WINDOWS * sizeof(uint64_t) -
                sizeof(keel_combine_area_t) >
            4096 * (others + 1)) {
        fail("the get log took more than KEEL_GETLOG_SIZE, or the lanes more than a page a rank, windows' locks and "
             "the bits for accumulates");
    }
    if (accounts[FOR_RECORDS].peak > others * oplog) {
        fail("records of the dead took more than the logs of all others");
    }
    if (accounts[FOR_REST].peak > REST_MAX) {
        fail("what has no budget took more than three mebibytes");
    }
}

static void check_events(const job_t *job, const keel_stats_t *stats)
{
    const int is_first = keel_incarnation(job->ctx) == 0, has_demands = job->style != STYLE_LOCKS && is_first;

    if (job->fit == FIT_ALL && (stats->checkpoints == 0 || (has_demands && stats->demand_committed == 0))) {
        fail("there was no checkpoint, or none on demand");
    }
    if (job->fit == FIT_ALL && is_first && stats->log_overflows > 0) {
        fail("logs overflowed");
    }
    if (job->fit != FIT_ALL && (stats->demand_committed > 0 || stats->log_overflows == 0)) {
        fail("there was a demand checkpoint, which does not fit, or nothing was said of the logs");
    }
    if ((stats->checkpoints > 0) != (job->fit != FIT_NONE)) {
        fail("there was a checkpoint that does not fit, or none though it fits");
    }
    if (stats->rollbacks > 0 || (is_first && stats->deaths != (uint64_t)job->has_death)) {
        fail("the job rolled back, or not as many died as were to");
    }
}

static void check(job_t *job)
{
    keel_stats_t stats;

    must(keel_stats(job->ctx, &stats, sizeof(stats)), "stats");
    printf("budgets: rank %u:", keel_rank(job->ctx));
    for (unsigned p = 0; p < FOR_COUNT; p++) {
        printf(" %s %zu,", purpose_names[p], accounts[p].peak);
    }
    printf(" at most; demands %lu, images %lu, overflows %lu\n", (unsigned long)stats.demands,
           (unsigned long)stats.demand_committed, (unsigned long)stats.log_overflows);
    check_images(job, &stats);
    check_transfer(job, &stats);
    check_rest(job);
    check_events(job, &stats);
}

/* ---- a store ---- */

static void store_load(const job_t *job, keel_store_h store, uint8_t *loaded)
{
    const uint32_t from = (keel_rank(job->ctx) + 1) % keel_size(job->ctx);
    keel_store_part_t part = {.rank = from, .count = STORE_BYTES, .buffer = loaded};

    must(keel_store_load(store, &part, 1), "load");
    for (unsigned i = 0; i < STORE_BYTES; i++) {
        if (loaded[i] != (uint8_t)(job->step + from)) {
            fail("a load is wrong");
        }
    }
}

static void store_run(job_t *job)
{
    static uint8_t given[STORE_BYTES], loaded[STORE_BYTES];
    const keel_store_params_t params = {.field_mask = KEEL_STORE_PARAM_FIELD_BYTES | KEEL_STORE_PARAM_FIELD_COPIES,
                                        .bytes = STORE_BYTES,
                                        .copies = STORE_COPIES};
    keel_store_h store;

    must(keel_store_create(job->ctx, &params, &store), "create");
    if (keel_restarted(job->ctx)) {
        must(keel_restore(job->ctx), "restore");
    }
    while (job->step < STORE_STEPS) {
        memset(given, (int)(job->step + keel_rank(job->ctx)), sizeof given);
        must(keel_store_submit(store, given, sizeof given), "submit");
        store_load(job, store, loaded);
        if (job->has_death && keel_rank(job->ctx) == 1 && job->step == STORE_DEATH && keel_incarnation(job->ctx) == 0) {
            raise(SIGKILL);
        }
        job->step++;
        must((job->step % 2 == 0) ? keel_checkpoint(job->ctx) : keel_gsync(job->ctx, KEEL_GSYNC_SAFE), "gsync");
    }
}

/* Two fetches, of a load and of a refill, have at most eight reads of three parts outstanding,
 * and a submit eight messages. A replacement reads its image before. */
static void store_check(const job_t *job)
{
    const size_t range = 256u << 10, cells = 3 * STORE_COPIES * (STORE_BYTES / range), page = 4096;
    const size_t piece = 65536 + 256, promised = cells * (range + range / 500 + 64) + page + 12 * keel_size(job->ctx);

    printf("budgets: rank %u: windows %zu, rest %zu, transfer %zu at most\n", keel_rank(job->ctx),
           accounts[FOR_WINDOWS].peak, accounts[FOR_REST].peak, accounts[FOR_TRANSFER].peak);
    if (accounts[FOR_WINDOWS].peak < cells * range || accounts[FOR_WINDOWS].peak > promised + WINDOW + 4 * page) {
        fail("the store took more memory than its header promises, or is not counted");
    }
    if (accounts[FOR_REST].peak > REST_MAX + KEEL_STORE_PUSHES * piece ||
        accounts[FOR_TRANSFER].peak > (2 * 8 + KEEL_GATHER_STREAM) * 3 * piece) {
        fail("a store's data were copied on the way");
    }
}

static int is_given(int argc, char **argv, const char *word)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], word) == 0) {
            return 1;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    const keel_memory_hook_t hook = {.may_allocate = may_allocate, .allocated = allocated, .freed = freed};
    static job_t job;
    keel_config_t config;
    keel_drivers_t drivers = {.runtime = keel_runtime_table(0), .runtime_arg = &config};
    keel_params_t params = {0};

    job.style = is_given(argc, argv, "locks") ? STYLE_LOCKS : is_given(argc, argv, "waits") ? STYLE_WAITS : STYLE_GSYNC;
    job.fit = is_given(argc, argv, "refused")       ? FIT_NONE
              : is_given(argc, argv, "coordinated") ? FIT_COORDINATED
                                                    : FIT_ALL;
    job.has_death = is_given(argc, argv, "die");
    if (job.style == STYLE_WAITS) {
        params.field_mask |= KEEL_PARAM_FIELD_FLAGS;
        params.flags = KEEL_PARAM_FLAG_WAITS;
    }
    ops = keel_transport_table(0);
    counted_ops = *ops;
    counted_ops.mem_alloc = count_alloc;
    counted_ops.mem_free = count_free;
    drivers.transport = &counted_ops;
    keel_memory_set_hook(&hook);
    must(keel_config_read(NULL, &config), "config");
    is_in_init = 1;
    must(keel_init_on(&drivers, &params, &job.ctx), "init");
    is_in_init = 0;
    must(keel_win_alloc(job.ctx, WINDOW + 16, NULL, &job.win), "window");
    must(keel_protect(job.ctx, 1, &job.step, sizeof job.step), "protect");
    if (is_given(argc, argv, "store")) {
        store_run(&job);
        store_check(&job);
    } else {
        run(&job);
        check_memory(&job);
        check(&job);
    }
    must(keel_finalize(job.ctx), "finalize");
    return 0;
}
