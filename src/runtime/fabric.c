/* Handles the events that network devices announce. */
#include "fabric.h"

#include <base/memory.h>

#include <stdio.h>

#define KEEL_FABRIC_PORTS_MAX 16
/* per poll: a device with endless events must not block the process */
#define KEEL_FABRIC_EVENTS_MAX 64
/* events reported in words; all later events are only counted */
#define KEEL_FABRIC_REPORTED_MAX 20

struct keel_fabric {
    const keel_fabric_ops_t *ops;
    const keel_message_t *message;
    void *devices;
    uint64_t hints;
    unsigned reported;
};

void keel_fabric_describe(const keel_fabric_port_t *port, char *text, size_t size)
{
    snprintf(text, size, "%.63s port %u: %s, %s, subnet %016llx, lid %u", port->device, port->port,
             port->is_active ? "active" : "not active", port->link, (unsigned long long)port->subnet, port->local_id);
}

keel_fabric_t *keel_fabric_watch(const keel_fabric_ops_t *ops, void *arg, const keel_message_t *message)
{
    keel_fabric_port_t ports[KEEL_FABRIC_PORTS_MAX];
    keel_fabric_t *fabric;
    unsigned i, count;
    char text[160];

    fabric = (ops->open == NULL) ? NULL : keel_alloc(sizeof *fabric, "network devices");
    if (fabric == NULL) {
        return NULL; /* the job runs without hints */
    }
    *fabric = (keel_fabric_t){.ops = ops, .message = message, .devices = ops->open(arg)};
    if (fabric->devices == NULL) {
        keel_free(fabric);
        return NULL;
    }
    count = ops->ports(fabric->devices, ports, KEEL_FABRIC_PORTS_MAX);
    for (i = 0; i < count; i++) {
        keel_fabric_describe(&ports[i], text, sizeof text);
        keel_info(message, "network device %s", text);
    }
    return fabric;
}

static void keel_fabric_report(keel_fabric_t *fabric, const keel_fabric_event_t *event)
{
    const int is_broken = event->kind == KEEL_FABRIC_BROKEN;
    char where[80];

    if (fabric->reported == KEEL_FABRIC_REPORTED_MAX) {
        return;
    }
    snprintf(where, sizeof where, event->port > 0 ? "%s port %u" : "%s", event->device, event->port);
    keel_message(fabric->message, is_broken ? KEEL_MSG_WARN : KEEL_MSG_INFO, "network device %s: %s%s", where,
                 event->what, is_broken ? ": a failure may follow" : "");
    if (++fabric->reported == KEEL_FABRIC_REPORTED_MAX) {
        keel_warn(fabric->message, "network devices have announced %u events: later ones are counted, not reported",
                  fabric->reported);
    }
}

uint64_t keel_fabric_poll(keel_fabric_t *fabric)
{
    keel_fabric_event_t event;

    for (unsigned i = 0; i < KEEL_FABRIC_EVENTS_MAX && fabric->ops->poll(fabric->devices, &event); i++) {
        fabric->hints += event.kind != KEEL_FABRIC_WELL;
        keel_fabric_report(fabric, &event);
    }
    return fabric->hints;
}

void keel_fabric_close(keel_fabric_t *fabric)
{
    if (fabric != NULL) {
        fabric->ops->close(fabric->devices);
        keel_free(fabric);
    }
}
