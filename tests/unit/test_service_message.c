/* The pools of messages: sizes, alignment, growth, reuse, and an allocation that fails. */
#include "service/service_message.h"

#include "base/memory.h"
#include "unit.h"

#include <string.h>

enum { SMALL = 100, LARGE = 60000, MANY = 2000, CACHE_LINE = 64 };

static unsigned allocations, allowed;

static int may_allocate(void *arg, size_t bytes, const char *name)
{
    return allocations++ < allowed;
}

static void limit_allocations(unsigned count)
{
    static const keel_memory_hook_t hook = {.may_allocate = may_allocate};

    allocations = 0;
    allowed = count;
    keel_memory_set_hook(&hook);
}

START_TEST(messages_are_aligned_and_disjoint)
{
    static keel_service_message_t *all[MANY];
    keel_service_pools_t pools;
    unsigned i;

    ck_assert_int_eq(keel_service_pools_open(&pools, SMALL, LARGE), KEEL_OK);
    /* several chunks of the small pool; every hundredth message is large */
    for (i = 0; i < MANY; i++) {
        all[i] = keel_service_message_get(&pools, (i % 100 == 0) ? LARGE : SMALL);
        ck_assert_ptr_nonnull(all[i]);
        ck_assert_uint_eq((uintptr_t)all[i] % CACHE_LINE, 0);
        memset(all[i]->copy, (int)(i % 251), (i % 100 == 0) ? LARGE : SMALL);
        all[i]->data_len = i;
    }
    for (i = 0; i < MANY; i++) {
        const size_t bytes = (i % 100 == 0) ? LARGE : SMALL;

        ck_assert_uint_eq(all[i]->data_len, i);
        ck_assert_uint_eq(all[i]->copy[0], i % 251);
        ck_assert_uint_eq(all[i]->copy[bytes - 1], i % 251);
        ck_assert_int_eq(memcmp(all[i]->copy, all[i]->copy + 1, bytes - 1), 0);
        keel_service_message_put(all[i]);
    }
    keel_service_pools_close(&pools);
}
END_TEST

START_TEST(a_message_put_back_is_the_next_one)
{
    keel_service_message_t *first, *second;
    keel_service_pools_t pools;

    ck_assert_int_eq(keel_service_pools_open(&pools, SMALL, LARGE), KEEL_OK);
    first = keel_service_message_get(&pools, SMALL);
    second = keel_service_message_get(&pools, SMALL + 1);
    ck_assert_ptr_ne(first, second);
    keel_service_message_put(second);
    keel_service_message_put(first);
    ck_assert_ptr_eq(keel_service_message_get(&pools, 0), first);
    ck_assert_ptr_eq(keel_service_message_get(&pools, LARGE), second);
    keel_service_pools_close(&pools); /* while messages are in use */
}
END_TEST

START_TEST(light_traffic_allocates_nothing)
{
    keel_service_pools_t pools;
    unsigned i;

    ck_assert_int_eq(keel_service_pools_open(&pools, SMALL, LARGE), KEEL_OK);
    limit_allocations(0);
    for (i = 0; i < MANY; i++) {
        keel_service_message_t *message = keel_service_message_get(&pools, (i % 2) ? SMALL : LARGE);

        ck_assert_ptr_nonnull(message);
        keel_service_message_put(message);
    }
    ck_assert_uint_eq(allocations, 0);
    keel_memory_set_hook(NULL);
    keel_service_pools_close(&pools);
}
END_TEST

START_TEST(too_large_a_message_is_refused)
{
    keel_service_pools_t pools;

    ck_assert_int_eq(keel_service_pools_open(&pools, SMALL, LARGE), KEEL_OK);
    ck_assert_ptr_null(keel_service_message_get(&pools, LARGE + 1));
    keel_service_pools_close(&pools);
    ck_assert_int_eq(keel_service_pools_open(&pools, SMALL, 0), KEEL_OK);
    ck_assert_ptr_null(keel_service_message_get(&pools, SMALL + 1));
    keel_service_pools_close(&pools);
}
END_TEST

START_TEST(an_allocation_that_fails_is_a_status)
{
    keel_service_pools_t pools;
    unsigned i = 0;

    for (allowed = 0; allowed < 2; allowed++) {
        limit_allocations(allowed);
        ck_assert_int_eq(keel_service_pools_open(&pools, SMALL, LARGE), KEEL_ERR_NO_MEMORY);
    }
    limit_allocations(2);
    ck_assert_int_eq(keel_service_pools_open(&pools, SMALL, LARGE), KEEL_OK);
    while (i < MANY && keel_service_message_get(&pools, SMALL) != NULL) {
        i++;
    }
    ck_assert_uint_lt(i, MANY);
    keel_memory_set_hook(NULL);
    ck_assert_ptr_nonnull(keel_service_message_get(&pools, SMALL)); /* memory is available again */
    keel_service_pools_close(&pools);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {messages_are_aligned_and_disjoint,    a_message_put_back_is_the_next_one,
                                  light_traffic_allocates_nothing,      too_large_a_message_is_refused,
                                  an_allocation_that_fails_is_a_status, NULL};

    return unit_run("service_message", tests);
}
