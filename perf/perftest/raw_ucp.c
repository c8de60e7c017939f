/* Raw UCX: opening, connecting, closing. */
#include "raw_ucp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define RAW_UCP_VARIABLE (RAW_UCP_OPTION + sizeof "UCX_")

typedef struct raw_card {
    uint64_t base;
    uint32_t address_len, rkey_len;
    uint8_t bytes[RAW_UCP_CARD - 16]; /* address, rkey */
} raw_card_t;
_Static_assert(sizeof(raw_card_t) == RAW_UCP_CARD, "a card");

static int raw_failed(const char *what, ucs_status_t status)
{
    fprintf(stderr, "keel_perftest: raw UCX, %s: %s\n", what, ucs_status_string(status));
    return -1;
}

static ucs_status_t open_context(raw_ucp_t *raw, const char *tls, const char *option, const char *log_level)
{
    const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                                 .features = UCP_FEATURE_RMA | UCP_FEATURE_AMO32 | UCP_FEATURE_AMO64};
    const ucp_worker_params_t worker = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                        .thread_mode = UCS_THREAD_MODE_SINGLE};
    ucp_config_t *config;
    ucs_status_t status;

    status = ucp_config_read(NULL, NULL, &config);
    if (status != UCS_OK) {
        return status;
    }
    if (strncmp(option, "TLS=", 4) != 0) {
        status = ucp_config_modify(config, "TLS", tls);
    }
    if ((status == UCS_OK) && (log_level != NULL)) {
        status = ucp_config_modify(config, "LOG_LEVEL", log_level);
    }
    if (status == UCS_OK) {
        status = ucp_init(&params, config, &raw->context);
    }
    ucp_config_release(config);
    return (status == UCS_OK) ? ucp_worker_create(raw->context, &worker, &raw->worker) : status;
}

/* Splits "NAME=VALUE" into "UCX_NAME" and VALUE; returns VALUE. */
static const char *split_option(const char *option, char variable[RAW_UCP_VARIABLE])
{
    const int length = (int)strcspn(option, "=");

    snprintf(variable, RAW_UCP_VARIABLE, "UCX_%.*s", length, option);
    return option + length + (option[length] == '=');
}

/*
 * In a process of its own: opens a context over all transports, with the option in the environment.
 * UCX then warns about unused variables.
 */
void raw_ucp_try_environment(void)
{
    raw_ucp_t raw = {0};

    (void)open_context(&raw, "all", "", "warn");
    fflush(stdout);
    _exit(0);
}

/*
 * A child of fork() alone may not open UCX: a thread that UCX starts when it is loaded may have
 * held a lock of UCX at the fork.
 */
static void try_in_new_process(const char *option, int output)
{
    char variable[RAW_UCP_VARIABLE];
    const char *value = split_option(option, variable);

    if (dup2(output, STDOUT_FILENO) >= 0 && setenv(variable, value, 1) == 0) {
        execl("/proc/self/exe", "keel_perftest", RAW_UCP_TRY, NULL);
    }
    _exit(0);
}

int raw_ucp_option_check(const char *option)
{
    char line[512], variable[RAW_UCP_VARIABLE];
    int ends[2], is_unused = 0;
    FILE *stream;
    pid_t child;

    split_option(option, variable);
    fflush(stdout);
    if (pipe(ends) != 0) {
        return 0;
    }
    child = fork();
    if (child == 0) {
        try_in_new_process(option, ends[1]);
    }
    close(ends[1]);
    stream = fdopen(ends[0], "r");
    while (stream != NULL && fgets(line, sizeof line, stream) != NULL) {
        is_unused |= (strstr(line, "unused env") != NULL && strstr(line, variable) != NULL);
    }
    if (stream != NULL) {
        fclose(stream);
    }
    if (child > 0) {
        waitpid(child, NULL, 0);
    }
    if (is_unused) {
        fprintf(stderr, "keel_perftest: --ucx %s: UCX has no %s\n", option, variable);
    }
    return is_unused ? -1 : 0;
}

/*
 * Opens a context with one option of the user, for this context alone, since UCX reads the
 * environment while opening. ucp_config_modify() would not find settings of transports under their
 * names in the environment.
 */
static ucs_status_t open_with_option(raw_ucp_t *raw, const char *tls, const char *option)
{
    char variable[RAW_UCP_VARIABLE], *before = NULL;
    const char *value = split_option(option, variable);
    ucs_status_t status;

    if (option[0] == '\0') {
        return open_context(raw, tls, option, NULL);
    }
    if (getenv(variable) != NULL) {
        before = strdup(getenv(variable));
    }
    setenv(variable, value, 1);
    status = open_context(raw, tls, option, NULL);
    if (status != UCS_OK) {
        fprintf(stderr, "keel_perftest: --ucx %s: %s\n", option, ucs_status_string(status));
    }
    if (before != NULL) {
        setenv(variable, before, 1);
    } else {
        unsetenv(variable);
    }
    free(before);
    return status;
}

int raw_ucp_open(raw_ucp_t *raw, const char *tls, const char *option, size_t bytes, unsigned ranks)
{
    const ucp_mem_map_params_t map = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS,
                                      .length = bytes,
                                      .flags = UCP_MEM_MAP_ALLOCATE};
    ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
    ucs_status_t status;

    memset(raw, 0, sizeof *raw);
    raw->targets = calloc(ranks, sizeof *raw->targets);
    raw->ranks = ranks;
    status = (raw->targets == NULL) ? UCS_ERR_NO_MEMORY : open_with_option(raw, tls, option);
    if (status == UCS_OK) {
        status = ucp_mem_map(raw->context, &map, &raw->memory);
    }
    if (status == UCS_OK) {
        status = ucp_mem_query(raw->memory, &attr);
    }
    if (status != UCS_OK) {
        return raw_failed("opening", status);
    }
    raw->base = attr.address;
    memset(raw->base, 0, bytes);
    return 0;
}

void raw_ucp_disconnect(raw_ucp_t *raw)
{
    const ucp_request_param_t none = {0};

    for (unsigned t = 0; raw->targets != NULL && t < raw->ranks; t++) {
        if (raw->targets[t].rkey != NULL) {
            ucp_rkey_destroy(raw->targets[t].rkey);
            raw_ucp_wait(raw, ucp_ep_close_nbx(raw->targets[t].ep, &none));
            raw->targets[t].rkey = NULL;
        }
    }
}

void raw_ucp_close(raw_ucp_t *raw)
{
    raw_ucp_disconnect(raw);
    if (raw->memory != NULL) {
        ucp_mem_unmap(raw->context, raw->memory);
    }
    if (raw->worker != NULL) {
        ucp_worker_destroy(raw->worker);
    }
    if (raw->context != NULL) {
        ucp_cleanup(raw->context);
    }
    free(raw->targets);
}

int raw_ucp_card(raw_ucp_t *raw, void *card)
{
    raw_card_t filled = {.base = (uintptr_t)raw->base};
    ucp_address_t *address;
    size_t address_len, rkey_len;
    ucs_status_t status;
    void *rkey;

    status = ucp_worker_get_address(raw->worker, &address, &address_len);
    if (status != UCS_OK) {
        return raw_failed("address", status);
    }
    status = ucp_rkey_pack(raw->context, raw->memory, &rkey, &rkey_len);
    if (status != UCS_OK) {
        ucp_worker_release_address(raw->worker, address);
        return raw_failed("key", status);
    }
    if (address_len + rkey_len <= sizeof filled.bytes) {
        filled.address_len = (uint32_t)address_len;
        filled.rkey_len = (uint32_t)rkey_len;
        memcpy(filled.bytes, address, address_len);
        memcpy(filled.bytes + address_len, rkey, rkey_len);
        memcpy(card, &filled, sizeof filled);
    }
    ucp_rkey_buffer_release(rkey);
    ucp_worker_release_address(raw->worker, address);
    return (filled.address_len > 0) ? 0 : raw_failed("card", UCS_ERR_BUFFER_TOO_SMALL);
}

int raw_ucp_connect(raw_ucp_t *raw, unsigned index, const void *card)
{
    raw_target_t *target = &raw->targets[index];
    raw_card_t given;
    ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS};
    ucs_status_t status;

    memcpy(&given, card, sizeof given);
    params.address = (const ucp_address_t *)given.bytes;
    target->base = given.base;
    status = ucp_ep_create(raw->worker, &params, &target->ep);
    if (status == UCS_OK) {
        status = ucp_ep_rkey_unpack(target->ep, given.bytes + given.address_len, &target->rkey);
    }
    if (status != UCS_OK) {
        return raw_failed("connecting", status);
    }
    return 0;
}

int raw_ucp_wait(raw_ucp_t *raw, ucs_status_ptr_t request)
{
    ucs_status_t status = UCS_OK;

    if (request == NULL) {
        return 0;
    }
    if (UCS_PTR_IS_ERR(request)) {
        return raw_failed("request", UCS_PTR_STATUS(request));
    }
    while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
        ucp_worker_progress(raw->worker);
    }
    ucp_request_free(request);
    return (status == UCS_OK) ? 0 : raw_failed("request", status);
}
