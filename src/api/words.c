/*
 * Waits for several words, and tests. Which word came first, what a word held then, and what a test said are determinants
 * that no log has, so a replacement could not be given the same answers: a program that asks for them mixes (api/mix), and from its
 * first such call on a death is a rollback. Then nothing is replayed into a wait, and no put has to be seen closed.
 */
#include "api/target.h"
#include "api/inside.h"
#include "api/compare.h"
#include "api/mix.h"
#include "api/refuse.h"
#include "api/flush.h"

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
        status = keel_mix(ctx, KEEL_WAY_ANSWER, call);
        __atomic_store_n(&ctx->lane.awaits_records, 1, __ATOMIC_RELEASE);
    }
    for (uint32_t i = 0; status == KEEL_OK && i < ctx->touched_count; i++) { /* others may wait for it */
        status = keel_flush_start(ctx, ctx->touched[i]);
    }
    for (unsigned i = 0; status == KEEL_OK && i < count; i++) {
        words[i].seen = 0;
        words[i].is_met = 0;
    }
    return status;
}

/* true when that is what was waited for; who was met once stays so */
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

keel_status_t keel_wait(keel_context_h ctx, keel_wait_for_t how, keel_word_t *words, unsigned count, unsigned *met_p)
{
    KEEL_INSIDE(ctx);
    keel_status_t status = words_begin(ctx, how, words, count, "keel_wait");
    unsigned rounds = 0, met = 0;

    while (status == KEEL_OK && !words_look(how, words, count, &met)) {
        status = keel_context_wait(ctx, &rounds);
    }
    return words_end(ctx, status, met, met_p);
}

keel_status_t keel_test(keel_context_h ctx, keel_wait_for_t how, keel_word_t *words, unsigned count, unsigned *met_p)
{
    KEEL_INSIDE(ctx);
    keel_status_t status = words_begin(ctx, how, words, count, "keel_test");
    unsigned met = 0;

    if (status == KEEL_OK && !words_look(how, words, count, &met)) {
        status = keel_progress(ctx);
        if (status == KEEL_OK && !words_look(how, words, count, &met)) {
            status = KEEL_INPROGRESS;
        }
    }
    return words_end(ctx, status, met, met_p);
}
