/*
 * Connecting. HELLO names the queue pair of this side, WELCOME that of the peer. When WELCOME
 * arrives the peer is already receiving, so this side may send. An address of the peer's host may
 * not lead to the peer (another host has the same address, a network is not reachable from here): a
 * process listening there is not the one that HELLO names, and hangs up; then the next address is
 * tried.
 */
#include "verbs_dial.h"
#include "verbs_transport.h"
#include "verbs_out.h"

#include "base/memory.h"
#include "base/message.h"

#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define HOST_NS 3000000000ull /* time for an address without answer, if there are others */

enum { EVENTS = 16 };

static void watch(keel_verbs_t *verbs, const keel_verbs_peer_t *peer, int operation, uint32_t events)
{
    struct epoll_event event = {.events = events, .data = {.u32 = peer->rank}};

    (void)epoll_ctl(verbs->main.sockets, operation, peer->talk->socket, &event);
}

static void hang_up(keel_verbs_talk_t *talk)
{
    if (talk->socket >= 0) {
        close(talk->socket);
        talk->socket = -1;
    }
}

/* calls the first possible address from @a host on; KEEL_ERR_UNREACHABLE: none is left */
static keel_status_t call(keel_verbs_t *verbs, keel_verbs_peer_t *peer, unsigned host)
{
    keel_verbs_talk_t *talk = peer->talk;

    hang_up(talk);
    for (; host < peer->address.hosts; host++) {
        talk->socket = keel_verbs_dial(&peer->address.host[host], peer->address.port);
        if (talk->socket >= 0) {
            talk->sent = talk->received = 0;
            peer->host = host;
            peer->dialled_ns = keel_shm_now_ns();
            watch(verbs, peer, EPOLL_CTL_ADD, EPOLLIN | EPOLLOUT);
            return KEEL_OK;
        }
    }
    return KEEL_ERR_UNREACHABLE;
}

static void compose(const keel_verbs_t *verbs, const keel_verbs_peer_t *peer, keel_verbs_greeting_t *hello)
{
    *hello = (keel_verbs_greeting_t){.instance = peer->address.head.instance, .rank = verbs->params.rank};
    keel_verbs_link_end(peer->link, &hello->end);
    hello->sum = keel_verbs_greeting_sum(&peer->link->seal_out, hello);
    keel_shm_blob_seal(hello, KEEL_VERBS_BLOB_HELLO, sizeof(*hello), verbs->shm.instance);
}

keel_status_t keel_verbs_dial_begin(keel_verbs_t *verbs, keel_verbs_peer_t *peer)
{
    keel_verbs_talk_t *talk = keel_alloc(sizeof(*talk), "greeting");
    keel_status_t status;

    if (talk == NULL) {
        return KEEL_ERR_NO_MEMORY;
    }
    status = keel_verbs_link_make(&verbs->main, peer->rank, peer->address.head.instance, peer, 0, &peer->link);
    if (status != KEEL_OK) {
        keel_free(talk);
        return status;
    }
    talk->socket = -1;
    peer->talk = talk;
    compose(verbs, peer, &talk->out);
    ucs_list_add_tail(&verbs->dialling, &peer->dialling);
    if (call(verbs, peer, 0) != KEEL_OK) {
        keel_verbs_link_break(peer->link, "no address of its host can be called");
    }
    return KEEL_OK;
}

void keel_verbs_dial_end(keel_verbs_peer_t *peer)
{
    if (peer->talk != NULL) {
        hang_up(peer->talk);
        ucs_list_del(&peer->dialling);
        keel_free(peer->talk);
        peer->talk = NULL;
    }
}

static void on_welcome(keel_verbs_t *verbs, keel_verbs_peer_t *peer)
{
    const keel_verbs_greeting_t *welcome = &peer->talk->in;

    if (welcome->head.instance != peer->address.head.instance || welcome->instance != verbs->shm.instance ||
        welcome->rank != peer->rank) {
        keel_verbs_link_break(peer->link, "a greeting of another process");
    } else if (welcome->sum != keel_verbs_greeting_sum(&peer->link->seal_in, welcome)) {
        keel_verbs_link_break(peer->link, "a greeting that was not made with the secret of this job");
    } else if (keel_verbs_link_connect(peer->link, &welcome->end) != KEEL_OK) {
        keel_verbs_link_break(peer->link, "the device refuses");
    } else {
        if (peer->rank != verbs->params.rank) {
            keel_service_silence_end(&verbs->silence);
        }
        watch(verbs, peer, EPOLL_CTL_MOD, EPOLLIN);
        peer->link->socket = peer->talk->socket;
        peer->talk->socket = -1;
    }
}

static keel_status_t talk_on(keel_verbs_t *verbs, keel_verbs_peer_t *peer)
{
    const size_t sent = peer->talk->sent;
    keel_status_t status = keel_verbs_talk_send(peer->talk);

    if (status == KEEL_OK) {
        if (sent < peer->talk->sent) {
            watch(verbs, peer, EPOLL_CTL_MOD, EPOLLIN);
        }
        status = keel_verbs_talk_receive(peer->talk, KEEL_VERBS_BLOB_WELCOME);
    }
    return status;
}

/* the answer to HELLO may wait until the peer has disconnected an earlier incarnation of this
 * rank */
static int is_silent(const keel_verbs_peer_t *peer)
{
    return peer->talk->sent < sizeof(peer->talk->out) && peer->host + 1u < peer->address.hosts &&
           keel_shm_now_ns() - peer->dialled_ns > HOST_NS;
}

unsigned keel_verbs_dial_progress(keel_verbs_t *verbs)
{
    keel_verbs_peer_t *peer, *next;
    unsigned events = 0;
    keel_status_t status;

    ucs_list_for_each_safe(peer, next, &verbs->dialling, dialling)
    {
        if (!(peer->link->flags & KEEL_VERBS_LINK_BROKEN)) {
            status = talk_on(verbs, peer);
            if (status == KEEL_INPROGRESS && !is_silent(peer)) {
                continue;
            }
            if (status == KEEL_OK) {
                on_welcome(verbs, peer);
            } else if (call(verbs, peer, peer->host + 1) == KEEL_OK) {
                continue;
            } else {
                keel_verbs_link_break(peer->link, "its process does not answer");
            }
        }
        keel_verbs_dial_end(peer);
        events++;
    }
    return events;
}

void keel_verbs_dial_check(keel_verbs_t *verbs)
{
    struct epoll_event events[EVENTS];
    const int count = epoll_wait(verbs->main.sockets, events, EVENTS, 0);

    for (int i = 0; i < count; i++) {
        const keel_verbs_peer_t *peer = verbs->peers[events[i].data.u32];

        if (peer != NULL && peer->link != NULL && peer->link->socket >= 0 && keel_verbs_has_ended(peer->link->socket)) {
            (void)epoll_ctl(verbs->main.sockets, EPOLL_CTL_DEL, peer->link->socket, NULL);
            keel_verbs_link_break(peer->link, "its process has ended");
        }
    }
}
