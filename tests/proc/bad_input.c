/*
 * Every public call with wrong arguments, in a job of two ranks or more: each call returns the
 * status for the error, no state is damaged, and the job goes on. Prints a line for each unexpected
 * status. By default tests the arguments of calls open to any program; `locks`, `gsync` and
 * `waits`: calls forbidden to programs of that style, and when; `rollback`: a job without images;
 * `stale`: windows allocated again after a rollback.
 */
#include <keel/keel.h>

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { WINDOW = 64 };

static int failures;
static unsigned refused; /* number of calls */

static void expect(const char *call, int line, keel_status_t expected, keel_status_t got)
{
    refused += (expected != KEEL_OK);
    if (got != expected) {
        printf("bad_input: line %d: %s: '%s', expected '%s'\n", line, call, keel_status_string(got),
               keel_status_string(expected));
        failures++;
    }
}

#define EXPECT(_expected, _call) expect(#_call, __LINE__, _expected, _call)

static void check_init(void)
{
    keel_params_t params = {.field_mask = KEEL_BIT(40)};
    keel_context_h ctx = NULL;

    EXPECT(KEEL_ERR_INVALID_PARAM, keel_init(NULL, NULL));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_init(&params, &ctx));
    params = (keel_params_t){.field_mask = KEEL_PARAM_FIELD_FLAGS, .flags = KEEL_BIT(63)};
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_init(&params, &ctx));
    params = (keel_params_t){.field_mask = KEEL_BIT(2)};
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_init(&params, &ctx));
    params = (keel_params_t){.field_mask = KEEL_PARAM_FIELD_ENV, .env = (const char *const[]){"KEEL_LANES", NULL}};
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_init(&params, &ctx));
    params.env = (const char *const[]){"KEEL_SPIN=1us", "=direct", NULL};
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_init(&params, &ctx));
}

static void check_null_handles(void)
{
    keel_stats_t stats;
    keel_win_h win;
    uint64_t word = 0;
    keel_req_h req;

    EXPECT(KEEL_ERR_INVALID_PARAM, keel_finalize(NULL));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_restore(NULL));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_progress(NULL));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_alloc(NULL, WINDOW, NULL, &win));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_free(NULL));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_protect(NULL, 0, &word, sizeof word));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_put(NULL, 0, 0, &word, sizeof word));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_put_nbx(NULL, 0, 0, &word, sizeof word, NULL, &req));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_get(NULL, 0, 0, &word, sizeof word));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_get_nbx(NULL, 0, 0, &word, sizeof word, NULL, &req));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_atomic(NULL, KEEL_ATOMIC_ADD, 0, 0, 8, 1, 0, NULL));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_atomic_nbx(NULL, KEEL_ATOMIC_ADD, 0, 0, 8, 1, 0, NULL, NULL, &req));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_req_test(NULL));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_req_wait(NULL));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_flush(NULL, 0));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_flush_all(NULL));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_fence(NULL));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_gsync(NULL, 0));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_checkpoint(NULL));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_lock(NULL, 0));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_unlock(NULL, 0));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_lock_all(NULL));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_unlock_all(NULL));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_wait_until(NULL, 0, 8, KEEL_COMPARE_EQ, 0));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_rollback(NULL));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_stats(NULL, &stats, sizeof(stats)));
    keel_req_free(NULL);
    KEEL_RESTART_POINT(NULL); /* accepted, without an effect */
    refused++;
    keel_restart_clear(NULL);
    failures += keel_restarted(NULL) != 0 || keel_win_base(NULL) != NULL || keel_win_size(NULL, 0) != 0 ||
                keel_rank(NULL) != UINT32_MAX || keel_size(NULL) != 0 || keel_incarnation(NULL) != 0;
    failures +=
        strlen(keel_status_string((keel_status_t)-1000)) == 0 || strlen(keel_status_string((keel_status_t)99)) == 0;
}

static void check_context(keel_context_h ctx)
{
    keel_win_params_t params = {.field_mask = KEEL_BIT(7)};
    keel_win_h win = NULL;
    uint64_t word = 0;

    EXPECT(KEEL_ERR_STATE, keel_restore(ctx)); /* no image is to be restored */
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_stats(ctx, NULL, sizeof(keel_stats_t)));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_gsync(ctx, 1u << 31));
    EXPECT(KEEL_ERR_RANK, keel_flush(ctx, keel_size(ctx)));
    EXPECT(KEEL_ERR_RANK, keel_flush(ctx, UINT32_MAX));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_alloc(ctx, WINDOW, NULL, NULL));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_alloc(ctx, WINDOW, &params, &win));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_alloc(ctx, SIZE_MAX, NULL, &win));
    params = (keel_win_params_t){.field_mask = KEEL_WIN_PARAM_FIELD_ADDRESS, .address = &word};
    EXPECT(KEEL_ERR_ALIGNMENT, keel_win_alloc(ctx, WINDOW, &params, &win));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_create(ctx, &word, sizeof word, &params, &win));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_create(ctx, NULL, sizeof word, NULL, &win));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_create(ctx, &word, sizeof word, NULL, NULL));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_create(NULL, &word, sizeof word, NULL, &win));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_protect(ctx, 0, NULL, sizeof word));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_protect(ctx, 0, &word, 0));
}

/* A program compiled with an older keel.h has a smaller struct, with a newer keel.h a larger one.
 * Neither is overrun, the counters known to both are set, and unknown fields are 0. */
static void check_stats(keel_context_h ctx)
{
    const size_t calls = offsetof(keel_stats_t, put_bytes);
    struct {
        keel_stats_t now;
        uint64_t beyond[4];
    } stats;
    const uint8_t *bytes = (const uint8_t *)&stats;
    keel_stats_t whole;

    EXPECT(KEEL_ERR_INVALID_PARAM, keel_stats(ctx, &stats.now, 0));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_stats(ctx, &stats.now, calls + 4));
    EXPECT(KEEL_OK, keel_stats(ctx, &whole, sizeof(whole)));
    failures += whole.gsyncs == 0 || whole.puts == 0;
    for (size_t size = sizeof(uint64_t); size <= sizeof(stats); size += sizeof(uint64_t)) {
        memset(&stats, 0xa5, sizeof(stats));
        EXPECT(KEEL_OK, keel_stats(ctx, &stats.now, size));
        failures += memcmp(&stats, &whole, size < calls ? size : calls) != 0;
        for (size_t i = sizeof(whole); i < sizeof(stats); i++) {
            failures += bytes[i] != (i < size ? 0 : 0xa5);
        }
        for (size_t i = size; i < sizeof(whole); i++) {
            failures += bytes[i] != 0xa5;
        }
    }
}

/* Checks ranges of a window with twice as many bytes at odd ranks. */
static void check_range(keel_context_h ctx, keel_win_h win)
{
    const uint32_t other = (keel_rank(ctx) + 1) % keel_size(ctx);
    const size_t size = keel_win_size(win, other);
    uint8_t bytes[4 * WINDOW] = {0};

    for (uint32_t rank = 0; rank < 2; rank++) { /* the own rank, too */
        const size_t end = keel_win_size(win, rank);

        EXPECT(KEEL_ERR_RANGE, keel_put(win, rank, end, bytes, 1));
        EXPECT(KEEL_ERR_RANGE, keel_put(win, rank, 0, bytes, end + 1));
        EXPECT(KEEL_ERR_RANGE, keel_put(win, rank, end - 1, bytes, 2));
        EXPECT(KEEL_ERR_RANGE, keel_put(win, rank, UINT64_MAX, bytes, 1));
        EXPECT(KEEL_ERR_RANGE, keel_put(win, rank, 1, bytes, SIZE_MAX));
        EXPECT(KEEL_ERR_RANGE, keel_get(win, rank, end - 1, bytes, 2));
        EXPECT(KEEL_ERR_RANGE, keel_get(win, rank, UINT64_MAX - 1, bytes, 4));
        EXPECT(KEEL_ERR_RANGE, keel_atomic(win, KEEL_ATOMIC_ADD, rank, end, 8, 1, 0, NULL));
        EXPECT(KEEL_OK, keel_put(win, rank, end, bytes, 0)); /* zero bytes at the very end */
        EXPECT(KEEL_OK, keel_get(win, rank, end, bytes, 0));
    }
    failures += keel_win_size(win, keel_size(ctx)) != 0 || size != (other % 2 + 1) * (size_t)WINDOW;
}

static void check_extents(keel_win_h win, size_t size)
{
    const keel_extent_t right[2] = {{0, 8}, {8, size - 8}}, apart[2] = {{8, 8}, {0, 8}}, over[2] = {{0, 9}, {8, 8}};
    const keel_extent_t empty = {4, 0}, beyond = {0, size + 1}, outside = {size + 1, 1}, wraps = {UINT64_MAX, 2};

    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_extents(NULL, right, 2));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_extents(win, NULL, 1));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_extents(win, apart, 2));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_extents(win, over, 2));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_extents(win, &empty, 1));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_extents(win, &beyond, 1));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_extents(win, &outside, 1));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_extents(win, &wraps, 1));
    EXPECT(KEEL_OK, keel_win_extents(win, NULL, 0));
    EXPECT(KEEL_OK, keel_win_extents(win, right, 2));
}

static void check_access(keel_context_h ctx, keel_win_h win)
{
    const uint32_t other = (keel_rank(ctx) + 1) % keel_size(ctx), none = keel_size(ctx);
    const keel_rma_params_t params = {.field_mask = KEEL_BIT(9)};
    uint64_t word = 0;
    keel_req_h req = NULL;

    EXPECT(KEEL_ERR_RANK, keel_put(win, none, 0, &word, sizeof word));
    EXPECT(KEEL_ERR_RANK, keel_get(win, none, 0, &word, sizeof word));
    EXPECT(KEEL_ERR_RANK, keel_atomic(win, KEEL_ATOMIC_ADD, UINT32_MAX, 0, 8, 1, 0, &word));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_put(win, other, 0, NULL, sizeof word));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_get(win, other, 0, NULL, sizeof word));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_put_nbx(win, other, 0, &word, sizeof word, &params, &req));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_get_nbx(win, other, 0, &word, sizeof word, &params, &req));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_atomic_nbx(win, KEEL_ATOMIC_ADD, other, 0, 8, 1, 0, &word, &params, &req));
    EXPECT(KEEL_ERR_ALIGNMENT, keel_atomic(win, KEEL_ATOMIC_ADD, other, 4, 8, 1, 0, &word));
    EXPECT(KEEL_ERR_ALIGNMENT, keel_atomic(win, KEEL_ATOMIC_ADD, keel_rank(ctx), 2, 4, 1, 0, &word));
    EXPECT(KEEL_ERR_UNSUPPORTED, keel_atomic(win, KEEL_ATOMIC_ADD, other, 0, 3, 1, 0, &word));
    EXPECT(KEEL_ERR_UNSUPPORTED, keel_atomic(win, KEEL_ATOMIC_ADD, other, 0, 0, 1, 0, &word));
    EXPECT(KEEL_ERR_UNSUPPORTED, keel_atomic(win, KEEL_ATOMIC_ADD, other, 0, 16, 1, 0, &word));
    EXPECT(KEEL_ERR_UNSUPPORTED, keel_atomic(win, KEEL_ATOMIC_LAST, other, 0, 8, 1, 0, &word));
    EXPECT(KEEL_ERR_UNSUPPORTED, keel_atomic(win, (keel_atomic_op_t)-1, other, 0, 8, 1, 0, &word));
}

/* Rejected calls have left no trace, and correct calls still work. */
static keel_status_t check_unharmed(keel_context_h ctx, keel_win_h win)
{
    const uint32_t rank = keel_rank(ctx), size = keel_size(ctx), right = (rank + 1) % size;
    const uint64_t *own = keel_win_base(win), said = 1000 + rank;
    uint64_t got = 0;
    keel_stats_t stats;

    for (size_t i = 0; i < keel_win_size(win, rank) / sizeof *own; i++) {
        failures += own[i] != 0;
    }
    EXPECT(KEEL_OK, keel_gsync(ctx, 0));
    EXPECT(KEEL_OK, keel_put(win, right, 8, &said, sizeof said));
    EXPECT(KEEL_OK, keel_gsync(ctx, 0));
    failures += own[1] != 1000 + (rank + size - 1) % size;
    EXPECT(KEEL_OK, keel_get(win, right, 8, &got, sizeof got));
    failures += got != said;
    EXPECT(KEEL_OK, keel_stats(ctx, &stats, sizeof(stats)));
    failures += stats.atomics != 0 || stats.deaths != 0 || stats.log_overflows != 0;
    check_stats(ctx);
    return keel_checkpoint(ctx);
}

/* ---- programs of one style ---- */

static keel_win_h begin(keel_context_h ctx)
{
    keel_win_h win = NULL;

    EXPECT(KEEL_OK, keel_win_alloc(ctx, WINDOW, NULL, &win));
    return win;
}

/* Each rank writes a word of its right neighbour in a critical section; the owner checks the
 * writer. */
static void check_sections(keel_context_h ctx, keel_win_h win)
{
    const uint32_t rank = keel_rank(ctx), size = keel_size(ctx), right = (rank + 1) % size;
    const uint64_t *own = keel_win_base(win), said = 1000 + rank;

    EXPECT(KEEL_OK, keel_checkpoint(ctx));
    EXPECT(KEEL_OK, keel_lock(ctx, right));
    EXPECT(KEEL_OK, keel_put(win, right, 8, &said, sizeof said));
    EXPECT(KEEL_OK, keel_unlock(ctx, right));
    EXPECT(KEEL_OK, keel_checkpoint(ctx));
    EXPECT(KEEL_OK, keel_lock(ctx, rank));
    failures += own[0] != 0 || own[1] != 1000 + (rank + size - 1) % size;
    EXPECT(KEEL_OK, keel_unlock(ctx, rank));
}

static void check_locked(keel_context_h ctx, uint32_t locked)
{
    const uint32_t other = (locked + 1) % keel_size(ctx);

    EXPECT(KEEL_OK, keel_lock(ctx, locked));
    EXPECT(KEEL_ERR_STATE, keel_lock(ctx, locked));
    EXPECT(KEEL_ERR_STATE, keel_lock_all(ctx));
    EXPECT(KEEL_ERR_STATE, keel_unlock_all(ctx));
    EXPECT(KEEL_ERR_STATE, keel_unlock(ctx, other));
    EXPECT(KEEL_ERR_STATE, keel_finalize(ctx));
    EXPECT(KEEL_OK, keel_unlock(ctx, locked));
    EXPECT(KEEL_ERR_STATE, keel_unlock(ctx, locked));
}

static void check_reading(keel_context_h ctx, keel_win_h win)
{
    const uint32_t other = (keel_rank(ctx) + 1) % keel_size(ctx);
    uint64_t word = 5;

    EXPECT(KEEL_OK, keel_lock_all(ctx));
    EXPECT(KEEL_ERR_STATE, keel_lock_all(ctx));
    EXPECT(KEEL_ERR_STATE, keel_lock(ctx, other));
    EXPECT(KEEL_ERR_STATE, keel_unlock(ctx, other));
    EXPECT(KEEL_ERR_STATE, keel_finalize(ctx));
    EXPECT(KEEL_OK, keel_get(win, other, 0, &word, sizeof word));
    EXPECT(KEEL_OK, keel_unlock_all(ctx));
    EXPECT(KEEL_ERR_STATE, keel_unlock_all(ctx));
    failures += word != 0;
}

static void check_locks(keel_context_h ctx)
{
    keel_win_h win = begin(ctx), made = NULL;
    const uint32_t rank = keel_rank(ctx);

    EXPECT(KEEL_ERR_STATE, keel_unlock(ctx, rank));
    EXPECT(KEEL_ERR_STATE, keel_unlock(ctx, keel_size(ctx)));
    EXPECT(KEEL_ERR_STATE, keel_unlock_all(ctx));
    EXPECT(KEEL_ERR_RANK, keel_lock(ctx, keel_size(ctx)));
    EXPECT(KEEL_ERR_RANK, keel_lock(ctx, UINT32_MAX));
    check_locked(ctx, rank);
    check_locked(ctx, (rank + 1) % keel_size(ctx));
    check_reading(ctx, win);
    check_sections(ctx, win);
    EXPECT(KEEL_OK, keel_gsync(ctx, 0));
    /* from here on the program mixes */
    EXPECT(KEEL_OK, keel_wait_until(win, 0, 8, KEEL_COMPARE_EQ, 0));
    EXPECT(KEEL_OK, keel_lock(ctx, rank));
    EXPECT(KEEL_OK, keel_win_alloc(ctx, WINDOW, NULL, &made));
    EXPECT(KEEL_OK, keel_win_free(made));
    EXPECT(KEEL_OK, keel_unlock(ctx, rank));
}

/* Checks calls after an access without a lock, in any earlier phase. */
static void check_unlocked(keel_context_h ctx)
{
    keel_win_h win = begin(ctx);
    const uint32_t rank = keel_rank(ctx);
    const uint64_t word = 0;

    EXPECT(KEEL_OK, keel_put(win, rank, 0, &word, sizeof word));
    EXPECT(KEEL_OK, keel_lock(ctx, rank)); /* from here on the program mixes */
    EXPECT(KEEL_OK, keel_put(win, 1 - rank, 0, &word, sizeof word));
    EXPECT(KEEL_OK, keel_unlock(ctx, rank));
    EXPECT(KEEL_OK, keel_checkpoint(ctx));
    EXPECT(KEEL_OK, keel_lock_all(ctx));
    EXPECT(KEEL_OK, keel_put(win, 1 - rank, 0, &word, sizeof word));
    EXPECT(KEEL_OK, keel_gsync(ctx, KEEL_GSYNC_SAFE));
    EXPECT(KEEL_OK, keel_checkpoint(ctx));
    EXPECT(KEEL_OK, keel_unlock_all(ctx));
}

static void check_gsync(keel_context_h ctx)
{
    keel_win_h win = begin(ctx);
    uint64_t word = 0;

    EXPECT(KEEL_OK, keel_put(win, 1, 0, &word, sizeof word));
    EXPECT(KEEL_OK, keel_gsync(ctx, 0));
    EXPECT(KEEL_OK, keel_lock(ctx, keel_rank(ctx))); /* from here on the program mixes */
    EXPECT(KEEL_OK, keel_unlock(ctx, keel_rank(ctx)));
    EXPECT(KEEL_ERR_STATE, keel_unlock(ctx, keel_rank(ctx)));
    EXPECT(KEEL_ERR_STATE, keel_unlock_all(ctx));
    EXPECT(KEEL_OK, check_unharmed(ctx, win));
}

static void check_wait_arguments(keel_context_h ctx, keel_win_h win)
{
    EXPECT(KEEL_ERR_UNSUPPORTED, keel_wait_until(win, 0, 0, KEEL_COMPARE_EQ, 0));
    EXPECT(KEEL_ERR_UNSUPPORTED, keel_wait_until(win, 0, 3, KEEL_COMPARE_EQ, 0));
    EXPECT(KEEL_ERR_UNSUPPORTED, keel_wait_until(win, 0, 16, KEEL_COMPARE_EQ, 0));
    EXPECT(KEEL_ERR_UNSUPPORTED, keel_wait_until(win, 0, SIZE_MAX, KEEL_COMPARE_EQ, 0));
    EXPECT(KEEL_ERR_UNSUPPORTED, keel_wait_until(win, 0, 8, KEEL_COMPARE_LAST, 0));
    EXPECT(KEEL_ERR_UNSUPPORTED, keel_wait_until(win, 0, 8, (keel_compare_t)-1, 0));
    EXPECT(KEEL_ERR_ALIGNMENT, keel_wait_until(win, 4, 8, KEEL_COMPARE_EQ, 0));
    EXPECT(KEEL_ERR_ALIGNMENT, keel_wait_until(win, 1, 2, KEEL_COMPARE_EQ, 0));
    EXPECT(KEEL_ERR_ALIGNMENT, keel_wait_until(win, 2, 4, KEEL_COMPARE_EQ, 0));
    EXPECT(KEEL_ERR_ALIGNMENT, keel_wait_until(win, UINT64_MAX, 8, KEEL_COMPARE_EQ, 0));
    EXPECT(KEEL_ERR_RANGE, keel_wait_until(win, WINDOW, 4, KEEL_COMPARE_EQ, 0));
    EXPECT(KEEL_ERR_RANGE, keel_wait_until(win, WINDOW, 8, KEEL_COMPARE_EQ, 0));
    EXPECT(KEEL_ERR_RANGE, keel_wait_until(win, UINT64_MAX - 7, 8, KEEL_COMPARE_EQ, 0));
}

static void check_word(keel_context_h ctx, keel_status_t status, keel_word_t word)
{
    unsigned met = 77;

    EXPECT(status, keel_wait(ctx, KEEL_WAIT_ALL, &word, 1, &met));
    EXPECT(status, keel_test(ctx, KEEL_WAIT_ANY, &word, 1, &met));
}

static void check_words(keel_context_h ctx, keel_win_h win, keel_win_h gone)
{
    keel_word_t words[2] = {{.win = win, .size = 8}, {.win = win, .size = 8, .value = 1}};
    unsigned met = 77;

    EXPECT(KEEL_ERR_INVALID_PARAM, keel_wait(NULL, KEEL_WAIT_ALL, words, 2, NULL));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_test(NULL, KEEL_WAIT_ALL, words, 2, NULL));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_wait(ctx, KEEL_WAIT_ALL, NULL, 1, NULL));
    EXPECT(KEEL_ERR_UNSUPPORTED, keel_wait(ctx, KEEL_WAIT_LAST, words, 2, NULL));
    EXPECT(KEEL_ERR_UNSUPPORTED, keel_test(ctx, (keel_wait_for_t)-1, words, 2, NULL));
    check_word(ctx, KEEL_ERR_UNSUPPORTED, (keel_word_t){.win = win});
    check_word(ctx, KEEL_ERR_UNSUPPORTED, (keel_word_t){.win = win, .size = 3});
    check_word(ctx, KEEL_ERR_UNSUPPORTED, (keel_word_t){.win = win, .size = 8, .compare = KEEL_COMPARE_LAST});
    check_word(ctx, KEEL_ERR_ALIGNMENT, (keel_word_t){.win = win, .size = 2, .offset = 1});
    check_word(ctx, KEEL_ERR_RANGE, (keel_word_t){.win = win, .size = 8, .offset = WINDOW});
    check_word(ctx, KEEL_ERR_RANGE, (keel_word_t){.win = win, .size = 8, .offset = UINT64_MAX - 7});
    check_word(ctx, KEEL_ERR_INVALID_PARAM, (keel_word_t){.win = gone, .size = 8});
    check_word(ctx, KEEL_OK, (keel_word_t){.win = NULL}); /* left out */
    check_word(ctx, KEEL_OK, (keel_word_t){.win = win, .size = 8});
    EXPECT(KEEL_OK, keel_wait(ctx, KEEL_WAIT_ALL, NULL, 0, NULL));
    EXPECT(KEEL_OK, keel_test(ctx, KEEL_WAIT_ANY, NULL, 0, &met));
    EXPECT(KEEL_OK, (met == 0) ? KEEL_OK : KEEL_ERR_CORRUPT);
    EXPECT(KEEL_OK, (keel_test(ctx, KEEL_WAIT_ALL, words, 2, &met) == KEEL_INPROGRESS) ? KEEL_OK : KEEL_ERR_CORRUPT);
    EXPECT(KEEL_OK, (met == 1) ? KEEL_OK : KEEL_ERR_CORRUPT);
    EXPECT(KEEL_OK, keel_wait(ctx, KEEL_WAIT_ANY, words, 2, &met));
    EXPECT(KEEL_OK, (met == 1 && words[0].is_met && !words[1].is_met) ? KEEL_OK : KEEL_ERR_CORRUPT);
}

static void check_waits(keel_context_h ctx)
{
    const uint32_t right = (keel_rank(ctx) + 1) % keel_size(ctx);
    const uint64_t said = 7;
    uint64_t word = 1;
    keel_win_h win = begin(ctx), gone = begin(ctx);

    check_wait_arguments(ctx, win);
    EXPECT(KEEL_OK, keel_win_free(gone));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_wait_until(gone, 0, 8, KEEL_COMPARE_EQ, 0));
    /* true: no rank has put to this word */
    EXPECT(KEEL_OK, keel_wait_until(win, 0, 8, KEEL_COMPARE_EQ, 0));
    /* from here on the program mixes */
    EXPECT(KEEL_OK, keel_lock_all(ctx));
    EXPECT(KEEL_OK, keel_unlock_all(ctx));
    check_words(ctx, win, gone);
    EXPECT(KEEL_ERR_STATE, keel_unlock(ctx, keel_rank(ctx)));
    EXPECT(KEEL_OK, keel_put(win, right, WINDOW - 8, &said, sizeof said));
    EXPECT(KEEL_OK, keel_flush(ctx, right));
    EXPECT(KEEL_OK, keel_wait_until(win, WINDOW - 8, 4, KEEL_COMPARE_GT, 6));
    EXPECT(KEEL_OK, keel_wait_until(win, WINDOW - 8, 8, KEEL_COMPARE_LE, 7));
    EXPECT(KEEL_OK, keel_gsync(ctx, 0));
    EXPECT(KEEL_OK, keel_get(win, right, WINDOW - 8, &word, sizeof word));
    EXPECT(KEEL_OK, keel_gsync(ctx, 0));
    failures += word != said;
}

/* With KEEL_PROTECT=none a rollback is refused, and the job goes on. */
static void check_rollback(keel_context_h ctx)
{
    keel_win_h win = begin(ctx);

    EXPECT(KEEL_ERR_STATE, keel_rollback(ctx));
    failures += keel_restarted(ctx) != 0;
    EXPECT(KEEL_OK, check_unharmed(ctx, win));
    EXPECT(KEEL_ERR_STATE, keel_rollback(ctx));
}

/* Windows are always part of images and cannot be protected. */
static void check_protect(keel_context_h ctx, keel_win_h win)
{
    char *base = keel_win_base(win);
    const size_t size = keel_win_size(win, keel_rank(ctx));

    EXPECT(KEEL_ERR_INVALID_PARAM, keel_protect(ctx, 6, base, size));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_protect(ctx, 6, base + size - 1, 1));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_protect(ctx, 6, base - 8, 9));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_protect(ctx, 6, base - 8, size + 16));
}

/* A window freed by a rollback, then allocated again together with a second window: the old handle
 * is valid for neither. */
static void check_stale(keel_context_h ctx)
{
    keel_win_h win = begin(ctx), old = NULL, first = NULL, second = NULL;
    const uint32_t other = (keel_rank(ctx) + 1) % keel_size(ctx);
    uint64_t word = 7;
    keel_status_t status;

    EXPECT(KEEL_OK, keel_checkpoint(ctx));
    EXPECT(KEEL_OK, keel_win_alloc(ctx, 2 * WINDOW, NULL, &old));
    EXPECT(KEEL_OK, keel_put(old, other, 0, &word, sizeof word));
    status = keel_gsync(ctx, 0); /* the other rank may request the rollback meanwhile */
    if (status == KEEL_OK) {
        status = keel_rollback(ctx);
    }
    failures += status != KEEL_ERR_ROLLED_BACK;
    EXPECT(KEEL_OK, keel_restore(ctx));
    for (unsigned i = 0; i < 2; i++) {
        EXPECT(KEEL_ERR_INVALID_PARAM, keel_put(old, other, 0, &word, sizeof word));
        EXPECT(KEEL_ERR_INVALID_PARAM, keel_get(old, other, 0, &word, sizeof word));
        EXPECT(KEEL_ERR_INVALID_PARAM, keel_atomic(old, KEEL_ATOMIC_ADD, other, 0, 8, 1, 0, &word));
        EXPECT(KEEL_ERR_INVALID_PARAM, keel_wait_until(old, 0, 8, KEEL_COMPARE_EQ, 7));
        EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_free(old));
        failures += keel_win_size(old, other) != 0 || keel_win_base(old) != NULL;
        if (i == 0) {
            EXPECT(KEEL_OK, keel_win_alloc(ctx, 2 * WINDOW, NULL, &first));
            EXPECT(KEEL_OK, keel_win_alloc(ctx, WINDOW, NULL, &second));
        }
    }
    EXPECT(KEEL_OK, keel_put(first, other, 8, &word, sizeof word));
    EXPECT(KEEL_OK, keel_gsync(ctx, 0));
    failures += ((uint64_t *)keel_win_base(first))[1] != 7 || ((uint64_t *)keel_win_base(first))[0] != 0;
    failures += keel_win_size(win, other) != WINDOW || keel_win_size(second, other) != WINDOW;
}

static void check_arguments(keel_context_h ctx)
{
    keel_win_h win, gone;
    uint64_t word = 0, kept = 0;

    check_context(ctx);
    EXPECT(KEEL_OK, keel_win_alloc(ctx, (keel_rank(ctx) % 2 + 1) * WINDOW, NULL, &win));
    EXPECT(KEEL_OK, keel_protect(ctx, 5, &kept, sizeof kept));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_protect(ctx, 5, &word, sizeof word)); /* number in use */
    check_range(ctx, win);
    check_access(ctx, win);
    check_extents(win, keel_win_size(win, keel_rank(ctx)));
    EXPECT(KEEL_OK, check_unharmed(ctx, win));
    check_protect(ctx, win);
    EXPECT(KEEL_OK, keel_win_alloc(ctx, WINDOW, NULL, &gone));
    EXPECT(KEEL_OK, keel_win_free(gone));
    failures += keel_win_size(gone, keel_rank(ctx)) != 0 || keel_win_base(gone) != NULL;
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_free(gone));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_put(gone, 0, 0, &word, sizeof word));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_get(gone, 0, 0, &word, sizeof word));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_atomic(gone, KEEL_ATOMIC_ADD, 0, 0, 8, 1, 0, &word));
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*check)(keel_context_h ctx);
    } modes[] = {{"arguments", check_arguments}, {"locks", check_locks}, {"unlocked", check_unlocked},
                 {"gsync", check_gsync},         {"waits", check_waits}, {"rollback", check_rollback},
                 {"stale", check_stale}};
    const char *mode = (argc > 1) ? argv[1] : "arguments";
    unsigned m = 0;
    keel_context_h ctx;
    uint32_t rank;

    while (m < sizeof modes / sizeof *modes && strcmp(modes[m].name, mode) != 0) {
        m++;
    }
    if (m == sizeof modes / sizeof *modes) {
        return 2;
    }
    check_init();
    check_null_handles();
    if (keel_init(NULL, &ctx) != KEEL_OK) {
        return 3;
    }
    rank = keel_rank(ctx);
    modes[m].check(ctx);
    EXPECT(KEEL_OK, keel_finalize(ctx));
    if (failures == 0) {
        printf("bad_input: rank %u: all refused\n", rank);
        printf("bad_input: %u calls\n", refused);
    }
    return failures > 0;
}
