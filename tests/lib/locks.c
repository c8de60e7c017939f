/* Programs of critical sections. */
#include "locks.h"

#include "life.h"
#include "sim/random.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* programs without pieces draw from the first three */
static const keel_atomic_op_t exchanges[] = {KEEL_ATOMIC_SWAP, KEEL_ATOMIC_CSWAP, KEEL_ATOMIC_XOR,
                                             KEEL_ATOMIC_ADD,  KEEL_ATOMIC_AND,   KEEL_ATOMIC_OR};

enum { ID_STATE = 1 };

typedef enum { STEP_WRITE, STEP_PAIR, STEP_READ, STEP_COMPUTE } step_kind_t;

typedef struct locks_state {
    uint64_t step, hash;
    uint64_t is_met; /* with safe points: all steps of all ranks are done */
} locks_state_t;

typedef struct locks_run {
    play_host_t *host;
    locks_journal_t *journal;
    life_t life;
    keel_win_h win;
    locks_memory_t *own;
    locks_state_t state;
    keel_random_t random; /* draws of the step */
    keel_random_t extra;  /* draws of the step in programs with rewrites */
    keel_random_t drawn;  /* draws of pieces */
    unsigned seen;        /* windows seen in this step */
    pieces_t pieces;
    unsigned char *got, *fresh; /* buffers for pieces */
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

/* Returns the operand for the change from @a from to @a to. If the operation cannot reach @a to, @a
 * to becomes the value reached. */
static uint64_t exchange_operand(keel_atomic_op_t op, uint64_t from, uint64_t *to)
{
    const uint64_t operand = *to;

    switch (op) {
    case KEEL_ATOMIC_XOR:
        return from ^ operand;
    case KEEL_ATOMIC_ADD:
        return operand - from;
    case KEEL_ATOMIC_AND:
        *to = from & operand;
        return operand;
    case KEEL_ATOMIC_OR:
        *to = from | operand;
        return operand;
    default:
        return operand;
    }
}

/* Changes the cell from @a old to its new value by one atomic of 8 bytes, or by two of 4. */
static keel_status_t run_exchange(locks_run_t *run, uint32_t target, locks_seen_t *seen, uint64_t old)
{
    const size_t at = offsetof(locks_memory_t, cell) + 8 * seen->cell;
    const unsigned size = keel_random_chance(&run->extra, 512) ? 4 : 8;
    const keel_atomic_op_t op = exchanges[keel_random_below(&run->extra, (run->journal->options.room > 0) ? 6 : 3)];

    for (unsigned done = 0; done < 8; done += size) {
        const uint64_t mask = (size == 8) ? UINT64_MAX : UINT32_MAX;
        const uint64_t from = (old >> (8 * done)) & mask;
        uint64_t to = (seen->value >> (8 * done)) & mask, fetched = 0;
        const uint64_t operand = exchange_operand(op, from, &to) & mask;

        seen->value = (seen->value & ~(mask << (8 * done))) | (to << (8 * done));
        run_point(run, "exchange at", target);
        TRY(play_did(run->host, PLAY_DID_PUT | PLAY_DID_GET, target,
                     keel_atomic(run->win, op, target, at + done, size, operand, from, &fetched)));
        seen->old |= (fetched & mask) << (8 * done);
    }
    seen->has_old = 1;
    return KEEL_OK;
}

/* Writes the new value of the cell: at once, after other values, or by atomics. */
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

/* In half of the cases reads a piece, writes a piece where only writers have access, or does
 * both. */
static keel_status_t run_piece(locks_run_t *run, uint32_t target, locks_seen_t *seen)
{
    pieces_access_t access = {.to = run->got, .from = run->fresh};

    if (run->journal->options.room == 0 || keel_random_chance(&run->drawn, 512)) {
        return KEEL_OK;
    }
    pieces_draw(&run->drawn, run->journal->options.room, &access);
    access.puts &= seen->is_write;
    seen->put_seed = keel_random_mix(run->state.hash ^ keel_random_next(&run->drawn));
    if (access.puts) {
        play_fill(run->fresh, access.put.length, seen->put_seed);
    }
    TRY(pieces_do(&run->pieces, target, &access));
    seen->has_got = (uint8_t)access.gets;
    seen->has_put = (uint8_t)access.puts;
    seen->got = access.get;
    seen->put = access.put;
    if (access.gets) {
        seen->got_hash = play_hash(0, run->got, access.get.length);
        run_mix(run, seen->got_hash);
    }
    return KEEL_OK;
}

/* The accesses inside a critical section: the window of @a target is locked. */
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
    TRY(run_piece(run, target, seen));
    if (run->journal->options.has_atomics && keel_random_chance(&run->random, 400)) {
        seen->added = run->state.hash >> 32;
        TRY(run_add(run, target, seen->added));
    }
    if (keel_random_chance(&run->random, 300)) {
        TRY(run_flush(run, target));
    }
    head[1] = locks_link(head[1], run->host->rank, run->state.step, target);
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
        if (i == 0) {
            TRY(run_piece(run, target, seen));
        }
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
    run->drawn.state = keel_random_mix(run->random.state ^ 0x7069656365);
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

/* No rank writes between two gsyncs: each rank reads its own memory without the lock. */
static keel_status_t run_look(locks_run_t *run)
{
    locks_seen_t *seen = run_note(run, run->host->rank, 0);

    run_point(run, "gsync of", run->host->rank);
    TRY(keel_gsync(run->life.ctx, 0));
    run_point(run, "look at", run->host->rank);
    seen->version = run->own->version;
    seen->chain = run->own->chain;
    run_mix(run, seen->version ^ seen->chain);
    seen->cell = (uint8_t)(run->state.hash % LOCKS_CELLS);
    seen->value = run->own->cell[seen->cell];
    run_mix(run, seen->value);
    return KEEL_OK;
}

/* Both predicates are drawn alike on all ranks. A look takes the last slot of a step's journal. */
static int has_gsyncs(const locks_options_t *options, uint64_t step)
{
    keel_random_t random = {keel_random_mix(options->seed ^ (step << 8) ^ 0x6773796e)};

    return options->gsyncs > 0 && keel_random_chance(&random, options->gsyncs);
}

static int is_checkpoint(const locks_options_t *options, uint64_t step)
{
    keel_random_t random = {keel_random_mix(options->seed ^ (step << 8) ^ 0x636b7074)};

    return (step == options->steps && options->points == 0) || keel_random_chance(&random, options->checkpoints);
}

/* With safe points: collective calls end with the first half of the steps; after them each rank has
 * a number of further steps of its own. */
static int may_meet(const locks_options_t *options, uint64_t step)
{
    return options->points == 0 || 2 * step <= options->steps;
}

static uint64_t steps_of(const locks_options_t *options, uint32_t rank)
{
    keel_random_t random = {keel_random_mix(options->seed ^ rank ^ 0x73746570)};

    return (options->points == 0) ? options->steps
                                  : options->steps - keel_random_below(&random, options->steps / 2 + 1);
}

static int has_point(const locks_options_t *options, uint32_t rank, uint64_t step)
{
    keel_random_t random = {keel_random_mix(options->seed ^ ((uint64_t)rank << 32) ^ (step << 8) ^ 0x706f696e)};

    return options->points > 0 && keel_random_chance(&random, options->points);
}

/* Ranks that are done wait where a stop is possible, or where it is not. After the wait no rank
 * writes any more. */
static keel_status_t run_end(locks_run_t *run)
{
    const locks_options_t *options = &run->journal->options;
    keel_random_t random = {keel_random_mix(options->seed ^ 0x656e64)};

    if (options->points == 0) {
        return KEEL_OK;
    }
    run_point(run, "end of", run->host->rank);
    if (run->state.is_met == 0) {
        run->state.is_met = 1;
        switch (keel_random_below(&random, 3)) {
        case 0:
            TRY(keel_gsync(run->life.ctx, 0));
            break;
        case 1:
            TRY(keel_checkpoint(run->life.ctx));
            break;
        default:
            TRY(keel_gsync(run->life.ctx, KEEL_GSYNC_SAFE));
        }
    }
    return KEEL_OK;
}

static keel_status_t run_steps(void *arg)
{
    locks_run_t *run = arg;
    const locks_options_t *options = &run->journal->options;

    while (run->state.step < steps_of(options, run->host->rank)) {
        const int looks = may_meet(options, run->state.step + 1) && has_gsyncs(options, run->state.step);

        run->host->at(run->host, (uint32_t)run->state.step);
        if (run->host->asks != NULL && run->host->asks(run->host, (uint32_t)run->state.step)) {
            return keel_rollback(run->life.ctx);
        }
        TRY(run_step(run));
        if (looks) {
            TRY(run_look(run));
        }
        run->state.step++;
        if (looks) {
            TRY(keel_gsync(run->life.ctx, KEEL_GSYNC_SAFE));
        } else if (may_meet(options, run->state.step) && is_checkpoint(options, run->state.step)) {
            run_point(run, "checkpoint of", run->host->rank);
            TRY(keel_checkpoint(run->life.ctx));
        } else if (has_point(options, run->host->rank, run->state.step)) {
            run_point(run, "safe point of", run->host->rank);
            TRY(keel_safe_point(run->life.ctx));
        }
    }
    TRY(run_end(run));
    memcpy(run->journal->end_pieces[run->host->rank], run->pieces.own, options->room);
    /* after a checkpoint or gsync: no rank writes any more */
    run->journal->end[run->host->rank] = *run->own;
    return KEEL_OK;
}

static keel_status_t run_open(void *arg)
{
    locks_run_t *run = arg;
    keel_status_t status =
        keel_win_alloc(run->life.ctx, sizeof(*run->own) + run->journal->options.room, NULL, &run->win);

    if (status == KEEL_OK) {
        run->own = keel_win_base(run->win);
        run->pieces = (pieces_t){
            .host = run->host, .win = run->win, .at = sizeof(*run->own), .own = (unsigned char *)(run->own + 1)};
        status = keel_protect(run->life.ctx, ID_STATE, &run->state, sizeof(run->state));
    }
    return status;
}

keel_status_t locks_program(play_host_t *host)
{
    locks_run_t run = {.host = host, .journal = host->locks, .state = {.hash = keel_random_mix(host->rank + 77)}};
    const uint32_t room = run.journal->options.room;
    keel_status_t status;

    if (room > 0) {
        run.got = host->alloc(2 * (size_t)room, "pieces");
        run.fresh = run.got + room;
    }
    run.life = (life_t){.host = host,
                        .steps = run.journal->options.steps,
                        .step = &run.state.step,
                        .open = run_open,
                        .run = run_steps,
                        .arg = &run};
    status = life_run(&run.life);
    if (room > 0) {
        host->release(run.got);
    }
    return status;
}
