/*
 * A thread that writes the source of a copy, so that a copy that reads a word twice gets two
 * values.
 */
#ifndef KEEL_TEST_RACER_H_
#define KEEL_TEST_RACER_H_

#include "unit.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

typedef struct racer {
    volatile uint64_t *words;
    size_t count;
    int is_over;
    pthread_t thread;
} racer_t;

static void *racer_run(void *arg)
{
    racer_t *racer = arg;

    for (uint64_t i = 0; !__atomic_load_n(&racer->is_over, __ATOMIC_RELAXED); i++) {
        racer->words[i % racer->count] = i;
    }
    return NULL;
}

static inline void racer_begin(racer_t *racer, uint64_t *words, size_t count)
{
    *racer = (racer_t){.words = words, .count = count};
    ck_assert_int_eq(pthread_create(&racer->thread, NULL, racer_run, racer), 0);
}

static inline void racer_end(racer_t *racer)
{
    __atomic_store_n(&racer->is_over, 1, __ATOMIC_RELAXED);
    ck_assert_int_eq(pthread_join(racer->thread, NULL), 0);
}

#endif
