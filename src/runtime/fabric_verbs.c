/* Network devices through libibverbs: opens each device for its asynchronous events alone. */
#include "fabric.h"

#ifdef KEEL_HAVE_IBVERBS
#include "fabric_verbs.h"

#include <base/memory.h>

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include <endian.h>

#define KEEL_VERBS_DEVICES_MAX 8

typedef struct keel_verbs {
    struct ibv_context *device[KEEL_VERBS_DEVICES_MAX];
    unsigned count;
} keel_verbs_t;

int keel_fabric_verbs_event(enum ibv_event_type type, unsigned port, keel_fabric_event_t *event_p)
{
    static const struct {
        enum ibv_event_type type;
        int is_of_port, kind;
        const char *what;
    } known[] = {
        {IBV_EVENT_DEVICE_FATAL, 0, KEEL_FABRIC_BROKEN, "the device has failed"},
        {IBV_EVENT_PORT_ERR, 1, KEEL_FABRIC_BROKEN, "the link went down"},
        {IBV_EVENT_PORT_ACTIVE, 1, KEEL_FABRIC_WELL, "the link is up"},
        {IBV_EVENT_LID_CHANGE, 1, KEEL_FABRIC_CHANGED, "its local address changed"},
        {IBV_EVENT_PKEY_CHANGE, 1, KEEL_FABRIC_CHANGED, "its partition table changed"},
        {IBV_EVENT_SM_CHANGE, 1, KEEL_FABRIC_CHANGED, "the subnet manager changed"},
        {IBV_EVENT_CLIENT_REREGISTER, 1, KEEL_FABRIC_CHANGED, "the subnet manager asks to register again"},
        {IBV_EVENT_GID_CHANGE, 1, KEEL_FABRIC_CHANGED, "its global address changed"},
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].type == type) {
            event_p->kind = known[i].kind;
            event_p->what = known[i].what;
            event_p->port = known[i].is_of_port ? port : 0;
            return 1;
        }
    }
    return 0;
}

static void verbs_close(void *arg)
{
    keel_verbs_t *verbs = arg;

    while (verbs->count > 0) {
        ibv_close_device(verbs->device[--verbs->count]);
    }
    keel_free(verbs);
}

/* Makes reads of the device's events non-blocking. */
static int verbs_is_usable(const struct ibv_context *device)
{
    const int flags = fcntl(device->async_fd, F_GETFL);

    return flags >= 0 && fcntl(device->async_fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

static void *verbs_open(void *arg)
{
    struct ibv_device **list;
    keel_verbs_t *verbs;
    int count = 0;

    (void)arg;
    list = ibv_get_device_list(&count);
    verbs = list == NULL || count == 0 ? NULL : keel_alloc(sizeof *verbs, "network devices");
    for (int i = 0; verbs != NULL && i < count && verbs->count < KEEL_VERBS_DEVICES_MAX; i++) {
        struct ibv_context *device = ibv_open_device(list[i]);

        if (device != NULL && verbs_is_usable(device)) {
            verbs->device[verbs->count++] = device;
        } else if (device != NULL) {
            ibv_close_device(device);
        }
    }
    if (list != NULL) {
        ibv_free_device_list(list);
    }
    if (verbs != NULL && verbs->count == 0) {
        verbs_close(verbs);
        return NULL;
    }
    return verbs;
}

static int verbs_poll(void *arg, keel_fabric_event_t *event_p)
{
    const keel_verbs_t *verbs = arg;

    for (unsigned i = 0; i < verbs->count; i++) {
        struct pollfd ready = {.fd = verbs->device[i]->async_fd, .events = POLLIN};
        struct ibv_async_event event;

        while (poll(&ready, 1, 0) == 1 && (ready.revents & POLLIN) != 0 &&
               ibv_get_async_event(verbs->device[i], &event) == 0) {
            const int is_known = keel_fabric_verbs_event(event.event_type, (unsigned)event.element.port_num, event_p);

            ibv_ack_async_event(&event);
            if (is_known) {
                snprintf(event_p->device, sizeof event_p->device, "%s", ibv_get_device_name(verbs->device[i]->device));
                return 1;
            }
        }
    }
    return 0;
}

static const char *verbs_link(int layer)
{
    /* unspecified by old drivers */
    return layer == IBV_LINK_LAYER_ETHERNET ? "Ethernet" : "InfiniBand";
}

static unsigned verbs_ports(void *arg, keel_fabric_port_t *ports, unsigned max)
{
    const keel_verbs_t *verbs = arg;
    unsigned used = 0;

    for (unsigned i = 0; i < verbs->count; i++) {
        struct ibv_device_attr device;

        if (ibv_query_device(verbs->device[i], &device) != 0) {
            continue;
        }
        for (unsigned number = 1; number <= device.phys_port_cnt && used < max; number++) {
            keel_fabric_port_t *port = &ports[used];
            struct ibv_port_attr attributes;
            union ibv_gid gid;

            memset(port, 0, sizeof *port);
            if (ibv_query_port(verbs->device[i], (uint8_t)number, &attributes) != 0) {
                continue;
            }
            snprintf(port->device, sizeof port->device, "%s", ibv_get_device_name(verbs->device[i]->device));
            port->port = number;
            port->is_active = attributes.state == IBV_PORT_ACTIVE;
            port->link = verbs_link(attributes.link_layer);
            port->local_id = attributes.lid;
            if (ibv_query_gid(verbs->device[i], (uint8_t)number, 0, &gid) == 0) {
                port->subnet = be64toh(gid.global.subnet_prefix);
            }
            used++;
        }
    }
    return used;
}

const keel_fabric_ops_t keel_fabric_verbs_ops = {
    .open = verbs_open, .poll = verbs_poll, .ports = verbs_ports, .close = verbs_close};
#else
const keel_fabric_ops_t keel_fabric_verbs_ops = {.open = NULL};
#endif
