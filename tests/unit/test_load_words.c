/* Copies of memory that others write: all places and lengths, and words as a whole. */
#include "rma/get_own.h"

#include "unit.h"

#include <pthread.h>
#include <string.h>

enum { SHORT = 200, LONG = 5000, PLACES = 34, ROUNDS = 2000, WORDS = 700 };

static void check_copy(const char *from, size_t place, size_t length, size_t shift)
{
    char to[LONG + PLACES + 16];
    int is_kept = 1;

    memset(to, 0x5a, sizeof(to));
    keel_load_words(to + shift, from + place, length);
    ck_assert_mem_eq(to + shift, from + place, length);
    for (size_t i = 0; i < sizeof(to); i++) {
        is_kept &= to[i] == 0x5a || (i >= shift && i < shift + length);
    }
    ck_assert(is_kept);
}

START_TEST(bytes_of_every_place_and_length_are_copied)
{
    static _Alignas(64) char from[LONG + 2 * PLACES];
    uint64_t random = unit_seed();

    for (size_t i = 0; i < sizeof(from); i++) {
        from[i] = (char)(unit_random(&random) % 64); /* never 0x5a */
    }
    for (size_t place = 0; place < PLACES; place++) {
        for (size_t length = 0; length < SHORT; length++) {
            check_copy(from, place, length, length % 9);
        }
        for (unsigned i = 0; i < SHORT; i++) {
            check_copy(from, place, unit_random(&random) % LONG, unit_random(&random) % 9);
        }
    }
}
END_TEST

static _Alignas(64) uint64_t words[WORDS];
static int is_over;

/* Writes words with two equal halves. */
static void *write_words(void *arg)
{
    uint64_t half = 0;

    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
        half = (half + 1) & UINT32_MAX;
        for (unsigned i = 0; i < WORDS; i++) {
            __atomic_store_n(&words[i], half << 32 | half, __ATOMIC_RELAXED);
        }
    }
    return arg;
}

START_TEST(words_are_loaded_as_a_whole)
{
    char copies[WORDS * sizeof(uint64_t) + 8] __attribute__((aligned(8)));
    unsigned torn = 0;
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, write_words, NULL), 0);
    for (unsigned i = 0; i < ROUNDS; i++) {
        const size_t first = i % 8, count = (i % 3 == 0) ? 20 : WORDS - first;

        char *to = copies + i % 5; /* also to places that are not aligned */

        keel_load_words(to, (const char *)&words[first], count * sizeof(words[0]));
        for (size_t j = 0; j < count; j++) {
            uint64_t copy;

            memcpy(&copy, to + j * sizeof(copy), sizeof(copy));
            torn += (copy >> 32) != (copy & UINT32_MAX);
        }
    }
    __atomic_store_n(&is_over, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    ck_assert_uint_eq(torn, 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {bytes_of_every_place_and_length_are_copied, words_are_loaded_as_a_whole, NULL};

    return unit_run("load_words", tests);
}
