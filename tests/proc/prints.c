/*
 * Ranks that print, and die around the output: prints STEPS RANK@STEP.PLACE,...|-
 * [declared|killed|-] [differs|logs]. The named ranks die there in their first incarnation: 0
 * before printf, 1 after it, 2 after fflush, 3 after the gsync, 4 after the safe point. declared:
 * not deterministic, so all ranks print again; killed: each rank dies after keel_finalize(), with
 * its last line unflushed; differs: a replacement prints a different line once; logs: each
 * incarnation prints lines in the format of UCX's log, with its own time.
 */
#include "deaths.h"

#include <keel/keel.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAVE_EVERY = 3 };

static uint64_t step;
static keel_context_h ctx;
static const char *deaths;

static void die_here(unsigned place)
{
    die_when_said(deaths, keel_rank(ctx), step, place);
}

static int one_step(const char *extra)
{
    const unsigned rank = keel_rank(ctx);

    die_here(0);
    if (strcmp(extra, "differs") == 0 && keel_incarnation(ctx) > 0 && step == 8) {
        printf("rank %u: another line\n", rank);
    }
    if (strcmp(extra, "logs") == 0 && step == 8) {
        printf("[176438412%u.402311] [node%u:4711:0]          tcp_ep.c:1184 UCX  WARN  a line of step 8\n",
               keel_incarnation(ctx), rank);
    }
    printf("rank %u: step %lu\nrank %u: more of ", rank, (unsigned long)step, rank);
    fprintf(stderr, "rank %u: error %lu\n", rank, (unsigned long)step);
    die_here(1);
    if (step % 2 == 0) {
        fflush(stdout);
    }
    die_here(2);
    if (keel_gsync(ctx, 0) != KEEL_OK) {
        return 0;
    }
    die_here(3);
    printf("step %lu\n", (unsigned long)step);
    step++;
    if ((step % SAVE_EVERY == 0 ? keel_checkpoint(ctx) : keel_gsync(ctx, KEEL_GSYNC_SAFE)) != KEEL_OK) {
        return 0;
    }
    die_here(4);
    return 1;
}

int main(int argc, char **argv)
{
    const int is_declared = argc > 3 && strcmp(argv[3], "declared") == 0;
    const keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_FLAGS,
                                  .flags = is_declared ? KEEL_PARAM_FLAG_NONDETERMINISTIC : 0};
    keel_win_h win;

    printf("it begins\n");
    if (argc < 3 || keel_init(&params, &ctx) != KEEL_OK || keel_win_alloc(ctx, 8, NULL, &win) != KEEL_OK ||
        keel_protect(ctx, 0, &step, sizeof(step)) != KEEL_OK) {
        return 1;
    }
    printf("rank %u: it has joined\n", keel_rank(ctx));
    KEEL_RESTART_POINT(ctx);
    if (keel_restarted(ctx) && keel_restore(ctx) != KEEL_OK) {
        return 1;
    }
    deaths = (keel_incarnation(ctx) == 0) ? argv[2] : NULL;
    while (step < strtoul(argv[1], NULL, 10)) {
        if (!one_step((argc > 4) ? argv[4] : "")) {
            return 1;
        }
    }
    printf("rank %u: the end", keel_rank(ctx)); /* a line without an end */
    if (argc > 3 && strcmp(argv[3], "killed") == 0) {
        return keel_finalize(ctx) != KEEL_OK || raise(SIGKILL);
    }
    fflush(stdout);
    return keel_finalize(ctx) != KEEL_OK;
}
