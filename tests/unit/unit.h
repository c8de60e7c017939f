/*
 * Shared by unit tests: the main loop over a list of Check tests, and random numbers with a printed
 * seed.
 */
#ifndef KEEL_TESTS_UNIT_H_
#define KEEL_TESTS_UNIT_H_

#include "unit_rounds.h"

#include <check.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* ctest has the only limit: a second limit, in seconds of a clock, fails on a busy machine. */
#define UNIT_TIMEOUT_S 0

/* @a tests ends with NULL; main() returns the result. */
static inline int unit_run(const char *name, const TTest *const *tests)
{
    Suite *suite = suite_create(name);
    TCase *tcase = tcase_create(name);
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_set_timeout(tcase, UNIT_TIMEOUT_S);
    for (; *tests != NULL; tests++) {
        tcase_add_test(tcase, *tests);
    }
    suite_add_tcase(suite, tcase);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return (failed == 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* splitmix64 */
static inline uint64_t unit_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15ull);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

/* Returns KEELTEST_SEED, or else a fixed seed, because a fresh seed may find an old flaw
 * (contrib/check --long draws fresh ones). The seed is printed, so that a failure can be
 * repeated. */
static inline uint64_t unit_seed(void)
{
    const char *given = getenv("KEELTEST_SEED");
    const uint64_t seed = (given != NULL) ? strtoull(given, NULL, 0) : 1;

    printf("KEELTEST_SEED=%llu\n", (unsigned long long)seed);
    fflush(stdout);
    return seed;
}

#endif
