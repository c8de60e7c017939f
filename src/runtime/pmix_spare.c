/*
 * Spares: the last processes that the launcher started wait inside keel_init() until a call gives
 * them a rank. Rank, incarnation and launcher's process are different things: incarnation 0 of rank
 * r is the launcher's process r, and spare s is the launcher's process size + s. Each rank has an
 * order of spares, which the layers above compute from constant data; incarnation k of a rank is
 * the k-th spare in the rank's order. Calls and joins name the spare, since waiting spares know no
 * orders.
 *
 * Callers. The lowest present rank calls, for an absent rank, the first spare of the rank's order
 * not known to be dead or taken, and repeats the call until the spare has joined; other ranks step
 * in if this takes long. A spare takes the first rank of its calls, and answers each later call by
 * repeating its join. So two callers with different knowledge never make two processes of one rank:
 * a caller skips a spare only if the spare is known to be dead or of another rank, all callers
 * follow the same order, and an incarnation's number is the spare's place in that order. A silent
 * spare is killed first, if possible: a spare taken for dead might go on late. A spare belongs to
 * one rank forever, so spares before the present incarnation in the order are used up. If no spare
 * is left to take a rank, each rank finds out by itself and ends.
 */
#include "pmix_spare.h"

#include <base/memory.h>

#include <stdio.h>
#include <stdlib.h>

#include "pmix_events.h"
#include "pmix_runtime.h"
#include "pmix_spawn.h"

#define CALL_EVERY_NS (200 * 1000000ull)
/* a spare that has not answered by then is killed and skipped */
#define CALLS_A_SPARE 100
#define STEP_IN_NS    (3 * 1000000000ull) /* when a rank other than the lowest calls */
/* a started spare that has not answered by then is examined */
#define SPAWN_CALLS 50

keel_status_t keel_pmix_spares_init(keel_runtime_pmix_t *runtime, uint32_t count)
{
    keel_pmix_spares_t *spares = &runtime->spares;

    spares->count = count;
    spares->spare = keel_alloc((count + 1) * sizeof *spares->spare, "spares");
    spares->lives = keel_alloc(runtime->base.size * sizeof *spares->lives, "lives");
    spares->order = keel_alloc((count + 1) * sizeof *spares->order, "spares");
    if (spares->spare == NULL || spares->lives == NULL || spares->order == NULL) {
        keel_pmix_spares_release(runtime);
        return KEEL_ERR_NO_MEMORY;
    }
    for (uint32_t s = 0; s < count; s++) {
        atomic_store(&spares->spare[s].rank, KEEL_PMIX_NO_RANK);
    }
    atomic_store(&spares->called_rank, KEEL_PMIX_NO_RANK);
    sem_init(&spares->called, 0, 0);
    pthread_mutex_init(&spares->lock, NULL);
    return KEEL_OK;
}

void keel_pmix_spares_release(keel_runtime_pmix_t *runtime)
{
    keel_free(runtime->spares.spare);
    keel_free(runtime->spares.lives);
    keel_free(runtime->spares.order);
    keel_free(runtime->spares.address);
    runtime->spares = (keel_pmix_spares_t){.count = 0};
}

void keel_pmix_use_spare_order(keel_runtime_t *base, keel_spare_order_cb_t order, void *arg)
{
    keel_pmix_spares_t *spares = &((keel_runtime_pmix_t *)base)->spares;

    spares->order_cb = order;
    spares->order_arg = arg;
}

/* ---- translation ---- */

uint32_t keel_pmix_holder_of(const keel_runtime_pmix_t *runtime, uint32_t rank, uint32_t incarnation)
{
    const int is_any = incarnation == KEEL_INCARNATION_ANY;
    uint32_t holder = is_any || incarnation == 0 || runtime->spares.count == 0 ? rank : KEEL_PMIX_NO_RANK, last = 0;

    for (uint32_t s = 0; s < runtime->spares.count; s++) {
        const keel_pmix_spare_t *spare = &runtime->spares.spare[s];

        if (atomic_load(&spare->rank) == rank) {
            const uint32_t its = atomic_load(&spare->incarnation);

            if (its == incarnation || (is_any && its > last)) {
                holder = runtime->base.size + s;
                last = its;
            }
        }
    }
    return holder;
}

/* The spare of a process of the launcher, or NULL. */
static keel_pmix_spare_t *spares_find(const keel_runtime_pmix_t *runtime, uint32_t holder)
{
    const uint32_t size = runtime->base.size;

    return holder >= size && holder - size < runtime->spares.count ? &runtime->spares.spare[holder - size] : NULL;
}

int keel_pmix_rank_of(const keel_runtime_pmix_t *runtime, uint32_t holder, uint32_t *rank_p, uint32_t *incarnation_p)
{
    const keel_pmix_spare_t *spare = spares_find(runtime, holder);

    *rank_p = holder < runtime->base.size ? holder : KEEL_PMIX_NO_RANK;
    *incarnation_p = 0;
    if (spare != NULL) {
        *rank_p = atomic_load(&spare->rank);
        *incarnation_p = atomic_load(&spare->incarnation);
    }
    return *rank_p != KEEL_PMIX_NO_RANK;
}

/* ---- PMIx's thread ---- */

void keel_pmix_spare_joined(keel_runtime_pmix_t *runtime, uint32_t rank, uint32_t incarnation, uint32_t holder)
{
    keel_pmix_spare_t *spare = spares_find(runtime, holder);

    if (spare != NULL && rank < runtime->base.size) {
        atomic_store(&spare->incarnation, incarnation);
        atomic_store(&spare->rank, rank);
    }
}

void keel_pmix_spare_died(keel_runtime_pmix_t *runtime, uint32_t holder)
{
    keel_pmix_spare_t *spare = spares_find(runtime, holder);

    if (spare != NULL) {
        atomic_store(&spare->is_dead, 1);
    }
}

/* ---- absent ranks and calls ---- */

void keel_pmix_spares_note(keel_runtime_pmix_t *runtime, const keel_event_t *event)
{
    keel_pmix_spares_t *spares = &runtime->spares;
    keel_pmix_life_t *life = &spares->lives[event->rank];

    switch (event->type) {
    case KEEL_EVENT_DEATH:
        if (event->incarnation >= life->next && !life->is_absent) {
            *life = (keel_pmix_life_t){.is_absent = 1, .since_ns = runtime->base.ops->now_ns(&runtime->base)};
            spares->absent++;
        }
        life->next = event->incarnation >= life->next ? event->incarnation + 1 : life->next;
        break;
    case KEEL_EVENT_JOIN:
        if (event->incarnation >= life->next) {
            spares->absent -= life->is_absent;
            *life = (keel_pmix_life_t){.next = event->incarnation};
        }
        break;
    case KEEL_EVENT_EXIT:
        spares->is_over = 1;
        break;
    case KEEL_EVENT_GONE:
        break; /* never with spares */
    }
}

static int spares_is_lowest(const keel_runtime_pmix_t *runtime)
{
    for (uint32_t rank = 0; rank < runtime->base.rank; rank++) {
        if (!runtime->spares.lives[rank].is_absent) {
            return 0;
        }
    }
    return 1;
}

/*
 * True if the spare is dead. Not every launcher reports the death of a waiting spare; on this node
 * the process is examined.
 */
static int spares_is_dead(const keel_runtime_pmix_t *runtime, uint32_t s)
{
    keel_pmix_spare_t *spare = &runtime->spares.spare[s];
    keel_process_t process;

    if (!atomic_load(&spare->is_dead) && keel_pmix_find_process(runtime, runtime->base.size + s, &process) &&
        keel_process_is_gone(&process)) {
        atomic_store(&spare->is_dead, 1);
    }
    return atomic_load(&spare->is_dead);
}

/*
 * The incarnation of an absent rank to call next. spares->count + 1: no spare is left. 0: the rank
 * has joined, and the event is still in the queue.
 */
static uint32_t spares_next(keel_runtime_pmix_t *runtime, uint32_t rank)
{
    keel_pmix_spares_t *spares = &runtime->spares;
    uint32_t next = spares->lives[rank].next;

    for (uint32_t s = 0; s < spares->count; s++) {
        spares->order[s] = s;
    }
    if (spares->order_cb != NULL) {
        spares->order_cb(spares->order_arg, rank, spares->order);
    }
    for (; next <= spares->count; next++) {
        const uint32_t s = spares->order[next - 1], taken = atomic_load(&spares->spare[s].rank);

        if (!spares_is_dead(runtime, s) && (taken == KEEL_PMIX_NO_RANK || taken == rank)) {
            return taken == rank ? 0 : next;
        }
    }
    return next;
}

/*
 * Starts a spare once, then calls it like any other in case the announcement was lost, and skips it
 * if it is gone. All spares run on one node, so their order is that of their numbers.
 */
static void spares_spawn(keel_runtime_pmix_t *runtime, uint32_t rank, uint32_t spare)
{
    keel_pmix_spares_t *spares = &runtime->spares;
    keel_pmix_life_t *life = &spares->lives[rank];

    if (atomic_load(&spares->is_refused)) {
        runtime->base.ops->abort(&runtime->base, EXIT_FAILURE, "a rank died, and the launcher starts no replacement");
        return;
    }
    if (life->asked == 0 || life->spare != spare) {
        life->asked = 0;
        life->spare = spare;
        keel_pmix_spawn(runtime, rank, spare);
    } else if (life->asked % SPAWN_CALLS == 0 && keel_pmix_spawn_is_gone(runtime, spare)) {
        atomic_store(&spares->spare[spare].is_dead, 1);
        life->asked = 0;
        return;
    }
    life->asked++;
    keel_pmix_send_event(runtime, KEEL_PMIX_EVENT_CALL, rank, spare + 1, runtime->base.size + spare);
}

static void spares_call(keel_runtime_pmix_t *runtime, uint32_t rank, uint32_t incarnation)
{
    keel_pmix_spares_t *spares = &runtime->spares;
    keel_pmix_life_t *life = &spares->lives[rank];
    const uint32_t s = spares->order[incarnation - 1];

    if (spares->does_spawn) {
        spares_spawn(runtime, rank, s);
        return;
    }
    if (++life->asked > CALLS_A_SPARE) {
        if (keel_pmix_end_spare(runtime, runtime->base.size + s, CALLS_A_SPARE * CALL_EVERY_NS)) {
            atomic_store(&spares->spare[s].is_dead, 1);
        }
        life->asked = 0;
        return;
    }
    keel_pmix_send_event(runtime, KEEL_PMIX_EVENT_CALL, rank, incarnation, runtime->base.size + s);
}

void keel_pmix_spares_finish(keel_runtime_t *base)
{
    keel_runtime_pmix_t *runtime = (keel_runtime_pmix_t *)base;

    if (runtime->is_keelrun && !runtime->spares.is_finished) {
        keel_pmix_send_event(runtime, KEEL_PMIX_EVENT_OVER, base->rank, base->incarnation, runtime->holder);
    }
    runtime->spares.is_over = runtime->spares.is_finished = 1;
}

/* Calls a spare from the lowest present rank. If no spare is left, each rank ends by itself. */
static void spares_look(keel_runtime_pmix_t *runtime, uint32_t rank, uint64_t now)
{
    const keel_pmix_life_t *life = &runtime->spares.lives[rank];
    const uint32_t incarnation = spares_next(runtime, rank);
    char reason[96];

    if (incarnation > runtime->spares.count) {
        snprintf(reason, sizeof reason, "rank %u died, and of %u spares none is left to take its place", rank,
                 runtime->spares.count);
        runtime->base.ops->abort(&runtime->base, EXIT_FAILURE, reason);
    } else if (incarnation > 0 && (spares_is_lowest(runtime) || now - life->since_ns >= STEP_IN_NS)) {
        spares_call(runtime, rank, incarnation);
    }
}

void keel_pmix_spares_step(keel_runtime_pmix_t *runtime)
{
    keel_pmix_spares_t *spares = &runtime->spares;
    uint64_t now;

    if (atomic_load_explicit(&spares->must_repeat, memory_order_relaxed) && spares->address != NULL) {
        atomic_store(&spares->must_repeat, 0);
        (void)keel_pmix_send_join(runtime, spares->address, spares->address_len);
    }
    if (spares->absent == 0 || spares->is_over || runtime->does_restart) {
        return;
    }
    now = runtime->base.ops->now_ns(&runtime->base);
    for (uint32_t rank = 0; rank < runtime->base.size; rank++) {
        keel_pmix_life_t *life = &spares->lives[rank];

        if (!life->is_absent) {
            continue;
        }
        if (now - life->looked_ns >= CALL_EVERY_NS) {
            life->looked_ns = now;
            spares_look(runtime, rank, now);
        }
        return; /* one rank at a time */
    }
}
