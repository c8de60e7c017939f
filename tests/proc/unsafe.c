/*
 * Each rank puts 4 KiB to the next rank in each step, STEPS times: unsafe STEPS FIRST. Gsyncs from
 * step FIRST on are safe points.
 */
#include "try.h"

#include <keel/keel.h>

#include <stdio.h>
#include <stdlib.h>

enum { BYTES = 4096, EXIT_USAGE = 2, EXIT_KEEL = 3 };

static keel_status_t play(keel_context_h ctx, keel_win_h win, long steps, long first)
{
    static char bytes[BYTES];

    for (long step = 0; step < steps; step++) {
        TRY(keel_put(win, (keel_rank(ctx) + 1) % keel_size(ctx), 0, bytes, sizeof(bytes)));
        TRY(keel_gsync(ctx, (step >= first) ? KEEL_GSYNC_SAFE : 0));
    }
    return keel_finalize(ctx);
}

int main(int argc, char **argv)
{
    keel_context_h ctx;
    keel_win_h win;

    if (argc != 3) {
        fprintf(stderr, "usage: unsafe STEPS FIRST\n");
        return EXIT_USAGE;
    }
    if (keel_init(NULL, &ctx) != KEEL_OK || keel_win_alloc(ctx, BYTES, NULL, &win) != KEEL_OK ||
        play(ctx, win, atol(argv[1]), atol(argv[2])) != KEEL_OK) {
        return EXIT_KEEL;
    }
    return 0;
}
