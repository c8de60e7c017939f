/*
 * The job: one window of the hidden part, the heap and global variables; then a gsync, since other
 * PEs later put to memory that is initialised here. A replacement with a checkpoint to restore
 * skips the gsync, like all calls up to its restart point; a replacement recovered from the
 * program's start repeats all calls.
 */
#define _DEFAULT_SOURCE /* on_exit */
#include "shmem_job.h"
#include "shmem_environment.h"
#include "shmem_globals.h"
#include "shmem_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static keel_shmem_environment_t environment;
static int was_left;
static pid_t process; /* process that joined: its children have no part in the job */

void keel_shmem_job_restart(const char *call, const char *why)
{
    char reason[300];

    snprintf(reason, sizeof(reason), "%s: a PE died, and %s: the job has to be started anew", call, why);
    keel_abort_because(keel_shmem.ctx, KEEL_EXIT_AGAIN, reason);
}

int keel_shmem_job_polls(void)
{
    return environment.has_promise && environment.waits;
}

/* ---- joining ---- */

static void join(const char *call)
{
    static const char *const debug[] = {"KEEL_VERBOSE=y", NULL}, *const none[] = {NULL};
    const uint64_t promises = environment.waits ? KEEL_PARAM_FLAG_POLLS : 0;
    const keel_params_t params = {
        .field_mask = KEEL_PARAM_FIELD_FLAGS | KEEL_PARAM_FIELD_ENV,
        .flags = environment.has_promise ? promises : KEEL_PARAM_FLAG_NONDETERMINISTIC,
        .env = environment.is_debug ? debug : none,
    };
    const char *shrink = getenv("KEEL_SHRINK");
    keel_status_t status;

    if (shrink != NULL && *shrink != '\0' && strcasecmp(shrink, "no") != 0) {
        keel_shmem_refuse(call, "KEEL_SHRINK: OpenSHMEM programs cannot go on with fewer ranks yet", 0);
    }
    status = keel_init(&params, &keel_shmem.ctx);
    if (status != KEEL_OK) {
        keel_shmem_refuse(call, keel_status_string(status), (uint64_t)(int64_t)status);
    }
    keel_shmem.pe = keel_rank(keel_shmem.ctx);
    keel_shmem.pes = keel_size(keel_shmem.ctx);
    process = getpid();
}

/*
 * Continues in a replacement. Without a checkpoint there is no known restart point: then no call is
 * skipped.
 */
static void go_on(const char *call)
{
    keel_stats_t stats;
    keel_status_t status;

    keel_shmem_end(keel_stats(keel_shmem.ctx, &stats, sizeof(stats)), call);
    if (stats.generation > 0) {
        return;
    }
    if (!environment.has_promise) {
        keel_shmem_job_restart(call, "there is no checkpoint yet");
    }
    status = keel_restore(keel_shmem.ctx);
    if (status == KEEL_ERR_ROLLED_BACK) {
        keel_shmem_job_restart(call, "another, before any checkpoint");
    }
    keel_shmem_end(status, call);
    keel_shmem.is_before_restart_point = 0;
}

static void make_window(const char *call)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t globals = environment.has_globals ? keel_shmem_globals_find() : 0;
    size_t bytes;

    keel_shmem.bytes = sizeof(keel_shmem_hidden_t) + environment.heap_bytes;
    keel_shmem.bytes += (globals > 0) ? -keel_shmem.bytes & (page - 1) : 0;
    bytes = keel_shmem.bytes + globals;
    keel_shmem.is_before_restart_point = keel_restarted(keel_shmem.ctx);
    keel_shmem_end(keel_win_alloc(keel_shmem.ctx, bytes, NULL, &keel_shmem.win), call);
    keel_shmem.hidden = keel_win_base(keel_shmem.win);
    keel_shmem_teams_alloc(call);
    keel_shmem_globals_serve(keel_shmem.ctx, call);
    if (keel_shmem.is_before_restart_point) {
        go_on(call);
    } else if (keel_win_size(keel_shmem.win, 0) != bytes) {
        keel_shmem_refuse(call, "SHMEM_SYMMETRIC_SIZE, or the program, is another than that of PE 0",
                          environment.heap_bytes);
    }
    keel_shmem_blocks_begin(&keel_shmem.hidden->blocks, (char *)keel_shmem.hidden, sizeof(*keel_shmem.hidden),
                            (char *)keel_shmem.hidden + keel_shmem.bytes);
    keel_shmem_extents_forget();
    if (globals > 0 && !keel_shmem_globals_map(keel_shmem.hidden, keel_shmem.bytes)) {
        keel_shmem_refuse(call,
                          "global variables cannot be symmetric, their memory is not mapped a second time; "
                          "SHMEM_KEEL_GLOBALS=n goes on without",
                          keel_shmem_globals.begin);
    }
}

static void print_place(void)
{
    const keel_shmem_globals_t *globals = &keel_shmem_globals;

    fprintf(stderr,
            "shmem %u info: process %d, life %u, %u PEs; heap of %zu bytes at %p; global variables in %zu bytes at "
            "0x%lx%s%s\n",
            keel_shmem.pe, (int)process, keel_incarnation(keel_shmem.ctx), keel_shmem.pes, environment.heap_bytes,
            (void *)(keel_shmem.hidden + 1), globals->bytes, (unsigned long)globals->begin,
            globals->reason == NULL ? "" : ": ", globals->reason == NULL ? "" : globals->reason);
}

static void leave_at_exit(int status, void *arg);

void keel_shmem_job_join(const keel_shmem_joining_t *joining, const char *call)
{
    static int is_watched;
    const char *wrong;
    int is_given_up = 0;

    if (keel_shmem.ctx != NULL) {
        return;
    }
    wrong = keel_shmem_environment_read(&environment);
    if (wrong != NULL) {
        fprintf(stderr, "shmem 0 error: %s: %s is no number of bytes\n", call, wrong);
        _Exit(EXIT_FAILURE);
    }
    environment.has_promise |= joining->has_promise;
    environment.waits |= joining->waits;
    if (joining->is_threaded) {
        is_given_up = environment.has_promise;
        environment.has_promise = 0; /* no log has the order of several threads */
    }
    join(call);
    if (keel_shmem.pe == 0 && keel_incarnation(keel_shmem.ctx) == 0) {
        keel_shmem_environment_print(&environment);
        if (is_given_up) {
            fprintf(stderr,
                    "shmem 0 warning: %s: with SHMEM_THREAD_MULTIPLE no dead PE is recovered alone: deaths are "
                    "rollbacks\n",
                    call);
        }
    }
    keel_shmem.lends = !environment.has_promise;
    make_window(call);
    keel_shmem_teams_begin();
    keel_shmem_is_threaded = joining->is_threaded;
    if (environment.is_debug) {
        print_place();
    }
    if (!keel_shmem.is_before_restart_point) {
        keel_shmem_end(keel_gsync(keel_shmem.ctx, 0), call);
        keel_shmem_teams_share(call);
    }
    if (!is_watched) {
        is_watched = on_exit(leave_at_exit, NULL) == 0;
    }
}

/* ---- leaving ---- */

int keel_shmem_job_has_left(void)
{
    return was_left;
}

void keel_shmem_job_leave(const char *call)
{
    keel_shmem_begin_reading(call);
    (void)fflush(NULL); /* a launcher may kill PEs during finalize */
    keel_shmem_end(keel_finalize(keel_shmem.ctx), call);
    keel_shmem = (keel_shmem_t){0};
    keel_shmem_globals.served = NULL;
    keel_shmem_is_threaded = 0;
    was_left = 1;
}

void keel_shmem_job_end(int status)
{
    if (keel_shmem.ctx == NULL) { /* outside of the job */
        exit(status);
    }
    keel_abort(keel_shmem.ctx, status & 0xff);
}

/*
 * Leaves for a program that omits shmem_finalize(). If the exit status is an error, aborts: other
 * PEs would wait forever.
 */
static void leave_at_exit(int status, void *arg)
{
    (void)arg;
    if (keel_shmem.ctx == NULL || getpid() != process) {
        return;
    }
    if ((status & 0xff) != 0) {
        keel_abort(keel_shmem.ctx, status & 0xff);
    }
    keel_restart_clear(keel_shmem.ctx); /* main() has returned */
    keel_shmem_job_leave("exit");
}
