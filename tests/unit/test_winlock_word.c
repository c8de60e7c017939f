/* The word of a window's lock: the rank that gets the lock, and mutual exclusion of threads. */
#include "peer/lockword.h"

#include "unit.h"

#include <pthread.h>

enum { THREADS = 4 };

/* Returns the holders: the word without the number of grants. */
static uint64_t held(uint64_t lock)
{
    return lock & (KEEL_WINLOCK_GRANT - 1);
}

START_TEST(shared_and_exclusive_keep_each_other_out)
{
    const uint32_t last = KEEL_WINLOCK_OWNER - 1;
    uint64_t lock = 0;

    ck_assert(keel_winlock_try(&lock, 0));
    ck_assert(!keel_winlock_try(&lock, 0) && !keel_winlock_try(&lock, 1));
    ck_assert(!keel_winlock_try_shared(&lock));
    keel_winlock_release(&lock, 1); /* not the owner */
    ck_assert(!keel_winlock_try_shared(&lock));
    keel_winlock_release(&lock, 0);
    ck_assert(keel_winlock_try_shared(&lock) && keel_winlock_try_shared(&lock));
    ck_assert(!keel_winlock_try(&lock, 1));
    keel_winlock_release_shared(&lock);
    ck_assert(!keel_winlock_try(&lock, 1));
    keel_winlock_release_shared(&lock);
    keel_winlock_release_shared(&lock); /* one too many */
    ck_assert_uint_eq(held(lock), 0);
    ck_assert(keel_winlock_try(&lock, last));
    keel_winlock_release(&lock, last);
    ck_assert_uint_eq(held(lock), 0);
    ck_assert_uint_eq(keel_winlock_grants(&lock), 4);
}
END_TEST

START_TEST(no_part_of_the_word_reaches_into_another)
{
    uint64_t lock = KEEL_WINLOCK_GRANTS_MAX * KEEL_WINLOCK_GRANT;

    ck_assert(keel_winlock_try(&lock, 5)); /* the grants begin at 0 */
    ck_assert_uint_eq(lock, 6);
    keel_winlock_release(&lock, 5);
    lock = KEEL_WINLOCK_SHARES - KEEL_WINLOCK_ONE;
    ck_assert(keel_winlock_try_shared(&lock));
    ck_assert(!keel_winlock_try_shared(&lock)); /* the largest number of shares */
    ck_assert_uint_eq(lock, KEEL_WINLOCK_GRANT + KEEL_WINLOCK_SHARES);
}
END_TEST

typedef struct {
    uint64_t lock, pair[2];
    unsigned rounds, torn;
} shared_t;

typedef struct {
    shared_t *shared;
    uint32_t rank;
} racer_t;

static void *race(void *arg)
{
    const racer_t *racer = arg;
    shared_t *shared = racer->shared;

    for (unsigned i = 0; i < shared->rounds; i++) {
        if (i % 2 == racer->rank % 2) {
            while (!keel_winlock_try(&shared->lock, racer->rank)) {
                sched_yield();
            }
            ((volatile uint64_t *)shared->pair)[0]++;
            ((volatile uint64_t *)shared->pair)[1]++;
            keel_winlock_release(&shared->lock, racer->rank);
        } else {
            while (!keel_winlock_try_shared(&shared->lock)) {
                sched_yield();
            }
            if (((volatile uint64_t *)shared->pair)[0] != ((volatile uint64_t *)shared->pair)[1]) {
                __atomic_fetch_add(&shared->torn, 1, __ATOMIC_RELAXED);
            }
            keel_winlock_release_shared(&shared->lock);
        }
    }
    return NULL;
}

START_TEST(threads_that_lock_see_whole_pairs)
{
    shared_t shared = {.rounds = 4000};
    racer_t racers[THREADS];
    pthread_t threads[THREADS];

    for (uint32_t i = 0; i < THREADS; i++) {
        racers[i] = (racer_t){&shared, i};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    ck_assert_uint_eq(shared.torn, 0);
    ck_assert_uint_eq(shared.pair[0], THREADS / 2 * shared.rounds);
    ck_assert_uint_eq(held(shared.lock), 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {shared_and_exclusive_keep_each_other_out, no_part_of_the_word_reaches_into_another,
                                  threads_that_lock_see_whole_pairs, NULL};

    return unit_run("winlock_word", tests);
}
