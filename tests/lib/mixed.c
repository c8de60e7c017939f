/* Programs that mix all ways to synchronise. */
#include "mixed.h"

#include "life.h"
#include "sim/random.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { ID_STATE = 1, EACH = 4 };

typedef enum { ACT_SECTION, ACT_READING, ACT_PUT, ACT_ADD, ACT_GET, ACT_LAST } act_kind_t;

/* what a rank does once in a step */
typedef struct act {
    act_kind_t kind;
    uint32_t target;
    uint64_t value;
    int fetches;
} act_t;

typedef struct mixed_state {
    uint64_t step;
    uint64_t is_half; /* in the epoch of this step, behind its gsync */
} mixed_state_t;

typedef struct mixed_run {
    play_host_t *host;
    mixed_journal_t *journal;
    life_t life;
    keel_win_h win;
    mixed_state_t state; /* protected */
    act_t acts[EACH];    /* of this step */
    unsigned count;
} mixed_run_t;

/* ---- what the seed says ---- */

static keel_random_t step_random(const mixed_options_t *options, uint64_t step)
{
    return (keel_random_t){keel_random_mix(options->seed ^ (step << 8) ^ 0x73746570)};
}

typedef struct step_kind {
    int is_epoch; /* all ranks, from one gsync to another */
    int waits, ends_with_gsync, ends_with_checkpoint, is_safe;
} step_kind_t;

static step_kind_t step_kind(const mixed_options_t *options, uint64_t step)
{
    keel_random_t random = step_random(options, step);
    step_kind_t kind = {0};

    kind.is_epoch =
        keel_random_chance(&random, 250) && (options->ways & MIXED_EPOCHS) && (options->ways & MIXED_GSYNCS);
    kind.waits = keel_random_chance(&random, 400) && (options->ways & MIXED_WAITS);
    kind.ends_with_gsync = keel_random_chance(&random, 500) && (options->ways & MIXED_GSYNCS);
    kind.ends_with_checkpoint = keel_random_chance(&random, options->checkpoints);
    kind.is_safe = keel_random_chance(&random, 700);
    return kind;
}

typedef enum { SIGNAL_SECTION, SIGNAL_ATOMIC, SIGNAL_WAIT, SIGNAL_LAST } signal_t;

/* one rank puts a word, and tells another, which puts it then: an order that only the signal gives */
typedef struct relay {
    int is_due;
    signal_t signal;
    uint32_t rank[2], at;
    int is_locked[2], is_signal_locked;
    uint64_t value[2];
} relay_t;

static relay_t step_relay(const mixed_options_t *options, uint64_t step)
{
    keel_random_t random = {keel_random_mix(options->seed ^ (step << 8) ^ 0x72656c6179)};
    relay_t relay = {.is_due = keel_random_chance(&random, options->relays) && step < MIXED_RELAYS &&
                               (options->ways & MIXED_SECTIONS) && (options->ways & MIXED_BARE) &&
                               !step_kind(options, step).is_epoch};

    relay.signal = (signal_t)keel_random_below(&random, SIGNAL_LAST);
    relay.rank[0] = keel_random_below(&random, options->ranks);
    relay.rank[1] = (relay.rank[0] + 1 + keel_random_below(&random, options->ranks - 1)) % options->ranks;
    relay.at = keel_random_below(&random, options->ranks);
    relay.is_signal_locked = keel_random_chance(&random, 512);
    for (unsigned i = 0; i < 2; i++) {
        relay.is_locked[i] = keel_random_chance(&random, 512);
        relay.value[i] = keel_random_next(&random);
    }
    if (options->is_divided) { /* from or to the one that never locks */
        const uint32_t bare = (uint32_t)(options->seed % options->ranks);

        if (relay.rank[0] != bare) {
            relay.rank[1] = bare;
        }
        relay.is_locked[0] = relay.is_signal_locked = relay.rank[0] != bare;
        relay.is_locked[1] = relay.rank[1] != bare;
        if (relay.signal == SIGNAL_WAIT && relay.is_locked[1]) {
            relay.signal = SIGNAL_ATOMIC;
        }
        relay.signal = (relay.signal == SIGNAL_SECTION) ? SIGNAL_ATOMIC : relay.signal;
    } else if (relay.signal == SIGNAL_WAIT && !(options->ways & MIXED_WAITS)) {
        relay.signal = SIGNAL_SECTION;
    }
    return relay;
}

static unsigned step_acts(const mixed_options_t *options, uint64_t step, uint32_t rank, act_t *acts)
{
    keel_random_t random = {keel_random_mix(options->seed ^ ((uint64_t)rank << 32) ^ (step + 1))};
    const step_kind_t kind = step_kind(options, step);
    const unsigned count = keel_random_below(&random, EACH + 1);

    for (unsigned i = 0; i < count; i++) {
        acts[i].kind = (act_kind_t)keel_random_below(&random, ACT_LAST);
        acts[i].target = keel_random_below(&random, options->ranks);
        acts[i].value = keel_random_next(&random);
        acts[i].fetches = keel_random_chance(&random, 512);
        if (options->is_divided) {
            acts[i].kind = (rank != options->seed % options->ranks) ? ACT_SECTION : acts[i].fetches ? ACT_PUT : ACT_ADD;
        }
        if (acts[i].kind == ACT_SECTION && (!(options->ways & MIXED_SECTIONS) || kind.is_epoch)) {
            acts[i].kind = ACT_PUT;
        }
        if (acts[i].kind == ACT_READING && (!(options->ways & MIXED_EPOCHS) || kind.is_epoch)) {
            acts[i].kind = ACT_GET;
        }
    }
    return count;
}

/* an access on its own, where all are to have a lock */
static int is_bare(const mixed_options_t *options, const act_t *act)
{
    return act->kind != ACT_SECTION && act->kind != ACT_READING && (options->ways & MIXED_BARE);
}

/* ---- the program ---- */

static uint64_t slot_at(const mixed_run_t *run)
{
    return offsetof(mixed_memory_t, slot) + run->host->rank * sizeof(uint64_t);
}

/* whether what has this value is done by calls that no log has */
static int is_other(const mixed_options_t *options, uint64_t value)
{
    return (options->ways & MIXED_UNLOGGED) != 0 && keel_random_mix(value) % 2 != 0;
}

static keel_status_t run_add(const mixed_run_t *run, const act_t *act)
{
    const uint64_t way = keel_random_mix(act->value) >> 1;
    uint64_t found;

    TRY(other_combine(run->win, act->target, offsetof(mixed_memory_t, words), act->value, way));
    return other_add(run->win, act->target, offsetof(mixed_memory_t, total), act->value, act->fetches ? &found : NULL,
                     way >> 4);
}

/* a word that nobody else writes now */
static keel_status_t run_put(const mixed_run_t *run, uint32_t target, uint64_t offset, uint64_t value)
{
    if (is_other(&run->journal->options, value)) {
        return other_put(run->win, target, offset, value, keel_random_mix(value) >> 1);
    }
    return keel_put(run->win, target, offset, &value, sizeof(value));
}

static keel_status_t run_access(mixed_run_t *run, const act_t *act)
{
    uint64_t value = act->value, found;

    switch (act->kind) {
    case ACT_PUT:
        return run_put(run, act->target, slot_at(run), value);
    case ACT_ADD:
        if (is_other(&run->journal->options, value)) {
            return run_add(run, act);
        }
        return keel_atomic(run->win, KEEL_ATOMIC_ADD, act->target, offsetof(mixed_memory_t, total), sizeof(value),
                           value, 0, act->fetches ? &found : NULL);
    default:
        return keel_get(run->win, act->target, offsetof(mixed_memory_t, slot), &found, sizeof(found));
    }
}

/* the same under the lock of the window */
static keel_status_t run_window_section(mixed_run_t *run, const act_t *act)
{
    uint64_t count = 0;

    TRY(other_lock(run->win, act->target, KEEL_LOCK_EXCLUSIVE, act->value));
    TRY(keel_get(run->win, act->target, offsetof(mixed_memory_t, locked_count), &count, sizeof(count)));
    count += act->value;
    TRY(keel_put(run->win, act->target, offsetof(mixed_memory_t, locked_count), &count, sizeof(count)));
    return keel_win_unlock(run->win, act->target);
}

static keel_status_t run_section(mixed_run_t *run, const act_t *act)
{
    uint64_t count = 0;

    if (is_other(&run->journal->options, act->value)) {
        return run_window_section(run, act);
    }

    TRY(keel_lock(run->life.ctx, act->target));
    TRY(keel_get(run->win, act->target, offsetof(mixed_memory_t, count), &count, sizeof(count)));
    count += act->value;
    TRY(keel_put(run->win, act->target, offsetof(mixed_memory_t, count), &count, sizeof(count)));
    return keel_unlock(run->life.ctx, act->target);
}

/* the same access, in an epoch of its own or with the target locked */
static keel_status_t run_locked(mixed_run_t *run, const act_t *act, int is_shared)
{
    if (is_shared && is_other(&run->journal->options, act->value + 1)) {
        TRY(other_lock(run->win, act->target, KEEL_LOCK_SHARED, act->value));
        TRY(run_access(run, act));
        return keel_win_unlock(run->win, act->target);
    }
    TRY(is_shared ? keel_lock_all(run->life.ctx) : keel_lock(run->life.ctx, act->target));
    TRY(run_access(run, act));
    TRY(act->fetches ? keel_flush(run->life.ctx, act->target) : KEEL_OK);
    return is_shared ? keel_unlock_all(run->life.ctx) : keel_unlock(run->life.ctx, act->target);
}

static keel_status_t run_act(mixed_run_t *run, const act_t *act, int is_epoch)
{
    const mixed_options_t *options = &run->journal->options;

    if (run->host->point != NULL) {
        run->host->point(run->host);
    }
    if (act->kind == ACT_SECTION) {
        return run_section(run, act);
    }
    if (act->kind == ACT_READING) {
        const act_t put = {.kind = ACT_PUT, .target = act->target, .value = act->value, .fetches = act->fetches};

        return run_locked(run, &put, 1);
    }
    if (is_epoch || is_bare(options, act) || !(options->ways & (MIXED_SECTIONS | MIXED_EPOCHS))) {
        return run_access(run, act);
    }
    return run_locked(run, act, !(options->ways & MIXED_SECTIONS));
}

static keel_status_t relay_put(mixed_run_t *run, const relay_t *relay, uint64_t step, unsigned i)
{
    TRY(relay->is_locked[i] ? keel_lock(run->life.ctx, relay->at) : KEEL_OK);
    TRY(run_put(run, relay->at, offsetof(mixed_memory_t, relay) + step * sizeof(relay->value[i]), relay->value[i]));
    TRY(keel_flush(run->life.ctx, relay->at));
    return relay->is_locked[i] ? keel_unlock(run->life.ctx, relay->at) : KEEL_OK;
}

static keel_status_t relay_tell(mixed_run_t *run, const relay_t *relay, uint64_t step)
{
    const uint64_t offset = offsetof(mixed_memory_t, token) + step * sizeof(step), said = step + 1;
    const int is_locked = relay->signal == SIGNAL_SECTION || relay->is_signal_locked;

    TRY(is_locked ? keel_lock(run->life.ctx, relay->rank[1]) : KEEL_OK);
    TRY(relay->signal == SIGNAL_ATOMIC
            ? keel_atomic(run->win, KEEL_ATOMIC_ADD, relay->rank[1], offset, sizeof(said), said, 0, NULL)
            : keel_put(run->win, relay->rank[1], offset, &said, sizeof(said)));
    TRY(keel_flush(run->life.ctx, relay->rank[1]));
    return is_locked ? keel_unlock(run->life.ctx, relay->rank[1]) : KEEL_OK;
}

/* which of the three ways there are */
enum { WAIT_UNTIL, WAIT_ANY, WAIT_TEST, WAIT_WAYS };

static keel_status_t run_await(mixed_run_t *run, uint64_t offset, uint64_t said, unsigned way)
{
    keel_word_t words[] = {
        {.win = run->win, .offset = offsetof(mixed_memory_t, never), .size = 2, .compare = KEEL_COMPARE_NE},
        {.win = run->win, .offset = offset, .size = sizeof(said), .compare = KEEL_COMPARE_GE, .value = said}};
    keel_status_t status = KEEL_INPROGRESS;
    unsigned met = 1;

    if (way == WAIT_UNTIL || !(run->journal->options.ways & MIXED_TESTS)) {
        return keel_wait_until(run->win, offset, sizeof(said), KEEL_COMPARE_GE, said);
    }
    if (way == WAIT_ANY) {
        status = keel_wait(run->life.ctx, KEEL_WAIT_ANY, words, 2, &met);
    }
    while (status == KEEL_INPROGRESS) {
        status = keel_test(run->life.ctx, KEEL_WAIT_ALL, &words[1], 1, NULL);
    }
    return (status == KEEL_OK && (met != 1 || words[0].is_met || !words[1].is_met || words[1].seen < said))
               ? KEEL_ERR_CORRUPT
               : status;
}

static keel_status_t relay_await(mixed_run_t *run, const relay_t *relay, uint64_t step)
{
    const uint64_t offset = offsetof(mixed_memory_t, token) + step * sizeof(step), said = step + 1;
    const uint32_t own = run->host->rank;
    uint64_t token = 0;

    if (relay->signal == SIGNAL_WAIT) {
        return run_await(run, offset, said, (unsigned)(step % WAIT_WAYS));
    }
    while (token < said) {
        if (relay->signal == SIGNAL_ATOMIC && !relay->is_locked[1]) {
            TRY(keel_atomic(run->win, KEEL_ATOMIC_ADD, own, offset, sizeof(token), 0, 0, &token));
        } else {
            TRY(keel_lock(run->life.ctx, own));
            TRY(keel_get(run->win, own, offset, &token, sizeof(token)));
            TRY(keel_unlock(run->life.ctx, own));
        }
        TRY(keel_progress(run->life.ctx));
    }
    return KEEL_OK;
}

static keel_status_t run_relay(mixed_run_t *run, uint64_t step)
{
    const relay_t relay = step_relay(&run->journal->options, step);

    if (relay.is_due && run->host->rank == relay.rank[0]) {
        TRY(relay_put(run, &relay, step, 0));
        TRY(relay_tell(run, &relay, step));
    }
    if (relay.is_due && run->host->rank == relay.rank[1]) {
        TRY(relay_await(run, &relay, step));
        TRY(relay_put(run, &relay, step, 1));
    }
    return KEEL_OK;
}

/* whether @a rank tells its neighbour by a signal, of something that comes ahead of it */
static int has_note(const mixed_options_t *options, uint64_t step, uint32_t rank)
{
    return is_other(options, options->seed ^ (step << 16) ^ rank);
}

static keel_status_t run_wait(mixed_run_t *run, uint64_t step)
{
    const mixed_memory_t *memory = keel_win_base(run->win);
    const uint32_t own = run->host->rank, ranks = run->journal->options.ranks;
    const uint32_t before = (own + ranks - 1) % ranks, next = (own + 1) % ranks;
    const uint64_t said = step + 1;

    if (has_note(&run->journal->options, step, own)) {
        const keel_signal_t flag = {.offset = offsetof(mixed_memory_t, flag) + own * sizeof(said), .value = said};

        TRY(keel_put_signal(run->win, next, offsetof(mixed_memory_t, note) + own * sizeof(said), &said, sizeof(said),
                            &flag));
    } else {
        TRY(keel_put(run->win, next, offsetof(mixed_memory_t, flag) + own * sizeof(said), &said, sizeof(said)));
    }
    TRY(run_await(run, offsetof(mixed_memory_t, flag) + before * sizeof(said), said,
                  (unsigned)((step + own) % WAIT_WAYS)));
    return (!has_note(&run->journal->options, step, before) || memory->note[before] >= said) ? KEEL_OK
                                                                                             : KEEL_ERR_CORRUPT;
}

/* of the ranks of an epoch some lock the window everywhere, and not all memory */
static int locks_windows(const mixed_run_t *run, uint64_t step)
{
    return is_other(&run->journal->options, run->journal->options.seed ^ (step << 20) ^ run->host->rank);
}

static keel_status_t run_epoch_lock(mixed_run_t *run)
{
    if (!locks_windows(run, run->state.step)) {
        return keel_lock_all(run->life.ctx);
    }
    for (uint32_t r = 0; r < run->journal->options.ranks; r++) {
        TRY(keel_win_lock(run->win, r, KEEL_LOCK_SHARED));
    }
    return KEEL_OK;
}

static keel_status_t run_epoch_unlock(mixed_run_t *run, uint64_t step)
{
    if (!locks_windows(run, step)) {
        return keel_unlock_all(run->life.ctx);
    }
    for (uint32_t r = 0; r < run->journal->options.ranks; r++) {
        TRY(keel_win_unlock(run->win, r));
    }
    return KEEL_OK;
}

/* Who is in the epoch already keeps others from what they have yet to lock: so all have come. An image may be taken amid it. */
static keel_status_t run_epoch_half(mixed_run_t *run, const step_kind_t *kind)
{
    TRY(keel_gsync(run->life.ctx, 0));
    TRY(run_epoch_lock(run));
    for (unsigned i = 0; i < run->count / 2; i++) {
        TRY(run_act(run, &run->acts[i], 1));
    }
    TRY(keel_flush_all(run->life.ctx));
    run->state.is_half = 1;
    return keel_gsync(run->life.ctx, kind->is_safe ? KEEL_GSYNC_SAFE : 0);
}

static keel_status_t run_step(mixed_run_t *run, uint64_t step)
{
    const step_kind_t kind = step_kind(&run->journal->options, step);
    const unsigned gsync = kind.is_safe ? KEEL_GSYNC_SAFE : 0;

    run->count = step_acts(&run->journal->options, step, run->host->rank, run->acts);
    if (kind.is_epoch && !run->state.is_half) {
        TRY(run_epoch_half(run, &kind));
    }
    for (unsigned i = kind.is_epoch ? run->count / 2 : 0; i < run->count; i++) {
        TRY(run_act(run, &run->acts[i], kind.is_epoch));
    }
    TRY(run_relay(run, step));
    TRY(kind.waits ? run_wait(run, step) : KEEL_OK);
    TRY(kind.is_epoch ? run_epoch_unlock(run, step) : KEEL_OK);
    run->state = (mixed_state_t){.step = step + 1};
    if (kind.ends_with_checkpoint) {
        return keel_checkpoint(run->life.ctx);
    }
    return kind.ends_with_gsync ? keel_gsync(run->life.ctx, gsync) : KEEL_OK;
}

static keel_status_t run_steps(void *arg)
{
    mixed_run_t *run = arg;
    const mixed_options_t *options = &run->journal->options;

    while (run->state.step < options->steps) {
        const uint64_t step = run->state.step;

        run->host->at(run->host, (uint32_t)step);
        if (run->host->asks != NULL && run->host->asks(run->host, (uint32_t)step)) {
            return keel_rollback(run->life.ctx);
        }
        TRY(run_step(run, step));
    }
    if (options->ways & MIXED_GSYNCS) {
        TRY(keel_gsync(run->life.ctx, 0));
    } else if (run->state.step == options->steps) {
        run->state.step++; /* an image of that checkpoint is behind it */
        TRY(keel_checkpoint(run->life.ctx));
    }
    memcpy(&run->journal->end[run->host->rank], keel_win_base(run->win), sizeof(mixed_memory_t));
    return KEEL_OK;
}

static keel_status_t run_open(void *arg)
{
    mixed_run_t *run = arg;

    TRY(keel_win_alloc(run->life.ctx, sizeof(mixed_memory_t), NULL, &run->win));
    return keel_protect(run->life.ctx, ID_STATE, &run->state, sizeof(run->state));
}

keel_status_t mixed_program(play_host_t *host)
{
    mixed_run_t run = {.host = host, .journal = host->mixed};

    run.life = (life_t){.host = host,
                        .steps = run.journal->options.steps,
                        .step = &run.state.step,
                        .open = run_open,
                        .run = run_steps,
                        .arg = &run};
    return life_run(&run.life);
}

/* ---- the judge ---- */

static void judge_act(const mixed_options_t *options, const act_t *act, uint32_t rank, mixed_memory_t *memory)
{
    mixed_memory_t *target = &memory[act->target];

    switch (act->kind) {
    case ACT_SECTION:
        *(is_other(options, act->value) ? &target->locked_count : &target->count) += act->value;
        break;
    case ACT_READING:
    case ACT_PUT:
        target->slot[rank] = act->value;
        break;
    case ACT_ADD:
        target->total += act->value;
        if (is_other(options, act->value)) {
            other_combine_here(&target->words, act->value);
        }
        break;
    default:
        break;
    }
}

const char *mixed_judge(const mixed_journal_t *journal, char *text, size_t size)
{
    const mixed_options_t *options = &journal->options;
    mixed_memory_t memory[MIXED_RANKS_MAX] = {0};
    act_t acts[EACH];

    for (uint64_t step = 0; step < options->steps; step++) {
        const relay_t relay = step_relay(options, step);

        if (relay.is_due) {
            memory[relay.at].relay[step] = relay.value[1];
        }
    }
    for (uint32_t r = 0; r < options->ranks; r++) {
        for (uint64_t step = 0; step < options->steps; step++) {
            const unsigned count = step_acts(options, step, r, acts);

            for (unsigned i = 0; i < count; i++) {
                judge_act(options, &acts[i], r, memory);
            }
            if (step_kind(options, step).waits) {
                memory[(r + 1) % options->ranks].flag[r] = step + 1;
            }
        }
    }
    for (uint32_t r = 0; r < options->ranks; r++) {
        const mixed_memory_t *is = &journal->end[r], *want = &memory[r];

        if (other_differs(&is->words, &want->words) != NULL) {
            snprintf(text, size, "rank %u: %s of what others combined there is wrong", r,
                     other_differs(&is->words, &want->words));
            return text;
        }
        for (uint64_t step = 0; step < MIXED_RELAYS; step++) {
            if (is->relay[step] != want->relay[step]) {
                snprintf(text, size, "rank %u: what was relayed in step %u is %llx instead of %llx", r, (unsigned)step,
                         (unsigned long long)is->relay[step], (unsigned long long)want->relay[step]);
                return text;
            }
        }

        if (is->locked_count != want->locked_count) {
            snprintf(text, size, "rank %u: what is counted under the window's lock is %llx instead of %llx", r,
                     (unsigned long long)is->locked_count, (unsigned long long)want->locked_count);
            return text;
        }
        if (is->count != want->count || is->total != want->total) {
            snprintf(text, size,
                     "rank %u: the count ends with %llx instead of %llx, the total with %llx instead of %llx", r,
                     (unsigned long long)is->count, (unsigned long long)want->count, (unsigned long long)is->total,
                     (unsigned long long)want->total);
            return text;
        }
        for (uint32_t q = 0; q < options->ranks; q++) {
            if (is->slot[q] != want->slot[q] || is->flag[q] != want->flag[q]) {
                snprintf(text, size, "rank %u: what rank %u put there ends with %llx, %llx instead of %llx, %llx", r, q,
                         (unsigned long long)is->slot[q], (unsigned long long)is->flag[q],
                         (unsigned long long)want->slot[q], (unsigned long long)want->flag[q]);
                return text;
            }
        }
    }
    return NULL;
}
