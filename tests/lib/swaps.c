/* Programs that race for words. */
#include "swaps.h"

#include "life.h"
#include "sim/random.h"

#include <stdio.h>
#include <string.h>

enum { ID_STATE = 1 };

typedef struct swaps_state {
    uint64_t step;
    uint64_t last[SWAPS_RANKS_MAX][SWAPS_WORDS]; /* what was found last: the next one compares with it */
} swaps_state_t;

typedef struct swaps_run {
    play_host_t *host;
    swaps_journal_t *journal;
    life_t life;
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
    TRY(play_did(run->host, PLAY_DID_PUT | PLAY_DID_GET, seen->target,
                 keel_atomic(run->win, seen->is_compare ? KEEL_ATOMIC_CSWAP : KEEL_ATOMIC_SWAP, seen->target,
                             seen->word * sizeof(uint64_t), sizeof(uint64_t), put, seen->compare, &seen->found)));
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

static keel_status_t run_steps(void *arg)
{
    swaps_run_t *run = arg;
    const swaps_options_t *options = &run->journal->options;

    while (run->state.step < options->steps) {
        keel_random_t random = {keel_random_mix(options->seed ^ (run->state.step << 8) ^ 0x636b7074)};

        run->host->at(run->host, (uint32_t)run->state.step);
        if (run->host->asks != NULL && run->host->asks(run->host, (uint32_t)run->state.step)) {
            return keel_rollback(run->life.ctx);
        }
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
    swaps_run_t *run = arg;
    keel_status_t status = keel_win_alloc(run->life.ctx, sizeof(run->journal->end[0]), NULL, &run->win);

    if (status == KEEL_OK) {
        status = keel_protect(run->life.ctx, ID_STATE, &run->state, sizeof(run->state));
    }
    return status;
}

keel_status_t swaps_program(play_host_t *host)
{
    swaps_run_t run = {.host = host, .journal = host->swaps};

    run.life = (life_t){.host = host,
                        .steps = run.journal->options.steps,
                        .step = &run.state.step,
                        .open = run_open,
                        .run = run_steps,
                        .arg = &run};
    return life_run(&run.life);
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
