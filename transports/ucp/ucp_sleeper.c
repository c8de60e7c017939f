/* The two system calls of a sleeper. */
#define _GNU_SOURCE /* syscall */
#include "ucp_sleeper.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

_Static_assert(sizeof(keel_ucp_sleeper_t) == sizeof(uint32_t), "the kernel compares 32 bits");

int keel_ucp_sleeper_sleep(keel_ucp_sleeper_t *sleeper, unsigned timeout_us)
{
    const struct timespec timeout = {.tv_sec = timeout_us / 1000000, .tv_nsec = (timeout_us % 1000000) * 1000l};

    (void)syscall(SYS_futex, sleeper, FUTEX_WAIT, KEEL_UCP_ASLEEP, &timeout, NULL, 0);
    return atomic_exchange(sleeper, KEEL_UCP_AWAKE) == KEEL_UCP_AWAKE;
}

void keel_ucp_sleeper_wake_up(keel_ucp_sleeper_t *sleeper)
{
    uint32_t asleep = KEEL_UCP_ASLEEP;

    if (atomic_compare_exchange_strong(sleeper, &asleep, KEEL_UCP_AWAKE)) {
        (void)syscall(SYS_futex, sleeper, FUTEX_WAKE, 1, NULL, NULL, 0);
    }
}
