/* Connections and their ends. */
#include "sim/world.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define SIM_ADDRESS_MAGIC 0x53494d4144445231ull
#define SIM_BREAK_CHANCE  64 /* of 1024, for each call of progress() */

sim_process_t *sim_process_of(keel_transport_t *transport)
{
    return ((struct sim_transport *)transport)->process;
}

keel_status_t sim_open(const keel_transport_params_t *params, keel_transport_t **transport_p)
{
    keel_sim_t *sim = params->driver_arg;
    sim_process_t *process = sim->current;

    sim_point(sim, "open");
    keel_sim_store_fence(sim);
    if ((params->rank != process->rank) || (params->size != sim->options.ranks) || process->is_open) {
        return KEEL_ERR_INVALID_PARAM;
    }
    process->params = *params;
    process->is_open = 1;
    process->own_address.magic = SIM_ADDRESS_MAGIC;
    process->own_address.rank = process->rank;
    process->own_address.incarnation = process->incarnation;
    *transport_p = &process->transport.super;
    return KEEL_OK;
}

void sim_close(keel_transport_t *transport)
{
    sim_process_t *process = sim_process_of(transport);

    sim_point(process->sim, "close");
    keel_sim_store_fence(process->sim);
    process->is_open = 0;
    sim_idle_cancel(process);
    for (uint32_t r = 0; r < process->sim->options.ranks; ++r) {
        sim_requests_own(&process->links[r]); /* traffic in flight arrives */
        sim_ops_land(&process->links[r]);
    }
    while (process->reply_in.count > 0) {
        sim_replies_drop(process->reply_in.item[0], 0);
    }
}

keel_status_t sim_address_get(keel_transport_t *transport, const void **address_p, size_t *length_p)
{
    sim_process_t *process = sim_process_of(transport);

    *address_p = &process->own_address;
    *length_p = sizeof(process->own_address);
    return KEEL_OK;
}

static unsigned sim_lanes(const sim_process_t *process, uint32_t peer)
{
    const keel_sim_t *sim = process->sim;
    const char *lanes = (process->params.lanes != NULL) ? process->params.lanes : "auto";
    const int is_near = (sim->node[process->rank] == sim->node[peer]);

    if ((strcmp(lanes, "direct") == 0) || ((strcmp(lanes, "auto") == 0) && is_near)) {
        return KEEL_LANE_SERVED | ((sim->options.direct == KEEL_SIM_PTR)    ? KEEL_LANE_PTR
                                   : (sim->options.direct == KEEL_SIM_RMA)  ? KEEL_LANE_RMA | KEEL_LANE_READ
                                   : (sim->options.direct == KEEL_SIM_READ) ? KEEL_LANE_READ
                                                                            : 0);
    }
    return KEEL_LANE_SERVED;
}

keel_status_t sim_connect(keel_transport_t *transport, uint32_t peer, const void *address, size_t length,
                          unsigned *lanes_p)
{
    sim_process_t *process = sim_process_of(transport);
    keel_sim_t *sim = process->sim;
    sim_process_t *target;
    sim_address_t to;

    sim_point(sim, "connect");
    keel_sim_store_fence(sim);
    if ((peer >= sim->options.ranks) || (length != sizeof(to))) {
        return KEEL_ERR_INVALID_PARAM;
    }
    memcpy(&to, address, sizeof(to));
    if ((to.magic != SIM_ADDRESS_MAGIC) || (to.rank != peer)) {
        return KEEL_ERR_CORRUPT;
    }
    for (target = sim->rank[peer]; (target != NULL) && (target->incarnation != to.incarnation);) {
        target = target->earlier;
    }
    if (target == NULL) {
        return KEEL_ERR_CORRUPT;
    }
    if (process->links[peer].target != NULL) {
        keel_sim_flaw(sim, "rank %u.%u connects to %u.%u, being connected to %u.%u", process->rank,
                      process->incarnation, peer, to.incarnation, peer, process->links[peer].target->incarnation);
        return KEEL_ERR_STATE;
    }
    keel_sim_trace(sim, "rank %u.%u connects to %u.%u", process->rank, process->incarnation, peer, to.incarnation);
    process->links[peer].target = target;
    process->links[peer].lanes = sim_lanes(process, peer);
    *lanes_p = process->links[peer].lanes;
    sim_channels_update(process, peer);
    return KEEL_OK;
}

/* Late traffic of dead incarnations of @a peer: one-sided operations end now, messages may still
 * arrive. */
static void sim_cut_off(sim_process_t *process, uint32_t peer)
{
    keel_sim_t *sim = process->sim;
    sim_process_t *from;
    sim_link_t *link;

    for (from = sim->rank[peer]; from != NULL; from = from->earlier) {
        link = &from->links[process->rank];
        if (from->state != SIM_DEAD) {
            continue;
        }
        if (link->target == process) {
            sim_ops_free(link);
        }
        if ((link->target == process) && sim_chance(sim, 512)) {
            sim_requests_drop(link, 0);
        }
        if ((link->reply_target == process) && sim_chance(sim, 512)) {
            sim_replies_drop(link, 0);
        }
    }
}

/* Poisons the memory of a dead process when no live process is connected to the dead one: a
 * later read is a defect. */
static void sim_poison_unreachable(keel_sim_t *sim, sim_process_t *dead)
{
    uint32_t r;

    for (r = 0; r < sim->options.ranks; ++r) {
        if (sim_is_live(sim->rank[r]) && (sim->rank[r]->links[dead->rank].target == dead)) {
            return;
        }
    }
    sim_poison(dead);
}

void sim_disconnect(keel_transport_t *transport, uint32_t peer)
{
    sim_process_t *process = sim_process_of(transport);
    keel_sim_t *sim = process->sim;
    sim_link_t *link = &process->links[peer];
    sim_process_t *target;
    keel_transport_key_t *key;

    sim_point(sim, "disconnect");
    keel_sim_store_fence(sim);
    target = link->target;
    keel_sim_trace(sim, "rank %u.%u disconnects %u.%d", process->rank, process->incarnation, peer,
                   (target != NULL) ? (int)target->incarnation : -1);
    sim_cut_off(process, peer);
    if (target == NULL) {
        return;
    }
    sim_requests_drop(link, 0);
    sim_replies_drop(link, 0);
    for (key = process->keys; key != NULL; key = key->next) {
        if (key->peer == peer) {
            key->is_open = 0;
        }
    }
    link->target = NULL; /* before the callbacks, so that nothing new can be issued */
    sim_channels_update(process, peer);
    sim_ops_fail(link);
    if (target->state == SIM_DEAD) {
        sim_poison_unreachable(sim, target);
    }
}

void sim_break(sim_process_t *process, uint32_t peer)
{
    if (process->params.on_suspect != NULL) {
        process->params.on_suspect(process->params.arg, peer);
    }
}

/* Without launcher reports connections to ended processes break sooner or later, except
 * connections cut by the network. */
unsigned sim_break_ended(sim_process_t *process)
{
    unsigned broken = 0;
    sim_link_t *link;
    uint32_t r;

    for (r = 0; r < process->sim->options.ranks; ++r) {
        link = &process->links[r];
        if ((link->target != NULL) && (link->target != link->broken_to) && !link->target->is_open &&
            !sim_is_cut(process, link->target) && sim_chance(process->sim, SIM_BREAK_CHANCE)) {
            link->broken_to = link->target;
            sim_break(process, r);
            ++broken;
        }
    }
    return broken;
}
