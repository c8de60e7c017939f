/*
 * A program at the limits of the machine: limits [window BYTES | lost LIVES | differ RANK CALL
 * CALL]. differ: RANK makes the second of two collective calls while the others make the first.
 * lost: rank 1 dies as soon as the job has started, and so do LIVES of its replacements inside
 * keel_init(). The exit status is 10 + the number of the error.
 */
#include <keel/keel.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int ends_with(keel_status_t status)
{
    return (status == KEEL_OK) ? 0 : 10 - (int)status;
}

static keel_status_t window(keel_context_h ctx, size_t bytes)
{
    keel_win_h win;
    keel_status_t status = keel_win_alloc(ctx, bytes, NULL, &win);

    if (status == KEEL_OK) {
        ((char *)keel_win_base(win))[bytes - 1] = 1;
        printf("limits: rank %u has its window\n", keel_rank(ctx));
    }
    return status;
}

static keel_status_t collective(keel_context_h ctx, const char *name)
{
    keel_win_h win;

    if (strcmp(name, "alloc") == 0) {
        return keel_win_alloc(ctx, 64, NULL, &win);
    }
    if (strcmp(name, "checkpoint") == 0) {
        return keel_checkpoint(ctx);
    }
    if (strcmp(name, "finalize") == 0) {
        return keel_finalize(ctx);
    }
    return keel_gsync(ctx, strcmp(name, "safe") == 0 ? KEEL_GSYNC_SAFE : 0);
}

/* The last call waits for the ranks with an error here. */
static keel_status_t differ(keel_context_h ctx, uint32_t rank, const char *usual, const char *other)
{
    keel_status_t status = collective(ctx, "alloc");

    if (status == KEEL_OK) {
        status = collective(ctx, keel_rank(ctx) == rank ? other : usual);
    }
    return (status == KEEL_OK) ? collective(ctx, "safe") : status;
}

int main(int argc, char **argv)
{
    const char *rank = getenv("PMIX_RANK"), *life = getenv("KEEL_INCARNATION");
    const int is_lost = argc == 3 && strcmp(argv[1], "lost") == 0 && rank != NULL && strcmp(rank, "1") == 0;
    keel_context_h ctx;
    keel_status_t status;

    if (is_lost && life != NULL && atoi(life) > 0 && atoi(life) <= atoi(argv[2])) {
        abort(); /* as a library called by keel_init() would */
    }
    status = keel_init(NULL, &ctx);
    if (status != KEEL_OK) {
        return ends_with(status);
    }
    if (argc == 3 && strcmp(argv[1], "window") == 0) {
        status = window(ctx, strtoull(argv[2], NULL, 0));
    }
    if (argc == 5 && strcmp(argv[1], "differ") == 0) {
        return ends_with(differ(ctx, (uint32_t)atoi(argv[2]), argv[3], argv[4]));
    }
    if (is_lost && keel_incarnation(ctx) == 0) {
        raise(SIGKILL);
    }
    return ends_with((status == KEEL_OK) ? keel_finalize(ctx) : status);
}
