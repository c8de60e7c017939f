/*
 * Calls without log records, with wrong arguments, and with correct but unusual ones, in a job of
 * two ranks: each call returns the status for the error, and no state is damaged. Prints a line for
 * each unexpected status.
 */
#include <keel/keel.h>

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { WINDOW = 64 };

static int failures;
static unsigned refused; /* number of calls */

static void expect(const char *call, int line, keel_status_t expected, keel_status_t got)
{
    refused += (expected != KEEL_OK);
    if (got != expected) {
        printf("bad_unlogged: line %d: %s: '%s', expected '%s'\n", line, call, keel_status_string(got),
               keel_status_string(expected));
        failures++;
    }
}

#define EXPECT(_expected, _call) expect(#_call, __LINE__, _expected, _call)
/* Expects a condition instead of a status. */
#define HOLDS(_condition) expect(#_condition, __LINE__, KEEL_OK, (_condition) ? KEEL_OK : KEEL_ERR_CORRUPT)

/* Ranks 0 and 1 of the job. */
typedef struct {
    keel_context_h ctx;
    uint32_t rank, other, none;
    keel_win_h win, gone, empty; /* windows: of WINDOW bytes; freed; without bytes at rank 1 */
} job_t;

static void check_pointers(const job_t *job)
{
    void *at = NULL, *again = NULL;

    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_ptr(NULL, job->other, &at));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_ptr(job->win, job->other, NULL));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_ptr(job->gone, job->other, &at));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_ptr(job->gone, job->rank, &at));
    EXPECT(KEEL_ERR_RANK, keel_win_ptr(job->win, job->none, &at));
    EXPECT(KEEL_OK, keel_win_ptr(job->win, job->rank, &at));
    HOLDS(at == keel_win_base(job->win));
    EXPECT(KEEL_OK, keel_win_ptr(job->win, job->other, &at));
    EXPECT(KEEL_OK, keel_win_ptr(job->win, job->other, &again));
    HOLDS(at == again);
    EXPECT(KEEL_OK, keel_win_ptr(job->empty, 1, &at));
    HOLDS(at == NULL);
}

static void check_accumulates(const job_t *job)
{
    const uint64_t value = 5;
    uint64_t found[WINDOW] = {0};
    keel_rma_params_t params = {.field_mask = KEEL_BIT(9)};
    keel_req_h req;

    EXPECT(KEEL_ERR_INVALID_PARAM, keel_accumulate(NULL, KEEL_OP_SUM, KEEL_TYPE_INT8, job->other, 0, &value, 1, NULL));
    EXPECT(KEEL_ERR_INVALID_PARAM,
           keel_accumulate(job->gone, KEEL_OP_SUM, KEEL_TYPE_INT8, job->other, 0, &value, 1, NULL));
    for (uint32_t rank = 0; rank < 2; rank++) { /* the own rank, too */
        EXPECT(KEEL_ERR_INVALID_PARAM, keel_accumulate(job->win, KEEL_OP_SUM, KEEL_TYPE_INT64, rank, 0, NULL, 1, NULL));
        EXPECT(KEEL_ERR_INVALID_PARAM,
               keel_accumulate_nbx(job->win, KEEL_OP_SUM, KEEL_TYPE_INT64, rank, 0, &value, 1, NULL, &params, &req));
        EXPECT(KEEL_ERR_ALIGNMENT, keel_accumulate(job->win, KEEL_OP_SUM, KEEL_TYPE_INT64, rank, 4, &value, 1, NULL));
        EXPECT(KEEL_ERR_ALIGNMENT, keel_accumulate(job->win, KEEL_OP_MIN, KEEL_TYPE_FLOAT, rank, 2, &value, 1, found));
        EXPECT(KEEL_ERR_UNSUPPORTED,
               keel_accumulate(job->win, KEEL_OP_LAST, KEEL_TYPE_INT64, rank, 0, &value, 1, NULL));
        EXPECT(KEEL_ERR_UNSUPPORTED,
               keel_accumulate(job->win, (keel_op_t)-1, KEEL_TYPE_INT64, rank, 0, &value, 1, NULL));
        EXPECT(KEEL_ERR_UNSUPPORTED, keel_accumulate(job->win, KEEL_OP_SUM, KEEL_TYPE_LAST, rank, 0, &value, 1, NULL));
        EXPECT(KEEL_ERR_UNSUPPORTED, keel_accumulate(job->win, KEEL_OP_SUM, (keel_type_t)-1, rank, 0, &value, 1, NULL));
        EXPECT(KEEL_ERR_UNSUPPORTED,
               keel_accumulate(job->win, KEEL_OP_BXOR, KEEL_TYPE_DOUBLE, rank, 0, &value, 1, NULL));
        EXPECT(KEEL_ERR_UNSUPPORTED, keel_accumulate(job->win, KEEL_OP_LOR, KEEL_TYPE_FLOAT, rank, 0, &value, 1, NULL));
        EXPECT(KEEL_ERR_UNSUPPORTED,
               keel_accumulate(job->win, KEEL_OP_MINLOC, KEEL_TYPE_INT64, rank, 0, &value, 1, NULL));
        EXPECT(KEEL_ERR_UNSUPPORTED,
               keel_accumulate(job->win, KEEL_OP_MIN, KEEL_TYPE_INT32_INT32, rank, 0, &value, 1, NULL));
        EXPECT(KEEL_ERR_ALIGNMENT,
               keel_accumulate(job->win, KEEL_OP_MINLOC, KEEL_TYPE_INT32_INT32, rank, 4, &value, 1, NULL));
        EXPECT(KEEL_ERR_RANGE, keel_accumulate(job->win, KEEL_OP_SUM, KEEL_TYPE_INT8, rank, WINDOW, &value, 1, NULL));
        EXPECT(KEEL_ERR_RANGE,
               keel_accumulate(job->win, KEEL_OP_NO_OP, KEEL_TYPE_INT64, rank, 8, NULL, WINDOW / 8, found));
        EXPECT(KEEL_ERR_RANGE,
               keel_accumulate(job->win, KEEL_OP_SUM, KEEL_TYPE_INT64, rank, 0, &value, SIZE_MAX, NULL));
        EXPECT(KEEL_ERR_RANGE,
               keel_accumulate(job->win, KEEL_OP_SUM, KEEL_TYPE_INT64, rank, UINT64_MAX - 7, &value, 1, NULL));
        EXPECT(KEEL_ERR_UNSUPPORTED, keel_atomic(job->win, KEEL_ATOMIC_LAST, rank, 0, 8, 1, 0, NULL));
        EXPECT(KEEL_ERR_UNSUPPORTED, keel_atomic(job->win, KEEL_ATOMIC_MAX, rank, 0, 3, 1, 0, NULL));
        EXPECT(KEEL_ERR_ALIGNMENT, keel_atomic(job->win, KEEL_ATOMIC_SET, rank, 1, 2, 1, 0, NULL));
        EXPECT(KEEL_ERR_RANGE, keel_atomic(job->win, KEEL_ATOMIC_ADD, rank, WINDOW, 1, 1, 0, NULL));
        EXPECT(KEEL_ERR_INVALID_PARAM,
               keel_atomic_nbx(job->win, KEEL_ATOMIC_MIN, rank, 0, 8, 1, 0, NULL, &params, &req));
        EXPECT(KEEL_OK, keel_accumulate(job->win, KEEL_OP_SUM, KEEL_TYPE_INT64, rank, 0, NULL, 0, NULL));
        EXPECT(KEEL_OK, keel_accumulate(job->win, KEEL_OP_NO_OP, KEEL_TYPE_INT64, rank, 0, NULL, 1, found));
        EXPECT(KEEL_OK, keel_accumulate(job->win, KEEL_OP_NO_OP, KEEL_TYPE_INT64, rank, 0, NULL, 1, NULL));
    }
    EXPECT(KEEL_ERR_RANK, keel_accumulate(job->win, KEEL_OP_SUM, KEEL_TYPE_INT64, job->none, 0, &value, 1, NULL));
    EXPECT(KEEL_ERR_RANGE, keel_accumulate(job->empty, KEEL_OP_SUM, KEEL_TYPE_INT64, 1, 0, &value, 1, NULL));
    HOLDS(keel_type_size(KEEL_TYPE_LAST) == 0 && keel_type_size(KEEL_TYPE_DOUBLE) == 8 &&
          keel_type_size(KEEL_TYPE_UINT16) == 2);
}

static void check_signals(const job_t *job)
{
    const keel_signal_t right = {.value = 0, .op = KEEL_SIGNAL_ADD};
    const keel_signal_t there = {.win = job->gone}, beyond = {.offset = WINDOW}, aside = {.offset = 4};
    const keel_signal_t other = {.op = KEEL_SIGNAL_LAST}, wraps = {.offset = UINT64_MAX - 7};
    const uint64_t word = 0;

    EXPECT(KEEL_ERR_INVALID_PARAM, keel_put_signal(NULL, job->other, 0, &word, 8, &right));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_put_signal(job->gone, job->other, 0, &word, 8, &right));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_put_signal(job->win, job->other, 0, NULL, 8, &right));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_put_signal(job->win, job->other, 0, &word, 8, NULL));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_put_signal(job->win, job->other, 0, &word, 8, &there));
    EXPECT(KEEL_ERR_RANGE, keel_put_signal(job->win, job->other, 0, &word, 8, &beyond));
    EXPECT(KEEL_ERR_RANGE, keel_put_signal(job->win, job->other, 0, &word, 8, &wraps));
    EXPECT(KEEL_ERR_RANGE, keel_put_signal(job->win, job->other, WINDOW, &word, 1, &right));
    EXPECT(KEEL_ERR_ALIGNMENT, keel_put_signal(job->win, job->other, 0, &word, 8, &aside));
    EXPECT(KEEL_ERR_UNSUPPORTED, keel_put_signal(job->win, job->other, 0, &word, 8, &other));
    EXPECT(KEEL_ERR_RANK, keel_put_signal(job->win, job->none, 0, &word, 8, &right));
    EXPECT(KEEL_OK, keel_put_signal(job->win, job->other, 0, NULL, 0, &right));
    EXPECT(KEEL_OK, keel_put_signal(job->win, job->rank, 0, &word, 8, &right));
}

static void check_blocks(const job_t *job, keel_status_t status, keel_blocks_t blocks)
{
    uint64_t words[4 * WINDOW] = {0};

    for (uint32_t rank = 0; rank < 2; rank++) {
        EXPECT(status, keel_put_strided(job->win, rank, &blocks, words));
        EXPECT(status, keel_get_strided(job->win, rank, &blocks, words));
    }
}

static void check_strides(const job_t *job)
{
    keel_blocks_t blocks = {.length = 4, .count = 4, .stride = 8, .buffer_stride = 4};
    uint64_t words[WINDOW] = {0};

    EXPECT(KEEL_ERR_INVALID_PARAM, keel_put_strided(NULL, job->other, &blocks, words));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_get_strided(NULL, job->other, &blocks, words));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_put_strided(job->win, job->other, NULL, words));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_get_strided(job->win, job->other, &blocks, NULL));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_put_strided(job->gone, job->other, &blocks, words));
    EXPECT(KEEL_ERR_RANK, keel_put_strided(job->win, job->none, &blocks, words));
    EXPECT(KEEL_ERR_RANK, keel_get_strided(job->win, job->none, &blocks, words));
    check_blocks(job, KEEL_OK, blocks);
    check_blocks(job, KEEL_OK, (keel_blocks_t){.length = 0, .count = SIZE_MAX, .stride = UINT64_MAX});
    check_blocks(job, KEEL_OK, (keel_blocks_t){.length = WINDOW, .count = 0});
    check_blocks(job, KEEL_OK, (keel_blocks_t){.length = 4, .count = 3, .stride = 30});
    check_blocks(job, KEEL_OK, (keel_blocks_t){.length = WINDOW / 4, .count = 4, .stride = 16, .buffer_stride = 16});
    check_blocks(job, KEEL_ERR_RANGE, (keel_blocks_t){.length = 4, .count = 3, .stride = 31});
    check_blocks(job, KEEL_ERR_RANGE, (keel_blocks_t){.length = 4, .count = 3, .stride = 30, .offset = 1});
    check_blocks(job, KEEL_ERR_RANGE, (keel_blocks_t){.length = 4, .count = 3, .stride = UINT64_MAX / 2 + 1});
    check_blocks(job, KEEL_ERR_RANGE, (keel_blocks_t){.length = 4, .count = 2, .stride = UINT64_MAX - 1});
    check_blocks(job, KEEL_ERR_RANGE, (keel_blocks_t){.length = SIZE_MAX, .count = 2, .stride = 8});
}

static void check_put_list(const job_t *job)
{
    uint64_t words[WINDOW / 8 + 1] = {0};
    keel_block_t right[] = {{0, 8, words}, {WINDOW, 0, NULL}, {3, 1, words}, {8, WINDOW - 8, words}};
    const keel_block_t wrong[] = {{WINDOW - 7, 8, words},
                                  {WINDOW + 1, 0, words},
                                  {UINT64_MAX, 8, words},
                                  {8, SIZE_MAX, words},
                                  {0, WINDOW + 1, words}};

    EXPECT(KEEL_ERR_INVALID_PARAM, keel_put_list(NULL, job->other, right, 1));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_put_list(job->win, job->other, NULL, 1));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_put_list(job->gone, job->other, right, 1));
    EXPECT(KEEL_ERR_RANK, keel_put_list(job->win, job->none, right, 0));
    EXPECT(KEEL_OK, keel_put_list(job->win, job->other, NULL, 0));
    EXPECT(KEEL_OK, keel_put_list(job->win, job->rank, right, 4));
    EXPECT(KEEL_OK, keel_put_list(job->win, job->other, right, 4));
    for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        right[2] = wrong[i];
        EXPECT(KEEL_ERR_RANGE, keel_put_list(job->win, job->other, right, 4));
    }
    right[2] = (keel_block_t){0, 1, NULL};
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_put_list(job->win, job->other, right, 4));
}

static void check_got(const job_t *job, uint32_t rank, keel_status_t status, keel_block_t last)
{
    unsigned char bytes[3 * WINDOW] = {0}, untouched = 0;
    const keel_block_t blocks[] = {{.offset = 1, .length = 7, .buffer = bytes}, {.buffer = NULL}, last};

    memset(bytes, 0xee, sizeof(bytes));
    if (status != KEEL_OK) {
        EXPECT(status, keel_get_list(job->win, rank, blocks, 3));
        for (unsigned i = 0; i < 7; i++) { /* all blocks are checked before the first access */
            untouched |= bytes[i] ^ 0xee;
        }
        EXPECT(KEEL_OK, (untouched == 0) ? KEEL_OK : KEEL_ERR_CORRUPT);
    } else {
        EXPECT(status, keel_get_list(job->win, rank, blocks, 3));
    }
}

static void check_get_list(const job_t *job)
{
    unsigned char bytes[WINDOW];
    const keel_block_t block = {.offset = 3, .length = 5, .buffer = bytes};

    EXPECT(KEEL_ERR_INVALID_PARAM, keel_get_list(NULL, job->other, &block, 1));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_get_list(job->win, job->other, NULL, 1));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_get_list(job->gone, job->other, &block, 1));
    EXPECT(KEEL_ERR_RANK, keel_get_list(job->win, job->none, &block, 1));
    EXPECT(KEEL_ERR_RANK, keel_get_list(job->win, job->none, NULL, 0));
    EXPECT(KEEL_OK, keel_get_list(job->win, job->other, NULL, 0));
    EXPECT(KEEL_OK, keel_get_list(job->win, job->other, &block, 1));
    for (uint32_t rank = 0; rank < 2; rank++) {
        check_got(job, rank, KEEL_OK, block);
        check_got(job, rank, KEEL_OK, (keel_block_t){.offset = WINDOW});
        check_got(job, rank, KEEL_OK, (keel_block_t){.offset = WINDOW - 5, .length = 5, .buffer = bytes});
        check_got(job, rank, KEEL_ERR_RANGE, (keel_block_t){.offset = WINDOW - 4, .length = 5, .buffer = bytes});
        check_got(job, rank, KEEL_ERR_RANGE, (keel_block_t){.offset = UINT64_MAX, .length = 5, .buffer = bytes});
        check_got(job, rank, KEEL_ERR_RANGE, (keel_block_t){.offset = 5, .length = SIZE_MAX, .buffer = bytes});
        check_got(job, rank, KEEL_ERR_INVALID_PARAM, (keel_block_t){.offset = 5, .length = 5});
    }
}

static void check_locked(const job_t *job, uint32_t rank, keel_lock_how_t how)
{
    EXPECT(KEEL_ERR_STATE, keel_win_lock(job->win, rank, how));
    EXPECT(KEEL_ERR_STATE, keel_win_lock(job->win, rank, KEEL_LOCK_SHARED));
    EXPECT(KEEL_ERR_STATE, keel_win_trylock(job->win, rank, KEEL_LOCK_EXCLUSIVE));
    EXPECT(KEEL_ERR_STATE, keel_win_unlock(job->win, 1 - rank));
    EXPECT(KEEL_ERR_STATE, keel_win_unlock(job->empty, rank));
    EXPECT(KEEL_ERR_STATE, keel_win_lock_all(job->win));
    EXPECT(KEEL_ERR_STATE, keel_win_unlock_all(job->win));
    EXPECT(KEEL_ERR_STATE, keel_win_free(job->win));
    EXPECT(KEEL_ERR_STATE, keel_finalize(job->ctx));
}

static void check_locks(const job_t *job)
{
    const keel_lock_how_t none = KEEL_LOCK_HOW_LAST, zero = (keel_lock_how_t)0;

    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_lock(NULL, job->other, KEEL_LOCK_SHARED));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_trylock(NULL, job->other, KEEL_LOCK_SHARED));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_unlock(NULL, job->other));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_lock(job->gone, job->other, KEEL_LOCK_SHARED));
    EXPECT(KEEL_ERR_UNSUPPORTED, keel_win_lock(job->win, job->other, none));
    EXPECT(KEEL_ERR_UNSUPPORTED, keel_win_trylock(job->win, job->other, zero));
    EXPECT(KEEL_ERR_RANK, keel_win_lock(job->win, job->none, KEEL_LOCK_SHARED));
    EXPECT(KEEL_ERR_RANK, keel_win_trylock(job->win, UINT32_MAX, KEEL_LOCK_SHARED));
    EXPECT(KEEL_ERR_STATE, keel_win_unlock(job->win, job->none));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_lock_all(NULL));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_lock_all(job->gone));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_unlock_all(NULL));
    EXPECT(KEEL_ERR_STATE, keel_win_unlock_all(job->win));
    EXPECT(KEEL_ERR_STATE, keel_win_unlock(job->win, job->other));
    EXPECT(KEEL_OK, keel_gsync(job->ctx, 0));
    if (job->rank == 0) { /* without another rank, so a single try succeeds */
        for (uint32_t rank = 0; rank < 2; rank++) {
            EXPECT(KEEL_OK, keel_win_trylock(job->win, rank, KEEL_LOCK_EXCLUSIVE));
            check_locked(job, rank, KEEL_LOCK_EXCLUSIVE);
            EXPECT(KEEL_OK, keel_win_unlock(job->win, rank));
            EXPECT(KEEL_ERR_STATE, keel_win_unlock(job->win, rank));
        }
    }
    EXPECT(KEEL_OK, keel_gsync(job->ctx, 0));
    EXPECT(KEEL_OK, keel_win_lock_all(job->win)); /* by both ranks */
    EXPECT(KEEL_ERR_STATE, keel_win_lock_all(job->win));
    EXPECT(KEEL_ERR_STATE, keel_win_lock(job->win, job->other, KEEL_LOCK_SHARED));
    EXPECT(KEEL_ERR_STATE, keel_win_unlock(job->win, job->other));
    EXPECT(KEEL_OK, keel_checkpoint(job->ctx));
    EXPECT(KEEL_OK, keel_win_unlock_all(job->win));
    for (uint32_t rank = 0; rank < 2; rank++) { /* both ranks at once */
        EXPECT(KEEL_OK, keel_win_lock(job->empty, rank, KEEL_LOCK_SHARED));
    }
    EXPECT(KEEL_OK, keel_gsync(job->ctx, KEEL_GSYNC_SAFE));
    HOLDS(keel_win_trylock(job->empty, job->rank, KEEL_LOCK_EXCLUSIVE) == KEEL_ERR_STATE);
    for (uint32_t rank = 0; rank < 2; rank++) {
        EXPECT(KEEL_OK, keel_win_unlock(job->empty, rank));
    }
    /* first one rank, then the other */
    EXPECT(KEEL_OK, keel_win_lock(job->empty, 1, KEEL_LOCK_EXCLUSIVE));
    EXPECT(KEEL_OK, keel_win_unlock(job->empty, 1));
}

static void check_group_making(const job_t *job, keel_win_h win)
{
    const uint32_t both[] = {0, 1}, twice[] = {0, 0, 1}, beyond[] = {0, 1, 2}, other[] = {job->other};
    keel_group_h group;

    EXPECT(KEEL_ERR_INVALID_PARAM, keel_group_create(NULL, 0, 64, both, 2, &group));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_group_create(win, 0, 64, NULL, 2, &group));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_group_create(win, 0, 64, both, 2, NULL));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_group_create(job->gone, 0, 64, both, 2, &group));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_group_create(win, 0, 0, both, 2, &group));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_group_create(win, 0, 64, both, 0, &group));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_group_create(win, 0, 64, both, 3, &group));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_group_create(win, 0, 64, twice, 2, &group));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_group_create(win, 0, 64, other, 1, &group));
    EXPECT(KEEL_ERR_RANK, keel_group_create(win, 0, 64, &beyond[1], 2, &group));
    EXPECT(KEEL_ERR_ALIGNMENT, keel_group_create(win, 8, 64, both, 2, &group));
    EXPECT(KEEL_ERR_ALIGNMENT, keel_group_create(win, 0, 65, both, 2, &group));
    EXPECT(KEEL_ERR_RANGE, keel_group_create(win, 64, 64, both, 2, &group));
    EXPECT(KEEL_ERR_RANGE, keel_group_create(win, 1ull << 63, 64, both, 2, &group));
    EXPECT(KEEL_ERR_RANGE, keel_group_create(job->win, 0, 64, both, 2, &group));
    keel_group_free(NULL);
}

static void check_groups(const job_t *job)
{
    const uint32_t both[] = {0, 1};
    uint64_t word = 1 + job->rank, words[2] = {0};
    keel_group_h group = NULL;
    keel_win_h win = NULL;

    EXPECT(KEEL_OK, keel_win_alloc(job->ctx, keel_group_bytes(2, 64), NULL, &win));
    check_group_making(job, win);
    EXPECT(KEEL_OK, keel_group_create(win, 0, 64, both, 2, &group));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_group_barrier(NULL));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_group_broadcast(NULL, 0, &word, 8));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_group_broadcast(group, 0, NULL, 8));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_group_broadcast(group, 2, &word, 8));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_group_reduce(group, 2, KEEL_OP_SUM, KEEL_TYPE_INT64, &word, &word, 1));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_group_reduce(group, 0, KEEL_OP_SUM, KEEL_TYPE_INT64, NULL, &word, 1));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_group_reduce(group, job->rank, KEEL_OP_SUM, KEEL_TYPE_INT64, &word, NULL, 1));
    EXPECT(KEEL_ERR_UNSUPPORTED, keel_group_reduce(group, 0, KEEL_OP_BOR, KEEL_TYPE_DOUBLE, &word, &word, 1));
    EXPECT(KEEL_ERR_UNSUPPORTED, keel_group_allreduce(group, KEEL_OP_REPLACE, KEEL_TYPE_INT64, &word, &word, 1));
    EXPECT(KEEL_ERR_UNSUPPORTED, keel_group_allreduce(group, KEEL_OP_SUM, KEEL_TYPE_LAST, &word, &word, 1));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_group_allreduce(group, KEEL_OP_SUM, KEEL_TYPE_INT64, &word, NULL, 1));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_group_gather(group, 5, &word, words, 8));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_group_allgather(group, &word, NULL, 8));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_group_alltoall(group, NULL, words, 8));
    EXPECT(KEEL_OK, keel_group_broadcast(group, 1, NULL, 0));
    EXPECT(KEEL_OK, keel_group_allreduce(group, KEEL_OP_SUM, KEEL_TYPE_INT64, &word, &word, 1));
    HOLDS(word == 3);
    EXPECT(KEEL_OK, keel_group_barrier(group));
    keel_group_free(group);
    EXPECT(KEEL_OK, keel_win_free(win));
}

/* Rejected calls have left no trace. */
static void check_unharmed(const job_t *job)
{
    const uint64_t *own = keel_win_base(job->win);

    EXPECT(KEEL_OK, keel_gsync(job->ctx, 0));
    for (unsigned i = 0; i < WINDOW / sizeof(*own); i++) {
        HOLDS(own[i] == 0);
    }
    EXPECT(KEEL_OK, keel_checkpoint(job->ctx));
}

/* The same in a program that waits, after an atomic of the same kind in another window. */
static void check_device_of_waits(const job_t *job)
{
    const keel_win_params_t params = {.field_mask = KEEL_WIN_PARAM_FIELD_ATOMICS, .atomics = KEEL_WIN_ATOMICS_DEVICE};
    uint64_t found = 9;
    keel_win_h win, other;

    EXPECT(KEEL_OK, keel_win_alloc(job->ctx, WINDOW, &params, &win));
    EXPECT(KEEL_OK, keel_win_alloc(job->ctx, WINDOW, NULL, &other));
    EXPECT(KEEL_OK, keel_wait_until(other, 0, 8, KEEL_COMPARE_EQ, 0));
    for (unsigned i = 0; i < 2; i++) {
        EXPECT(KEEL_OK, keel_gsync(job->ctx, 0));
        EXPECT(KEEL_OK, keel_atomic(other, KEEL_ATOMIC_SWAP, job->other, 8, 8, 1, 0, &found));
        EXPECT(KEEL_OK, keel_atomic(other, KEEL_ATOMIC_SWAP, job->other, 8, 8, 1, 0, &found));
        EXPECT(KEEL_ERR_UNSUPPORTED, keel_atomic(win, KEEL_ATOMIC_SWAP, job->other, 0, 8, 1, 0, &found));
    }
    EXPECT(KEEL_OK, keel_gsync(job->ctx, 0));
    EXPECT(KEEL_OK, keel_win_free(other));
    EXPECT(KEEL_OK, keel_win_free(win));
}

/* A window for a device's atomics accepts these and no other atomics, even without a device. */
static void check_device(const job_t *job)
{
    keel_win_params_t params = {.field_mask = KEEL_WIN_PARAM_FIELD_ATOMICS, .atomics = KEEL_WIN_ATOMICS_LAST};
    const keel_signal_t adds = {.op = KEEL_SIGNAL_ADD, .value = 3};
    uint64_t memory[WINDOW / 8] = {0}, found = 9;
    keel_win_h win;

    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_alloc(job->ctx, WINDOW, &params, &win));
    params.atomics = KEEL_WIN_ATOMICS_DEVICE;
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_create(job->ctx, memory, WINDOW, &params, &win));
    EXPECT(KEEL_OK, keel_win_alloc(job->ctx, WINDOW, &params, &win));
    for (uint32_t rank = 0; rank < 2; rank++) {
        EXPECT(KEEL_ERR_UNSUPPORTED, keel_atomic(win, KEEL_ATOMIC_ADD, rank, 0, 4, 1, 0, NULL));
        EXPECT(KEEL_ERR_UNSUPPORTED, keel_atomic(win, KEEL_ATOMIC_SWAP, rank, 0, 8, 1, 0, &found));
        EXPECT(KEEL_ERR_UNSUPPORTED, keel_atomic(win, KEEL_ATOMIC_MAX, rank, 0, 8, 1, 0, NULL));
        EXPECT(KEEL_ERR_UNSUPPORTED, keel_accumulate(win, KEEL_OP_SUM, KEEL_TYPE_INT64, rank, 0, &found, 1, NULL));
        EXPECT(KEEL_ERR_ALIGNMENT, keel_atomic(win, KEEL_ATOMIC_ADD, rank, 4, 8, 1, 0, NULL));
        EXPECT(KEEL_ERR_RANGE, keel_atomic(win, KEEL_ATOMIC_ADD, rank, WINDOW, 8, 1, 0, NULL));
        EXPECT(KEEL_OK, keel_atomic(win, KEEL_ATOMIC_ADD, rank, 0, 8, 5, 0, NULL));
        EXPECT(KEEL_OK, keel_put_signal(win, rank, 8, &found, 8, &adds));
    }
    EXPECT(KEEL_ERR_RANK, keel_atomic(win, KEEL_ATOMIC_ADD, job->none, 0, 8, 1, 0, NULL));
    EXPECT(KEEL_OK, keel_gsync(job->ctx, 0));
    EXPECT(KEEL_OK, keel_atomic(win, KEEL_ATOMIC_FETCH, job->other, 0, 8, 0, 0, &found));
    HOLDS(found == 2 * (5 + 3));
    EXPECT(KEEL_OK, keel_gsync(job->ctx, 0));
    EXPECT(KEEL_OK, keel_win_free(win));
}

enum { PAGE = 4096 };

/* @a own has five pages, @a other has a single page with a protected word. */
static void check_attach(const job_t *job, char *own, char *other)
{
    const keel_win_params_t params = {.field_mask = KEEL_WIN_PARAM_FIELD_ATTACH, .attach = 1};
    char *of_file = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char *closed = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t size = 0;
    keel_win_h win, given, empty;

    HOLDS(own != MAP_FAILED && other != MAP_FAILED && of_file != MAP_FAILED && closed != MAP_FAILED);
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_create(job->ctx, own, PAGE, &params, &given));
    EXPECT(KEEL_OK, keel_win_create(job->ctx, own + 4 * PAGE, PAGE, NULL, &given));
    EXPECT(KEEL_OK, keel_win_alloc(job->ctx, 0, &params, &empty));
    EXPECT(KEEL_ERR_RANGE, keel_win_attach(empty, 0, own, PAGE));
    EXPECT(KEEL_OK, keel_win_free(empty));
    EXPECT(KEEL_ERR_UNSUPPORTED, keel_win_attach(given, 0, own, PAGE));
    EXPECT(KEEL_ERR_UNSUPPORTED, keel_win_attach(job->win, 0, own, PAGE));
    EXPECT(KEEL_ERR_UNSUPPORTED, keel_win_detach(job->win, own));
    EXPECT(KEEL_OK, keel_win_alloc(job->ctx, 4 * PAGE, &params, &win));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_attach(NULL, 0, own, PAGE));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_attach(win, 0, NULL, PAGE));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_attach(win, 0, own, 0));
    EXPECT(KEEL_ERR_RANGE, keel_win_attach(win, 4 * PAGE, own, PAGE));
    EXPECT(KEEL_ERR_RANGE, keel_win_attach(win, 0, own, 5 * PAGE));
    EXPECT(KEEL_ERR_RANGE, keel_win_attach(win, PAGE, own, SIZE_MAX - PAGE + 1));
    EXPECT(KEEL_ERR_ALIGNMENT, keel_win_attach(win, 8, own, PAGE));
    EXPECT(KEEL_ERR_ALIGNMENT, keel_win_attach(win, 0, own + 8, PAGE));
    EXPECT(KEEL_ERR_ALIGNMENT, keel_win_attach(win, 0, own, PAGE - 8));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_attach(win, 0, of_file, PAGE));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_attach(win, 0, closed, PAGE));
    /* protected */
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_attach(win, 0, other, PAGE));
    /* partly of another window */
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_attach(win, 0, own + 3 * PAGE, 2 * PAGE));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_attach(win, 0, keel_win_base(win), PAGE));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_detach(win, own));
    memset(own, 7, 4 * PAGE);
    EXPECT(KEEL_OK, keel_win_attach(win, PAGE, own, 2 * PAGE));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_attach(win, PAGE, own, 2 * PAGE));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_attach(win, 2 * PAGE, own + 2 * PAGE, PAGE));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_attach(win, 0, own + PAGE, PAGE));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_protect(job->ctx, 4, own + 2 * PAGE - 1, 2));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_create(job->ctx, own + PAGE, 8, NULL, &given));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_detach(win, own + PAGE));
    EXPECT(KEEL_OK, keel_win_attach(win, 0, own + 2 * PAGE, PAGE));
    EXPECT(KEEL_OK, keel_gsync(job->ctx, 0));
    EXPECT(KEEL_OK, keel_get(win, job->other, 3 * PAGE - 8, &size, 8));
    HOLDS(size == UINT64_C(0x0707070707070707));
    EXPECT(KEEL_OK, keel_gsync(job->ctx, 0));
    EXPECT(KEEL_OK, keel_win_detach(win, own));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_detach(win, own));
    EXPECT(KEEL_OK, keel_win_attach(win, 3 * PAGE, own, PAGE));
    EXPECT(KEEL_OK, keel_win_free(win));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_attach(win, 0, own, PAGE));
    EXPECT(KEEL_ERR_INVALID_PARAM, keel_win_detach(win, own));
    memset(own, 8, 4 * PAGE); /* the memory is the program's again */
    HOLDS(*(char *)keel_win_base(given) == 0 && own[0] == 8);
    EXPECT(KEEL_OK, keel_win_free(given));
}

static char *pages(size_t bytes)
{
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int main(void)
{
    char *own = pages(5 * PAGE), *other = pages(PAGE);
    job_t job;

    if (keel_init(NULL, &job.ctx) != KEEL_OK || keel_size(job.ctx) != 2) {
        return 2;
    }
    job.rank = keel_rank(job.ctx);
    job.other = 1 - job.rank;
    job.none = 2;
    EXPECT(KEEL_OK, keel_win_alloc(job.ctx, WINDOW, NULL, &job.win));
    EXPECT(KEEL_OK, keel_win_alloc(job.ctx, WINDOW, NULL, &job.gone));
    EXPECT(KEEL_OK, keel_win_alloc(job.ctx, (job.rank == 0) ? WINDOW : 0, NULL, &job.empty));
    EXPECT(KEEL_OK, keel_win_free(job.gone));
    EXPECT(KEEL_OK, keel_protect(job.ctx, 3, other + 16, 8));
    if (failures > 0) {
        return 1;
    }
    check_device_of_waits(&job); /* while nothing has mixed ways to synchronise */
    check_pointers(&job);
    check_accumulates(&job);
    check_signals(&job);
    check_strides(&job);
    check_put_list(&job);
    check_get_list(&job);
    check_locks(&job);
    check_groups(&job);
    check_device(&job);
    check_attach(&job, own, other);
    check_unharmed(&job);
    EXPECT(KEEL_OK, keel_finalize(job.ctx));
    printf("bad_unlogged: %u calls refused, %d wrong\n", refused, failures);
    return failures > 0;
}
