/*
 * Waits for several words, and tests. Determinants are the word that came first, the value of each
 * word then, and the result of a test. They are logged, and a replacement gets the same results
 * (sync/determinants). In a program that mixes nothing is replayed, and puts may be incomplete.
 */
#include "access/target.h"
#include "engine/threads.h"
#include "order/compare.h"
#include "order/mix.h"
#include "engine/refuse.h"
#include "order/flush.h"
#include "epoch/wait.h"
#include "check/plant.h"
#include "check/reached.h"

static keel_status_t words_check(keel_context_h ctx, keel_wait_for_t how, const keel_word_t *words, unsigned count)
{
    keel_status_t status;

    if (ctx == NULL || (words == NULL && count > 0)) {
        return keel_refuse_null(ctx == NULL ? "the context" : "the words");
    }
    if ((unsigned)how >= KEEL_WAIT_LAST) {
        keel_error_ctx(ctx, "there is no way %u to wait for words", (unsigned)how);
        return KEEL_ERR_UNSUPPORTED;
    }
    status = keel_context_begin(ctx);
    for (unsigned i = 0; i < count && status == KEEL_OK; i++) {
        if (words[i].win != NULL && words[i].win->ctx != ctx) {
            keel_error_ctx(ctx, "the window of word %u is of another context", i);
            return KEEL_ERR_INVALID_PARAM;
        }
        if (words[i].win != NULL) {
            status = keel_word_check(words[i].win, words[i].offset, words[i].size, words[i].compare);
        }
    }
    return status;
}

static keel_status_t words_begin(keel_context_h ctx, keel_wait_for_t how, keel_word_t *words, unsigned count,
                                 const char *call)
{
    keel_status_t status = words_check(ctx, how, words, count);

    if (status == KEEL_OK) {
        const int fits = keel_result_length(count) <= ctx->gets.record_max;

        status = keel_mix(ctx, fits ? KEEL_WAY_WAIT : KEEL_WAY_ANSWER, call);
    }
    if (status == KEEL_OK) {
        status = keel_wait_begin(ctx);
    }
    status = (status == KEEL_OK) ? keel_determinant_stabilize_polls(ctx) : status;
    /* other ranks may wait for these accesses */
    status = (status == KEEL_OK) ? keel_flush_start_all(ctx) : status;
    if (status == KEEL_OK) {
        keel_flush_ring(ctx);
    }
    for (unsigned i = 0; status == KEEL_OK && i < count; i++) {
        words[i].seen = 0;
        words[i].is_met = 0;
    }
    return status;
}

/* True if the words satisfy the call. A word that was met once stays met. */
static int words_look(keel_wait_for_t how, keel_word_t *words, unsigned count, unsigned *met_p)
{
    unsigned asked = 0;

    *met_p = 0;
    for (unsigned i = 0; i < count; i++) {
        keel_word_t *word = &words[i];

        if (word->win == NULL) {
            continue;
        }
        if (!word->is_met) {
            word->seen = keel_word_load((const char *)word->win->base + word->offset, word->size);
            word->is_met = keel_word_compares(word->seen, word->size, word->compare, word->value);
        }
        asked++;
        *met_p += word->is_met;
    }
    return asked == 0 || (how == KEEL_WAIT_ALL ? *met_p == asked : *met_p > 0);
}

static keel_status_t words_end(keel_context_h ctx, keel_status_t status, unsigned met, unsigned *met_p)
{
    if (met_p != NULL) {
        *met_p = met;
    }
    return (ctx != NULL) ? keel_context_end(ctx, status) : status;
}

static int words_are_none(const keel_word_t *words, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (words[i].win != NULL) {
            return 0;
        }
    }
    return 1;
}

static unsigned words_met(const keel_word_t *words, unsigned count)
{
    unsigned met = 0;

    for (unsigned i = 0; i < count; i++) {
        met += words[i].win != NULL && words[i].is_met;
    }
    return met;
}

/* ---- logging of results ---- */

static int answer_is_met(const keel_record_local_read_t *answer, unsigned i)
{
    return (int)(keel_result_values(answer)[answer->words + i / 64] >> (i % 64) & 1);
}

/* True if the result is the same again, and nothing was done here meanwhile that a replay has to
 * put after it. */
static int answer_is(const keel_context_h ctx, const keel_record_local_read_t *answer, const keel_word_t *words,
                     unsigned count, int is_over)
{
    if (answer == NULL || answer->words != count ||
        ((int)answer->is_over != is_over && !KEEL_PLANT(words_asked_otherwise)) ||
        (keel_waits_here(&ctx->sync) > keel_waits_after(&ctx->sync, (uint32_t)answer->clock) &&
         !KEEL_PLANT(words_repeated))) {
        return 0;
    }
    for (unsigned i = 0; i < count; i++) {
        if (keel_result_values(answer)[i] != words[i].seen || answer_is_met(answer, i) != words[i].is_met) {
            return 0;
        }
    }
    return 1;
}

static void answer_fill(keel_record_local_read_t *answer, const keel_word_t *words, unsigned count, uint32_t clock,
                        int is_over)
{
    uint64_t *seen = keel_result_values(answer);

    *answer = (keel_record_local_read_t){.times = 1, .clock = clock, .words = count, .is_over = (uint32_t)is_over};
    for (unsigned i = 0; i < (count + 63) / 64; i++) {
        seen[count + i] = 0;
    }
    for (unsigned i = 0; i < count; i++) {
        seen[i] = words[i].seen;
        seen[count + i / 64] |= (uint64_t)(words[i].is_met != 0) << (i % 64);
    }
}

static keel_status_t words_log(keel_context_h ctx, const keel_word_t *words, unsigned count, int is_over)
{
    const int is_met = is_over || words_met(words, count) > 0;
    keel_status_t status = is_met ? keel_wait_until_closed(ctx) : KEEL_OK;
    keel_record_local_read_t *answer;
    uint32_t holder, clock;

    if (status == KEEL_OK && answer_is(ctx, keel_results_last(&ctx->sync), words, count, is_over)) {
        keel_results_repeat(&ctx->sync);
        return KEEL_OK;
    }
    if (status == KEEL_OK && !is_met) { /* the program may still act on the values */
        status = keel_wait_until_closed(ctx);
    }
    status = (status == KEEL_OK) ? keel_determinant_find_holder(ctx, &holder) : status;
    if (status != KEEL_OK || holder == KEEL_RANK_NONE) {
        return status;
    }
    clock = keel_waits_here(&ctx->sync);
    answer = keel_determinant_open_result(ctx, keel_result_length(count));
    if (answer != NULL) {
        answer_fill(answer, words, count, clock, is_over);
    }
    keel_waits_join(&ctx->sync, clock);
    return KEEL_OK;
}

/* Returns the result of the predecessor: KEEL_OK. KEEL_INPROGRESS: no rank knows of one, and all
 * puts of other ranks have arrived. */
static keel_status_t words_replay(keel_context_h ctx, keel_word_t *words, unsigned count, int *is_over_p)
{
    const keel_record_local_read_t *answer;
    keel_status_t status;
    int is_first;

    status = keel_determinant_replay_result(ctx, count, &answer, &is_first);
    if (status == KEEL_INPROGRESS && ctx->lane.programs > 1) {
        status = keel_wait_catch_up(ctx);
        return (status == KEEL_OK) ? KEEL_INPROGRESS : status;
    }
    if (status != KEEL_OK) {
        return status;
    }
    if (is_first) {
        const uint32_t clock = KEEL_PLANT(words_repeated) ? (uint32_t)answer->clock
                                                          : keel_waits_after(&ctx->sync, (uint32_t)answer->clock);

        keel_recovery_count_gets(&ctx->rec, 1);
        status = keel_wait_replay_until(ctx, KEEL_PLANT(words_unreplayed) ? 0 : clock);
        keel_waits_join(&ctx->sync, KEEL_PLANT(words_unrejoined) ? 0 : (uint32_t)answer->clock);
    }
    for (unsigned i = 0; i < count; i++) {
        words[i].seen = (KEEL_PLANT(words_from_memory) && words[i].win != NULL)
                            ? keel_word_load((const char *)words[i].win->base + words[i].offset, words[i].size)
                            : keel_result_values(answer)[i];
        words[i].is_met = answer_is_met(answer, i);
    }
    *is_over_p = (int)answer->is_over;
    return status;
}

/* ---- both calls ---- */

/* Looks at the words once, or until they satisfy the call. */
static keel_status_t words_ask(keel_context_h ctx, keel_wait_for_t how, keel_word_t *words, unsigned count,
                               unsigned *met_p, int waits)
{
    keel_status_t status = KEEL_OK;
    unsigned rounds = 0;
    int is_over = words_look(how, words, count, met_p);

    if (!is_over && !waits) {
        status = keel_flush_progress(ctx);
        is_over = status == KEEL_OK && words_look(how, words, count, met_p);
    }
    while (status == KEEL_OK && !is_over && waits) {
        status = keel_context_wait(ctx, &rounds);
        is_over = status == KEEL_OK && words_look(how, words, count, met_p);
    }
    if (status == KEEL_OK && keel_sync_may_be_local(&ctx->sync)) {
        status = words_log(ctx, words, count, is_over);
    }
    return (status != KEEL_OK || is_over) ? status : KEEL_INPROGRESS;
}

static keel_status_t words_run(keel_context_h ctx, keel_wait_for_t how, keel_word_t *words, unsigned count,
                               unsigned *met_p, int waits)
{
    keel_status_t status = words_begin(ctx, how, words, count, waits ? "keel_wait" : "keel_test");
    unsigned met = 0;
    int is_over = 1;

    if (status != KEEL_OK || words_are_none(words, count)) {
        return words_end(ctx, status, 0, met_p);
    }
    status = words_replay(ctx, words, count, &is_over);
    if (status == KEEL_OK && waits && !is_over) {
        status = keel_determinant_differs(ctx, "otherwise than before");
    } else if (status == KEEL_OK) {
        met = words_met(words, count);
        status = is_over ? KEEL_OK : KEEL_INPROGRESS;
    } else if (status == KEEL_INPROGRESS) {
        status = words_ask(ctx, how, words, count, &met, waits);
    }
    return words_end(ctx, status, met, met_p);
}

keel_status_t keel_wait(keel_context_h ctx, keel_wait_for_t how, keel_word_t *words, unsigned count, unsigned *met_p)
{
    KEEL_INSIDE(ctx);

    return words_run(ctx, how, words, count, met_p, 1);
}

keel_status_t keel_test(keel_context_h ctx, keel_wait_for_t how, keel_word_t *words, unsigned count, unsigned *met_p)
{
    KEEL_INSIDE(ctx);

    return words_run(ctx, how, words, count, met_p, 0);
}
