/*
 * Timers of processes. A heap contains each process with a lower bound of the next time at which
 * something is due for the process. sim_due() only lowers the bound; a process woken in another way
 * stays in the heap until the bound. A timer costs O(log ranks), without a walk over all ranks.
 */
#include "sim/world.h"

#include <stdlib.h>

static int timer_is_before(const sim_list_t *heap, unsigned a, unsigned b)
{
    return ((const sim_process_t *)heap->item[a])->timer_ns < ((const sim_process_t *)heap->item[b])->timer_ns;
}

static void timer_swap(sim_list_t *heap, unsigned a, unsigned b)
{
    sim_process_t *process = heap->item[a];

    heap->item[a] = heap->item[b];
    heap->item[b] = process;
    ((sim_process_t *)heap->item[a])->timer_idx = (int)a;
    ((sim_process_t *)heap->item[b])->timer_idx = (int)b;
}

static void timer_up(sim_list_t *heap, unsigned i)
{
    for (; (i > 0) && timer_is_before(heap, i, (i - 1) / 2); i = (i - 1) / 2) {
        timer_swap(heap, i, (i - 1) / 2);
    }
}

static void timer_down(sim_list_t *heap, unsigned i)
{
    unsigned least, child;

    for (;; i = least) {
        least = i;
        for (child = 2 * i + 1; (child <= 2 * i + 2) && (child < heap->count); ++child) {
            least = timer_is_before(heap, child, least) ? child : least;
        }
        if (least == i) {
            return;
        }
        timer_swap(heap, i, least);
    }
}

static void timer_remove_first(sim_list_t *heap)
{
    sim_process_t *process = heap->item[0];

    timer_swap(heap, 0, heap->count - 1);
    --heap->count;
    process->timer_idx = -1;
    timer_down(heap, 0);
}

void sim_due(sim_process_t *process, uint64_t ns)
{
    keel_sim_t *sim = process->sim;

    if (ns < sim->next_due_ns) {
        sim->next_due_ns = ns;
    }
    if (ns == SIM_NEVER) {
        return;
    }
    if (process->timer_idx < 0) {
        process->timer_ns = ns;
        process->timer_idx = sim_list_add(&sim->timers, process);
    } else if (ns < process->timer_ns) {
        process->timer_ns = ns;
    }
    timer_up(&sim->timers, (unsigned)process->timer_idx);
}

/* when the state of the process changes by itself */
static uint64_t sim_state_due(const sim_process_t *process)
{
    uint64_t due;

    switch (process->state) {
    case SIM_NEW:
    case SIM_SLEEPING:
    case SIM_HUNG:
        return process->wake_ns;
    case SIM_WAITING:
        due = sim_event_next_due(process);
        return (process->wake_ns < due) ? process->wake_ns : due;
    default:
        return SIM_NEVER;
    }
}

static uint64_t sim_process_due(const sim_process_t *process)
{
    const uint64_t due = sim_state_due(process);

    if (process->sim->rank[process->rank] != process) {
        return SIM_NEVER;
    }
    return (sim_is_live(process) && (process->fence_ns < due)) ? process->fence_ns : due;
}

static void sim_timer_fire(sim_process_t *process)
{
    keel_sim_t *sim = process->sim;
    const uint64_t due = sim_state_due(process);

    if (due > sim->now_ns) {
        sim_due(process, due);
    } else if (process->state == SIM_NEW) {
        sim_process_start(process);
    } else {
        const int is_hung = process->state == SIM_HUNG;

        if (is_hung) {
            keel_sim_trace(sim, "rank %u.%u goes on", process->rank, process->incarnation);
        }
        sim_make_ready(process);
        if (is_hung) {
            sim_service_update(process);
        }
    }
}

/* Removes all due processes from the heap, and makes the time of the first other process exact. */
static void sim_timers_collect(keel_sim_t *sim)
{
    sim_list_t *heap = &sim->timers;
    sim_process_t *process;
    uint64_t due;

    sim->due.count = 0;
    sim->next_due_ns = SIM_NEVER;
    while (heap->count > 0) {
        process = heap->item[0];
        due = sim_process_due(process);
        if (due > sim->now_ns && due == process->timer_ns) {
            sim->next_due_ns = due;
            return;
        }
        if (due > sim->now_ns && due != SIM_NEVER) {
            process->timer_ns = due;
            timer_down(heap, 0);
            continue;
        }
        timer_remove_first(heap);
        if (due <= sim->now_ns) {
            sim_list_add(&sim->due, process);
        }
    }
}

static int sim_by_rank(const void *a, const void *b)
{
    const sim_process_t *const *left = a, *const *right = b;

    return ((*left)->rank > (*right)->rank) - ((*left)->rank < (*right)->rank);
}

/* in the order of ranks; fences follow all wakeups */
void sim_timers(keel_sim_t *sim)
{
    unsigned i;

    sim_timers_collect(sim);
    if (sim->due.count > 0) {
        qsort(sim->due.item, sim->due.count, sizeof(*sim->due.item), sim_by_rank);
    }
    for (i = 0; i < sim->due.count; ++i) {
        sim_timer_fire(sim->due.item[i]);
    }
    for (i = 0; i < sim->due.count; ++i) {
        sim_fence_check(sim->due.item[i]);
    }
}
