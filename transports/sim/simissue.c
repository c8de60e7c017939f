/* Issue of one-sided operations. */
#include "sim/world.h"

#include <stdlib.h>
#include <string.h>

enum { SIM_QUEUE = 12 }; /* maximum operations in flight towards a peer, like a device's queue */

static keel_status_t sim_op_make(keel_transport_t *transport, keel_transport_key_t *key, sim_op_kind_t kind,
                                 uint64_t offset, size_t length, sim_op_t **op_p)
{
    sim_process_t *process = sim_process_of(transport);
    keel_sim_t *sim = process->sim;
    sim_link_t *link = &process->links[key->peer];
    const int is_own = (kind == SIM_ATOMIC) && (key->mem->owner == process);
    sim_op_t *op;

    if (!key->is_open || (!is_own && ((link->target != key->mem->owner) ||
                                      !(link->lanes & ((kind == SIM_GET) ? KEEL_LANE_READ : KEEL_LANE_RMA))))) {
        keel_sim_flaw(sim, "rank %u.%u uses a key of %u after disconnect, or without the lane", process->rank,
                      process->incarnation, key->peer);
        return KEEL_ERR_UNREACHABLE;
    }
    if ((offset > key->mem->bytes) || (length > key->mem->bytes - offset)) {
        keel_sim_flaw(sim, "rank %u.%u accesses %zu bytes at %llu of a region of %zu at %u", process->rank,
                      process->incarnation, length, (unsigned long long)offset, key->mem->bytes, key->peer);
        return KEEL_ERR_RANGE;
    }
    op = sim_new(sizeof(*op));
    op->kind = kind;
    op->link = link;
    op->mem = key->mem;
    op->offset = offset;
    op->length = op->split = length;
    op->pieces_left = 1;
    op->fence_epoch = process->fence_epoch;
    if ((length > 8) && sim_chance(sim, 512)) {
        op->split = 8 * (1 + sim_below(sim, (uint32_t)((length - 1) / 8)));
        op->pieces_left = 3;
    }
    *op_p = op;
    return KEEL_OK;
}

/* a get before a fence may write the source of the put */
static int sim_awaits_gets(const sim_op_t *put)
{
    const sim_op_t *op;

    for (op = put->link->ops_head; op != NULL; op = op->next) {
        if ((op->kind == SIM_GET) && (op->fence_epoch < put->fence_epoch)) {
            return 1;
        }
    }
    return 0;
}

static keel_status_t sim_put_one(keel_transport_t *transport, keel_transport_key_t *key,
                                 const keel_transport_put_t *put)
{
    keel_sim_t *sim = sim_process_of(transport)->sim;
    keel_status_t status;
    sim_op_t *op;

    sim_point(sim, "put");
    if (sim_process_of(transport)->links[key->peer].ops_count >= SIM_QUEUE) {
        return KEEL_ERR_NO_MEMORY;
    }
    status = sim_op_make(transport, key, SIM_PUT, put->offset, put->length, &op);
    if (status != KEEL_OK) {
        return status;
    }
    op->buffer = put->buffer;
    op->sum = sim_sum(put->buffer, put->length);
    op->is_silent = (int)sim_below(sim, 2) && !sim_awaits_gets(op);
    if (op->is_silent) {
        sim_op_capture(op);
    }
    sim_op_append(op->link, op);
    sim_point(sim, "put");
    return KEEL_OK;
}

keel_status_t sim_put(keel_transport_t *transport, keel_transport_key_t *key, const keel_transport_put_t *puts,
                      unsigned *count_p)
{
    const unsigned count = *count_p;
    keel_status_t status = KEEL_OK;

    for (*count_p = 0; *count_p < count && status == KEEL_OK; *count_p += (status == KEEL_OK)) {
        status = sim_put_one(transport, key, &puts[*count_p]);
    }
    return status;
}

keel_status_t sim_put_record(keel_transport_t *transport, keel_transport_key_t *key, uint64_t offset,
                             const void *buffer, size_t length)
{
    keel_status_t status;
    sim_op_t *op;

    sim_point(sim_process_of(transport)->sim, "put");
    status = sim_op_make(transport, key, SIM_PUT, offset, length, &op);
    if (status != KEEL_OK) {
        return status;
    }
    op->buffer = buffer;
    op->sum = sim_sum(buffer, length);
    if (length <= 8) {
        sim_op_capture(op);
    }
    sim_op_append(op->link, op);
    sim_point(sim_process_of(transport)->sim, "put");
    return KEEL_INPROGRESS;
}

keel_status_t sim_get(keel_transport_t *transport, keel_transport_key_t *key, uint64_t offset, void *buffer,
                      size_t length, keel_transport_done_cb_t cb, void *arg)
{
    keel_sim_t *sim = sim_process_of(transport)->sim;
    keel_status_t status;
    sim_op_t *op;

    sim_point(sim, "get");
    if (sim_process_of(transport)->links[key->peer].ops_count >= SIM_QUEUE) {
        return KEEL_ERR_NO_MEMORY;
    }
    status = sim_op_make(transport, key, SIM_GET, offset, length, &op);
    if (status != KEEL_OK) {
        return status;
    }
    op->result = buffer;
    op->cb = cb;
    op->cb_arg = arg;
    if ((op->link->target->state != SIM_DEAD) && (op->link->ops_count == 0) && sim_chance(sim, 128)) {
        sim_op_apply(sim, op, 1);
        status = sim_op_outcome(op);
        sim_op_free(op);
        return status;
    }
    sim_op_append(op->link, op);
    sim_point(sim, "get");
    return KEEL_INPROGRESS;
}

keel_status_t sim_atomic(keel_transport_t *transport, keel_transport_key_t *key, uint64_t offset,
                         const keel_transport_atomic_t *atomic, uint64_t *old, keel_transport_done_cb_t cb, void *arg)
{
    sim_process_t *process = sim_process_of(transport);
    keel_status_t status;
    sim_op_t *op;

    sim_point(process->sim, "atomic");
    if (!key->mem->is_atomic) {
        keel_sim_flaw(process->sim, "rank %u.%u does an atomic on memory of %u that is not for them", process->rank,
                      process->incarnation, key->peer);
        return KEEL_ERR_UNSUPPORTED;
    }
    if ((process->links[key->peer].ops_count >= SIM_QUEUE) || sim_chance(process->sim, 64)) {
        return KEEL_ERR_NO_MEMORY;
    }
    status = sim_op_make(transport, key, SIM_ATOMIC, offset, sizeof(*old), &op);
    if (status != KEEL_OK) {
        return status;
    }
    op->atomic = *atomic;
    op->result = old;
    op->cb = cb;
    op->cb_arg = arg;
    if (key->peer == process->rank) { /* a process has no link to itself */
        sim_op_apply(process->sim, op, 1);
        sim_op_done(op, sim_op_outcome(op));
        sim_point(process->sim, "atomic");
        return KEEL_INPROGRESS;
    }
    sim_op_append(op->link, op);
    sim_point(process->sim, "atomic");
    return KEEL_INPROGRESS;
}

void sim_fence(keel_transport_t *transport)
{
    sim_process_t *process = sim_process_of(transport);

    ++process->fence_epoch;
    sim_point(process->sim, "fence");
}

keel_status_t sim_flush(keel_transport_t *transport, uint32_t peer, keel_transport_done_cb_t cb, void *arg)
{
    sim_process_t *process = sim_process_of(transport);
    sim_link_t *link = &process->links[peer];
    sim_op_t *op;

    sim_point(process->sim, "flush");
    if (link->target == NULL) {
        return KEEL_ERR_UNREACHABLE;
    }
    if (link->ops_count == 0) {
        return KEEL_OK;
    }
    op = sim_new(sizeof(*op));
    op->kind = SIM_FLUSH;
    op->link = link;
    op->cb = cb;
    op->cb_arg = arg;
    sim_op_append(link, op);
    sim_point(process->sim, "flush");
    return KEEL_INPROGRESS;
}
