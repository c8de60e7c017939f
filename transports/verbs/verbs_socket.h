/*
 * Sockets by which processes greet each other. They stay open, and the end of a socket shows that
 * the other process is gone. No call blocks.
 */
#ifndef KEEL_VERBS_SOCKET_H_
#define KEEL_VERBS_SOCKET_H_

#include "transport.h"
#include "verbs_blob.h"

/* outgoing and incoming greeting */
typedef struct keel_verbs_talk {
    int socket;
    size_t sent, received;
    keel_verbs_greeting_t out, in;
} keel_verbs_talk_t;

/* Listens at a port of the address of keel_verbs_choose_host(), or of all addresses of this host.
 * KEEL_ERR_IO, KEEL_ERR_TRANSPORT, reported. */
keel_status_t keel_verbs_listen(const keel_transport_params_t *params, int *socket_p, uint16_t *port_p);
/* next incoming connection, or -1 */
int keel_verbs_accept(int listener);
/*
 * Chooses the only address to listen at: of params->interface, or of the loopback interface if all
 * processes share this host. *count_p is 0 if all addresses will do. KEEL_ERR_TRANSPORT, reported:
 * this host lacks the interface.
 */
keel_status_t keel_verbs_choose_host(const keel_transport_params_t *params, keel_verbs_host_t *host, unsigned *count_p);
/* addresses of this host: @a first if it is an IPv4 address, then others; returns their number */
unsigned keel_verbs_hosts(const uint8_t *first, keel_verbs_host_t *hosts, unsigned max);
/* begins to connect, or -1 */
int keel_verbs_dial(const keel_verbs_host_t *host, uint16_t port);
/* Sends or receives a greeting. KEEL_OK when complete, KEEL_INPROGRESS; KEEL_ERR_UNREACHABLE:
 * the other side does not exist. */
keel_status_t keel_verbs_talk_send(keel_verbs_talk_t *talk);
keel_status_t keel_verbs_talk_receive(keel_verbs_talk_t *talk, uint32_t magic);
/* address of the other side, as text */
void keel_verbs_name(int socket, char *text, size_t size);
/* has the other side ended? Valid if nothing is sent any more. */
int keel_verbs_has_ended(int socket);

#endif
