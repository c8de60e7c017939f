/* A process: its life, and events from outside. */
#include "sim/world.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void sim_process_main(void *arg)
{
    sim_process_t *process = arg;
    keel_sim_t *sim = process->sim;

    sim->options.program(sim->options.arg, sim, process->rank, process->incarnation);
    sim_unready(process);
    process->state = SIM_RETURNED;
}

sim_process_t *sim_process_create(keel_sim_t *sim, uint32_t rank, uint32_t incarnation)
{
    sim_process_t *process = sim_new(sizeof(*process));
    uint32_t peer;

    process->sim = sim;
    process->rank = rank;
    process->incarnation = incarnation;
    process->state = SIM_NEW;
    process->wake_ns = process->fence_ns = SIM_NEVER;
    process->speed = 1024;
    process->idle_idx = -1;
    process->timer_idx = -1;
    process->stores.idx = -1;
    process->where = "start";
    process->transport.super.ops = &sim->transport_ops;
    process->transport.process = process;
    process->runtime.super.ops = &sim->runtime_ops;
    process->runtime.process = process;
    process->links = sim_new(sim->options.ranks * sizeof(*process->links));
    for (peer = 0; peer < sim->options.ranks; ++peer) {
        sim_link_init(&process->links[peer], process, peer);
    }
    process->all_next = sim->all;
    sim->all = process;
    process->earlier = sim->rank[rank];
    sim->rank[rank] = process;
    return process;
}

void sim_process_start(sim_process_t *process)
{
    const keel_sim_options_t *options = &process->sim->options;

    process->fiber = sim_fiber_create((options->stack_size > 0) ? options->stack_size : SIM_STACK_DEFAULT,
                                      sim_process_main, process);
    if (process->fiber == NULL) {
        keel_sim_flaw(process->sim, "no memory for a stack");
        return;
    }
    keel_sim_trace(process->sim, "rank %u.%u starts", process->rank, process->incarnation);
    sim_make_ready(process);
}

void sim_process_stop(sim_process_t *process)
{
    sim_unready(process);
    sim_idle_cancel(process);
    if (process->fiber != NULL) {
        sim_fiber_destroy(process->fiber);
        process->fiber = NULL;
    }
}

void sim_links_clear(sim_process_t *process)
{
    uint32_t r;

    for (r = 0; r < process->sim->options.ranks; ++r) {
        sim_requests_drop(&process->links[r], 0);
        sim_replies_drop(&process->links[r], 0);
        sim_ops_free(&process->links[r]);
    }
}

void sim_process_free(sim_process_t *process)
{
    unsigned i;

    sim_onesided_destroy(process);
    for (i = 0; i < process->events_count; ++i) {
        free((void *)process->events[i].event.address);
    }
    if (process->fiber != NULL) {
        sim_fiber_destroy(process->fiber);
    }
    sim_allocations_free(process);
    free(process->events);
    free(process->event_address);
    free(process->stores.store);
    free(process->address);
    free(process->reply_in.item);
    free(process->links);
    free(process->runtime.super.node);
    free(process);
}

int keel_sim_hang(keel_sim_t *sim, uint32_t rank, uint64_t ns)
{
    sim_process_t *process = sim->rank[rank];

    if (!sim_is_live(process) || (process->state == SIM_ANNOUNCING) || (process->state == SIM_HUNG) ||
        (sim->current != NULL)) {
        return 0;
    }
    keel_sim_trace(sim, "HANG %u.%u in %s", rank, process->incarnation, process->where);
    sim_stores_make_visible(process);
    sim_unready(process);
    process->state = SIM_HUNG;
    process->wake_ns = (ns < SIM_NEVER - sim->now_ns) ? sim->now_ns + ns : SIM_NEVER;
    sim_due(process, process->wake_ns);
    sim_service_update(process);
    return 1;
}

void keel_sim_move(keel_sim_t *sim, uint32_t rank, uint32_t node)
{
    sim->node[rank] = node;
}

void keel_sim_split(keel_sim_t *sim, const uint8_t *side)
{
    uint32_t r, peer;

    for (r = 0; r < sim->options.ranks; ++r) {
        sim->rank[r]->side = side[r];
    }
    for (r = 0; r < sim->options.ranks; ++r) {
        for (peer = 0; peer < sim->options.ranks; ++peer) {
            if (side[r] != side[peer]) {
                sim_replies_drop(&sim->rank[r]->links[peer], 0);
            }
        }
        sim_service_update(sim->rank[r]);
        keel_sim_trace(sim, "SPLIT: rank %u.%u on side %u", r, sim->rank[r]->incarnation, side[r]);
    }
}

int keel_sim_is_hung(const keel_sim_t *sim, uint32_t rank)
{
    return sim->rank[rank]->state == SIM_HUNG;
}

int keel_sim_is_alive(const keel_sim_t *sim, uint32_t rank)
{
    return sim_is_live(sim->rank[rank]);
}

uint32_t keel_sim_incarnation(const keel_sim_t *sim, uint32_t rank)
{
    return sim->rank[rank]->incarnation;
}

uint32_t keel_sim_current(const keel_sim_t *sim)
{
    return (sim->current != NULL && !sim->in_handler) ? sim->current->rank : UINT32_MAX;
}
