/* The PMIx server module: upcalls, registration of ranks, delivery of events. */
#include "server.h"

#include <pmix.h>
#include <pmix_server.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <runtime/pmix_events.h>
#include <runtime/pmix_output.h>

#include "fence.h"
#include "register.h"
#include "sockets.h"

typedef struct connection {
    bool is_connected, is_finalized, is_lost;
} connection_t;

typedef struct pending_fence {
    pmix_modex_cbfunc_t done;
    void *arg;
} pending_fence_t;

static struct {
    server_params_t params;
    pthread_mutex_t lock; /* guards connections */
    connection_t *connections;
} server;

static void server_send(message_type_t type, uint32_t rank, int64_t value, const void *payload, size_t length)
{
    message_t message = {.type = type, .rank = rank, .value = value};

    channel_send(server.params.channel, &message, payload, length);
}

/* ---- actions of clients ---- */

static connection_t *server_connection(pmix_rank_t rank)
{
    return rank < server.params.options->ranks ? &server.connections[rank] : NULL;
}

static pmix_status_t server_on_connected(const pmix_proc_t *process, void *object, pmix_op_cbfunc_t done, void *arg)
{
    connection_t *connection = server_connection(process->rank);

    (void)object;
    if (connection != NULL) {
        pthread_mutex_lock(&server.lock);
        connection->is_connected = true;
        pthread_mutex_unlock(&server.lock);
        server_send(MESSAGE_CONNECTED, process->rank, 0, NULL, 0);
    }
    if (done != NULL) {
        done(PMIX_SUCCESS, arg);
    }
    return PMIX_SUCCESS;
}

static pmix_status_t server_on_finalized(const pmix_proc_t *process, void *object, pmix_op_cbfunc_t done, void *arg)
{
    connection_t *connection = server_connection(process->rank);

    (void)object;
    if (connection != NULL) {
        pthread_mutex_lock(&server.lock);
        connection->is_finalized = true;
        pthread_mutex_unlock(&server.lock);
        server_send(MESSAGE_FINALIZED, process->rank, 0, NULL, 0);
    }
    if (done != NULL) {
        done(PMIX_SUCCESS, arg);
    }
    return PMIX_SUCCESS;
}

static pmix_status_t server_on_abort(const pmix_proc_t *process, void *object, int status, const char *reason,
                                     pmix_proc_t processes[], size_t count, pmix_op_cbfunc_t done, void *arg)
{
    (void)object;
    (void)processes; /* aborts the whole job, whichever processes are named: a part cannot go on */
    (void)count;
    if (reason == NULL) {
        reason = "";
    }
    server_send(MESSAGE_ABORT, process->rank, status, reason, strlen(reason));
    if (done != NULL) {
        done(PMIX_SUCCESS, arg);
    }
    return PMIX_SUCCESS;
}

static pmix_status_t server_on_fence(const pmix_proc_t processes[], size_t count, const pmix_info_t info[],
                                     size_t info_count, char *data, size_t length, pmix_modex_cbfunc_t done, void *arg)
{
    pending_fence_t *pending = must_allocate(NULL, sizeof *pending);
    message_t message = {.type = MESSAGE_FENCE, .cookie = (uint64_t)(uintptr_t)pending};
    size_t head = fence_head_bytes(count);
    char *payload = must_allocate(NULL, head + length);
    uint32_t *ranks = must_allocate(NULL, count * sizeof *ranks);

    (void)info;
    (void)info_count;
    pending->done = done;
    pending->arg = arg;
    for (size_t i = 0; i < count; i++) {
        ranks[i] = processes[i].rank == PMIX_RANK_WILDCARD ? FENCE_ALL_RANKS : processes[i].rank;
    }
    fence_write_head(payload, ranks, count);
    if (length != 0) {
        memcpy(payload + head, data, length);
    }
    channel_send(server.params.channel, &message, payload, head + length);
    free(ranks);
    free(payload);
    return PMIX_SUCCESS;
}

static void server_forward_join(uint32_t rank, const pmix_info_t info[], size_t count)
{
    message_t message = {.type = MESSAGE_JOIN, .rank = rank, .value = rank};
    const pmix_byte_object_t *address = NULL;

    for (size_t i = 0; i < count; i++) {
        if (PMIX_CHECK_KEY(&info[i], KEEL_PMIX_KEY_INCARNATION) && info[i].value.type == PMIX_UINT32) {
            message.incarnation = info[i].value.data.uint32;
        }
        if (PMIX_CHECK_KEY(&info[i], KEEL_PMIX_KEY_RANK) && info[i].value.type == PMIX_UINT32) {
            message.value = info[i].value.data.uint32;
        }
        if (PMIX_CHECK_KEY(&info[i], KEEL_PMIX_KEY_ADDRESS) && info[i].value.type == PMIX_BYTE_OBJECT) {
            address = &info[i].value.data.bo;
        }
    }
    if (address == NULL || address->size > KEEL_PMIX_ADDRESS_MAX) {
        return; /* not a join of Keel */
    }
    channel_send(server.params.channel, &message, address->bytes, address->size);
}

static void server_forward_need(uint32_t rank, const pmix_info_t info[], size_t count)
{
    message_t message = {.type = MESSAGE_NEED, .rank = rank, .value = rank};

    for (size_t i = 0; i < count; i++) {
        const pmix_byte_object_t *data = &info[i].value.data.bo;

        if (PMIX_CHECK_KEY(&info[i], KEEL_PMIX_KEY_ADDRESS) && info[i].value.type == PMIX_BYTE_OBJECT &&
            data->size <= KEEL_PMIX_ADDRESS_MAX) {
            channel_send(server.params.channel, &message, data->bytes, data->size);
        }
    }
}

static void server_forward_call(const pmix_info_t info[], size_t count)
{
    message_t message = {.type = MESSAGE_CALL};

    for (size_t i = 0; i < count; i++) {
        if (PMIX_CHECK_KEY(&info[i], KEEL_PMIX_KEY_RANK) && info[i].value.type == PMIX_UINT32) {
            message.rank = info[i].value.data.uint32;
        }
        if (PMIX_CHECK_KEY(&info[i], KEEL_PMIX_KEY_INCARNATION) && info[i].value.type == PMIX_UINT32) {
            message.incarnation = info[i].value.data.uint32;
        }
        if (PMIX_CHECK_KEY(&info[i], KEEL_PMIX_KEY_HOLDER) && info[i].value.type == PMIX_UINT32) {
            message.value = info[i].value.data.uint32;
        }
    }
    if (server_connection(message.rank) != NULL) {
        channel_send(server.params.channel, &message, NULL, 0);
    }
}

static void server_forward_suspicion(uint32_t rank, const pmix_info_t info[], size_t count)
{
    message_t message = {.type = MESSAGE_SUSPECT};
    suspicion_t suspicion = {.accuser = rank};
    unsigned keys = 0;

    for (size_t i = 0; i < count; i++) {
        const pmix_value_t *value = &info[i].value;
        const struct {
            const char *key;
            uint32_t *place;
        } numbers[] = {{KEEL_PMIX_KEY_RANK, &message.rank},
                       {KEEL_PMIX_KEY_INCARNATION, &message.incarnation},
                       {KEEL_PMIX_KEY_HEARD, &suspicion.heard},
                       {KEEL_PMIX_KEY_LIVE, &suspicion.live},
                       {KEEL_PMIX_KEY_REPEATS, &suspicion.repeats}};

        for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
            if (PMIX_CHECK_KEY(&info[i], numbers[k].key) && value->type == PMIX_UINT32) {
                *numbers[k].place = value->data.uint32;
                keys++;
            }
        }
        if (PMIX_CHECK_KEY(&info[i], KEEL_PMIX_KEY_SILENCE) && value->type == PMIX_UINT64) {
            suspicion.silence_ns = value->data.uint64;
            keys++;
        }
    }
    if (keys == 6 && server_connection(message.rank) != NULL) {
        channel_send(server.params.channel, &message, &suspicion, sizeof suspicion);
    }
}

static pmix_status_t server_on_notify(pmix_status_t code, const pmix_proc_t *source, pmix_data_range_t range,
                                      pmix_info_t info[], size_t count, pmix_op_cbfunc_t done, void *arg)
{
    (void)range;
    (void)done;
    (void)arg;
    if (code == KEEL_PMIX_EVENT_JOIN && server_connection(source->rank) != NULL) {
        server_forward_join(source->rank, info, count);
    } else if (code == KEEL_PMIX_EVENT_MET && server_connection(source->rank) != NULL) {
        server_send(MESSAGE_MET, source->rank, 0, NULL, 0);
    } else if (code == KEEL_PMIX_EVENT_OVER && server_connection(source->rank) != NULL) {
        server_send(MESSAGE_OVER, source->rank, 0, NULL, 0);
    } else if (code == KEEL_PMIX_EVENT_CALL) {
        server_forward_call(info, count);
    } else if (code == KEEL_PMIX_EVENT_NEED && server_connection(source->rank) != NULL) {
        server_forward_need(source->rank, info, count);
    } else if (code == KEEL_PMIX_EVENT_SUSPECT && server_connection(source->rank) != NULL) {
        server_forward_suspicion(source->rank, info, count);
    }
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t server_on_register_events(pmix_status_t *codes, size_t count, const pmix_info_t info[],
                                               size_t info_count, pmix_op_cbfunc_t done, void *arg)
{
    (void)codes;
    (void)count;
    (void)info;
    (void)info_count;
    (void)done;
    (void)arg;
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t server_on_deregister_events(pmix_status_t *codes, size_t count, pmix_op_cbfunc_t done, void *arg)
{
    (void)codes;
    (void)count;
    (void)done;
    (void)arg;
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_server_module_t server_module = {
    .client_connected = server_on_connected,
    .client_finalized = server_on_finalized,
    .abort = server_on_abort,
    .fence_nb = server_on_fence,
    .notify_event = server_on_notify,
    .register_events = server_on_register_events,
    .deregister_events = server_on_deregister_events,
};

/* ---- end of a connection ---- */

static void server_mark_lost(const pmix_proc_t *process)
{
    connection_t *connection = server_connection(process->rank);

    if (connection != NULL && PMIX_CHECK_NSPACE(process->nspace, server.params.job)) {
        pthread_mutex_lock(&server.lock);
        connection->is_lost = true;
        pthread_mutex_unlock(&server.lock);
    }
}

static void server_on_lost(size_t handler, pmix_status_t status, const pmix_proc_t *source, pmix_info_t info[],
                           size_t count, pmix_info_t *results, size_t result_count,
                           pmix_event_notification_cbfunc_fn_t done, void *arg)
{
    (void)handler;
    (void)status;
    (void)results;
    (void)result_count;
    server_mark_lost(source);
    for (size_t i = 0; i < count; i++) { /* several at once: the others are listed */
        if (PMIX_CHECK_KEY(&info[i], PMIX_PROCID) && info[i].value.type == PMIX_PROC) {
            server_mark_lost(info[i].value.data.proc);
        }
    }
    server.params.on_disconnected(server.params.arg);
    if (done != NULL) {
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, arg);
    }
}

/*
 * True if the connection of a dead rank is gone for PMIx. Even a rank that never connected may have
 * been about to: its hello, handled late, would be taken for that of the next incarnation.
 */
bool server_is_disconnected(uint32_t rank)
{
    const connection_t *own = &server.connections[rank];
    unsigned expected = 0;
    bool is_closed;

    pthread_mutex_lock(&server.lock);
    is_closed = !own->is_connected || own->is_finalized || own->is_lost;
    for (uint32_t other = 0; other < server.params.options->ranks; other++) {
        expected += server.connections[other].is_connected && !server.connections[other].is_lost;
    }
    pthread_mutex_unlock(&server.lock);
    return is_closed && sockets_are_quiet(expected);
}

/* ---- opening ---- */

void server_node_name(uint32_t node, char *name, size_t size)
{
    snprintf(name, size, "node%u", node);
}

/* Formats "CALL: reason" for node_send_hello(). */
static const char *server_failure(const char *call, pmix_status_t status)
{
    static char text[128];

    snprintf(text, sizeof text, "%s failed: %s (%d)", call, PMIx_Error_string(status), status);
    return text;
}

static const char *server_watch_connections(void)
{
    pmix_status_t code = PMIX_ERR_LOST_CONNECTION;
    pmix_status_t status = PMIx_Register_event_handler(&code, 1, NULL, 0, server_on_lost, NULL, NULL);

    return status < 0 ? server_failure("PMIx_Register_event_handler", status) : NULL;
}

const char *server_open(const server_params_t *params)
{
    char name[32], own[PMIX_MAX_NSLEN + 1];
    pmix_rank_t rank = params->node;
    pmix_info_t info[5];
    pmix_status_t status;

    server.params = *params;
    server.connections = must_allocate(NULL, params->options->ranks * sizeof *server.connections);
    memset(server.connections, 0, params->options->ranks * sizeof *server.connections);
    pthread_mutex_init(&server.lock, NULL);
    /* makes PMIx report a lost connection at once; the default waits for a second */
    setenv("PMIX_MCA_pmix_event_caching_window", "0", 1);
    unsetenv(KEELRUN_ENV_SHRINK); /* of another keelrun, if this one is started by a rank */

    server_node_name(params->node, name, sizeof name);
    snprintf(own, sizeof own, "%s.server", params->job);
    PMIX_INFO_LOAD(&info[0], PMIX_SERVER_NSPACE, own, PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_SERVER_RANK, &rank, PMIX_PROC_RANK);
    PMIX_INFO_LOAD(&info[2], PMIX_SERVER_TMPDIR, params->directory, PMIX_STRING);
    PMIX_INFO_LOAD(&info[3], PMIX_SYSTEM_TMPDIR, params->directory, PMIX_STRING);
    PMIX_INFO_LOAD(&info[4], PMIX_HOSTNAME, name, PMIX_STRING);
    status = PMIx_server_init(&server_module, info, 5);
    for (size_t i = 0; i < 5; i++) {
        PMIX_INFO_DESTRUCT(&info[i]);
    }
    if (status != PMIX_SUCCESS) {
        return server_failure("PMIx_server_init", status);
    }
    sockets_send_at_once();
    status = register_job(params->options, params->node, params->job);
    return status != PMIX_SUCCESS ? server_failure("PMIx_server_register_nspace", status) : server_watch_connections();
}

char **server_expect(uint32_t rank, uint32_t incarnation, uint32_t local)
{
    pmix_status_t status = register_rank(server.params.job, rank, incarnation, local);
    char text[16], **env = NULL;
    pmix_proc_t process;

    pthread_mutex_lock(&server.lock);
    server.connections[rank] = (connection_t){.is_connected = false};
    pthread_mutex_unlock(&server.lock);
    if (status != PMIX_SUCCESS) {
        return NULL;
    }
    for (char **variable = environ; *variable != NULL; variable++) {
        PMIX_ARGV_APPEND(status, env, *variable);
    }
    PMIX_LOAD_PROCID(&process, server.params.job, rank);
    status = PMIx_server_setup_fork(&process, &env);
    if (status != PMIX_SUCCESS) {
        PMIX_ARGV_FREE(env);
        return NULL;
    }
    snprintf(text, sizeof text, "%u", incarnation);
    PMIX_SETENV(status, KEEL_ENV_INCARNATION, text, &env);
    snprintf(text, sizeof text, "%u", server.params.node);
    PMIX_SETENV(status, KEELRUN_ENV_NODE, text, &env);
    if (server.params.options->shrink) {
        PMIX_SETENV(status, KEELRUN_ENV_SHRINK, "1", &env);
    }
    PMIX_SETENV(status, KEELRUN_ENV_OUTPUT, server.params.options->once ? "once" : "all", &env);
    return env;
}

/* ---- messages of the master ---- */

static pmix_status_t server_event_code(uint32_t type)
{
    switch (type) {
    case MESSAGE_DEATH:
        return KEEL_PMIX_EVENT_DEATH;
    case MESSAGE_JOIN:
        return KEEL_PMIX_EVENT_JOIN;
    case MESSAGE_CALL:
        return KEEL_PMIX_EVENT_CALL;
    case MESSAGE_GONE:
        return KEEL_PMIX_EVENT_SHRINK;
    case MESSAGE_NEED:
        return KEEL_PMIX_EVENT_NEED;
    default:
        return KEEL_PMIX_EVENT_EXIT;
    }
}

static void server_on_delivered(pmix_status_t status, void *arg)
{
    pmix_info_t *info = arg;

    (void)status;
    PMIX_INFO_FREE(info, 7);
}

/*
 * Delivers an event in local range: PMIx gives it to the clients here and does not send it up
 * again. Not cached: a later incarnation would receive its own death.
 */
void server_deliver(const message_t *message, const char *payload)
{
    pmix_byte_object_t address = {.bytes = (char *)(uintptr_t)payload, .size = message->length};
    uint32_t rank = message->type == MESSAGE_JOIN ? (uint32_t)message->value : message->rank;
    uint32_t holder = message->type == MESSAGE_CALL ? (uint32_t)message->value : message->rank;
    pmix_status_t status;
    pmix_proc_t process;
    pmix_info_t *info;
    bool yes = true;

    PMIX_LOAD_PROCID(&process, server.params.job, message->rank);
    PMIX_INFO_CREATE(info, 7);
    PMIX_INFO_LOAD(&info[0], PMIX_EVENT_AFFECTED_PROC, &process, PMIX_PROC);
    PMIX_INFO_LOAD(&info[1], PMIX_EVENT_DO_NOT_CACHE, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[2], PMIX_EVENT_NON_DEFAULT, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[3], KEEL_PMIX_KEY_RANK, &rank, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[4], KEEL_PMIX_KEY_INCARNATION, &message->incarnation, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[5], KEEL_PMIX_KEY_ADDRESS, &address, PMIX_BYTE_OBJECT);
    PMIX_INFO_LOAD(&info[6], KEEL_PMIX_KEY_HOLDER, &holder, PMIX_UINT32);
    status = PMIx_Notify_event(server_event_code(message->type), &process, PMIX_RANGE_LOCAL, info, 7,
                               server_on_delivered, info);
    if (status != PMIX_SUCCESS) {
        PMIX_INFO_FREE(info, 7);
    }
}

void server_fence_done(const message_t *message, const char *payload)
{
    pending_fence_t *pending = (pending_fence_t *)(uintptr_t)message->cookie;
    char *data = NULL;

    if (message->length != 0) {
        /* PMIx frees the data in its thread by the given function */
        data = must_allocate(NULL, message->length);
        memcpy(data, payload, message->length);
    }
    pending->done((pmix_status_t)message->value, data, message->length, pending->arg, free, data);
    free(pending);
}
