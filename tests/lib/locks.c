/* Programs of critical sections. */
#include "locks.h"

#include "life.h"
#include "sim/random.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const keel_atomic_op_t exchanges[] = {KEEL_ATOMIC_SWAP, KEEL_ATOMIC_CSWAP, KEEL_ATOMIC_XOR};

enum { ID_STATE = 1 };

typedef enum { STEP_WRITE, STEP_PAIR, STEP_READ, STEP_COMPUTE } step_kind_t;

typedef struct locks_state {
    uint64_t step, hash;
} locks_state_t;

typedef struct locks_run {
    play_host_t *host;
    locks_journal_t *journal;
    life_t life;
    keel_win_h win;
    locks_memory_t *own;
    locks_state_t state;
    keel_random_t random; /* of the step, */
    keel_random_t extra;  /* and for programs with rewrites */
    unsigned seen;        /* in the step */
} locks_run_t;

static void run_point(locks_run_t *run, const char *what, uint32_t target)
{
    char text[96];

    if (run->host->point != NULL) {
        run->host->point(run->host);
    }
    if (run->host->note != NULL) {
        snprintf(text, sizeof(text), "step %u: %s %u", (unsigned)run->state.step, what, target);
        run->host->note(run->host, text);
    }
}

static locks_seen_t *run_note(locks_run_t *run, uint32_t target, int is_write)
{
    locks_seen_t *seen = &run->journal->seen[run->host->rank][run->state.step][run->seen++];

    *seen = (locks_seen_t){.is_used = 1, .is_write = (uint8_t)is_write, .target = target};
    return seen;
}

static void run_mix(locks_run_t *run, uint64_t value)
{
    run->state.hash = keel_random_mix(run->state.hash ^ value) + 0x9e3779b97f4a7c15ull;
}

static uint64_t link_of(uint64_t chain, uint32_t rank, uint64_t step, uint32_t target)
{
    return keel_random_mix(chain ^ ((uint64_t)rank << 40) ^ (step << 20) ^ target);
}

static keel_status_t run_get(locks_run_t *run, uint32_t target, size_t offset, void *to, size_t length)
{
    keel_req_h req = NULL;
    keel_status_t status;

    run_point(run, "get from", target);
    if (target == run->host->rank) {
        memcpy(to, (char *)run->own + offset, length);
        return KEEL_OK;
    }
    if (keel_random_chance(&run->random, 512)) {
        return play_did(run->host, PLAY_DID_GET, target, keel_get(run->win, target, offset, to, length));
    }
    status = keel_get_nbx(run->win, target, offset, to, length, NULL, &req);
    return play_did(run->host, PLAY_DID_GET, target, (status == KEEL_INPROGRESS) ? keel_req_wait(req) : status);
}

static keel_status_t run_put(locks_run_t *run, uint32_t target, size_t offset, const void *from, size_t length)
{
    run_point(run, "put to", target);
    if (target == run->host->rank) {
        memcpy((char *)run->own + offset, from, length);
        return KEEL_OK;
    }
    return play_did(run->host, PLAY_DID_PUT, target, keel_put(run->win, target, offset, from, length));
}

static keel_status_t run_flush(locks_run_t *run, uint32_t target)
{
    run_point(run, "flush", target);
    return play_did(run->host, PLAY_DID_FLUSH, target, keel_flush(run->life.ctx, target));
}

static keel_status_t run_lock(locks_run_t *run, uint32_t target)
{
    run_point(run, "lock", target);
    return play_did(run->host, PLAY_DID_PUT | PLAY_DID_GET, target, keel_lock(run->life.ctx, target));
}

static keel_status_t run_unlock(locks_run_t *run, uint32_t target)
{
    run_point(run, "unlock", target);
    return play_did(run->host, PLAY_DID_FLUSH, target, keel_unlock(run->life.ctx, target));
}

static keel_status_t run_add(locks_run_t *run, uint32_t target, uint64_t operand)
{
    const int fetches = keel_random_chance(&run->random, 512);
    uint64_t old;

    run_point(run, "add to", target);
    return play_did(run->host, PLAY_DID_PUT | (fetches ? PLAY_DID_GET : 0), target,
                    keel_atomic(run->win, KEEL_ATOMIC_ADD, target, offsetof(locks_memory_t, total), 8, operand, 0,
                                fetches ? &old : NULL));
}

/* the cell from @a old to @a value by one atomic of 8 bytes, or two of 4 */
static keel_status_t run_exchange(locks_run_t *run, uint32_t target, locks_seen_t *seen, uint64_t old)
{
    const size_t at = offsetof(locks_memory_t, cell) + 8 * seen->cell;
    const unsigned size = keel_random_chance(&run->extra, 512) ? 4 : 8;
    const keel_atomic_op_t op = exchanges[keel_random_below(&run->extra, 3)];

    for (unsigned done = 0; done < 8; done += size) {
        const uint64_t mask = (size == 8) ? UINT64_MAX : UINT32_MAX;
        const uint64_t from = (old >> (8 * done)) & mask, to = (seen->value >> (8 * done)) & mask;
        uint64_t fetched = 0;

        run_point(run, "exchange at", target);
        TRY(play_did(run->host, PLAY_DID_PUT | PLAY_DID_GET, target,
                     keel_atomic(run->win, op, target, at + done, size, (op == KEEL_ATOMIC_XOR) ? from ^ to : to, from,
                                 &fetched)));
        seen->old |= (fetched & mask) << (8 * done);
    }
    seen->has_old = 1;
    return KEEL_OK;
}

/* the cell gets its value: at once, behind other values, or by atomics */
static keel_status_t run_rewrite(locks_run_t *run, uint32_t target, locks_seen_t *seen)
{
    const size_t at = offsetof(locks_memory_t, cell) + 8 * seen->cell;
    const unsigned times = keel_random_below(&run->extra, 3);
    uint64_t cell;

    if (run->journal->options.has_atomics && keel_random_chance(&run->extra, 300)) {
        TRY(run_get(run, target, at, &cell, sizeof(cell)));
        return run_exchange(run, target, seen, cell);
    }
    for (unsigned i = 0; i < times; i++) {
        cell = seen->value ^ (i + 1);
        TRY(run_put(run, target, at, &cell, sizeof(cell)));
        if (keel_random_chance(&run->extra, 300)) {
            TRY(run_flush(run, target));
        }
    }
    return run_put(run, target, at, &seen->value, sizeof(seen->value));
}

/* the section's own part: the window of @a target is locked */
static keel_status_t run_section(locks_run_t *run, uint32_t target)
{
    locks_seen_t *seen = run_note(run, target, 1);
    uint64_t head[2], cell;

    TRY(run_get(run, target, 0, head, sizeof(head)));
    seen->version = head[0];
    seen->chain = head[1];
    run_mix(run, head[0] ^ head[1]);
    seen->cell = (uint8_t)(run->state.hash % LOCKS_CELLS);
    if (keel_random_chance(&run->random, 400)) {
        TRY(run_get(run, target, offsetof(locks_memory_t, cell) + 8 * seen->cell, &cell, sizeof(cell)));
        run_mix(run, cell);
    }
    seen->value = run->state.hash;
    if (!run->journal->options.has_rewrites) {
        TRY(run_put(run, target, offsetof(locks_memory_t, cell) + 8 * seen->cell, &seen->value, sizeof(seen->value)));
    } else {
        TRY(run_rewrite(run, target, seen));
    }
    if (run->journal->options.has_atomics && keel_random_chance(&run->random, 400)) {
        seen->added = run->state.hash >> 32;
        TRY(run_add(run, target, seen->added));
    }
    if (keel_random_chance(&run->random, 300)) {
        TRY(run_flush(run, target));
    }
    head[1] = link_of(head[1], run->host->rank, run->state.step, target);
    head[0]++;
    if (keel_random_chance(&run->random, 300)) { /* in two puts */
        TRY(run_put(run, target, 8, &head[1], 8));
        return run_put(run, target, 0, &head[0], 8);
    }
    return run_put(run, target, 0, head, sizeof(head));
}

static keel_status_t run_write(locks_run_t *run)
{
    const uint32_t target = keel_random_below(&run->random, run->journal->options.ranks);

    TRY(run_lock(run, target));
    TRY(run_section(run, target));
    return run_unlock(run, target);
}

static keel_status_t run_pair(locks_run_t *run)
{
    const uint32_t ranks = run->journal->options.ranks;
    const uint32_t one = keel_random_below(&run->random, ranks);
    const uint32_t two = (one + 1 + keel_random_below(&run->random, ranks - 1)) % ranks;
    const uint32_t first = one < two ? one : two, second = one < two ? two : one;
    const int is_nested = (int)keel_random_below(&run->random, 2);

    TRY(run_lock(run, first));
    if (keel_random_chance(&run->random, 512)) {
        TRY(run_section(run, first));
        TRY(run_lock(run, second));
    } else {
        TRY(run_lock(run, second));
        TRY(run_section(run, first));
    }
    TRY(run_section(run, second));
    TRY(run_unlock(run, is_nested ? second : first));
    return run_unlock(run, is_nested ? first : second);
}

static keel_status_t run_read(locks_run_t *run)
{
    const unsigned count = 1 + keel_random_below(&run->random, LOCKS_SEEN_MAX - 1);
    uint64_t head[2];

    run_point(run, "lock all from", run->host->rank);
    TRY(play_did(run->host, PLAY_DID_GET, PLAY_ALL, keel_lock_all(run->life.ctx)));
    for (unsigned i = 0; i < count; i++) {
        const uint32_t target = keel_random_below(&run->random, run->journal->options.ranks);
        locks_seen_t *seen = run_note(run, target, 0);

        TRY(run_get(run, target, 0, head, sizeof(head)));
        seen->version = head[0];
        seen->chain = head[1];
        run_mix(run, head[0] ^ head[1]);
        seen->cell = (uint8_t)(run->state.hash % LOCKS_CELLS);
        TRY(run_get(run, target, offsetof(locks_memory_t, cell) + 8 * seen->cell, &seen->value, sizeof(seen->value)));
        run_mix(run, seen->value);
    }
    run_point(run, "unlock all from", run->host->rank);
    return play_did(run->host, PLAY_DID_FLUSH, PLAY_ALL, keel_unlock_all(run->life.ctx));
}

static keel_status_t run_step(locks_run_t *run)
{
    static const step_kind_t kinds[] = {STEP_WRITE, STEP_WRITE, STEP_WRITE, STEP_WRITE,  STEP_PAIR,
                                        STEP_PAIR,  STEP_READ,  STEP_READ,  STEP_COMPUTE};
    const locks_options_t *options = &run->journal->options;

    run->random.state = keel_random_mix(options->seed ^ ((uint64_t)run->host->rank << 32) ^ (run->state.step + 1));
    run->extra.state = keel_random_mix(run->random.state ^ 0x72657772);
    run->seen = 0;
    memset(run->journal->seen[run->host->rank][run->state.step], 0, sizeof(run->journal->seen[0][0]));
    switch (kinds[keel_random_below(&run->random, sizeof(kinds) / sizeof(kinds[0]))]) {
    case STEP_WRITE:
        return run_write(run);
    case STEP_PAIR:
        return run_pair(run);
    case STEP_READ:
        return run_read(run);
    default:
        run->host->compute(run->host, keel_random_scaled(&run->random, 200000));
        return KEEL_OK;
    }
}

/* drawn for all ranks alike */
static int is_checkpoint(const locks_options_t *options, uint64_t step)
{
    keel_random_t random = {keel_random_mix(options->seed ^ (step << 8) ^ 0x636b7074)};

    return step == options->steps || keel_random_chance(&random, options->checkpoints);
}

static keel_status_t run_steps(void *arg)
{
    locks_run_t *run = arg;
    const locks_options_t *options = &run->journal->options;

    while (run->state.step < options->steps) {
        run->host->at(run->host, (uint32_t)run->state.step);
        if (run->host->asks != NULL && run->host->asks(run->host, (uint32_t)run->state.step)) {
            return keel_rollback(run->life.ctx);
        }
        TRY(run_step(run));
        run->state.step++;
        if (is_checkpoint(options, run->state.step)) {
            run_point(run, "checkpoint of", run->host->rank);
            TRY(keel_checkpoint(run->life.ctx));
        }
    }
    run->journal->end[run->host->rank] = *run->own; /* behind a checkpoint: nobody writes any more */
    return KEEL_OK;
}

static keel_status_t run_open(void *arg)
{
    locks_run_t *run = arg;
    keel_status_t status = keel_win_alloc(run->life.ctx, sizeof(*run->own), NULL, &run->win);

    if (status == KEEL_OK) {
        run->own = keel_win_base(run->win);
        status = keel_protect(run->life.ctx, ID_STATE, &run->state, sizeof(run->state));
    }
    return status;
}

keel_status_t locks_program(play_host_t *host)
{
    locks_run_t run = {.host = host, .journal = host->locks, .state = {.hash = keel_random_mix(host->rank + 77)}};

    run.life = (life_t){.host = host,
                        .steps = run.journal->options.steps,
                        .step = &run.state.step,
                        .open = run_open,
                        .run = run_steps,
                        .arg = &run};
    return life_run(&run.life);
}

/* ---- the judge ---- */

typedef struct event {
    const locks_seen_t *seen;
    uint32_t rank;
    uint32_t step;
} event_t;

static int event_compare(const void *left, const void *right)
{
    const event_t *a = left, *b = right;

    if (a->seen->version != b->seen->version) {
        return a->seen->version < b->seen->version ? -1 : 1;
    }
    if (a->seen->is_write != b->seen->is_write) {
        return (int)a->seen->is_write - (int)b->seen->is_write; /* who reads a version comes before who ends it */
    }
    return (a->step > b->step) - (a->step < b->step);
}

static unsigned events_of(const locks_journal_t *journal, uint32_t target, event_t *events)
{
    unsigned count = 0;

    for (uint32_t r = 0; r < journal->options.ranks; r++) {
        for (uint32_t step = 0; step < journal->options.steps; step++) {
            for (unsigned i = 0; i < LOCKS_SEEN_MAX; i++) {
                const locks_seen_t *seen = &journal->seen[r][step][i];

                if (seen->is_used && seen->target == target) {
                    events[count++] = (event_t){.seen = seen, .rank = r, .step = step};
                }
            }
        }
    }
    qsort(events, count, sizeof(*events), event_compare);
    return count;
}

/* what each rank saw of a window never goes back */
static const char *judge_order(const event_t *events, unsigned count, char *text, size_t size)
{
    static uint32_t next[LOCKS_RANKS_MAX];

    memset(next, 0, sizeof(next));
    for (unsigned i = 0; i < count; i++) {
        if (events[i].step < next[events[i].rank]) {
            snprintf(text, size, "rank %u step %u comes behind its step %u in the history of window %u", events[i].rank,
                     events[i].step, next[events[i].rank], events[i].seen->target);
            return text;
        }
        next[events[i].rank] = events[i].step;
    }
    return NULL;
}

static const char *judge_window(const locks_journal_t *journal, uint32_t target, event_t *events, char *text,
                                size_t size)
{
    const unsigned count = events_of(journal, target, events);
    locks_memory_t memory = {0};

    for (unsigned i = 0; i < count; i++) {
        const locks_seen_t *seen = events[i].seen;

        if (seen->version != memory.version || seen->chain != memory.chain ||
            (!seen->is_write && seen->value != memory.cell[seen->cell]) ||
            (seen->has_old && seen->old != memory.cell[seen->cell])) {
            snprintf(text, size, "window %u: rank %u step %u %s version %llu chain %llx, which stood at %llu %llx%s",
                     target, events[i].rank, events[i].step, seen->is_write ? "wrote over" : "read",
                     (unsigned long long)seen->version, (unsigned long long)seen->chain,
                     (unsigned long long)memory.version, (unsigned long long)memory.chain,
                     seen->version == memory.version && seen->chain == memory.chain ? " (cell differs)" : "");
            return text;
        }
        if (seen->is_write) {
            memory.version++;
            memory.chain = link_of(memory.chain, events[i].rank, events[i].step, target);
            memory.cell[seen->cell] = seen->value;
            memory.total += seen->added;
        }
    }
    if (memcmp(&memory, &journal->end[target], sizeof(memory)) != 0) {
        const locks_memory_t *end = &journal->end[target];

        snprintf(text, size, "window %u ends at version %llu total %llu, its history at %llu total %llu", target,
                 (unsigned long long)end->version, (unsigned long long)end->total, (unsigned long long)memory.version,
                 (unsigned long long)memory.total);
        return text;
    }
    return judge_order(events, count, text, size);
}

const char *locks_judge(const locks_journal_t *journal, char *text, size_t size)
{
    static event_t events[LOCKS_RANKS_MAX * LOCKS_STEPS_MAX * LOCKS_SEEN_MAX];
    const char *flaw = NULL;

    for (uint32_t target = 0; target < journal->options.ranks && flaw == NULL; target++) {
        flaw = judge_window(journal, target, events, text, size);
    }
    return flaw;
}
