/*
 * Network devices of this host: the ports, and the events that the devices announce. A failing
 * device or a port that goes down hints that the process, its node or its switch may follow. A hint
 * is counted and reported; no decision rests on it, since the launcher alone knows the dead.
 *
 * The table of operations has two implementations: libibverbs, if present at build time, and the
 * tests'. Only hardware shows which events a real device announces; the tests cover their handling
 * here.
 */
#ifndef KEEL_RUNTIME_FABRIC_H_
#define KEEL_RUNTIME_FABRIC_H_

#include "base/message.h"

#include <stddef.h>
#include <stdint.h>

typedef struct keel_fabric_port {
    char device[64];
    unsigned port; /* from 1 */
    int is_active;
    const char *link;  /* "InfiniBand", "Ethernet", ... */
    uint64_t subnet;   /* prefix of the first address */
    unsigned local_id; /* LID; 0 on Ethernet */
} keel_fabric_port_t;

typedef struct keel_fabric_event {
    char device[64];
    unsigned port;    /* 0: the device as a whole */
    const char *what; /* constant text */
    enum { KEEL_FABRIC_BROKEN, KEEL_FABRIC_CHANGED, KEEL_FABRIC_WELL } kind;
} keel_fabric_event_t;

typedef struct keel_fabric_ops {
    void *(*open)(void *arg); /* NULL: no devices */
    /* Returns 1 and an event, or 0. Never blocks. */
    int (*poll)(void *devices, keel_fabric_event_t *event_p);
    /* Fills in at most @a max ports and returns their count. */
    unsigned (*ports)(void *devices, keel_fabric_port_t *ports, unsigned max);
    void (*close)(void *devices);
} keel_fabric_ops_t;

extern const keel_fabric_ops_t keel_fabric_verbs_ops; /* all members are NULL without libibverbs */

typedef struct keel_fabric keel_fabric_t;

/*
 * Starts to watch and reports the present ports to @a message, which must live as long. NULL: there
 * are no devices.
 */
keel_fabric_t *keel_fabric_watch(const keel_fabric_ops_t *ops, void *arg, const keel_message_t *message);
/*
 * Handles the events announced since the last call. Returns the total number of hints, events that
 * are no good news.
 */
uint64_t keel_fabric_poll(keel_fabric_t *fabric);
void keel_fabric_close(keel_fabric_t *fabric); /* accepts NULL */

/* "mlx5_0 port 1: active, InfiniBand, subnet fe80000000000000, lid 7" */
void keel_fabric_describe(const keel_fabric_port_t *port, char *text, size_t size);

#endif
