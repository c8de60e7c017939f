/*
 * Spares that are started on demand, under launchers with PMIx_Spawn. The launcher sees each spare
 * as a separate job, so an environment variable holds the spare's place in this job.
 *
 * At most one process is ever a given spare: the process claims the spare's number by the name of a
 * socket. The kernel gives a name to one process at a time and takes the name back when the process
 * dies. A caller that waits in vain claims the number itself before skipping the spare, so a late
 * process finds the number taken and ends. Names belong to a node, and so do PMIx's events under
 * Open MPI: a job with spawned replacements runs on one node.
 *
 * The process may start after the end of the job, with no rank left to dismiss it. So it examines
 * the processes listed in its environment, and ends if all are gone. Had all of them died, the
 * results of the job would be lost anyway: no other replacement catches up before this process has
 * joined.
 */
#define _GNU_SOURCE /* environ, get_current_dir_name() */
#include "pmix_spawn.h"
#include "pmix_secret.h"

#include <base/memory.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "pmix_runtime.h"

#define ARGUMENTS_MAX (1024 * 1024) /* bytes of a command line */

/* ---- the claim ---- */

/* Returns 1 if the number belongs to this process until its end. */
static int spawn_claim(const keel_runtime_pmix_t *runtime, uint32_t spare)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), length;

    if (fd < 0) {
        return 0;
    }
    /* a leading zero byte: no file */
    length = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "keel.%u.%.64s.%u", (unsigned)getuid(),
                      runtime->job.nspace, spare);
    if (bind(fd, (struct sockaddr *)&name, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length)) !=
        0) {
        close(fd);
        return 0;
    }
    return 1; /* the descriptor is the claim */
}

int keel_pmix_spawn_is_gone(keel_runtime_pmix_t *runtime, uint32_t spare)
{
    return spawn_claim(runtime, spare);
}

/* ---- in the process that spawns ---- */

/* Reads the zero-terminated arguments of the command line from /proc. Freed by the caller. */
static char *spawn_read_arguments(size_t *length_p)
{
    char *text = keel_alloc(ARGUMENTS_MAX, "command line");
    FILE *file = fopen("/proc/self/cmdline", "re");

    *length_p = 0;
    if (text != NULL && file != NULL) {
        *length_p = fread(text, 1, ARGUMENTS_MAX - 1, file);
    }
    if (file != NULL) {
        fclose(file);
    }
    return text;
}

static char *spawn_describe(const keel_runtime_pmix_t *runtime, uint32_t rank, uint32_t spare)
{
    const uint32_t count = runtime->job_size + runtime->spares.count;
    const size_t size = PMIX_MAX_NSLEN + 64 + (size_t)count * 64;
    char *text = keel_alloc(size, "environment");
    size_t used;

    if (text == NULL) {
        return NULL;
    }
    used = (size_t)snprintf(text, size, "%s %u %u", runtime->job.nspace, rank, spare);
    for (uint32_t holder = 0; holder < count; holder++) {
        keel_process_t process;

        if (keel_pmix_find_process(runtime, holder, &process)) {
            used += (size_t)snprintf(text + used, size - used, " %" PRIu32 ":%" PRId64 ":%" PRIu64, holder, process.pid,
                                     process.start);
        }
    }
    return text;
}

static int spawn_is_ours(const char *variable)
{
    return (strncmp(variable, "KEEL_", 5) == 0 && strncmp(variable, KEEL_ENV_SPAWNED "=", 13) != 0) ||
           strncmp(variable, "UCX_", 4) == 0;
}

/* Places the process on this node, home of the claim and the events. */
static void spawn_place(const keel_runtime_pmix_t *runtime, pmix_app_t *app)
{
    const keel_runtime_t *base = &runtime->base;

    if (base->host != NULL) {
        PMIX_INFO_CREATE(app->info, 1);
        app->ninfo = 1;
        PMIX_INFO_LOAD(&app->info[0], PMIX_HOST, base->host[base->node[base->rank]], PMIX_STRING);
    }
}

typedef struct spawn_call {
    keel_runtime_pmix_t *runtime;
    pmix_info_t info[2]; /* of the spawned process, a job to the launcher */
    pmix_app_t app;
} spawn_call_t;

static void spawn_free(spawn_call_t *call)
{
    PMIX_INFO_DESTRUCT(&call->info[0]);
    PMIX_INFO_DESTRUCT(&call->info[1]);
    PMIX_APP_DESTRUCT(&call->app);
    keel_free(call);
}

static void spawn_on_done(pmix_status_t status, char *job, void *arg)
{
    spawn_call_t *call = arg;

    (void)job;
    if (status != PMIX_SUCCESS) {
        keel_pmix_complain(call->runtime, "the launcher cannot start a replacement", status);
        atomic_store(&call->runtime->spares.is_refused, 1);
    }
    spawn_free(call);
}

static spawn_call_t *spawn_prepare(keel_runtime_pmix_t *runtime, uint32_t rank, uint32_t spare)
{
    spawn_call_t *call = keel_alloc(sizeof *call, "spawn");
    char *text = spawn_describe(runtime, rank, spare);
    size_t length = 0;
    char *arguments = spawn_read_arguments(&length);
    pmix_status_t status = PMIX_SUCCESS;
    char path[4096];
    bool is_recoverable = true;
    ssize_t used = readlink("/proc/self/exe", path, sizeof path - 1);

    if (call != NULL && text != NULL && arguments != NULL && length > 0 && used > 0) {
        path[used] = '\0';
        call->runtime = runtime;
        /*
         * In an allocation, the slot of the dead process counts as taken and there is no other; the
         * spawned process may die, too.
         */
        PMIX_INFO_LOAD(&call->info[0], PMIX_MAPBY, ":OVERSUBSCRIBE", PMIX_STRING);
        PMIX_INFO_LOAD(&call->info[1], PMIX_JOB_RECOVERABLE, &is_recoverable, PMIX_BOOL);
        PMIX_APP_CONSTRUCT(&call->app);
        call->app.cmd = strdup(path);
        call->app.cwd = get_current_dir_name();
        call->app.maxprocs = 1;
        for (size_t at = 0; at < length && status == PMIX_SUCCESS; at += strlen(arguments + at) + 1) {
            PMIX_ARGV_APPEND(status, call->app.argv, arguments + at);
        }
        for (char **variable = environ; *variable != NULL && status == PMIX_SUCCESS; variable++) {
            if (spawn_is_ours(*variable)) {
                PMIX_ARGV_APPEND(status, call->app.env, *variable);
            }
        }
        if (status == PMIX_SUCCESS) {
            PMIX_SETENV(status, KEEL_ENV_SPAWNED, text, &call->app.env);
        }
        if (status == PMIX_SUCCESS) {
            status = keel_pmix_secret_pass_on(runtime, &call->app.env);
        }
        spawn_place(runtime, &call->app);
        if (status != PMIX_SUCCESS) {
            spawn_free(call);
            call = NULL;
        }
    } else {
        keel_free(call);
        call = NULL;
    }
    keel_free(text);
    keel_free(arguments);
    return call;
}

void keel_pmix_spawn(keel_runtime_pmix_t *runtime, uint32_t rank, uint32_t spare)
{
    spawn_call_t *call = spawn_prepare(runtime, rank, spare);
    pmix_status_t status = PMIX_ERR_NOMEM;

    if (call != NULL) {
        status = PMIx_Spawn_nb(call->info, 2, &call->app, 1, spawn_on_done, call);
    }
    if (status == PMIX_SUCCESS) {
        return;
    }
    if (call != NULL) {
        spawn_free(call);
    }
    keel_pmix_complain(runtime, "the launcher cannot be asked for a replacement", status);
    atomic_store(&runtime->spares.is_refused, 1);
}

/* ---- in the spawned process ---- */

int keel_pmix_is_spawned(void)
{
    return getenv(KEEL_ENV_SPAWNED) != NULL;
}

/* Reads the next process at *text_p and advances *text_p. Returns 0 at the end. */
static int spawned_next(const char **text_p, uint32_t *holder_p, keel_process_t *process)
{
    const char *text = (*text_p != NULL) ? strchr(*text_p, ' ') : NULL;

    *text_p = (text != NULL) ? text + 1 : NULL;
    return text != NULL &&
           sscanf(*text_p, "%" SCNu32 ":%" SCNd64 ":%" SCNu64, holder_p, &process->pid, &process->start) == 3;
}

/* The start of the list of processes, after job, rank and number. */
static const char *spawned_list(void)
{
    const char *text = getenv(KEEL_ENV_SPAWNED);

    for (int word = 1; text != NULL && word < 3; word++) {
        text = strchr(text, ' ');
        text += (text != NULL);
    }
    return text;
}

int keel_pmix_spawned_is_alone(void)
{
    const char *text = spawned_list();
    keel_process_t process;
    uint32_t holder;
    int is_alone = 0;

    while (spawned_next(&text, &holder, &process)) {
        is_alone = keel_process_is_gone(&process);
        if (!is_alone) {
            break;
        }
    }
    return is_alone;
}

keel_status_t keel_pmix_spawned_open(keel_runtime_pmix_t *runtime)
{
    const char *text = getenv(KEEL_ENV_SPAWNED), *space = (text != NULL) ? strchr(text, ' ') : NULL;
    uint32_t rank, spare;

    if (space == NULL || space - text > PMIX_MAX_NSLEN || sscanf(space, " %" SCNu32 " %" SCNu32, &rank, &spare) != 2) {
        return KEEL_ERR_RUNTIME;
    }
    memset(&runtime->job, 0, sizeof runtime->job);
    memcpy(runtime->job.nspace, text, (size_t)(space - text));
    runtime->job.rank = rank;
    runtime->spare = spare;
    return (!keel_pmix_spawned_is_alone() && spawn_claim(runtime, spare)) ? KEEL_OK : KEEL_ERR_STATE;
}

keel_status_t keel_pmix_spawned_read(keel_runtime_pmix_t *runtime)
{
    const char *text = spawned_list();
    keel_pmix_spares_t *spares = &runtime->spares;
    keel_process_t process;
    uint32_t holder;

    if (runtime->spare >= spares->count || keel_pmix_processes_init(runtime) != KEEL_OK) {
        return KEEL_ERR_RUNTIME;
    }
    runtime->base.incarnation = runtime->spare + 1;
    runtime->holder = runtime->base.size + runtime->spare;
    /* a repeated call makes the process repeat its join */
    atomic_store(&spares->called_rank, runtime->base.rank);
    keel_pmix_spare_joined(runtime, runtime->base.rank, runtime->base.incarnation, runtime->holder);
    spares->lives[runtime->base.rank].next = runtime->base.incarnation;
    while (spawned_next(&text, &holder, &process)) {
        keel_pmix_add_process(runtime, holder, &process);
    }
    keel_process_self(&process); /* for later spawns by this process */
    keel_pmix_add_process(runtime, runtime->holder, &process);
    return KEEL_OK;
}
