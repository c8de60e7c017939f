/* System calls of a sleeper. */
#define _GNU_SOURCE /* syscall */
#include "shm_sleeper.h"

#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

_Static_assert(sizeof(keel_shm_sleeper_t) == sizeof(uint32_t), "the kernel compares 32 bits");

int keel_shm_sleeper_sleep(keel_shm_sleeper_t *sleeper, unsigned timeout_us)
{
    const struct timespec timeout = {.tv_sec = timeout_us / 1000000, .tv_nsec = (timeout_us % 1000000) * 1000l};

    (void)syscall(SYS_futex, sleeper, FUTEX_WAIT, KEEL_SHM_ASLEEP, &timeout, NULL, 0);
    return atomic_exchange(sleeper, KEEL_SHM_AWAKE) == KEEL_SHM_AWAKE;
}

void keel_shm_sleeper_wake_up(keel_shm_sleeper_t *sleeper)
{
    uint32_t asleep = KEEL_SHM_ASLEEP;

    if (atomic_compare_exchange_strong(sleeper, &asleep, KEEL_SHM_AWAKE)) {
        (void)syscall(SYS_futex, sleeper, FUTEX_WAKE, 1, NULL, NULL, 0);
    }
}

void keel_shm_bell_ring(int fd)
{
    const uint64_t one = 1;

    while ((write(fd, &one, sizeof(one)) < 0) && (errno == EINTR)) {
    }
}

void keel_shm_bell_clear(int fd)
{
    uint64_t count;

    while ((read(fd, &count, sizeof(count)) < 0) && (errno == EINTR)) {
    }
}

uint64_t keel_shm_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}
