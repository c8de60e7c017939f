/* Limit on open files; available UCX transports on this host. */
#define _GNU_SOURCE /* environ */
#include "ucp_demands.h"

#include "base/limit_hint.h"
#include "base/message.h"
#include "service/service_files.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <ucp/api/ucp.h>
#include <unistd.h>

#define LOOPBACK "lo"

/* open files, counted with UCX 1.13 */
enum {
    FILES_OF_NETWORK = 16, /* a UCP context and its two workers */
    /* for each device with an address: an event queue, and a socket for each worker */
    FILES_A_DEVICE = 4
};

int keel_ucp_is_rdma(const char *tls_served)
{
    return (tls_served != NULL) && (strcmp(tls_served, "tcp") != 0);
}

static int is_interface_up(const char *name)
{
    struct ifaddrs *all, *one;
    int is_up = 0;

    if (getifaddrs(&all) != 0) {
        return 0;
    }
    for (one = all; one != NULL; one = one->ifa_next) {
        is_up |= (one->ifa_flags & IFF_UP) && (one->ifa_addr != NULL) && (one->ifa_addr->sa_family == AF_INET) &&
                 (strcmp(one->ifa_name, name) == 0);
    }
    freeifaddrs(all);
    return is_up;
}

keel_status_t keel_ucp_choose_interface(const keel_transport_params_t *params, const char **name_p)
{
    *name_p = NULL;
    if (keel_ucp_is_rdma(params->tls_served) || (getenv("UCX_NET_DEVICES") != NULL)) {
        return KEEL_OK;
    }
    if (params->interface != NULL) {
        *name_p = params->interface;
        if (is_interface_up(params->interface)) {
            return KEEL_OK;
        }
        if (params->message != NULL) {
            keel_error(params->message,
                       "KEEL_INTERFACE=%s: this host has no such network interface that is up and has an IPv4 address",
                       params->interface);
        }
        return KEEL_ERR_TRANSPORT;
    }
    if (params->is_one_host && is_interface_up(LOOPBACK)) {
        *name_p = LOOPBACK;
    }
    return KEEL_OK;
}

static size_t devices(void)
{
    struct ifaddrs *all, *one;
    size_t count = 0;

    if (getifaddrs(&all) != 0) {
        return 0;
    }
    for (one = all; one != NULL; one = one->ifa_next) {
        count += (one->ifa_flags & IFF_UP) && (one->ifa_addr != NULL) && (one->ifa_addr->sa_family == AF_INET);
    }
    freeifaddrs(all);
    return count;
}

keel_status_t keel_ucp_demand_files(const keel_transport_params_t *params, int is_network_open)
{
    return keel_service_demand_files(params, is_network_open ? 0 : FILES_OF_NETWORK + FILES_A_DEVICE * devices());
}

enum {
    /* a buffer in a reliable queue and in a datagram queue, sizes of UCX 1.13 */
    QUEUE_BYTES = 13 << 10,
    QUEUES = 4, /* pairs of queues: two workers receive and send */
    QUEUE_MIN = 16,
    QUEUE_MAX = 4095 /* UCX's own limit */
};

unsigned keel_ucp_queue_length(size_t lockable)
{
    const size_t length = lockable / 2 / (QUEUE_BYTES * QUEUES);

    if ((lockable == SIZE_MAX) || (length >= QUEUE_MAX)) {
        return 0;
    }
    return (length > QUEUE_MIN) ? (unsigned)length : QUEUE_MIN;
}

/* ---- transports ---- */

enum { NAMES_MAX = 400 };

typedef struct names {
    char between[NAMES_MAX],
        /* transports between nodes, with devices, " a/x b/y"; transports inside a node, " a b c" */
        inside[NAMES_MAX];
} names_t;

static void add_name(char *list, const char *name)
{
    const size_t used = strlen(list), length = strlen(name);
    const char *at;

    for (at = strstr(list, name); at != NULL; at = strstr(at + 1, name)) {
        if ((at[-1] == ' ') && ((at[length] == ' ') || (at[length] == '\0'))) {
            return;
        }
    }
    if (used + length + 2 <= NAMES_MAX) {
        snprintf(list + used, NAMES_MAX - used, " %s", name);
    }
}

/* True if name, TRANSPORT/DEVICE, connects only processes of one host: over memory, or over its
 * accelerator. */
static int is_inside(const char *name)
{
    static const char *const accelerators[] = {"cuda", "rocm", "gdr_copy", "ze_", "gaudi"};
    const char *device = strchr(name, '/');
    size_t i;

    for (i = 0; i < sizeof(accelerators) / sizeof(accelerators[0]); i++) {
        if (strncmp(name, accelerators[i], strlen(accelerators[i])) == 0) {
            return 1;
        }
    }
    return (device == NULL) || (strncmp(device, "/memory", strlen("/memory")) == 0);
}

/* Adds the last word of each line that describes a resource: "# resource 0 : md 0 dev 0 flags --
 * tcp/eth0". */
static void add_resources(char *text, names_t *names)
{
    char *line, *rest = text, *name;

    for (line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        name = strrchr(line, ' ');
        if ((strstr(line, " resource ") == NULL) || (name == NULL) || (strchr(name, '/') == NULL)) {
            continue;
        }
        name++;
        if (!is_inside(name)) {
            add_name(names->between, name);
        } else {
            name[strcspn(name, "/")] = '\0';
            add_name(names->inside, name);
        }
    }
}

/* Lists the transports that UCP finds without restrictions. The choice of devices in
 * UCX_NET_DEVICES is ignored, too. */
static void find_transports(names_t *names)
{
    const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_AM};
    ucp_context_h context = NULL;
    ucp_config_t *config;
    char *text = NULL;
    size_t length;
    FILE *stream;

    if (ucp_config_read(NULL, NULL, &config) != UCS_OK) {
        return;
    }
    if ((ucp_config_modify(config, "TLS", "all") == UCS_OK) &&
        (ucp_config_modify(config, "NET_DEVICES", "all") == UCS_OK) &&
        (ucp_init(&params, config, &context) == UCS_OK)) {
        stream = open_memstream(&text, &length);
        if (stream != NULL) {
            ucp_context_print_info(context, stream);
            fclose(stream);
        }
        if (text != NULL) {
            add_resources(text, names);
        }
        free(text);
        ucp_cleanup(context);
    }
    ucp_config_release(config);
}

/* UCX's settings in the environment: ", A=x, B=y" */
static void list_settings(char *list, size_t size)
{
    size_t used = 0, i;

    list[0] = '\0';
    for (i = 0; environ[i] != NULL; i++) {
        if ((strncmp(environ[i], "UCX_", 4) == 0) && (used + strlen(environ[i]) + 3 <= size)) {
            used += (size_t)snprintf(list + used, size - used, ", %s", environ[i]);
        }
    }
}

void keel_ucp_refuse_transports(const keel_transport_params_t *params, const char *why)
{
    const char *chosen = (params->tls_served != NULL) ? params->tls_served : "tcp";
    char settings[NAMES_MAX], hint[KEEL_LIMIT_HINT_MAX];
    names_t names = {.between = "", .inside = ""};

    if (params->message == NULL) {
        return;
    }
    find_transports(&names);
    list_settings(settings, sizeof(settings));
    keel_error(params->message,
               "KEEL_TLS_SERVED=%s%s: %s%s; on this host there are, between nodes:%s and inside one:%s", chosen,
               settings, why, keel_limit_hint(0, hint), (names.between[0] != '\0') ? names.between : " none",
               (names.inside[0] != '\0') ? names.inside : " none");
}
