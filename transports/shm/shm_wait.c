/* Waiting of the thread inside Keel. */
#include "shm_wait.h"

#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    /* while the core is shared: meets an imminent arrival without losing the core */
    POLLS_SHARED = 3,
    POLLS = 50,           /* polls of a wait before the first yield */
    YIELDS = 16,          /* minimum number of yields */
    YIELD_NS = 50 * 1000, /* minimum duration of the yields */
    SHARED_NS = 2000,     /* a yield that takes longer has let other threads run */
    SHARED_YIELDS = 20,   /* fast yields until the core counts as unshared again */
    BUSY_SLEEP_US = 1000, /* maximum sleep while links need attention that no event announces */
    REPLY_SLEEP_US = 400  /* maximum sleep while rings are not heard */
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
    /* the last wait ended without a yield */
    const unsigned shared = wait->shared - (wait->shared > 0 && wait->yields == 0);

    wait->is_begun = 1;
    wait->is_announced = 0;
    wait->yields = 0;
    wait->shared = shared;
    wait->begin_ns = now;
}

/* takes two calls: between them the caller checks for the awaited event */
static void fall_asleep(keel_shm_wait_t *wait, unsigned timeout_us, int is_reply_due)
{
    const uint32_t how = is_reply_due ? KEEL_SHM_ASLEEP_ON_FILES : KEEL_SHM_ASLEEP;
    uint32_t announced = atomic_load(&wait->card->sleeper);

    if (wait->is_announced && (announced == KEEL_SHM_AWAKE)) { /* woken before the sleep */
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
    /* loaded after an announcement of sleep, see shm_sleeper.h */
    const unsigned served = atomic_load(&wait->served);
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
