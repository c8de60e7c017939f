/* A program at the limits of the machine: limits window BYTES|quick. What a call returns is its status, 10 + the error's number. */
#include <keel/keel.h>

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

int main(int argc, char **argv)
{
    keel_context_h ctx;
    keel_status_t status = keel_init(NULL, &ctx);

    if (status != KEEL_OK) {
        return ends_with(status);
    }
    if (argc == 3 && strcmp(argv[1], "window") == 0) {
        status = window(ctx, strtoull(argv[2], NULL, 0));
    }
    return ends_with((status == KEEL_OK) ? keel_finalize(ctx) : status);
}
