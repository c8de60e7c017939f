/* Programs with races for words. */
#include "races.h"

#include "life.h"
#include "sim/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ID_STATE = 1 };

typedef struct races_state {
    uint64_t step;
    /* value found last; the next compare and swap expects it */
    uint64_t last[RACES_RANKS_MAX][RACES_WORDS];
} races_state_t;

typedef struct races_run {
    play_host_t *host;
    races_journal_t *journal;
    life_t life;
    keel_win_h win;
    races_state_t state;
} races_run_t;

static int is_looking(uint64_t step)
{
    return step % 2 == 1;
}

/* Draws sums only, operations that set words only, or all of these; in large jobs, operations with
 * results that show their place in the order. */
static keel_atomic_op_t draw_sum(uint64_t which, keel_random_t *random)
{
    static const keel_atomic_op_t ops[4][8] = {
        {RACES_SUM, RACES_SUM, RACES_SUM, RACES_SUM, RACES_SUM, RACES_SUM, RACES_SUM, KEEL_ATOMIC_ADD},
        {KEEL_ATOMIC_SET, KEEL_ATOMIC_SET, KEEL_ATOMIC_SET, KEEL_ATOMIC_SWAP, KEEL_ATOMIC_SWAP, KEEL_ATOMIC_CSWAP,
         KEEL_ATOMIC_ADD, KEEL_ATOMIC_SET},
        {RACES_SUM, RACES_SUM, KEEL_ATOMIC_SET, RACES_SUM, KEEL_ATOMIC_SWAP, KEEL_ATOMIC_CSWAP, KEEL_ATOMIC_ADD,
         KEEL_ATOMIC_SET},
        {KEEL_ATOMIC_SWAP, KEEL_ATOMIC_SWAP, KEEL_ATOMIC_SWAP, KEEL_ATOMIC_SWAP, KEEL_ATOMIC_CSWAP, KEEL_ATOMIC_CSWAP,
         KEEL_ATOMIC_SWAP, KEEL_ATOMIC_CSWAP}};

    return ops[which][keel_random_below(random, 8)];
}

/* Doubles that occur once, also as sums. Their size makes each addition change and round the
 * sum. */
static uint64_t operand_for(const races_run_t *run, unsigned op, uint64_t word)
{
    const double value = ldexp((double)(word >> 12 | 1), -(int)(word % 8));
    uint64_t bits;

    if (run->journal->options.kind != RACES_SUMS) {
        return word;
    }
    memcpy(&bits, &value, sizeof(bits));
    return (op == KEEL_ATOMIC_ADD) ? word & 0xfffff : bits;
}

/* In some programs the atomics of odd ranks, and all atomics on own memory, are posted additions:
 * no other rank learns their class. */
static int adds_alone(const races_run_t *run, const races_seen_t *seen)
{
    const races_options_t *options = &run->journal->options;

    return options->kind == RACES_SUMS && options->ranks <= 8 && (options->seed % 8 == 1 || options->seed % 8 == 2) &&
           (run->host->rank % 2 == 1 || seen->target == run->host->rank);
}

/* In RACES_MIXED, even ranks use a single class. */
static keel_atomic_op_t draw_op(const races_run_t *run, keel_random_t *random)
{
    switch (run->journal->options.kind) {
    case RACES_SWAPS:
        return keel_random_chance(random, 300)       ? KEEL_ATOMIC_CSWAP
               : run->journal->options.seed % 2 == 0 ? KEEL_ATOMIC_SWAP
                                                     : KEEL_ATOMIC_SET;
    case RACES_MIXED:
        return (run->host->rank % 2 && keel_random_chance(random, 512)) ? KEEL_ATOMIC_XOR : KEEL_ATOMIC_ADD;
    case RACES_SUMS:
        return draw_sum(run->journal->options.ranks > 8 ? 3 : run->journal->options.seed / RACES_KINDS % 3, random);
    default:
        return KEEL_ATOMIC_ADD;
    }
}

/* In RACES_MIXED the odd ranks, with a second class, never fetch: no other rank learns of their
 * atomics. In large jobs all atomics outside RACES_SUMS fetch, because without fetches every order
 * would have to be searched. */
static int draw_fetches(const races_run_t *run, unsigned op, keel_random_t *random)
{
    const races_options_t *options = &run->journal->options;
    const int may_not = options->kind != RACES_SWAPS && options->ranks <= 8;

    if (options->kind == RACES_SUMS) {
        return op == KEEL_ATOMIC_SWAP || op == KEEL_ATOMIC_CSWAP ||
               (op == KEEL_ATOMIC_ADD && keel_random_chance(random, 512));
    }
    if (options->kind == RACES_MIXED && may_not && run->host->rank % 2) {
        return 0;
    }
    return (int)keel_random_chance(random, may_not ? 700 : 1024);
}

/* False for a comparison that failed and left the word unchanged. */
static int is_writing(const races_seen_t *seen)
{
    return seen->op != KEEL_ATOMIC_CSWAP || seen->found == seen->compare;
}

static keel_status_t run_atomic(races_run_t *run, keel_random_t *random, races_seen_t *seen, uint64_t operand)
{
    uint64_t *last = &run->state.last[seen->target][seen->word];

    seen->op = (uint8_t)draw_op(run, random);
    seen->fetches = (uint8_t)draw_fetches(run, seen->op, random);
    if (adds_alone(run, seen)) {
        seen->op = KEEL_ATOMIC_ADD;
        seen->fetches = 0;
    }
    seen->operand = operand_for(run, seen->op, operand);
    seen->compare = *last;
    if (seen->op == RACES_SUM) {
        double value;

        memcpy(&value, &seen->operand, sizeof(value));
        return play_did(run->host, PLAY_DID_PUT, seen->target,
                        keel_accumulate(run->win, KEEL_OP_SUM, KEEL_TYPE_DOUBLE, seen->target,
                                        seen->word * sizeof(uint64_t), &value, 1, NULL));
    }
    TRY(play_did(run->host, seen->fetches ? PLAY_DID_PUT | PLAY_DID_GET : PLAY_DID_PUT, seen->target,
                 keel_atomic(run->win, (keel_atomic_op_t)seen->op, seen->target, seen->word * sizeof(uint64_t),
                             sizeof(uint64_t), seen->operand, seen->compare, seen->fetches ? &seen->found : NULL)));
    *last = is_writing(seen) ? seen->operand : seen->found;
    return KEEL_OK;
}

/* True if two successive posted atomics may be made as one accumulate of all words. */
static int is_pair(const races_run_t *run, const races_seen_t *seen, unsigned left)
{
    const races_options_t *options = &run->journal->options;

    return options->seed % 4 == 3 && left > 1 && options->kind != RACES_SWAPS && options->kind != RACES_SUMS &&
           run->host->rank % 2 == 0 && seen->word == 0;
}

static keel_status_t run_pair(races_run_t *run, races_seen_t *seen, const uint64_t *operands)
{
    uint64_t values[RACES_WORDS + RACES_BESIDE] = {operands[0], operands[1]};

    seen[1] = seen[0];
    for (unsigned i = 0; i < 2; i++) {
        seen[i].op = KEEL_ATOMIC_ADD;
        seen[i].word = (uint8_t)i;
        seen[i].operand = values[i];
        run->state.last[seen[i].target][i] = values[i];
    }
    return play_did(run->host, PLAY_DID_PUT, seen->target,
                    keel_accumulate(run->win, KEEL_OP_SUM, KEEL_TYPE_UINT64, seen->target, 0, values,
                                    RACES_WORDS + RACES_BESIDE, NULL));
}

static uint64_t operand_of(const races_run_t *run, unsigned i)
{
    return keel_random_mix(run->journal->options.seed ^ ((uint64_t)run->host->rank << 40) ^ (run->state.step << 8) ^ i);
}

/* A replacement computes now and then while the other ranks go on, so it re-executes late. */
static keel_status_t run_late(races_run_t *run)
{
    const uint64_t own = run->host->rank;
    keel_random_t random = {
        keel_random_mix(run->journal->options.seed ^ (own << 24) ^ (run->state.step << 8) ^ run->host->incarnation)};
    uint32_t rounds = 0;

    if (run->host->incarnation > 0 && keel_random_chance(&random, 300)) {
        rounds = keel_random_scaled(&random, 2000);
    }
    for (uint32_t i = 0; i < rounds; i++) {
        TRY(keel_progress(run->life.ctx));
    }
    return KEEL_OK;
}

static keel_status_t run_step(races_run_t *run)
{
    const races_options_t *options = &run->journal->options;
    const uint64_t step = run->state.step, own = run->host->rank;
    keel_random_t random = {keel_random_mix(options->seed ^ (own << 32) ^ (step + 1))};
    races_seen_t *seen = run->journal->seen[own][step];
    const unsigned most = (options->ranks < 3)   ? RACES_EACH
                          : (options->ranks < 8) ? RACES_EACH * 3 / (1 + options->ranks)
                                                 : 3;
    const unsigned count = keel_random_below(&random, most + 1);
    char text[96];

    memset(seen, 0, sizeof(run->journal->seen[0][0]));
    for (unsigned i = 0; i < count; i++) {
        seen[i] =
            (races_seen_t){.is_used = 1,
                           .fetches = (uint8_t)is_looking(step),
                           .target = keel_random_chance(&random, 700) ? 0 : keel_random_below(&random, options->ranks),
                           .word = (uint8_t)keel_random_below(&random, RACES_WORDS)};
        if (options->kind == RACES_SUMS && options->seed % 8 > 2 && seen[i].target == own && options->ranks > 1) {
            /* no other rank knows the changes of own memory */
            seen[i].target = (uint32_t)(own + 1) % options->ranks;
        }
        if (run->host->point != NULL) {
            run->host->point(run->host);
        }
        if (run->host->note != NULL) {
            snprintf(text, sizeof(text), "step %u: %s word %u of %u", (unsigned)step,
                     is_looking(step) ? "look at" : "atomic on", seen[i].word, seen[i].target);
            run->host->note(run->host, text);
        }
        if (is_looking(step)) {
            TRY(play_did(
                run->host, PLAY_DID_GET, seen[i].target,
                keel_get(run->win, seen[i].target, seen[i].word * sizeof(uint64_t), &seen[i].found, sizeof(uint64_t))));
        } else if (is_pair(run, &seen[i], count - i)) {
            TRY(run_pair(run, &seen[i], (uint64_t[]){operand_of(run, i), operand_of(run, i + 1)}));
            i++;
        } else {
            TRY(run_atomic(run, &random, &seen[i], operand_of(run, i)));
        }
    }
    return KEEL_OK;
}

static keel_status_t run_steps(void *arg)
{
    races_run_t *run = arg;
    const races_options_t *options = &run->journal->options;

    while (run->state.step < options->steps) {
        keel_random_t random = {keel_random_mix(options->seed ^ (run->state.step << 8) ^ 0x636b7074)};

        run->host->at(run->host, (uint32_t)run->state.step);
        if (run->host->asks != NULL && run->host->asks(run->host, (uint32_t)run->state.step)) {
            return keel_rollback(run->life.ctx);
        }
        TRY(run_late(run));
        TRY(run_step(run));
        run->state.step++;
        TRY(keel_random_chance(&random, options->checkpoints) ? keel_checkpoint(run->life.ctx)
                                                              : keel_gsync(run->life.ctx, KEEL_GSYNC_SAFE));
    }
    memcpy(run->journal->end[run->host->rank], keel_win_base(run->win), sizeof(run->journal->end[0]));
    return KEEL_OK;
}

static keel_status_t run_open(void *arg)
{
    races_run_t *run = arg;
    keel_status_t status = keel_win_alloc(run->life.ctx, sizeof(run->journal->end[0]), NULL, &run->win);

    if (status == KEEL_OK) {
        status = keel_protect(run->life.ctx, ID_STATE, &run->state, sizeof(run->state));
    }
    return status;
}

keel_status_t races_program(play_host_t *host)
{
    races_run_t run = {.host = host, .journal = host->races};

    run.life = (life_t){.host = host,
                        .steps = run.journal->options.steps,
                        .step = &run.state.step,
                        .open = run_open,
                        .run = run_steps,
                        .arg = &run};
    return life_run(&run.life);
}

/* ---- the judge ---- */

/* States from which the search failed: step, atomics taken, value; 0: free. */
typedef struct dead_ends {
    uint64_t *keys;
    size_t count, room; /* a power of two */
} dead_ends_t;

/* A word and the explained part of the word's history. */
typedef struct history {
    const races_journal_t *journal;
    uint32_t target, step;
    unsigned word;
    unsigned next[RACES_RANKS_MAX]; /* index of each rank's next atomic in the step */
    uint64_t value;
    dead_ends_t *dead_ends;
    unsigned tries;    /* states searched */
    uint32_t furthest; /* step that no searched order completes */
} history_t;

enum { TRIES_MAX = 1000000 };

static const races_seen_t *history_next(history_t *history, uint32_t rank)
{
    const races_seen_t *seen = history->journal->seen[rank][history->step];

    for (; history->next[rank] < RACES_EACH; history->next[rank]++) {
        const races_seen_t *one = &seen[history->next[rank]];

        if (one->is_used && one->target == history->target && one->word == history->word) {
            return one;
        }
    }
    return NULL;
}

static uint64_t sum_of(uint64_t old, uint64_t operand)
{
    double a, b;

    memcpy(&a, &old, sizeof(a));
    memcpy(&b, &operand, sizeof(b));
    a += b;
    memcpy(&old, &a, sizeof(a));
    return old;
}

static void history_take(history_t *history, uint32_t rank, const races_seen_t *seen)
{
    const uint64_t old = history->value;

    if (!is_looking(history->step) && is_writing(seen)) {
        history->value = (seen->op == KEEL_ATOMIC_ADD)   ? old + seen->operand
                         : (seen->op == KEEL_ATOMIC_XOR) ? old ^ seen->operand
                         : (seen->op == RACES_SUM)       ? sum_of(old, seen->operand)
                                                         : seen->operand;
    }
    history->next[rank]++;
}

/* Operands are random words, so no value occurs twice. The atomic that found the present value is
 * next, after the comparisons that found the value and changed nothing. */
static int history_take_found(history_t *history)
{
    for (int writes = 0; writes <= 1; writes++) {
        for (uint32_t r = 0; r < history->journal->options.ranks; r++) {
            const races_seen_t *seen = history_next(history, r);

            if (seen != NULL && seen->fetches && seen->found == history->value && is_writing(seen) == writes) {
                history_take(history, r, seen);
                return 1;
            }
        }
    }
    return 0;
}

static void dead_ends_add(dead_ends_t *ends, uint64_t key)
{
    size_t at = key & (ends->room - 1);

    while (ends->keys[at] != 0) {
        at = (at + 1) & (ends->room - 1);
    }
    ends->keys[at] = key;
}

static void dead_ends_grow(dead_ends_t *ends)
{
    const dead_ends_t old = *ends;

    ends->room = old.room > 0 ? 2 * old.room : 256;
    ends->keys = calloc(ends->room, sizeof(*ends->keys));
    if (ends->keys == NULL) {
        abort();
    }
    for (size_t i = 0; i < old.room; i++) {
        if (old.keys[i] != 0) {
            dead_ends_add(ends, old.keys[i]);
        }
    }
    free(old.keys);
}

/* True if this state was searched before. The rest of the search depends on this state only, so a
 * single order leading here is enough. */
static int history_was_here(const history_t *history)
{
    dead_ends_t *ends = history->dead_ends;
    uint64_t key = keel_random_mix(history->value ^ ((uint64_t)history->step << 32));

    for (uint32_t r = 0; r < history->journal->options.ranks; r++) {
        key = keel_random_mix(key ^ ((uint64_t)r << 32) ^ history->next[r]);
    }
    key |= 1;
    if (2 * ends->count >= ends->room) {
        dead_ends_grow(ends);
    }
    for (size_t at = key & (ends->room - 1); ends->keys[at] != 0; at = (at + 1) & (ends->room - 1)) {
        if (ends->keys[at] == key) {
            return 1;
        }
    }
    dead_ends_add(ends, key);
    ends->count++;
    return 0;
}

/* True if some order from here on explains all values found; otherwise `furthest` is the step where
 * the search ended. */
static int history_is_possible(history_t *history)
{
    const races_options_t *options = &history->journal->options;
    uint32_t left = 0;

    while (history_take_found(history)) {
    }
    for (uint32_t r = 0; r < options->ranks; r++) {
        left += history_next(history, r) != NULL;
    }
    if (left == 0 && history->step + 1 < options->steps) {
        history->step++;
        memset(history->next, 0, sizeof(history->next));
        history->furthest = (history->step > history->furthest) ? history->step : history->furthest;
        return history_is_possible(history);
    }
    for (uint32_t r = 0; r < options->ranks && left > 0; r++) {
        const races_seen_t *seen = history_next(history, r);

        if (seen != NULL && !seen->fetches && history->tries < TRIES_MAX) {
            history_t with = *history;

            with.tries++;
            history_take(&with, r, seen);
            if (!history_was_here(&with) && history_is_possible(&with)) {
                return 1;
            }
            history->tries = with.tries;
            history->furthest = with.furthest;
        }
    }
    return left == 0 && history->value == history->journal->end[history->target][history->word];
}

static const char *judge_word(const races_journal_t *journal, uint32_t target, unsigned word, char *text, size_t size)
{
    dead_ends_t dead_ends = {0};
    history_t history = {.journal = journal, .target = target, .word = word, .dead_ends = &dead_ends};
    const int is_possible = history_is_possible(&history);

    free(dead_ends.keys);
    if (is_possible) {
        return NULL;
    }
    snprintf(text, size, "word %u of rank %u: no order of its atomics explains step %u of %u%s", word, target,
             history.furthest, journal->options.steps, history.tries < TRIES_MAX ? "" : ", of those looked at");
    return text;
}

const char *races_judge(const races_journal_t *journal, char *text, size_t size)
{
    const char *flaw = NULL;

    for (uint32_t target = 0; target < journal->options.ranks && flaw == NULL; target++) {
        for (unsigned word = 0; word < RACES_WORDS && flaw == NULL; word++) {
            flaw = judge_word(journal, target, word, text, size);
        }
    }
    return flaw;
}
