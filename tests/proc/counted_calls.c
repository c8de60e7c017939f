/*
 * Calls for a tool that counts instructions (counted_test.sh): rank 0 accesses a word of rank 1,
 * which waits in a gsync. Each function below has CALLS accesses, and is called ROUNDS times.
 */
#include <keel/keel.h>

#include <stdio.h>

enum { CALLS = 64, ROUNDS = 60, LONG = 1024 /* bytes of a long get */ };

static keel_context_h ctx;
static keel_win_h win;
static uint64_t word;
static keel_status_t failed;

#define ACCESS(_call)                                   \
    do {                                                \
        const keel_status_t status = (_call);           \
                                                        \
        failed = (failed == KEEL_OK) ? status : failed; \
    } while (0)

static __attribute__((noinline)) void put_and_flush(void)
{
    for (int i = 0; i < CALLS; i++) {
        ACCESS(keel_put(win, 1, 8, &word, sizeof(word)));
        ACCESS(keel_flush(ctx, 1));
    }
}

static __attribute__((noinline)) void put(void)
{
    for (int i = 0; i < CALLS; i++) {
        ACCESS(keel_put(win, 1, 8, &word, sizeof(word)));
    }
    ACCESS(keel_flush(ctx, 1));
}

static __attribute__((noinline)) void get(void)
{
    for (int i = 0; i < CALLS; i++) {
        ACCESS(keel_get(win, 1, 16, &word, sizeof(word)));
    }
    ACCESS(keel_flush(ctx, 1));
}

static __attribute__((noinline)) void long_get(void)
{
    static char data[LONG];

    for (int i = 0; i < CALLS; i++) {
        ACCESS(keel_get(win, 1, 1024, data, sizeof(data)));
    }
    ACCESS(keel_flush(ctx, 1));
}

static __attribute__((noinline)) void fetch_add(void)
{
    for (int i = 0; i < CALLS; i++) {
        ACCESS(keel_atomic(win, KEEL_ATOMIC_ADD, 1, 24, sizeof(word), 1, 0, &word));
    }
    ACCESS(keel_flush(ctx, 1));
}

int main(void)
{
    if (keel_init(NULL, &ctx) != KEEL_OK) {
        return 1;
    }
    ACCESS(keel_win_alloc(ctx, 4096, NULL, &win));
    ACCESS(keel_gsync(ctx, KEEL_GSYNC_SAFE));
    if (keel_rank(ctx) == 0) {
        for (int i = 0; i < ROUNDS; i++) {
            put_and_flush();
            put();
            get();
            if (i % 2 == 0) { /* the log of rank 1 has room for so many */
                long_get();
            }
            fetch_add();
        }
    }
    ACCESS(keel_gsync(ctx, KEEL_GSYNC_SAFE));
    if (keel_rank(ctx) == 1) {
        printf("counted_calls: %lu added, %s\n", (unsigned long)((uint64_t *)keel_win_base(win))[3],
               keel_status_string(failed));
    }
    ACCESS(keel_finalize(ctx));
    return failed != KEEL_OK;
}
