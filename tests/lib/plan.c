/* Draws programs. */
#include "plan.h"

#include "sim/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *plan_alloc(size_t count, size_t bytes)
{
    void *memory = calloc(count, bytes);

    if (memory == NULL) {
        fprintf(stderr, "plan: out of memory\n");
        exit(EXIT_FAILURE);
    }
    return memory;
}

plan_role_t *plan_role(const plan_t *plan, uint32_t phase, unsigned window, uint32_t rank, unsigned slot)
{
    return &plan->role[(((size_t)phase * PLAN_WINDOWS_MAX + window) * plan->options.ranks + rank) * PLAN_SLOTS_MAX +
                       slot];
}

const plan_step_t *plan_step(const plan_t *plan, uint32_t phase, uint32_t rank)
{
    return &plan->step[(size_t)phase * plan->options.ranks + rank];
}

size_t plan_window_bytes(const plan_t *plan, unsigned window, uint32_t rank)
{
    const plan_window_t *w = &plan->window[window];
    const unsigned count = w->slots_of[rank];

    return (count == 0) ? 0 : w->slot[count - 1].offset + ((w->slot[count - 1].length + 7) & ~7u);
}

int plan_window_call(const plan_t *plan, unsigned number, plan_call_t *call)
{
    uint32_t phase;
    unsigned w, is_free;

    for (phase = 0; phase < plan->options.phases; ++phase) {
        for (is_free = 0; is_free < 2; ++is_free) {
            for (w = 0; w < plan->window_count; ++w) {
                if ((is_free ? plan->window[w].dies : plan->window[w].born) != phase) {
                    continue;
                }
                if (number == 0) {
                    *call = (plan_call_t){.phase = phase, .window = (uint8_t)w, .is_free = (uint8_t)is_free};
                    return 1;
                }
                --number;
            }
        }
    }
    return 0;
}

int plan_is_remote(const plan_role_t *role)
{
    return (role->kind == PLAN_OWNED) || (role->kind == PLAN_ATOMIC);
}

/* The largest sum over a rank, as the source of accesses or as the target of reads. */
static size_t plan_most_bytes(const plan_t *plan, int by_target)
{
    size_t sum[256] = {0}, most = 0;
    const plan_epoch_t *epoch;
    unsigned e, i;
    uint32_t at, rank;

    for (at = 0; at < plan->options.phases * plan->options.ranks; ++at) {
        for (e = 0; e < plan->step[at].epoch_count; ++e) {
            epoch = &plan->step[at].epoch[e];
            for (i = 0; i < epoch->op_count; ++i) {
                rank = by_target ? epoch->op[i].target : at % plan->options.ranks;
                sum[rank] += (by_target && (epoch->op[i].kind == PLAN_PUT)) ? 0 : epoch->op[i].length + 64;
                most = (sum[rank] > most) ? sum[rank] : most;
            }
        }
    }
    return most;
}

size_t plan_source_bytes(const plan_t *plan)
{
    return plan_most_bytes(plan, 0);
}

size_t plan_target_bytes(const plan_t *plan)
{
    return plan_most_bytes(plan, 1);
}

/* ---- memory ---- */

static uint32_t plan_draw_length(keel_random_t *random, unsigned large)
{
    static const uint32_t small[] = {8, 8, 8, 8, 12, 16, 40, 64, 100, 256};
    static const uint32_t big[] = {512, 1000, 2048, 3000, 5000, PLAN_SLOT_BYTES};

    return keel_random_chance(random, large) ? big[keel_random_below(random, 6)] : small[keel_random_below(random, 10)];
}

static void plan_draw_window(plan_t *plan, keel_random_t *random, plan_window_t *window)
{
    uint32_t offset = 0, r;
    unsigned i;

    window->slot_count = 1 + keel_random_below(random, plan->options.slots);
    for (i = 0; i < window->slot_count; ++i) {
        window->slot[i].offset = offset;
        window->slot[i].length = plan_draw_length(random, plan->options.large);
        offset += (window->slot[i].length + 7) & ~7u;
        offset += (plan->options.gap > 0) ? keel_random_below(random, plan->options.gap) & ~7u : 0;
    }
    for (r = 0; r < plan->options.ranks; ++r) {
        window->slots_of[r] = (uint8_t)window->slot_count;
        if (keel_random_chance(random, 128)) {
            window->slots_of[r] = (uint8_t)keel_random_below(random, window->slot_count + 1);
        }
    }
}

/* Replaces some atomics by other operations. The choice depends on earlier draws only, so the rest
 * of the program stays the same. */
static uint8_t plan_vary_atomic(const plan_t *plan, uint64_t place, uint8_t atomic)
{
    static const uint8_t bounds[] = {KEEL_ATOMIC_MIN, KEEL_ATOMIC_MAX, KEEL_ATOMIC_MIN_SIGNED, KEEL_ATOMIC_MAX_SIGNED};
    const uint64_t draw = keel_random_mix(plan->options.seed ^ (place << 20) ^ 0x61746f6d);

    if (plan->options.tame_atomics || draw % 4 != 0) {
        return atomic;
    }
    return (atomic == KEEL_ATOMIC_SWAP || atomic == KEEL_ATOMIC_CSWAP) ? KEEL_ATOMIC_SET : bounds[(draw >> 8) % 4];
}

static void plan_draw_role(plan_t *plan, keel_random_t *random, uint32_t phase, plan_role_t *role)
{
    static const uint8_t commutative[] = {KEEL_ATOMIC_ADD, KEEL_ATOMIC_XOR, KEEL_ATOMIC_ADD, KEEL_ATOMIC_OR,
                                          KEEL_ATOMIC_AND};
    const uint32_t draw = keel_random_below(random, 100);

    memset(role, 0, sizeof(*role));
    if (phase == 0) { /* at the start every rank fills its own memory */
        role->kind = PLAN_LOCAL;
        role->is_written = 1;
    } else if (keel_random_chance(random, plan->options.atomics)) {
        role->kind = PLAN_ATOMIC;
        role->atomic = plan->options.tame_atomics ? KEEL_ATOMIC_ADD : commutative[keel_random_below(random, 5)];
        role->atomic = plan_vary_atomic(plan, random->state, role->atomic);
        role->size = (uint8_t)(keel_random_chance(random, 512) ? 8 : 4);
    } else if (draw < 10) {
        role->kind = PLAN_IDLE;
    } else if (draw < 25) {
        role->kind = PLAN_LOCAL;
        role->is_written = (uint8_t)keel_random_below(random, 2);
    } else if (draw < 75) {
        role->kind = PLAN_OWNED;
        role->owner = (uint8_t)keel_random_below(random, plan->options.ranks);
    } else {
        role->kind = PLAN_SHARED;
    }
}

static void plan_draw_roles(plan_t *plan, keel_random_t *random)
{
    uint32_t phase, r;
    unsigned w, i;

    for (phase = 0; phase < plan->options.phases; ++phase) {
        for (w = 0; w < plan->window_count; ++w) {
            if ((phase < plan->window[w].born) || (phase >= plan->window[w].dies)) {
                continue;
            }
            for (r = 0; r < plan->options.ranks; ++r) {
                for (i = 0; i < plan->window[w].slots_of[r]; ++i) {
                    plan_draw_role(plan, random, phase, plan_role(plan, phase, w, r, i));
                }
            }
        }
    }
}

/* ---- accesses ---- */

/* A slot available to a rank in a phase, and the accesses to it in this epoch. */
typedef struct candidate {
    uint32_t target;
    uint8_t window, slot;
    uint8_t is_used; /* in this epoch */
    uint8_t is_put;  /* since the last flush: a fence orders only further puts after it */
} candidate_t;

#define CANDIDATES_MAX 1024

static unsigned plan_candidates(const plan_t *plan, uint32_t phase, uint32_t rank, candidate_t *candidate)
{
    const plan_role_t *role;
    unsigned count = 0, w, i;
    uint32_t r;

    for (w = 0; w < plan->window_count; ++w) {
        for (r = 0; r < plan->options.ranks; ++r) {
            for (i = 0; (i < plan->window[w].slots_of[r]) && (count < CANDIDATES_MAX); ++i) {
                role = plan_role(plan, phase, w, r, i);
                if (((role->kind == PLAN_OWNED) && (role->owner == rank)) || (role->kind == PLAN_SHARED) ||
                    (role->kind == PLAN_ATOMIC)) {
                    candidate[count++] = (candidate_t){.target = r, .window = (uint8_t)w, .slot = (uint8_t)i};
                }
            }
        }
    }
    return count;
}

static void plan_draw_range(const plan_slot_t *slot, keel_random_t *random, plan_op_t *op)
{
    op->offset = slot->offset;
    op->length = slot->length;
    if ((slot->length > 8) && keel_random_chance(random, 400)) { /* a part of the slot */
        op->offset += keel_random_below(random, slot->length - 4);
        op->length = 1 + keel_random_below(random, slot->length - (op->offset - slot->offset));
    }
}

static void plan_draw_atomic(const plan_slot_t *slot, keel_random_t *random, const plan_role_t *role, plan_op_t *op)
{
    op->kind = PLAN_UPDATE;
    op->is_conditional = 0;
    op->offset = slot->offset;
    if (role->kind == PLAN_ATOMIC) {
        op->atomic = role->atomic;
        op->length = role->size;
        op->is_fetching = (uint8_t)keel_random_below(random, 2);
        return;
    }
    op->atomic = (uint8_t)keel_random_below(random, KEEL_ATOMIC_CSWAP + 1);
    op->length = keel_random_chance(random, 512) ? 8 : 4;
    op->offset += 8 * keel_random_below(random, slot->length / 8);
    op->is_fetching = (uint8_t)keel_random_below(random, 2);
    op->is_observed = op->is_fetching;
}

static void plan_make_atomic(const plan_t *plan, const plan_slot_t *slot, keel_random_t *random,
                             const plan_role_t *role, uint32_t rank, plan_op_t *op)
{
    plan_draw_atomic(slot, random, role, op);
    if (role->kind != PLAN_ATOMIC) {
        op->atomic = plan_vary_atomic(plan, random->state, op->atomic);
    }
    if (plan->options.tame_atomics) {
        op->atomic = KEEL_ATOMIC_ADD;
        op->is_fetching = op->is_fetching && (op->target != rank) && !plan->options.fetchless &&
                          !(plan->options.lone_fetches && role->kind == PLAN_ATOMIC);
        op->is_observed = op->is_observed && op->is_fetching;
    }
}

static void plan_draw_op(plan_t *plan, keel_random_t *random, uint32_t phase, uint32_t rank, candidate_t *candidate,
                         plan_op_t *op)
{
    const plan_role_t *role = plan_role(plan, phase, candidate->window, candidate->target, candidate->slot);
    const plan_slot_t *slot = &plan->window[candidate->window].slot[candidate->slot];

    memset(op, 0, sizeof(*op));
    op->target = candidate->target;
    op->window = candidate->window;
    op->slot = candidate->slot;
    op->mode = (uint8_t)keel_random_below(random, 4);
    op->kind = PLAN_GET;
    plan_draw_range(slot, random, op);
    if (role->kind == PLAN_OWNED) {
        if (candidate->is_put || keel_random_chance(random, 600)) {
            op->kind = PLAN_PUT;
            op->is_conditional = keel_random_chance(random, 200);
        }
        if ((plan->options.atomics > 0) && keel_random_chance(random, plan->options.atomics / 2)) {
            plan_make_atomic(plan, slot, random, role, rank, op);
        }
    } else if (role->kind == PLAN_ATOMIC) {
        plan_make_atomic(plan, slot, random, role, rank, op);
    }
    if ((op->mode == PLAN_DETACHED) && (op->kind == PLAN_UPDATE) && op->is_fetching) {
        op->mode = PLAN_CALLBACK;
    }
    candidate->is_used = 1;
    candidate->is_put |= (op->kind != PLAN_GET) && (role->kind == PLAN_OWNED);
    plan->has_atomics |= (op->kind == PLAN_UPDATE);
}

/* [F 3.2.1] allows a put after a get of the same memory once the get is complete, also within the
 * epoch. */
static int plan_may_reuse(const plan_t *plan, const plan_op_t *op, keel_random_t *random)
{
    return (op->kind == PLAN_GET) && (op->mode == PLAN_BLOCKING) && keel_random_chance(random, plan->options.reuse);
}

/* True if the value arrives while the epoch goes on. */
static int plan_is_open(const plan_op_t *op)
{
    return (op->mode != PLAN_BLOCKING) && ((op->kind == PLAN_GET) || ((op->kind == PLAN_UPDATE) && op->is_fetching));
}

/* True for the last access to its slot in the epoch. */
static int plan_is_last(const plan_epoch_t *epoch, const plan_op_t *op)
{
    const plan_op_t *other;

    for (other = op + 1; other < epoch->op + epoch->op_count; ++other) {
        if ((other->target == op->target) && (other->window == op->window) && (other->slot == op->slot)) {
            return 0;
        }
    }
    return 1;
}

/* Adds a fence at the end of the epoch, and a put over the bytes that @a op reads. */
static void plan_draw_fenced(plan_t *plan, keel_random_t *random, const plan_role_t *role, uint32_t rank, plan_op_t *op,
                             plan_epoch_t *epoch)
{
    const plan_slot_t *slot = &plan->window[op->window].slot[op->slot];
    plan_op_t *put = &epoch->op[epoch->op_count];

    *put = (plan_op_t){.kind = PLAN_PUT,
                       .mode = (uint8_t)keel_random_below(random, 4),
                       .window = op->window,
                       .slot = op->slot,
                       .target = op->target,
                       .offset = op->offset,
                       .length = op->length,
                       .is_fenced = 1};
    if ((plan->options.atomics > 0) && keel_random_chance(random, 300)) {
        plan_make_atomic(plan, slot, random, role, rank, put);
        put->mode = ((put->mode == PLAN_DETACHED) && put->is_fetching) ? PLAN_CALLBACK : put->mode;
    } else if (keel_random_chance(random, 300)) {
        plan_draw_range(slot, random, put);
    }
    if (keel_random_chance(random, 800)) {
        op->wait_behind = (uint8_t)(epoch->op_count + keel_random_below(random, PLAN_EPOCH_OPS));
    }
    put->wait_behind = (uint8_t)(epoch->op_count + keel_random_below(random, PLAN_EPOCH_OPS));
    plan->has_atomics |= (put->kind == PLAN_UPDATE);
    ++epoch->op_count;
}

/* Call after all other draws of the epoch: the other draws are then the same as without fences. */
static void plan_draw_fences(plan_t *plan, uint32_t phase, uint32_t rank, candidate_t *candidate, unsigned count,
                             plan_epoch_t *epoch)
{
    const unsigned drawn = epoch->op_count;
    keel_random_t random = {plan->fences};
    unsigned i, k;

    for (i = 0; (plan->options.fenced > 0) && (i < drawn) && (epoch->op_count < PLAN_EPOCH_OPS); ++i) {
        plan_op_t *op = &epoch->op[i];
        const plan_role_t *role = plan_role(plan, phase, op->window, op->target, op->slot);

        if ((role->kind != PLAN_OWNED) || !plan_is_open(op) || !plan_is_last(epoch, op) ||
            !keel_random_chance(&random, plan->options.fenced)) {
            continue;
        }
        plan_draw_fenced(plan, &random, role, rank, op, epoch);
        for (k = 0; k < count; ++k) {
            candidate[k].is_put |= (candidate[k].target == op->target) && (candidate[k].window == op->window) &&
                                   (candidate[k].slot == op->slot);
        }
    }
    plan->fences = random.state;
}

static void plan_draw_epoch(plan_t *plan, keel_random_t *random, uint32_t phase, uint32_t rank, candidate_t *candidate,
                            unsigned count, plan_epoch_t *epoch)
{
    const unsigned wanted = keel_random_below(random, PLAN_EPOCH_OPS);
    candidate_t *c;
    plan_op_t *op;
    unsigned i;

    for (i = 0; i < count; ++i) {
        candidate[i].is_used = 0;
    }
    for (i = 0; (i < 3 * wanted) && (epoch->op_count < wanted) && (count > 0); ++i) {
        c = &candidate[keel_random_below(random, count)];
        if (c->is_used) {
            continue;
        }
        op = &epoch->op[epoch->op_count++];
        plan_draw_op(plan, random, phase, rank, c, op);
        if (plan_may_reuse(plan, op, random) &&
            (plan_role(plan, phase, c->window, c->target, c->slot)->kind == PLAN_OWNED) &&
            (epoch->op_count < PLAN_EPOCH_OPS)) {
            epoch->op[epoch->op_count] = *op;
            epoch->op[epoch->op_count].kind = PLAN_PUT;
            epoch->op[epoch->op_count++].mode = (uint8_t)keel_random_below(random, 4);
            c->is_put = 1;
        }
    }
    for (i = 0; i < epoch->op_count; ++i) {
        epoch->op[i].wait_behind = (uint8_t)(i + keel_random_below(random, PLAN_EPOCH_OPS));
    }
    plan_draw_fences(plan, phase, rank, candidate, count, epoch);
    epoch->compute_ns = keel_random_chance(random, 300) ? (uint32_t)keel_random_scaled(random, 200000) : 0;
}

static void plan_draw_step(plan_t *plan, keel_random_t *random, uint32_t phase, uint32_t rank, plan_step_t *step)
{
    static candidate_t candidate[CANDIDATES_MAX];
    const unsigned count = (phase > 0) ? plan_candidates(plan, phase, rank, candidate) : 0;
    plan_epoch_t *epoch;
    unsigned e, i;

    step->epoch_count = (phase > 0) ? 1 + keel_random_below(random, PLAN_EPOCHS_MAX) : 1;
    for (e = 0; e < step->epoch_count; ++e) {
        epoch = &step->epoch[e];
        plan_draw_epoch(plan, random, phase, rank, candidate, count, epoch);
        epoch->close = (plan_close_t)keel_random_below(random, 3);
        if ((e + 1 == step->epoch_count) && keel_random_chance(random, 512)) {
            epoch->close = PLAN_LEAVE_OPEN; /* the gsync closes the epoch */
        }
        for (i = 0; (epoch->close != PLAN_FENCE) && (i < count); ++i) {
            candidate[i].is_put = 0;
        }
    }
}

static plan_sync_t plan_draw_sync(const plan_t *plan, keel_random_t *random)
{
    if (keel_random_chance(random, plan->options.checkpoints)) {
        return PLAN_CHECKPOINT;
    }
    return keel_random_chance(random, plan->options.unsafe) ? PLAN_GSYNC : PLAN_GSYNC_SAFE;
}

/* Windows are allocated in the order of their numbers. */
static void plan_draw_life(plan_t *plan, keel_random_t *random, unsigned w)
{
    const uint32_t phases = plan->options.phases;
    plan_window_t *window = &plan->window[w];

    window->dies = phases;
    if (!plan->options.late_windows) {
        return;
    }
    if (w > 0) {
        window->born = keel_random_below(random, phases);
        window->born = (window->born < window[-1].born) ? window[-1].born : window->born;
    }
    if (keel_random_chance(random, 300)) {
        window->dies = window->born + 1 + keel_random_below(random, phases);
        window->dies = (window->dies < phases) ? window->dies : phases;
    }
}

plan_t *plan_create(const plan_options_t *options)
{
    keel_random_t random = {keel_random_mix(options->seed)};
    plan_t *plan = plan_alloc(1, sizeof(*plan));
    uint32_t phase, r;
    unsigned w;

    plan->options = *options;
    plan->fences = keel_random_mix(options->seed ^ 0x66656e63);
    plan->window_count = 1 + keel_random_below(&random, options->windows);
    for (w = 0; w < plan->window_count; ++w) {
        plan_draw_window(plan, &random, &plan->window[w]);
        plan_draw_life(plan, &random, w);
    }
    plan->role =
        plan_alloc((size_t)options->phases * PLAN_WINDOWS_MAX * options->ranks * PLAN_SLOTS_MAX, sizeof(*plan->role));
    plan->step = plan_alloc((size_t)options->phases * options->ranks, sizeof(*plan->step));
    plan->sync = plan_alloc(options->phases, 1);
    plan_draw_roles(plan, &random);
    for (phase = 0; phase < options->phases; ++phase) {
        plan->sync[phase] = (uint8_t)plan_draw_sync(plan, &random);
        for (r = 0; r < options->ranks; ++r) {
            plan_draw_step(plan, &random, phase, r, &plan->step[(size_t)phase * options->ranks + r]);
        }
    }
    return plan;
}

void plan_destroy(plan_t *plan)
{
    free(plan->role);
    free(plan->step);
    free(plan->sync);
    free(plan);
}
