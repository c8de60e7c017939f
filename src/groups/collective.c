/*
 * Groups of ranks: a barrier and trees made of puts with signals and keel_wait_until(), so the logs
 * contain every step.
 *
 * The calls advance in turns. The turn's number lies in the window, like the flags that are put
 * with it, so an image contains both. In a turn, at most one other member writes each slot and each
 * flag of a member, and the turn ends with a barrier: no member writes for the next turn before all
 * have read the data of this turn. Flags hold turn numbers and only grow: a late member finds a
 * flag at least as large as the awaited turn.
 */
#include "groups/collective.h"
#include "engine/threads.h"
#include "engine/refuse.h"
#include "access/target.h"
#include "window/window.h"

#include "base/memory.h"
#include "check/plant.h"
#include "peer/combine.h"
#include "recovery/shrink.h"

#include <string.h>

enum { GROUP_ALIGN = 64 };

static size_t group_round(size_t bytes)
{
    return (bytes + GROUP_ALIGN - 1) & ~(size_t)(GROUP_ALIGN - 1);
}

static size_t group_head(unsigned count)
{
    return group_round(sizeof(keel_group_memory_t) + count * sizeof(uint64_t));
}

size_t keel_group_bytes(unsigned count, size_t piece)
{
    return group_head(count) + count * group_round(piece);
}

/* ---- making ---- */

static keel_status_t group_check(keel_win_h win, uint64_t offset, size_t piece, const uint32_t *ranks, unsigned count)
{
    unsigned own = 0;

    if (offset % GROUP_ALIGN != 0 || piece % GROUP_ALIGN != 0) {
        keel_error_ctx(win->ctx, "offset %lu of a group, or its piece of %zu bytes, is no multiple of %d",
                       (unsigned long)offset, piece, GROUP_ALIGN);
        return KEEL_ERR_ALIGNMENT;
    }
    if (piece == 0 || piece > KEEL_OFFSET_MAX || count == 0 || count > win->ctx->lane.programs) {
        keel_error_ctx(win->ctx, "a group of %u ranks with pieces of %zu bytes", count, piece);
        return KEEL_ERR_INVALID_PARAM;
    }
    for (unsigned i = 0; i < count; i++) {
        if (ranks[i] >= win->ctx->lane.programs) {
            keel_error_ctx(win->ctx, "there is no rank %u in a job of %u", ranks[i], win->ctx->lane.programs);
            return KEEL_ERR_RANK;
        }
        if (keel_shrink_has_left(&win->ctx->rec, ranks[i])) {
            return keel_refuse_gone(win->ctx, ranks[i]);
        }
        own += ranks[i] == win->ctx->lane.rank;
        for (unsigned k = 0; k < i; k++) {
            own += (ranks[k] == ranks[i]) ? 2 : 0;
        }
    }
    if (own != 1) {
        keel_error_ctx(win->ctx, "a group has this rank not once, or another one twice");
        return KEEL_ERR_INVALID_PARAM;
    }
    /* the windows of other members are checked when they are put to */
    if (offset > win->size || keel_group_bytes(count, piece) > win->size - offset) {
        keel_error_ctx(win->ctx, "a group of %zu bytes at offset %lu leaves the window of %zu bytes",
                       keel_group_bytes(count, piece), (unsigned long)offset, win->size);
        return KEEL_ERR_RANGE;
    }
    return KEEL_OK;
}

keel_status_t keel_group_create(keel_win_h win, uint64_t offset, size_t piece, const uint32_t *ranks, unsigned count,
                                keel_group_h *group_p)
{
    KEEL_INSIDE_WIN(win);
    keel_status_t status;
    keel_group_h group;

    if (win == NULL || ranks == NULL || group_p == NULL) {
        return keel_refuse_null(win == NULL ? "the window" : "keel_group_create: ranks, or where the group is to go");
    }
    if (win->freed_call > 0) {
        return keel_win_refuse_freed(win);
    }
    status = group_check(win, offset, piece, ranks, count);
    if (status != KEEL_OK) {
        return status;
    }
    group = keel_alloc(sizeof(*group) + count * sizeof(*ranks), "group");
    if (group == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    group->sum = keel_alloc(piece, "piece of a group");
    if (group->sum == NULL) {
        keel_free(group);
        return KEEL_ERR_NO_MEMORY;
    }
    group->win = win;
    group->ctx = win->ctx;
    ucs_list_add_tail(&win->ctx->groups, &group->list);
    group->offset = offset;
    group->piece = piece;
    group->count = count;
    memcpy(group->ranks, ranks, count * sizeof(*ranks));
    for (unsigned i = 0; i < count; i++) {
        group->index = (ranks[i] == win->ctx->lane.rank) ? i : group->index;
    }
    *group_p = group;
    return KEEL_OK;
}

static void group_release(keel_group_h group)
{
    ucs_list_del(&group->list);
    keel_free(group->sum);
    keel_free(group->held);
    keel_free(group);
}

void keel_group_free(keel_group_h group)
{
    KEEL_INSIDE((group != NULL) ? group->ctx : NULL);

    if (group != NULL) {
        group_release(group);
    }
}

void keel_collectives_release(keel_context_h ctx)
{
    while (!ucs_list_is_empty(&ctx->groups)) {
        group_release(ucs_list_head(&ctx->groups, struct keel_group, list));
    }
}

/* ---- a turn ---- */

keel_group_memory_t *keel_group_memory_of(keel_group_h group)
{
    return (keel_group_memory_t *)(void *)((char *)keel_win_base(group->win) + group->offset);
}

static uint64_t group_pieces_offset(keel_group_h group)
{
    return group->offset + group_head(group->count);
}

char *keel_group_pieces(keel_group_h group)
{
    return (char *)keel_win_base(group->win) + group_pieces_offset(group);
}

keel_status_t keel_group_begin(keel_group_h group, unsigned root, const void *first, const void *second)
{
    if (group == NULL || first == NULL || second == NULL) {
        return keel_refuse_null(group == NULL ? "the group" : "the buffer of a group's call");
    }
    if (root >= group->count) {
        keel_error_ctx(group->ctx, "there is no member %u in a group of %u", root, group->count);
        return KEEL_ERR_INVALID_PARAM;
    }
    return keel_win_end(group->win, keel_win_check(group->win, group->ctx->lane.rank, group->offset,
                                                   sizeof(keel_group_memory_t), group, NULL));
}

keel_status_t keel_group_send(keel_group_h group, unsigned to, uint64_t at, const void *data, size_t bytes,
                              uint64_t flag)
{
    const keel_signal_t signal = {.offset = group->offset + flag, .value = keel_group_memory_of(group)->turn};

    return keel_put_signal(group->win, group->ranks[to], group_pieces_offset(group) + at, data, bytes, &signal);
}

keel_status_t keel_group_await(keel_group_h group, uint64_t flag)
{
    return keel_wait_until(group->win, group->offset + flag, sizeof(uint64_t), KEEL_COMPARE_GE,
                           keel_group_memory_of(group)->turn);
}

static uint64_t flag_met(unsigned round)
{
    return offsetof(keel_group_memory_t, met) + round * sizeof(uint64_t);
}

uint64_t keel_group_flag_tree(unsigned round)
{
    return offsetof(keel_group_memory_t, tree) + round * sizeof(uint64_t);
}

/*
 * Dissemination barrier: in round k each member signals the member 2^k further on and waits for the
 * member 2^k before.
 */
keel_status_t keel_group_meet(keel_group_h group)
{
    keel_status_t status = KEEL_OK;
    unsigned round = 0;

    for (uint64_t far = 1; far < group->count && status == KEEL_OK; far *= 2, round++) {
        status = keel_group_send(group, (unsigned)((group->index + far) % group->count), 0, NULL, 0, flag_met(round));
        if (status == KEEL_OK && !(KEEL_PLANT(collective_early) && far * 2 >= group->count)) {
            status = keel_group_await(group, flag_met(round));
        }
    }
    return status;
}

/* ---- trees: binomial, with the root as number 0 ---- */

unsigned keel_group_number(keel_group_h group, unsigned root)
{
    return (group->index + group->count - root) % group->count;
}

unsigned keel_group_member(keel_group_h group, unsigned root, uint64_t number)
{
    return (unsigned)((number + root) % group->count);
}

/*
 * Passes @a data, at most one piece, down the tree: from the root, or into the buffer of any other
 * member.
 */
static keel_status_t tree_down(keel_group_h group, unsigned root, void *data, size_t bytes)
{
    const unsigned number = keel_group_number(group, root);
    keel_status_t status = KEEL_OK;
    uint64_t bit = 1;

    while (bit < group->count && (number & bit) == 0) {
        bit *= 2;
    }
    if (number != 0) {
        status = keel_group_await(group, keel_group_flag_tree(0));
        if (status == KEEL_OK) {
            memcpy(data, keel_group_pieces(group), bytes);
        }
    }
    while ((bit /= 2) > 0 && status == KEEL_OK) {
        if (number + bit < group->count) {
            status = keel_group_send(group, keel_group_member(group, root, number + bit), 0, data, bytes,
                                     keel_group_flag_tree(0));
        }
    }
    return status;
}

/*
 * Combines the subtree's contributions into sum, in the order of rounds, and sends the result to
 * the parent.
 */
static keel_status_t tree_up(keel_group_h group, unsigned root, const keel_record_accumulate_t *head)
{
    const unsigned number = keel_group_number(group, root);
    keel_status_t status = KEEL_OK;
    unsigned round = 0;

    for (uint64_t bit = 1; bit < group->count && status == KEEL_OK; bit *= 2, round++) {
        if ((number & bit) != 0) {
            return keel_group_send(group, keel_group_member(group, root, number - bit), round * group->piece,
                                   group->sum, keel_combine_bytes(head), keel_group_flag_tree(round));
        }
        if (number + bit < group->count) {
            status = keel_group_await(group, keel_group_flag_tree(round));
            if (status == KEEL_OK) {
                keel_combine(head, group->sum, keel_group_pieces(group) + round * group->piece, NULL);
            }
        }
    }
    return status;
}

/* ---- calls ---- */

keel_status_t keel_group_barrier(keel_group_h group)
{
    KEEL_INSIDE((group != NULL) ? group->ctx : NULL);
    keel_status_t status = keel_group_begin(group, 0, group, group);

    if (status == KEEL_OK) {
        status = keel_flush_all(group->ctx);
    }
    if (status != KEEL_OK) {
        return status;
    }
    keel_group_memory_of(group)->turn++;
    return keel_group_meet(group);
}

keel_status_t keel_group_broadcast(keel_group_h group, unsigned root, void *buffer, size_t bytes)
{
    KEEL_INSIDE((group != NULL) ? group->ctx : NULL);
    keel_status_t status = keel_group_begin(group, root, group, (bytes > 0) ? buffer : group);
    char *data = buffer;

    while (status == KEEL_OK && bytes > 0) {
        const size_t part = (bytes < group->piece) ? bytes : group->piece;

        keel_group_memory_of(group)->turn++;
        status = tree_down(group, root, data, part);
        status = (status == KEEL_OK) ? keel_group_meet(group) : status;
        data += part;
        bytes -= part;
    }
    return status;
}

static keel_status_t group_check_op(keel_group_h group, keel_op_t op, keel_type_t type)
{
    if ((unsigned)op < KEEL_OP_LAST && op != KEEL_OP_REPLACE && op != KEEL_OP_NO_OP &&
        keel_combine_is_known((unsigned)op, (unsigned)type)) {
        return KEEL_OK;
    }
    keel_error_ctx(group->ctx, "there is no reduction %u of type %u", (unsigned)op, (unsigned)type);
    return KEEL_ERR_UNSUPPORTED;
}

/* @a is_all: every member gets the result */
static keel_status_t group_reduce(keel_group_h group, unsigned root, const keel_record_accumulate_t *what,
                                  const void *in, void *out, size_t count, int is_all)
{
    const size_t size = keel_type_size((keel_type_t)what->type);
    const char *from = in;
    char *to = out;
    keel_status_t status = KEEL_OK;

    while (status == KEEL_OK && count > 0) {
        keel_record_accumulate_t head = *what;
        size_t part = group->piece / size;

        part = (count < part) ? count : part;
        head.count = (uint32_t)part;
        keel_combine_copy(&head, group->sum, from);
        keel_group_memory_of(group)->turn++;
        status = tree_up(group, root, &head);
        if (status == KEEL_OK && is_all) {
            /* all have read the combined pieces before results come down */
            keel_group_memory_of(group)->turn++;
            status = tree_down(group, root, group->sum, part * size);
        }
        status = (status == KEEL_OK) ? keel_group_meet(group) : status;
        if (status == KEEL_OK && (is_all || group->index == root)) {
            memcpy(to, group->sum, part * size);
            to += part * size;
        }
        from += part * size;
        count -= part;
    }
    return status;
}

keel_status_t keel_group_reduce(keel_group_h group, unsigned root, keel_op_t op, keel_type_t type, const void *in,
                                void *out, size_t count)
{
    KEEL_INSIDE((group != NULL) ? group->ctx : NULL);
    const keel_record_accumulate_t what = {.op = (uint8_t)op, .type = (uint8_t)type};
    const int has_out = group != NULL && (group->index != root || count == 0);
    keel_status_t status = keel_group_begin(group, root, (count > 0) ? in : group, has_out ? group : out);

    status = (status == KEEL_OK) ? group_check_op(group, op, type) : status;
    return (status == KEEL_OK) ? group_reduce(group, root, &what, in, out, count, 0) : status;
}

keel_status_t keel_group_allreduce(keel_group_h group, keel_op_t op, keel_type_t type, const void *in, void *out,
                                   size_t count)
{
    KEEL_INSIDE((group != NULL) ? group->ctx : NULL);
    const keel_record_accumulate_t what = {.op = (uint8_t)op, .type = (uint8_t)type};
    keel_status_t status = keel_group_begin(group, 0, (count > 0) ? in : group, (count > 0) ? out : group);

    status = (status == KEEL_OK) ? group_check_op(group, op, type) : status;
    return (status == KEEL_OK) ? group_reduce(group, 0, &what, in, out, count, 1) : status;
}
