/* A library to preload into ranks: checkpoints are as of a build with another layout. */
#define _GNU_SOURCE
#include <keel/keel.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

/* The first word of the first window of the process: keel_mpi_hidden_t.layout. */
static uint64_t *layout;

static void *next_of(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);

    if (function == NULL) {
        abort();
    }
    return function;
}

void *keel_win_base(keel_win_h win)
{
    void *(*next)(keel_win_h) = NULL;
    void *base;

    *(void **)&next = next_of("keel_win_base");
    base = next(win);
    layout = (layout == NULL) ? base : layout;
    return base;
}

keel_status_t keel_checkpoint(keel_context_h ctx)
{
    keel_status_t (*next)(keel_context_h) = NULL;

    *(void **)&next = next_of("keel_checkpoint");
    *layout = 1;
    return next(ctx);
}
