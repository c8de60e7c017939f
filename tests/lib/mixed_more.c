/* Additional accesses of some programs that mix. */
#include "mixed_more.h"

#include "sim/random.h"
#include "try.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define WORD sizeof(uint64_t)

/* ---- polls ---- */

keel_status_t more_poll(const mixed_more_t *more, uint32_t rank, uint64_t offset, uint64_t said)
{
    const int is_got = (more->host->params->flags & KEEL_PARAM_FLAG_POLLS) != 0 && rank != more->host->rank;
    uint64_t seen = 0;

    for (;;) {
        TRY(is_got ? keel_get(more->win, rank, offset, &seen, sizeof(seen))
                   : keel_poll(more->win, rank, offset, &seen, sizeof(seen)));
        if (seen >= said) {
            return KEEL_OK;
        }
        more->host->compute(more->host, 300);
        TRY(keel_progress(more->host->ctx));
    }
}

/* ---- requests ---- */

static keel_status_t test_until(const mixed_more_t *more, keel_req_h req, keel_status_t status)
{
    if (status != KEEL_INPROGRESS || req == NULL) {
        return status;
    }
    while ((status = keel_req_test(req)) == KEEL_INPROGRESS) {
        status = keel_progress(more->host->ctx);
        if (status != KEEL_OK) {
            break;
        }
    }
    keel_req_free(req);
    return status;
}

keel_status_t more_put_tested(const mixed_more_t *more, uint32_t target, uint64_t offset, uint64_t value)
{
    keel_req_h req = NULL;
    uint64_t found = 0;
    keel_status_t status = keel_put_nbx(more->win, target, offset, &value, sizeof(value), NULL, &req);

    TRY(test_until(more, req, status));
    TRY(keel_flush(more->host->ctx, target));
    req = NULL;
    status = keel_get_nbx(more->win, target, offset, &found, sizeof(found), NULL, &req);
    TRY(test_until(more, req, status));
    return (found == value) ? KEEL_OK : KEEL_ERR_CORRUPT;
}

/* ---- further windows ---- */

/* After the words of the sources there are bytes outside of all images. */
static uint64_t words_of(const mixed_more_t *more)
{
    return more->options->ranks * WORD;
}

keel_status_t more_put(const mixed_more_t *more, const mixed_act_t *act)
{
    const unsigned w = mixed_further_of(more->options, act);
    const uint64_t at = more->host->rank * WORD;
    uint64_t found = 0;

    for (unsigned i = 0; i < MIXED_FURTHER; i++) { /* accesses of zero bytes */
        if (keel_win_size(more->further[i], act->target) == 0) {
            TRY(keel_put(more->further[i], act->target, 0, &found, 0));
            TRY(keel_get(more->further[i], act->target, 0, &found, 0));
        }
    }
    if (w == MIXED_FURTHER) {
        return KEEL_OK;
    }
    /* an earlier put to the same word by operations has no order with this put */
    TRY(keel_fence(more->host->ctx));
    TRY(keel_put(more->further[w], act->target, at, &act->value, sizeof(act->value)));
    if (!act->fetches) {
        return KEEL_OK;
    }
    TRY(keel_flush(more->host->ctx, act->target));
    TRY(keel_get(more->further[w], act->target, at, &found, sizeof(found)));
    return (found == act->value) ? KEEL_OK : KEEL_ERR_CORRUPT;
}

keel_status_t more_say_extents(const mixed_more_t *more, uint64_t step)
{
    const uint64_t bytes = words_of(more);

    for (unsigned w = 0; w < MIXED_FURTHER && (more->options->ways & MIXED_WINDOWS); w++) {
        const uint64_t cut = 1 + (step * 37 + w) % (bytes - 1);
        const keel_extent_t extents[2] = {{0, cut}, {cut, bytes - cut}};
        char *base = keel_win_base(more->further[w]);

        if (base == NULL) {
            continue;
        }
        memset(base + bytes, (int)(step + 7 * more->host->incarnation), (w + 1) * WORD);
        TRY(keel_win_extents(more->further[w], extents, 2));
    }
    return KEEL_OK;
}

/* ---- callbacks ---- */

static void call_over(mixed_call_t *call, keel_status_t status)
{
    char text[96];

    call->is_open = 0;
    if (status != KEEL_OK && status != KEEL_INPROGRESS && status != KEEL_ERR_ROLLED_BACK &&
        status != KEEL_ERR_CATASTROPHIC && status != KEEL_ERR_ISOLATED) {
        snprintf(text, sizeof(text), "rank %u.%u: an access of a callback: %s", call->more->host->rank,
                 call->more->host->incarnation, keel_status_string(status));
        call->more->host->flaw(call->more->host, text);
    }
}

static void call_last(void *user, keel_status_t status)
{
    mixed_call_t *call = user;

    if (status == KEEL_OK) {
        status = keel_atomic_nbx(call->more->win, KEEL_ATOMIC_ADD, call->target, offsetof(mixed_memory_t, total), WORD,
                                 mixed_called_value(call->value), 0, NULL, NULL, NULL);
    }
    call_over(call, status);
}

static void call_next(void *user, keel_status_t status)
{
    const keel_rma_params_t params = {.field_mask = KEEL_RMA_PARAM_FIELD_CB, .cb = call_last, .user = user};
    mixed_call_t *call = user;

    if (call->is_issuing) {
        call->more->host->flaw(call->more->host, "a callback was called for an access that a rollback jumped from");
    }
    if (status != KEEL_OK) {
        call_over(call, status);
        return;
    }
    status = keel_put_nbx(call->more->called, call->target, call->more->host->rank * WORD, &call->value, WORD, &params,
                          NULL);
    if (status != KEEL_INPROGRESS) {
        call_last(call, status);
    }
}

keel_status_t more_call(mixed_more_t *more, const mixed_act_t *act, uint64_t offset)
{
    mixed_call_t *call = &more->call[act->target];
    const keel_rma_params_t params = {.field_mask = KEEL_RMA_PARAM_FIELD_CB, .cb = call_next, .user = call};
    keel_status_t status;

    /* completes the call with the operations issued by its callbacks */
    TRY(keel_flush(more->host->ctx, act->target));
    /* but a callback of an access completed earlier may still be pending */
    while (call->is_open) {
        TRY(keel_progress(more->host->ctx));
        TRY(keel_flush(more->host->ctx, act->target));
    }
    *call = (mixed_call_t){.more = more, .target = act->target, .value = act->value, .is_open = 1, .is_issuing = 1};
    if (act->fetches) {
        status = keel_atomic_nbx(more->win, KEEL_ATOMIC_ADD, act->target, offset, WORD, act->value, 0, &call->found,
                                 &params, NULL);
    } else {
        status = keel_atomic(more->win, KEEL_ATOMIC_ADD, act->target, offset, WORD, act->value, 0, NULL);
        status = (status == KEEL_OK) ? keel_get_nbx(more->win, act->target, offset, &call->found, WORD, &params, NULL)
                                     : status;
    }
    call->is_issuing = 0;
    if (status == KEEL_OK) { /* complete at once: no callback follows */
        call_next(call, KEEL_OK);
    }
    if (status != KEEL_OK && status != KEEL_INPROGRESS) {
        call->is_open = 0;
    }
    return (status == KEEL_INPROGRESS) ? KEEL_OK : status;
}

keel_status_t more_check(mixed_more_t *more)
{
    for (uint32_t r = 0; r < more->options->ranks; r++) {
        if (more->call[r].is_open && !more->call[r].is_issuing) {
            more->host->flaw(more->host, "a callback was never called");
            return KEEL_ERR_CORRUPT;
        }
        more->call[r].is_open = 0;
    }
    return KEEL_OK;
}

/* ---- the whole ---- */

keel_status_t more_open(mixed_more_t *more)
{
    const uint32_t own = more->host->rank;

    for (unsigned w = 0; w < MIXED_FURTHER && (more->options->ways & MIXED_WINDOWS); w++) {
        const uint64_t bytes = mixed_has_further(more->options, w, own) ? words_of(more) + (w + 1) * WORD : 0;

        TRY(keel_win_alloc(more->host->ctx, bytes, NULL, &more->further[w]));
    }
    return (more->options->ways & MIXED_CALLBACKS)
               ? keel_win_alloc(more->host->ctx, words_of(more), NULL, &more->called)
               : KEEL_OK;
}

void more_end(const mixed_more_t *more, mixed_further_t *end)
{
    for (unsigned w = 0; w < MIXED_FURTHER && (more->options->ways & MIXED_WINDOWS); w++) {
        if (keel_win_base(more->further[w]) != NULL) {
            memcpy(end->put[w], keel_win_base(more->further[w]), words_of(more));
        }
    }
    if (more->options->ways & MIXED_CALLBACKS) {
        memcpy(end->called, keel_win_base(more->called), words_of(more));
    }
}
