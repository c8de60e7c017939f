/*
 * Versions of UCX differ in their settings and in the names by which ucp_config_modify() finds
 * them:
 * - A setting of UCP itself (UCX_TLS) is the same in all versions. ucp_config_print() lists the
 *   settings of the running UCX.
 * - A setting of a transport (UCX_TCP_CONN_NB) is found without the transport's prefix before 1.17,
 *   and with the prefix since. Names with the prefix of a group of transports, such as RC_TIMEOUT,
 *   are found by all versions.
 * - Up to 1.20, ucp_config_modify() accepts any name for a transport's setting, and worker creation
 *   warns about names that no transport has. Since 1.21 it returns UCS_ERR_INVALID_PARAM.
 */
#include "ucp_settings.h"
#include "ucp_demands.h"

#include "base/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SENDS_GROW = 4, /* send buffers grow in this many steps to the number of receive buffers */
    NAME_MAX_LEN = 64
};

typedef enum {
    /* the served lane is wrong or much slower without the setting: a refusal is an error */
    NEEDED,
    IF_LISTED, /* UCP setting missing from some versions: set if ucp_config_print() lists it */
    /* setting of transports that the host may lack: a refusal is a message at level info */
    IF_TAKEN
} necessity_t;

typedef struct setting {
    const char *transport; /* prefix of a single transport, "TCP_", or "" */
    const char *name;
    const char *value;
    necessity_t necessity;
} setting_t;

/* Target of changes, and facts about the running UCX. */
typedef struct change {
    const keel_message_t *message; /* may be NULL */
    ucp_config_t *config;
    char *listed; /* output of ucp_config_print(); NULL without memory */
    unsigned major, minor, release;
} change_t;

/* True if UCX_NAME is set, or its form for a kind of device: UCX_RC_VERBS_TIMEOUT is RC_TIMEOUT
 * for RC_VERBS. */
static int is_in_environment(const char *name)
{
    static const char *const kinds[] = {"_VERBS", "_MLX5", ""};
    const int stem = (int)strcspn(name, "_");
    char variable[NAME_MAX_LEN];
    size_t i;

    for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        snprintf(variable, sizeof(variable), "UCX_%.*s%s%s", stem, name, kinds[i], name + stem);
        if (getenv(variable) != NULL) {
            return 1;
        }
    }
    return 0;
}

/* ---- settings of the running UCX ---- */

static int is_since(const change_t *change, unsigned major, unsigned minor)
{
    return (change->major > major) || ((change->major == major) && (change->minor >= minor));
}

static char *list(const ucp_config_t *config)
{
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);

    if (stream == NULL) {
        return NULL;
    }
    fputc('\n', stream);
    ucp_config_print(config, stream, "", UCS_CONFIG_PRINT_CONFIG);
    fclose(stream);
    return text;
}

static int is_listed(const change_t *change, const char *name)
{
    char line[NAME_MAX_LEN];

    snprintf(line, sizeof(line), "\nUCX_%s=", name);
    return (change->listed != NULL) && (strstr(change->listed, line) != NULL);
}

/* ---- changing ---- */

static ucs_status_t change_one(const change_t *change, const setting_t *setting)
{
    const char *prefix = is_since(change, 1, 17) ? setting->transport : "";
    const keel_message_level_t level = (setting->necessity == IF_TAKEN) ? KEEL_MSG_INFO : KEEL_MSG_ERROR;
    char name[NAME_MAX_LEN];
    ucs_status_t status;

    if ((setting->necessity == IF_LISTED) && !is_listed(change, setting->name)) {
        return UCS_OK;
    }
    snprintf(name, sizeof(name), "%s%s", prefix, setting->name);
    status = ucp_config_modify(change->config, name, setting->value);
    if (status == UCS_OK) {
        return UCS_OK;
    }
    if (change->message != NULL) {
        keel_message(change->message, level, "UCX %u.%u.%u refuses the setting %s=%s: %s", change->major, change->minor,
                     change->release, name, setting->value, ucs_status_string(status));
    }
    return (setting->necessity == IF_TAKEN) ? UCS_OK : status;
}

static ucs_status_t change_all(const change_t *change, const setting_t *settings, size_t count)
{
    ucs_status_t status = UCS_OK;
    size_t i;

    for (i = 0; (i < count) && (status == UCS_OK); i++) {
        status = change_one(change, &settings[i]);
    }
    return status;
}

/* Keeps settings from the environment. */
static ucs_status_t change_defaults(const change_t *change, const setting_t *settings, size_t count)
{
    ucs_status_t status = UCS_OK;
    size_t i;

    for (i = 0; (i < count) && (status == UCS_OK); i++) {
        if (!is_in_environment(settings[i].name)) {
            status = change_one(change, &settings[i]);
        }
    }
    return status;
}

#define COUNT(_settings) (sizeof(_settings) / sizeof((_settings)[0]))

/* The program's own UCX_TLS and UCX_PROTO_ENABLE do not apply to this context. Its choice of
 * devices and times does. */
static ucs_status_t change_for_all(const change_t *change, const char *tls)
{
    const setting_t settings[] = {
        {"", "TLS", (tls != NULL) ? tls : "tcp", NEEDED},
        /* a UCX without this setting has one kind of protocols only */
        {"", "PROTO_ENABLE", "n", IF_LISTED},
        /* One fragment for a message, not parts of 8 KiB. Copied, since UCX 1.13 completes sends
         * in place over tcp twice and asserts if the receiver dies in the middle. */
        {"TCP_", "TX_SEG_SIZE", "64k", NEEDED},
        {"", "ZCOPY_THRESH", "65504", NEEDED}, /* KEEL_UCP_ZCOPY_MIN */
        {"", "MAX_EAGER_RAILS", "1", NEEDED},  /* more rails would break the order */
        /* Otherwise connecting waits for a host that is gone, and asserts if a peer dies between
         * accept and answer. */
        {"TCP_", "CONN_NB", "y", NEEDED},
    };

    return change_all(change, settings, COUNT(settings));
}

/* A failed assertion ends the process at once, without a backtrace or debugger. Applies to the
 * whole process. */
static ucs_status_t change_error_handling(const change_t *change)
{
    const char *chosen = getenv("UCX_HANDLE_ERRORS");
    const setting_t setting = {"", "HANDLE_ERRORS", (chosen != NULL) ? chosen : "none", IF_TAKEN};

    return change_one(change, &setting);
}

static ucs_status_t change_interface(const change_t *change, const char *name)
{
    const setting_t setting = {"", "NET_DEVICES", name, NEEDED};

    return change_one(change, &setting);
}

static ucs_status_t change_for_rdma(const change_t *change, size_t lockable)
{
    /* Registration without a cache: memory no longer exposed is no longer locked, and stale
     * registrations cannot match new memory at the same address. UCP owns the cache since 1.16;
     * before, the memory domains did (IB_REG_METHODS). */
    const setting_t registration = {"", "REG_METHODS", "direct", IF_TAKEN};
    const setting_t ucp_registration = {"", "RCACHE_ENABLE", "n", IF_LISTED};
    const setting_t defaults[] = {
        /* A queue pair gives up a dead peer after some 4 s; 7 retries may mean endless retries
         * (Soft-RoCE). */
        {"", "RC_TIMEOUT", "500ms", IF_TAKEN},
        {"", "RC_RETRY_COUNT", "6", IF_TAKEN},
        /* used for handshakes only: a slow peer is not given up */
        {"", "UD_TIMEOUT", "300s", IF_TAKEN},
        /* Otherwise datagrams become a lane of their own, messages of the handshake wait in its
         * queue, and UCP asserts if a peer dies meanwhile. */
        {"", "KEEPALIVE_INTERVAL", "inf", NEEDED},
    };
    const unsigned queue = keel_ucp_queue_length(lockable);
    char buffers[16], a_time[16];
    /* The default is more than 64 MiB for a process, and without its buffers a process sends
     * nothing. */
    const setting_t limited[] = {
        {"", "RC_RX_QUEUE_LEN", buffers, IF_TAKEN},
        {"", "RC_RX_BUFS_GROW", buffers, IF_TAKEN},
        {"", "UD_RX_QUEUE_LEN", buffers, IF_TAKEN},
        {"", "UD_RX_BUFS_GROW", buffers, IF_TAKEN},
        {"", "UD_TX_BUFS_GROW", a_time, IF_TAKEN},
        {"", "RC_TX_BUFS_GROW", a_time, IF_TAKEN},
        /* otherwise one worker takes buffers that the other needs */
        {"", "RC_TX_MAX_BUFS", buffers, IF_TAKEN},
        /* UCX holds buffers until a completion, and requests one for each quarter of the queue:
         * for each send with so short a queue. */
        {"", "RC_TX_QUEUE_LEN", "3", IF_TAKEN},
    };
    ucs_status_t status;

    status = change_one(change, is_since(change, 1, 16) ? &ucp_registration : &registration);
    if (status == UCS_OK) {
        status = change_defaults(change, defaults, COUNT(defaults));
    }
    if ((status == UCS_OK) && (queue > 0)) {
        snprintf(buffers, sizeof(buffers), "%u", queue);
        snprintf(a_time, sizeof(a_time), "%u", (queue + SENDS_GROW - 1) / SENDS_GROW);
        status = change_defaults(change, limited, COUNT(limited));
    }
    return status;
}

ucs_status_t keel_ucp_settings_read(const keel_transport_params_t *params, const char *interface, size_t lockable,
                                    ucp_config_t **config_p)
{
    change_t change = {.message = params->message};
    ucs_status_t status;

    status = ucp_config_read(NULL, NULL, &change.config);
    if (status != UCS_OK) {
        return status;
    }
    ucp_get_version(&change.major, &change.minor, &change.release);
    change.listed = list(change.config);
    status = change_for_all(&change, params->tls_served);
    if (status == UCS_OK) {
        status = change_error_handling(&change);
    }
    if ((status == UCS_OK) && (interface != NULL)) {
        status = change_interface(&change, interface);
    }
    if ((status == UCS_OK) && keel_ucp_is_rdma(params->tls_served)) {
        status = change_for_rdma(&change, lockable);
    }
    free(change.listed);
    if (status == UCS_OK) {
        *config_p = change.config;
    } else {
        ucp_config_release(change.config);
    }
    return status;
}
