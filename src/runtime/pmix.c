/*
 * The runtime over PMIx: membership, addresses of the first life, events. Under keelrun events have
 * rank and incarnation; under other launchers a death names the rank alone. Without a launcher the
 * process is a job of one.
 */
#include "pmix.h"

#include <base/config.h>
#include <base/day.h>
#include <base/limit_hint.h>
#include <base/memory.h>
#include <base/message.h>

#include <errno.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fabric.h"
#include "one_context.h"
#include "pmix_events.h"
#include "pmix_runtime.h"
#include "pmix_secret.h"
#include "pmix_spawn.h"

#define KEEL_PMIX_TIMEOUT_MIN  1e-2 /* seconds */
#define KEEL_PMIX_FABRIC_EVERY 1024 /* polls: events of network devices cost a system call */

static int has_joined; /* this process has joined its job before */

void keel_pmix_complain(const keel_runtime_pmix_t *runtime, const char *what, pmix_status_t status)
{
    char hint[KEEL_LIMIT_HINT_MAX];

    fprintf(stderr, "keel: rank %u.%u: %s: %s%s\n", runtime->base.rank, runtime->base.incarnation, what,
            PMIx_Error_string(status), keel_limit_hint(0, hint));
}

/*
 * Ends the job. keelrun prints the reason and kills. mpirun --enable-recovery kills no rank and
 * returns status 0: each rank ends by itself when it finds that the job cannot go on, and its
 * message is the only report.
 */
void keel_pmix_abort(keel_runtime_t *base, int status, const char *reason)
{
    keel_runtime_pmix_t *runtime = (keel_runtime_pmix_t *)base;

    if (!runtime->is_keelrun && status != EXIT_SUCCESS) {
        fprintf(stderr, "keel: rank %u.%u: the job ends without a result: %s\n", base->rank, base->incarnation, reason);
    }
    if (!runtime->is_alone) {
        PMIx_Abort(status, reason, NULL, 0);
    }
    if (runtime->is_keelrun) {
        poll(NULL, 0, KEEL_PMIX_ABORT_WAIT_MS); /* keelrun kills the process during this wait */
    }
    _exit(status);
}

static keel_status_t pmix_start_with(keel_runtime_t *base, int status, const char *setting)
{
    char reason[sizeof(KEELRUN_START_WITH) + KEEL_START_WITH_MAX], name[KEEL_START_WITH_MAX + 1];

    snprintf(name, sizeof(name), "%.*s", (int)strcspn(setting, "="), setting);
    if (getenv(name) != NULL) {
        return KEEL_ERR_STATE;
    }
    if (!((keel_runtime_pmix_t *)base)->is_keelrun) {
        return KEEL_ERR_UNSUPPORTED;
    }
    fflush(NULL);
    snprintf(reason, sizeof(reason), KEELRUN_START_WITH "%s", setting);
    keel_pmix_abort(base, status, reason);
    return KEEL_OK;
}

static void pmix_die(keel_runtime_t *runtime)
{
    (void)runtime;
    (void)raise(SIGKILL);
}

/* ---- open and close ---- */

pmix_status_t keel_pmix_get(const keel_runtime_pmix_t *runtime, pmix_rank_t rank, const char *key,
                            pmix_value_t **value_p)
{
    pmix_proc_t process;

    PMIX_LOAD_PROCID(&process, runtime->job.nspace, rank);
    return PMIx_Get(&process, key, NULL, 0, value_p);
}

static keel_status_t keel_pmix_read_size(keel_runtime_pmix_t *runtime, uint32_t spares)
{
    pmix_value_t *value = NULL;
    pmix_status_t status = keel_pmix_get(runtime, PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, &value);

    if (status != PMIX_SUCCESS || value->type != PMIX_UINT32 || value->data.uint32 <= runtime->base.rank) {
        keel_pmix_complain(runtime, "the launcher does not tell the size of the job", status);
        if (status == PMIX_SUCCESS) {
            PMIX_VALUE_RELEASE(value);
        }
        return KEEL_ERR_RUNTIME;
    }
    runtime->job_size = value->data.uint32;
    PMIX_VALUE_RELEASE(value);
    if (spares >= runtime->job_size) {
        fprintf(stderr, "keel: KEEL_SPARES of %u leaves no rank of a job of %u processes\n", spares, runtime->job_size);
        return KEEL_ERR_INVALID_PARAM;
    }
    runtime->base.size = runtime->job_size - spares;
    runtime->base.spares = spares;
    return KEEL_OK;
}

/* The host of a spawned process: the host of all ranks, because a job with spawned replacements
 * runs on one node. Freed by the caller. */
static pmix_value_t *keel_pmix_own_host(void)
{
    const char *host = getenv("PMIX_HOSTNAME");
    char name[256] = "";
    pmix_value_t *value;

    if (host == NULL && gethostname(name, sizeof name - 1) != 0) {
        return NULL;
    }
    PMIX_VALUE_CREATE(value, 1);
    if (value != NULL) {
        PMIX_VALUE_LOAD(value, (host != NULL) ? host : name, PMIX_STRING);
    }
    return value;
}

/* Numbers nodes by first appearance of a host's name: NODEID is wrong under some launchers. */
static keel_status_t keel_pmix_read_nodes(keel_runtime_pmix_t *runtime)
{
    uint32_t size = runtime->job_size, nodes = 0;
    char **names = keel_alloc(size * sizeof *names, "node names");
    keel_status_t result = KEEL_OK;

    if (names == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    for (uint32_t rank = 0; rank < size && result == KEEL_OK; rank++) {
        pmix_value_t *value = NULL;
        pmix_status_t status = keel_pmix_get(runtime, rank, PMIX_HOSTNAME, &value);
        /* mostly the node of the rank before, or the next */
        uint32_t node = rank > 0 ? runtime->base.node[rank - 1] : 0, tried = 0;

        /* Open MPI 5 hides hosts of other jobs */
        if (status != PMIX_SUCCESS && keel_pmix_is_spawned()) {
            value = keel_pmix_own_host();
            status = (value == NULL) ? status : PMIX_SUCCESS;
        }
        if (status != PMIX_SUCCESS) {
            keel_pmix_complain(runtime, "the launcher does not tell the host of a rank", status);
            result = KEEL_ERR_RUNTIME;
            break;
        }
        for (; tried < nodes && strcmp(names[node], value->data.string) != 0; tried++) {
            node = (node + 1) % nodes;
        }
        if (tried == nodes) {
            node = nodes;
            names[nodes] = strdup(value->data.string);
            result = names[nodes] == NULL ? KEEL_ERR_NO_MEMORY : KEEL_OK;
            nodes += names[nodes] != NULL;
        }
        runtime->base.node[rank] = node;
        PMIX_VALUE_RELEASE(value);
    }
    runtime->base.host = names;
    return result;
}

/* Notes the host of a replacement, as the server reports it: it may not be the rank's first. */
void keel_pmix_read_place(keel_runtime_t *base)
{
    const char *host = getenv("PMIX_HOSTNAME");

    if (host != NULL && base->incarnation > 0 && strcmp(host, base->host[base->node[base->rank]]) != 0) {
        base->place = strdup(host);
    }
}

static void keel_pmix_release_nodes(keel_runtime_pmix_t *runtime)
{
    keel_runtime_t *base = &runtime->base;

    for (uint32_t node = 0; base->host != NULL && node < runtime->job_size; node++) {
        free(base->host[node]);
    }
    keel_free(base->host);
    free(base->place);
    keel_free(base->node);
}

/*
 * True if the loopback interface reaches all processes, now and later. Emulated nodes share the
 * interface unless keelrun gives each node a network namespace. Under other launchers one host name
 * means a single host; a spawned process starts on the host of its spawner.
 */
static int keel_pmix_is_one_host(const keel_runtime_pmix_t *runtime)
{
    if (runtime->is_keelrun) {
        return getenv(KEELRUN_ENV_NETNS) == NULL;
    }
    for (uint32_t rank = 1; rank < runtime->job_size; rank++) {
        if (runtime->base.node[rank] != runtime->base.node[0]) {
            return 0;
        }
    }
    return 1;
}

/*
 * Returns the interface that Open MPI's launcher was told to use, if this host has an interface of
 * that name. NULL over one host, where the loopback interface does.
 */
static const char *keel_pmix_interface(const keel_runtime_pmix_t *runtime)
{
    static const char *const names[] = {"OMPI_MCA_btl_tcp_if_include", "OMPI_MCA_oob_tcp_if_include",
                                        "PRTE_MCA_prte_if_include"};

    for (size_t i = 0; !runtime->base.is_one_host && i < sizeof(names) / sizeof(names[0]); i++) {
        const char *name = getenv(names[i]);

        if (name != NULL && if_nametoindex(name) != 0) {
            return name;
        }
    }
    return NULL;
}

int keel_pmix_is_spare(const keel_runtime_pmix_t *runtime)
{
    return runtime->base.rank >= runtime->base.size;
}

static uint32_t keel_pmix_read_incarnation(void)
{
    const char *text = getenv(KEEL_ENV_INCARNATION);

    return text != NULL ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

static void keel_pmix_close(keel_runtime_t *base)
{
    keel_runtime_pmix_t *runtime = (keel_runtime_pmix_t *)base;

    if (runtime->is_alone) {
        has_joined = 0;
    } else {
        if (!runtime->is_keelrun && !keel_pmix_is_spare(runtime)) {
            keel_pmix_send_event(runtime, KEEL_PMIX_EVENT_EXIT, base->rank, base->incarnation, runtime->holder);
        }
        PMIx_Deregister_event_handler(runtime->handler, NULL, NULL);
        PMIx_Finalize(NULL, 0); /* ends PMIx's thread: no more events */
    }
    keel_fabric_close(runtime->fabric);
    keel_pmix_addresses_release(runtime);
    keel_event_queue_release(&runtime->queue);
    keel_pmix_spares_release(runtime);
    keel_free(runtime->processes);
    keel_pmix_release_nodes(runtime);
    keel_free(runtime);
    keel_one_context_end();
}

/* Reads the launcher's data. Requires a connection to PMIx. */
static keel_status_t keel_pmix_join_job(keel_runtime_pmix_t *runtime, uint32_t spares, uint32_t spawns)
{
    keel_runtime_t *base = &runtime->base;
    keel_status_t status;

    /* keelrun starts replacements unasked */
    runtime->is_keelrun = getenv(KEELRUN_ENV_NODE) != NULL;
    keel_pmix_output_open(&runtime->output);
    spawns = runtime->is_keelrun ? 0 : spawns;
    if (spares > 0 && spawns > 0) {
        fprintf(stderr, "keel: KEEL_SPARES and KEEL_SPAWN exclude each other\n");
        return KEEL_ERR_INVALID_PARAM;
    }
    runtime->job = runtime->process;
    if (keel_pmix_is_spawned()) {
        status = keel_pmix_spawned_open(runtime);
        if (status != KEEL_OK) {
            return status;
        }
    }
    base->rank = runtime->job.rank;
    base->incarnation = keel_pmix_read_incarnation();
    base->lacks_death_events = !runtime->is_keelrun;
    base->is_emulated = runtime->is_keelrun;
    base->declares_gone = runtime->is_keelrun && spares == 0 && getenv(KEELRUN_ENV_SHRINK) != NULL;
    runtime->does_restart = runtime->is_keelrun && spares == 0;
    status = keel_pmix_read_size(runtime, spares);
    if (status != KEEL_OK) {
        return status;
    }
    runtime->holder = runtime->job.rank;
    base->node = keel_alloc(runtime->job_size * sizeof *base->node, "nodes");
    if (base->node == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    status = keel_pmix_read_nodes(runtime);
    if (status == KEEL_OK) {
        base->is_one_host = keel_pmix_is_one_host(runtime);
        base->interface = keel_pmix_interface(runtime);
        status = keel_pmix_spares_init(runtime, spares + spawns);
        runtime->spares.does_spawn = spawns > 0;
    }
    if (status == KEEL_OK && keel_pmix_is_spawned()) {
        status = keel_pmix_spawned_read(runtime);
    }
    if (status == KEEL_OK) {
        status = keel_event_queue_init(&runtime->queue, base->size);
    }
    if (status == KEEL_OK) {
        status = keel_pmix_register_events(runtime);
        if (status != KEEL_OK) {
            keel_event_queue_release(&runtime->queue);
        }
    }
    return status;
}

/*
 * Refuses too short timeouts: a process that waits for a core is silent, too, and would be killed
 * for nothing, again and again.
 */
static keel_status_t keel_pmix_check_timeout(const keel_config_t *config)
{
    const keel_message_t message = {.level = KEEL_MSG_ERROR, .rank = KEEL_MESSAGE_NO_RANK};

    if (config == NULL || config->heartbeat_timeout_s == 0 || config->heartbeat_timeout_s >= KEEL_PMIX_TIMEOUT_MIN) {
        return KEEL_OK;
    }
    keel_error(&message, "KEEL_HEARTBEAT_TIMEOUT of %gs is out of range, allowed are 0 (no heartbeat) and %gs or more",
               config->heartbeat_timeout_s, KEEL_PMIX_TIMEOUT_MIN);
    return KEEL_ERR_INVALID_PARAM;
}

static keel_status_t keel_pmix_open(void *driver_arg, keel_runtime_t **runtime_p)
{
    keel_runtime_pmix_t *runtime = keel_alloc(sizeof *runtime, "runtime");
    const keel_config_t *config = driver_arg;
    const int is_auth_off = config != NULL && config->is_auth_off;
    pmix_status_t pmix_status;
    keel_status_t status;

    if (runtime == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    runtime->base.ops = &keel_runtime_pmix_ops;
    runtime->base.day_ns = keel_day_begin(runtime->base.ops->now_ns(&runtime->base));
    status = keel_pmix_check_timeout(config);
    if (status != KEEL_OK) {
        goto err_free;
    }
    if (has_joined) { /* peers know the first address, or the exit */
        fprintf(stderr, "keel: this process joined its job before: it cannot do so twice\n");
        status = KEEL_ERR_STATE;
        goto err_free;
    }
    status = keel_one_context_begin("keel_init");
    if (status != KEEL_OK) {
        goto err_free;
    }
    if (getenv("PMIX_NAMESPACE") == NULL) { /* set by every launcher */
        status = keel_pmix_open_singleton(runtime);
        if (status == KEEL_OK) {
            status = keel_pmix_secret_open(runtime, is_auth_off);
        }
        if (status != KEEL_OK) {
            goto err_context;
        }
        has_joined = 1;
        *runtime_p = &runtime->base;
        return KEEL_OK;
    }
    pmix_status = PMIx_Init(&runtime->process, NULL, 0);
    if (pmix_status != PMIX_SUCCESS) {
        keel_pmix_complain(runtime, "PMIx_Init cannot reach the launcher", pmix_status);
        status = KEEL_ERR_RUNTIME;
        goto err_context;
    }
    has_joined = 1;
    status = keel_pmix_join_job(runtime, config != NULL ? config->spares : 0, config != NULL ? config->spawns : 0);
    /* the job does not need this process */
    if (status == KEEL_ERR_STATE && keel_pmix_is_spawned()) {
        PMIx_Finalize(NULL, 0);
        exit(EXIT_SUCCESS);
    }
    if (status == KEEL_OK) {
        status = keel_pmix_secret_open(runtime, is_auth_off);
    }
    if (status != KEEL_OK) {
        goto err_finalize;
    }
    runtime->base.is_spare = keel_pmix_is_spare(runtime);
    if (!runtime->base.is_spare) {
        keel_pmix_read_place(&runtime->base);
    }
    *runtime_p = &runtime->base;
    return KEEL_OK;

err_finalize:
    PMIx_Finalize(NULL, 0);
err_context:
    keel_one_context_end();
err_free:
    keel_pmix_spares_release(runtime);
    keel_pmix_release_nodes(runtime);
    keel_free(runtime);
    return status;
}

/* ---- other operations ---- */

static int keel_pmix_poll(keel_runtime_t *base, keel_event_t *event_p)
{
    keel_runtime_pmix_t *runtime = (keel_runtime_pmix_t *)base;

    if (runtime->fabric != NULL && ++runtime->polls % KEEL_PMIX_FABRIC_EVERY == 0) {
        base->hints = keel_fabric_poll(runtime->fabric);
    }
    keel_pmix_spares_step(runtime);
    if (!keel_event_queue_pop(&runtime->queue, event_p)) {
        return 0;
    }
    keel_pmix_spares_note(runtime, event_p);
    return 1;
}

/* keelrun ends a job if its replacements never complete keel_init(). */
static void keel_pmix_started(keel_runtime_t *base)
{
    const keel_runtime_pmix_t *runtime = (const keel_runtime_pmix_t *)base;

    if (runtime->is_keelrun) {
        (void)keel_pmix_send_met(runtime);
    }
}

static void keel_pmix_mark(keel_runtime_t *base, keel_mark_t mark, uint32_t number)
{
    keel_pmix_output_mark(&((keel_runtime_pmix_t *)base)->output, mark, number);
}

static void keel_pmix_notify(keel_runtime_t *base, uint8_t *news)
{
    keel_event_queue_notify(&((keel_runtime_pmix_t *)base)->queue, news);
}

static void keel_pmix_watch(keel_runtime_t *base, const struct keel_message *message)
{
    ((keel_runtime_pmix_t *)base)->fabric = keel_fabric_watch(&keel_fabric_verbs_ops, NULL, message);
}

static uint64_t keel_pmix_now_ns(keel_runtime_t *base)
{
    struct timespec now;

    (void)base;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

const keel_runtime_ops_t keel_runtime_pmix_ops = {
    .name = "pmix",
    .open = keel_pmix_open,
    .close = keel_pmix_close,
    .await_rank = keel_pmix_spare_wait,
    .need = keel_pmix_spares_need,
    .announce = keel_pmix_announce,
    .started = keel_pmix_started,
    .lookup = keel_pmix_lookup,
    .poll = keel_pmix_poll,
    .watch = keel_pmix_watch,
    .notify = keel_pmix_notify,
    .now_ns = keel_pmix_now_ns,
    .suspect = keel_pmix_suspect,
    .use_spare_order = keel_pmix_use_spare_order,
    .replace = keel_pmix_replace,
    .finish = keel_pmix_spares_finish,
    .abort = keel_pmix_abort,
    .start_with = pmix_start_with,
    .mark = keel_pmix_mark,
    .die = pmix_die,
};
