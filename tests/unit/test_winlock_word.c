/* The word of a window's lock: who gets it, whose wish counts, and that threads exclude each other. */
#include "peer/lockword.h"

#include "unit.h"

#include <pthread.h>

enum { THREADS = 4 };

START_TEST(shared_and_exclusive_keep_each_other_out)
{
    uint64_t lock = 0;

    ck_assert(keel_winlock_try(&lock, 0, 0));
    ck_assert(!keel_winlock_try(&lock, 0, 0) && !keel_winlock_try(&lock, 1, 0));
    ck_assert(!keel_winlock_try_shared(&lock, 0) && !keel_winlock_try_shared(&lock, 1));
    keel_winlock_release(&lock, 1); /* not its own */
    ck_assert(!keel_winlock_try_shared(&lock, 0));
    keel_winlock_release(&lock, 0);
    ck_assert(keel_winlock_try_shared(&lock, 0) && keel_winlock_try_shared(&lock, 0));
    ck_assert(!keel_winlock_try(&lock, 1, 0));
    keel_winlock_release_shared(&lock);
    ck_assert(!keel_winlock_try(&lock, 1, 0));
    keel_winlock_release_shared(&lock);
    keel_winlock_release_shared(&lock); /* one too many */
    ck_assert_uint_eq(lock, 0);
    ck_assert(keel_winlock_try(&lock, UINT32_MAX - 1, 0));
    keel_winlock_release(&lock, UINT32_MAX - 1);
    ck_assert_uint_eq(lock, 0);
}
END_TEST

START_TEST(who_wishes_goes_ahead_of_newcomers_but_not_of_those_that_have_waited)
{
    uint64_t lock = 0;

    ck_assert(keel_winlock_try_shared(&lock, 0));
    ck_assert(!keel_winlock_try(&lock, 3, 1));
    ck_assert(!keel_winlock_try_shared(&lock, 0));
    ck_assert(keel_winlock_try_shared(&lock, 1));
    keel_winlock_release_shared(&lock);
    keel_winlock_release_shared(&lock);
    ck_assert(!keel_winlock_try_shared(&lock, 0));
    ck_assert(keel_winlock_try(&lock, 3, 1));
    ck_assert(!keel_winlock_try(&lock, 4, 1)); /* wishes again */
    keel_winlock_release(&lock, 3);
    ck_assert(!keel_winlock_try_shared(&lock, 0));
    ck_assert(keel_winlock_try(&lock, 5, 0)); /* takes the wish back */
    keel_winlock_release(&lock, 5);
    ck_assert_uint_eq(lock, 0);
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
            while (!keel_winlock_try(&shared->lock, racer->rank, 1)) {
                sched_yield();
            }
            ((volatile uint64_t *)shared->pair)[0]++;
            ((volatile uint64_t *)shared->pair)[1]++;
            keel_winlock_release(&shared->lock, racer->rank);
        } else {
            while (!keel_winlock_try_shared(&shared->lock, 0)) {
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
    ck_assert_uint_eq(shared.lock, 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {shared_and_exclusive_keep_each_other_out,
                                  who_wishes_goes_ahead_of_newcomers_but_not_of_those_that_have_waited,
                                  threads_that_lock_see_whole_pairs, NULL};

    return unit_run("winlock_word", tests);
}
