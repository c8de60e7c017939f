/*
 * Silent processes. Under keelrun, the runtime reports the process and keelrun decides. Other
 * launchers neither report deaths nor kill processes on request: there the runtime examines and
 * kills a silent process of its own node, unless the process waits for a core; a process of another
 * node cannot be judged.
 */
#include "pmix_events.h"
#include "pmix_runtime.h"
#include "pmix_spawn.h"

#include <base/memory.h>
#include <transport.h>

#define KILL_WAIT_MS 1000 /* a killed process is gone long before */

keel_status_t keel_pmix_processes_init(keel_runtime_pmix_t *runtime)
{
    runtime->processes =
        keel_alloc((runtime->job_size + runtime->spares.count) * sizeof *runtime->processes, "processes");
    return runtime->processes != NULL ? KEEL_OK : KEEL_ERR_NO_MEMORY;
}

void keel_pmix_add_process(keel_runtime_pmix_t *runtime, uint32_t holder, const keel_process_t *process)
{
    if (runtime->processes != NULL && holder < runtime->job_size + runtime->spares.count) {
        runtime->processes[holder].start = process->start;
        __atomic_store_n(&runtime->processes[holder].pid, process->pid, __ATOMIC_RELEASE);
    }
}

int keel_pmix_find_process(const keel_runtime_pmix_t *runtime, uint32_t holder, keel_process_t *process_p)
{
    if (runtime->processes == NULL || holder >= runtime->job_size + runtime->spares.count) {
        return 0;
    }
    process_p->pid = __atomic_load_n(&runtime->processes[holder].pid, __ATOMIC_ACQUIRE);
    process_p->start = runtime->processes[holder].start;
    return process_p->pid != 0;
}

/* A spawned process that meets no rank: the job may have ended before it could receive the exit. */
static void check_end_of_job(keel_runtime_pmix_t *runtime, const keel_suspicion_t *suspicion)
{
    const keel_event_t event = {
        .type = KEEL_EVENT_EXIT, .rank = suspicion->rank, .incarnation = runtime->spares.lives[suspicion->rank].next};

    if (suspicion->incarnation == KEEL_INCARNATION_ANY && suspicion->live == 1 && keel_pmix_spawned_is_alone()) {
        /* examined again if there is no memory */
        (void)keel_event_queue_push(&runtime->queue, &event);
    }
}

/* Accuses one process at a time. */
static int is_reprieved(keel_runtime_pmix_t *runtime, const keel_process_t *process, const keel_suspicion_t *suspicion)
{
    keel_sight_t sight;

    (void)keel_process_see(process->pid, KEEL_SERVICE_THREAD, &sight);
    return keel_starved_is_reprieved(&runtime->accused, &sight, suspicion->repeats, suspicion->silence_ns);
}

static keel_status_t keel_pmix_examine(keel_runtime_pmix_t *runtime, const keel_suspicion_t *suspicion)
{
    const uint32_t holder = keel_pmix_holder_of(runtime, suspicion->rank, suspicion->incarnation);
    keel_process_t process;

    if (suspicion->is_absent) {
        check_end_of_job(runtime, suspicion);
        return KEEL_OK;
    }
    if (!keel_pmix_find_process(runtime, holder, &process)) {
        return suspicion->silence_ns == 0 ? KEEL_OK : KEEL_ERR_UNSUPPORTED;
    }
    if (keel_process_is_gone(&process)) {
        return KEEL_ERR_UNREACHABLE;
    }
    if (suspicion->silence_ns == 0 || is_reprieved(runtime, &process, suspicion)) {
        return KEEL_OK;
    }
    return keel_process_kill(&process, KILL_WAIT_MS) ? KEEL_ERR_UNREACHABLE : KEEL_OK;
}

static void keel_pmix_on_suspected(pmix_status_t status, void *arg)
{
    (void)status;
    keel_free(arg);
}

/* Reports without waiting: the server may be the hanging process. A lost report is repeated. */
static void report_suspect(const keel_runtime_pmix_t *runtime, uint32_t rank, uint32_t incarnation,
                           const keel_suspicion_t *suspicion)
{
    pmix_status_t status;
    pmix_info_t *info;
    bool yes = true;

    if (rank >= runtime->job_size) {
        return; /* the process of the rank is not known yet */
    }
    info = keel_alloc(7 * sizeof *info, "suspicion");
    if (info == NULL) {
        return;
    }
    PMIX_INFO_LOAD(&info[0], KEEL_PMIX_KEY_RANK, &rank, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[1], KEEL_PMIX_KEY_INCARNATION, &incarnation, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[2], KEEL_PMIX_KEY_HEARD, &suspicion->heard, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[3], KEEL_PMIX_KEY_LIVE, &suspicion->live, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[4], KEEL_PMIX_KEY_SILENCE, &suspicion->silence_ns, PMIX_UINT64);
    PMIX_INFO_LOAD(&info[5], KEEL_PMIX_KEY_REPEATS, &suspicion->repeats, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[6], PMIX_EVENT_DO_NOT_CACHE, &yes, PMIX_BOOL);
    status = PMIx_Notify_event(KEEL_PMIX_EVENT_SUSPECT, &runtime->process, PMIX_RANGE_RM, info, 7,
                               keel_pmix_on_suspected, info);
    if (status != PMIX_SUCCESS) {
        keel_free(info);
    }
}

/* The status of the first report says whether anything listens. */
keel_status_t keel_pmix_suspect(keel_runtime_t *base, const keel_suspicion_t *suspicion)
{
    keel_runtime_pmix_t *runtime = (keel_runtime_pmix_t *)base;
    uint32_t rank = suspicion->rank, incarnation = suspicion->incarnation;

    if (!runtime->is_keelrun && rank == base->rank) {
        base->ops->die(base);
    }
    if (!runtime->is_keelrun) {
        return keel_pmix_examine(runtime, suspicion);
    }
    if (suspicion->silence_ns == 0 || (runtime->spares.count > 0 && suspicion->is_absent)) {
        return KEEL_OK; /* keelrun reports deaths by itself; a silent spare is called again */
    }
    if (runtime->spares.count > 0) { /* keelrun knows its own processes, and restarts none */
        rank = keel_pmix_holder_of(runtime, suspicion->rank, suspicion->incarnation);
        incarnation = 0;
    }
    report_suspect(runtime, rank, incarnation, suspicion);
    return KEEL_OK;
}

int keel_pmix_end_spare(keel_runtime_pmix_t *runtime, uint32_t holder, uint64_t silence_ns)
{
    const keel_suspicion_t suspicion = {.live = runtime->base.size,
                                        .heard = runtime->base.size,
                                        .silence_ns = silence_ns,
                                        .repeats = KEEL_REPEATS_ENOUGH};
    keel_process_t process;

    if (runtime->is_keelrun) {
        report_suspect(runtime, holder, 0, &suspicion);
        return 0;
    }
    return !keel_pmix_find_process(runtime, holder, &process) || keel_process_kill(&process, KILL_WAIT_MS);
}

/* The lowest present rank also notifies the spares, which learn of the death in no other way. */
void keel_pmix_replace(keel_runtime_t *base, uint32_t rank, uint32_t incarnation)
{
    keel_runtime_pmix_t *runtime = (keel_runtime_pmix_t *)base;
    const keel_event_t event = {.type = KEEL_EVENT_DEATH, .rank = rank, .incarnation = incarnation};

    keel_pmix_spares_note(runtime, &event);
    if (!runtime->is_keelrun) {
        keel_pmix_send_event(runtime, KEEL_PMIX_EVENT_GONE, rank, incarnation,
                             keel_pmix_holder_of(runtime, rank, incarnation));
    }
}
