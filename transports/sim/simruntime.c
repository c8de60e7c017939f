/* The simulator's runtime: the ranks of the job, and news of deaths and replacements, delayed
 * differently for each rank. */
#include "sim/world.h"

#include <stdlib.h>
#include <string.h>

#define SIM_JOIN_NS       1000000u
#define SIM_FENCE_NS      2000000u
#define SIM_LATE_FENCE_NS 20000000u
/* suspicions by processes that hear from less than half of the job until they are believed */
#define SIM_ACCUSATIONS 3

static sim_process_t *sim_self(keel_runtime_t *runtime)
{
    return ((struct sim_runtime *)runtime)->process;
}

/* ---- events ---- */

void sim_event_post(sim_process_t *to, keel_event_type_t type, const sim_process_t *about, uint64_t due_ns)
{
    sim_event_t *event;
    unsigned i;

    for (i = 0; i < to->events_count; ++i) { /* news of one rank stays in order */
        if ((to->events[i].event.rank == about->rank) && (to->events[i].due_ns >= due_ns)) {
            due_ns = to->events[i].due_ns + 1;
        }
    }
    if (to->events_count == to->events_capacity) {
        to->events_capacity = 2 * to->events_capacity + 8;
        to->events = realloc(to->events, to->events_capacity * sizeof(*to->events));
        if (to->events == NULL) {
            abort();
        }
    }
    event = &to->events[to->events_count++];
    memset(event, 0, sizeof(*event));
    event->event.type = type;
    event->event.rank = about->rank;
    event->event.incarnation = about->incarnation;
    if (type == KEEL_EVENT_JOIN) {
        void *copy = sim_new(about->address_len);

        memcpy(copy, about->address, about->address_len);
        event->event.address = copy;
        event->event.address_len = about->address_len;
    }
    event->due_ns = due_ns;
    sim_due(to, due_ns);
}

static int sim_event_first(const sim_process_t *process)
{
    int first = -1;
    unsigned i;

    for (i = 0; i < process->events_count; ++i) {
        if ((first < 0) || (process->events[i].due_ns < process->events[first].due_ns)) {
            first = (int)i;
        }
    }
    return first;
}

uint64_t sim_event_next_due(const sim_process_t *process)
{
    const int first = sim_event_first(process);

    return (first < 0) ? SIM_NEVER : process->events[first].due_ns;
}

/* ---- ops ---- */

static keel_status_t sim_runtime_open(void *driver_arg, keel_runtime_t **runtime_p)
{
    keel_sim_t *sim = driver_arg;
    sim_process_t *process = sim->current;
    keel_runtime_t *runtime = &process->runtime.super;
    uint32_t r;

    sim_point(sim, "runtime open");
    keel_sim_store_fence(sim);
    runtime->rank = process->rank;
    runtime->size = sim->options.ranks;
    runtime->leader = sim->options.leader;
    runtime->incarnation = process->incarnation;
    runtime->lacks_death_events = sim->options.no_arbiter;
    runtime->declares_gone = sim->options.declares_gone;
    if (runtime->node == NULL) {
        runtime->node = sim_new(runtime->size * sizeof(*runtime->node));
        memcpy(runtime->node, sim->first, runtime->size * sizeof(*runtime->node));
    }
    process->is_joined = 1;
    for (r = 0; r < sim->options.ranks; ++r) { /* reports of ranks that have left already */
        if (sim->rank[r]->is_gone && !sim->rank[r]->side) {
            sim_event_post(process, KEEL_EVENT_EXIT, sim->rank[r],
                           sim->now_ns + keel_random_scaled(&sim->random, SIM_JOIN_NS));
        }
        if (sim->rank[r]->is_unreplaced && sim->rank[r] != process) {
            const uint64_t due = sim->now_ns + keel_random_scaled(&sim->random, SIM_JOIN_NS);

            sim_event_post(process, KEEL_EVENT_DEATH, sim->rank[r], due);
            sim_event_post(process, KEEL_EVENT_GONE, sim->rank[r], due);
        }
    }
    *runtime_p = runtime;
    return KEEL_OK;
}

/* Without an arbiter events reach only one node. A replacement starts among the ranks that
 * continue. */
static int sim_hears_exit(const sim_process_t *process, const sim_process_t *from)
{
    const keel_sim_t *sim = process->sim;

    return !sim->options.no_arbiter || (process->incarnation > 0) ||
           (sim->node[process->rank] == sim->node[from->rank]);
}

void sim_leave_job(sim_process_t *process)
{
    keel_sim_t *sim = process->sim;
    uint32_t r;

    process->is_joined = 0;
    process->is_gone = 1;
    for (r = 0; r < sim->options.ranks; ++r) {
        if ((sim->rank[r] != process) && sim_is_live(sim->rank[r]) && sim->rank[r]->is_joined && !process->side &&
            sim_hears_exit(sim->rank[r], process)) {
            sim_event_post(sim->rank[r], KEEL_EVENT_EXIT, process,
                           sim->now_ns + keel_random_scaled(&sim->random, SIM_JOIN_NS));
        }
    }
}

static void sim_runtime_close(keel_runtime_t *runtime)
{
    sim_process_t *process = sim_self(runtime);

    sim_point(process->sim, "runtime close");
    keel_sim_store_fence(process->sim);
    process->is_left = 1;
    sim_leave_job(process);
}

static void sim_announce_first(keel_sim_t *sim, sim_process_t *process)
{
    uint32_t r;

    if (++sim->announced < sim->options.ranks) {
        process->where = "announce";
        sim_give_way(process, SIM_ANNOUNCING, SIM_NEVER);
        return;
    }
    for (r = 0; r < sim->options.ranks; ++r) {
        if (sim->rank[r]->state == SIM_ANNOUNCING) {
            sim_make_ready(sim->rank[r]);
        }
    }
}

static keel_status_t sim_announce(keel_runtime_t *runtime, const void *address, size_t length)
{
    sim_process_t *process = sim_self(runtime);
    keel_sim_t *sim = process->sim;
    uint32_t r;

    sim_point(sim, "announce");
    keel_sim_store_fence(sim);
    if (process->is_announced) {
        return KEEL_ERR_STATE;
    }
    process->address = sim_new(length);
    memcpy(process->address, address, length);
    process->address_len = length;
    process->is_announced = 1;
    if (process->incarnation == 0) {
        sim_announce_first(sim, process);
        return KEEL_OK;
    }
    keel_sim_trace(sim, "rank %u.%u announces itself", process->rank, process->incarnation);
    for (r = 0; r < sim->options.ranks; ++r) {
        if ((sim->rank[r] != process) && sim_is_live(sim->rank[r]) && sim->rank[r]->is_joined &&
            !sim_is_cut(process, sim->rank[r])) {
            sim_event_post(sim->rank[r], KEEL_EVENT_JOIN, process,
                           sim->now_ns + keel_random_scaled(&sim->random, SIM_JOIN_NS));
        }
    }
    sim_point(sim, "announce");
    return KEEL_OK;
}

static keel_status_t sim_lookup(keel_runtime_t *runtime, uint32_t rank, void **address_p, size_t *length_p)
{
    const sim_process_t *process = sim_self(runtime);
    const sim_process_t *other;

    for (other = process->sim->rank[rank]; (other != NULL) && (other->incarnation > 0);) {
        other = other->earlier;
    }
    if ((process->incarnation > 0) || !process->is_announced || (other == NULL) || !other->is_announced) {
        return KEEL_ERR_STATE;
    }
    *address_p = malloc((other->address_len > 0) ? other->address_len : 1);
    if (*address_p == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    memcpy(*address_p, other->address, other->address_len);
    *length_p = other->address_len;
    return KEEL_OK;
}

static int sim_poll(keel_runtime_t *runtime, keel_event_t *event_p)
{
    static const char *const name[] = {"death", "join", "exit", "loss for good"};
    sim_process_t *process = sim_self(runtime);
    const int first = sim_event_first(process);

    process->sim->now_ns += 5;
    if ((first < 0) || (process->events[first].due_ns > process->sim->now_ns)) {
        return 0;
    }
    *event_p = process->events[first].event;
    --process->events_count;
    memmove(&process->events[first], &process->events[first + 1],
            (process->events_count - (unsigned)first) * sizeof(*process->events));
    free(process->event_address);
    process->event_address = (void *)event_p->address;
    keel_sim_trace(process->sim, "rank %u.%u hears of the %s of %u.%u", process->rank, process->incarnation,
                   name[event_p->type], event_p->rank, event_p->incarnation);
    return 1;
}

/* ---- silence ---- */

/* Without an arbiter only processes on the same node see whether the process exists. */
static keel_status_t sim_check_presence(const sim_process_t *process, const sim_process_t *suspect,
                                        const keel_suspicion_t *suspicion)
{
    if (suspicion->is_absent) {
        return KEEL_OK;
    }
    if (process->sim->node[process->rank] != process->sim->node[suspect->rank]) {
        return KEEL_ERR_UNSUPPORTED;
    }
    return ((suspect->state == SIM_RETURNED) || (suspect->incarnation > suspicion->incarnation)) ? KEEL_ERR_UNREACHABLE
                                                                                                 : KEEL_OK;
}

/*
 * A runtime that spares a suspect for a while relies on the count of the accuser: repeats grows
 * while the same silence continues, and restarts with a new silence. The accuser's time passes no
 * faster than the simulator's.
 */
static void sim_check_repeats(sim_process_t *process, const keel_suspicion_t *suspicion)
{
    const keel_suspicion_t *last = &process->suspicion;
    const int is_known = (process->suspicion_ns != 0) && (last->rank == suspicion->rank) &&
                         (last->incarnation == suspicion->incarnation);
    const uint64_t since_ns = process->sim->now_ns - process->suspicion_ns;

    if ((suspicion->repeats > 0) && is_known &&
        ((suspicion->repeats != last->repeats + 1) || (suspicion->silence_ns <= last->silence_ns))) {
        keel_sim_flaw(process->sim, "rank %u accuses rank %u of the same silence for the time %u, which is none",
                      process->rank, suspicion->rank, suspicion->repeats + 1);
    }
    if ((suspicion->repeats == 0) && is_known && (suspicion->silence_ns > since_ns)) {
        keel_sim_flaw(process->sim, "rank %u accuses rank %u of the same silence again, and does not say so",
                      process->rank, suspicion->rank);
    }
    process->suspicion = *suspicion;
    process->suspicion_ns = process->sim->now_ns;
}

/* The launcher sees whether a process hangs. Otherwise it believes processes that hear from more
 * than half of the job. */
static keel_status_t sim_suspect(keel_runtime_t *runtime, const keel_suspicion_t *suspicion)
{
    sim_process_t *process = sim_self(runtime);
    keel_sim_t *sim = process->sim;
    sim_process_t *suspect = sim->rank[suspicion->rank];

    keel_sim_trace(sim, "rank %u.%u does not hear %u.%d and hears %u of %u", process->rank, process->incarnation,
                   suspicion->rank, (int)suspicion->incarnation, suspicion->heard, suspicion->live);
    if (suspicion->silence_ns != 0) {
        sim_check_repeats(process, suspicion);
    }
    if (sim->options.no_arbiter) {
        return sim_check_presence(process, suspect, suspicion);
    }
    if (!sim_is_live(suspect) || (suspect->fence_ns != SIM_NEVER) ||
        ((suspicion->incarnation != KEEL_INCARNATION_ANY) && (suspicion->incarnation != suspect->incarnation))) {
        return KEEL_OK;
    }
    if ((suspicion->incarnation == KEEL_INCARNATION_ANY) && (suspect->state != SIM_HUNG)) {
        return KEEL_OK; /* the suspect has not greeted a replacement, and may be computing */
    }
    if ((suspect->state != SIM_HUNG) && (2 * suspicion->heard <= suspicion->live) &&
        (++suspect->accusations < SIM_ACCUSATIONS)) {
        return KEEL_OK;
    }
    suspect->fence_ns = sim->now_ns + (sim_chance(sim, 256) ? sim_below(sim, SIM_LATE_FENCE_NS)
                                                            : keel_random_scaled(&sim->random, SIM_FENCE_NS));
    sim_due(suspect, suspect->fence_ns);
    return KEEL_OK;
}

/* Without an arbiter the other ranks continue. Here the replacement starts when the process
 * declared dead has ended. */
static void sim_replace(keel_runtime_t *runtime, uint32_t rank, uint32_t incarnation)
{
    sim_process_t *process = sim_self(runtime);
    sim_process_t *declared = process->sim->rank[rank];

    if ((declared->incarnation != incarnation) || declared->is_declared) {
        return;
    }
    if ((process->side != 0) && (declared->side == 0)) {
        keel_sim_flaw(process->sim, "rank %u.%u of the smaller side declares %u.%u dead", process->rank,
                      process->incarnation, rank, incarnation);
        return;
    }
    if (declared->side || (declared->state == SIM_RETURNED)) {
        keel_sim_trace(process->sim, "rank %u.%u is declared dead", rank, incarnation);
        declared->is_declared = 1;
        if (declared->state == SIM_RETURNED) {
            sim_succeed(declared);
        }
    }
}

void sim_fence_check(sim_process_t *process)
{
    keel_sim_t *sim = process->sim;
    const uint32_t rank = process->rank;

    if ((sim->rank[rank] != process) || !sim_is_live(process) || (process->fence_ns == SIM_NEVER)) {
        return;
    }
    if (process->fence_ns > sim->now_ns) {
        sim_due(process, process->fence_ns);
        return;
    }
    process->fence_ns = SIM_NEVER;
    keel_sim_trace(sim, "FENCE %u.%u", rank, process->incarnation);
    if ((sim->options.fence == NULL) || sim->options.fence(sim->options.arg, sim, rank)) {
        keel_sim_kill(sim, rank);
    } else if (process->state == SIM_HUNG) {
        process->wake_ns = sim->now_ns;
        sim_due(process, sim->now_ns);
    }
}

static void sim_notify(keel_runtime_t *runtime, uint8_t *news)
{
    sim_self(runtime)->news = news;
}

static uint64_t sim_now(keel_runtime_t *runtime)
{
    return sim_self(runtime)->sim->now_ns;
}

static void sim_abort(keel_runtime_t *runtime, int status, const char *reason)
{
    sim_process_t *process = sim_self(runtime);
    keel_sim_t *sim = process->sim;

    (void)status;
    sim->is_aborted = (sim->flaw[0] == '\0');
    keel_sim_flaw(sim, "rank %u.%u ended the job: %s", process->rank, process->incarnation, reason);
}

const keel_runtime_ops_t sim_runtime_ops = {
    .name = "sim",
    .is_threadless = 1,
    .open = sim_runtime_open,
    .close = sim_runtime_close,
    .announce = sim_announce,
    .lookup = sim_lookup,
    .poll = sim_poll,
    .notify = sim_notify,
    .now_ns = sim_now,
    .suspect = sim_suspect,
    .replace = sim_replace,
    .abort = sim_abort,
};
