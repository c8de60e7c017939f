/*
 * Death of a process at its current point: the stack is abandoned, the memory is gone, and traffic
 * in flight is partly applied, partly lost, partly late. The news reaches each survivor at a
 * different time, and a replacement starts.
 */
#include "sim/world.h"

#include <string.h>

#define SIM_NEWS_NS    3000000u
#define SIM_RESPAWN_NS 5000000u

void sim_poison(sim_process_t *process)
{
    keel_transport_mem_t *mem;

    for (mem = process->mems; mem != NULL; mem = mem->next) {
        memset(mem->net, SIM_POISON, mem->length);
    }
}

/* operations in front of the last request */
static uint64_t sim_requests_behind(const sim_link_t *link)
{
    const sim_message_t *message;
    uint64_t behind = 0;

    for (message = link->requests.head; message != NULL; message = message->next) {
        behind = message->behind;
    }
    return behind;
}

static void sim_cut_outgoing(keel_sim_t *sim, sim_process_t *dead)
{
    sim_link_t *link;
    uint32_t r;

    for (r = 0; r < sim->options.ranks; ++r) {
        link = &dead->links[r];
        sim_requests_own(link);
        sim_requests_drop(link, sim_below(sim, link->requests.count + 1));
        sim_replies_drop(link, sim_below(sim, link->replies.count + 1));
        /* requests not lost arrive behind these operations */
        sim_ops_before(link, sim_requests_behind(link));
        if (link->ops_count > 0) {
            sim_ops_of_dead(link);
        }
    }
}

static void sim_cut_incoming(keel_sim_t *sim, sim_process_t *dead)
{
    sim_process_t *from;
    sim_link_t *link;

    while (dead->reply_in.count > 0) {
        sim_replies_drop(dead->reply_in.item[0], 0);
    }
    for (from = sim->all; from != NULL; from = from->all_next) {
        link = &from->links[dead->rank];
        if (link->target != dead) {
            continue;
        }
        if (from->state == SIM_DEAD) { /* both processes are dead: the traffic is dropped */
            sim_requests_drop(link, 0);
            sim_ops_free(link);
            continue;
        }
        sim_requests_stop(link);
        sim_ops_to_dead(link);
        if (sim_is_live(from) && sim_chance(sim, 256)) {
            from->suspect = dead->rank + 1;
        }
    }
}

/* Posts the death, or that the rank is gone. */
static void sim_post_end(keel_sim_t *sim, const sim_process_t *dead, keel_event_type_t type)
{
    /* some survivors learn of the death at once, the others almost as late as possible */
    const int is_split = sim_chance(sim, 256);
    uint64_t delay;
    uint32_t r;

    for (r = 0; r < sim->options.ranks; ++r) {
        if (sim_is_live(sim->rank[r]) && sim->rank[r]->is_joined) {
            delay = keel_random_scaled(&sim->random, SIM_NEWS_NS);
            if (is_split) {
                delay = sim_chance(sim, 512) ? 0 : SIM_NEWS_NS;
            }
            sim_event_post(sim->rank[r], type, dead, sim->now_ns + delay);
        }
    }
}

void sim_respawn(sim_process_t *dead)
{
    keel_sim_t *sim = dead->sim;
    sim_process_t *process = sim_process_create(sim, dead->rank, dead->incarnation + 1);

    process->wake_ns = sim->now_ns + keel_random_scaled(&sim->random, SIM_RESPAWN_NS);
    sim_due(process, process->wake_ns);
}

void sim_succeed(sim_process_t *process)
{
    ++process->sim->alive;
    sim_respawn(process);
}

void sim_exit(sim_process_t *process)
{
    if (process->is_open) {
        sim_cut_outgoing(process->sim, process);
        while (process->reply_in.count > 0) {
            sim_replies_drop(process->reply_in.item[0], 0);
        }
        process->is_open = 0;
    }
    if (process->is_joined) {
        sim_leave_job(process); /* the launcher sees the end of the process */
    }
    if (process->is_declared) {
        sim_succeed(process);
    }
}

/* True if the present death is that of a rank that is gone. */
static int sim_declares_gone(keel_sim_t *sim)
{
    if (sim->options.declares_gone == 1 && sim->options.replaced > 0) {
        --sim->options.replaced;
        return 0;
    }
    return sim->options.declares_gone;
}

int keel_sim_kill(keel_sim_t *sim, uint32_t rank)
{
    sim_process_t *process = sim->rank[rank];

    if (!sim_is_live(process) || (sim->current != NULL)) {
        return 0;
    }
    keel_sim_trace(sim, "KILL %u.%u in %s", rank, process->incarnation, process->where);
    sim_process_stop(process);
    sim_stores_of_dead(process);
    /* set before the operations are cut, so that none counts as an operation of a live process */
    process->state = SIM_DEAD;
    sim_cut_outgoing(sim, process);
    sim_cut_incoming(sim, process);
    process->is_open = 0;
    if (sim->options.direct != KEEL_SIM_PTR) {
        sim_poison(process);
    }
    sim_onesided_abandon(process);
    sim_allocations_free(process);
    if (sim->options.mute_events) {
        --sim->alive;
        return 1;
    }
    sim_post_end(sim, process, KEEL_EVENT_DEATH);
    if (!sim_declares_gone(sim)) {
        sim_respawn(process);
        return 1;
    }
    sim_post_end(sim, process, KEEL_EVENT_GONE);
    process->is_unreplaced = 1;
    if (sim->options.declares_gone == 1) {
        --sim->alive;
        return 1;
    }
    sim_respawn(process);
    return 1;
}
