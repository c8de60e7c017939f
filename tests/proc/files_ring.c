/*
 * A ring of sums that depend on every step: a program of the tests of checkpoints in files.
 *
 *   files_ring STEPS [AT [RANK...]]
 *
 * At step AT rank 0 waits until a checkpoint (RING_SETS: so many, 0: none; RING_WRITTEN: so many
 * were seen; RING_AFTER: one of a later generation) is complete in KEEL_FILE_DIR; with RING_WRITES
 * until the file of rank 0 is being written there. In the first run
 * of the job the given ranks then kill themselves. RING_BYTES: size of the window. RING_MARK: a
 * line that rank 0 prints at step AT, before all ranks go on slowly. RING_LOOP: the program
 * takes checkpoints during the wait, and is not deterministic. RING_STOP: this rank asks for
 * the end of the job at step AT; rank 0 waits there only with RING_SETS. RING_LATE: rank 1
 * calls keel_finalize() so many milliseconds later. RING_HOLD: in this run of the job (0: the
 * first) a rank that has begun at a checkpoint, and rank 0 behind its RING_MARK of a stop, wait
 * for a death, their own or another.
 */
#include "lost.h"

#include <keel/keel.h>

#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* True if the temporary file of rank 0 exists in a set. */
static int is_being_written(void)
{
    char pattern[4096];
    glob_t found;
    int is_there;

    snprintf(pattern, sizeof pattern, "%s/set-*/rank-0.tmp", getenv("KEEL_FILE_DIR"));
    is_there = glob(pattern, 0, NULL, &found) == 0;
    if (is_there) {
        globfree(&found);
    }
    return is_there;
}

static int is_complete(void)
{
    const char *sets = getenv("RING_SETS"), *after = getenv("RING_AFTER"), *written = getenv("RING_WRITTEN");
    static unsigned long before;
    static int seen;
    unsigned long newest;
    const int found = lost_sets(&newest);

    seen += newest > before;
    before = newest;
    if (written != NULL) {
        return seen >= atoi(written);
    }
    return found >= ((sets != NULL) ? atoi(sets) : 1) && (after == NULL || newest > strtoul(after, NULL, 10));
}

static int dies(keel_context_h ctx, int argc, char **argv)
{
    const char *run = getenv("KEELRUN_JOB");

    for (int i = 3; i < argc && run != NULL && strcmp(run, "0") == 0 && keel_incarnation(ctx) == 0; i++) {
        if (strtoul(argv[i], NULL, 10) == keel_rank(ctx)) {
            return 1;
        }
    }
    return 0;
}

/* Passes gsyncs until rank 0 sees a complete checkpoint. The last two words take turns, because
 * rank 0 may be one gsync ahead. */
static void loop(keel_context_h ctx, keel_win_h win, size_t bytes)
{
    uint64_t *const words = keel_win_base(win);
    uint64_t turn = 0, word;

    do {
        const uint64_t is_over = keel_rank(ctx) == 0 && is_complete();

        word = bytes / 8 - 1 - turn++ % 2;
        for (uint32_t r = 0; r < keel_size(ctx) && keel_rank(ctx) == 0; r++) {
            keel_put(win, r, word * 8, &is_over, sizeof is_over);
        }
        usleep(2000);
        keel_gsync(ctx, KEEL_GSYNC_SAFE);
    } while (words[word] == 0);
}

static void wait_for_sets(keel_context_h ctx)
{
    while (getenv("RING_WRITES") != NULL ? !is_being_written() : !is_complete()) {
        keel_progress(ctx);
        usleep(1000);
    }
}

static void hold(keel_context_h ctx)
{
    const char *run = getenv("KEELRUN_JOB"), *held = getenv("RING_HOLD");
    keel_stats_t stats = {0};

    if (held == NULL || run == NULL || strcmp(run, held) != 0 || keel_incarnation(ctx) > 0) {
        return;
    }
    while (stats.deaths == 0 && keel_progress(ctx) >= 0 && keel_stats(ctx, &stats, sizeof(stats)) == KEEL_OK) {
        usleep(1000);
    }
}

/* One rank asks for the end of the job; no rank waits for that. */
static void stop(keel_context_h ctx)
{
    if (keel_rank(ctx) == strtoul(getenv("RING_STOP"), NULL, 10) && keel_checkpoint_and_stop(ctx) != KEEL_OK) {
        keel_abort(ctx, 3);
    }
    if (keel_rank(ctx) == 0 && getenv("RING_MARK") != NULL) {
        printf("%s\n", getenv("RING_MARK"));
        fflush(stdout);
        hold(ctx);
    }
    if (keel_rank(ctx) == 0 && getenv("RING_SETS") != NULL) {
        wait_for_sets(ctx);
    }
}

static void reach(keel_context_h ctx, keel_win_h win, size_t bytes, int argc, char **argv)
{
    if (getenv("RING_STOP") != NULL) {
        stop(ctx);
        return;
    }
    if (getenv("RING_LOOP") != NULL) {
        loop(ctx, win, bytes);
    } else if (keel_rank(ctx) == 0) {
        wait_for_sets(ctx);
        if (getenv("RING_MARK") != NULL) {
            printf("%s\n", getenv("RING_MARK"));
            fflush(stdout);
        }
    }
    if (keel_gsync(ctx, 0) == KEEL_OK && dies(ctx, argc, argv)) {
        raise(SIGKILL);
    }
}

int main(int argc, char **argv)
{
    const uint64_t steps = (argc > 1) ? strtoull(argv[1], NULL, 10) : 40;
    const uint64_t at = (argc > 2) ? strtoull(argv[2], NULL, 10) : UINT64_MAX;
    const size_t bytes = (getenv("RING_BYTES") != NULL) ? strtoull(getenv("RING_BYTES"), NULL, 10) : 4096;
    const keel_params_t params = {.field_mask = KEEL_PARAM_FIELD_FLAGS,
                                  .flags = (getenv("RING_LOOP") != NULL) ? KEEL_PARAM_FLAG_NONDETERMINISTIC : 0};
    static uint64_t step, sum;
    keel_context_h ctx;
    keel_win_h win;
    uint64_t *words;

    if (keel_init(&params, &ctx) != KEEL_OK || keel_win_alloc(ctx, bytes, NULL, &win) != KEEL_OK) {
        return 1;
    }
    keel_protect(ctx, 0, &step, sizeof step);
    keel_protect(ctx, 1, &sum, sizeof sum);
    sum = keel_rank(ctx) + 1;
    words = keel_win_base(win);

    KEEL_RESTART_POINT(ctx);
    if (keel_restarted(ctx)) {
        if (keel_restore(ctx) != KEEL_OK) {
            return 1;
        }
        printf("rank %u begins at step %llu\n", keel_rank(ctx), (unsigned long long)step);
        fflush(stdout);
        hold(ctx);
    }
    while (step < steps) {
        const uint64_t now = step;

        if (now == at) {
            reach(ctx, win, bytes, argc, argv);
        }
        if (now >= at && getenv("RING_MARK") != NULL) {
            usleep(5000);
        }
        sum = sum * 31 + words[(now + 1) % 2];
        words[2 + now % (bytes / 8 - 4)] += sum;
        keel_put(win, (keel_rank(ctx) + 1) % keel_size(ctx), now % 2 * sizeof sum, &sum, sizeof sum);
        step++;                           /* before the gsync that may take the image */
        keel_gsync(ctx, KEEL_GSYNC_SAFE); /* nothing that communicates may follow in the body */
    }
    for (uint64_t i = 2; i < bytes / 8 - 2; i++) {
        sum = sum * 31 + words[i];
    }
    printf("rank %u: %016llx\n", keel_rank(ctx), (unsigned long long)sum);
    if (getenv("RING_LATE") != NULL && keel_rank(ctx) == 1) {
        fflush(stdout);
        usleep((useconds_t)strtoul(getenv("RING_LATE"), NULL, 10) * 1000);
    }
    return keel_finalize(ctx) != KEEL_OK;
}
