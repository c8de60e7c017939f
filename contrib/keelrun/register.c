/* The job's layout in PMIx's terms (order and keys found by trial: PMIx 4.2.2). */
#include "register.h"

#include <pmix_server.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <runtime/pmix_events.h>

#include "channel.h"
#include "server.h"

#define REGISTER_JOB_KEYS  16
#define REGISTER_RANK_KEYS 8

/* ---- waits for PMIx's callbacks ---- */

typedef struct call {
    pthread_mutex_t lock;
    pthread_cond_t cond;
    bool is_done;
    pmix_status_t status;
} call_t;

#define CALL_INIT                                                                \
    {                                                                            \
        PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, PMIX_SUCCESS \
    }

static void call_done(pmix_status_t status, void *arg)
{
    call_t *call = arg;

    pthread_mutex_lock(&call->lock);
    call->status = status;
    call->is_done = true;
    pthread_cond_signal(&call->cond);
    pthread_mutex_unlock(&call->lock);
}

static pmix_status_t call_wait(call_t *call, pmix_status_t status)
{
    if (status != PMIX_SUCCESS) {
        return status == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : status;
    }
    pthread_mutex_lock(&call->lock);
    while (!call->is_done) {
        pthread_cond_wait(&call->cond, &call->lock);
    }
    pthread_mutex_unlock(&call->lock);
    return call->status;
}

static pmix_status_t register_namespace(const char *job, uint32_t local, pmix_info_t *info, size_t count)
{
    call_t call = CALL_INIT;
    pmix_nspace_t name; /* PMIx copies the whole array */

    PMIX_LOAD_NSPACE(name, job);
    return call_wait(&call, PMIx_server_register_nspace(name, (int)local, info, count, call_done, &call));
}

/* ---- growing text ---- */

typedef struct text {
    char *data;
    size_t length;
} text_t;

static void text_add(text_t *text, const char *separator, const char *word)
{
    size_t extra = strlen(separator) + strlen(word);

    text->data = must_allocate(text->data, text->length + extra + 1);
    sprintf(text->data + text->length, "%s%s", separator, word);
    text->length += extra;
}

/* Adds the ranks that start on @a node as "0,1,2". Returns their count. */
static uint32_t text_add_ranks(text_t *text, const options_t *options, uint32_t node)
{
    uint32_t count = 0;
    char number[16];

    for (uint32_t rank = 0; rank < options->ranks; rank++) {
        if (options_node_of(options, rank) == node) {
            snprintf(number, sizeof number, "%u", rank);
            text_add(text, count != 0 ? "," : "", number);
            count++;
        }
    }
    return count;
}

/* ---- the job ---- */

static void register_put(pmix_info_t *info, size_t *count, const char *key, const void *value, pmix_data_type_t type)
{
    PMIX_INFO_LOAD(&info[*count], key, value, type);
    (*count)++;
}

static void register_put_maps(const options_t *options, pmix_info_t *info, size_t *count)
{
    text_t nodes = {NULL, 0}, ranks = {NULL, 0};
    char name[32], *node_map = NULL, *rank_map = NULL;
    uint32_t used = 0;

    for (uint32_t node = 0; node < options->nodes; node++) {
        text_t here = {NULL, 0};

        /* a node without ranks is not in the maps */
        if (text_add_ranks(&here, options, node) != 0) {
            server_node_name(node, name, sizeof name);
            text_add(&nodes, used != 0 ? "," : "", name);
            text_add(&ranks, used != 0 ? ";" : "", here.data);
            used++;
        }
        free(here.data);
    }
    PMIx_generate_regex(nodes.data, &node_map);
    PMIx_generate_ppn(ranks.data, &rank_map);
    register_put(info, count, PMIX_NODE_MAP, node_map, PMIX_REGEX);
    register_put(info, count, PMIX_PROC_MAP, rank_map, PMIX_REGEX);
    register_put(info, count, PMIX_NODE_LIST, nodes.data, PMIX_STRING);
    register_put(info, count, PMIX_NUM_NODES, &used, PMIX_UINT32);
    free(node_map);
    free(rank_map);
    free(nodes.data);
    free(ranks.data);
}

static void register_put_rank(const options_t *options, pmix_info_t *info, size_t *count, pmix_rank_t rank)
{
    uint32_t node = options_node_of(options, rank), zero = 0;
    pmix_data_array_t array;
    pmix_info_t *keys;
    uint16_t local = 0;
    char name[32];
    size_t used = 0;

    for (uint32_t before = 0; before < rank; before++) {
        local += options_node_of(options, before) == node;
    }
    server_node_name(node, name, sizeof name);
    PMIX_DATA_ARRAY_CONSTRUCT(&array, REGISTER_RANK_KEYS, PMIX_INFO);
    keys = array.array;
    register_put(keys, &used, PMIX_RANK, &rank, PMIX_PROC_RANK);
    register_put(keys, &used, PMIX_GLOBAL_RANK, &rank, PMIX_PROC_RANK);
    register_put(keys, &used, PMIX_APP_RANK, &rank, PMIX_PROC_RANK);
    register_put(keys, &used, PMIX_APPNUM, &zero, PMIX_UINT32);
    register_put(keys, &used, PMIX_LOCAL_RANK, &local, PMIX_UINT16);
    register_put(keys, &used, PMIX_NODE_RANK, &local, PMIX_UINT16);
    register_put(keys, &used, PMIX_HOSTNAME, name, PMIX_STRING);
    register_put(keys, &used, PMIX_NODEID, &node, PMIX_UINT32);
    register_put(info, count, PMIX_PROC_DATA, &array, PMIX_DATA_ARRAY);
    PMIX_DATA_ARRAY_DESTRUCT(&array);
}

static uint32_t register_put_local(const options_t *options, pmix_info_t *info, size_t *count, uint32_t node)
{
    text_t peers = {NULL, 0};
    uint32_t local = text_add_ranks(&peers, options, node);

    register_put(info, count, PMIX_LOCAL_SIZE, &local, PMIX_UINT32);
    register_put(info, count, PMIX_NODE_SIZE, &local, PMIX_UINT32);
    if (local != 0) {
        pmix_rank_t leader = (pmix_rank_t)atol(peers.data);

        register_put(info, count, PMIX_LOCAL_PEERS, peers.data, PMIX_STRING);
        register_put(info, count, PMIX_LOCALLDR, &leader, PMIX_PROC_RANK);
    }
    free(peers.data);
    return local;
}

pmix_status_t register_job(const options_t *options, uint32_t node, const char *job)
{
    pmix_byte_object_t secret = {.bytes = (char *)(uintptr_t)options->secret, .size = sizeof options->secret};
    call_t call = CALL_INIT;
    pmix_status_t status;
    uint32_t local, one = 1;
    pmix_nspace_t name;
    pmix_info_t *info;
    size_t count = 0;

    PMIX_INFO_CREATE(info, REGISTER_JOB_KEYS + options->ranks);
    register_put_maps(options, info, &count);
    register_put(info, &count, PMIX_JOB_SIZE, &options->ranks, PMIX_UINT32);
    register_put(info, &count, PMIX_UNIV_SIZE, &options->ranks, PMIX_UINT32);
    register_put(info, &count, PMIX_MAX_PROCS, &options->ranks, PMIX_UINT32);
    register_put(info, &count, PMIX_JOB_NUM_APPS, &one, PMIX_UINT32);
    register_put(info, &count, PMIX_JOBID, job, PMIX_STRING);
    register_put(info, &count, KEEL_PMIX_KEY_SECRET, &secret, PMIX_BYTE_OBJECT);
    local = register_put_local(options, info, &count, node);
    for (uint32_t rank = 0; rank < options->ranks; rank++) {
        register_put_rank(options, info, &count, rank);
    }
    status = register_namespace(job, local, info, count);
    PMIX_INFO_FREE(info, REGISTER_JOB_KEYS + options->ranks);
    if (status != PMIX_SUCCESS) {
        return status;
    }
    PMIX_LOAD_NSPACE(name, job);
    return call_wait(&call, PMIx_server_setup_local_support(name, NULL, 0, call_done, &call));
}

/* ---- a rank ---- */

pmix_status_t register_rank(const char *job, uint32_t rank, uint32_t incarnation, uint32_t local)
{
    call_t forget = CALL_INIT, expect = CALL_INIT;
    pmix_status_t status;
    pmix_proc_t process;

    PMIX_LOAD_PROCID(&process, job, rank);
    if (incarnation > 0) {
        pmix_info_t info;
        bool yes = true;

        PMIx_server_deregister_client(&process, call_done, &forget);
        call_wait(&forget, PMIX_SUCCESS);
        /* PMIx counted the lost connection: with a wrong count its fences pair wrongly */
        PMIX_INFO_LOAD(&info, PMIX_REGISTER_NODATA, &yes, PMIX_BOOL);
        status = register_namespace(job, local, &info, 1);
        PMIX_INFO_DESTRUCT(&info);
        if (status != PMIX_SUCCESS) {
            return status;
        }
    }
    return call_wait(&expect, PMIx_server_register_client(&process, getuid(), getgid(), NULL, call_done, &expect));
}
