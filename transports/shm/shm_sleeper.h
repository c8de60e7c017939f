/*
 * Sleeper: a word in memory that a thread sleeps on. All threads that wake it have the word mapped,
 * in other processes, too.
 *
 * Safety. A thread about to sleep announces the sleep, checks again for the awaited event, and
 * sleeps. A thread that has stored something reads the word after a full fence; if the word
 * announces a sleep, the thread withdraws the announcement and calls the kernel. So either the
 * sleeper sees the store, or the other thread sees the announcement. Between announcement and sleep
 * the kernel compares the word. A wake is lost if the waking process is killed between withdrawal
 * and call, or stored without a fence: sleeps are bounded, and only time depends on a wake.
 */
#ifndef KEEL_SHM_SLEEPER_H_
#define KEEL_SHM_SLEEPER_H_

#include <stdatomic.h>
#include <stdint.h>

typedef _Atomic(uint32_t) keel_shm_sleeper_t;

enum {
    KEEL_SHM_AWAKE,
    KEEL_SHM_ASLEEP,         /* asleep on the word, or about to be */
    KEEL_SHM_ASLEEP_ON_FILES /* only the own process can wake the thread */
};

static inline void keel_shm_sleeper_announce(keel_shm_sleeper_t *sleeper, uint32_t how)
{
    /* sequentially consistent: the check after the announcement loads later values */
    atomic_store(sleeper, how);
}

/* Sleeps for at most @a timeout_us if KEEL_SHM_ASLEEP is announced; awake afterwards. Returns 1
 * if woken. */
int keel_shm_sleeper_sleep(keel_shm_sleeper_t *sleeper, unsigned timeout_us);

/* out of line: a thread is asleep */
void keel_shm_sleeper_wake_up(keel_shm_sleeper_t *sleeper);

/* wakes a thread asleep on the word; it sees the stores of this thread before a fence */
static inline void keel_shm_sleeper_wake(keel_shm_sleeper_t *sleeper)
{
    if (atomic_load_explicit(sleeper, memory_order_relaxed) == KEEL_SHM_ASLEEP) {
        keel_shm_sleeper_wake_up(sleeper);
    }
}

/* an eventfd used as a bell, for threads asleep on files */
void keel_shm_bell_ring(int fd);
void keel_shm_bell_clear(int fd);

uint64_t keel_shm_now_ns(void);

#endif
