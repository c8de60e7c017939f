/* Programs that race for words. */
#include "swaps.h"

#include "sim/random.h"

#include <stdio.h>
#include <string.h>

#define TRY(_call)                       \
    do {                                 \
        keel_status_t _status = (_call); \
        if (_status != KEEL_OK) {        \
            return _status;              \
        }                                \
    } while (0)

enum { ID_STATE = 1, LIVES_MAX = 64 };

typedef struct swaps_state {
    uint64_t step;
    uint64_t last[SWAPS_RANKS_MAX][SWAPS_WORDS]; /* what was found last: the next one compares with it */
} swaps_state_t;

typedef struct swaps_run {
    play_host_t *host;
    swaps_journal_t *journal;
    keel_context_h ctx;
    keel_win_h win;
    swaps_state_t state;
} swaps_run_t;

static keel_status_t run_swap(swaps_run_t *run, keel_random_t *random, swaps_seen_t *seen, uint64_t put)
{
    const uint32_t ranks = run->journal->options.ranks;
    uint64_t *last;
    char text[96];

    *seen = (swaps_seen_t){.is_used = 1,
                           .target = keel_random_chance(random, 700) ? 0 : keel_random_below(random, ranks),
                           .word = (uint8_t)keel_random_below(random, SWAPS_WORDS),
                           .is_compare = (uint8_t)keel_random_chance(random, 300),
                           .put = put};
    last = &run->state.last[seen->target][seen->word];
    seen->compare = *last;
    if (run->host->point != NULL) {
        run->host->point(run->host);
    }
    if (run->host->note != NULL) {
        snprintf(text, sizeof(text), "step %u: swap at %u", (unsigned)run->state.step, seen->target);
        run->host->note(run->host, text);
    }
    TRY(keel_atomic(run->win, seen->is_compare ? KEEL_ATOMIC_CSWAP : KEEL_ATOMIC_SWAP, seen->target,
                    seen->word * sizeof(uint64_t), sizeof(uint64_t), put, seen->compare, &seen->found));
    *last = (seen->is_compare && seen->found != seen->compare) ? seen->found : put;
    return KEEL_OK;
}

static keel_status_t run_step(swaps_run_t *run)
{
    const uint64_t step = run->state.step, own = run->host->rank;
    keel_random_t random = {keel_random_mix(run->journal->options.seed ^ (own << 32) ^ (step + 1))};
    swaps_seen_t *seen = run->journal->seen[own][step];
    const unsigned count = keel_random_below(&random, SWAPS_EACH + 1);

    memset(seen, 0, sizeof(run->journal->seen[0][0]));
    for (unsigned i = 0; i < count; i++) {
        TRY(run_swap(run, &random, &seen[i], 1 + ((own * SWAPS_STEPS_MAX + step) * SWAPS_EACH + i)));
    }
    return KEEL_OK;
}

static keel_status_t run_steps(swaps_run_t *run)
{
    const swaps_options_t *options = &run->journal->options;

    while (run->state.step < options->steps) {
        keel_random_t random = {keel_random_mix(options->seed ^ (run->state.step << 8) ^ 0x636b7074)};

        run->host->at(run->host, (uint32_t)run->state.step);
        if (run->host->asks != NULL && run->host->asks(run->host, (uint32_t)run->state.step)) {
            return keel_rollback(run->ctx);
        }
        TRY(run_step(run));
        run->state.step++;
        TRY(keel_random_chance(&random, options->checkpoints) ? keel_checkpoint(run->ctx)
                                                              : keel_gsync(run->ctx, KEEL_GSYNC_SAFE));
    }
    memcpy(run->journal->end[run->host->rank], keel_win_base(run->win), sizeof(run->journal->end[0]));
    return KEEL_OK;
}

static keel_status_t run_finish(swaps_run_t *run)
{
    keel_stats_t stats;

    if (keel_stats(run->ctx, &stats) == KEEL_OK) {
        run->host->stats(run->host, &stats);
    }
    run->host->at(run->host, run->journal->options.steps);
    TRY(keel_finalize(run->ctx));
    run->host->ctx = NULL;
    return KEEL_OK;
}

static keel_status_t run_all(swaps_run_t *run)
{
    keel_status_t status = keel_win_alloc(run->ctx, sizeof(run->journal->end[0]), NULL, &run->win);

    if (status == KEEL_OK) {
        status = keel_protect(run->ctx, ID_STATE, &run->state, sizeof(run->state));
    }
    for (unsigned lives = 0; status == KEEL_OK && lives < LIVES_MAX; lives++) {
        if (keel_restarted(run->ctx)) {
            status = keel_restore(run->ctx);
        }
        if (status == KEEL_OK) {
            status = run_steps(run);
        }
        if (status == KEEL_OK) {
            status = run_finish(run);
            if (status == KEEL_OK) {
                return KEEL_OK;
            }
        }
        status = (status == KEEL_ERR_ROLLED_BACK) ? KEEL_OK : status;
    }
    return status;
}

keel_status_t swaps_program(play_host_t *host)
{
    swaps_run_t run = {.host = host, .journal = host->swaps};
    keel_status_t status = keel_init(host->params, &run.ctx);
    char text[96];

    if (status == KEEL_OK) {
        host->incarnation = keel_incarnation(run.ctx);
        host->ctx = run.ctx;
        host->at(host, PLAY_MET);
        status = run_all(&run);
    }
    if (status == KEEL_ERR_STATE && run.ctx == NULL && host->incarnation > 0) {
        return status; /* its predecessor had arrived at the last gsync: the others are done */
    }
    if (status != KEEL_OK && status != KEEL_ERR_CATASTROPHIC &&
        !(status == KEEL_ERR_ISOLATED && host->may_be_cut_off)) {
        snprintf(text, sizeof(text), "rank %u.%u step %u: a call returned %d (%s)", host->rank, host->incarnation,
                 (unsigned)run.state.step, (int)status, keel_status_string(status));
        host->flaw(host, text);
    }
    return status;
}

/* ---- the judge ---- */

static int is_write(const swaps_seen_t *seen)
{
    return !seen->is_compare || seen->found == seen->compare;
}

typedef struct chain {
    uint64_t next[1 + SWAPS_RANKS_MAX * SWAPS_STEPS_MAX * SWAPS_EACH]; /* by value found: what was written over it */
    uint8_t is_put[1 + SWAPS_RANKS_MAX * SWAPS_STEPS_MAX * SWAPS_EACH];
    unsigned writes;
} chain_t;

/* every swap of one word in its place; the value that is found twice, or 0 */
static uint64_t chain_fill(chain_t *chain, const swaps_journal_t *journal, uint32_t target, unsigned word)
{
    const swaps_seen_t *seen = &journal->seen[0][0][0], *end = seen + sizeof(journal->seen) / sizeof(*seen);

    memset(chain, 0, sizeof(*chain));
    for (; seen < end; seen++) {
        if (!seen->is_used || seen->target != target || seen->word != word || !is_write(seen)) {
            continue;
        }
        if (chain->next[seen->found] != 0) {
            return seen->found + 1;
        }
        chain->next[seen->found] = seen->put;
        chain->is_put[seen->put] = 1;
        chain->writes++;
    }
    return 0;
}

/* a comparison that failed found something that nobody wrote: that value, or 0 */
static uint64_t chain_stray(const chain_t *chain, const swaps_journal_t *journal, uint32_t target, unsigned word)
{
    const swaps_seen_t *seen = &journal->seen[0][0][0], *end = seen + sizeof(journal->seen) / sizeof(*seen);

    for (; seen < end; seen++) {
        if (seen->is_used && seen->target == target && seen->word == word && seen->found != 0 &&
            !chain->is_put[seen->found]) {
            return seen->found;
        }
    }
    return 0;
}

static const char *judge_word(const swaps_journal_t *journal, uint32_t target, unsigned word, char *text, size_t size)
{
    static chain_t chain;
    const uint64_t twice = chain_fill(&chain, journal, target, word);
    const uint64_t stray = (twice == 0) ? chain_stray(&chain, journal, target, word) : 0;
    uint64_t value = 0;
    unsigned length = 0;

    if (twice != 0) {
        snprintf(text, size, "word %u of rank %u: two swaps found %llu there", word, target,
                 (unsigned long long)twice - 1);
        return text;
    }
    if (stray != 0) {
        snprintf(text, size, "word %u of rank %u: %llu was found there, which is not in its history", word, target,
                 (unsigned long long)stray);
        return text;
    }
    while (chain.next[value] != 0 && length <= chain.writes) {
        value = chain.next[value];
        length++;
    }
    if (length != chain.writes || value != journal->end[target][word]) {
        snprintf(text, size, "word %u of rank %u: %u of %u swaps lead to %llu, and it is %llu", word, target, length,
                 chain.writes, (unsigned long long)value, (unsigned long long)journal->end[target][word]);
        return text;
    }
    return NULL;
}

const char *swaps_judge(const swaps_journal_t *journal, char *text, size_t size)
{
    const char *flaw = NULL;

    for (uint32_t target = 0; target < journal->options.ranks && flaw == NULL; target++) {
        for (unsigned word = 0; word < SWAPS_WORDS && flaw == NULL; word++) {
            flaw = judge_word(journal, target, word, text, size);
        }
    }
    return flaw;
}
