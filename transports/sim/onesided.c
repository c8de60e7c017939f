/*
 * The direct lane. By pointers it is memory and nothing else. By operations, each waits on its link until the scheduler
 * lets it take effect, in any order that fences allow, longer puts possibly in two halves; completions are told in
 * progress(). Towards a dead process nothing completes until disconnect().
 */
#include "sim/world.h"

#include <stdlib.h>
#include <string.h>

#define SIM_BLOB_MAGIC 0x53494d4b45593031ull
#define SIM_PICK_DEPTH 32

typedef struct sim_blob {
    uint64_t magic;
    uint32_t rank, incarnation;
    uint32_t mem_id, reserved;
    uint64_t bytes, base;
} sim_blob_t;

static sim_process_t *sim_self(keel_transport_t *transport)
{
    return ((struct sim_transport *)transport)->process;
}

/* ---- memory and keys ---- */

keel_status_t sim_mem_alloc(keel_transport_t *transport, size_t bytes, void *address, keel_transport_mem_t **mem_p,
                            void **base_p)
{
    sim_process_t *process = sim_self(transport);
    keel_transport_mem_t *mem;

    sim_point(process->sim, "mem_alloc");
    mem = sim_new(sizeof(*mem));
    mem->owner = process;
    mem->id = process->mem_count;
    if (!sim_pool_take(process->sim, mem, bytes, address)) {
        free(mem);
        return KEEL_ERR_NO_MEMORY;
    }
    memset(mem->net, 0, mem->length);
    mem->next = process->mems;
    process->mems = mem;
    ++process->mem_count;
    *mem_p = mem;
    *base_p = mem->base;
    return KEEL_OK;
}

void sim_mem_free(keel_transport_t *transport, keel_transport_mem_t *mem)
{
    sim_process_t *process = sim_self(transport);

    sim_point(process->sim, "mem_free");
    if (mem->is_freed || (mem->owner != process)) {
        keel_sim_flaw(process->sim, "rank %u.%u frees memory twice", process->rank, process->incarnation);
        return;
    }
    memset(mem->net, SIM_POISON, mem->length);
    mem->is_freed = 1;
}

keel_status_t sim_mem_pack(keel_transport_t *transport, keel_transport_mem_t *mem, void *blob, size_t *length_p)
{
    const sim_process_t *process = sim_self(transport);
    const sim_blob_t packed = {
        SIM_BLOB_MAGIC, process->rank, process->incarnation, mem->id, 0, mem->bytes, (uint64_t)(uintptr_t)mem->base};

    if (*length_p < sizeof(packed)) {
        return KEEL_ERR_BUDGET;
    }
    memcpy(blob, &packed, sizeof(packed));
    *length_p = sizeof(packed);
    return KEEL_OK;
}

static keel_transport_mem_t *sim_mem_find(const sim_process_t *owner, uint32_t id)
{
    keel_transport_mem_t *mem;

    for (mem = owner->mems; (mem != NULL) && (mem->id != id); mem = mem->next) {
    }
    return mem;
}

keel_status_t sim_key_open(keel_transport_t *transport, uint32_t peer, const void *blob, size_t length,
                           uint64_t remote_base, keel_transport_key_t **key_p)
{
    sim_process_t *process = sim_self(transport);
    keel_transport_mem_t *mem;
    keel_transport_key_t *key;
    const sim_process_t *target;
    sim_blob_t packed;

    sim_point(process->sim, "key_open");
    target = process->links[peer].target;
    if ((target == NULL) || !(process->links[peer].lanes & (KEEL_LANE_PTR | KEEL_LANE_RMA))) {
        return KEEL_ERR_UNREACHABLE;
    }
    if (length != sizeof(packed)) {
        return KEEL_ERR_CORRUPT;
    }
    memcpy(&packed, blob, sizeof(packed));
    if ((packed.magic != SIM_BLOB_MAGIC) || (packed.rank != peer)) {
        return KEEL_ERR_CORRUPT;
    }
    if (packed.incarnation != target->incarnation) {
        keel_sim_flaw(process->sim, "rank %u.%u opens a key of %u.%u, being connected to %u.%u", process->rank,
                      process->incarnation, peer, packed.incarnation, peer, target->incarnation);
        return KEEL_ERR_UNREACHABLE;
    }
    mem = sim_mem_find(target, packed.mem_id);
    if ((mem == NULL) || (packed.base != remote_base)) {
        return KEEL_ERR_CORRUPT;
    }
    if (target->state == SIM_DEAD) { /* what is mapped stays, but nothing is mapped any more */
        return KEEL_ERR_UNREACHABLE;
    }
    key = sim_new(sizeof(*key));
    key->mem = mem;
    key->peer = peer;
    key->is_open = 1;
    key->next = process->keys;
    process->keys = key;
    *key_p = key;
    return KEEL_OK;
}

void sim_key_close(keel_transport_t *transport, keel_transport_key_t *key)
{
    sim_process_t *process = sim_self(transport);
    keel_transport_key_t **at;

    sim_point(process->sim, "key_close");
    for (at = &process->keys; *at != NULL; at = &(*at)->next) {
        if (*at == key) {
            *at = key->next;
            free(key);
            return;
        }
    }
    keel_sim_flaw(process->sim, "rank %u.%u closes a key that is not open", process->rank, process->incarnation);
}

void *sim_key_ptr(keel_transport_key_t *key)
{
    return (key->mem->owner->sim->options.direct == KEEL_SIM_PTR) ? key->mem->net : NULL;
}

/* ---- lists ---- */

static void sim_oplink_update(sim_link_t *link)
{
    keel_sim_t *sim = link->owner->sim;
    const int wanted = (link->ops_count > 0) && (link->target != NULL) && (link->target->state != SIM_DEAD);
    sim_link_t *moved;

    if (wanted && (link->oplink_idx < 0)) {
        link->oplink_idx = sim_list_add(&sim->oplinks, link);
    } else if (!wanted && (link->oplink_idx >= 0)) {
        moved = sim_list_remove(&sim->oplinks, (unsigned)link->oplink_idx);
        if (moved != NULL) {
            moved->oplink_idx = link->oplink_idx;
        }
        link->oplink_idx = -1;
    }
}

static void sim_op_append(sim_link_t *link, sim_op_t *op)
{
    op->prev = link->ops_tail;
    if (link->ops_tail != NULL) {
        link->ops_tail->next = op;
    } else {
        link->ops_head = op;
    }
    link->ops_tail = op;
    ++link->ops_count;
    sim_oplink_update(link);
}

static void sim_op_unlink(sim_link_t *link, sim_op_t *op)
{
    if (op->prev != NULL) {
        op->prev->next = op->next;
    } else {
        link->ops_head = op->next;
    }
    if (op->next != NULL) {
        op->next->prev = op->prev;
    } else {
        link->ops_tail = op->prev;
    }
    op->next = op->prev = NULL;
    --link->ops_count;
    sim_oplink_update(link);
}

static void sim_op_free(sim_op_t *op)
{
    if (op->is_copied) {
        free((void *)op->buffer);
    }
    free(op);
}

static void sim_op_done(sim_op_t *op, keel_status_t status)
{
    sim_process_t *owner = op->link->owner;

    if (op->is_silent || (op->cb == NULL)) {
        sim_op_free(op);
        return;
    }
    op->status = status;
    if (owner->done_tail != NULL) {
        owner->done_tail->next = op;
    } else {
        owner->done_head = op;
    }
    op->prev = owner->done_tail;
    owner->done_tail = op;
    sim_wake(owner);
}

static sim_op_t *sim_done_take(sim_process_t *process, sim_op_t *op)
{
    if (op->prev != NULL) {
        op->prev->next = op->next;
    } else {
        process->done_head = op->next;
    }
    if (op->next != NULL) {
        op->next->prev = op->prev;
    } else {
        process->done_tail = op->prev;
    }
    return op;
}

static void sim_op_call(sim_op_t *op)
{
    op->cb(op->cb_arg, op->status);
    sim_op_free(op);
}

unsigned sim_ops_complete(sim_process_t *process, unsigned budget)
{
    unsigned count;

    for (count = 0; (count < budget) && (process->done_head != NULL); ++count) {
        sim_op_call(sim_done_take(process, process->done_head));
    }
    return count;
}

/* ---- taking effect ---- */

static void sim_op_check(const sim_op_t *op)
{
    const sim_process_t *owner = op->link->owner;

    if (!op->is_copied && (sim_sum(op->buffer, op->length) != op->sum)) {
        keel_sim_flaw(owner->sim, "rank %u.%u changed the buffer of a put to %u before it was complete", owner->rank,
                      owner->incarnation, op->link->peer);
    }
}

static void sim_op_capture(sim_op_t *op)
{
    void *copy;

    if ((op->kind == SIM_PUT) && !op->is_copied) {
        sim_op_check(op);
        copy = sim_new(op->length);
        memcpy(copy, op->buffer, op->length);
        op->buffer = copy;
        op->is_copied = 1;
    }
}

static uint64_t sim_atomic_result(const sim_op_t *op, uint64_t old)
{
    switch (op->atomic) {
    case KEEL_ATOMIC_ADD:
        return old + op->operand;
    case KEEL_ATOMIC_AND:
        return old & op->operand;
    case KEEL_ATOMIC_OR:
        return old | op->operand;
    case KEEL_ATOMIC_XOR:
        return old ^ op->operand;
    case KEEL_ATOMIC_SWAP:
        return op->operand;
    default:
        return (old == op->compare) ? op->operand : old;
    }
}

static void sim_atomic_apply(sim_op_t *op)
{
    char *at = op->mem->net + op->offset;
    uint64_t old = 0, new;

    memcpy(&old, at, op->length);
    if (op->length == 4) {
        op->compare = (uint32_t)op->compare;
    }
    new = sim_atomic_result(op, old);
    memcpy(at, &new, op->length);
    if (op->result != NULL) {
        memcpy(op->result, &old, op->length);
    }
}

static void sim_piece_apply(sim_op_t *op, unsigned piece)
{
    const size_t begin = (piece == 1) ? 0 : op->split;
    const size_t end = (piece == 1) ? op->split : op->length;

    if (op->kind == SIM_PUT) {
        memcpy(op->mem->net + op->offset + begin, (const char *)op->buffer + begin, end - begin);
    } else if (op->result != NULL) {
        memcpy((char *)op->result + begin, op->mem->net + op->offset + begin, end - begin);
    }
    op->pieces_left &= ~piece;
}

/* one piece, or all; true when nothing of the operation is left */
static int sim_op_apply(keel_sim_t *sim, sim_op_t *op, int all)
{
    if (op->kind == SIM_FLUSH) {
        return 1;
    }
    if (op->mem->is_freed) {
        if (!op->is_silent && op->mem->owner->is_open) {
            keel_sim_flaw(sim, "rank %u.%u accesses freed memory of %u", op->link->owner->rank,
                          op->link->owner->incarnation, op->link->peer);
        }
        return 1;
    }
    if (op->kind == SIM_ATOMIC) {
        sim_atomic_apply(op);
        return 1;
    }
    if (op->kind == SIM_PUT) {
        sim_op_check(op);
    }
    if (!all && (op->pieces_left == 3)) {
        sim_piece_apply(op, 1 + sim_below(sim, 2));
        return 0;
    }
    if (op->pieces_left & 1) {
        sim_piece_apply(op, 1);
    }
    if (op->pieces_left & 2) {
        sim_piece_apply(op, 2);
    }
    return 1;
}

static int sim_is_ordered(const sim_op_t *op)
{
    return (op->kind == SIM_PUT) || (op->kind == SIM_ATOMIC);
}

/* the oldest pending put or atomic decides which others may pass it */
static uint64_t sim_oldest_epoch(const sim_op_t *op)
{
    for (; op != NULL; op = op->next) {
        if (sim_is_ordered(op)) {
            return op->fence_epoch;
        }
    }
    return UINT64_MAX;
}

static int sim_may_apply(const sim_link_t *link, const sim_op_t *op, uint64_t oldest)
{
    if (op->kind == SIM_FLUSH) {
        return op == link->ops_head;
    }
    return !sim_is_ordered(op) || (op->fence_epoch == oldest);
}

static sim_op_t *sim_op_pick(keel_sim_t *sim, const sim_link_t *link)
{
    const uint64_t oldest = sim_oldest_epoch(link->ops_head);
    const unsigned depth = (link->ops_count < SIM_PICK_DEPTH) ? link->ops_count : SIM_PICK_DEPTH;
    sim_op_t *op = link->ops_head;
    unsigned skip;

    for (skip = sim_below(sim, depth); skip > 0; --skip) {
        op = op->next;
    }
    return sim_may_apply(link, op, oldest) ? op : link->ops_head;
}

/* the caller hears that the buffer is free before the data arrives */
static void sim_put_early(sim_op_t *op)
{
    sim_op_t *note = sim_new(sizeof(*note));

    sim_op_capture(op);
    note->kind = SIM_PUT;
    note->link = op->link;
    note->cb = op->cb;
    note->cb_arg = op->cb_arg;
    op->is_silent = 1;
    sim_op_done(note, KEEL_OK);
}

void sim_op_step(keel_sim_t *sim, sim_link_t *link)
{
    sim_op_t *op = sim_op_pick(sim, link);

    if ((op->kind == SIM_PUT) && !op->is_silent && (op->cb != NULL) && sim_chance(sim, 256)) {
        sim_put_early(op);
        return;
    }
    if (sim_op_apply(sim, op, 0)) {
        sim_op_unlink(link, op);
        sim_op_done(op, KEEL_OK);
    }
}

/* ---- ends ---- */

void sim_ops_free(sim_link_t *link)
{
    sim_op_t *op;

    while ((op = link->ops_head) != NULL) {
        sim_op_unlink(link, op);
        sim_op_free(op);
    }
}

void sim_ops_fail(sim_link_t *link)
{
    sim_process_t *process = link->owner;
    sim_op_t *op, *next;

    while ((op = link->ops_head) != NULL) {
        sim_op_unlink(link, op);
        sim_op_done(op, KEEL_ERR_UNREACHABLE);
    }
    for (op = process->done_head; op != NULL; op = next) {
        next = op->next;
        if (op->link == link) {
            sim_op_call(sim_done_take(process, op));
            next = process->done_head; /* a callback may have changed the list */
        }
    }
}

/* its issuer died: order among what the fences ordered is kept, whatever is lost */
void sim_ops_of_dead(sim_link_t *link)
{
    keel_sim_t *sim = link->owner->sim;
    uint64_t lost_epoch = UINT64_MAX; /* what was fenced behind a lost one is lost too */
    sim_op_t *op, *next;
    uint32_t draw;

    for (op = link->ops_head; op != NULL; op = next) {
        next = op->next;
        draw = sim_below(sim, 3);
        op->result = NULL;
        op->is_silent = 1;
        if ((draw == 0) && sim_is_ordered(op) && (op->fence_epoch <= lost_epoch) &&
            sim_may_apply(link, op, sim_oldest_epoch(link->ops_head)) && (link->target->state != SIM_DEAD)) {
            sim_op_apply(sim, op, 1);
        } else if ((draw == 1) || !sim_is_ordered(op) || (op->fence_epoch > lost_epoch)) {
            if (sim_is_ordered(op) && (lost_epoch == UINT64_MAX)) {
                lost_epoch = op->fence_epoch;
            }
        } else {
            sim_op_capture(op);
            continue; /* late */
        }
        sim_op_unlink(link, op);
        sim_op_free(op);
    }
}

void sim_ops_land(sim_link_t *link)
{
    sim_op_t *op;

    while ((op = link->ops_head) != NULL) {
        if (link->target->state != SIM_DEAD) {
            sim_op_apply(link->owner->sim, op, 1);
        }
        sim_op_unlink(link, op);
        sim_op_free(op);
    }
}

void sim_ops_to_dead(sim_link_t *link)
{
    keel_sim_t *sim = link->owner->sim;
    sim_op_t *op, *next;

    for (op = link->ops_head; op != NULL; op = next) {
        next = op->next;
        if ((sim_below(sim, 3) == 0) && sim_may_apply(link, op, sim_oldest_epoch(link->ops_head))) {
            sim_op_apply(sim, op, 1);
            sim_op_unlink(link, op);
            sim_op_done(op, KEEL_OK);
        }
    }
    sim_oplink_update(link);
}

/* ---- issue ---- */

static keel_status_t sim_op_make(keel_transport_t *transport, keel_transport_key_t *key, sim_op_kind_t kind,
                                 uint64_t offset, size_t length, sim_op_t **op_p)
{
    sim_process_t *process = sim_self(transport);
    keel_sim_t *sim = process->sim;
    sim_link_t *link = &process->links[key->peer];
    sim_op_t *op;

    if (!key->is_open || (link->target != key->mem->owner) || (sim->options.direct != KEEL_SIM_RMA)) {
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

keel_status_t sim_put(keel_transport_t *transport, keel_transport_key_t *key, uint64_t offset, const void *buffer,
                      size_t length, keel_transport_done_cb_t cb, void *arg)
{
    keel_sim_t *sim = sim_self(transport)->sim;
    keel_status_t status;
    sim_op_t *op;

    sim_point(sim, "put");
    status = sim_op_make(transport, key, SIM_PUT, offset, length, &op);
    if (status != KEEL_OK) {
        return status;
    }
    op->buffer = buffer;
    op->sum = sim_sum(buffer, length);
    op->cb = cb;
    op->cb_arg = arg;
    op->is_silent = (int)sim_below(sim, 2);
    if (op->is_silent) {
        sim_op_capture(op);
    }
    status = op->is_silent ? KEEL_OK : KEEL_INPROGRESS;
    sim_op_append(op->link, op);
    sim_point(sim, "put");
    return status;
}

keel_status_t sim_get(keel_transport_t *transport, keel_transport_key_t *key, uint64_t offset, void *buffer,
                      size_t length, keel_transport_done_cb_t cb, void *arg)
{
    keel_sim_t *sim = sim_self(transport)->sim;
    keel_status_t status;
    sim_op_t *op;

    sim_point(sim, "get");
    status = sim_op_make(transport, key, SIM_GET, offset, length, &op);
    if (status != KEEL_OK) {
        return status;
    }
    op->result = buffer;
    op->cb = cb;
    op->cb_arg = arg;
    if ((op->link->target->state != SIM_DEAD) && sim_chance(sim, 128)) {
        sim_op_apply(sim, op, 1);
        sim_op_free(op);
        return KEEL_OK;
    }
    sim_op_append(op->link, op);
    sim_point(sim, "get");
    return KEEL_INPROGRESS;
}

keel_status_t sim_atomic(keel_transport_t *transport, keel_transport_key_t *key, keel_atomic_op_t op_code,
                         uint64_t offset, size_t size, uint64_t operand, uint64_t compare, void *result,
                         keel_transport_done_cb_t cb, void *arg)
{
    keel_sim_t *sim = sim_self(transport)->sim;
    keel_status_t status;
    sim_op_t *op;

    sim_point(sim, "atomic");
    if (((size != 4) && (size != 8)) || (offset % size != 0)) {
        return KEEL_ERR_ALIGNMENT;
    }
    status = sim_op_make(transport, key, SIM_ATOMIC, offset, size, &op);
    if (status != KEEL_OK) {
        return status;
    }
    op->atomic = op_code;
    op->operand = operand;
    op->compare = compare;
    op->result = result;
    op->cb = cb;
    op->cb_arg = arg;
    sim_op_append(op->link, op);
    sim_point(sim, "atomic");
    return KEEL_INPROGRESS;
}

void sim_fence(keel_transport_t *transport)
{
    sim_process_t *process = sim_self(transport);

    ++process->fence_epoch;
    sim_point(process->sim, "fence");
}

keel_status_t sim_flush(keel_transport_t *transport, uint32_t peer, keel_transport_done_cb_t cb, void *arg)
{
    sim_process_t *process = sim_self(transport);
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

void sim_onesided_abandon(sim_process_t *process)
{
    keel_transport_key_t *key;
    sim_op_t *op;

    while ((op = process->done_head) != NULL) {
        sim_op_free(sim_done_take(process, op));
    }
    while ((key = process->keys) != NULL) {
        process->keys = key->next;
        free(key);
    }
}

void sim_onesided_destroy(sim_process_t *process)
{
    keel_transport_mem_t *mem;

    sim_onesided_abandon(process);
    while ((mem = process->mems) != NULL) {
        process->mems = mem->next;
        free(mem);
    }
}
