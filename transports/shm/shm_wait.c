/* How the thread inside Keel waits. */
#include "shm_wait.h"

#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

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

static void yield(keel_shm_wait_t *wait, uint64_t now)
{
    sched_yield();
    if (keel_shm_now_ns() - now > SHARED_NS) {
        wait->shared = SHARED_YIELDS;
    } else if (wait->shared > 0) {
        wait->shared--;
    }
}

static void begin(keel_shm_wait_t *wait, uint64_t now)
{
    const unsigned shared =
        wait->shared - (wait->shared > 0 && wait->yields == 0); /* the last one met somebody at once */

    wait->is_begun = 1;
    wait->is_announced = 0;
    wait->yields = 0;
    wait->shared = shared;
    wait->begin_ns = now;
}

/* by two calls: between them the caller looks for what it waits for */
static void fall_asleep(keel_shm_wait_t *wait, unsigned timeout_us, int is_reply_due)
{
    const uint32_t how = is_reply_due ? KEEL_SHM_ASLEEP_ON_FILES : KEEL_SHM_ASLEEP;
    uint32_t announced = atomic_load(&wait->card->sleeper);

    if (wait->is_announced && (announced == KEEL_SHM_AWAKE)) { /* it was woken */
        wait->is_begun = 0;
        return;
    }
    if (!wait->is_announced || (announced != how)) {
        keel_shm_sleeper_announce(&wait->card->sleeper, how);
        wait->is_announced = 1;
        return;
    }
    wait->is_announced = 0;
    if (wait->ops->is_busy(wait->arg)) {
        timeout_us = shorter(timeout_us, BUSY_SLEEP_US);
    }
    if (is_reply_due) {
        wait->ops->sleep(wait->arg, wait->bell, shorter(timeout_us, REPLY_SLEEP_US));
        keel_shm_sleeper_announce(&wait->card->sleeper, KEEL_SHM_AWAKE);
    } else if (keel_shm_sleeper_sleep(&wait->card->sleeper, timeout_us)) {
        wait->is_begun = 0;
    }
}

void keel_shm_wait(keel_shm_wait_t *wait, unsigned round, unsigned timeout_us, int is_reply_due)
{
    const uint64_t now = keel_shm_now_ns();

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
    } else {
        fall_asleep(wait, timeout_us, is_reply_due);
    }
}

unsigned keel_shm_wait_progressed(keel_shm_wait_t *wait, unsigned events)
{
    const unsigned served = atomic_load(&wait->served); /* after an announcement of sleep: shm_sleeper.h */
    const unsigned news = (served != wait->served_seen);

    wait->served_seen = served;
    wait->is_begun &= (events + news == 0);
    return news;
}

void keel_shm_wait_end(keel_shm_wait_t *wait)
{
    atomic_fetch_add(&wait->served, 1);
    if (atomic_load(&wait->card->sleeper) == KEEL_SHM_ASLEEP_ON_FILES) {
        keel_shm_bell_ring(wait->bell);
    } else {
        keel_shm_sleeper_wake(&wait->card->sleeper);
    }
}

keel_status_t keel_shm_wait_open(keel_shm_wait_t *wait, const keel_shm_wait_ops_t *ops, void *arg,
                                 keel_shm_card_t *card)
{
    *wait = (keel_shm_wait_t){.ops = ops, .arg = arg, .card = card, .bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
    return (wait->bell < 0) ? KEEL_ERR_IO : KEEL_OK;
}

void keel_shm_wait_close(keel_shm_wait_t *wait)
{
    close(wait->bell);
}
