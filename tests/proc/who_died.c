/*
 * Ranks that query the deaths. Arguments: STEPS RANK@STEP.PLACE,... The named ranks die there in
 * their first incarnation. After each rollback every rank prints the deaths known to it.
 */
#include "deaths.h"

#include <keel/keel.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    const keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_FLAGS, .flags = KEEL_PARAM_FLAG_NONDETERMINISTIC};
    uint64_t step = 0;
    keel_context_h ctx;
    keel_win_h win;

    if (argc != 3 || keel_init(&params, &ctx) != KEEL_OK || keel_win_alloc(ctx, 8, NULL, &win) != KEEL_OK ||
        keel_protect(ctx, 0, &step, sizeof(step)) != KEEL_OK) {
        return 1;
    }
    if (keel_rank_incarnation(ctx, keel_size(ctx)) != 0 || keel_rank_incarnation(NULL, 0) != 0) {
        return 1;
    }
    KEEL_RESTART_POINT(ctx);
    if (keel_restarted(ctx)) {
        printf("rank %u:", keel_rank(ctx));
        for (uint32_t r = 0; r < keel_size(ctx); r++) {
            printf(" %u", keel_rank_incarnation(ctx, r));
        }
        printf("\n");
        fflush(stdout);
        if (keel_restore(ctx) != KEEL_OK) {
            return 1;
        }
    }
    while (step < strtoul(argv[1], NULL, 10)) {
        die_when_said(keel_incarnation(ctx) == 0 ? argv[2] : NULL, keel_rank(ctx), step, 0);
        step++;
        if (keel_gsync(ctx, 0) != KEEL_OK || keel_checkpoint(ctx) != KEEL_OK) {
            return 1;
        }
    }
    return keel_finalize(ctx) != KEEL_OK;
}
