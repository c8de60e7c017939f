/*
 * A job under measurement. Steps: an initiator that has finished a step puts the step's number to
 * all ranks and goes on once all initiators' numbers have arrived; other ranks only wait. So a
 * target spends only its service thread on Keel's accesses, and only progress on raw UCX's. Where
 * needed, an initiator begins after the targets have put their numbers, which shows that they are
 * awake.
 */
#include "perf_run.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "job/init.h"
#include "transports/table.h"

#define NAP_NS 200000 /* nap of a waiting rank while others measure */

uint64_t perf_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

static void part_fill(perf_part_t *part, const char *name, const char *unit, double *values, size_t count, double one)
{
    snprintf(part->name, sizeof part->name, "%s", name);
    snprintf(part->unit, sizeof part->unit, "%s", unit);
    for (unsigned q = 0; q < 3; q++) {
        part->values[q] = perf_percentile(values, count, 25.0 * (q + 1)) / one;
    }
}

void perf_part_fill(perf_part_t *part, const char *name, double *ns, size_t count)
{
    part_fill(part, name, "ms", ns, count, 1e6);
}

void perf_part_fill_bytes(perf_part_t *part, const char *name, double *bytes, size_t count)
{
    part_fill(part, name, "MiB", bytes, count, 1 << 20);
}

void perf_part_fill_rates(perf_part_t *part, const char *name, double *rates, size_t count)
{
    part_fill(part, name, "GB/s", rates, count, 1);
}

void perf_part_fill_ratios(perf_part_t *part, const char *name, double *ratios, size_t count)
{
    part_fill(part, name, "memcpy", ratios, count, 1);
}

/* ---- the job ---- */

/* Offsets in the window: marks; at every rank the cards; at rank 0 the results. */
static size_t cards_at(const perf_run_t *run)
{
    return run->size * sizeof(uint64_t);
}

static size_t results_at(const perf_run_t *run)
{
    return cards_at(run) + (size_t)run->size * RAW_UCP_CARD;
}

static keel_status_t context_open(perf_run_t *run)
{
    const keel_drivers_t drivers = {.transport = keel_transport_table(0),
                                    .runtime = &perf_pair_ops,
                                    .runtime_arg = run->pair,
                                    .transport_arg = run->pair};
    char protect[32], lane[32];
    const char *env[4] = {NULL};
    unsigned count = 0;
    keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_ENV, .env = env};

    if (run->plan->protect[0] != '\0') {
        snprintf(protect, sizeof protect, "KEEL_PROTECT=%s", run->plan->protect);
        env[count++] = protect;
    }
    if (run->plan->lane != PERF_LANE_AUTO) {
        snprintf(lane, sizeof lane, "KEEL_LANES=%s", run->plan->lane == PERF_LANE_SHM ? "direct" : "served");
        env[count++] = lane;
    }
    /* only ckpt has safe gsyncs: each takes a checkpoint */
    env[count++] = "KEEL_CKPT_INTERVAL=1gsyncs";
    if (run->plan->has_waits) {
        params.field_mask |= KEEL_PARAM_FIELD_FLAGS;
        params.flags = KEEL_PARAM_FLAG_WAITS;
    }
    return (run->pair != NULL) ? keel_init_on(&drivers, &params, &run->ctx) : keel_init(&params, &run->ctx);
}

/* Compares the host names: raw UCX must know whether all ranks run on one host. */
keel_status_t perf_run_hosts_compare(perf_run_t *run, keel_win_h win, size_t at)
{
    const char *lanes = getenv("KEEL_LANES");
    char name[PERF_HOST_NAME] = {0}, *names;

    gethostname(name, sizeof name - 1);
    for (uint32_t r = 0; r < run->size; r++) {
        if (r != run->rank) {
            PERF_TRY(keel_put(win, r, at + (size_t)run->rank * sizeof name, name, sizeof name));
        }
    }
    PERF_TRY(keel_gsync(run->ctx, 0));
    names = (char *)keel_win_base(win) + at;
    run->is_shm = 1;
    for (uint32_t r = 0; r < run->size; r++) {
        run->is_shm &= (r == run->rank || memcmp(names + (size_t)r * sizeof name, name, sizeof name) == 0);
    }
    if (run->plan->lane == PERF_LANE_TCP ||
        (run->plan->lane == PERF_LANE_AUTO && lanes != NULL && !strcmp(lanes, "served"))) {
        run->is_shm = 0;
    }
    return keel_gsync(run->ctx, 0);
}

keel_status_t perf_run_open(perf_run_t *run, int is_bare)
{
    PERF_TRY(context_open(run));
    run->rank = keel_rank(run->ctx);
    run->size = keel_size(run->ctx);
    if (is_bare) {
        /* a bare test has separate windows: a replacement makes them again in the same order */
        return KEEL_OK;
    }
    PERF_TRY(keel_win_alloc(run->ctx, results_at(run) + (run->rank == 0 ? run->size * sizeof(perf_result_t) : 0), NULL,
                            &run->marks));
    if (run->plan->is_mixed) { /* from the first access on, at the speed after the first gsync */
        PERF_TRY(keel_lock(run->ctx, run->rank));
        PERF_TRY(keel_unlock(run->ctx, run->rank));
    }
    return perf_run_hosts_compare(run, run->marks, cards_at(run));
}

/* ---- steps ---- */

static int have_arrived(const perf_run_t *run, uint32_t first, uint32_t end, uint64_t mark)
{
    const uint64_t *marks = keel_win_base(run->marks);

    for (uint32_t r = first; r < end; r++) {
        if (r != run->rank && __atomic_load_n(&marks[r], __ATOMIC_ACQUIRE) < mark) {
            return 0;
        }
    }
    return 1;
}

static keel_status_t mark_put(perf_run_t *run, uint32_t ranks)
{
    for (uint32_t r = 0; r < ranks; r++) {
        if (r != run->rank) {
            PERF_TRY(keel_put(run->marks, r, run->rank * sizeof run->mark, &run->mark, sizeof run->mark));
        }
    }
    return keel_flush_all(run->ctx);
}

/* over tcp, raw UCX's targets have to be awake */
static int needs_targets(const perf_run_t *run, int is_raw)
{
    return is_raw && !run->is_shm;
}

keel_status_t perf_run_await_targets(perf_run_t *run, int is_raw)
{
    while (needs_targets(run, is_raw) && !have_arrived(run, run->initiators, run->size, run->mark + 1)) {
        PERF_TRY(keel_progress(run->ctx));
        sched_yield();
    }
    return KEEL_OK;
}

keel_status_t perf_run_sync(perf_run_t *run, int is_raw)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};

    run->mark++;
    if (run->is_initiator || needs_targets(run, is_raw)) {
        PERF_TRY(mark_put(run, run->is_initiator ? run->size : run->initiators));
    }
    for (unsigned i = 1; !have_arrived(run, 0, run->initiators, run->mark); i++) {
        if (is_raw && run->raw.worker != NULL) {
            ucp_worker_progress(run->raw.worker);
        }
        if (!needs_targets(run, is_raw)) {
            PERF_TRY(keel_progress(run->ctx));
            nanosleep(&nap, NULL);
        } else if (i % 64 == 0) {
            PERF_TRY(keel_progress(run->ctx));
            if (run->size > (uint32_t)sysconf(_SC_NPROCESSORS_ONLN)) {
                sched_yield(); /* on separate cores they spin, like those of ucx_perftest */
            }
        }
    }
    return KEEL_OK;
}

keel_status_t perf_run_gather(perf_run_t *run, const perf_result_t *own, const perf_result_t **all_p)
{
    char *results = (char *)keel_win_base(run->marks) + results_at(run);

    if (run->rank != 0) {
        PERF_TRY(keel_put(run->marks, 0, results_at(run) + run->rank * sizeof *own, own, sizeof *own));
    } else if (run->rank == 0) {
        memcpy(results, own, sizeof *own);
    }
    *all_p = (run->rank == 0) ? (const perf_result_t *)results : NULL;
    return keel_gsync(run->ctx, 0);
}

/* ---- raw UCX ---- */

static keel_status_t raw_connect(perf_run_t *run)
{
    const char *cards = (const char *)keel_win_base(run->marks) + cards_at(run);
    const uint64_t nothing = 0;

    for (unsigned t = 0; t < run->target_count; t++) {
        const uint32_t target = run->targets[t];

        if (run->raw.targets[target].ep == NULL &&
            (raw_ucp_connect(&run->raw, target, cards + (size_t)target * RAW_UCP_CARD) != 0 ||
             raw_ucp_put_nbx(&run->raw, target, &nothing, sizeof nothing, run->offset) != 0 ||
             raw_ucp_flush(&run->raw, target) != 0)) {
            return KEEL_ERR_TRANSPORT;
        }
    }
    return KEEL_OK;
}

keel_status_t perf_run_raw_open(perf_run_t *run, size_t bytes)
{
    char card[RAW_UCP_CARD];

    if (raw_ucp_open(&run->raw, run->is_shm ? "posix" : "tcp", run->plan->ucx_option, bytes, run->size) != 0 ||
        raw_ucp_card(&run->raw, card) != 0) {
        return KEEL_ERR_TRANSPORT;
    }
    for (uint32_t r = 0; r < run->initiators; r++) {
        if (r != run->rank) {
            PERF_TRY(keel_put(run->marks, r, cards_at(run) + (size_t)run->rank * sizeof card, card, sizeof card));
        }
    }
    PERF_TRY(keel_gsync(run->ctx, 0));
    if (run->is_initiator) {
        PERF_TRY(raw_connect(run));
        run->raw.accesses = 0;
    }
    return perf_run_sync(run, 1);
}

keel_status_t perf_run_raw_close(perf_run_t *run)
{
    if (run->is_initiator) {
        raw_ucp_disconnect(&run->raw);
    }
    PERF_TRY(perf_run_sync(run, 1));
    raw_ucp_close(&run->raw);
    memset(&run->raw, 0, sizeof run->raw);
    return KEEL_OK;
}
