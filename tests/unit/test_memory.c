/* The allocation seam. */
#include "base/memory.h"

#include "unit.h"

#include <string.h>

typedef struct account {
    int refuse;
    const char *last_name;
    size_t live_bytes;
    int live, arenas;
} account_t;

static int may_allocate(void *arg, size_t bytes, const char *name)
{
    account_t *account = arg;

    account->last_name = name;
    return !account->refuse;
}

static void allocated(void *arg, void *memory, size_t bytes, int is_arena)
{
    account_t *account = arg;

    account->live++;
    account->live_bytes += bytes;
    account->arenas += is_arena;
}

static void freed(void *arg, void *memory)
{
    account_t *account = arg;

    account->live--;
}

static void is_zero(const char *memory, size_t bytes)
{
    size_t i = 0;

    while ((i < bytes) && (memory[i] == 0)) {
        i++;
    }
    ck_assert_uint_eq(i, bytes);
}

START_TEST(memory_is_zeroed)
{
    char *memory = keel_alloc(1000, "test");

    is_zero(memory, 1000);
    keel_free(memory);
    keel_free(NULL);
}
END_TEST

START_TEST(an_empty_allocation_is_no_failure)
{
    void *memory = keel_alloc(0, "test");

    ck_assert_ptr_nonnull(memory);
    memory = keel_realloc(memory, 0, "test");
    ck_assert_ptr_nonnull(memory);
    keel_free(memory);
    memory = keel_arena_alloc(0, SIZE_MAX, "test");
    ck_assert_ptr_nonnull(memory);
    keel_arena_free(memory, 0);
}
END_TEST

START_TEST(arenas_are_page_aligned_zeroed_and_writable)
{
    static const size_t sizes[] = {1, 4096, 4097, 1 << 20, (2 << 20) - 1, 2 << 20, (4 << 20) + 1, 9 << 20};
    unsigned i;
    char *memory;

    for (i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        memory = keel_arena_alloc(sizes[i], sizes[i] / (1 + i % 3), "test");
        ck_assert_ptr_nonnull(memory);
        ck_assert_uint_eq((uintptr_t)memory % 4096, 0);
        is_zero(memory, sizes[i]);
        memset(memory, 1, sizes[i]);
        keel_arena_free(memory, sizes[i]);
    }
    keel_arena_free(NULL, 4096);
}
END_TEST

START_TEST(impossible_sizes_are_refused)
{
    ck_assert_ptr_null(keel_arena_alloc(SIZE_MAX, SIZE_MAX, "test"));
    ck_assert_ptr_null(keel_arena_alloc((size_t)1 << 60, SIZE_MAX, "test"));
}
END_TEST

START_TEST(a_refusing_hook_fails_every_kind_of_allocation)
{
    account_t account = {.refuse = 1};
    const keel_memory_hook_t hook = {.may_allocate = may_allocate, .arg = &account};
    char *memory = keel_alloc(10, "before");

    memory[9] = 7;
    keel_memory_set_hook(&hook);
    ck_assert_ptr_null(keel_alloc(10, "alloc"));
    ck_assert_str_eq(account.last_name, "alloc");
    ck_assert_ptr_null(keel_realloc(memory, 20, "realloc"));
    ck_assert_str_eq(account.last_name, "realloc");
    ck_assert_ptr_null(keel_arena_alloc(10, SIZE_MAX, "arena"));
    ck_assert_str_eq(account.last_name, "arena");
    keel_memory_set_hook(NULL);
    ck_assert_int_eq(memory[9], 7);
    keel_free(memory);
}
END_TEST

START_TEST(the_hook_sees_every_allocation_and_its_end)
{
    account_t account = {0};
    const keel_memory_hook_t hook = {may_allocate, allocated, freed, &account};
    void *memory, *arena;

    keel_memory_set_hook(&hook);
    memory = keel_alloc(10, "a");
    memory = keel_realloc(memory, 1000, "b");
    arena = keel_arena_alloc(10000, SIZE_MAX, "c");
    ck_assert_int_eq(account.live, 2);
    ck_assert_int_eq(account.arenas, 1);
    keel_free(memory);
    keel_arena_free(arena, 10000);
    ck_assert_int_eq(account.live, 0);
    keel_memory_set_hook(NULL);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {memory_is_zeroed,
                                  an_empty_allocation_is_no_failure,
                                  arenas_are_page_aligned_zeroed_and_writable,
                                  impossible_sizes_are_refused,
                                  a_refusing_hook_fails_every_kind_of_allocation,
                                  the_hook_sees_every_allocation_and_its_end,
                                  NULL};

    return unit_run("memory", tests);
}
