/*
 * Rank 0 puts a word to rank 1 without a flush. Then rank 0 looks for a word that rank 1 puts after
 * it has waited for the first: the put is sent while rank 0 looks.
 *
 *   unsent HOW FLAGS   HOW: poll, fetch, get, progress at rank 2, or own for a word in own memory,
 *                      which rank 1 puts; FLAGS of keel_params_t
 */
#include "try.h"

#include <keel/keel.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 20, EXIT_USAGE = 2, EXIT_KEEL = 3 };

static keel_status_t look(keel_context_h ctx, keel_win_h win, const char *how, uint64_t *word_p)
{
    if (strcmp(how, "poll") == 0) {
        return keel_poll(win, 2, 0, word_p, sizeof(*word_p));
    }
    if (strcmp(how, "fetch") == 0) {
        return keel_atomic(win, KEEL_ATOMIC_FETCH, 2, 0, sizeof(*word_p), 0, 0, word_p);
    }
    if (strcmp(how, "progress") == 0) {
        TRY(keel_progress(ctx));
    }
    return keel_get(win, (strcmp(how, "own") == 0) ? 0 : 2, 0, word_p, sizeof(*word_p));
}

static keel_status_t play(keel_context_h ctx, keel_win_h win, const char *how)
{
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        uint64_t word = 0;

        if (keel_rank(ctx) == 0) {
            TRY(keel_put(win, 1, 0, &round, sizeof(round)));
            while (word < round) {
                TRY(look(ctx, win, how, &word));
            }
        } else if (keel_rank(ctx) == 1) {
            TRY(keel_wait_until(win, 0, sizeof(round), KEEL_COMPARE_GE, round));
            TRY(keel_put(win, (strcmp(how, "own") == 0) ? 0 : 2, 0, &round, sizeof(round)));
            TRY(keel_flush_all(ctx));
        }
        TRY(keel_gsync(ctx, KEEL_GSYNC_SAFE));
    }
    return keel_finalize(ctx);
}

int main(int argc, char **argv)
{
    keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_FLAGS};
    keel_context_h ctx;
    keel_win_h win;

    if (argc != 3) {
        fprintf(stderr, "usage: unsent poll|fetch|get|progress|own FLAGS\n");
        return EXIT_USAGE;
    }
    params.flags = strtoul(argv[2], NULL, 10);
    if (keel_init(&params, &ctx) != KEEL_OK || keel_win_alloc(ctx, 64, NULL, &win) != KEEL_OK ||
        play(ctx, win, argv[1]) != KEEL_OK) {
        return EXIT_KEEL;
    }
    return 0;
}
