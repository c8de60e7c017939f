/*
 * What a thread sleeps on, and others end its sleep by: a word in memory that all of them have mapped, other processes too.
 *
 * Who is about to sleep announces it, looks once more whether what it waits for is there, and sleeps. Who has stored something
 * looks at the word after a full fence, and takes the announcement back and calls the kernel when it finds one. So either the
 * sleeper sees what was stored, or the other one sees the announcement; between the announcement and the sleep the kernel
 * compares the word. A wake is lost when the process that took the announcement back is killed before its call, or
 * stored without a fence: sleeps are bounded, and nothing but time depends on a wake.
 */
#ifndef KEEL_SHM_SLEEPER_H_
#define KEEL_SHM_SLEEPER_H_

#include <stdatomic.h>
#include <stdint.h>

typedef _Atomic(uint32_t) keel_shm_sleeper_t;

enum {
    KEEL_SHM_AWAKE,
    KEEL_SHM_ASLEEP,         /* on the word, or about to be */
    KEEL_SHM_ASLEEP_ON_FILES /* only its own process can wake it */
};

static inline void keel_shm_sleeper_announce(keel_shm_sleeper_t *sleeper, uint32_t how)
{
    atomic_store(sleeper, how); /* sequentially consistent: what is looked at afterwards is loaded afterwards */
}

/* for @a timeout_us at most, when KEEL_SHM_ASLEEP is announced; awake after it. Returns whether it was woken */
int keel_shm_sleeper_sleep(keel_shm_sleeper_t *sleeper, unsigned timeout_us);

/* out of line: somebody is asleep */
void keel_shm_sleeper_wake_up(keel_shm_sleeper_t *sleeper);

/* who sleeps on the word sees what this thread stored before a fence */
static inline void keel_shm_sleeper_wake(keel_shm_sleeper_t *sleeper)
{
    if (atomic_load_explicit(sleeper, memory_order_relaxed) == KEEL_SHM_ASLEEP) {
        keel_shm_sleeper_wake_up(sleeper);
    }
}

/* an eventfd used as a bell: for who sleeps on files */
void keel_shm_bell_ring(int fd);
void keel_shm_bell_clear(int fd);

uint64_t keel_shm_now_ns(void);

#endif
