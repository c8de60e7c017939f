/* The device of this process. */
#include "verbs_device.h"

#include "base/message.h"
#include "service/service_locked.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    READS_MAX = 16,
    NAMES_MAX = 400,
    WHY_MAX = 128,
    /* maximum number of events in a call: a device with endless events must not stop the reader */
    EVENTS_MAX = 64
};

/* KEEL_VERBS_DEVICE: NAME[:PORT[:GID INDEX]], all of it optional */
typedef struct wish {
    char name[64]; /* empty: any device */
    long port;     /* 0: any */
    long gid;      /* -1: any */
} wish_t;

#define refuse(_params, ...)                             \
    do {                                                 \
        if ((_params)->message != NULL) {                \
            keel_error((_params)->message, __VA_ARGS__); \
        }                                                \
    } while (0)

static int parse_number(const char **text, long least, long *value_p)
{
    char *end;

    if (**text != ':') {
        return **text == '\0';
    }
    errno = 0;
    *value_p = strtol(*text + 1, &end, 10);
    if (end == *text + 1 || errno != 0 || *value_p < least || *value_p > 255) {
        return 0;
    }
    *text = end;
    return 1;
}

static keel_status_t parse_wish(const keel_transport_params_t *params, wish_t *wish)
{
    const char *text = (params->device != NULL) ? params->device : "";
    const size_t length = strcspn(text, ":");

    *wish = (wish_t){.gid = -1};
    if (length < sizeof(wish->name)) {
        memcpy(wish->name, text, length);
        text += length;
        if (parse_number(&text, 1, &wish->port) && parse_number(&text, 0, &wish->gid) && *text == '\0') {
            return KEEL_OK;
        }
    }
    refuse(params, "KEEL_VERBS_DEVICE=%s: expected is NAME[:PORT[:GID INDEX]]", params->device);
    return KEEL_ERR_INVALID_PARAM;
}

static int is_active(struct ibv_context *context, uint8_t port)
{
    struct ibv_port_attr attr;

    return ibv_query_port(context, port, &attr) == 0 && attr.state == IBV_PORT_ACTIVE;
}

/* first active port, or the requested port if active; 0: none */
static uint8_t find_port(struct ibv_context *context, long wished)
{
    struct ibv_device_attr attr;

    if (ibv_query_device(context, &attr) != 0) {
        return 0;
    }
    for (unsigned port = 1; port <= attr.phys_port_cnt; port++) {
        if ((wished == 0 || wished == (long)port) && is_active(context, (uint8_t)port)) {
            return (uint8_t)port;
        }
    }
    return 0;
}

static void list_names(struct ibv_device **list, char *names, size_t size)
{
    size_t used = 0;

    snprintf(names, size, " none");
    for (; *list != NULL && used < size; list++) {
        used += (size_t)snprintf(names + used, size - used, " %s", ibv_get_device_name(*list));
    }
}

/* Explains a failure to open: the library tries several files and keeps the reason of the last. */
static void explain(const struct ibv_device *one, int reason, char *why, size_t size)
{
    char path[WHY_MAX - 32];

    snprintf(path, sizeof(path), "/dev/infiniband/%s", one->dev_name);
    if (access(path, R_OK | W_OK) != 0 && errno == EACCES) {
        snprintf(why, size, "no permission for %s", path);
    } else {
        snprintf(why, size, "%s", strerror(reason));
    }
}

/* opens the first usable device */
static keel_status_t find_device(keel_verbs_device_t *device, const keel_transport_params_t *params,
                                 struct ibv_device **list, const wish_t *wish)
{
    char names[NAMES_MAX], why[WHY_MAX] = "no such device";

    for (struct ibv_device **one = list; *one != NULL; one++) {
        if (wish->name[0] != '\0' && strcmp(wish->name, ibv_get_device_name(*one)) != 0) {
            continue;
        }
        device->context = ibv_open_device(*one);
        if (device->context == NULL) {
            explain(*one, errno, why, sizeof(why));
            continue;
        }
        device->port = find_port(device->context, wish->port);
        if (device->port != 0) {
            snprintf(device->name, sizeof(device->name), "%.63s:%u", ibv_get_device_name(*one), device->port);
            return KEEL_OK;
        }
        snprintf(why, sizeof(why), "%s", (wish->port == 0) ? "no port is active" : "the port is not active");
        ibv_close_device(device->context);
    }
    list_names(list, names, sizeof(names));
    refuse(params, "KEEL_TRANSPORT=verbs, KEEL_VERBS_DEVICE=%s: %s; RDMA devices of this host:%s",
           (params->device != NULL) ? params->device : "", why, names);
    return KEEL_ERR_TRANSPORT;
}

/* rates an address: routable packets, IPv4 best; 0: unusable */
static int rate(const struct ibv_gid_entry *gid)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

    if (gid->gid_type == IBV_GID_TYPE_IB) {
        return 1;
    }
    if (gid->gid_type != IBV_GID_TYPE_ROCE_V2) {
        return 0;
    }
    return (memcmp(gid->gid.raw, mapped, sizeof(mapped)) == 0) ? 3 : 2;
}

static keel_status_t find_gid(keel_verbs_device_t *device, const keel_transport_params_t *params, const wish_t *wish,
                              int length)
{
    struct ibv_gid_entry gid;
    int best = 0;

    for (int i = 0; i < length; i++) {
        if ((wish->gid >= 0 && wish->gid != i) ||
            ibv_query_gid_ex(device->context, device->port, (uint32_t)i, &gid, 0) != 0) {
            continue;
        }
        if (rate(&gid) > best) {
            best = rate(&gid);
            device->gid = gid.gid;
            device->gid_index = i;
        }
    }
    if (best > 0) {
        return KEEL_OK;
    }
    refuse(params, "KEEL_TRANSPORT=verbs: %s has no address for packets that can be routed (RoCE v2)%s", device->name,
           (wish->gid >= 0) ? " at that index" : "");
    return KEEL_ERR_TRANSPORT;
}

static unsigned at_most(int number, unsigned most)
{
    return (number <= 0) ? 1 : ((unsigned)number < most) ? (unsigned)number : most;
}

static keel_status_t query(keel_verbs_device_t *device, const keel_transport_params_t *params, const wish_t *wish)
{
    struct ibv_device_attr can;
    struct ibv_port_attr port;

    if (ibv_query_device(device->context, &can) != 0 || ibv_query_port(device->context, device->port, &port) != 0) {
        refuse(params, "KEEL_TRANSPORT=verbs: %s does not answer: %s", device->name, strerror(errno));
        return KEEL_ERR_TRANSPORT;
    }
    device->lockable = keel_service_lockable();
    device->is_ethernet = (port.link_layer == IBV_LINK_LAYER_ETHERNET);
    device->lid = port.lid;
    device->mtu = port.active_mtu;
    device->reads_out = at_most(can.max_qp_init_rd_atom, READS_MAX);
    device->reads_in = at_most(can.max_qp_rd_atom, READS_MAX);
    device->has_atomics = (can.atomic_cap != IBV_ATOMIC_NONE);
    return find_gid(device, params, wish, port.gid_tbl_len);
}

/* announcements are read without blocking */
static keel_status_t prepare_events(const keel_verbs_device_t *device, const keel_transport_params_t *params)
{
    const int flags = fcntl(device->context->async_fd, F_GETFL);

    if (flags >= 0 && fcntl(device->context->async_fd, F_SETFL, flags | O_NONBLOCK) == 0) {
        return KEEL_OK;
    }
    refuse(params, "KEEL_TRANSPORT=verbs: %s cannot be listened to: %s", device->name, strerror(errno));
    return KEEL_ERR_IO;
}

keel_status_t keel_verbs_device_open(keel_verbs_device_t *device, const keel_transport_params_t *params)
{
    struct ibv_device **list;
    keel_status_t status;
    wish_t wish;

    *device = (keel_verbs_device_t){.port = 0};
    status = parse_wish(params, &wish);
    if (status != KEEL_OK) {
        return status;
    }
    (void)ibv_fork_init(); /* child processes of the program do not inherit registered memory */
    list = ibv_get_device_list(NULL);
    if (list == NULL) {
        refuse(params, "KEEL_TRANSPORT=verbs: ibv_get_device_list: %s; KEEL_TRANSPORT=ucp needs no RDMA device",
               (errno == ENOSYS) ? "the kernel of this host has none" : strerror(errno));
        return KEEL_ERR_TRANSPORT;
    }
    status = find_device(device, params, list, &wish);
    ibv_free_device_list(list);
    if (status != KEEL_OK) {
        return status;
    }
    status = query(device, params, &wish);
    if (status != KEEL_OK) {
        goto err_close;
    }
    status = prepare_events(device, params);
    if (status != KEEL_OK) {
        goto err_close;
    }
    device->pd = ibv_alloc_pd(device->context);
    if (device->pd == NULL) {
        refuse(params, "KEEL_TRANSPORT=verbs: %s gives no protection domain: %s", device->name, strerror(errno));
        status = KEEL_ERR_TRANSPORT;
        goto err_close;
    }
    return KEEL_OK;

err_close:
    ibv_close_device(device->context);
    return status;
}

void keel_verbs_device_close(keel_verbs_device_t *device)
{
    ibv_dealloc_pd(device->pd);
    ibv_close_device(device->context);
}

/* ---- announcements ---- */

/* runtime/fabric reports ports that go down or come up. The failure of a single queue pair also
 * shows in completions. */
static void take_event(keel_verbs_device_t *device, const keel_transport_params_t *params,
                       const struct ibv_async_event *event)
{
    switch (event->event_type) {
    case IBV_EVENT_DEVICE_FATAL:
    case IBV_EVENT_CQ_ERR:
        if (keel_verbs_device_is_lost(device)) {
            break;
        }
        refuse(params,
               "the RDMA device %s has failed while it was used: %s; this process reaches nobody by it any more",
               device->name, ibv_event_type_str(event->event_type));
        keel_verbs_device_mark_lost(device);
        break;
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
        if (params->message != NULL) {
            keel_info(params->message, "%s: of a connection: %s", device->name, ibv_event_type_str(event->event_type));
        }
        break;
    default:
        break;
    }
}

/* acknowledges at once: an unacknowledged event of a queue pair blocks the destruction */
void keel_verbs_device_take_events(keel_verbs_device_t *device, const keel_transport_params_t *params)
{
    struct ibv_async_event event;

    for (unsigned i = 0; i < EVENTS_MAX && ibv_get_async_event(device->context, &event) == 0; i++) {
        ibv_ack_async_event(&event);
        take_event(device, params, &event);
    }
}

/* ---- memory ---- */

size_t keel_verbs_room(const keel_verbs_device_t *device)
{
    const size_t taken = device->kept + device->locked;

    return (device->lockable == SIZE_MAX) ? SIZE_MAX : (taken < device->lockable) ? device->lockable - taken : 0;
}

/* bytes of whole pages */
static size_t pages_of(const void *base, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), before = (uintptr_t)base % page;

    return (before + bytes + page - 1) / page * page;
}

struct ibv_mr *keel_verbs_lock(keel_verbs_device_t *device, void *base, size_t bytes, int access)
{
    const size_t locked = pages_of(base, bytes);
    struct ibv_mr *mr = NULL;

    if (locked > keel_verbs_room(device)) {
        errno = ENOMEM;
        return NULL;
    }
    mr = ibv_reg_mr(device->pd, base, bytes, access);
    device->locked += (mr != NULL) ? locked : 0;
    return mr;
}

void keel_verbs_unlock(keel_verbs_device_t *device, struct ibv_mr *mr)
{
    device->locked -= pages_of(mr->addr, mr->length);
    ibv_dereg_mr(mr);
}

struct ibv_mr *keel_verbs_register(const keel_verbs_device_t *device, const keel_transport_params_t *params, void *base,
                                   size_t bytes, int is_remote)
{
    const int access = IBV_ACCESS_LOCAL_WRITE | (is_remote ? IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ : 0);
    struct ibv_mr *mr = ibv_reg_mr(device->pd, base, bytes, access);
    const int reason = errno;
    const size_t limit = (mr != NULL) ? SIZE_MAX : keel_service_lockable();

    if (mr == NULL && limit != SIZE_MAX) {
        refuse(params, "%s: %zu bytes of memory cannot be registered: %s; this process may lock %zu bytes (ulimit -l)",
               device->name, bytes, strerror(reason), limit);
    } else if (mr == NULL) {
        refuse(params, "%s: %zu bytes of memory cannot be registered: %s", device->name, bytes, strerror(reason));
    }
    return mr;
}
