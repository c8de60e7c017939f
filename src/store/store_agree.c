/* Comparison of parameters. */
#include "store/store_agree.h"
#include "store/store_read.h"

#include "peer/members.h"
#include "peer/store.h"

#include <string.h>

enum { AGREE_SET = KEEL_STORE_PARAM_WORDS - 1 };

static void params_words(const struct keel_store *store, uint64_t *words)
{
    const keel_store_place_params_t *place = &store->place.params;
    const uint64_t all[KEEL_STORE_PARAM_WORDS] = {store->bytes,
                                                  store->block_bytes,
                                                  store->range_bytes,
                                                  place->copies,
                                                  place->seed,
                                                  store->slots,
                                                  (uint64_t)place->is_consecutive};

    memcpy(words, all, sizeof(all));
}

void keel_store_agree_announce(const struct keel_store *store)
{
    uint64_t words[KEEL_STORE_PARAM_WORDS], *head = keel_store_head(store)->params;

    params_words(store, words);
    for (unsigned i = 0; i < AGREE_SET; i++) {
        keel_store_word(&head[i], words[i]);
    }
    keel_store_word_release(&head[AGREE_SET], 1);
}

/* The next member along the ring that runs the program. */
static uint32_t program_after(const keel_lane_t *lane, uint32_t rank)
{
    uint32_t next = keel_member_after(lane, rank);

    while (next >= lane->programs) {
        next = keel_member_after(lane, next);
    }
    return next;
}

keel_status_t keel_store_agree(keel_store_h store)
{
    const uint32_t next = program_after(&store->ctx->lane, store->ctx->lane.rank);
    uint64_t own[KEEL_STORE_PARAM_WORDS], words[KEEL_STORE_PARAM_WORDS] = {0};
    keel_status_t status = KEEL_OK, read = KEEL_OK;
    unsigned rounds = 0;

    if (store->is_agreed) {
        return KEEL_OK;
    }
    params_words(store, own);
    own[AGREE_SET] = 1;
    while (status == KEEL_OK && read != KEEL_ERR_CORRUPT && words[AGREE_SET] == 0) {
        read = keel_store_read_head(store, next, offsetof(keel_store_head_t, params), words, sizeof(words));
        if (read != KEEL_OK || words[AGREE_SET] == 0) {
            words[AGREE_SET] = 0;
            status = keel_context_wait(store->ctx, &rounds);
        }
    }
    if (status != KEEL_OK) {
        return status;
    }
    if (memcmp(own, words, sizeof(own)) != 0) {
        keel_error_ctx(store->ctx, "keel_store_submit: the store of rank %u has other parameters", next);
        return KEEL_ERR_INVALID_PARAM;
    }
    store->is_agreed = 1;
    return KEEL_OK;
}
