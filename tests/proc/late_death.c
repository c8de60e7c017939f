/*
 * A rank dies after the last gsync, while no rank has left the job yet: late_death MODE FILE. The
 * death happens in the runtime's calls of PMIx, which this program intercepts: `announced` after
 * every rank has announced the end of the gsync to the launcher, `unannounced` before any has. The
 * others go on when the replacement has created FILE, or are ended before.
 */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "runtime/pmix_events.h"

#include <keel/keel.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <pmix.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VICTIM = 1, RANKS = 3, EXIT_KEEL = 3 };

static const char *file;
static int is_announced;

typedef pmix_status_t (*notify_t)(pmix_status_t status, const pmix_proc_t *source, pmix_data_range_t range,
                                  const pmix_info_t info[], size_t count, pmix_op_cbfunc_t done, void *arg);
typedef pmix_status_t (*finalize_t)(const pmix_info_t info[], size_t count);

static unsigned own_rank(void)
{
    return (unsigned)strtoul(getenv("PMIX_RANK"), NULL, 10);
}

static int is_replacement(void)
{
    return strcmp(getenv("KEEL_INCARNATION"), "0") != 0;
}

static void make(const char *name, unsigned rank)
{
    char path[512];

    snprintf(path, sizeof path, "%s.%s%u", file, name, rank);
    close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}

static void await(const char *name, unsigned rank)
{
    char path[512];

    snprintf(path, sizeof path, "%s.%s%u", file, name, rank);
    while (access(path, F_OK) != 0) {
        poll(NULL, 0, 1);
    }
}

/* Dies once all ranks know that the last gsync is over: no death is recovered any more. */
static void die(void)
{
    for (unsigned rank = 0; rank < RANKS; rank++) {
        if (rank != VICTIM) {
            await("over", rank);
        }
    }
    raise(SIGKILL);
}

pmix_status_t PMIx_Notify_event(pmix_status_t status, const pmix_proc_t *source, pmix_data_range_t range,
                                const pmix_info_t info[], size_t count, pmix_op_cbfunc_t done, void *arg)
{
    const notify_t next = (notify_t)dlsym(RTLD_NEXT, "PMIx_Notify_event");
    const int is_over = status == KEEL_PMIX_EVENT_OVER, is_others = is_over && own_rank() != VICTIM;

    if (is_others && !is_announced) {
        make("over", own_rank());
        await("back", VICTIM);
    } else if (is_over && !is_others && !is_announced) {
        die();
    }
    status = next(status, source, range, info, count, done, arg);
    if (is_others && is_announced) {
        make("over", own_rank());
    } else if (is_over && !is_others) {
        die();
    }
    return status;
}

/* No rank leaves before the replacement has started. */
pmix_status_t PMIx_Finalize(const pmix_info_t info[], size_t count)
{
    const finalize_t next = (finalize_t)dlsym(RTLD_NEXT, "PMIx_Finalize");

    if (own_rank() != VICTIM) {
        await("back", VICTIM);
    }
    return next(info, count);
}

int main(int argc, char **argv)
{
    keel_context_h ctx;
    keel_status_t status;

    if (argc < 3) {
        return EXIT_FAILURE;
    }
    is_announced = strcmp(argv[1], "announced") == 0;
    file = argv[2];
    if (is_replacement()) {
        make("back", own_rank());
    }
    status = keel_init(NULL, &ctx);
    if (status == KEEL_OK) {
        status = keel_finalize(ctx);
    }
    return (status == KEEL_OK) ? EXIT_SUCCESS : EXIT_KEEL;
}
