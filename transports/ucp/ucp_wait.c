/*
 * How the thread inside Keel waits, from one call to the next: it polls, yields the core, then sleeps until it is woken.
 *
 * Polling ends a wait soonest where nobody else wants the core, and keeps away who is waited for where somebody does: how
 * long the last yields took tells which it is. Yields are few where each of them lets others run; where none does they
 * go on as long as falling asleep and being woken take. Who sleeps is woken by the service thread, by the network when a reply is
 * due, and else by peers that have stored something here (ring()): a futex cannot watch files, and other processes cannot
 * reach these, so while replies are due a ring goes unheard, and the sleep is short.
 */
#define _GNU_SOURCE /* ppoll */
#include "ucp_transport.h"

#include <poll.h>
#include <sched.h>

enum {
    POLLS_SHARED = 3,     /* while others want the core: who is about to arrive is met without losing it */
    POLLS = 50,           /* of a wait, before the first yield */
    YIELDS = 16,          /* at least, */
    YIELD_NS = 50 * 1000, /* and so long */
    SHARED_NS = 2000,     /* a yield that takes longer let others run */
    SHARED_YIELDS = 20,   /* until the core counts as its own again */
    BUSY_SLEEP_US = 1000, /* the longest sleep while links need attention that no event announces, */
    REPLY_SLEEP_US = 400  /* and while no ring is heard */
};

static unsigned shorter(unsigned a, unsigned b)
{
    return (a < b) ? a : b;
}

static void yield(keel_ucp_wait_t *wait, uint64_t now)
{
    sched_yield();
    if (keel_ucp_now_ns() - now > SHARED_NS) {
        wait->shared = SHARED_YIELDS;
    } else if (wait->shared > 0) {
        wait->shared--;
    }
}

static void begin(keel_ucp_wait_t *wait, uint64_t now)
{
    const unsigned shared =
        wait->shared - (wait->shared > 0 && wait->yields == 0); /* the last one met somebody at once */

    *wait = (keel_ucp_wait_t){.is_begun = 1, .shared = shared, .begin_ns = now};
}

static void sleep_on_files(keel_ucp_t *ucp, unsigned timeout_us)
{
    const struct timespec timeout = {.tv_sec = timeout_us / 1000000, .tv_nsec = (timeout_us % 1000000) * 1000l};
    struct pollfd fds[2] = {{.fd = ucp->main_fd, .events = POLLIN}, {.fd = ucp->wake_fd, .events = POLLIN}};

    if (ucp_worker_arm(ucp->main.worker) == UCS_OK) {
        ppoll(fds, 2, &timeout, NULL);
    }
    if (fds[1].revents & POLLIN) {
        keel_ucp_bell_clear(ucp->wake_fd);
    }
}

/* by two calls: between them the caller looks for what it waits for */
static void fall_asleep(keel_ucp_t *ucp, unsigned timeout_us, int is_reply_due)
{
    const uint32_t how = is_reply_due ? KEEL_UCP_ASLEEP_ON_FILES : KEEL_UCP_ASLEEP;
    keel_ucp_wait_t *wait = &ucp->wait;
    uint32_t announced = atomic_load(&ucp->card->sleeper);

    if (wait->is_announced && (announced == KEEL_UCP_AWAKE)) { /* it was woken */
        wait->is_begun = 0;
        return;
    }
    if (!wait->is_announced || (announced != how)) {
        keel_ucp_sleeper_announce(&ucp->card->sleeper, how);
        wait->is_announced = 1;
        return;
    }
    wait->is_announced = 0;
    if (keel_ucp_port_is_busy(&ucp->main)) {
        timeout_us = shorter(timeout_us, BUSY_SLEEP_US);
    }
    if (is_reply_due) {
        sleep_on_files(ucp, shorter(timeout_us, REPLY_SLEEP_US));
        keel_ucp_sleeper_announce(&ucp->card->sleeper, KEEL_UCP_AWAKE);
    } else if (keel_ucp_sleeper_sleep(&ucp->card->sleeper, timeout_us)) {
        wait->is_begun = 0;
    }
}

void keel_ucp_wait(keel_transport_t *transport, unsigned round, unsigned timeout_us, int is_reply_due)
{
    keel_ucp_t *ucp = keel_ucp_of(transport);
    keel_ucp_wait_t *wait = &ucp->wait;
    const uint64_t now = keel_ucp_now_ns();

    if (!wait->is_begun || (round == 1)) {
        begin(wait, now);
    }
    if (round == 0) {
        yield(wait, now);
    } else if (round <= ((wait->shared == 0) ? POLLS : POLLS_SHARED)) {
        return;
    } else if ((wait->yields < YIELDS) || (now - wait->begin_ns < YIELD_NS)) {
        wait->yields++;
        yield(wait, now);
    } else if (ucs_list_is_empty(&ucp->put_aside)) {
        fall_asleep(ucp, timeout_us, is_reply_due);
    }
}

void keel_ucp_ring(keel_transport_t *transport, uint32_t rank)
{
    const keel_ucp_peer_t *peer = keel_ucp_of(transport)->peers[rank];

    if ((peer != NULL) && (peer->card != NULL)) {
        keel_ucp_sleeper_wake(&peer->card->sleeper);
    }
}

void keel_ucp_wait_end(keel_ucp_t *ucp)
{
    atomic_fetch_add(&ucp->served, 1);
    if (atomic_load(&ucp->card->sleeper) == KEEL_UCP_ASLEEP_ON_FILES) {
        keel_ucp_bell_ring(ucp->wake_fd);
    } else {
        keel_ucp_sleeper_wake(&ucp->card->sleeper);
    }
}
