/*
 * Operations of the direct lane in flight (lanes by pointers use memory only). Each operation waits
 * on its link until the scheduler lets it take effect, in any order that fences allow; longer puts
 * may take effect in two halves. progress() reports completions. Towards a dead process nothing
 * completes before disconnect().
 */
#include "sim/world.h"

#include <stdlib.h>
#include <string.h>

#define SIM_PICK_DEPTH 32

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

void sim_op_append(sim_link_t *link, sim_op_t *op)
{
    op->prev = link->ops_tail;
    if (link->ops_tail != NULL) {
        link->ops_tail->next = op;
    } else {
        link->ops_head = op;
    }
    link->ops_tail = op;
    op->number = ++link->ops_issued;
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

void sim_op_free(sim_op_t *op)
{
    if (op->is_copied) {
        free((void *)op->buffer);
    }
    free(op);
}

void sim_op_done(sim_op_t *op, keel_status_t status)
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

void sim_op_capture(sim_op_t *op)
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

/* the bytes of a get may be the source of a put behind a fence */
static void sim_op_arrives(sim_op_t *op, unsigned piece)
{
    const size_t begin = (piece == 1) ? 0 : op->split;
    const size_t end = (piece == 1) ? op->split : op->length;
    sim_op_t *put;

    for (put = op->next; put != NULL; put = put->next) {
        if ((put->kind == SIM_PUT) && !put->is_copied && (put->fence_epoch > op->fence_epoch)) {
            sim_op_check(put);
        }
    }
    memcpy((char *)op->result + begin, op->mem->net + op->offset + begin, end - begin);
    for (put = op->next; put != NULL; put = put->next) {
        if ((put->kind == SIM_PUT) && !put->is_copied && (put->fence_epoch > op->fence_epoch)) {
            put->sum = sim_sum(put->buffer, put->length);
        }
    }
}

static void sim_atomic_apply(const sim_op_t *op)
{
    uint64_t *word = (uint64_t *)(void *)(op->mem->net + op->offset);
    const uint64_t old = *word;

    if (op->atomic.op == KEEL_TRANSPORT_ADD) {
        *word = old + op->atomic.operand;
    } else if (old == op->atomic.compare) {
        *word = op->atomic.operand;
    }
    if (op->result != NULL) {
        *(uint64_t *)op->result = old;
    }
}

static void sim_piece_apply(sim_op_t *op, unsigned piece)
{
    const size_t begin = (piece == 1) ? 0 : op->split;
    const size_t end = (piece == 1) ? op->split : op->length;

    if (op->kind == SIM_ATOMIC) {
        sim_atomic_apply(op);
    } else if (op->kind == SIM_PUT) {
        memcpy(op->mem->net + op->offset + begin, (const char *)op->buffer + begin, end - begin);
    } else if (op->result != NULL) {
        sim_op_arrives(op, piece);
    }
    op->pieces_left &= ~piece;
}

/* The owner of the memory has disconnected the issuer: the device rejects its remaining
 * operations. */
static int sim_is_disconnected(const sim_op_t *op)
{
    const sim_process_t *issuer = op->link->owner;

    return op->mem->owner->links[issuer->rank].target != issuer;
}

/* applies one piece, or all; returns 1 when nothing of the operation is left */
int sim_op_apply(keel_sim_t *sim, sim_op_t *op, int all)
{
    if (op->kind == SIM_FLUSH) {
        return 1;
    }
    if (op->mem->is_freed) {
        op->is_refused = 1;
        if (!op->is_silent && op->mem->owner->is_open && !sim_is_disconnected(op)) {
            keel_sim_flaw(sim, "rank %u.%u accesses freed memory of %u", op->link->owner->rank,
                          op->link->owner->incarnation, op->link->peer);
        }
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

keel_status_t sim_op_outcome(const sim_op_t *op)
{
    return op->is_refused ? KEEL_ERR_UNREACHABLE : KEEL_OK;
}

static int sim_is_ordered(const sim_op_t *op)
{
    return op->kind != SIM_FLUSH;
}

/* the oldest pending operation determines the operations that may pass it */
static uint64_t sim_oldest_epoch(const sim_op_t *op)
{
    for (; op != NULL; op = op->next) {
        if (sim_is_ordered(op)) {
            return op->fence_epoch;
        }
    }
    return UINT64_MAX;
}

/* on a link with puts, gets take effect in the order of issue */
static int sim_is_first_get(const sim_link_t *link, const sim_op_t *op)
{
    const sim_op_t *first = link->ops_head;

    while (first->kind != SIM_GET) {
        first = first->next;
    }
    return first == op;
}

static int sim_may_apply(const sim_link_t *link, const sim_op_t *op, uint64_t oldest)
{
    if (op->kind == SIM_FLUSH) {
        return op == link->ops_head;
    }
    return (op->fence_epoch == oldest) &&
           ((op->kind != SIM_GET) || !(link->lanes & KEEL_LANE_RMA) || sim_is_first_get(link, op));
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

void sim_op_step(keel_sim_t *sim, sim_link_t *link)
{
    sim_op_t *op = sim_op_pick(sim, link);

    if (sim_op_apply(sim, op, 0)) {
        sim_op_unlink(link, op);
        sim_op_done(op, sim_op_outcome(op));
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

/* The issuer died. The order established by fences is kept, whatever is lost. */
void sim_ops_of_dead(sim_link_t *link)
{
    keel_sim_t *sim = link->owner->sim;
    uint64_t lost_epoch = UINT64_MAX; /* operations fenced behind a lost one are lost, too */
    sim_op_t *op, *next;
    uint32_t draw;

    for (op = link->ops_head; op != NULL; op = next) {
        next = op->next;
        draw = sim_below(sim, 3);
        op->is_silent = 1;
        op->result = (op->kind == SIM_ATOMIC) ? NULL : op->result;
        if ((draw == 0) && sim_is_ordered(op) && (op->fence_epoch <= lost_epoch) &&
            sim_may_apply(link, op, sim_oldest_epoch(link->ops_head)) && (link->target->state != SIM_DEAD)) {
            sim_op_apply(sim, op, 1);
        } else if ((draw == 1) || ((op->kind != SIM_PUT) && (op->kind != SIM_ATOMIC)) ||
                   (op->fence_epoch > lost_epoch)) {
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

void sim_ops_before(sim_link_t *link, uint64_t number)
{
    sim_op_t *op;

    while ((op = link->ops_head) != NULL && op->number <= number) {
        if (link->target != NULL && link->target->state != SIM_DEAD) {
            sim_op_apply(link->owner->sim, op, 1);
        }
        sim_op_unlink(link, op);
        sim_op_done(op, sim_op_outcome(op));
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
            sim_op_done(op, sim_op_outcome(op));
        }
    }
    sim_oplink_update(link);
}

/* ---- issue ---- */

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
