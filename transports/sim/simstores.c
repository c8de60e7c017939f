/*
 * Stores to shared memory that other ranks do not see yet. Code that declares the start and end of
 * each store has the store executed at once in the memory that all ranks share here; the old
 * contents are kept. When the process is switched away the old contents are put back, last first,
 * so that other ranks see the state of delayed stores. When the process runs again the stores are
 * executed once more. So a process always sees its own stores, and loads need not be known. While
 * the process stands the scheduler makes stores visible one by one, in any order that the processor
 * allows.
 *
 * x86 (manuals of Intel and AMD, "memory ordering"): in order, except that streamed stores pass and
 * are passed by other stores, up to an order (sfence). ARM: stores without overlap in any order,
 * except that a store with release follows all earlier stores, and a store behind a barrier (dmb;
 * not needed on x86) follows all stores before the barrier. A fence, an atomic read-modify-write,
 * and any system call wait for all stores.
 *
 * A killed process has executed all stores before the current one, and all of these become visible.
 * Of the current store, possibly a copy in pieces, any prefix becomes visible.
 */
#include "sim/world.h"

#include <string.h>

#define STORE_WORD        8u
#define STORE_DELAYED_MAX 256u /* maximum delayed bytes of a store, the last ones */
_Static_assert(SIM_STORES_DRAWN_MAX + 2 + STORE_DELAYED_MAX / STORE_WORD < SIM_STORES_MAX,
               "room for the pieces of one more");

static int stores_are_delayed(const keel_sim_t *sim)
{
    return sim->options.stores != KEEL_SIM_AT_ONCE && sim->current != NULL && !sim->in_handler;
}

static void stores_listed(sim_process_t *process)
{
    sim_stores_t *stores = &process->stores;
    keel_sim_t *sim = process->sim;
    sim_process_t *moved;

    if (stores->count > 0 && stores->idx < 0) {
        stores->idx = sim_list_add(&sim->storing, process);
    } else if (stores->count == 0 && stores->idx >= 0) {
        moved = sim_list_remove(&sim->storing, (unsigned)stores->idx);
        if (moved != NULL) {
            moved->stores.idx = stores->idx;
        }
        stores->idx = -1;
    }
}

static void store_swap(sim_store_t *store)
{
    char kept[SIM_STORE_BYTES];

    memcpy(kept, store->to, store->length);
    memcpy(store->to, store->bytes, store->length);
    memcpy(store->bytes, kept, store->length);
}

void sim_stores_show(sim_process_t *process)
{
    for (unsigned i = 0; i < process->stores.count; ++i) {
        store_swap(&process->stores.store[i]);
    }
}

void sim_stores_hide(sim_process_t *process)
{
    for (unsigned i = process->stores.count; i > 0; --i) {
        store_swap(&process->stores.store[i - 1]);
    }
    stores_listed(process);
}

static int stores_overlap(const sim_store_t *a, const sim_store_t *b)
{
    return a->to < b->to + b->length && b->to < a->to + a->length;
}

/* may @a later become visible before @a earlier? */
static int store_may_pass(const keel_sim_t *sim, const sim_store_t *earlier, const sim_store_t *later)
{
    if (stores_overlap(earlier, later)) {
        return 0;
    }
    if (sim->options.stores == KEEL_SIM_ARM) {
        return earlier->barrier == later->barrier && later->how != KEEL_STORED_RELEASE;
    }
    return earlier->order == later->order &&
           (earlier->how == KEEL_STORED_STREAMED || later->how == KEEL_STORED_STREAMED);
}

static int store_may_be_seen(const keel_sim_t *sim, const sim_stores_t *stores, unsigned idx)
{
    for (unsigned i = 0; i < idx; ++i) {
        if (!store_may_pass(sim, &stores->store[i], &stores->store[idx])) {
            return 0;
        }
    }
    return 1;
}

/* picks a store that may become visible next; the count of stores if all must stay */
static unsigned stores_pick(keel_sim_t *sim, const sim_stores_t *stores, uint64_t now_ns)
{
    const unsigned first = keel_random_below(&sim->stores_random, stores->count);

    for (unsigned i = 0; i < stores->count; ++i) {
        const unsigned idx = (first + i) % stores->count;

        if (stores->store[idx].kept_ns <= now_ns && store_may_be_seen(sim, stores, idx)) {
            return idx;
        }
    }
    return stores->count;
}

static void stores_remove(sim_stores_t *stores, unsigned idx)
{
    if (stores->store[idx].number > stores->seen) {
        stores->seen = stores->store[idx].number;
    }
    memmove(&stores->store[idx], &stores->store[idx + 1], (stores->count - idx - 1) * sizeof(stores->store[0]));
    --stores->count;
    stores->begun -= (idx < stores->begun);
}

/* for a standing process */
static void stores_see(sim_stores_t *stores, unsigned idx)
{
    const sim_store_t *store = &stores->store[idx];

    memcpy(store->to, store->bytes, store->length);
    stores_remove(stores, idx);
}

void sim_stores_step(keel_sim_t *sim, sim_process_t *process)
{
    const unsigned idx = stores_pick(sim, &process->stores, sim->now_ns);

    if (idx < process->stores.count) {
        stores_see(&process->stores, idx);
        stores_listed(process);
    }
}

void sim_stores_make_visible(sim_process_t *process)
{
    while (process->stores.count > 0) {
        stores_see(&process->stores, 0);
    }
    stores_listed(process);
}

void sim_stores_of_dead(sim_process_t *process)
{
    sim_stores_t *stores = &process->stores;
    unsigned first = stores->begun;

    if (stores->is_in_call) {
        while (first < stores->count && stores->store[first].number < stores->seen) {
            ++first; /* other ranks have seen a later store */
        }
        stores->count = first + keel_random_below(&process->sim->stores_random, stores->count - first + 1);
    }
    sim_stores_make_visible(process);
}

void keel_sim_stores_show(keel_sim_t *sim)
{
    if (sim->stores_shown++ > 0) {
        return;
    }
    for (unsigned i = 0; i < sim->storing.count; ++i) {
        if (sim->storing.item[i] != sim->current) {
            sim_stores_show(sim->storing.item[i]);
        }
    }
}

void keel_sim_stores_hide(keel_sim_t *sim)
{
    if (--sim->stores_shown > 0) {
        return;
    }
    for (unsigned i = sim->storing.count; i > 0; --i) {
        if (sim->storing.item[i - 1] != sim->current) {
            sim_stores_hide(sim->storing.item[i - 1]);
        }
    }
}

/* ---- from a running program: its stores are executed, and the old contents are kept ---- */

static void stores_begin_one(sim_stores_t *stores, char *to, size_t length, keel_stored_t how)
{
    sim_store_t *store = &stores->store[stores->count++];

    *store = (sim_store_t){.to = to,
                           .length = (uint32_t)length,
                           .how = how,
                           .order = stores->order,
                           .barrier = stores->barrier,
                           .number = ++stores->number};
    memcpy(store->bytes, to, length);
}

/* bytes of the next piece: whole words within a line */
static size_t stores_piece(keel_sim_t *sim, const char *to, size_t length)
{
    const size_t line = SIM_STORE_BYTES - (uintptr_t)to % SIM_STORE_BYTES;
    const size_t drawn = (STORE_WORD << keel_random_below(&sim->stores_random, 4)) - (uintptr_t)to % STORE_WORD;
    const size_t piece = (drawn < line) ? drawn : line;

    return (piece < length) ? piece : length;
}

void keel_sim_store_hold(keel_sim_t *sim, void *to, size_t length, keel_stored_t how)
{
    sim_stores_t *stores;
    char *at = to;
    size_t piece;

    if (!stores_are_delayed(sim)) {
        return;
    }
    stores = &sim->current->stores;
    if (stores->store == NULL) {
        stores->store = sim_new(SIM_STORES_MAX * sizeof(stores->store[0]));
        stores->most = 1 + keel_random_below(&sim->stores_random, SIM_STORES_DRAWN_MAX);
    }
    while (stores->count > stores->most) {
        stores_remove(stores, stores_pick(sim, stores, SIM_NEVER));
    }
    /* the start of a long store is visible at once, and so are all earlier stores */
    if (length > STORE_DELAYED_MAX) {
        keel_sim_store_fence(sim);
        at += length - STORE_DELAYED_MAX;
        length = STORE_DELAYED_MAX;
    }
    stores->begun = stores->count;
    for (; length > 0; at += piece, length -= piece) {
        piece = stores_piece(sim, at, length);
        stores_begin_one(stores, at, piece, how);
    }
}

void keel_sim_store_keep(keel_sim_t *sim, uint64_t ns)
{
    if (stores_are_delayed(sim)) {
        for (unsigned i = sim->current->stores.begun; i < sim->current->stores.count; ++i) {
            sim->current->stores.store[i].kept_ns = sim->now_ns + ns;
        }
    }
}

void keel_sim_store_point(keel_sim_t *sim)
{
    sim_process_t *process = sim->current;

    /* otherwise the process is inside a critical section and must not be interrupted */
    if (process != NULL && !sim->in_handler && process->held == 0) {
        process->stores.is_in_call = 1;
        sim_point(sim, "between stores");
        process->stores.is_in_call = 0;
    }
}

void keel_sim_store_order(keel_sim_t *sim)
{
    if (stores_are_delayed(sim)) {
        ++sim->current->stores.order;
    }
}

void keel_sim_store_barrier(keel_sim_t *sim)
{
    if (stores_are_delayed(sim)) {
        ++sim->current->stores.barrier;
    }
}

void keel_sim_store_fence(keel_sim_t *sim)
{
    if (stores_are_delayed(sim)) {
        sim->current->stores.seen = sim->current->stores.number;
        sim->current->stores.count = sim->current->stores.begun = 0;
    }
}
