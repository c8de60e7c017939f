/*
 * Network devices of this host: which there are, and what they announce. A device that fails or a port that goes down is
 * a hint that the process, its node or its switch may follow: it is counted and said, and nothing is decided by it, since
 * the launcher alone knows who is dead.
 *
 * The table of operations has two implementations: libibverbs, where it was there at build time, and the tests'. Which
 * events a real device announces can be seen on hardware only; what becomes of them here is tested without.
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
    uint64_t subnet;   /* prefix of its first address */
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
    /* 1 and an event, or 0; never blocks */
    int (*poll)(void *devices, keel_fabric_event_t *event_p);
    /* fills at most @a max, returns how many */
    unsigned (*ports)(void *devices, keel_fabric_port_t *ports, unsigned max);
    void (*close)(void *devices);
} keel_fabric_ops_t;

extern const keel_fabric_ops_t keel_fabric_verbs_ops; /* all of it NULL without libibverbs */

typedef struct keel_fabric keel_fabric_t;

/* NULL where there are no devices. @a message has to live as long; it is told at once which ports there are. */
keel_fabric_t *keel_fabric_watch(const keel_fabric_ops_t *ops, void *arg, const keel_message_t *message);
/* hears what was announced since; returns the number of hints so far: events that are no good news */
uint64_t keel_fabric_poll(keel_fabric_t *fabric);
void keel_fabric_close(keel_fabric_t *fabric); /* NULL: nothing */

/* "mlx5_0 port 1: active, InfiniBand, subnet fe80000000000000, lid 7" */
void keel_fabric_describe(const keel_fabric_port_t *port, char *text, size_t size);

#endif
