/*
 * Jobs with dedicated parity ranks have no stores: a parity rank may complete a generation after
 * the ranks have chosen the slot of the next submit. Each rank must get KEEL_ERR_UNSUPPORTED.
 */
#include "few_ranks.h"

#include <keel/store.h>

#include <stdlib.h>

typedef struct job {
    few_t few;
    unsigned refused;
} job_t;

static void make_store(few_t *few, uint32_t rank)
{
    const keel_store_params_t params = {.field_mask = KEEL_STORE_PARAM_FIELD_BYTES, .bytes = 4096};
    keel_store_h store = NULL;
    const keel_status_t status = keel_store_create(few->ctx[rank], &params, &store);

    ((job_t *)few)->refused++;
    if (status != KEEL_ERR_UNSUPPORTED || store != NULL) {
        keel_sim_flaw(few->sim, "rank %u makes a store: %s", rank, keel_status_string(status));
    }
}

static keel_status_t phases(few_t *few, uint32_t rank, keel_win_h last)
{
    if (((job_t *)few)->refused == 0) {
        keel_sim_flaw(few->sim, "no rank tried to make a store");
    }
    return keel_gsync(few->ctx[rank], 0);
}

static void no_strike(few_t *few)
{
}

int main(void)
{
    const few_play_t play = {
        .ranks = 4, .lanes = "KEEL_PARITY=dedicated", .ready = make_store, .phases = phases, .strike = no_strike};

    return few_main(&play, sizeof(job_t), 3);
}
